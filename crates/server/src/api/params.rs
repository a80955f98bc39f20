//! Parameters of the tools. Their doc comments are what an agent reads.

use colgrep_core::tag::TagKind;
use schemars::JsonSchema;
use serde::Deserialize;

use super::page::{REMARK_TOKENS, TOKENS_MAX, TOKENS_MIN, page_tokens, tokens_wanted};

/// Default length of a pack, in tokens.
const PACK_TOKENS_DEFAULT: usize = 1_000;
/// Tokens of a pack's page for the lines on further results.
const PACK_REMARK_TOKENS: usize = 40;

/// The length of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackLength {
    /// Tokens of the units.
    pub units: usize,
    /// Tokens of the whole answer.
    pub whole: usize,
}

/// A tag that is expected of what is wanted.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HintParam {
    /// Kind of tag.
    #[schemars(extend("enum" = TagKind::ALL.map(TagKind::name)))]
    pub kind: String,
    /// The tag in words: a folder, a purpose (parsing), a type, a topic.
    pub word: String,
}

/// A ranking.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// What to look for: words ("parse request") or a name (parseRequest).
    pub query: String,
    /// Regular expression (Rust syntax). Without query: every matching line; with it: only units that match.
    pub pattern: Option<String>,
    /// Read the unit of this name (push, RingBuffer.push) or #id.
    pub name: String,
    /// FILE:LINE or FILE:FROM-TO: read the unit there. FILE alone: where to look, otherwise its outline.
    pub file: String,
    /// FILE:LINE or #id: find units similar to that one.
    pub like: String,
    /// More queries for the same call; at most 16 in all.
    pub queries: Vec<String>,
    /// Only units that call one of these names; without query all, by path.
    pub calls: Vec<String>,
    /// Only definitions that units with one of these names call.
    pub called_by: Vec<String>,
    /// Levels of calls or called_by to follow.
    pub depth: Option<usize>,
    /// Only units of these kinds.
    #[schemars(extend("items" = {"type": "string", "enum": ["function", "method", "class", "constant", "document", "section", "rawcode"]}))]
    pub kind: Vec<String>,
    /// Files or folders to search; default all. With several roots, paths start with the root's name.
    pub paths: Vec<String>,
    /// Project groups from the user's settings to search, together with paths, ranked as one.
    pub groups: Vec<String>,
    /// Number of files; default 10.
    #[schemars(range(min = 1))]
    pub results: Option<usize>,
    /// Show unlikely files too.
    pub all: bool,
    /// Hide files whose strength (probability of being right) is below this.
    #[schemars(range(min = 0, max = 1))]
    pub min_strength: Option<f32>,
    /// Units per file; default 1, in documentation up to 3 sections of a page.
    #[schemars(range(min = 1))]
    pub per_file: Option<usize>,
    /// Results to skip, for the next page.
    pub offset: Option<usize>,
    /// Pattern is literal text.
    pub fixed: bool,
    /// Pattern ignores case.
    pub ignore_case: bool,
    /// Pattern matches whole words.
    pub word: bool,
    /// Lines of context around each matching line.
    pub context: Option<usize>,
    /// Only files that match one of these globs.
    pub include: Vec<String>,
    /// Skip files that match one of these globs.
    pub exclude: Vec<String>,
    /// Only files of these languages.
    pub languages: Vec<String>,
    /// Skip prose, configuration and data.
    pub code_only: bool,
    /// Tests: auto (rank lower), only, or exclude.
    #[schemars(extend("enum" = ["auto", "only", "exclude"]))]
    pub tests: Option<String>,
    /// The file you work on, FILE or FILE:LINE: ranks what belongs to it higher.
    pub near: Option<String>,
    /// Tags to expect; units that have them rank higher.
    pub hints: Vec<HintParam>,
    /// Related terms to search for: kubernetes, or a JSON file below a root, {"word": ["term"]}.
    pub expand: Option<String>,
    /// Don't add related terms from the settings.
    pub no_expand: bool,
    /// Return whole units instead of signature and best line.
    pub content: bool,
    /// Lines to show around each unit's best line.
    pub lines: Option<usize>,
    /// Token budget of a pack: the best unit in full, the next with signature and first sentence, the rest one line
    /// each. Default: a pack of max_tokens. Pages of equal blocks instead with 0, with an offset above 0 or, unless
    /// pack is set, with content, lines, per_file or offset.
    pub pack: Option<usize>,
    /// Only below this folder.
    pub project: String,
    /// Answer length in tokens; default 1000, for pages 2000.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

impl Search {
    /// The length of a pack; none for pages. What follows a pack is a page, whatever was asked: a pack begins at the
    /// best.
    pub fn pack_length(&self) -> Option<PackLength> {
        if self.offset.is_some_and(|offset| offset > 0) {
            return None;
        }
        let is_plain = self.offset.is_none() && !self.content && self.lines.is_none() && self.per_file.is_none();
        let usual = || match self.pack {
            Some(units) => units.saturating_add(PACK_REMARK_TOKENS + REMARK_TOKENS),
            None => PACK_TOKENS_DEFAULT,
        };
        let whole = tokens_wanted(Some(self.max_tokens.unwrap_or_else(usual)));
        let room = page_tokens(Some(whole)).saturating_sub(PACK_REMARK_TOKENS).max(PACK_REMARK_TOKENS);
        let units = match self.pack {
            Some(units) => Some(units.min(room)).filter(|units| *units > 0),
            None => (is_plain && !self.query.trim().is_empty()).then_some(room),
        };
        units.map(|units| PackLength { units, whole })
    }
}

/// Every matching line.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["pattern"]))]
pub struct Grep {
    /// Regular expression (Rust syntax).
    #[schemars(length(min = 1))]
    pub pattern: String,
    /// Files or folders to search; default all roots.
    pub paths: Vec<String>,
    /// Project groups from the user's settings to search, together with paths.
    pub groups: Vec<String>,
    /// Treat pattern as a literal string.
    pub fixed: bool,
    /// Ignore case.
    pub ignore_case: bool,
    /// Match whole words only.
    pub word: bool,
    /// Lines of context around each match.
    pub context: usize,
    /// Only files that match one of these globs.
    pub include: Vec<String>,
    /// Skip files that match one of these globs.
    pub exclude: Vec<String>,
    /// Lines to skip.
    pub offset: usize,
    /// Only below this folder.
    pub project: String,
    /// Answer length in tokens; default 2000.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

/// The units of a file.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["file"]))]
pub struct Outline {
    /// The file.
    pub file: String,
    /// Include constants, fields and lines outside units.
    pub all: bool,
    /// Units to skip.
    pub offset: usize,
    /// Only below this folder.
    pub project: String,
    /// Answer length in tokens; default 2000.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

/// One unit's lines.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadUnit {
    /// The unit's ID, shown after # in answers; add file only if several roots have a unit with this ID.
    pub id: String,
    /// The file; FILE:LINE and FILE:FROM-TO, as in answers, give the line too.
    pub file: String,
    /// A line of the unit or its documentation, from 1; of a long unit, returns the page with this line.
    #[schemars(range(min = 1, max = u32::MAX))]
    pub line: Option<u32>,
    /// The unit's name, plain (push) or qualified (RingBuffer.push), instead of line; with line, picks the nearest
    /// unit of that name.
    pub name: Option<String>,
    /// Lines to skip, for another page.
    pub offset: Option<usize>,
    /// Only below this folder.
    pub project: String,
    /// Answer length in tokens; default 2000.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

/// Units like one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Related {
    /// The unit's ID, shown after # in answers, instead of file and line; add file only if several roots have a unit
    /// with this ID.
    pub id: String,
    /// The file; FILE:LINE and FILE:FROM-TO, as in answers, give the line too.
    pub file: String,
    /// A line of the unit, from 1.
    #[schemars(range(min = 1, max = u32::MAX))]
    pub line: Option<u32>,
    /// Number of files; default 10.
    #[schemars(range(min = 1))]
    pub results: Option<usize>,
    /// Results to skip, for the next page.
    pub offset: usize,
    /// Return whole units instead of signatures.
    pub content: bool,
    /// Number of lines to show around each unit's best line.
    pub lines: Option<usize>,
    /// Only below this folder.
    pub project: String,
    /// Answer length in tokens; default 2000.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

/// Commits and sessions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct History {
    /// What to search for, such as why something was made; default the newest.
    pub query: String,
    /// Only entries that mention one of these files or folders, deleted ones too; with :LINE or :FROM-TO, the commits
    /// that last changed these lines.
    pub paths: Vec<String>,
    /// Only commits.
    pub commits: bool,
    /// Only agent sessions.
    pub sessions: bool,
    /// Only entries since a date or time: 2026-01-31, 2 weeks ago.
    pub since: Option<String>,
    /// Only entries until then.
    pub until: Option<String>,
    /// ID of a session to exclude, such as your own.
    pub not_session: Option<String>,
    /// Number of entries; default 10.
    #[schemars(range(min = 1))]
    pub results: Option<usize>,
    /// Return whole messages and turns.
    pub content: bool,
    /// Entries to skip.
    pub offset: usize,
    /// Only below this folder.
    pub project: String,
    /// Answer length in tokens; default 2000.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

/// What a change affects.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Impact {
    /// What changed: one commit or A...B, or files as FILE, FILE:LINE or FILE:FROM-TO; default: uncommitted changes.
    pub change: Vec<String>,
    /// Tests: auto, only (those to run), or exclude.
    #[schemars(extend("enum" = ["auto", "only", "exclude"]))]
    pub tests: Option<String>,
    /// Number of files; default 15.
    #[schemars(range(min = 1))]
    pub results: Option<usize>,
    /// Files to skip.
    pub offset: usize,
    /// Only below this folder.
    pub project: String,
    /// Answer length in tokens; default 2000.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

/// The state of the index.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Status {
    /// Lines to skip.
    pub offset: usize,
    /// Only below this folder.
    pub project: String,
    /// Answer length in tokens; default 2000.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}
