//! Printed messages: what a text says behind a front, the messages of a trace, and what they were made of.

use colgrep_core::literal_match::{Standing, begins_with_front, behind_fronts, messages_of, split_advice};
use colgrep_core::query::Query;
use colgrep_core::query::intents::{Certainty, Pointer};

use super::{Pointers, Search};
use colgrep_index::error::Result;

/// Strength of a run that leaves no doubt: nearly all of the text stands there.
const STRENGTH_OF_NEARLY_ALL: f32 = 0.9;
/// Share of a text's weight that a literal must have, its values aside, to leave no doubt that the text was made of it.
const SHARE_OF_A_LITERAL_MIN: f32 = 0.75;
/// Words that a literal without a value must have for a front to stand before it: fewer are looked for behind the front.
const WORDS_BEHIND_A_FRONT_MIN: usize = 4;

/// What points at the places of a text, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Told {
    /// It stands nowhere.
    Nothing,
    /// A run of its words.
    Run,
    /// It, or nearly all of it, stands in tests, documents and the like alone.
    Aside,
    /// Code holds a literal that it may have been made of, with much beside it.
    Made,
    /// Code holds it, or what it was made of.
    Whole,
}

impl Told {
    /// What one place says: a literal that the text was made of has a share of its weight.
    pub(super) fn of(certainty: Certainty, strength: f32, is_aside: bool, share: Option<f32>) -> Told {
        let is_sure = certainty > Certainty::Run || strength >= STRENGTH_OF_NEARLY_ALL;
        match (is_sure, is_aside, share) {
            (true, true, _) => Told::Aside,
            (_, _, Some(share)) if share < SHARE_OF_A_LITERAL_MIN => Told::Made,
            (true, false, _) => Told::Whole,
            (false, _, _) => Told::Run,
        }
    }
}

/// Whether all of a text was made of the literal that stands there, behind one of its fronts if it has any.
pub(super) fn made_of(standing: &Standing, fronts: &[usize]) -> bool {
    let is_long = standing.is_before_value || standing.words >= WORDS_BEHIND_A_FRONT_MIN;
    standing.made_from.is_some_and(|from| is_long && (from == 0 || fronts.contains(&from)))
}

impl Search<'_> {
    /// Points at where the query stands, or, where no code holds it, what it says behind a log's or a runtime's front, or
    /// what the messages of a pasted trace do, or the one in front of a program's advice.
    pub(super) fn typed(&mut self, query: &Query) -> Result<bool> {
        let is_known = self.is_sure();
        let stands_whole = self.typed_whole(query)?;
        if query.long.is_some() || is_known || self.told == Told::Whole {
            return Ok(stands_whole);
        }
        let mut messages = messages_of(&query.text);
        // What a program advises is a literal of its own, and stands behind many messages.
        if messages.is_empty()
            && let Some((message, _)) = split_advice(&query.text)
        {
            messages.push(message);
        }
        let stands_behind = match messages.is_empty() {
            true => self.behind(&query.text, stands_whole)?,
            false if self.is_sure() => false,
            false => self.messages(&messages)?,
        };
        Ok(stands_whole || stands_behind)
    }

    /// Whether anything is pointed at by more than a run of some of the text.
    pub(super) fn is_sure(&self) -> bool {
        let is_sure = |p: &Pointer| p.certainty > Certainty::Run || p.strength >= STRENGTH_OF_NEARLY_ALL;
        self.found.units.values().any(is_sure)
    }

    /// Points at what a text says behind a front instead of what is known, where that says more; the longest rest first. The
    /// names in a front stand together elsewhere, and a run of them says less than the message behind it; a run that is left
    /// when more is cut off says less than the literal that more of the text was made of. What `stands_whole` in tests or
    /// documents was copied from there where its front is not sure to be one: `code: Errors.LIMIT`.
    fn behind(&mut self, text: &str, stands_whole: bool) -> Result<bool> {
        if stands_whole && self.told == Told::Aside && !begins_with_front(text, self.program) {
            return Ok(false);
        }
        let mut stands = false;
        for message in behind_fronts(text, self.program) {
            if self.told == Told::Whole {
                break;
            }
            let (known, told) = (std::mem::take(&mut self.found.units), self.told);
            let stands_here = self.text(message)?;
            if self.told > told || (self.told, told) == (Told::Run, Told::Run) {
                stands |= stands_here;
                self.has_message = true;
            } else {
                (self.found.units, self.told) = (known, told);
            }
        }
        Ok(stands)
    }

    /// Points at what `look` does instead of what is known, where it points at any unit; else all stays as it is. What `look`
    /// gives, and whether it points.
    pub(super) fn instead<T>(&mut self, look: impl FnOnce(&mut Self) -> Result<T>) -> Result<(T, bool)> {
        let known = std::mem::take(&mut self.found.units);
        let given = look(self)?;
        let is_found = !self.found.units.is_empty();
        if !is_found {
            self.found.units = known;
        }
        Ok((given, is_found))
    }

    /// Points at the messages of a trace, each as if it were typed alone, instead of what is known, where any stands
    /// anywhere.
    fn messages(&mut self, messages: &[&str]) -> Result<bool> {
        let (stands, is_found) = self.instead(|search| {
            let (mut all, mut stands) = (Vec::new(), false);
            for message in messages {
                let stands_whole = search.text(message)?;
                stands |= search.behind(message, stands_whole)? || stands_whole;
                all.extend(std::mem::take(&mut search.found.units));
            }
            for (unit, pointer) in all {
                search.point_at(unit, pointer);
            }
            Ok(stands)
        })?;
        self.has_message |= is_found;
        Ok(stands)
    }

    /// Points at where the query stands: as typed, else without its fillers. A message may hold such words of its own.
    fn typed_whole(&mut self, query: &Query) -> Result<bool> {
        if query.typed != query.text {
            let of_words = |found: &Pointers| found.units.values().filter(|p| p.certainty >= Certainty::Words).count();
            let known = self.found.clone();
            let stands_whole = self.text(&query.typed)?;
            if of_words(&self.found) > of_words(&known) {
                return Ok(stands_whole);
            }
            self.found = known;
        }
        self.text(&query.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_code_prints_says_more_than_what_stands_elsewhere() {
        for (certainty, strength, is_aside, share, expected) in [
            (Certainty::Run, 0.5, false, None, Told::Run),
            (Certainty::Run, 0.95, false, None, Told::Whole),
            (Certainty::Run, 0.95, true, None, Told::Aside),
            (Certainty::Exact, 1.0, true, None, Told::Aside),
            (Certainty::Exact, 1.0, false, None, Told::Whole),
            (Certainty::Words, 0.9, false, Some(0.8), Told::Whole),
            (Certainty::Words, 0.7, false, Some(0.4), Told::Made),
        ] {
            let told = Told::of(certainty, strength, is_aside, share);
            assert_eq!(told, expected, "{certainty:?} {strength} {is_aside} {share:?}");
        }
        let order = [Told::Nothing, Told::Run, Told::Aside, Told::Made, Told::Whole];
        assert!(order.is_sorted());
    }
}
