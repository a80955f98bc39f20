//! The table of settings: names, types, defaults, documentation.

use std::path::Path;

use colgrep_core::knob::{Knob, Knobs, Profile};
use globset::Glob;
use grep_printer::HyperlinkFormat;

use super::kind::{SettingKind, Untrusted};
use super::size::parse_size;
use crate::error::{SettingError, Source};
use crate::settings::cloud::holds_credentials;
use crate::settings::did_you_mean::nearest;
use crate::settings::variable;

#[derive(Debug)]
pub struct Key {
    /// Its name in a file and on the command line.
    pub name: &'static str,
    pub kind: SettingKind,
    /// Its default, as written.
    pub default: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// When it is taken from a repository's file that the user has not trusted.
    pub untrusted: Untrusted,
}

/// Every setting but `types.NAME`, `tags.NAME`, `terms.WORD`, `groups.NAME` and `ranking.KNOB`.
pub static KEYS: &[Key] = &[
    Key {
        name: "results",
        kind: SettingKind::Whole(1, 100_000),
        default: "15",
        doc: "Files that a search gives: -k.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "per_file",
        kind: SettingKind::Whole(1, 1_000),
        default: "1",
        doc: "Units shown in each file: --per-file.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "min_strength",
        kind: SettingKind::Share,
        default: "",
        doc: "Strength below which no output has a file: --min-strength. Not set, text has those above the floor, and JSON all.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "lines",
        kind: SettingKind::Whole(0, 10_000),
        default: "",
        doc: "Lines shown of each unit: -n.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "tests",
        kind: SettingKind::Choice(&["auto", "only", "exclude"]),
        default: "auto",
        doc: "Test files: --tests.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "code_only",
        kind: SettingKind::Switch,
        default: "false",
        doc: "No prose, configuration or data: --code-only.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "ignore",
        kind: SettingKind::List,
        default: "",
        doc: "Patterns, as in a .gitignore at the project's root, of files that are not indexed and that no search gives.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "hidden",
        kind: SettingKind::Switch,
        default: "false",
        doc: "Index hidden files: --hidden.",
        untrusted: Untrusted::FalseOnly,
    },
    Key {
        name: "secrets",
        kind: SettingKind::Switch,
        default: "false",
        doc: "Index files whose names are those of keys and passwords: --secrets.",
        untrusted: Untrusted::FalseOnly,
    },
    Key {
        name: "max_filesize",
        kind: SettingKind::Size,
        default: "1M",
        doc: "Largest file that is indexed: --max-filesize.",
        untrusted: Untrusted::AtMostYours,
    },
    Key {
        name: "quiet",
        kind: SettingKind::Switch,
        default: "false",
        doc: "No remarks on stderr: --quiet.",
        // A remark may be about the repository itself.
        untrusted: Untrusted::FalseOnly,
    },
    Key {
        name: "color",
        kind: SettingKind::Choice(&["auto", "always", "never"]),
        default: "auto",
        doc: "When to colour: --color.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "heading",
        kind: SettingKind::Choice(&["auto", "always", "never"]),
        default: "auto",
        doc: "File names on lines of their own: --heading.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "hyperlink_format",
        kind: SettingKind::Links,
        default: "none",
        doc: "Links to files: --hyperlink-format.",
        // A link may start any program that the system knows a scheme for.
        untrusted: Untrusted::No,
    },
    Key {
        name: "fusion",
        kind: SettingKind::Choice(&["minmax", "rrf"]),
        default: "minmax",
        doc: "How rankings become one: --fusion.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "profile",
        kind: SettingKind::Choice(&["default", "classic"]),
        default: "default",
        doc: "Constants of the ranking: --profile.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "index_mode",
        kind: SettingKind::Choice(&["full", "lite", "keyword"]),
        default: "full",
        doc: "What the index keeps for the ranking by meaning: --index-mode.",
        untrusted: Untrusted::Taken,
    },
    Key {
        name: "background",
        kind: SettingKind::Switch,
        default: "true",
        doc: "A process behind a search goes on with the index where the search had no time; false: the next search does.",
        untrusted: Untrusted::FalseOnly,
    },
    Key {
        name: "model",
        kind: SettingKind::Model,
        default: "default",
        doc: "The model that ranks by meaning: --model.",
        // Every other one is run by a library of native code.
        untrusted: Untrusted::DefaultOnly,
    },
    Key {
        name: "remote",
        kind: SettingKind::Address,
        default: "",
        doc: "Where a team shares indexes, as push and pull take it: s3://BUCKET/FOLDER, gs://, az://, a folder. A search takes the first index of a project from there.",
        // An index from there is trusted, and requests disclose who searches.
        untrusted: Untrusted::No,
    },
    Key {
        name: "remote_http",
        kind: SettingKind::Switch,
        default: "false",
        doc: "Reach `remote` over http too, where others on the way can read and change what is sent; this machine's own addresses need no leave.",
        untrusted: Untrusted::FalseOnly,
    },
    Key {
        name: "sessions",
        kind: SettingKind::Folders,
        default: "",
        doc: "Folders with transcripts of your agents' sessions, such as ~/.claude/projects, which `colgrep log` finds; the user's file alone sets it.",
        // A repository's author must not decide what is read of a person's own files.
        untrusted: Untrusted::Never,
    },
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// A number, word or switch, as text.
    Text(String),
    List(Vec<String>),
}

impl std::fmt::Display for SettingValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SettingValue::Text(text) if text.is_empty() => f.write_str("(not set)"),
            SettingValue::Text(text) => f.write_str(text),
            SettingValue::List(list) => write!(f, "[{}]", list.join(", ")),
        }
    }
}

impl Key {
    pub fn default_value(&self) -> SettingValue {
        match self.kind {
            SettingKind::List | SettingKind::Terms | SettingKind::Folders => SettingValue::List(Vec::new()),
            _ => SettingValue::Text(self.default.to_string()),
        }
    }
}

/// The name of a knob in the settings, such as `ranking.k1`.
pub fn knob_key(knob: Knob) -> String {
    format!("ranking.{}", knob.name())
}

/// The knob of a `ranking.` key.
pub fn knob_of(key: &str) -> Option<Knob> {
    key.strip_prefix("ranking.")?.parse().ok()
}

/// Tables whose keys the user names, with what an entry takes, and when.
pub(super) const OPEN_TABLES: [(&str, SettingKind, Untrusted); 4] = [
    ("types", SettingKind::List, Untrusted::Taken),
    // These two act on the order alone, as a constant of the ranking does; tags, where a hint asks for them.
    ("tags", SettingKind::List, Untrusted::Taken),
    ("terms", SettingKind::Terms, Untrusted::Taken),
    // Whoever wrote the repository's file does not say what else is searched.
    ("groups", SettingKind::Folders, Untrusted::No),
];

/// When a setting is taken from a file that nobody trusts; of an unknown one, never.
pub(super) fn untrusted(key: &str) -> Untrusted {
    if let Some(known) = KEYS.iter().find(|known| known.name == key) {
        return known.untrusted;
    }
    match key.split_once('.') {
        Some(("ranking", _)) => Untrusted::Taken,
        Some((table, _)) => {
            OPEN_TABLES.iter().find(|(known, ..)| *known == table).map_or(Untrusted::No, |(.., untrusted)| *untrusted)
        }
        None => Untrusted::No,
    }
}

/// Every name but those of entries in tables whose keys the user names.
pub fn names() -> Vec<String> {
    KEYS.iter().map(|key| key.name.to_string()).chain(Knob::ALL.iter().map(|knob| knob_key(*knob))).collect()
}

/// What a key takes; an unknown one is an error that names a near one.
///
/// # Errors
/// When no setting has that name.
pub fn check_name(key: &str) -> Result<SettingKind, SettingError> {
    if let Some(known) = KEYS.iter().find(|k| k.name == key) {
        return Ok(known.kind);
    }
    if let Some((table, name)) = key.split_once('.')
        && let Some((_, kind, _)) = OPEN_TABLES.iter().find(|(known, ..)| *known == table)
        && !name.is_empty()
    {
        return Ok(*kind);
    }
    let names = names();
    if key.starts_with("ranking.") && names.iter().any(|n| n == key) {
        return Ok(SettingKind::Whole(0, 0));
    }
    // A knob is also known by the end of its name, and by the name that it has in the environment.
    let short = |name| str::trim_start_matches(name, "ranking.");
    let typed = key.to_lowercase().replace('-', "_");
    let typed = short(typed.trim_start_matches("colgrep_"));
    let near = nearest(typed, names.iter().flat_map(|name| [name.as_str(), short(name)]));
    let meant = names.iter().find(|name| near == Some(name.as_str()) || near == Some(short(name)));
    Err(SettingError::Unknown { key: key.to_string(), near: meant.cloned() })
}

/// A value as JSON: numbers, switches and lists as such, `null` where nothing is set.
pub fn typed(key: &str, value: &SettingValue) -> serde_json::Value {
    let text = match value {
        SettingValue::List(list) => return list.clone().into(),
        SettingValue::Text(text) if text.is_empty() => return serde_json::Value::Null,
        SettingValue::Text(text) => text,
    };
    let number = |text: &str| text.parse::<u64>().map(Into::into).or_else(|_| text.parse::<f64>().map(Into::into));
    match check_name(key) {
        Ok(SettingKind::Whole(..) | SettingKind::Share) => number(text).unwrap_or_else(|_| text.as_str().into()),
        Ok(SettingKind::Size) => parse_size(text).map_or_else(|_| text.as_str().into(), Into::into),
        Ok(SettingKind::Switch) => (text == "true").into(),
        _ => text.as_str().into(),
    }
}

/// What a setting of terms takes, in words.
const TERMS: &str = "a list of terms, such as [\"JWT\", \"bearer\"]";

/// The error of a value that does not fit its key.
pub(super) fn unfit(key: &str, takes: &str, given: Option<String>) -> SettingError {
    SettingError::Unfit { key: key.to_string(), takes: takes.to_string(), given }
}

/// The error of a key's value that something else refuses.
fn of_value(key: &str, source: impl Into<Source>) -> SettingError {
    SettingError::Value { key: key.to_string(), source: source.into() }
}

/// What a share takes, in words.
const SHARE: &str = "a number from 0 to 1";

/// Reads a number from 0 to 1.
///
/// # Errors
/// When it is not one, with the values that are allowed.
pub fn share(text: &str) -> Result<f32, String> {
    let share = text.trim().parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("takes {SHARE}, not {text:?}"))
}

/// Checks a value for its key and returns its stored form.
///
/// # Errors
/// When the key is unknown or the value does not fit.
pub fn check(key: &str, value: SettingValue) -> Result<SettingValue, SettingError> {
    let kind = check_name(key)?;
    match (knob_of(key), value) {
        (Some(knob), SettingValue::Text(text)) => checked_knob(key, knob, text).map(SettingValue::Text),
        (Some(_), SettingValue::List(_)) => Err(unfit(key, "one number", None)),
        (None, SettingValue::Text(text)) => checked_text(key, kind, text).map(SettingValue::Text),
        (None, SettingValue::List(list)) => checked_list(key, kind, list).map(SettingValue::List),
    }
}

fn checked_knob(key: &str, knob: Knob, text: String) -> Result<String, SettingError> {
    let text = match text.as_str() {
        "true" => "1".to_string(),
        "false" => "0".to_string(),
        _ => text,
    };
    let set = Knobs::of(Profile::Default).set(knob, &text);
    set.map_err(|error| of_value(key, variable::named(error)))?;
    Ok(text)
}

fn checked_list(key: &str, kind: SettingKind, list: Vec<String>) -> Result<Vec<String>, SettingError> {
    let fits = match kind {
        SettingKind::List => list.iter().try_for_each(|pattern| check_pattern(key, pattern)),
        SettingKind::Terms if list.iter().all(|term| term.contains(char::is_alphanumeric)) => Ok(()),
        SettingKind::Terms => Err(unfit(key, TERMS, None)),
        SettingKind::Folders if list.iter().any(|folder| folder.trim().is_empty()) => {
            Err(SettingError::EmptyFolder { key: key.to_string() })
        }
        SettingKind::Folders => Ok(()),
        _ => Err(unfit(key, "one value, not a list", None)),
    };
    fits.map(|()| list)
}

fn check_pattern(key: &str, pattern: &str) -> Result<(), SettingError> {
    let refused = |error: globset::Error| SettingError::Pattern {
        key: key.to_string(),
        pattern: pattern.to_string(),
        source: error.into(),
    };
    Glob::new(pattern.trim_start_matches('!').trim_matches('/')).map(drop).map_err(refused)
}

fn checked_text(key: &str, kind: SettingKind, text: String) -> Result<String, SettingError> {
    match kind {
        SettingKind::Whole(low, high) => match text.parse::<u64>() {
            Ok(n) if (low..=high).contains(&n) => Ok(n.to_string()),
            _ => Err(unfit(key, &format!("a whole number from {low} to {high}"), Some(text))),
        },
        SettingKind::Share => share(&text).map(|share| share.to_string()).map_err(|_| unfit(key, SHARE, Some(text))),
        SettingKind::Switch if !matches!(text.as_str(), "true" | "false") => {
            Err(unfit(key, "true or false", Some(text)))
        }
        SettingKind::Choice(words) if !words.contains(&text.as_str()) => Err(unfit(key, &words.join(", "), Some(text))),
        SettingKind::Size => Ok(parse_size(&text).map_err(|error| of_value(key, error))?.to_string()),
        SettingKind::Links => match text.parse::<HyperlinkFormat>() {
            Ok(_) => Ok(text),
            Err(error) => Err(of_value(key, error)),
        },
        SettingKind::Address if holds_credentials(&text) => {
            Err(unfit(key, "an address without user, password or key: those go into the environment", None))
        }
        SettingKind::Address if !text.contains("://") && !text.starts_with("~/") && !Path::new(&text).has_root() => {
            Err(unfit(key, "an address such as s3://BUCKET/FOLDER, or an absolute folder", Some(text)))
        }
        SettingKind::Model if text.trim().is_empty() => Err(unfit(key, "a folder or a hub's name", None)),
        SettingKind::List => Err(unfit(key, "a list, such as [\"*.snap\", \"gen/\"]", None)),
        SettingKind::Terms => Err(unfit(key, TERMS, None)),
        SettingKind::Folders if key.starts_with("groups.") => {
            Err(unfit(key, "a list of folders, such as [\"~/src/api\"]", None))
        }
        SettingKind::Folders => Err(unfit(key, "a list of folders, such as [\"~/.claude/projects\"]", None)),
        SettingKind::Switch | SettingKind::Choice(_) | SettingKind::Model | SettingKind::Address => Ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn checked(key: &str, value: &str) -> String {
        match check(key, SettingValue::Text(value.to_string())) {
            Ok(value) => format!("ok {value}"),
            Err(error) => Error::from(error).full(),
        }
    }

    #[test]
    fn values_are_checked_by_their_key() {
        for (key, value, expected) in [
            ("results", "20", "ok 20"),
            ("results", "0", "results takes a whole number from 1 to 100000, not \"0\""),
            ("min_strength", "0.5", "ok 0.5"),
            ("min_strength", "1.5", "min_strength takes a number from 0 to 1, not \"1.5\""),
            ("color", "never", "ok never"),
            ("color", "blue", "color takes auto, always, never, not \"blue\""),
            ("max_filesize", "2K", "ok 2048"),
            ("hidden", "yes", "hidden takes true or false, not \"yes\""),
            ("ignore", "a", "ignore takes a list, such as [\"*.snap\", \"gen/\"]"),
            ("hyperlink_format", "vscode", "ok vscode"),
            ("ranking.alpha", "0.5", "ok 0.5"),
            ("ranking.stem_stopwords", "true", "ok 1"),
            ("ranking.alpha", "2", "ranking.alpha: COLGREP_ALPHA=2: expected a number from 0 to 1"),
            ("result", "1", "there is no setting \"result\"; did you mean \"results\"?"),
            ("COLGREP_ALPHA", "1", "there is no setting \"COLGREP_ALPHA\"; did you mean \"ranking.alpha\"?"),
            ("ranking.alfa", "1", "there is no setting \"ranking.alfa\"; did you mean \"ranking.alpha\"?"),
            ("bogus", "1", "there is no setting \"bogus\""),
            ("ranking.bogus", "1", "there is no setting \"ranking.bogus\""),
        ] {
            assert_eq!(checked(key, value), expected, "{key} = {value}");
        }
        assert!(checked("hyperlink_format", "{nowhere}").contains("nowhere"));
    }

    #[test]
    fn programs_get_values_of_their_types() {
        for (key, value, expected) in [
            ("results", "20", "20"),
            ("lines", "", "null"),
            ("hidden", "true", "true"),
            ("max_filesize", "1M", "1048576"),
            ("ranking.alpha", "0.5", "0.5"),
            ("color", "never", "\"never\""),
        ] {
            assert_eq!(typed(key, &SettingValue::Text(value.into())).to_string(), expected, "{key}");
        }
        assert_eq!(typed("ignore", &SettingValue::List(vec!["a".into()])).to_string(), "[\"a\"]");
    }

    #[test]
    fn every_default_fits_and_every_key_is_documented() {
        for (i, key) in KEYS.iter().enumerate() {
            assert!(key.doc.ends_with('.'), "{}", key.name);
            assert!(!KEYS[..i].iter().any(|k| k.name == key.name), "{} twice", key.name);
            if !key.default.is_empty() {
                assert!(check(key.name, key.default_value()).is_ok(), "{} = {}", key.name, key.default);
            }
        }
    }
}
