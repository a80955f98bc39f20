//! A name that is no term of the index: the lines that hold it in another spelling, or inside a longer word.

use colgrep_core::query::intents::Certainty;
use colgrep_core::query::Query;
use colgrep_core::token::words;

use super::{Point, Search};
use crate::shard::{Look, Seen};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::{run_of, term_of_word};

/// Places that are pointed at, at most.
const POINTS_MAX: usize = 512;
/// Strength of a place that holds the name as whole parts of an identifier, and inside a word.
const STRENGTH_OF_PARTS: f32 = 1.0;
const STRENGTH_INSIDE_A_WORD: f32 = 0.2;

impl Search<'_> {
    /// Points at the lines that hold a query of one piece in any spelling, where nothing is pointed at and the index has no
    /// such term.
    pub(super) fn spelled(&mut self, query: &Query) -> Result<()> {
        let text = query.text.trim();
        let is_piece = !text.is_empty() && !text.contains(char::is_whitespace);
        let is_pointed = !self.found.units.is_empty() || !self.found.files.is_empty();
        if !is_piece || is_pointed || !query.intents.phrases.is_empty() || self.is_indexed(text)? {
            return Ok(());
        }
        let files: Vec<FilePlace> = (0..self.rounds.places()).map(FilePlace).collect();
        let files = self.readable(&files, usize::MAX, u64::MAX)?;
        let mut seen = self.rounds.look(&files, &Look::Spelled(text.to_string()))?;
        seen.sort_by_key(|(file, seen)| (!seen.is_cut, seen.is_aside, *file));
        seen.truncate(POINTS_MAX);
        let point = |(file, Seen { line, is_cut, .. }): (FilePlace, Seen)| {
            let strength = if is_cut { STRENGTH_OF_PARTS } else { STRENGTH_INSIDE_A_WORD };
            Point { file, line, certainty: Certainty::Part, strength }
        };
        let points: Vec<Point> = seen.into_iter().map(point).collect();
        self.point(&points)
    }

    /// Whether the index has a word, or the words of a piece in a row.
    fn is_indexed(&mut self, text: &str) -> Result<bool> {
        if words(text).nth(1).is_some() {
            let run = run_of(text, self.tokenizer);
            return Ok(!run.is_empty() && !self.rounds.runs(&[run])?.concat().is_empty());
        }
        let Some(term) = term_of_word(text, self.tokenizer) else { return Ok(false) };
        Ok(self.rounds.counts(&[term], 0)?.iter().any(|count| count.units.most() > 0))
    }
}
