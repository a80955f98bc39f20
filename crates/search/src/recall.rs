//! Ranks the entries of a history: by words, by meaning, and by the files that a question names.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use colgrep_core::UnitId;
use colgrep_core::knob::{Knob, Knobs};
use colgrep_core::query::intents::{Certainty, Intents, Pointer};
use colgrep_core::rank::{self, Candidate, Fused, HISTORY_STAGES, Ranked};
use colgrep_syntax::language;

use crate::{Corpus, CorpusAnswer, LocalShard, Pointers, Request, Retrieval, Watch, retrieve_pointed};
use colgrep_index::error::Result;
use colgrep_index::history::is_commit;
use colgrep_index::ids::FileId;
use colgrep_index::lexical::{EntryHit, Lexical, UnitFilter};
use colgrep_index::store::Snapshot;

/// Maximum of paths that one mention may mean, most specific first.
const PATHS_MAX: usize = 16;
/// Minimum of digits in a commit's name, as git prints it.
const NAME_LEN_MIN: usize = 7;

/// The entries that `filter` allows, newest first; of commits in one second, each before its parents.
pub fn in_order(snapshot: &Snapshot, filter: Option<&dyn UnitFilter>) -> Vec<EntryHit> {
    let mut entries = snapshot.lexical.entries(filter);
    sort_by_age(snapshot, &mut entries);
    entries
}

fn sort_by_age(snapshot: &Snapshot, entries: &mut [EntryHit]) {
    let wanted: HashSet<FileId> = entries.iter().map(|entry| entry.file).collect();
    let commits = snapshot.files.indexed().filter(|record| is_commit(record) && wanted.contains(&record.id));
    let listed: HashMap<FileId, i64> = commits.map(|record| (record.id, record.mtime_ns)).collect();
    entries.sort_by_cached_key(|entry| {
        let place = listed.get(&entry.file).copied().unwrap_or_default();
        (Reverse(entry.time.seconds()), Reverse(place), entry.file, Reverse(entry.line))
    });
}

/// The position of each candidate by age, to break ties.
fn ages(snapshot: &Snapshot, candidates: &[Candidate]) -> Vec<u32> {
    let mut entries: Vec<EntryHit> =
        candidates.iter().filter_map(|candidate| snapshot.lexical.entry_at(candidate.unit)).collect();
    sort_by_age(snapshot, &mut entries);
    let places: HashMap<UnitId, u32> = entries.iter().map(|entry| entry.key).zip(0..).collect();
    candidates.iter().map(|candidate| places.get(&candidate.unit).copied().unwrap_or(u32::MAX)).collect()
}

/// Ranks the entries that `filter` allows; `request.files` is how many are wanted. The answer's units are all ranked
/// ones, best first, and its hits are empty. Also returns how much of the question's words the best entry by words has,
/// 0 to 1.
pub fn recall(
    snapshot: &Snapshot,
    filter: Option<&dyn UnitFilter>,
    request: &Request<'_>,
    mut watch: Option<&mut dyn Watch>,
) -> Result<(CorpusAnswer, f32)> {
    let knobs = of_history(request.knobs);
    let request = &Request { knobs: &knobs, ..*request };
    let mut pointers = mentions(&snapshot.lexical, filter, request)?;
    add_named(snapshot, filter, request.query, &mut pointers)?;
    let shard = LocalShard::new(snapshot, filter);
    let Retrieval { query, retrieved, statistics, .. } =
        retrieve_pointed(&Corpus::of(&[&shard], snapshot), request, pointers)?;
    let mut fused = Fused::new(&retrieved, request.fusion, request.knobs);
    if fused.ties.is_empty() {
        fused.ties = ages(snapshot, &retrieved.candidates);
    }
    if let Some(watch) = &mut watch {
        for ranking in &retrieved.rankings {
            watch.ranking(ranking.retriever.name(), &ranking.hits);
        }
        let ranked = Ranked::new(&retrieved, &fused);
        watch.ranking("fused", &ranked.units.iter().map(|u| (u.unit, u.score)).collect::<Vec<_>>());
    }
    let mut observer = |step, ranked: &Ranked<'_>| {
        if let Some(watch) = &mut watch {
            watch.stage(step, ranked);
        }
    };
    let ranked = rank::run_through(HISTORY_STAGES, &query, request.knobs, &retrieved, fused, Some(&mut observer));
    let (units, strength) = (ranked.units, retrieved.evidence.strength);
    Ok((CorpusAnswer { query, units, files: retrieved.files, statistics, ..CorpusAnswer::default() }, strength))
}

/// The knobs for entries. Entries are short, so few contain a question's words, and how much of the question they
/// explain says little. So the semantic weight is fixed for all questions.
fn of_history(knobs: &Knobs) -> Knobs {
    let mut own = knobs.clone();
    let alpha = if knobs.alpha > 0.0 { knobs.history_alpha } else { 0.0 };
    for (knob, value) in [(Knob::Alpha, alpha), (Knob::TrustLow, 0.0), (Knob::TrustHigh, 0.0)] {
        own.set(knob, &value.to_string()).unwrap_or_else(|e| unreachable!("a value of another knob's range: {e}"));
    }
    own
}

/// The entries that mention a file which the question names.
fn mentions(lexical: &Lexical, filter: Option<&dyn UnitFilter>, request: &Request<'_>) -> Result<Pointers> {
    let intents = Intents::parse(request.query, language::facts());
    let mut pointers = Pointers::default();
    for written in intents.mentions.iter().chain(intents.locations.iter().map(|location| &location.path)) {
        let mut paths: Vec<String> = lexical.paths_where(|path| is_meant(path, written))?.into_iter().collect();
        paths.sort_by_key(|path| path.len());
        for path in paths.iter().take(PATHS_MAX) {
            for entry in lexical.mentioning(path)? {
                if filter.is_none_or(|f| lexical.is_allowed(entry.key, f)) {
                    let pointer = Pointer { certainty: Certainty::Location, strength: 1.0, line: entry.line };
                    pointers.units.insert(entry.key, pointer);
                }
            }
        }
    }
    Ok(pointers)
}

/// Points at the commits whose names begin with the question, or with a word of it that looks like a commit's name.
fn add_named(snapshot: &Snapshot, filter: Option<&dyn UnitFilter>, query: &str, pointers: &mut Pointers) -> Result<()> {
    let names = names_of_commits(query);
    if names.is_empty() {
        return Ok(());
    }
    let is_named = |path: &str| names.iter().any(|name| path.starts_with(name));
    for commit in snapshot.files.indexed().filter(|record| is_commit(record) && is_named(&record.path)) {
        for hit in snapshot.lexical.units_of(commit.id, filter)? {
            let pointer = Pointer { certainty: Certainty::Exact, strength: 1.0, line: hit.line };
            pointers.units.insert(hit.key, pointer);
        }
    }
    Ok(())
}

/// The words of a question that may be commits' names, in lower case: the only one, or one in a sentence that has git's
/// short length and a digit.
fn names_of_commits(query: &str) -> Vec<String> {
    let words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_alone = words.clone().nth(1).is_none();
    let is_name = |word: &&str| {
        let is_written = is_alone || word.bytes().any(|byte| byte.is_ascii_digit());
        (NAME_LEN_MIN..=64).contains(&word.len()) && is_written && word.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    words.filter(is_name).map(str::to_lowercase).collect()
}

/// Whether a path ends with the written one, ignoring case.
fn is_meant(path: &str, written: &str) -> bool {
    let (path, written) = (path.to_lowercase(), written.to_lowercase());
    path.strip_suffix(&written).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

#[cfg(test)]
mod tests {
    use colgrep_core::knob::Profile;

    use super::*;

    #[test]
    fn names_of_commits_are_told_from_words() {
        for (query, expected) in [
            ("eab47b5", "eab47b5"),
            ("EAB47B5", "eab47b5"),
            ("what did commit eab47b54 change?", "eab47b54"),
            ("revert `eab47b54` and 0123456", "eab47b54 0123456"),
            ("the facade is defaced", ""),
            ("abc", ""),
            ("see e4b1 there", ""),
        ] {
            assert_eq!(names_of_commits(query).join(" "), expected, "{query}");
        }
    }

    #[test]
    fn meaning_has_one_weight_among_entries() {
        let mut knobs = Knobs::of(Profile::Default);
        let of = |knobs: &Knobs| (of_history(knobs).alpha, of_history(knobs).trust_high);
        assert_eq!(of(&knobs), (knobs.history_alpha, 0.0));
        knobs.set(Knob::Alpha, "0").unwrap();
        assert_eq!(of(&knobs).0, 0.0, "an alpha of 0 is purely lexical");
    }

    #[test]
    fn a_question_means_paths_that_end_as_it_names_them() {
        for (path, written, expected) in [
            ("src/client.py", "client.py", true),
            ("src/client.py", "src/Client.py", true),
            ("src/http_client.py", "client.py", false),
            ("src/client.py", "lib/src/client.py", false),
        ] {
            assert_eq!(is_meant(path, written), expected, "{path} {written}");
        }
    }
}
