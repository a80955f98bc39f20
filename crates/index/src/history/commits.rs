//! Commits as documents: lists them and reads their messages and paths.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::Path;

use colgrep_core::{Span, Unit, UnitKind};
use colgrep_syntax::parse::Parsed;
use colgrep_syntax::read::Skip;
use xxhash_rust::xxh3::xxh3_64;

use super::{COMMIT, Git, is_commit};
use crate::disk::read_regular;
use crate::error::{Error, Result};
use crate::lexical::Entry;
use crate::moment::Moment;
use crate::store::{FileRecord, FileTable};
use crate::update::{Content, Document};
use crate::walk::{Walked, WalkedFile};
use crate::worktree;

/// Maximum size in bytes of the list of commits at which a shallow clone ends; a larger one is ignored.
const SHALLOW_BYTES_MAX: u64 = 16 << 20;

/// Maximum of commits that are kept, newest first.
pub const COMMITS_MAX: usize = 20_000;
/// Maximum of commits requested from git at once: their messages and paths are kept in memory until all are written.
pub(super) const ROUND_MAX: usize = 2_048;
/// Longest message that is read, in bytes.
const MESSAGE_BYTES_MAX: usize = 64 << 10;
/// Maximum of searchable paths in a commit: the import of a whole tree says nothing about each file.
const PATHS_MAX: usize = 10_000;
/// Paths of a commit that are searched as words.
const PATHS_AS_WORDS_MAX: usize = 100;
const SECOND_NS: i64 = 1_000_000_000;

/// Adds the commits reachable from local branches and the heads of all worktrees, the newest [`COMMITS_MAX`]. With a
/// known table, requests only the differences.
pub(super) fn list(git: &dyn Git, common: &Path, known: Option<&FileTable>, walked: &mut Walked) -> Result<()> {
    let ask = |args: &[&str], input: &str| -> Result<String> {
        let printed = git.ask(args, input).map_err(|e| Error::io("ask git about", common, e))?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    };
    let stamp = format!("stamp {:x}", worktree::stamp(common));
    let own = |line: &&String| ["stamp ", "tip ", "shallow "].iter().any(|kind| line.starts_with(kind));
    let before: Option<Vec<&String>> = known.map(|table| table.state.iter().filter(own).collect());
    let known_files = || known.into_iter().flat_map(known_commits);
    if let Some(before) = before.as_ref().filter(|before| before.first() == Some(&&stamp)) {
        // No branch moved, so git need not be run.
        walked.files.extend(known_files());
        walked.state.extend(before.iter().copied().cloned());
        return Ok(());
    }
    // Leaves out everything but branches and heads of worktrees: tags, remotes, stashes, notes.
    let tips = ask(&["rev-list", "--no-walk=unsorted", "--exclude=refs/[!h]*", "--all"], "")?;
    let tips: BTreeSet<&str> = tips.lines().collect();
    let shallow = read_regular(&common.join("shallow"), SHALLOW_BYTES_MAX).map_or(0, |bytes| xxh3_64(&bytes));
    let mut state = vec![stamp];
    state.extend(tips.iter().map(|tip| format!("tip {tip}")));
    state.push(format!("shallow {shallow:x}"));
    let is_same = before.as_ref().is_some_and(|before| before.iter().skip(1).copied().eq(&state[1..]));
    let mut files: Vec<WalkedFile> = if is_same {
        known_files().collect()
    } else {
        let mut commits: HashMap<String, i64> = known_files().map(|file| (file.path, file.mtime_ns)).collect();
        let grown = before.filter(|before| before.last() == state.last().as_ref()).and_then(|before| {
            let old: Vec<&str> = before.iter().filter_map(|line| line.strip_prefix("tip ")).collect();
            // If an old tip no longer exists, git fails, and everything is listed.
            let came = ask(&LIST, &range(tips.iter().copied(), old.iter().copied())).ok()?;
            let went = ask(&["rev-list", "--stdin"], &range(old.iter().copied(), tips.iter().copied())).ok()?;
            Some((came, went))
        });
        match grown {
            Some((came, went)) => {
                for name in went.lines() {
                    commits.remove(name);
                }
                let came = listed(&came, &commits);
                commits.extend(came);
            }
            None => commits = listed(&ask(&LIST, &range(tips.iter().copied(), []))?, &HashMap::new()),
        }
        commits.into_iter().map(|(path, mtime_ns)| WalkedFile { path, size: 0, mtime_ns }).collect()
    };
    if files.len() > COMMITS_MAX {
        files.sort_unstable_by(|a, b| b.mtime_ns.cmp(&a.mtime_ns).then_with(|| a.path.cmp(&b.path)));
        files.truncate(COMMITS_MAX);
    }
    walked.files.append(&mut files);
    walked.state.append(&mut state);
    Ok(())
}

/// Names of commits with their times.
const LIST: [&str; 4] = ["rev-list", "--timestamp", "--max-count=20000", "--stdin"];

fn known_commits(table: &FileTable) -> impl Iterator<Item = WalkedFile> + '_ {
    let commits = table.files.iter().filter(|record| is_commit(record));
    commits.map(|record| WalkedFile { path: record.path.clone(), size: 0, mtime_ns: record.mtime_ns })
}

/// Input for `rev-list --stdin`: commits reachable from the tips `of` and not from `not`.
fn range<'a>(of: impl IntoIterator<Item = &'a str>, not: impl IntoIterator<Item = &'a str>) -> String {
    let of: String = of.into_iter().map(|tip| format!("{tip}\n")).collect();
    of + &not.into_iter().map(|tip| format!("^{tip}\n")).collect::<String>()
}

/// Commits with their times in nanoseconds. Git has seconds and lists a commit before its parents: of several in one
/// second, each gets one more than those after it, and more than the `known` ones.
fn listed(printed: &str, known: &HashMap<String, i64>) -> HashMap<String, i64> {
    let mut next: HashMap<i64, i64> = HashMap::new();
    for time in known.values() {
        let of_second = next.entry(time.div_euclid(SECOND_NS)).or_default();
        *of_second = (*of_second).max(time.rem_euclid(SECOND_NS) + 1);
    }
    let lines = printed.lines().rev().filter_map(|line| line.split_once(' '));
    let times = lines.filter_map(|(seconds, name)| {
        let seconds: i64 = seconds.parse().ok()?;
        let of_second = next.entry(seconds).or_default();
        *of_second += 1;
        Some((name.to_string(), seconds.saturating_mul(SECOND_NS).saturating_add(*of_second - 1)))
    });
    times.collect()
}

/// Commits by their names.
pub(super) type Read = HashMap<String, Commit>;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Commit {
    time: Moment,
    subject: String,
    body: String,
    paths: BTreeSet<String>,
}

/// Format of each commit: fields ended by NUL bytes, then its raw changes.
const FORMAT: &str = "--format=%H%x00%ct%x00%ci%x00%s%x00%b";
/// The argument of `git log` for paths.
const RAW: &str = "--raw";
/// How often a round may ask for more than git may print: eleven times for one commit among 2,048.
const TOO_LONG_MAX: usize = 32;
/// Runs no programs that a configuration names, and detects no renames: both names of a moved file count.
const LOG: [&str; 13] = [
    "log",
    "--no-walk=unsorted",
    "--stdin",
    RAW,
    "-z",
    "--root",
    "--no-renames",
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-notes",
    "-O/dev/null",
    FORMAT,
];

/// Reads the commits of a round, in one call unless git prints too much: a commit of a few bytes can change millions of
/// paths. Halves are asked for then, and of what is too long in the end, only the messages are read.
pub(super) fn read(git: &dyn Git, round: &[WalkedFile]) -> Result<Read> {
    let names: Vec<&str> = round.iter().map(|file| file.path.as_str()).filter(|path| is_name(path)).collect();
    let (mut commits, mut too_long) = (Read::new(), 0);
    let mut parts = vec![names.as_slice()];
    while let Some(part) = parts.pop().filter(|part| !part.is_empty()) {
        let input: String = part.iter().map(|name| format!("{name}\n")).collect();
        let is_too_long = |printed: &io::Result<_>| {
            printed.as_ref().is_err_and(|error: &io::Error| error.kind() == io::ErrorKind::FileTooLarge)
        };
        let mut printed = git.ask(&LOG, &input);
        if is_too_long(&printed) {
            too_long += 1;
            if part.len() > 1 && too_long < TOO_LONG_MAX {
                let (first, second) = part.split_at(part.len() / 2);
                parts.extend([first, second]);
                continue;
            }
            printed = git.ask(&LOG.map(|arg| if arg == RAW { "--no-patch" } else { arg }), &input);
        }
        // Messages of many megabytes are left out.
        if is_too_long(&printed) {
            continue;
        }
        let printed = printed.map_err(|e| Error::io("read the commits of", Path::new("git log"), e))?;
        commits.extend(parse(&printed));
    }
    Ok(commits)
}

/// Whether a document's path is a commit's name.
pub(super) fn is_name(path: &str) -> bool {
    matches!(path.len(), 40 | 64) && path.bytes().all(|b| b.is_ascii_hexdigit())
}

/// A commit that git listed but can't print.
pub(super) fn unreadable(record: FileRecord) -> Document {
    let record = FileRecord { language: COMMIT.to_string(), skip: Some(Skip::Unreadable), ..record };
    Document { record, ..Document::default() }
}

fn parse(printed: &[u8]) -> Read {
    let mut fields = printed.split(|b| *b == 0).map(String::from_utf8_lossy).peekable();
    let mut commits = Read::new();
    while let Some(name) = fields.next() {
        let name = name.trim_start_matches('\n');
        if !is_name(name) {
            continue;
        }
        let mut next = || fields.next().unwrap_or_default();
        let seconds = next().parse().unwrap_or_default();
        let time = Moment::new(seconds, zone_minutes(&next()));
        let (subject, body) = (next().into_owned(), next());
        let body = body.trim();
        let body = body[..body.floor_char_boundary(MESSAGE_BYTES_MAX)].to_string();
        let mut commit = Commit { time, subject, body, paths: BTreeSet::new() };
        while fields.next_if(|field| field.trim_start_matches('\n').starts_with(':')).is_some() {
            if let Some(path) = fields.next().filter(|_| commit.paths.len() < PATHS_MAX) {
                commit.paths.insert(path.into_owned());
            }
        }
        commits.insert(name.to_string(), commit);
    }
    commits
}

/// `2026-01-01 10:00:00 -0430` → −270.
fn zone_minutes(date: &str) -> i64 {
    let zone = date.rsplit(' ').next().unwrap_or_default();
    let number: i64 = zone.parse().unwrap_or_default();
    number / 100 * 60 + number % 100
}

impl Commit {
    pub(super) fn document(&self, record: FileRecord) -> Document {
        let paths: Vec<&str> = self.paths.iter().take(PATHS_AS_WORDS_MAX).map(String::as_str).collect();
        let unit = Unit {
            kind: UnitKind::Document,
            name: self.subject.clone(),
            docstring: self.body.clone(),
            body: paths.join("\n"),
            span: Span { first: 1, line: 1, end: 1 },
            ..Unit::default()
        };
        let mentions = self.paths.iter().map(|path| (path.clone(), String::new())).collect();
        let parsed = Parsed { units: vec![unit], ..Parsed::default() };
        let entries = vec![Entry { time: self.time, mentions }];
        Document {
            bytes: (self.subject.len() + self.body.len()) as u64,
            record: FileRecord { language: COMMIT.to_string(), ..record },
            content: Some(Content { parsed, entries, ..Content::default() }),
            ..Document::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_of_one_second_keep_their_order() {
        let all = listed("7 d\n5 c\n5 b\n5 a\n", &HashMap::new());
        let time = |name: &str| all[name];
        assert_eq!(
            ["a", "b", "c", "d"].map(time),
            [5 * SECOND_NS, 5 * SECOND_NS + 1, 5 * SECOND_NS + 2, 7 * SECOND_NS]
        );
        let later = listed("7 f\n7 e\n", &all);
        assert_eq!((later["e"], later["f"]), (7 * SECOND_NS + 1, 7 * SECOND_NS + 2));
    }

    /// Answers with each commit's number of paths, as long as all of them are few.
    struct LongGit;

    impl Git for LongGit {
        fn ask(&self, args: &[&str], input: &str) -> io::Result<Vec<u8>> {
            let paths = |name: &str| if args.contains(&RAW) { usize::from_str_radix(&name[..1], 16) } else { Ok(0) };
            let paths: Vec<usize> = input.lines().map(|name| paths(name).expect("a digit")).collect();
            if paths.iter().sum::<usize>() > 9 {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let changes = |count| (0..count).map(|at| format!(":100644 100644 a b M\0{at}.rs\0")).collect::<String>();
            let rows = input
                .lines()
                .zip(paths)
                .map(|(name, count)| format!("{name}\01\0x +0000\0A{name}\0\0{}", changes(count)));
            Ok(rows.collect::<String>().into_bytes())
        }
    }

    #[test]
    fn a_commit_of_very_many_paths_is_its_message_and_costs_no_other_one() {
        let names: Vec<String> = ["1", "f", "3", "4", "9", "0"].map(|digit| digit.repeat(40)).into();
        let file = |name: &String| WalkedFile { path: name.clone(), size: 0, mtime_ns: 0 };
        let round: Vec<WalkedFile> = names.iter().map(file).collect();
        let commits = read(&LongGit, &round).expect("commits");
        let paths: Vec<usize> = names.iter().map(|name| commits[name].paths.len()).collect();
        assert_eq!(paths, [1, 0, 3, 4, 9, 0]);
        assert!(names.iter().all(|name| commits[name].subject == format!("A{name}")));
        assert_eq!(read(&LongGit, &[]).expect("none"), Read::new());
    }

    #[test]
    fn what_git_prints_is_read() {
        let (one, two) = ("1".repeat(40), "ab".repeat(20));
        let printed = format!(
            "{one}\0100\02026-01-01 10:00:00 -0430\0Cap retries\0Since the server sleeps.\n\0\n:100644 100644 a b M\0src/a b.rs\0:000000 100644 a b A\0src/c.rs\0{two}\0200\02026-01-02 10:00:00 +0000\0Merge\0\0"
        );
        let read = parse(printed.as_bytes());
        let first = &read[&one];
        assert_eq!((first.subject.as_str(), first.body.as_str()), ("Cap retries", "Since the server sleeps."));
        assert_eq!(first.paths.iter().map(String::as_str).collect::<Vec<_>>(), ["src/a b.rs", "src/c.rs"]);
        assert_eq!(first.time, Moment::new(100, -270));
        assert_eq!(read[&two], Commit { time: Moment::new(200, 0), subject: "Merge".into(), ..Commit::default() });
    }
}
