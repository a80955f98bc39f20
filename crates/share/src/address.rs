//! Addresses of remotes: what leads to an object store, and what to a folder.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use colgrep_engine::settings::cloud::holds_credentials;
use object_store::ObjectStoreScheme;
use reqwest::Url;

use crate::error::{Error, Result};

const KNOWN: &str = "takes s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, az://CONTAINER/FOLDER, file:///FOLDER, or a folder";

/// The folder of a store below which all objects lie.
pub(crate) const REPOSITORIES: &str = "repositories";

/// Where indexes are shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreAddress {
    kind: StoreKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreKind {
    Folder(PathBuf),
    Amazon(Url),
    Google(Url),
    Azure(Url),
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            StoreKind::Folder(folder) => write!(f, "{}", folder.display()),
            StoreKind::Amazon(url) | StoreKind::Google(url) | StoreKind::Azure(url) => f.write_str(url.as_str()),
        }
    }
}

impl StoreAddress {
    /// Reads an address: `s3://`, `gs://`, `az://` and their like, `file://`, or the path of a folder, where `~` is `home`.
    ///
    /// # Errors
    /// When it has none of these forms, or includes credentials.
    pub fn parse(text: &str, home: Option<&Path>) -> Result<StoreAddress> {
        let refused = |why: &str| Error::Address { address: shown(text), why: why.to_string() };
        if text.trim().is_empty() {
            return Err(refused("the address is empty"));
        }
        if holds_credentials(text) {
            return Err(refused(
                "an address holds neither user, password nor key, and nothing behind ? or #: credentials are taken from \
                 the environment, as the cloud's own tools take them",
            ));
        }
        if !text.contains("://") {
            return Ok(StoreAddress { kind: StoreKind::Folder(folder(text, home).map_err(|why| refused(&why))?) });
        }
        let url = Url::parse(text).map_err(|e| refused(&e.to_string()))?;
        if url.scheme() == "file" {
            let folder = url.to_file_path().map_err(|()| refused("is not a path on this machine"))?;
            return Ok(StoreAddress { kind: StoreKind::Folder(folder) });
        }
        let (scheme, _) = ObjectStoreScheme::parse(&url).map_err(|_| refused(KNOWN))?;
        let kind = match scheme {
            ObjectStoreScheme::AmazonS3 => StoreKind::Amazon(url),
            ObjectStoreScheme::GoogleCloudStorage => StoreKind::Google(url),
            ObjectStoreScheme::MicrosoftAzure => StoreKind::Azure(url),
            _ => return Err(refused(KNOWN)),
        };
        Ok(StoreAddress { kind })
    }

    /// Whether it is a folder, for which nothing is sent.
    pub fn is_folder(&self) -> bool {
        self.folder().is_some()
    }

    /// Whether it is a folder that this path is in, or the path itself.
    pub fn holds(&self, path: &Path) -> bool {
        self.folder().is_some_and(|folder| path.starts_with(folder.canonicalize().as_deref().unwrap_or(folder)))
    }

    /// Whether it is a folder of a project's own files, there already or not: any below its root but a new one right
    /// below it, and one that holds shared indexes alone, or hidden files beside them.
    pub fn is_part_of(&self, root: &Path) -> bool {
        let Some(folder) = self.folder() else { return false };
        let there = folder.ancestors().find_map(|above| above.canonicalize().ok());
        let is_in = folder.starts_with(root) || there.is_some_and(|there| there.starts_with(root));
        let is_shared = match folder.read_dir() {
            Ok(entries) => entries.flatten().all(|entry| {
                let name = entry.file_name();
                name == REPOSITORIES || name.as_encoded_bytes().starts_with(b".")
            }),
            Err(_) => !folder.exists() && folder.parent() == Some(root),
        };
        is_in && !is_shared
    }

    pub(crate) fn folder(&self) -> Option<&Path> {
        match &self.kind {
            StoreKind::Folder(folder) => Some(folder),
            _ => None,
        }
    }

    pub(crate) fn kind(&self) -> &StoreKind {
        &self.kind
    }
}

/// The displayed form of an unusable address: only its scheme if it may contain a secret.
fn shown(text: &str) -> String {
    match text.split_once("://") {
        Some((scheme, _)) if holds_credentials(text) => format!("{scheme}://…"),
        _ => text.to_string(),
    }
}

/// The folder that a text names, as a full path.
fn folder(text: &str, home: Option<&Path>) -> Result<PathBuf, String> {
    let below_home = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let path = match (below_home, home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ if text.starts_with('~') => {
            return Err(format!("is not a folder of a known home; ./{text} is one of that name"));
        }
        _ => PathBuf::from(text),
    };
    let scheme = text.split_once(":/").map_or("", |(before, _)| before);
    // One letter is a drive.
    if scheme.len() > 1 && !scheme.contains(['/', '\\', '.']) {
        return Err(format!("is not an address, which has two slashes ({scheme}://…), and ./{text} is a folder"));
    }
    // A word is rather a forgotten flag's value than a folder.
    if below_home.is_none() && !text.contains(['/', '\\']) && !text.starts_with('.') {
        let what = match Path::new(text).symlink_metadata() {
            Ok(_) if !Path::new(text).is_dir() => "is a file, and not an address".to_string(),
            Ok(_) => format!("is not an address; ./{text} is a folder of that name"),
            Err(_) => format!("is not an address; a folder of that name is written ./{text}"),
        };
        return Err(what);
    }
    settled(&path).map_err(|error| error.to_string())
}

/// The full path without `.` and `..`; links before a `..` are followed, as the system does.
fn settled(path: &Path) -> std::io::Result<PathBuf> {
    let mut whole = PathBuf::new();
    for part in std::path::absolute(path)?.components() {
        if part == Component::ParentDir {
            whole = whole.canonicalize().unwrap_or(whole);
            whole.pop();
        } else if part != Component::CurDir {
            whole.push(part);
        }
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<StoreAddress> {
        StoreAddress::parse(text, Some(Path::new("/home/me")))
    }

    #[test]
    fn addresses_are_told_apart() {
        for (text, expected) in [
            ("s3://bucket/a/b", "s3://bucket/a/b"),
            ("gs://bucket", "gs://bucket"),
            ("az://container/a", "az://container/a"),
            ("abfss://container@account.dfs.core.windows.net/a", "abfss://container@account.dfs.core.windows.net/a"),
            ("https://bucket.s3.eu-west-1.amazonaws.com/a", "https://bucket.s3.eu-west-1.amazonaws.com/a"),
            ("file:///srv/indexes", "/srv/indexes"),
            ("/srv/indexes", "/srv/indexes"),
            ("/srv/./x/../indexes", "/srv/indexes"),
            ("~/indexes", "/home/me/indexes"),
        ] {
            let place = parsed(text).expect(text);
            assert_eq!(place.to_string(), expected);
            assert_eq!(place.is_folder(), expected.starts_with('/'));
        }
        for text in ["", "ftp://host/x", "https://example.com/x", "s3://", "3", "bucket", "s3:/bucket/x", "~other/x"] {
            parsed(text).expect_err(text);
        }
        for text in ["./s3:/bucket/x", "C:/x"] {
            assert!(parsed(text).expect(text).is_folder());
        }
        assert!(StoreAddress::parse("~/x", None).is_err());
    }

    #[test]
    fn a_folder_beside_this_one_is_found_through_links() {
        let base = tempfile::tempdir().expect("a folder");
        let base = base.path().canonicalize().expect("its path");
        std::fs::create_dir_all(base.join("a/b")).expect("folders");
        let place = |path: &str| parsed(&base.join(path).display().to_string()).expect(path).to_string();
        assert_eq!(place("a/b/../../share"), base.join("share").display().to_string());
        assert_eq!(place("a/new/../share"), base.join("a/share").display().to_string());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(base.join("a/b"), base.join("link")).expect("a link");
            assert_eq!(place("link/../share"), base.join("a/share").display().to_string());
        }
    }

    #[test]
    fn a_folder_is_part_of_a_project_before_it_is_there() {
        let base = tempfile::tempdir().expect("a folder");
        let base = base.path().canonicalize().expect("its path");
        std::fs::create_dir_all(base.join("a/b/c")).expect("folders");
        std::fs::create_dir_all(base.join("a/share/repositories/one")).expect("folders");
        #[cfg(unix)]
        std::os::unix::fs::symlink(base.join("a/b"), base.join("link")).expect("a link");
        for (path, is_part) in [
            ("a", true),
            ("a/b", true),
            ("a/new/x", true),
            ("a/b/new", true),
            ("link/x", cfg!(unix)),
            ("a/new", false),
            ("a/share", false),
            ("ab", false),
            ("new/x", false),
        ] {
            let place = parsed(&base.join(path).display().to_string()).expect(path);
            assert_eq!(place.is_part_of(&base.join("a")), is_part, "{path}");
        }
        assert!(!parsed("s3://bucket/a").expect("an address").is_part_of(Path::new("/")));
    }

    #[test]
    fn no_secret_of_an_address_is_shown() {
        for text in [
            "s3://user:SEKRET@bucket/a",
            "s3://AKIA:SEK/RET@bucket/x",
            "s3://u:SEKRET@b:x/x",
            "s3://u:SEKRET@",
            "s3://SEKRET@bucket/x",
            "https://acct.blob.core.windows.net/c?sig=SEKRET",
            "s3://bucket/a#SEKRET",
            "ftp://user:SEKRET@host/x",
            "abfss://container:SEKRET@account.dfs.core.windows.net/a",
        ] {
            let error = parsed(text).expect_err(text).to_string();
            assert!(!error.contains("RET") && error.contains("the environment"), "{error}");
        }
    }
}
