//! Names inside a query that stands nowhere as typed: in a shell's marks, in front of a value, behind dashes, in the quotes
//! of a command, in what a runner of tests prints.

use colgrep_core::query::Query;
use colgrep_core::query::intents::{Certainty, Intents, flags_in, name_inside, qualified_in, test_named, test_titled};
use colgrep_syntax::language;
use rustc_hash::FxHashSet;

use super::Search;
use colgrep_index::error::Result;

/// Flags of a text that are looked for, at most: who pastes more of them has pasted a help text.
const FLAGS_MAX: usize = 4;
/// Names behind their types' that are looked for in a question, at most.
const QUALIFIED_MAX: usize = 4;
/// What stands for a flag where the rest of its text is looked for: a value, as a message has it.
const A_VALUE: &str = "0";

impl Search<'_> {
    /// Points at what the name alone points at that the text is beside its marks or its value; else at the test that it
    /// names; else at the flags that it holds.
    pub(super) fn inside(&mut self, query: &Query) -> Result<()> {
        let Query { text, intents, .. } = query;
        match name_inside(text) {
            _ if !intents.locations.is_empty() || !intents.phrases.is_empty() => Ok(()),
            Some(name) => self.alone(name),
            None if self.tested(text)? => Ok(()),
            None => self.flags(text),
        }
    }

    /// Points at the definitions of the names behind their types' in a question (`Type.method`), where nothing else of it is
    /// sure and neither tests nor documents are asked for; where a file is named, at those in it.
    pub(super) fn qualified(&mut self, query: &Query) -> Result<()> {
        let Query { text, intents, asks_for, asks_for_prose, .. } = query;
        let wants_others = !asks_for.is_empty() || *asks_for_prose || intents.callers_of.is_some();
        let is_known = self.is_sure() || self.has_message || !intents.locations.is_empty();
        if wants_others || is_known || text.trim().contains('\n') {
            return Ok(());
        }
        let is_file = |name: &&str| language::facts().is_file_name(&name.to_lowercase());
        for name in qualified_in(text).filter(|name| !is_file(name)).take(QUALIFIED_MAX) {
            if self.found.files.is_empty() {
                self.asked_for(query, name)?;
            } else {
                self.of_file(query, name)?;
            }
        }
        Ok(())
    }

    /// Points at the test that a runner's line or command names, instead of a run of the names of its packages, and tells
    /// whether there is one.
    fn tested(&mut self, text: &str) -> Result<bool> {
        if self.found.units.values().any(|pointer| pointer.certainty > Certainty::Run) {
            return Ok(false);
        }
        let known = self.found.clone();
        self.found.units.clear();
        if let Some(name) = test_named(text) {
            let query = Query::new(&name, "", language::facts(), self.tokenizer);
            self.named(&query)?;
        } else if let Some(title) = test_titled(text) {
            self.text(title)?;
        }
        let is_found = !self.found.units.is_empty();
        if !is_found {
            self.found = known;
        }
        Ok(is_found)
    }

    /// What stands in quotes, as [`Self::phrases`] has it; what is given to a command is read as if it stood alone where
    /// nothing holds it.
    pub(super) fn quoted(&mut self, intents: &Intents) -> Result<()> {
        self.phrases(&intents.phrases)?;
        if intents.are_arguments && self.found.only.as_ref().is_some_and(FxHashSet::is_empty) {
            for phrase in &intents.phrases {
                self.alone(phrase)?;
            }
            if !self.found.units.is_empty() {
                self.found.only = None;
            }
        }
        Ok(())
    }

    /// Points at what a text alone points at instead of what is known, where that is anything.
    fn alone(&mut self, text: &str) -> Result<()> {
        let query = Query::new(text, "", language::facts(), self.tokenizer);
        self.instead(|search| {
            if !search.named(&query)? {
                search.typed(&query)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Points at where the flags of a text stand as typed or are declared, where nothing else of it points anywhere: a run
    /// that their own words make says nothing.
    fn flags(&mut self, text: &str) -> Result<()> {
        let flags: Vec<&str> = flags_in(text).filter(|flag| *flag != text.trim()).take(FLAGS_MAX + 1).collect();
        let is_sure = self.found.units.values().any(|pointer| pointer.certainty > Certainty::Run);
        let is_known = is_sure || !self.found.files.is_empty();
        if is_known || flags.is_empty() || flags.len() > FLAGS_MAX || text.trim().contains('\n') {
            return Ok(());
        }
        // Several flags in a row are a text of their own.
        if flags.len() > 1 && !self.found.units.is_empty() {
            return Ok(());
        }
        let known = std::mem::take(&mut self.found.units);
        let beside = flags.iter().fold(text.to_string(), |text, flag| text.replace(flag, A_VALUE));
        if !known.is_empty() && beside.contains(char::is_alphabetic) {
            self.text(&beside)?;
        }
        let stands_beside = !std::mem::replace(&mut self.found.units, known).is_empty();
        if stands_beside {
            return Ok(());
        }
        self.instead(|search| {
            for flag in flags {
                search.text(flag)?;
            }
            search.found.units.retain(|_, pointer| pointer.certainty == Certainty::Exact);
            Ok(())
        })?;
        Ok(())
    }
}
