//! Names and folders of the repositories of a shard: one name for each folder, one folder for each name.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

/// A repository that a shard serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRepository {
    /// Its name, the prefix of its paths.
    pub name: String,
    /// Its folder, absolute; without links where it is there.
    pub folder: PathBuf,
}

impl NamedRepository {
    /// A repository called as its folder is.
    ///
    /// # Errors
    /// When the folder has no name.
    pub fn of(folder: &Path) -> Result<NamedRepository> {
        let folder = full(folder)?;
        let name = folder
            .file_name()
            .with_context(|| format!("{} has no name; give it one: NAME={}", folder.display(), folder.display()))?;
        Ok(NamedRepository { name: name.to_string_lossy().into_owned(), folder })
    }
}

/// The repositories, given as `NAME=PATH` or by a folder that gives its name. A repository that a group repeats under
/// the same name counts once.
///
/// # Errors
/// When a name is invalid, two folders have one, or one folder has two.
pub fn named(given: &[PathBuf]) -> Result<Vec<NamedRepository>> {
    let mut all: Vec<NamedRepository> = Vec::new();
    for given in given {
        let split = given.to_str().and_then(|text| text.split_once('=')).filter(|_| !given.exists());
        let one = match split {
            Some((name, "")) => bail!("{name}= names no folder; the repository's path stands behind it: {name}=PATH"),
            Some((name, path)) => NamedRepository { name: name.to_string(), folder: full(Path::new(path))? },
            None => NamedRepository::of(given)?,
        };
        let NamedRepository { name, folder } = &one;
        if !is_name(name) {
            bail!(
                "{name:?} can't name a repository: a name precedes paths, and has neither a / nor blanks at its ends"
            );
        }
        match all.iter().find(|known| known.folder == *folder) {
            Some(known) if known.name == *name => continue,
            Some(known) => bail!(
                "{} is given twice, as {:?} and as {name:?}: a repository has one name, by which rights to it are known; leave \
                 one of them out",
                folder.display(),
                known.name
            ),
            None => {}
        }
        if all.iter().any(|known| known.name == *name) {
            bail!("two repositories are called {name}; name one of them: OTHER={}", folder.display());
        }
        all.push(one);
    }
    Ok(all)
}

/// Whether a repository may have this name.
pub fn is_name(name: &str) -> bool {
    let is_plain = !name.contains('/') && !name.chars().any(char::is_control);
    is_plain && name.trim() == name && !matches!(name, "" | "." | "..")
}

/// A path without links, or of a folder that is not there the absolute one.
fn full(path: &Path) -> Result<PathBuf> {
    let absolute = || std::path::absolute(path).with_context(|| path.display().to_string());
    path.canonicalize().or_else(|_| absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_are_called_as_their_folders_or_as_they_are_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path().canonicalize().expect("its path");
        let of = |path: &str| base.join(path);
        for path in ["a/web", "b/web", "x=y"] {
            std::fs::create_dir_all(of(path)).expect("a folder");
        }
        let as_named = |name: &str, path: &str| PathBuf::from(format!("{name}={}", of(path).display()));
        let told = |given: &[PathBuf]| -> Vec<(String, PathBuf)> {
            named(given).expect("names").into_iter().map(|one| (one.name, one.folder)).collect()
        };
        let expected = |all: &[(&str, &str)]| -> Vec<(String, PathBuf)> {
            all.iter().map(|(name, path)| (name.to_string(), of(path))).collect()
        };
        assert_eq!(
            told(&[of("a/web"), as_named("other", "b/web"), of("x=y")]),
            expected(&[("web", "a/web"), ("other", "b/web"), ("x=y", "x=y")])
        );
        // One that is not there is known by its name; one that is given twice by one name is one.
        assert_eq!(told(&[of("gone"), of("a/web"), of("b/../a/web")]), expected(&[("gone", "gone"), ("web", "a/web")]));
        for (given, why) in [
            (vec![of("a/web"), of("b/web")], "two repositories are called web"),
            (vec![of("a/web"), as_named("other", "a/web"), of("x=y")], "twice, as \"web\" and as \"other\""),
            (vec![as_named("one", "b/web"), as_named("two", "a/../b/web")], "twice, as \"one\" and as \"two\""),
            (vec![of("gone"), as_named("other", "gone")], "twice, as \"gone\" and as \"other\""),
            (vec![PathBuf::from("a/b=x")], "can't name a repository"),
            (vec![PathBuf::from("=x")], "can't name a repository"),
            (vec![PathBuf::from(" =x")], "can't name a repository"),
            (vec![PathBuf::from("web=")], "names no folder"),
            (vec![PathBuf::from("/")], "has no name"),
        ] {
            let said = format!("{:#}", named(&given).expect_err(why));
            assert!(said.contains(why), "{said}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(of("a/web"), of("link")).expect("a link");
            let said = format!("{:#}", named(&[of("a/web"), as_named("link", "link")]).expect_err("one folder"));
            assert!(said.contains("twice, as \"web\" and as \"link\""), "{said}");
        }
    }
}
