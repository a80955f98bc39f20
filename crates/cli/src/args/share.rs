//! The flags of `push` and `pull`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::walk::WalkArgs;

#[derive(Clone, Debug, Args)]
pub struct PushArgs {
    /// Where indexes are shared: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, az://CONTAINER/FOLDER, or a folder (default:
    /// the setting `remote`)
    #[arg(value_hint = ValueHint::AnyPath)]
    pub url: Option<String>,
    /// Project to use (default: the current folder's)
    pub path: Option<PathBuf>,
    /// The repository's name there (default: its remote's address, such as github.com/owner/name, or else its first
    /// commit)
    #[arg(long)]
    pub name: Option<String>,
    /// Push even if indexed files differ from the commit
    #[arg(long)]
    pub dirty: bool,
    /// Upload every index file again, and start over if the manifest is damaged
    #[arg(long)]
    pub anew: bool,
    /// Then remove files that no index there needs and that are older than DAYS [default: 7]
    #[arg(long, value_name = "DAYS", num_args = 0..=1, require_equals = true, default_missing_value = "7",
        value_parser = clap::value_parser!(u32).range(1..=3_650))]
    pub prune: Option<u32>,
    /// Hide progress and remarks on stderr
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Clone, Debug, Args)]
pub struct PullArgs {
    /// Where indexes are shared: s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, az://CONTAINER/FOLDER, or a folder (default:
    /// the setting `remote`)
    #[arg(value_hint = ValueHint::AnyPath)]
    pub url: Option<String>,
    /// Project to use (default: the current folder's)
    pub path: Option<PathBuf>,
    /// The repository's name there (default: its remotes' addresses, or else its first commit)
    #[arg(long)]
    pub name: Option<String>,
    /// Pull nothing; print the commits whose indexes are there, newest first, each with its branch
    #[arg(long)]
    pub list: bool,
    /// Model for the vectors: default (built in), a folder, or a Hugging Face name
    #[arg(long, value_name = "ID|FOLDER", value_hint = ValueHint::DirPath, help_heading = "Indexing")]
    pub model: Option<String>,
    /// Options of the walk.
    #[command(flatten)]
    pub walk: WalkArgs,
}
