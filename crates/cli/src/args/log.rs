//! The flags of `log`.

use std::path::Path;

use clap::Args;
use colgrep_engine::RankBy;
use colgrep_engine::history::{Bound, EntrySource, HistoryRequest};
use colgrep_engine::request::{split_lines, unread_line};
use colgrep_syntax::language;

use super::search::Color;
use colgrep_render::entries::EntryArgs;
use colgrep_render::{Format, When};

#[derive(Clone, Debug, Default, Args)]
pub struct LogArgs {
    /// What to search for: why something was made, what was said about it (default: newest entries)
    pub query: Option<String>,
    /// Only entries that mention this file or folder, which may be deleted; with :LINE or :FROM-TO, the commits that
    /// last changed these lines
    #[arg(value_name = "PATH[:LINE]")]
    pub paths: Vec<String>,
    /// The same, without a query first
    #[arg(last = true, value_name = "PATH[:LINE]")]
    pub behind: Vec<String>,
    /// Only commits
    #[arg(long, conflicts_with = "sessions")]
    pub commits: bool,
    /// Only agent sessions, from the folders of the setting `sessions`
    #[arg(long)]
    pub sessions: bool,
    /// Only entries since this date or time: 2026-01-31, 2026-01-31T10:00:00Z, yesterday, "2 weeks ago"
    #[arg(long, value_name = "DATE", value_parser = bound)]
    pub since: Option<Bound>,
    /// Only entries until this date or time
    #[arg(long, value_name = "DATE", value_parser = bound)]
    pub until: Option<Bound>,
    /// Exclude a session by its name or transcript path, such as the calling one
    #[arg(long, value_name = "ID")]
    pub not_session: Vec<String>,
    /// Number of entries (default: 15)
    #[arg(short = 'k', long, aliases = ["limit", "top-k"], value_name = "N", value_parser = super::size::positive)]
    pub results: Option<usize>,
    /// Rank by words only
    #[arg(long, conflicts_with = "semantic_only")]
    pub keyword_only: bool,
    /// Rank by meaning only
    #[arg(long)]
    pub semantic_only: bool,
    /// Print only IDs: full commit hashes, PATH:LINE of turns
    #[arg(short = 'l', long, conflicts_with_all = ["content", "lines", "json", "jsonl", "explain"], help_heading = "Output")]
    pub ids: bool,
    /// Show whole messages and turns
    #[arg(short, long, help_heading = "Output")]
    pub content: bool,
    /// Show N lines of each message or turn
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "content", help_heading = "Output")]
    pub lines: Option<usize>,
    /// Print a JSON array
    #[arg(long, conflicts_with = "jsonl", help_heading = "Output")]
    pub json: bool,
    /// Print one JSON object per line
    #[arg(long, help_heading = "Output")]
    pub jsonl: bool,
    /// Stop after N tokens (bytes / 4)
    #[arg(long, value_name = "N", value_parser = super::size::positive, help_heading = "Output")]
    pub max_tokens: Option<usize>,
    /// Show how each score was computed
    #[arg(long, help_heading = "Output")]
    pub explain: bool,
    /// Print nothing; only set the exit status
    #[arg(short = 'q', long = "silent", help_heading = "Output")]
    pub silent: bool,
    /// When to use colour: auto, always or never
    #[arg(long, value_name = "WHEN", value_enum, hide_possible_values = true, help_heading = "Output")]
    pub color: Option<Color>,
    /// Hide progress and remarks on stderr
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

fn bound(text: &str) -> Result<Bound, String> {
    Bound::read(text).map_err(|error| error.to_string())
}

/// Whether an argument is written as the path of a file, which may be deleted.
fn is_written_as_path(text: &str) -> bool {
    let is_path = text.contains('/') && !text.contains(char::is_whitespace) && !text.contains("://");
    is_path && language::facts().is_file_name(text) && !text.ends_with(|c: char| c.is_ascii_digit())
}

/// Whether an argument names an existing file or folder, perhaps with a line. As in git, it is not a question then.
fn is_there(written: &str, folder: &Path) -> bool {
    let exists = |path: &str| !path.is_empty() && folder.join(path).symlink_metadata().is_ok();
    exists(written)
        || split_lines(written).is_some_and(|(path, _)| exists(path))
        || unread_line(written, exists, |path| folder.join(path).is_file()).is_some()
}

impl LogArgs {
    /// What is asked of the history.
    pub fn request(&self) -> HistoryRequest {
        let mut request = HistoryRequest {
            folder: std::env::current_dir().unwrap_or_default(),
            paths: self.paths.iter().chain(&self.behind).cloned().collect(),
            or_from_root: true,
            ..HistoryRequest::default()
        };
        let is_path = |path: &str| is_there(path, &request.folder);
        // Of several arguments the first is a path where it is written as one and all of them are there.
        let are_paths = |first: &str| {
            let all =
                || first.contains(['/', '.']) && self.behind.is_empty() && self.paths.iter().all(|path| is_path(path));
            match request.paths.is_empty() {
                true => is_path(first) || is_written_as_path(first),
                false => is_path(first) && all(),
            }
        };
        match &self.query {
            Some(path) if are_paths(path) => request.paths.insert(0, path.clone()),
            query => request.query.clone_from(query),
        }
        request.sources = match (self.commits, self.sessions) {
            (true, _) => vec![EntrySource::Commit],
            (_, true) => vec![EntrySource::Session],
            _ => Vec::new(),
        };
        (request.since, request.until) = (self.since, self.until);
        request.not_sessions.clone_from(&self.not_session);
        request.entries = self.results;
        request.whole = self.content || self.lines.is_some();
        request.explain = self.explain;
        request.ranking.by = match (self.keyword_only, self.semantic_only) {
            (true, _) => RankBy::Words,
            (_, true) => RankBy::Meaning,
            _ => RankBy::Both,
        };
        request
    }

    /// What is printed of the answer.
    pub fn output(&self) -> EntryArgs {
        EntryArgs {
            format: match (self.json, self.jsonl) {
                (true, _) => Format::Json,
                (_, true) => Format::JsonLines,
                _ => Format::Text,
            },
            ids: self.ids,
            lines: if self.content { Some(usize::MAX) } else { self.lines },
            max_tokens: self.max_tokens,
            silent: self.silent,
            quiet: self.quiet,
            color: self.color.map(When::from),
        }
    }
}
