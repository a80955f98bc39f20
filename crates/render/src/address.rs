//! `file:` addresses, and paths as they are written in addresses.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

/// The path of a `file:` address.
///
/// # Errors
/// For another address, and for one that is malformed or not UTF-8.
pub fn file_path(address: &str) -> Result<PathBuf> {
    let file = address.split_once(':').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("file"));
    let (_, rest) = file.context("only folders of this machine are answered about")?;
    // An authority, if any, stands between two slashes and the path (RFC 8089).
    let rest = rest.strip_prefix("//").or(Some(rest).filter(|rest| rest.starts_with('/'))).unwrap_or_default();
    let path = &rest[rest.find('/').context("it names no folder")?..];
    let (mut bytes, mut all) = (Vec::with_capacity(path.len()), path.bytes());
    while let Some(byte) = all.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [all.next(), all.next()].map(|digit| digit.map(char::from).and_then(|d| d.to_digit(16)));
                let [Some(high), Some(low)] = digits else { bail!("it is not an address: {address}") };
                (16 * high + low) as u8
            }
            byte => byte,
        });
    }
    let path = String::from_utf8(bytes).context("its name is not UTF-8")?;
    // On Windows: /C:/folder.
    let drive = path.strip_prefix('/').filter(|rest| cfg!(windows) && rest.get(1..2) == Some(":"));
    Ok(PathBuf::from(drive.unwrap_or(&path)))
}

/// A path as it is written in an address.
pub fn encoded(path: &str) -> String {
    path.bytes().fold(String::with_capacity(path.len()), |mut text, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => text.push(char::from(byte)),
            // Writing to memory does not fail.
            _ => drop(write!(text, "%{byte:02X}")),
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(windows))]
    #[test]
    fn addresses_of_files_are_read_in_all_their_forms() {
        for (address, expected) in [
            ("file:///tmp/a%20b", Some("/tmp/a b")),
            ("FILE:///tmp", Some("/tmp")),
            ("file:/tmp", Some("/tmp")),
            ("file://localhost/tmp", Some("/tmp")),
            ("file:tmp", None),
            ("file:", None),
            ("file://", None),
            ("file:///tmp/%4", None),
            ("http://host/tmp", None),
            ("/tmp", None),
        ] {
            let path = file_path(address).ok();
            assert_eq!(path.as_deref(), expected.map(std::path::Path::new), "{address}");
        }
    }
}
