//! The files below a path that a scope allows, found without an index: what a plain grep searches.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use colgrep_index::disk::open_regular;
use colgrep_index::signature::{Needed, Sought};
use colgrep_index::walk::{LEFT_ON_PURPOSE, LeftOut, WalkOptions, Walked, walk};
use colgrep_syntax::language;

use crate::error::Result;
use crate::project::Project;
use crate::request::Scope;
use crate::request::rules::PathRules;
use crate::settings::Settings;
use crate::settings::env::Env;

/// Bytes read from the start of a file to tell its language where the name does not.
const HEAD_BYTES: u64 = 8 << 10;

/// Files below a path.
#[derive(Debug, Default)]
pub struct FileTree {
    /// The files, by path from the one that was given; empty for that itself.
    pub files: Vec<PathBuf>,
    /// What could not be read, by path from the one that was given, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Ignore files that are disregarded, with the reason.
    pub unheeded: Vec<(String, String)>,
}

/// Lists the files below `path`, or `path` itself, that the scope and the settings allow. Files larger than
/// `options.filesize_max` are left out, and so are those that lack the `needed` text according to the project's index.
///
/// # Errors
/// On a bad glob or an unknown type; and, inside the result, when `path` itself can't be read.
pub fn files_below(
    path: &Path,
    scope: &Scope,
    settings: &Settings,
    options: &WalkOptions,
    needed: &Needed,
    env: &Env,
) -> Result<Result<FileTree>> {
    let (project, below) = match Project::around(path, env) {
        Ok(found) => found,
        Err(error) => return Ok(Err(error)),
    };
    let rules =
        PathRules::new(scope, options.no_ignore, settings, &project)?.named(&below).below(std::slice::from_ref(&below));
    let allowed = |from_root: &str, full: &Path| {
        rules.allow(from_root, || language::detect(Path::new(from_root), &head(full)).name)
    };
    if path.is_file() {
        let files = if allowed(&below, path) { vec![PathBuf::new()] } else { Vec::new() };
        return Ok(Ok(FileTree { files, ..FileTree::default() }));
    }
    let walked = match walked(path, &project, &below, settings, options, needed) {
        Ok(walked) => walked,
        Err(error) => return Ok(Err(error.into())),
    };
    let mut tree = FileTree { unheeded: walked.unheeded, ..FileTree::default() };
    let from_root = |name: &str| if below.is_empty() { name.to_string() } else { format!("{below}/{name}") };
    for (what, reason) in
        walked.unreadable.into_iter().filter(|(_, reason)| !LEFT_ON_PURPOSE.contains(&reason.as_str()))
    {
        if what.is_empty() || rules.allows_below(&from_root(&what)) {
            tree.unreadable.push((what.into(), reason));
        }
    }
    let mut found: Vec<(PathBuf, u64)> = walked.files.into_iter().map(|f| (f.path.into(), f.size)).collect();
    if !walked.misnamed.is_empty() {
        found.extend(walked.misnamed);
        found.sort_by(|a, b| a.0.as_os_str().cmp(b.0.as_os_str()));
    }
    for (inside, size) in found {
        let from_root = from_root(&inside.to_string_lossy());
        if size <= options.filesize_max && allowed(&from_root, &path.join(&inside)) {
            tree.files.push(inside);
        }
    }
    Ok(Ok(tree))
}

/// The files below a path, from its index if that covers all of it, with each file checked.
fn walked(
    path: &Path,
    project: &Project,
    below: &str,
    settings: &Settings,
    options: &WalkOptions,
    needed: &Needed,
) -> colgrep_index::Result<Walked> {
    let is_outside = !project.store.folder().starts_with(&project.root);
    // What the settings leave out, and an index inside the tree, are left out of the index and not of this.
    let known =
        if below.is_empty() && is_outside && settings.ignore().is_empty() { project.store.known_files() } else { None };
    match known {
        Some(known) => {
            let sought = needed.is_selective().then(|| Sought::new(needed));
            let left_out = LeftOut { patterns: &[], ..project.left_out() };
            known.narrowed(&project.root, &left_out, options, sought.as_ref())
        }
        None => walk(path, &LeftOut { folder: None, patterns: &[], ..project.left_out() }, options),
    }
}

fn head(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = open_regular(path) {
        let _ = file.take(HEAD_BYTES).read_to_end(&mut bytes);
    }
    bytes
}
