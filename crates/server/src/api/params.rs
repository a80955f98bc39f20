//! Parameters of the tools. Their doc comments are what an agent reads.

use colgrep_core::tag::TagKind;
use schemars::JsonSchema;
use serde::Deserialize;

use super::page::{TOKENS_MAX, TOKENS_MIN};

/// Default length of a pack, in tokens.
const PACK_TOKENS_DEFAULT: usize = 1_000;
/// Extra tokens of a pack for remarks on the index and on further results.
pub const PACK_REMARK_TOKENS: usize = 40;

/// A tag that is expected of what is wanted.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HintParam {
    /// What the tag is about.
    #[schemars(extend("enum" = TagKind::ALL.map(TagKind::name)))]
    pub kind: String,
    /// The tag in words: a folder, what it does (parsing), a type, a subject.
    pub word: String,
}

/// A ranking.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Search {
    /// What to look for, in words ("parse request") or as a name (parseRequest). It is left out or empty only with calls,
    /// called_by or kind (all such units are listed, by path and line) or with queries.
    pub query: String,
    /// Further questions, answered in the same call, each under a line of its own; 16 questions at most in all.
    pub queries: Vec<String>,
    /// Only units that call one of these names.
    pub calls: Vec<String>,
    /// Only definitions of what the units of one of these names call.
    pub called_by: Vec<String>,
    /// Only units of these kinds.
    #[schemars(extend("items" = {"type": "string", "enum": ["function", "method", "class", "constant", "document", "section", "rawcode"]}))]
    pub kind: Vec<String>,
    /// Files or folders to look in; all roots where empty. Of several roots, and over shards, a path begins with the name of
    /// its repository, as in answers.
    pub paths: Vec<String>,
    /// Groups of projects to look in, by their names in the user's settings, together with paths. They are ranked as one.
    pub groups: Vec<String>,
    /// Number of files, 10 if not given.
    #[schemars(range(min = 1))]
    pub results: Option<usize>,
    /// Show files below the floor of strength too, which are rarely right; not with min_strength.
    pub all: bool,
    /// Leave out files whose strength, the chance from 0 to 1 that they are right, is below this.
    #[schemars(range(min = 0, max = 1))]
    pub min_strength: Option<f32>,
    /// Units in each file; 1 if not given, in a documentation up to 3 sections of a page.
    #[schemars(range(min = 1))]
    pub per_file: Option<usize>,
    /// Results to leave out from the beginning: for the next page.
    pub offset: Option<usize>,
    /// Only units with a match of this regular expression; all where empty.
    pub pattern: Option<String>,
    /// Only files that match one of these globs.
    pub include: Vec<String>,
    /// No files that match one of these globs.
    pub exclude: Vec<String>,
    /// Only files of these languages.
    pub languages: Vec<String>,
    /// No prose, configuration or data.
    pub code_only: bool,
    /// Test files: auto (ranked lower), only, or exclude.
    #[schemars(extend("enum" = ["auto", "only", "exclude"]))]
    pub tests: Option<String>,
    /// The file you work on, FILE or FILE:LINE: what belongs to it comes earlier (what a test tests, imports, files that
    /// changed together with it), none is left out.
    pub near: Option<String>,
    /// Tags that you expect of what is wanted; units that have them come earlier, none is left out.
    pub hints: Vec<HintParam>,
    /// Terms of a field for words of the query: kubernetes, or a JSON file below a root, {"word": ["term"]}.
    pub expand: Option<String>,
    /// Leave out the terms that the settings have for words of the query.
    pub no_expand: bool,
    /// The whole text of each unit instead of its signature and best line.
    pub content: bool,
    /// So many numbered lines around the best line of each unit.
    pub lines: Option<usize>,
    /// Token budget of a pack: the best unit in full, the next with signature and first sentence, the rest a line each. The
    /// usual answer is a pack of max_tokens. 0 gives pages of equal blocks instead, as content, lines, per_file and an offset
    /// do where no pack is asked for, and as an offset above 0 does always.
    pub pack: Option<usize>,
    /// Length of the answer in tokens (bytes / 4), 1000 if not given, of pages 2000.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

impl Search {
    /// Tokens of a pack; none for pages. What follows a pack is a page, whatever was asked: a pack begins at the best.
    pub fn pack_tokens(&self) -> Option<usize> {
        if self.offset.is_some_and(|offset| offset > 0) {
            return None;
        }
        let is_plain = self.offset.is_none() && !self.content && self.lines.is_none() && self.per_file.is_none();
        let length = || super::page::tokens_wanted(self.max_tokens.or(Some(PACK_TOKENS_DEFAULT)));
        let usual = || length().saturating_sub(PACK_REMARK_TOKENS).max(PACK_REMARK_TOKENS);
        match self.pack {
            Some(tokens) => Some(tokens).filter(|tokens| *tokens > 0),
            None => (is_plain && !self.query.trim().is_empty()).then(usual),
        }
    }
}

/// Every matching line.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["pattern"]))]
pub struct Grep {
    /// A regular expression (Rust's syntax).
    #[schemars(length(min = 1))]
    pub pattern: String,
    /// Files or folders to look in; all roots where empty.
    pub paths: Vec<String>,
    /// Groups of projects to look in, by their names in the user's settings, together with paths.
    pub groups: Vec<String>,
    /// The pattern is plain text.
    pub fixed: bool,
    /// Upper and lower case match alike.
    pub ignore_case: bool,
    /// Whole words only.
    pub word: bool,
    /// Lines of context around each match.
    pub context: usize,
    /// Only files that match one of these globs.
    pub include: Vec<String>,
    /// No files that match one of these globs.
    pub exclude: Vec<String>,
    /// Lines to leave out from the beginning: for the next page.
    pub offset: usize,
    /// Length of the answer in tokens (bytes / 4), 2000 if not given.
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
    /// Constants, fields and lines outside any unit too, not only functions, types and headings.
    pub all: bool,
    /// Units to leave out from the beginning: for the next page.
    pub offset: usize,
    /// Length of the answer in tokens (bytes / 4), 2000 if not given.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

/// One unit's lines.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReadUnit {
    /// The unit's id, as answers give it behind #; nothing else is needed then, but the file where several roots have a unit
    /// with this id.
    pub id: String,
    /// The file; FILE:LINE and FILE:FROM-TO, as answers have them, name the line too.
    pub file: String,
    /// A line of the unit or of its documentation, from 1. Of a long unit, the page that holds it is given.
    #[schemars(range(min = 1))]
    pub line: Option<u32>,
    /// The unit's name, plain (push) or qualified (RingBuffer.push), instead of a line; with a line, the unit of that name
    /// around or nearest to it.
    pub name: Option<String>,
    /// Lines to leave out from the beginning: for another page.
    pub offset: Option<usize>,
    /// Length of the answer in tokens (bytes / 4), 2000 if not given.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

/// Units like one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Related {
    /// The unit's id, as answers give it behind #, instead of file and line; with the file where several roots have a unit
    /// with this id.
    pub id: String,
    /// The file; FILE:LINE and FILE:FROM-TO, as answers have them, name the line too.
    pub file: String,
    /// A line of the unit, from 1.
    #[schemars(range(min = 1))]
    pub line: Option<u32>,
    /// Number of files, 10 if not given.
    #[schemars(range(min = 1))]
    pub results: Option<usize>,
    /// Results to leave out from the beginning: for the next page.
    pub offset: usize,
    /// The whole text of each unit instead of its signature.
    pub content: bool,
    /// So many numbered lines around the best line of each unit.
    pub lines: Option<usize>,
    /// Length of the answer in tokens (bytes / 4), 2000 if not given.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

/// Commits and sessions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct History {
    /// What to look for, in words: why something was made, what was said of it; the newest entries where empty.
    pub query: String,
    /// Only what mentions one of these files or folders, which may be gone; with `:LINE` or `:FROM-TO`, the commits
    /// that last changed these lines.
    pub paths: Vec<String>,
    /// Only commits.
    pub commits: bool,
    /// Only sessions of agents.
    pub sessions: bool,
    /// Nothing before this day or time: 2026-01-31, 2026-01-31T10:00:00Z, yesterday, 2 weeks ago.
    pub since: Option<String>,
    /// Nothing behind this day or time.
    pub until: Option<String>,
    /// Leave this session out, by its id: the one that asks.
    pub not_session: Option<String>,
    /// Number of entries, 10 if not given.
    #[schemars(range(min = 1))]
    pub results: Option<usize>,
    /// Whole messages and turns.
    pub content: bool,
    /// Entries to leave out from the beginning: for the next page.
    pub offset: usize,
    /// Length of the answer in tokens (bytes / 4), 2000 if not given.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}

/// The state of the index. Other parameters are ignored: some clients invent one for tools that need none.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Status {
    /// Lines to leave out from the beginning: for the next page.
    pub offset: usize,
    /// Length of the answer in tokens (bytes / 4), 2000 if not given.
    #[schemars(range(min = TOKENS_MIN, max = TOKENS_MAX))]
    pub max_tokens: Option<usize>,
}
