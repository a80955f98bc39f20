//! Parses the query of a search.

use std::borrow::Cow;

use colgrep_core::filler::without_courtesy;
use colgrep_core::long::Long;
use colgrep_core::query::Query;
use colgrep_core::query::intents::{all_places_of, split_node_ids};
use colgrep_core::query::languages::{Translation, translated};
use colgrep_core::token::Tokenizer;
use colgrep_syntax::language;

use super::intents::Pointers;
use super::{Corpus, Request};
use colgrep_index::error::Result;

/// What the caller knows about a query before it is parsed.
pub(super) enum KnownQuery {
    Nothing,
    /// Respelled words, each as typed and as read, and how a query in another language was read, with its typed text.
    Respelled(Vec<(String, String)>, Option<Translation>, Option<String>),
    /// It is in another language, and the corpus has its words: the English ones too, or these alone.
    AsTyped(Option<Translation>),
    Pointers(Pointers),
    /// It is the title of a long query.
    Title,
}

/// Parses the query, and adds the terms that a table has for its words. Drops a greeting above it, reads a question in
/// another language in English, and a request for all places of a name as that name, since no place has the other
/// words.
pub(super) fn read(
    corpus: &Corpus<'_>,
    request: &Request<'_>,
    known: &KnownQuery,
    tokenizer: &mut Tokenizer,
) -> Result<Query> {
    let told = if request.knobs.fillers { without_courtesy(request.query) } else { request.query };
    let typed = split_node_ids(told, language::facts());
    let translation = match known {
        KnownQuery::Nothing | KnownQuery::Pointers(_) => in_english(corpus, &typed, tokenizer)?,
        KnownQuery::Respelled(_, translation, _) | KnownQuery::AsTyped(translation) => translation.clone(),
        KnownQuery::Title => None,
    };
    let told = match (&translation, known) {
        (None, _) | (_, KnownQuery::Respelled(..)) => Cow::Borrowed(&*typed),
        (Some(translation), _) => Cow::Borrowed(&*translation.text),
    };
    // The title of a long query may describe a change.
    let everywhere = all_places_of(&told, language::facts()).filter(|_| !matches!(known, KnownQuery::Title));
    let terms = request.background.terms;
    let request = &Request { query: everywhere.as_deref().unwrap_or(&told), ..*request };
    let mut query = match known {
        KnownQuery::Nothing | KnownQuery::AsTyped(_) if request.knobs.long_queries => {
            match Long::read(request.query, language::facts()) {
                Some(long) => Query::of_long(request.query, long, corpus.name, language::facts(), tokenizer),
                None => read_short(corpus, request, tokenizer)?,
            }
        }
        KnownQuery::Title => read_short(corpus, request, tokenizer)?.into_title(),
        _ => read_short(corpus, request, tokenizer)?,
    };
    if everywhere.is_some() {
        // A message in the code may have the same text.
        query.typed = told.to_string();
        query.intents.callers_of.clone_from(&everywhere);
    }
    if let KnownQuery::Respelled(words, ..) = known {
        query.respelled.clone_from(words);
    }
    query.foreign = match known {
        KnownQuery::Respelled(_, _, foreign) => foreign.clone(),
        KnownQuery::AsTyped(_) => Some(typed.to_string()),
        _ => translation.is_some().then(|| typed.to_string()),
    };
    if let Some(translation) = translation {
        query.add_typed(&typed, translation, matches!(known, KnownQuery::AsTyped(_)), tokenizer);
    }
    if let Some(table) = terms {
        query.expand(table, tokenizer);
    }
    Ok(query)
}

/// Reads a query in another language in English.
fn in_english(corpus: &Corpus<'_>, typed: &str, tokenizer: &mut Tokenizer) -> Result<Option<Translation>> {
    let mut failed = Ok(());
    let translation = translated(typed, |word| is_name(corpus, tokenizer.normal(word), &mut failed));
    failed.map(|()| translation)
}

/// Parses a query that is not long.
fn read_short(corpus: &Corpus<'_>, request: &Request<'_>, tokenizer: &mut Tokenizer) -> Result<Query> {
    let (root, facts) = (corpus.name, language::facts());
    let mut failed = Ok(());
    let query = match request.knobs.fillers {
        true => {
            Query::without_fillers(request.query, root, facts, tokenizer, |term| is_name(corpus, term, &mut failed))
        }
        false => Query::new(request.query, root, facts, tokenizer),
    };
    failed.map(|()| query)
}

/// Whether the corpus has a term in names. An error is left in `failed`.
fn is_name(corpus: &Corpus<'_>, term: &str, failed: &mut Result<()>) -> bool {
    corpus.shards.iter().any(|shard| match shard.is_name(term) {
        Ok(is_name) => is_name,
        Err(error) => {
            *failed = Err(error);
            false
        }
    })
}
