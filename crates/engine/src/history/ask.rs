//! A question to a history, and its answer.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use colgrep_core::UnitId;
use colgrep_core::collapse::PerFile;
use colgrep_core::identifier_style::is_name_in_query;
use colgrep_core::query::intents::Certainty;
use colgrep_core::token::Tokenizer;
use colgrep_index::history::{AtLines, is_commit};
use colgrep_index::ids::FileId;
use colgrep_index::lexical::{EntryHit, UnitFilter};
use colgrep_index::store::FileRecord;
use colgrep_search::recall::{in_order, recall};
use colgrep_search::{CorpusAnswer, Request, Watch};

use super::paths::PathLimit;
use super::{Bound, Earlier, OpenHistory};
use crate::answer::Step;
use crate::answer::explain::Explanation;
use crate::error::{Refused, Result};
use crate::project::model::Model;
use crate::request::near::check_line;
use crate::request::{RankBy, RankingOptions, check_length, searched_part};
use crate::settings::Settings;
use crate::settings::env::Env;

/// Default number of entries of an answer.
const ENTRIES_DEFAULT: usize = 15;
/// Digits of a commit's short name, at least, as git has it.
const SHORT_LEN_MIN: usize = 7;
/// Maximum number of unknown words reported.
const UNKNOWN_MAX: usize = 4;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryRequest {
    /// The question; without one, the newest entries come first.
    pub query: Option<String>,
    /// The folder from which paths are meant.
    pub folder: PathBuf,
    /// Only entries that mention one of these, a file or anything below a folder; with `:LINE` or `:FROM-TO`, the
    /// commits that last changed these lines.
    pub paths: Vec<String>,
    /// Whether a path that is unknown in the folder is looked for from the project's root, as entries name files.
    pub or_from_root: bool,
    /// Only entries of these kinds; empty: all.
    pub sources: Vec<EntrySource>,
    /// Nothing before.
    pub since: Option<Bound>,
    /// Nothing after.
    pub until: Option<Bound>,
    /// Sessions that are left out, by name or path: the one that asks, say.
    pub not_sessions: Vec<String>,
    /// Number of entries (15).
    pub entries: Option<usize>,
    /// Whole messages and turns.
    pub whole: bool,
    /// How each score came about.
    pub explain: bool,
    pub ranking: RankingOptions,
}

/// Where an entry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntrySource {
    Commit,
    /// A turn of an agent's session.
    Session,
}

impl EntrySource {
    pub fn name(self) -> &'static str {
        match self {
            EntrySource::Commit => "commit",
            EntrySource::Session => "session",
        }
    }
}

struct FoundEntry {
    unit: UnitId,
    score: f32,
    steps: Option<Vec<Step>>,
}

#[derive(Clone, Debug, Default)]
pub struct HistoryAnswer {
    /// Entries, the best first, or the newest.
    pub entries: Vec<HistoryEntry>,
    /// Lines of the question that are not committed yet: a place as it was written, or where it has commits too, these
    /// lines alone (`src/a.rs:2,5-7`).
    pub uncommitted: Vec<String>,
    /// Files of the question that had earlier names, which were searched too.
    pub earlier: Vec<Earlier>,
    /// What there is nothing of.
    pub absent: Vec<Absent>,
    /// How much of the question's words the best entry has, 0 to 1; 1 where the question is the name of one. The scores
    /// of an answer are shares of its best, so times this they can be compared with those of another history.
    pub strength: f32,
}

/// Something that was asked, of which a history has nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Absent {
    /// A path that nothing mentions, as it was written.
    Path(String),
    /// The same of words of the question.
    Words(Vec<String>),
    /// A line whose commit is older than what is indexed, among lines of others: `a.rs:12`, and the commit.
    OldCommit(String, String),
    /// Commits: the repository has none.
    Commits,
    /// Sessions: the setting `sessions` names no folders.
    Folders,
    /// A folder that the setting `sessions` names, and that is not there.
    Folder(PathBuf),
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absent::Path(path) => write!(f, "nothing in the history mentions {path}"),
            Absent::Words(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                write!(f, "nothing in the history mentions {}", quoted.join(" or "))
            }
            Absent::OldCommit(line, commit) => {
                write!(f, "{line} is of commit {commit}, which is older than the history that is indexed")
            }
            Absent::Commits => f.write_str("the repository has no commit yet"),
            Absent::Folders => f.write_str("no session is read, since the setting sessions names no folders"),
            Absent::Folder(folder) => {
                write!(f, "{}: the setting sessions names this folder, which is not there", folder.display())
            }
        }
    }
}

/// A commit, or a turn of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HistoryEntry {
    pub source: EntrySource,
    /// The commit's full name, or the transcript's path and the line, with a colon between.
    pub id: String,
    /// A commit's short name; empty for a turn.
    pub short: String,
    /// The transcript and the line of a turn.
    pub place: Option<(PathBuf, u32)>,
    /// The commit's subject, or the first line of the request.
    pub subject: String,
    /// The files that it mentions, from the project's root, sorted.
    pub files: Vec<String>,
    /// The day, `2026-01-01`.
    pub date: String,
    /// The moment, in seconds since 1970.
    pub seconds: i64,
    /// Its score; 0 without a question.
    pub score: f32,
    /// The whole message or turn, if requested.
    pub text: Option<String>,
    /// The steps of its score, if requested.
    pub steps: Option<Vec<Step>>,
}

impl OpenHistory {
    /// Answers a request.
    ///
    /// # Errors
    /// When a path lies outside or is invalid, or the index can't be read.
    pub fn ask(
        &self,
        request: &HistoryRequest,
        settings: &Settings,
        env: &Env,
        model: Option<&Model>,
    ) -> Result<HistoryAnswer> {
        let knobs = settings.knobs(env, &request.ranking)?;
        let wanted = request.entries.unwrap_or(ENTRIES_DEFAULT);
        let mut without = HistoryAnswer::default();
        let filter = self.filter(request, &mut without)?;
        let filter = filter.as_ref().map(|filter| filter as &dyn UnitFilter);
        let query = request.query.as_deref().unwrap_or_default().trim();
        check_length(query.as_bytes())?;
        let query = searched_part(query);
        let found: Vec<FoundEntry> = if query.is_empty() {
            let newest = in_order(&self.snapshot, filter).into_iter().take(wanted);
            newest.map(|hit| FoundEntry { unit: hit.key, score: 0.0, steps: request.explain.then(Vec::new) }).collect()
        } else {
            let model = model.filter(|_| request.ranking.by != RankBy::Words);
            let asked = Request {
                fusion: request.ranking.fusion.or(settings.fusion()).unwrap_or_default(),
                units_per_file: PerFile::Units(1),
                semantic: model.map(|model| model.semantic(&self.snapshot, request.ranking.by)),
                ..Request::new(query, &knobs, wanted)
            };
            let (found, strength) = self.ranked(&asked, filter, request.explain, &mut without)?;
            without.strength = strength;
            found
        };
        let names = DocumentNames::new(&self.snapshot.files.files);
        let entries = found.into_iter().map(|FoundEntry { unit, score, steps }| {
            Ok(HistoryEntry { score, steps, ..self.entry(unit, &names, request.whole)? })
        });
        let answer = HistoryAnswer { entries: entries.collect::<Result<_>>()?, ..without };
        if !answer.entries.is_empty() {
            return Ok(answer);
        }
        let mut absent = self.absent(request, settings, env);
        // An empty history mentions nothing.
        if !self.snapshot.files.files.is_empty() || absent.is_empty() {
            absent.extend(answer.absent);
        }
        Ok(HistoryAnswer { absent, ..answer })
    }

    /// The sources that are allowed by a request but empty.
    fn absent(&self, request: &HistoryRequest, settings: &Settings, env: &Env) -> Vec<Absent> {
        let asks_for = |source: EntrySource| request.sources.is_empty() || request.sources.contains(&source);
        let mut absent = Vec::new();
        if asks_for(EntrySource::Commit)
            && self.place.is_repository()
            && !self.snapshot.files.files.iter().any(is_commit)
        {
            absent.push(Absent::Commits);
        }
        if asks_for(EntrySource::Session) {
            let folders = settings.sessions(env);
            // Report missing folders only if sessions alone are requested.
            if folders.is_empty() && request.sources == [EntrySource::Session] {
                absent.push(Absent::Folders);
            }
            absent.extend(folders.into_iter().filter(|folder| !folder.is_dir()).map(Absent::Folder));
        }
        absent
    }

    /// The best entries, and the [strength](HistoryAnswer::strength) of the best. The words that no entry has go into
    /// `without`.
    fn ranked(
        &self,
        asked: &Request<'_>,
        filter: Option<&dyn UnitFilter>,
        explain: bool,
        without: &mut HistoryAnswer,
    ) -> Result<(Vec<FoundEntry>, f32)> {
        let mut explanation = explain.then(Explanation::default);
        let watch = explanation.as_mut().map(|explanation| explanation as &mut dyn Watch);
        let (answer, strength) = recall(&self.snapshot, filter, asked, watch)?;
        let is_named = answer.units.first().is_some_and(|ranked| ranked.certainty == Some(Certainty::Exact));
        let unknown = if is_named { Vec::new() } else { unknown_words(&answer) };
        if !unknown.is_empty() {
            without.absent.push(Absent::Words(unknown));
        }
        let best = answer.units.iter().take(asked.files);
        let found = best.map(|ranked| FoundEntry {
            unit: ranked.unit,
            score: ranked.score,
            steps: explanation.as_ref().map(|explanation| explanation.steps(ranked, &answer.query)),
        });
        Ok((found.collect(), if is_named { 1.0 } else { strength }))
    }

    /// The entries that a request allows; none where it allows all. What its paths lack goes into `without`.
    fn filter(&self, request: &HistoryRequest, without: &mut HistoryAnswer) -> Result<Option<AtLines>> {
        let is_limited = !request.sources.is_empty()
            || request.since.is_some()
            || request.until.is_some()
            || !request.not_sessions.is_empty()
            || !request.paths.is_empty();
        if !is_limited {
            return Ok(None);
        }
        let documents = self.documents(request);
        let of_paths = self.of_paths(request, without)?;
        let passes = |hit: &EntryHit| {
            documents.contains(&hit.file)
                && of_paths.as_ref().is_none_or(|keys| keys.contains(&hit.key))
                && request.since.is_none_or(|since| since.begins(hit.time))
                && request.until.is_none_or(|until| until.ends(hit.time))
        };
        Ok(Some(AtLines::new(self.snapshot.lexical.entries(None).into_iter().filter(passes))))
    }

    /// The commits and sessions that a request allows.
    fn documents(&self, request: &HistoryRequest) -> HashSet<FileId> {
        let passes = |record: &&FileRecord| match is_commit(record) {
            true => request.sources.is_empty() || request.sources.contains(&EntrySource::Commit),
            false => {
                let is_left_out = request.not_sessions.iter().any(|name| is_session(&record.path, name));
                !is_left_out && (request.sources.is_empty() || request.sources.contains(&EntrySource::Session))
            }
        };
        self.snapshot.files.indexed().filter(passes).map(|record| record.id).collect()
    }

    /// The entries of a request's paths; none where it names none.
    fn of_paths(&self, request: &HistoryRequest, without: &mut HistoryAnswer) -> Result<Option<HashSet<UnitId>>> {
        if request.paths.is_empty() {
            return Ok(None);
        }
        let (lexical, mut keys, begun) = (&self.snapshot.lexical, HashSet::new(), Instant::now());
        for written in &request.paths {
            let asked = self.asked(written, request)?;
            if let Some(lines) = asked.lines {
                let (commits, uncommitted, older) = self.commits_of(&asked, lines)?;
                without.uncommitted.extend(uncommitted);
                without.absent.extend(older);
                for commit in commits {
                    keys.extend(lexical.units_of(commit, None)?.iter().map(|hit| hit.key));
                }
                continue;
            }
            let paths = self.paths_of(&asked)?;
            for path in &paths {
                keys.extend(lexical.mentioning(path)?.iter().map(|hit| hit.key));
            }
            let earlier = self.add_earlier(&asked, paths.is_empty(), begun, &mut keys)?;
            if paths.is_empty() && earlier.is_none() {
                without.absent.push(Absent::Path(asked.written));
            }
            without.earlier.extend(earlier);
        }
        Ok(Some(keys))
    }

    /// A path of a request: from its folder, or where nothing is known of that and the request allows it, from the
    /// project's root.
    fn asked(&self, written: &str, request: &HistoryRequest) -> Result<PathLimit> {
        let asked = self.place.asked(written, &request.folder)?;
        if !request.or_from_root || self.is_known(&asked)? {
            return Ok(asked);
        }
        match self.place.asked(written, &self.place.root) {
            Ok(from_root) if self.is_known(&from_root)? => Ok(from_root),
            _ => Ok(asked),
        }
    }

    /// Whether a path is there, or the history has it.
    fn is_known(&self, asked: &PathLimit) -> Result<bool> {
        Ok(asked.top.join(&asked.path).symlink_metadata().is_ok() || !self.paths_of(asked)?.is_empty())
    }

    /// The paths that a history has of a file or folder.
    fn paths_of(&self, asked: &PathLimit) -> Result<BTreeSet<String>> {
        let inside = format!("{}/", asked.path);
        let is_meant = |path: &str| asked.path.is_empty() || path == asked.path || path.starts_with(&inside);
        Ok(self.snapshot.lexical.paths_where(is_meant)?)
    }

    /// The commits that last changed the lines, a note on lines that are not committed yet, and a note on lines whose
    /// commits are older than the history.
    fn commits_of(&self, asked: &PathLimit, lines: (u32, u32)) -> Result<(Vec<FileId>, Option<String>, Vec<Absent>)> {
        let path = &asked.path;
        if !self.place.is_repository() {
            return Err(Refused::NoBlame { path: path.clone(), line: lines.0 }.into());
        }
        self.check_tracked(asked)?;
        let blamed = self.place.git(&asked.top).blame(path, lines)?;
        let (mut commits, mut older) = (Vec::new(), Vec::new());
        for (name, line) in blamed.commits {
            match self.snapshot.files.files.iter().find(|record| record.path == name) {
                Some(record) => commits.push(record.id),
                None => older.push((name, line)),
            }
        }
        if let (Some((name, line)), true) = (older.first(), commits.is_empty() && blamed.uncommitted.is_empty()) {
            return Err(Refused::OldCommit { path: path.clone(), line: *line, commit: name.clone() }.into());
        }
        let absent = |(name, line): (String, u32)| Absent::OldCommit(format!("{}:{line}", asked.file), name);
        let older: Vec<Absent> = older.into_iter().map(absent).collect();
        let uncommitted = match (commits.is_empty() && older.is_empty(), blamed.uncommitted.is_empty()) {
            (true, _) => Some(asked.written.clone()),
            (false, true) => None,
            (false, false) => Some(format!("{}:{}", asked.file, in_runs(&blamed.uncommitted))),
        };
        Ok((commits, uncommitted, older))
    }

    /// Refuses lines of what git has none of. Git's own words for it name a commit, and not what to do.
    fn check_tracked(&self, asked: &PathLimit) -> Result<()> {
        let (path, file) = (&asked.path, asked.file.clone());
        let refused = match asked.top.join(path).symlink_metadata() {
            Ok(data) if data.is_dir() => Refused::NotAFile { path: file.into() },
            Ok(_) if self.place.git(&asked.top).tracks(path)? => {
                return check_line(file.into(), asked.lines.map(|(first, _)| first), &asked.top, path);
            }
            Ok(_) => Refused::Untracked { path: file },
            Err(_) if self.snapshot.lexical.paths_where(|known| known == path)?.is_empty() => {
                Refused::NoFile { path: file.into() }
            }
            Err(_) => Refused::Gone { path: file },
        };
        Err(refused.into())
    }

    fn entry(&self, unit: UnitId, names: &DocumentNames<'_>, whole: bool) -> Result<HistoryEntry> {
        let (kept, entry) = self.snapshot.lexical.entry(unit)?;
        let file = self.snapshot.lexical.entry_at(unit).map(|hit| hit.file).unwrap_or_default();
        let path = names.paths.get(&file).copied().unwrap_or_default();
        let line = kept.span.line;
        let is_commit = names.is_commit(file);
        let place = (!is_commit).then(|| (PathBuf::from(path), line));
        let text = whole.then(|| match is_commit {
            true if kept.docstring.is_empty() => kept.name.clone(),
            true => format!("{}\n\n{}", kept.name, kept.docstring),
            false => self.place.sessions.turn(Path::new(path), line).unwrap_or_else(|| kept.docstring.clone()),
        });
        let mut files: Vec<String> = entry.paths().into_iter().filter_map(|path| self.place.in_project(path)).collect();
        files.sort_unstable();
        Ok(HistoryEntry {
            source: if is_commit { EntrySource::Commit } else { EntrySource::Session },
            id: if is_commit { path.to_string() } else { format!("{path}:{line}") },
            short: if is_commit { names.short(path).to_string() } else { String::new() },
            place,
            subject: kept.name,
            files,
            date: entry.time.date(),
            seconds: entry.time.seconds(),
            score: 0.0,
            text,
            steps: None,
        })
    }
}

/// The words of a question that no entry has, if it has none of them; else the names among them.
fn unknown_words(answer: &CorpusAnswer) -> Vec<String> {
    let (query, mut tokenizer) = (&answer.query, Tokenizer::default());
    let is_known = |term: &str| {
        let at = query.terms.iter().position(|known| known.text == term);
        at.and_then(|at| answer.statistics.terms.get(at)).is_none_or(|count| count.most() > 0)
    };
    let all: Vec<&str> = query.content_words().collect();
    let mut is_held = |word: &&&str| {
        let whole = tokenizer.normal(word).to_string();
        is_known(&whole) || tokenizer.part_terms(word).iter().all(|term| is_known(term))
    };
    let unknown: Vec<&str> = all.iter().filter(|word| !is_held(word)).copied().collect();
    let is_told = |word: &&str| unknown.len() == all.len() || is_name_in_query(word);
    let mut seen = HashSet::new();
    let told = unknown.iter().filter(|word| is_told(word) && seen.insert(word.to_lowercase()));
    told.take(UNKNOWN_MAX).map(ToString::to_string).collect()
}

/// Whether a transcript is the one that is called so: by its path, its file's name, or the session's name in that.
fn is_session(path: &str, name: &str) -> bool {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = file.strip_suffix(".jsonl").unwrap_or(file);
    !name.is_empty()
        && (path == name || file == name || stem == name || stem.strip_suffix(name).is_some_and(|s| s.ends_with('-')))
}

/// Sorted lines in the form used after a path: `1,3-5`.
fn in_runs(lines: &[u32]) -> String {
    let runs = lines.chunk_by(|line, next| line + 1 == *next);
    let each = runs.map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        one => one.iter().map(u32::to_string).collect(),
    });
    each.collect::<Vec<_>>().join(",")
}

/// What documents are called.
struct DocumentNames<'a> {
    paths: HashMap<FileId, &'a str>,
    commits: Vec<&'a str>,
}

impl<'a> DocumentNames<'a> {
    fn new(records: &'a [FileRecord]) -> DocumentNames<'a> {
        let paths = records.iter().map(|record| (record.id, record.path.as_str())).collect();
        // The table is sorted by path.
        let commits = records.iter().filter(|record| is_commit(record)).map(|record| record.path.as_str()).collect();
        DocumentNames { paths, commits }
    }

    fn is_commit(&self, file: FileId) -> bool {
        self.paths.get(&file).is_some_and(|path| self.commits.binary_search(path).is_ok())
    }

    /// The beginning of a commit's name that no other one of the history has.
    fn short(&self, name: &'a str) -> &'a str {
        let at = self.commits.partition_point(|other| *other < name);
        let beside = [at.checked_sub(1), Some(at + 1)];
        let shared = |other: &str| name.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        let neighbours = beside.into_iter().flatten().filter_map(|at| self.commits.get(at));
        let longest = neighbours.map(|other| shared(other) + 1).max().unwrap_or_default();
        &name[..longest.max(SHORT_LEN_MIN).min(name.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_known_by_its_name() {
        for (path, name, expected) in [
            ("/home/u/.claude/projects/x/s1.jsonl", "s1", true),
            ("/home/u/.claude/projects/x/s1.jsonl", "s1.jsonl", true),
            ("/home/u/.claude/projects/x/s1.jsonl", "/home/u/.claude/projects/x/s1.jsonl", true),
            ("/home/u/.codex/sessions/2026/01/01/rollout-2026-01-01T10-00-00-ab-cd.jsonl", "ab-cd", true),
            ("/home/u/.claude/projects/x/s11.jsonl", "s1", false),
            ("/home/u/.claude/projects/x/s1.jsonl", "", false),
        ] {
            assert_eq!(is_session(path, name), expected, "{path} {name}");
        }
    }

    #[test]
    fn lines_beside_each_other_are_one_run() {
        for (lines, expected) in [(&[][..], ""), (&[4][..], "4"), (&[1, 2][..], "1-2"), (&[1, 3, 4, 9][..], "1,3-4,9")]
        {
            assert_eq!(in_runs(lines), expected);
        }
    }

    #[test]
    fn short_names_are_told_apart() {
        let record = |path: &str| FileRecord { path: path.into(), language: "commit".into(), ..FileRecord::default() };
        let records: Vec<FileRecord> = ["aaaaaaaa11", "aaaaaaaa21", "bbbbbbbbbb"].map(record).to_vec();
        let names = DocumentNames::new(&records);
        let short: Vec<&str> = records.iter().map(|record| names.short(&record.path)).collect();
        assert_eq!(short, ["aaaaaaaa1", "aaaaaaaa2", "bbbbbbb"]);
    }
}
