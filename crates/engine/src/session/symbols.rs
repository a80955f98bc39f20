//! Definitions whose names have some letters, as editors ask for symbols: people type a part of a name.

use colgrep_core::fold::folded;
use colgrep_core::query::last_segment;

use super::Session;
use super::related::{CallRow, definition_rows};
use crate::error::Result;
use crate::relations::graph::CallGraph;
use crate::request::Scope;
use crate::session::project_searcher::ProjectSearcher;

/// How a name has the letters of a text, in any case and whatever is between its words; better ones come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameMatch {
    /// It has no others.
    Whole,
    /// It begins with them.
    Start,
    /// They follow each other in it.
    Inside,
    /// They come in this order.
    Scattered,
}

impl NameMatch {
    /// How the last segment of a name has the letters of a text; `None` where it lacks some.
    pub fn of(name: &str, text: &str) -> Option<NameMatch> {
        NameMatch::of_letters(&letters(last_segment(name)), &letters(text))
    }

    fn of_letters(name: &str, text: &str) -> Option<NameMatch> {
        let mut rest = name.chars();
        match () {
            () if name == text => Some(NameMatch::Whole),
            () if name.starts_with(text) => Some(NameMatch::Start),
            () if name.contains(text) => Some(NameMatch::Inside),
            () => text.chars().all(|letter| rest.any(|other| other == letter)).then_some(NameMatch::Scattered),
        }
    }
}

/// The letters and digits of a text, in lower case.
fn letters(text: &str) -> String {
    folded(text).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A name in lower case, with how it matches and its length: the order of names.
type FoundName = (NameMatch, usize, String);

impl Session {
    /// Definitions whose names have the letters of `text`, the best and the shortest names first, at most `count`; of an
    /// empty text any.
    ///
    /// # Errors
    /// When a path is not to be searched, or an index can't be read or built.
    pub fn definitions_like(&mut self, text: &str, scope: &Scope, count: usize) -> Result<Vec<CallRow>> {
        self.open_whole(scope)?;
        let letters = letters(text);
        self.repaired_together(|places, _| {
            let mut all = Vec::new();
            for place in places {
                all.extend(definitions_in(place, &letters, count)?);
            }
            all.sort_by(|(a, _), (b, _)| a.cmp(b));
            Ok(all.into_iter().take(count).map(|(_, row)| row).collect())
        })
    }
}

fn definitions_in(place: &ProjectSearcher, letters: &str, count: usize) -> Result<Vec<(FoundName, CallRow)>> {
    let (lexical, graph) = (&place.snapshot.lexical, CallGraph::new(&place.snapshot));
    let mut names: Vec<FoundName> = Vec::new();
    lexical.each_definition_name(|name| {
        let found = NameMatch::of_letters(&self::letters(name), letters);
        names.extend(found.map(|found| (found, name.chars().count(), name.to_string())));
    })?;
    names.sort_unstable();
    names.dedup();
    let mut rows = Vec::new();
    for name in names {
        if rows.len() >= count {
            break;
        }
        let hits = lexical.definitions_in_any_case(&name.2, place.filter())?;
        let left = count - rows.len();
        rows.extend(definition_rows(place, &graph, hits, left)?.into_iter().map(|row| (name.clone(), row)));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_by_their_letters() {
        for (name, text, expected) in [
            ("push", "push", Some(NameMatch::Whole)),
            ("Ring::push", "PUSH", Some(NameMatch::Whole)),
            ("close_session", "closeSession", Some(NameMatch::Whole)),
            ("push", "pus", Some(NameMatch::Start)),
            ("push", "", Some(NameMatch::Start)),
            ("unpush", "push", Some(NameMatch::Inside)),
            ("parse_http_url", "phu", Some(NameMatch::Scattered)),
            ("run", "pus", None),
            ("push", "hsup", None),
        ] {
            assert_eq!(NameMatch::of(name, text), expected, "{name} {text}");
        }
        assert!(NameMatch::Whole < NameMatch::Start && NameMatch::Inside < NameMatch::Scattered);
    }
}
