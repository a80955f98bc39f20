//! Values that completions offer where others are allowed too.

use std::ffi::OsStr;
use std::sync::LazyLock;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command};
use colgrep_core::UnitKind;
use colgrep_core::knob::Profile;
use colgrep_engine::settings;
use colgrep_syntax::language;
use grep_printer::{HyperlinkAlias, hyperlink_aliases};

/// Takes any text; completions offer some.
#[derive(Clone)]
pub(super) struct Suggested(fn() -> Vec<&'static str>);

impl TypedValueParser for Suggested {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// A kind of unit; others are refused with the list.
pub(super) fn kind() -> impl TypedValueParser<Value = UnitKind> {
    let known = PossibleValuesParser::new(UnitKind::ALL.map(UnitKind::name));
    known.map(|name| UnitKind::from_name(&name).unwrap_or_default())
}

/// A type of files: names of languages.
pub(super) const TYPE: Suggested = Suggested(|| language::known().map(|l| l.name).collect());

/// A format of links: names of known ones.
pub(super) const LINKS: Suggested = Suggested(|| {
    static ALIASES: LazyLock<Vec<HyperlinkAlias>> = LazyLock::new(hyperlink_aliases);
    ALIASES.iter().map(HyperlinkAlias::name).collect()
});

/// A setting's name.
pub(super) const SETTING: Suggested = Suggested(|| {
    static NAMES: LazyLock<Vec<String>> = LazyLock::new(settings::names);
    NAMES.iter().map(String::as_str).collect()
});

pub(super) const PROFILE: Suggested = Suggested(|| Profile::ALL.iter().map(|p| p.name()).collect());
