//! The flags of a walk, and how projects are opened with them.

use clap::{Args, ValueEnum};
use colgrep_engine::OpenOptions;
use colgrep_engine::settings::parse_size;
use colgrep_index::mode::VectorMode;

/// What the index keeps for the ranking by meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum IndexMode {
    /// Vectors of every unit.
    #[default]
    Full,
    /// No vectors; a search embeds its best candidates. Smallest index, weaker ranking by meaning.
    Lite,
    /// No vectors; searches rank by keywords only.
    Keyword,
}

impl From<IndexMode> for VectorMode {
    fn from(mode: IndexMode) -> VectorMode {
        match mode {
            IndexMode::Full => VectorMode::Full,
            IndexMode::Lite => VectorMode::Lite,
            IndexMode::Keyword => VectorMode::Keyword,
        }
    }
}

impl From<VectorMode> for IndexMode {
    fn from(mode: VectorMode) -> IndexMode {
        match mode {
            VectorMode::Full => IndexMode::Full,
            VectorMode::Lite => IndexMode::Lite,
            VectorMode::Keyword => IndexMode::Keyword,
        }
    }
}

/// Options of the walk.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Indexing")]
pub struct WalkArgs {
    /// Index hidden files (--no-hidden: skip them despite a setting; only `init` changes an existing index; -e alone
    /// always obeys)
    #[arg(long, short_alias = '.', overrides_with = "no_hidden")]
    pub hidden: bool,
    /// Skip hidden files despite a setting
    #[arg(long, hide = true, overrides_with = "hidden")]
    pub no_hidden: bool,
    /// Index files named like secrets: .env, id_rsa, *.pem (--no-secrets: skip them despite a setting; only `init`
    /// changes an existing index)
    #[arg(long, overrides_with = "no_secrets")]
    pub secrets: bool,
    /// Skip secrets despite a setting
    #[arg(long, hide = true, overrides_with = "secrets")]
    pub no_secrets: bool,
    /// Don't respect .gitignore and .colgrepignore (existing index: see --hidden)
    #[arg(long)]
    pub no_ignore: bool,
    /// Skip files larger than SIZE: bytes, or with K, M, G (default 1M; existing index: see --hidden)
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_filesize: Option<u64>,
    /// Vectors to store for ranking by meaning; an existing index keeps its mode until `init` [default: full]
    #[arg(long, value_name = "MODE")]
    pub index_mode: Option<IndexMode>,
    /// Index the root even if it is /, a home, system or temporary folder, a lone file's folder, or no git repository
    /// and contains several or over 50,000 files
    #[arg(short = 'y', long)]
    pub yes: bool,
    /// Threads to use (default and 0: all cores)
    #[arg(short = 'j', long, value_name = "N")]
    pub threads: Option<usize>,
    /// Hide progress and remarks on stderr
    #[arg(long)]
    pub quiet: bool,
}

impl WalkArgs {
    pub fn open_options(&self, model: Option<String>) -> OpenOptions {
        let mut options = OpenOptions::default();
        options.hidden = either(self.hidden, self.no_hidden);
        options.secrets = either(self.secrets, self.no_secrets);
        options.no_ignore = self.no_ignore;
        options.filesize_max = self.max_filesize;
        options.vectors = self.index_mode.map(IndexMode::into);
        options.model = model;
        options.any_root = self.yes;
        options
    }
}

/// A flag and the one that takes it back.
pub(super) fn either(on: bool, off: bool) -> Option<bool> {
    if on || off { Some(on) } else { None }
}
