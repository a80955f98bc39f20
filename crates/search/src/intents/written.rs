//! Names that are no single identifier: with marks (`Get-DiskReport`, `x'`), of sections of configuration
//! (`jobs.deploy`), and headings.

use colgrep_core::identifier_style::is_token;
use colgrep_core::query::intents::{Certainty, Pointer};
use colgrep_core::{UnitKind, UnitRole};
use colgrep_syntax::language;

use super::Pointers;
use super::definitions::{DEFINITIONS_MAX, Defining, keep_best, path_of};
use super::lookup::{IntentLookup, UNITS_MAX};
use crate::rounds::{WrittenUnit, WrittenUnitsRequest};
use colgrep_index::error::Result;

/// A heading of fewer words is also a plain text unless its case agrees.
const WORDS_OF_HEADING_MIN: usize = 3;

impl IntentLookup<'_> {
    /// The units whose name the query is, word for word: definitions, rules, blocks and headings. Definitions of a single
    /// identifier are left to [`IntentLookup::name`].
    pub(super) fn written(&mut self) -> Result<Pointers> {
        let query = self.query;
        let is_line = query.long.is_none() && !query.text.contains('\n') && query.intents.phrases.is_empty();
        let is_file = language::facts().is_file_name(&query.text.trim().to_lowercase());
        if !is_line || is_file || !query.intents.locations.is_empty() {
            return Ok(Pointers::default());
        }
        // A heading may have contractions and fillers.
        let mut pointers = self.named_by(query.typed.trim())?;
        if pointers.units.is_empty() && query.typed != query.text {
            pointers = self.named_by(query.text.trim())?;
        }
        Ok(pointers)
    }

    /// The definitions of a name with hyphens behind the name of its module: `acme.core/join-room`.
    pub(super) fn behind_module(&self) -> Result<Pointers> {
        let text = self.query.text.trim();
        let path = path_of(text);
        let [.., _, name] = path.as_slice() else { return Ok(Pointers::default()) };
        if !name.contains('-') || !text.ends_with(name) || text.contains(char::is_whitespace) {
            return Ok(Pointers::default());
        }
        let Defining { units, .. } = self.defining(name, &path, None)?;
        if units.len() > DEFINITIONS_MAX { Ok(Pointers::default()) } else { self.point_at_names(&units, name) }
    }

    /// The units of this name, word for word.
    pub(super) fn named_by(&self, text: &str) -> Result<Pointers> {
        let mut pointers = Pointers::default();
        let mut found = self.rounds.ask(&WrittenUnitsRequest { text: text.to_string() })?;
        let is_identifier = self.query.is_symbol() && path_of(text).len() < 2;
        let is_title = text.contains(char::is_whitespace);
        // Code says more of `--limit`, `Content-Type` or `1.2.0` than a page that has it for a heading.
        let may_be_heading = is_title || (text.chars().all(char::is_alphanumeric) && !is_token(text));
        let is_long = text.split_whitespace().nth(WORDS_OF_HEADING_MIN - 1).is_some();
        found.retain(|one| match one.unit.kind.is_definition() {
            // A title in a test is a text like any other.
            true => !is_identifier && !is_title,
            false => (is_long || one.is_same_case) && (may_be_heading || !one.is_heading),
        });
        keep_best(&mut found, |one| one.is_exact);
        keep_best(&mut found, |one| one.is_same_case);
        keep_best(&mut found, |one| one.unit.role == UnitRole::Definition);
        if self.query.asks_for.is_empty() {
            keep_best(&mut found, |one| !one.is_aside);
        }
        // A heading that many pages have is about none of them.
        let is_meant = found.len() <= DEFINITIONS_MAX || found.iter().any(|one| !one.is_aside);
        for WrittenUnit { unit, is_same_case, .. } in found.into_iter().take(UNITS_MAX).filter(|_| is_meant) {
            // `cache-control` as a key of data is another name than `Cache-Control`.
            let is_other = !is_same_case && !is_title && unit.kind == UnitKind::Constant;
            let certainty = if is_other { Certainty::Words } else { Certainty::Exact };
            pointers.point_at(unit.unit, Pointer { certainty, strength: 1.0, line: unit.line });
        }
        Ok(pointers)
    }
}
