//! The flags that say what is measured, and with which ranking.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use colgrep::FusionArg;
use colgrep_core::fuse::Fusion;
use colgrep_core::knob::{Knobs, Profile};
use colgrep_engine::project::model::Model;
use colgrep_engine::settings::env::{Env, profile};
use colgrep_engine::{OpenOptions, RankBy, SearchRequest, Session};

use super::ask::WithoutBackground;

/// The process's environment, as given to `main`.
pub type Vars = [(OsString, OsString)];

/// Which repositories and queries, and with which constants.
#[derive(Clone, Debug, clap::Args)]
pub struct CorpusArgs {
    /// Folder of annotations, one `NAME.json` a repository; repeatable, `DIR=WEIGHT` weighs a set in sums (1)
    #[arg(long, value_name = "DIR[=WEIGHT]", required = true, value_parser = parse_set)]
    pub annotations: Vec<SetArg>,
    /// The repositories' languages and subfolders (default: the language of the most units, whole repository)
    #[arg(long, value_name = "FILE")]
    pub specs: Option<PathBuf>,
    /// Folder with a folder of sources for each repository
    #[arg(long, value_name = "DIR")]
    pub repos: PathBuf,
    /// Only this repository (repeatable)
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Only queries of this category (repeatable)
    #[arg(long, value_name = "NAME")]
    pub category: Vec<String>,
    /// Leave out what annotations give beside the query: near, hints or expand (repeatable)
    #[arg(long, value_name = "PART")]
    pub without: Vec<WithoutBackground>,
    /// How units are ranked.
    #[command(flatten)]
    pub ranking: RankingArgs,
}

/// How units are ranked, as colgrep's flags of the same names say, and where the indexes are.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RankingArgs {
    /// Folder that keeps the indexes (default: `benchmark` in colgrep's own)
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Constants of the ranking: default or classic
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Rank by words and structure alone
    #[arg(long, conflicts_with = "semantic_only")]
    pub keyword_only: bool,
    /// Rank by meaning alone
    #[arg(long)]
    pub semantic_only: bool,
    /// The model that ranks by meaning: default, a folder or a hub's name
    #[arg(long, value_name = "ID|FOLDER", conflicts_with = "keyword_only")]
    pub model: Option<String>,
    /// How the rankings by words and by meaning become one [default: minmax]
    #[arg(long, value_name = "METHOD", conflicts_with_all = ["keyword_only", "semantic_only"])]
    pub fusion: Option<FusionArg>,
}

impl RankingArgs {
    /// Which rankings take part, and the model's name where it is not the program's own.
    pub fn text(&self) -> String {
        let mode = match (self.keyword_only, self.semantic_only) {
            (true, _) => "keyword-only",
            (_, true) => "semantic-only",
            _ => "hybrid",
        };
        let fusion = (self.fusion() == Fusion::ReciprocalRank).then_some("fused by rank");
        [Some(mode), self.model.as_deref(), fusion].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    pub fn fusion(&self) -> Fusion {
        self.fusion.unwrap_or_default().into()
    }

    /// The environment as colgrep reads it, with the indexes in the folder for them.
    pub fn environment(&self, vars: &Vars) -> Result<Env> {
        let usual = Env::read(vars.iter().cloned())?;
        let folder = match &self.data_dir {
            Some(folder) => std::path::absolute(folder)?,
            None => usual.data_folder()?.join("benchmark"),
        };
        let others = vars.iter().filter(|(name, _)| name != "COLGREP_DATA_DIR").cloned();
        Ok(Env::read(others.chain([(OsString::from("COLGREP_DATA_DIR"), folder.into_os_string())]))?)
    }

    /// A session over the indexed folder `root`, which reads no file anew.
    pub fn session(&self, root: &Path, env: &Env) -> Result<Session> {
        let mut options = OpenOptions::default();
        (options.update, options.model) = (false, self.model.clone());
        Ok(Session::new(env.clone(), root, &options, Arc::new(()))?)
    }

    /// A request for this many files below `root`.
    pub fn request(&self, query: &str, root: &Path, files: usize) -> Result<SearchRequest> {
        let mut request = SearchRequest::new(query).within(root).files(files).by(self.by());
        request.ranking.profile = self.profile()?;
        request.ranking.fusion = self.fusion.map(Into::into);
        Ok(request)
    }

    /// The constants in force: the profile's, then the environment's.
    pub fn knobs(&self, env: &Env) -> Result<Knobs> {
        Ok(env.knobs(self.profile()?)?)
    }

    /// The set of constants, where one is named.
    pub fn profile(&self) -> Result<Option<Profile>> {
        Ok(self.profile.as_deref().map(profile).transpose()?)
    }

    /// Opens the model; none for keywords alone.
    pub fn model(&self, env: &Env) -> Result<Option<Arc<Model>>> {
        let open = || Model::open(self.model.as_deref(), true, env).map(Arc::new);
        Ok((!self.keyword_only).then(open).transpose()?)
    }

    /// Which rankings take part.
    pub fn by(&self) -> RankBy {
        match (self.keyword_only, self.semantic_only) {
            (true, _) => RankBy::Words,
            (false, true) => RankBy::Meaning,
            (false, false) => RankBy::Both,
        }
    }
}

/// A folder of annotations and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct SetArg {
    pub folder: PathBuf,
    /// Its weight in sums over sets.
    pub weight: f64,
}

pub(super) fn parse_set(text: &str) -> Result<SetArg, String> {
    let (folder, weight) = match text.rsplit_once('=') {
        Some((folder, weight)) => {
            let parsed = weight.parse().ok().filter(|w: &f64| w.is_finite() && *w > 0.0);
            (folder, parsed.ok_or_else(|| format!("{weight:?} is no weight; write a number above 0"))?)
        }
        None => (text, 1.0),
    };
    Ok(SetArg { folder: PathBuf::from(folder), weight })
}
