//! What `push`, `pull` and a search with a remote share: where it is, what the project is called there, taking an index.

use std::path::Path;

use anyhow::{Result, bail};
use colgrep_engine::project::Project;
use colgrep_engine::project::identity::{Identity, Nameless, distances, is_name};
use colgrep_engine::project::model::Model;
use colgrep_engine::project::open::Opening;
use colgrep_engine::settings::Settings;
use colgrep_engine::settings::env::Env;
use colgrep_index::store::Store;
use colgrep_index::vector::VectorManifest;
use colgrep_share::{
    Access, Error as RemoteError, ManifestSnapshot, Pulled, Remote, RemoteIndex, StoreAddress, StoreTimeouts, Takes,
    TransferWatch, Wanted,
};

/// Opens the remote that is named, or else the setting's.
pub(super) fn remote(
    url: Option<&str>,
    project: &Project,
    settings: &Settings,
    env: &Env,
    patience: StoreTimeouts,
) -> Result<Remote> {
    let Some(url) = url.or(settings.text("remote")) else {
        bail!(
            "no place to share indexes is named: give an address (s3://BUCKET/FOLDER, ../FOLDER), or keep one with \
             `colgrep settings remote ADDRESS`"
        )
    };
    let place = StoreAddress::parse(url, env.home.as_deref())?;
    if place.holds(&project.root) {
        bail!("{place} holds the project itself; name another folder (the address comes first, then the project)");
    }
    let (cloud, home, plain) = (env.cloud(), env.home.as_deref(), settings.is_on("remote_http"));
    Ok(Remote::open(&place, &Access { cloud, home, plain, patience })?)
}

/// The identity of a project, and the names by which a remote knows it: the given one alone, where there is one.
pub(super) fn identity(project: &Project, name: Option<&str>) -> Result<(Identity, Vec<String>)> {
    let identity = match (Identity::of(project), name) {
        // With a name, the commit is a help and no more.
        (Err(_), Some(_)) => Identity::default(),
        (identity, _) => identity?,
    };
    let names = match name {
        Some(name) if !is_name(name) => bail!("--name takes up to 300 bytes of plain text, not {name:?}"),
        Some(name) => vec![name.to_string()],
        None => identity.names.clone(),
    };
    if names.is_empty() {
        let root = project.root.display();
        let why = identity.nameless.unwrap_or(Nameless::NoCommit);
        bail!("{root} {why}; --name NAME says what to call it");
    }
    Ok((identity, names))
}

/// An index that a remote has for a project, and what would be done with it.
pub(super) struct Taking<'a> {
    pub(super) project: &'a Project,
    pub(super) identity: &'a Identity,
    pub(super) names: &'a [String],
    /// Whether it may also be known by its first commit.
    pub(super) by_commit: bool,
    pub(super) opening: &'a Opening,
    /// Which files the project's index takes in.
    pub(super) takes: &'a Takes,
    pub(super) model: Option<&'a Model>,
    pub(super) remote: &'a Remote,
}

impl Taking<'_> {
    /// The indexes that there are, the best first.
    pub(super) fn find(&self, watch: &dyn TransferWatch) -> colgrep_share::Result<Vec<RemoteIndex>> {
        let encoding = self.model.and_then(|model| model.encoding(None));
        let fits = |vectors: &VectorManifest| encoding.is_some_and(|encoding| encoding.fits(vectors));
        let Identity { commit, branch, lines, .. } = self.identity;
        let (commit, branch) = (commit.as_deref(), branch.as_deref());
        let far = |commits: &[&str]| commit.map(|own| distances(self.project, own, commits)).unwrap_or_default();
        let refused = |id: &str| self.project.store.refuses(id);
        let wanted = Wanted {
            commit,
            branch,
            lines: *lines,
            takes: self.takes,
            distances: &far,
            fits: &fits,
            refused: &refused,
        };
        match self.remote.find(self.names, &wanted, watch) {
            // It may have been shared before it had this address.
            Err(RemoteError::Unknown { place, names }) if self.by_commit => match Identity::last_name(self.project) {
                Some(name) if !names.contains(&name) => {
                    let found = self.remote.find(std::slice::from_ref(&name), &wanted, watch);
                    found.map_err(|error| match error {
                        RemoteError::Unknown { .. } => RemoteError::Unknown { place, names },
                        error => error,
                    })
                }
                _ => Err(RemoteError::Unknown { place, names }),
            },
            found => found,
        }
    }

    /// Whether the project's index was made from this very one.
    pub(super) fn is_taken(&self, found: &RemoteIndex) -> bool {
        pulled(&self.project.store).is_some_and(|id| id == found.snapshot.id())
    }

    /// Pulls an index; the update that follows adds the local changes. `None` where another process pulled it
    /// meanwhile.
    pub(super) fn take(
        &self,
        found: Vec<RemoteIndex>,
        watch: &dyn TransferWatch,
    ) -> colgrep_share::Result<Option<(RemoteIndex, Pulled)>> {
        let Opening { walk, choice, .. } = self.opening;
        let target = (&self.project.store, self.project.root.as_path());
        self.remote.pull(found, target, (*walk, choice.vectors), &|| self.find(watch), watch)
    }
}

/// The identity of the pulled index that the local one was made from; `None` without a local index or if it was made
/// here.
fn pulled(store: &Store) -> Option<String> {
    Some(store.open().ok()?.files.pulled).filter(|id| !id.is_empty())
}

/// How an index is called in messages: by branch and commit.
pub(super) fn called(snapshot: &ManifestSnapshot) -> String {
    let commit = snapshot.commit.as_deref().map(|commit| commit.get(..10).unwrap_or(commit));
    let parts: Vec<&str> = snapshot.branch.as_deref().into_iter().chain(commit).collect();
    // Whoever pushed wrote that: a line end would begin a line of this program's.
    if parts.is_empty() { "no commit".to_string() } else { plain(&parts.join(", ")) }
}

/// A text of a remote without control characters.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The folder that a command is about has to be a project that may be indexed.
pub(super) fn project(path: Option<&Path>, env: &Env, yes: bool) -> Result<Project> {
    let (project, _) = Project::around(super::folder_or_here(path), env)?;
    project.check_size(env, yes)?;
    Ok(project)
}
