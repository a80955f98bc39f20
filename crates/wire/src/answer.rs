//! The rounds of one search, answered by a shard of this process.

use std::collections::HashMap;
use std::path::PathBuf;

use colgrep_engine::answer::FileAnswer;
use colgrep_engine::place::Place;
use colgrep_engine::show::{FileAsked, ShowAsked};
use colgrep_index::error::{Error, Result};
use colgrep_index::search::Group;
use colgrep_index::search::shard::{CandidatesAsked, ContextsAsked, ShardSearch};
use serde::Serialize;

use crate::frame::answer_head;
use crate::message::Question;

/// The answer to the question of a round, as a frame without its length.
///
/// # Errors
/// When the index can't be read, or the question is of no round.
pub fn answer(search: &dyn ShardSearch, question: &Question) -> Result<Vec<u8>> {
    match question {
        Question::Candidates(statistics, units_max, files_min, named_max) => {
            let [units_max, files_min, named_max] = [units_max, files_min, named_max].map(|n| *n as usize);
            written(&search.candidates(&CandidatesAsked { statistics, units_max, files_min, named_max })?)
        }
        Question::Scored(files, units) => written(&search.scored(files, units)?),
        Question::Facts(asked) => written(&search.facts(asked)?),
        Question::Topics(terms) => written(&search.topics(terms)?),
        Question::Holders(units) => written(&search.holders(units)?),
        Question::Tokens(files, tokens) => written(&search.tokens(files, tokens)?),
        Question::Stored(units) => written(&search.stored(units)?),
        Question::Hashes => written(&search.hashes()?),
        Question::Choose(by, cut) => written(&search.choose(*by, cut)?),
        Question::Chosen(least) => written(&search.chosen(*least)?),
        Question::Nearest(bar) => written(&search.nearest(*bar)?),
        Question::Likeness(units) => written(&search.likeness(units)?),
        Question::TextOf(units) => written(&search.text_of(units)?),
        Question::Located(asked) => written(&search.located(asked)?),
        Question::Definitions(asked) => written(&search.definitions(asked)?),
        Question::Callers(name, is_loose) => written(&search.callers(name, *is_loose)?),
        Question::Around(lines) => written(&search.around(lines)?),
        Question::Runs(runs) => written(&search.runs(runs)?),
        Question::Counts(terms, units_max) => written(&search.counts(terms, *units_max)?),
        Question::Holding(asked) => written(&search.holding(asked)?),
        Question::HoldingAll(terms) => written(&search.holding_all(terms)?),
        Question::Sizes(files) => written(&search.sizes(files)?),
        Question::Look(files, look) => written(&search.look(files, look)?),
        Question::Lines(units, line) => written(&search.lines(units, line)?),
        Question::Contexts(near, wants_tests) => {
            written(&search.contexts(&ContextsAsked { near, wants_tests: *wants_tests })?)
        }
        Question::FilesAt(paths) => written(&search.files_at(&paths.iter().map(String::as_str).collect::<Vec<_>>())?),
        Question::Begin(_) | Question::Done | Question::Ask(_) | Question::IsName(_) | Question::Show(_) => {
            Err(Error::Away("a question that is no round".into()))
        }
    }
}

fn written(answer: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_extend(answer, answer_head()).map_err(|error| Error::Away(error.to_string()))
}

/// What is shown of files of a group, whose places are in the order of its shards: in the order of the files.
///
/// # Errors
/// When an index can't be read.
pub fn show(group: &Group<'_>, places: &[Place], asked: &ShowAsked) -> colgrep_engine::Result<Vec<FileAnswer>> {
    let of_place: HashMap<String, usize> = group.fronts().into_iter().collect();
    let mut files: Vec<Option<FileAnswer>> = vec![None; asked.files.len()];
    for (at, place) in places.iter().enumerate() {
        let is_own = |file: &&FileAsked| of_place.get(&file.front) == Some(&at);
        let own: Vec<usize> = (0..asked.files.len()).filter(|file| is_own(&&asked.files[*file])).collect();
        if own.is_empty() {
            continue;
        }
        let wanted: Vec<&FileAsked> = own.iter().map(|file| &asked.files[*file]).collect();
        for (file, mut shown) in own.into_iter().zip(place.show(asked, &wanted, |unit| group.own_unit(unit).1)?) {
            // Where it lies on this machine is nobody's business.
            shown.root = PathBuf::from(asked.files[file].front.trim_end_matches('/'));
            shown.given = None;
            files[file] = Some(shown);
        }
    }
    Ok(files.into_iter().map(Option::unwrap_or_default).collect())
}
