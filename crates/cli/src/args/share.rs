//! The flags of `push` and `pull`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::search::WalkArgs;

/// `push`.
#[derive(Clone, Debug, Args)]
pub struct PushArgs {
    /// Where indexes are shared: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, az://CONTAINER/FOLDER, or a folder (default: the
    /// setting `remote`)
    #[arg(value_hint = ValueHint::AnyPath)]
    pub url: Option<String>,
    /// The project (default: the one around the current folder)
    pub path: Option<PathBuf>,
    /// What the repository is called there (default: the address of its remote, such as github.com/owner/name, else its
    /// first commit)
    #[arg(long)]
    pub name: Option<String>,
    /// Push although indexed files differ from the commit
    #[arg(long)]
    pub dirty: bool,
    /// Send every file of the index again, also what is there, and begin anew where the manifest is damaged
    #[arg(long)]
    pub anew: bool,
    /// Then remove what no index there needs any more and what is older than DAYS [default: 7]
    #[arg(long, value_name = "DAYS", num_args = 0..=1, require_equals = true, default_missing_value = "7",
        value_parser = clap::value_parser!(u32).range(1..=3_650))]
    pub prune: Option<u32>,
    /// No progress and no remarks on stderr
    #[arg(long)]
    pub quiet: bool,
}

/// `pull`.
#[derive(Clone, Debug, Args)]
pub struct PullArgs {
    /// Where indexes are shared: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, az://CONTAINER/FOLDER, or a folder (default: the
    /// setting `remote`)
    #[arg(value_hint = ValueHint::AnyPath)]
    pub url: Option<String>,
    /// The project (default: the one around the current folder)
    pub path: Option<PathBuf>,
    /// What the repository is called there (default: the addresses of its remotes, else its first commit)
    #[arg(long)]
    pub name: Option<String>,
    /// The model whose vectors are kept: default (the one in the program), a folder or a hub's name
    #[arg(long, value_name = "ID|FOLDER", value_hint = ValueHint::DirPath, help_heading = "Indexing")]
    pub model: Option<String>,
    /// Options of the walk.
    #[command(flatten)]
    pub walk: WalkArgs,
}
