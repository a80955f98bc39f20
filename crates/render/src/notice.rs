//! Notices of the engine in words, with advice for the command line or a tool.

use colgrep_encoder::ModelSpec;
use colgrep_engine::notice::{IndexState, NotRanked, NotUpdated, Notice, Unranked};
use colgrep_engine::project::Project;
use colgrep_engine::project::model::{LITE_CANDIDATES, Lacking, MissingVectors};
use colgrep_engine::request::structure::StructureCoverage;
use colgrep_index::store::{Coverage, Snapshot};
use colgrep_syntax::read::Skip;
use indicatif::BinaryBytes;

use crate::advice::{Hinted, for_disk};
use crate::path::typed;
use crate::words::counted;

pub fn text(notice: &Notice) -> String {
    match notice {
        Notice::Incomplete(state) => {
            format!("the index is incomplete ({}); `colgrep init` finishes it", coverage(state))
        }
        Notice::Unfinished { unread, in_tree, is_done_behind } => {
            let rest = if *is_done_behind { "" } else { "; `colgrep init` reads the rest" };
            let known = in_tree.saturating_sub(*unread);
            format!("still indexing: this answer covers {known} of {}{rest}", counted(*in_tree, "file"))
        }
        Notice::OtherWalk { root } => format!(
            "the index of {} was built with other --hidden, --secrets, --no-ignore or --max-filesize; run `colgrep init` \
             with these flags to change it",
            root.display()
        ),
        Notice::TooLarge { files, filesize_max } => {
            let limit = BinaryBytes(*filesize_max);
            format!("skipped {} larger than {limit}; `colgrep status` names them", counted(*files, "file"))
        }
        Notice::AsItIs { why, state } => {
            let (why, way) = match why {
                NotUpdated::Failed { why, refused } => (why.as_str(), refused.and_then(for_disk)),
                _ => ("another colgrep is indexing", None),
            };
            let way = way.map_or_else(String::new, |way| format!("; {way}"));
            let state = coverage(state);
            format!("{why}{way}; this answer may lack the latest changes ({state})")
        }
        Notice::WaitsForFirstPart => "waiting for another colgrep that is building this index".to_string(),
        Notice::FirstPart(state) => {
            format!("another colgrep is still indexing; this answer covers a part ({})", coverage(state))
        }
        Notice::Lacking { lacking: lack, is_being_built, is_done_behind } => {
            lacking(lack, is_being_built.then_some(ANOTHER).or(is_done_behind.then_some(BEHIND)))
        }
        Notice::NotRanked(of) => not_ranked(of).to_string(),
        Notice::Unreadable { root, first, paths } => {
            let others = if *paths > 1 { format!(" and {} more", paths - 1) } else { String::new() };
            format!("{}{others} can't be read, so no answer comes from there", typed(root, first))
        }
        Notice::Unsearched { coverage, is_all } => unsearched(coverage, *is_all),
        Notice::NearUnknown(of) => {
            let (why, indexed) = reason(of.why);
            let shown = typed(&of.root, &of.path);
            format!("{shown} is not indexed ({why}), so what it imports and calls is not known; {indexed}")
        }
        Notice::Runtime(library) => format!("the model is run by {}", library.display()),
        Notice::Moved { from } => {
            format!("using the index of {}, from where this repository was moved", from.display())
        }
        Notice::Damaged(how) => format!("{how}; rebuilding what is damaged"),
        Notice::HistoryAsItIs => {
            "another colgrep is indexing the history; this answer may lack the latest commits".to_string()
        }
        Notice::HistoryLacks { without, all } => {
            format!("{without} of {all} entries are ranked by words alone so far; further searches make their vectors")
        }
        other => format!("{other:?}"),
    }
}

const BEHIND: &str = "a background process";
/// Another process that writes an index.
pub const ANOTHER: &str = "another colgrep";

/// `120 of 4000 files read`, and where a model would have given more, `500 of 900 units have vectors`.
pub fn coverage(state: &IndexState) -> String {
    let files = match state.files_in_tree {
        Some(all) if all == state.files_read => format!("all {} read", counted(all, "file")),
        Some(all) => format!("{} of {} read", state.files_read, counted(all, "file")),
        None => format!("{} read", counted(state.files_read, "file")),
    };
    match state.vectors {
        Some(Coverage { units, with_vectors }) => format!("{files}, {with_vectors} of {units} units have vectors"),
        None => files,
    }
}

/// How far another process is that writes the index, if one does; `snapshot` is what there is to search.
pub fn building(project: &Project, snapshot: Option<&Snapshot>) -> Option<String> {
    let told = |s| coverage(&IndexState::of(project, s, None));
    project.store.is_locked().then(|| snapshot.map_or("nothing of it can be searched yet".to_string(), told))
}

/// What the ranking by meaning lacks, and who makes it: `maker`, if somebody is at it, else `init`.
pub fn lacking(lacking: &Lacking, maker: Option<&str>) -> String {
    let only = format!("only the best {LITE_CANDIDATES} units by words are ranked by meaning");
    let init = format!("`colgrep init --model {}`", lacking.model);
    let model = match &lacking.model {
        ModelSpec::Embedded => "the embedded model".to_string(),
        other => format!("the model {other}"),
    };
    match &lacking.what {
        MissingVectors::All => {
            format!("the index has no vectors of {model}: {only}; {} makes them", maker.unwrap_or(&init))
        }
        MissingVectors::OtherModel { stored } => {
            format!("the index has vectors of the model {stored}, not of {model}: {only}; {init} replaces them")
        }
        MissingVectors::Damaged(damage) => {
            format!("{damage}: {only}; {} rebuilds the vectors", maker.unwrap_or("`colgrep init`"))
        }
        MissingVectors::Units { without, all } => format!(
            "{without} of {all} units are ranked by words alone so far; {} makes their vectors",
            maker.unwrap_or("`colgrep init`")
        ),
        other => format!("{other:?}"),
    }
}

/// Why nothing of a path is indexed, and what changes that.
fn reason(why: Unranked) -> (&'static str, &'static str) {
    match why {
        Unranked::Skipped(Skip::TooLarge) => {
            (Skip::TooLarge.reason(), "`colgrep init --max-filesize SIZE` indexes larger files")
        }
        Unranked::Skipped(Skip::Secret) => {
            (Skip::Secret.reason(), "`colgrep init --secrets` indexes files of such names")
        }
        Unranked::Skipped(Skip::Unreadable) | Unranked::Unreadable => {
            (Skip::Unreadable.reason(), "the next search reads it where it may be read")
        }
        Unranked::Skipped(skip) => (skip.reason(), "`colgrep status` names what is skipped"),
        Unranked::Hidden => ("hidden", "`colgrep init --hidden` indexes hidden files"),
        Unranked::HiddenSecret => {
            ("hidden, and has a secret's name", "`colgrep init --hidden --secrets` indexes hidden files and such names")
        }
        Unranked::New => {
            ("new since the index was made", "the next search that may bring the index up to date reads it")
        }
        Unranked::Ignored => ("ignored", "`colgrep init --no-ignore` indexes ignored files"),
        Unranked::IgnoredTracked => {
            ("tracked by git, but ignored", "a rule like `!PATTERN` in .colgrepignore has it indexed")
        }
        Unranked::OtherCheckout => {
            ("in another worktree of this repository", "`colgrep QUERY` in that folder searches it by itself")
        }
        _ => ("empty or ignored, or all files in it are skipped", "`colgrep status` names what is skipped"),
    }
}

/// A path of which nothing is indexed, with the reason: `gen/a.py (tracked by git, but ignored)`.
pub fn with_reason(of: &NotRanked) -> String {
    format!("{} ({})", typed(&of.root, &of.path), reason(of.why).0)
}

/// Why a path can't be ranked, and what finds its lines all the same.
pub fn not_ranked(of: &NotRanked) -> Hinted {
    let shown = typed(&of.root, &of.path);
    match of.why {
        Unranked::Skipped(Skip::Empty) => {
            let nothing = "there is nothing to find".to_string();
            return Hinted { what: format!("{shown} is empty"), shell: nothing.clone(), tool: nothing };
        }
        Unranked::Skipped(Skip::Unreadable) | Unranked::Unreadable => {
            let rest = "the next search reads it where it may be read".to_string();
            return Hinted {
                what: format!("{shown} can't be read, so it is not ranked"),
                shell: rest.clone(),
                tool: rest,
            };
        }
        _ => {}
    }
    let (why, indexed) = reason(of.why);
    Hinted {
        what: format!("{shown} is not indexed ({why}), so it is not ranked"),
        shell: format!("`colgrep -e PATTERN {shown}` finds lines in it, {indexed}"),
        tool: "`pattern` alone finds lines in it".to_string(),
    }
}
/// Which files a structural pattern was not matched in; `is_all`: nothing was found in the others.
pub fn unsearched(coverage: &StructureCoverage, is_all: bool) -> String {
    let mut clauses = Vec::new();
    if let Some((path, why)) = &coverage.first_failed {
        let others = if coverage.failed > 1 { format!(" and {} more", coverage.failed - 1) } else { String::new() };
        clauses.push(format!("--ast did not search {path}{others}, which {why}"));
    }
    if is_all && !coverage.other.is_empty() {
        let languages: Vec<&str> = coverage.other.keys().copied().collect();
        let files = counted(coverage.other.values().sum::<u64>(), "file");
        clauses.push(format!("--ast did not search {files}: the pattern is no code in {}", languages.join(", ")));
    }
    clauses.join("; ")
}
