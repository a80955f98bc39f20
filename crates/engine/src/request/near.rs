//! The reader's position: the file that is open, as the index knows it.

use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use colgrep_index::beneath::TreeFolder;
use colgrep_search::Near;

use crate::error::{Refused, Result};
use crate::history::cochange::Past;
use crate::project::Project;
use crate::request::{Scope, Standpoint, Tests};

/// The file of a project that the reader has open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearFile {
    /// The project's root.
    pub root: PathBuf,
    /// The file from there, with its relations.
    pub near: Near,
}

impl NearFile {
    /// A standpoint whose file is `path` in a project, for a search within `scope`. The file is read below `own`, the root
    /// of its own worktree.
    ///
    /// # Errors
    /// When there is no such file or line: the option would have no effect.
    pub fn new(
        at: &Standpoint,
        own: &Path,
        project: &Project,
        path: String,
        scope: &Scope,
        past: &Past<'_>,
    ) -> Result<NearFile> {
        check_place(at, own, &path)?;
        let tests_only = scope.tests == Some(Tests::Only);
        let together = past.together(project, &path).into_iter().map(|file| (file.path, file.share)).collect();
        Ok(NearFile { root: project.root.clone(), near: Near { path, line: at.line, tests_only, together } })
    }
}

pub(crate) fn check_file(path: &Path) -> Result<()> {
    let path = || path.to_path_buf();
    match path().metadata() {
        Ok(about) if about.is_file() => Ok(()),
        Ok(about) if about.is_dir() => Err(Refused::NotAFile { path: path() }.into()),
        Err(source) if source.kind() == ErrorKind::PermissionDenied => {
            Err(Refused::Path { path: path(), source }.into())
        }
        _ => Err(Refused::NoFile { path: path() }.into()),
    }
}

/// Refuses a path that is not a file, and a line that the file, `path` below `root`, does not have.
///
/// # Errors
/// When it is so.
pub fn check_place(at: &Standpoint, root: &Path, path: &str) -> Result<()> {
    check_file(&at.file)?;
    check_line(at.file.clone(), at.line, root, path)
}

/// Refuses a line that a file, `path` below `root`, does not have; errors name it as `file`.
pub(crate) fn check_line(file: PathBuf, line: Option<u32>, root: &Path, path: &str) -> Result<()> {
    let Some(line) = line else { return Ok(()) };
    let bytes = match read(root, path) {
        Ok(bytes) => bytes,
        Err(source) => return Err(Refused::Path { path: file, source }.into()),
    };
    let lines = bytes.split(|byte| *byte == b'\n').count() - usize::from(bytes.last() == Some(&b'\n'));
    if line == 0 || line as usize > lines {
        return Err(Refused::NoLine { path: file, lines, line }.into());
    }
    Ok(())
}

/// The bytes of a file of a project.
fn read(root: &Path, path: &str) -> io::Result<Vec<u8>> {
    let mut file = TreeFolder::open(root)?.file(Path::new(path))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
