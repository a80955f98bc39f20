//! Requests that can't be answered as they are.

use std::io;
use std::path::{Path, PathBuf};

use super::{GitError, Source};

/// Why a request was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The query is longer than [`QUERY_BYTES_MAX`](crate::request::QUERY_BYTES_MAX).
    #[error("a query has at most {bytes_max} bytes; say in fewer words what to look for")]
    TooLong { bytes_max: usize },
    /// No language and no type of the settings has that name.
    #[error("{name:?} is neither a known language nor a type from the settings{}", meant(near.as_deref()))]
    Type {
        name: String,
        /// The one that was probably meant.
        near: Option<String>,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The settings have no group of that name.
    #[error("there is no group {name:?} in the settings{}", of_groups(near.as_deref(), known, untrusted.as_deref()))]
    Group {
        name: String,
        /// The one that was probably meant.
        near: Option<String>,
        /// Those that there are.
        known: Vec<String>,
        /// The repository's settings file that names one of that name, and that the user does not trust.
        untrusted: Option<PathBuf>,
    },
    /// A group of the settings names no folder.
    #[error("the group {name:?} in {} names no folder; write groups.{name} = [\"~/src/api\", \"~/src/web\"]", file.display())]
    EmptyGroup { name: String, file: PathBuf },
    /// A group of the settings names a missing folder.
    #[error("there is no folder {}, which the group {name:?} in {} names", folder.display(), file.display())]
    GroupFolder { name: String, file: PathBuf, folder: PathBuf },
    #[error("{pattern:?} is not a valid glob")]
    Glob { pattern: String, source: Source },
    #[error("{pattern:?} is not a valid pattern")]
    Pattern { pattern: String, source: Source },
    /// A structural pattern can't be searched for.
    #[error("{pattern:?} is no structural pattern")]
    Structure { pattern: String, source: Source },
    /// A structural pattern is code in none of the languages at hand.
    #[error("{pattern:?} is no code in the languages of these files ({})", languages.join(", "))]
    NoCode { pattern: String, languages: Vec<String> },
    /// A plain text can't be searched for.
    #[error("{text:?} can't be searched for")]
    Text { text: String, source: Source },
    /// A pattern over single lines asks for the end of one.
    #[error("{pattern:?} asks for the end of a line; each line is searched by itself, without its end")]
    LineEnd { pattern: String },
    /// There is no table of terms, and no file, of that name.
    #[error("there is neither a table of terms nor a file {}", given.display())]
    NoTerms { given: PathBuf },
    /// A file is not a table of terms.
    #[error("{} is not a table of terms", given.display())]
    Terms { given: PathBuf, source: TermsError },
    #[error("no unit has the id {id}")]
    NoUnitWith { id: String },
    /// No unit of a file is on that line.
    #[error("{path} has no unit on line {line}")]
    NoUnit {
        /// The project's root.
        root: PathBuf,
        /// The path from there.
        path: String,
        line: u32,
    },
    #[error("{path} is not indexed")]
    NotIndexed {
        /// The project's root.
        root: PathBuf,
        /// The path from there.
        path: String,
    },
    #[error("an empty path was given")]
    EmptyPath,
    /// A path can't be examined.
    #[error("{}", path.display())]
    Path {
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A path is something else than a file or a folder: a pipe, say.
    #[error("{} is neither a file nor a folder, and is not searched", path.display())]
    Special { path: PathBuf },
    /// A file that is needed is not there.
    #[error("{}: no such file", path.display())]
    NoFile { path: PathBuf },
    /// A folder was given instead of a file.
    #[error("{} is a folder, and one file of it is asked for", path.display())]
    NotAFile { path: PathBuf },
    /// A file has no such line.
    #[error("{} has {lines} lines, counted from 1, so there is no line {line}", path.display())]
    NoLine {
        path: PathBuf,
        lines: usize,
        /// The requested line, from 1.
        line: u32,
    },
    /// A file is outside all searched projects.
    #[error("{}: is in none of the searched projects", path.display())]
    OtherProject { path: PathBuf },
    /// A file was named that lies in no project.
    #[error("the file is in no project")]
    LoneFile {
        /// Its folder, which would be indexed.
        root: PathBuf,
    },
    /// The root is a home folder, a folder of the system, or the whole disk.
    #[error("{} is not a project", root.display())]
    NoProject { root: PathBuf },
    /// The root is the folder of temporary files.
    #[error("{} is the folder of temporary files", root.display())]
    Temporary { root: PathBuf },
    /// The root contains several repositories and is not one itself.
    #[error("{} holds several git repositories ({}, {})", root.display(), first.display(), second.display())]
    Repositories {
        root: PathBuf,
        /// One of them, from there.
        first: PathBuf,
        second: PathBuf,
    },
    /// The root is not a repository and contains a great many files.
    #[error("{} is not a git repository and has more than {files} files", root.display())]
    ManyFiles {
        root: PathBuf,
        /// The most files that a folder may contain to be indexed without confirmation.
        files: usize,
    },
    /// Changes are requested outside a repository.
    #[error("changes are known only in a git repository, and {} is not in one", root.display())]
    NoRepository {
        /// The project's root.
        root: PathBuf,
        /// The commit that was named, where one was.
        since: Option<String>,
        source: GitError,
    },
    /// Changes are requested, and git can't be run.
    #[error("git has to be asked what changed")]
    NoGit {
        /// The commit that was named, where one was.
        since: Option<String>,
        /// Why it can't be.
        source: GitError,
    },
    /// Git knows no such commit.
    #[error("{since}: git knows {}", known(*is_range))]
    NoCommit {
        /// The commit, branch, tag or range that was named.
        since: String,
        /// Whether it names two with `...` between.
        is_range: bool,
    },
    /// A change is requested of a folder that git doesn't know.
    #[error("{} is in no git repository", root.display())]
    NotVersioned {
        /// The project's root.
        root: PathBuf,
        source: GitError,
    },
    /// Git knows no commit of that name, which is no file's either.
    #[error("{}git knows no commit {name}", if name.contains("..") { "" } else { "there is no such file, and " })]
    NoRevision {
        /// The commit, branch, tag or range that was named.
        name: String,
    },
    /// A shallow clone lacks the parent of a commit, so what it changed is not known.
    #[error("this is a shallow clone, which lacks the parent of {commit}")]
    Shallow { commit: String },
    /// There is nothing of which a history could be made.
    #[error(
        "{} is not in a git repository, and {}: there is no history to search",
        root.display(),
        if *names_folders { "no session in the folders of the setting sessions ran there" }
        else { "the setting sessions names no folders" }
    )]
    NoHistory {
        /// The project's root.
        root: PathBuf,
        /// Whether folders of sessions are named.
        names_folders: bool,
    },
    /// A path lies outside the repository whose history is asked.
    #[error("{path} lies outside {}, whose history is asked", top.display())]
    Outside {
        /// The path, as it was written.
        path: String,
        /// The root of the repository's worktree.
        top: PathBuf,
    },
    /// The text after the name of a file is not a line number.
    #[error("{path} exists, but {behind:?} after it is not a line; lines count from 1: {path}:12 or {path}:12-20")]
    NotALine {
        /// The path, as it was written.
        path: String,
        /// The text after its colon.
        behind: String,
    },
    /// Blame is requested outside a repository.
    #[error("{path}:{line}: only a git repository knows who changed a line")]
    NoBlame {
        /// The path from the project's root.
        path: String,
        line: u32,
    },
    /// Blame is requested for a file that only the history knows.
    #[error("{path} is no longer in the tree, so git can't say who changed its lines last")]
    Gone {
        /// The path, as it was written.
        path: String,
    },
    /// Blame is requested for a file that git does not track.
    #[error("git does not track {path}, so no commit has its lines")]
    Untracked {
        /// The path, as it was written.
        path: String,
    },
    /// The commit that changed a line is not indexed.
    #[error("{path}:{line} is of commit {commit}, which is older than the history that is indexed")]
    OldCommit {
        /// The path from the repository's root.
        path: String,
        line: u32,
        commit: String,
    },
    #[error("{text:?} is not a date; write 2026-01-31, 2026-01-31T10:00:00Z, yesterday or \"2 weeks ago\"")]
    NoDate { text: String },
    /// Only a repository's settings name a model, and it is not on this machine.
    #[error(
        "{} names the model {id} of the Hugging Face hub, which is not on this machine, and a repository's file fetches \
         nothing",
        file.display()
    )]
    NotFetched { file: PathBuf, id: String },
}

/// What git knows nothing of.
fn known(is_range: bool) -> &'static str {
    match is_range {
        true => "no two commits with a common one",
        false => "no commit, branch or tag of that name",
    }
}

/// Why a file is not a table of terms. Its content is not repeated: it may be any file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TermsError {
    /// It can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it is larger than {} KiB", bytes_max >> 10)]
    TooLarge { bytes_max: u64 },
    #[error("it is not JSON")]
    NoJson(#[source] serde_json::Error),
    /// It is JSON of another shape.
    #[error("a word of it has no list of strings")]
    NoList,
}

impl Refused {
    /// What [`unread_line`](crate::request::unread_line) finds.
    pub fn not_a_line((path, behind): (&str, &str)) -> Refused {
        Refused::NotALine { path: path.to_string(), behind: behind.to_string() }
    }
}

/// The name that was probably meant by another.
fn meant(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

/// What there is in place of a group that is unknown.
fn of_groups(near: Option<&str>, known: &[String], untrusted: Option<&Path>) -> String {
    match near {
        _ if untrusted.is_some() => {
            let file = untrusted.map(|file| file.display().to_string()).unwrap_or_default();
            format!(", and the one of {file} is not taken until you trust the file")
        }
        Some(_) => meant(near),
        None if known.is_empty() => ", which names none".to_string(),
        None => format!("; there are {}", known.join(", ")),
    }
}
