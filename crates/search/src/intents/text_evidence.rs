//! How strong the evidence of a matching place is: the text itself, the code that made it, or a run of words by chance.

use colgrep_core::literal_match::{Agreement, LiteralMatch, PastedText};
use colgrep_core::query::intents::Certainty;
use rustc_hash::FxHashSet;

use super::{Pointers, STRENGTH_OF_NEARLY_ALL};
use crate::rounds::ScannedLine;
use colgrep_index::ids::FilePlace;

/// Words that a literal without a value must have to follow a log's prefix.
const WORDS_BEHIND_PREFIX_MIN: usize = 4;
/// Share of a text's weight, apart from values, that a literal must have to be certain to have made it.
const SHARE_OF_LITERAL_MIN: f32 = 0.75;
/// Factor of a test or document that repeats what a literal of code prints.
const STRENGTH_OF_REPETITION: f32 = 0.5;
/// Factor of a place where the text is part of something longer: `1.0.0` in `1.0.0-beta`.
const STRENGTH_OF_PART: f32 = 0.5;
/// Factor of a place that mentions a name which is introduced elsewhere: code that does so comes behind data that
/// introduces it, whatever their words say.
pub(super) const STRENGTH_OF_MENTION: f32 = 0.2;
/// Factor of a place that introduces a name in another style, if code uses the name as typed.
pub(super) const STRENGTH_BEHIND_USE: f32 = 0.5;
/// Factor of a flag outside literals, away from any declaration.
const STRENGTH_OF_FLAG_IN_PROSE: f32 = 0.7;
/// Factor of words with other punctuation or case between them.
const STRENGTH_OF_OTHER_MARKS: f32 = 0.9;
/// Share of a message's weight that a run of its words must have.
pub(super) const RUN_SHARE_OF_MESSAGE_MIN: f32 = 0.25;
/// The same for any other text: a person's own words occur together by chance.
pub(super) const RUN_SHARE_MIN: f32 = 0.7;
/// Minimum of consecutive words that must agree unless the text is code: fewer occur in any text.
pub(super) const WORDS_MIN: usize = 4;
/// The same for code, for the words of a literal before a value, and for all words of a literal.
pub(super) const WORDS_OF_CODE_MIN: usize = 2;

/// How much a text's places explain, best last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Explained {
    /// It occurs nowhere.
    #[default]
    Nothing,
    /// A run of its words does.
    Run,
    /// It, or nearly all of it, occurs only in tests, documents and the like.
    Aside,
    /// Code has a literal that may have made it, but that has much other text.
    Made,
    /// Code contains it, or the literal that made it.
    Whole,
}

impl Explained {
    /// What one place explains; `share` is the share of the text's weight in the literal that made it, if one did.
    pub fn by(certainty: Certainty, strength: f32, is_aside: bool, share: Option<f32>) -> Explained {
        let is_sure = certainty > Certainty::Run || strength >= STRENGTH_OF_NEARLY_ALL;
        match (is_sure, is_aside, share) {
            (true, true, _) => Explained::Aside,
            (_, _, Some(share)) if share < SHARE_OF_LITERAL_MIN => Explained::Made,
            (true, false, _) => Explained::Whole,
            (false, _, _) => Explained::Run,
        }
    }
}

/// Where a text occurs, and how much its places explain.
#[derive(Default)]
pub(super) struct PlacedText {
    pub pointers: Pointers,
    /// Whether the whole text occurs exactly.
    pub is_whole: bool,
    /// Whether the text is a name, and a place introduces it.
    pub is_introduced: bool,
    /// Whether the text is a name that no place introduces, and that no literal of code is.
    pub is_mention: bool,
    /// Where code uses it, then.
    pub used: Pointers,
    pub explained: Explained,
    /// The files in which a literal of code is the text, or made it.
    pub printed_in: FxHashSet<FilePlace>,
    /// Whether it is a message extracted from the query.
    pub is_message: bool,
}

/// Where a text occurs in a file.
pub(super) struct Placed {
    pub file: FilePlace,
    pub standing: LiteralMatch,
    pub seen: ScannedLine,
}

impl Placed {
    /// Whether it is a literal in a test that is the whole text, which shows that the text is a message.
    pub fn is_asserted(&self) -> bool {
        let is_here = self.seen.is_aside && self.standing.is_literal && self.standing.agreement >= Agreement::Words;
        is_here || self.seen.is_asserted
    }
}

/// The inputs for the certainty of a place.
pub(super) struct TextEvidence<'t> {
    pub typed: &'t PastedText<'t>,
    pub is_message: bool,
    pub asks: bool,
    pub is_loose: bool,
    pub is_quoted: bool,
    pub names_file: bool,
    /// Whether a place introduces the name that the text is.
    pub is_introduced: bool,
    pub share_min: f32,
    /// For each log prefix that the text may have, the index of the first word after it.
    pub prefixes: Vec<usize>,
    pub words_of_paths: Vec<usize>,
}

impl TextEvidence<'_> {
    /// Whether a literal in code made the whole text, or all of it after a log's prefix.
    pub fn is_made(&self, place: &Placed) -> bool {
        let standing = &place.standing;
        let is_long = standing.is_before_value || standing.words >= WORDS_BEHIND_PREFIX_MIN;
        let is_of_path =
            |of_path: &usize| *of_path >= standing.words && self.typed.len().saturating_sub(*of_path) < standing.words;
        let is_known = self.is_message && !self.asks && !place.seen.is_aside && standing.share >= self.share_min;
        is_known
            && is_long
            && standing.made_from.is_some_and(|from| from == 0 || self.prefixes.contains(&from))
            && !self.words_of_paths.iter().any(is_of_path)
    }

    /// Whether a literal in code is the text or made it, or nearly all of it before a value.
    pub fn is_printed(&self, place: &Placed) -> bool {
        let Placed { standing, seen, .. } = place;
        let is_all = standing.is_literal && standing.agreement >= Agreement::Words;
        let is_front = standing.is_before_value && standing.share >= STRENGTH_OF_NEARLY_ALL;
        !seen.is_aside && !seen.is_text && (is_all || is_front || self.is_made(place))
    }

    /// Whether a place is a test or a document that shows what a program prints: weaker than the code that prints it, with
    /// any values. A quote asks for its exact text.
    fn is_repetition(&self, place: &Placed, is_printed_here: bool) -> bool {
        let is_whole = place.standing.agreement >= Agreement::Words;
        is_whole && is_printed_here && place.seen.is_aside && !self.is_quoted
    }

    /// How certain a place is; `None` if it is no evidence.
    pub fn certainty(&self, place: &Placed, is_printed_here: bool) -> Option<Certainty> {
        let Placed { standing, seen, .. } = place;
        match standing.agreement {
            Agreement::Exact if self.is_repetition(place, is_printed_here) => Some(Certainty::Words),
            Agreement::Exact => Some(Certainty::Exact),
            // A program may declare a flag without its dashes.
            Agreement::Words if self.typed.is_flag() && standing.is_literal => Some(Certainty::Exact),
            Agreement::Words if self.is_loose => Some(Certainty::Words),
            // All of the text but its values, which may be anything, including the name of an existing file.
            Agreement::Run if self.is_made(place) => Some(Certainty::Words),
            Agreement::Run if self.asks || seen.is_text || self.names_file => None,
            // More than a run that ends before the cut word.
            Agreement::Run if is_cut_off(standing) => Some(Certainty::Words),
            Agreement::Run if standing.share >= self.share_min && is_run(standing, self.is_message) => {
                Some(Certainty::Run)
            }
            Agreement::Words | Agreement::Run => None,
        }
    }

    pub fn strength(&self, place: &Placed, is_printed_here: bool) -> f32 {
        let standing = &place.standing;
        let factor = |applies: bool, factor: f32| if applies { factor } else { 1.0 };
        // The weight of a message's values does not matter.
        let share = if self.is_made(place) { (1.0 + standing.share) / 2.0 } else { standing.share };
        share
            * factor(self.is_repetition(place, is_printed_here), STRENGTH_OF_REPETITION)
            * factor(!standing.is_alone && !place.seen.introduces, STRENGTH_OF_PART)
            * factor(self.is_introduced && !place.seen.introduces, STRENGTH_OF_MENTION)
            * factor(!standing.is_same, STRENGTH_OF_OTHER_MARKS)
            * factor(self.typed.is_flag() && !standing.is_literal, STRENGTH_OF_FLAG_IN_PROSE)
    }
}

/// Whether this many words in a row are more than chance; in a message, a value after them makes up for a lower number.
pub(super) fn is_run(standing: &LiteralMatch, is_message: bool) -> bool {
    let is_front = is_message && standing.is_before_value && standing.words >= WORDS_OF_CODE_MIN;
    // A short literal on both sides of a value made the whole text.
    let is_whole = standing.made_from == Some(0);
    is_front || is_whole || is_cut_off(standing) || standing.words >= WORDS_MIN
}

/// Whether the whole text occurs there as if cut inside a word.
pub(super) fn is_cut_off(standing: &LiteralMatch) -> bool {
    standing.agreement == Agreement::Run && !standing.is_alone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_code_prints_explains_more_than_what_stands_elsewhere() {
        for (certainty, strength, is_aside, share, expected) in [
            (Certainty::Run, 0.5, false, None, Explained::Run),
            (Certainty::Run, 0.95, false, None, Explained::Whole),
            (Certainty::Run, 0.95, true, None, Explained::Aside),
            (Certainty::Exact, 1.0, true, None, Explained::Aside),
            (Certainty::Exact, 1.0, false, None, Explained::Whole),
            (Certainty::Words, 0.9, false, Some(0.8), Explained::Whole),
            (Certainty::Words, 0.7, false, Some(0.4), Explained::Made),
        ] {
            let explained = Explained::by(certainty, strength, is_aside, share);
            assert_eq!(explained, expected, "{certainty:?} {strength} {is_aside} {share:?}");
        }
    }
}
