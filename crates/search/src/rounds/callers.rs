//! The units that call a name.

use colgrep_index::error::Result;
use colgrep_index::lexical::CodeName;
use serde::{Deserialize, Serialize};

use super::{Coordinator, LocalSearch, Round, Validate};
use crate::shard::{ShardExtent, UnitFound};

/// Asks for the allowed units that call a name, by file and line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallersRequest {
    pub name: String,
    /// True if punctuation at its ends is ignored.
    pub is_loose: bool,
}

impl Round for CallersRequest {
    type Answer = Vec<UnitFound>;

    fn local(&self, search: &LocalSearch<'_>) -> Result<Vec<UnitFound>> {
        let name = CodeName::new(&self.name, false);
        Ok(search.shard.in_order(&search.snapshot.lexical.callers_by(&name, self.is_loose, search.filter())?))
    }

    fn gather(&self, corpus: &Coordinator<'_>) -> Result<Vec<UnitFound>> {
        let mut all = corpus.all_found(corpus.each(self)?);
        all.sort_by_key(UnitFound::place);
        Ok(all)
    }

    fn is_valid(&self, answer: &Vec<UnitFound>, extent: &ShardExtent) -> bool {
        answer.is_valid(extent)
    }
}

impl Coordinator<'_> {
    /// Callers of a name, by file and line: of the exact name, or, if it has none, of the name with other punctuation at
    /// its ends.
    pub(crate) fn callers(&self, name: &str) -> Result<Vec<UnitFound>> {
        let callers = |is_loose| self.ask(&CallersRequest { name: name.to_string(), is_loose });
        let exact = callers(false)?;
        if exact.is_empty() { callers(true) } else { Ok(exact) }
    }
}
