//! A token in a file.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use colgrep_index::disk::read_regular;
use colgrep_render::remark;

/// The largest file of a token, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 10;

/// The untrimmed token in a file. Says so if others on this machine can read it.
///
/// # Errors
/// When the file can't be read, is too large, or is not text, or when others can write to it.
pub fn token_in(path: &Path) -> Result<String> {
    check_mode(path)?;
    let bytes = read_regular(path, FILE_BYTES_MAX)
        .with_context(|| format!("the token could not be read from {}", path.display()))?;
    String::from_utf8(bytes).ok().with_context(|| format!("{} holds no token in plain text", path.display()))
}

/// Refuses a file that others can write to: they would choose the token.
fn check_mode(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = path.metadata().map_or(0, |metadata| metadata.permissions().mode());
        if mode & 0o022 != 0 {
            bail!("others can write to {}, so the token in it may be theirs: chmod 600 {0}", path.display());
        }
        if mode & 0o044 != 0 {
            remark!("colgrep: others on this machine can read the token in {}: chmod 600 {0}", path.display());
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_that_others_can_write_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        fs::write(&file, "a-token-of-some-length").expect("a file");
        for (mode, is_taken) in [(0o600, true), (0o400, true), (0o644, true), (0o620, false), (0o666, false)] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("a mode");
            assert_eq!(token_in(&file).is_ok(), is_taken, "{mode:o}");
        }
    }
}
