//! Reads the query of a search.

use colgrep_core::filler::without_courtesy;
use colgrep_core::long::Long;
use colgrep_core::query::Query;
use colgrep_core::query::intents::{everywhere_of, node_ids_apart};
use colgrep_core::token::Tokenizer;
use colgrep_syntax::language;

use super::intents::Pointers;
use super::{Corpus, Request};
use colgrep_index::error::Result;

/// What is known of a query before it is read.
pub(super) enum Known {
    /// Nothing: its text says all.
    Nothing,
    /// Words that are read in another way than they were typed, each with what it is read as.
    Respelled(Vec<(String, String)>),
    /// What it points at.
    Pointers(Pointers),
    /// That it is the title of a long one.
    Title,
}

/// Reads the query, and adds what a table of terms knows of its words. A greeting above it is as if nobody had typed it, and
/// a request for all places of a name is that name: its other words stand at none of them.
pub(super) fn read(
    corpus: &Corpus<'_>,
    request: &Request<'_>,
    known: &Known,
    tokenizer: &mut Tokenizer,
) -> Result<Query> {
    let told = if request.knobs.fillers { without_courtesy(request.query) } else { request.query };
    let told = node_ids_apart(told, language::facts());
    // The title of a long query tells what was done, too.
    let everywhere = everywhere_of(&told, language::facts()).filter(|_| !matches!(known, Known::Title));
    let request = &Request { query: everywhere.as_deref().unwrap_or(&told), ..*request };
    let mut query = match known {
        Known::Nothing if request.knobs.long_queries => match Long::read(request.query, language::facts()) {
            Some(long) => Query::of_long(request.query, long, corpus.name, language::facts(), tokenizer),
            None => read_short(corpus, request, tokenizer)?,
        },
        Known::Title => read_short(corpus, request, tokenizer)?.into_title(),
        _ => read_short(corpus, request, tokenizer)?,
    };
    if everywhere.is_some() {
        // A message of the code may say the same.
        query.typed = told.to_string();
        query.intents.callers_of.clone_from(&everywhere);
    }
    if let Known::Respelled(words) = known {
        query.respelled.clone_from(words);
    }
    if let Some(table) = request.background.terms {
        query.expand(table, tokenizer);
    }
    Ok(query)
}

/// Reads a query that is no long one.
fn read_short(corpus: &Corpus<'_>, request: &Request<'_>, tokenizer: &mut Tokenizer) -> Result<Query> {
    let (root, facts) = (corpus.name, language::facts());
    let mut failed = Ok(());
    let is_name = |term: &str| {
        corpus.shards.iter().any(|shard| match shard.is_name(term) {
            Ok(is_name) => is_name,
            Err(error) => {
                failed = Err(error);
                false
            }
        })
    };
    let query = match request.knobs.fillers {
        true => Query::without_fillers(request.query, root, facts, tokenizer, is_name),
        false => Query::new(request.query, root, facts, tokenizer),
    };
    failed?;
    Ok(query)
}
