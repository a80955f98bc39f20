//! Callers and callees of units, matched by name rather than by type: functions of one name are not told apart.

use std::collections::HashMap;

use colgrep_core::Unit;
use colgrep_core::fold::folded;
use colgrep_core::query::last_segment;
use tantivy::Term;

use super::read::{Lexical, LexicalSegment, UnitFilter, UnitHit, key};
use crate::error::Result;

/// Separators between the segments of a name in code, besides dots, which some languages have in names.
const SEPARATORS: [&str; 3] = ["::", "->", "\\"];
/// Separators that people also use in prose about code: `RingBuffer#push`, `push/2`.
const SEPARATORS_OF_PEOPLE: [&str; 2] = ["#", "/"];

/// A requested name: plain (`push`), or qualified (`RingBuffer.push`, `ring::push()`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeName {
    /// As requested, without the parentheses of a call.
    whole: String,
    ignores_case: bool,
}

impl CodeName {
    pub fn new(text: &str, ignores_case: bool) -> CodeName {
        let text = text.trim().trim_matches(['`', '"', '\'']);
        CodeName { whole: text.strip_suffix("()").unwrap_or(text).to_string(), ignores_case }
    }

    /// The name as requested.
    pub fn text(&self) -> &str {
        &self.whole
    }

    fn eq(&self, one: &str, other: &str) -> bool {
        match self.ignores_case {
            true => one.to_lowercase() == other.to_lowercase(),
            false => one == other,
        }
    }

    /// Whether `callee`, as written, may mean this name. Of a qualified name the last part decides, since a call is
    /// usually qualified by a value.
    fn is_called(&self, callee: &str) -> bool {
        self.eq(callee, &self.whole) || self.eq(written_last(callee), asked_last(&self.whole))
    }

    /// The same, ignoring punctuation at the ends: `println!` is called as `println`.
    fn is_nearly_called(&self, callee: &str) -> bool {
        self.eq(written_last(callee), last_segment(&self.whole))
    }

    /// Whether a unit has this name: its qualified name ends with it.
    fn is_of(&self, unit: &Unit) -> bool {
        let own = dotted(&unit.qualified_name(), &SEPARATORS);
        let asked = dotted(&self.whole, &SEPARATORS);
        let is_end = |asked: &str| {
            let at = own.len().checked_sub(asked.len()).filter(|at| own.is_char_boundary(*at));
            at.is_some_and(|at| self.eq(&own[at..], asked) && (at == 0 || own[..at].ends_with('.')))
        };
        is_end(&asked) || is_end(&dotted(&asked, &SEPARATORS_OF_PEOPLE))
    }
}

/// A qualified name with a dot for each separator.
fn dotted(name: &str, separators: &[&str]) -> String {
    separators.iter().fold(name.to_string(), |name, separator| name.replace(separator, "."))
}

/// The text after the last separator.
fn behind<'n>(name: &'n str, separators: &[&str]) -> &'n str {
    separators.iter().filter_map(|s| Some(name.rfind(s)? + s.len())).max().map_or(name, |at| &name[at..])
}

/// The last segment of a name as written in code.
fn written_last(name: &str) -> &str {
    behind(name, &SEPARATORS)
}

/// The last segment of a name as people write it, which may contain dots.
fn asked_last(name: &str) -> &str {
    behind(behind(written_last(name), &SEPARATORS_OF_PEOPLE), &["."])
}

/// A called name as written, as its qualifier and its last part: `Ring::push` is `Ring::` and `push`.
pub fn split_callee(callee: &str) -> (&str, &str) {
    callee.split_at(callee.len() - written_last(callee).len())
}

impl Lexical {
    /// The names that units call, as written, by their last part.
    pub fn callees(&self) -> Result<HashMap<String, Vec<String>>> {
        let mut callees: HashMap<String, Vec<String>> = HashMap::new();
        for segment in &self.segments {
            let index = segment.reader.inverted_index(self.fields.callee)?;
            let mut names = index.terms().stream().map_err(tantivy::TantivyError::from)?;
            while names.advance() {
                let Ok(callee) = std::str::from_utf8(names.key()) else { continue };
                callees.entry(split_callee(callee).1.to_string()).or_default().push(callee.to_string());
            }
        }
        for names in callees.values_mut() {
            names.sort_unstable();
            names.dedup();
        }
        Ok(callees)
    }

    /// The units that call a name written exactly so, by file and line.
    pub fn callers_as_written(&self, callee: &str) -> Result<Vec<UnitHit>> {
        self.units_of_term(&Term::from_field_text(self.fields.callee, callee), None)
    }

    /// The units with a name, which may be qualified, by file and line, each as stored.
    pub fn units_of_name(&self, name: &CodeName) -> Result<Vec<(UnitHit, Unit)>> {
        self.units_named(asked_last(&name.whole), |unit| name.is_of(unit))
    }

    /// The units whose name has this last part, by file and line, each as stored.
    pub fn units_with_last_part(&self, last: &str) -> Result<Vec<(UnitHit, Unit)>> {
        self.units_named(last, |unit| written_last(&unit.name) == last)
    }

    /// How many units have this last part of a name, ignoring case; those that were removed may count.
    pub fn definition_count(&self, last: &str) -> Result<u64> {
        let term = Term::from_field_text(self.fields.definition, &folded(last_segment(last)));
        let of = |segment: &LexicalSegment| -> Result<u64> {
            let index = segment.reader.inverted_index(self.fields.definition)?;
            Ok(u64::from(index.doc_freq(&term).map_err(tantivy::TantivyError::from)?))
        };
        self.segments.iter().map(of).sum()
    }

    /// The units that call a name, by file and line.
    pub fn callers_of(&self, name: &CodeName, filter: Option<&dyn UnitFilter>) -> Result<Vec<UnitHit>> {
        let called = self.callers_by(name, false, filter)?;
        if called.is_empty() { self.callers_by(name, true, filter) } else { Ok(called) }
    }

    /// The units that call a name as written or, if `is_loose`, with other punctuation at its ends.
    pub fn callers_by(&self, name: &CodeName, is_loose: bool, filter: Option<&dyn UnitFilter>) -> Result<Vec<UnitHit>> {
        self.units_calling(
            |callee| if is_loose { name.is_nearly_called(callee) } else { name.is_called(callee) },
            filter,
        )
    }

    fn units_calling(&self, is_meant: impl Fn(&str) -> bool, filter: Option<&dyn UnitFilter>) -> Result<Vec<UnitHit>> {
        let mut units = Vec::new();
        for (s, segment) in self.segments.iter().enumerate() {
            let index = segment.reader.inverted_index(self.fields.callee)?;
            let mut names = index.terms().stream().map_err(tantivy::TantivyError::from)?;
            while names.advance() {
                let Some(callee) = std::str::from_utf8(names.key()).ok().filter(|callee| is_meant(callee)) else {
                    continue;
                };
                let term = Term::from_field_text(self.fields.callee, callee);
                segment.each(&term, |doc| units.extend(self.hit(key(s, doc))))?;
            }
        }
        units.retain(|unit| filter.is_none_or(|f| self.is_allowed(unit.key, f)));
        units.sort_by_key(|unit| (unit.file, unit.line, unit.key));
        units.dedup_by_key(|unit| unit.key);
        Ok(units)
    }

    /// The units with this last part of a name, ignoring case, that `is_meant` accepts.
    fn units_named(&self, last: &str, is_meant: impl Fn(&Unit) -> bool) -> Result<Vec<(UnitHit, Unit)>> {
        let term = Term::from_field_text(self.fields.definition, &folded(last_segment(last)));
        let mut units = Vec::new();
        for hit in self.units_of_term(&term, None)? {
            let unit = self.unit(hit.key)?.unit(&[]);
            if is_meant(&unit) {
                units.push((hit, unit));
            }
        }
        Ok(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_matched_by_their_last_part() {
        for (asked, ignores_case, callee, expected) in [
            ("push", false, "push", "called"),
            ("push()", false, "push", "called"),
            ("RingBuffer.push", false, "push", "called"),
            ("ring::push", false, "push", "called"),
            ("`push`", false, "push", "called"),
            ("push", false, "Push", ""),
            ("push", true, "Push", "called"),
            ("push", false, "push_back", ""),
            ("read_entries", false, "Guestbook::Store::read_entries", "called"),
            ("new.env", false, "new.env", "called"),
            ("na", false, "is.na", ""),
            ("Queue#push", false, "push", "called"),
            ("open", false, "#open", ""),
            ("#open", false, "#open", "called"),
            ("check!", false, "check!", "called"),
            ("check", false, "check!", ""),
            ("println!", false, "println", "nearly"),
            ("Write-Host", false, "Write-Host", "called"),
        ] {
            let name = CodeName::new(asked, ignores_case);
            let found = match (name.is_called(callee), name.is_nearly_called(callee)) {
                (true, _) => "called",
                (_, true) => "nearly",
                _ => "",
            };
            assert_eq!(found, expected, "{asked} {callee}");
        }
    }

    #[test]
    fn callees_have_a_qualifier_and_a_last_part() {
        for (callee, expected) in [
            ("push", ("", "push")),
            ("Ring::push", ("Ring::", "push")),
            ("a::Ring::push", ("a::Ring::", "push")),
            ("$this->open", ("$this->", "open")),
            ("App\\Mail\\send", ("App\\Mail\\", "send")),
        ] {
            assert_eq!(split_callee(callee), expected, "{callee}");
        }
    }

    #[test]
    fn a_unit_is_asked_for_by_the_end_of_its_qualified_name() {
        let unit = |parent: &str, name: &str| Unit { parent: parent.into(), name: name.into(), ..Unit::default() };
        for (asked, ignores_case, unit, expected) in [
            ("push", false, unit("RingBuffer", "push"), true),
            ("RingBuffer.push", false, unit("RingBuffer", "push"), true),
            ("Cache::put", false, unit("atlas::tiles.Cache", "put"), true),
            ("tiles::Cache::put", false, unit("atlas::tiles.Cache", "put"), true),
            ("RingBuffer#push", false, unit("RingBuffer", "push"), true),
            ("Queue.#open", false, unit("Queue", "#open"), true),
            ("open", false, unit("Queue", "#open"), false),
            ("Buffer.push", false, unit("RingBuffer", "push"), false),
            ("Other.push", false, unit("RingBuffer", "push"), false),
            ("PUSH", false, unit("RingBuffer", "push"), false),
            ("PUSH", true, unit("RingBuffer", "push"), true),
            ("RingBuffer", false, unit("RingBuffer", "push"), false),
        ] {
            assert_eq!(CodeName::new(asked, ignores_case).is_of(&unit), expected, "{asked}");
        }
    }
}
