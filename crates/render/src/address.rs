//! `file:` addresses, and paths as they are written in addresses.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The path of a `file:` address, or an absolute path unchanged. Many programs don't percent-encode paths: a `%` without
/// two hex digits is literal, and all are if only the path as written exists.
///
/// # Errors
/// If the scheme is another one, the path is missing, or the decoded path is not UTF-8.
pub fn file_path(address: &str) -> Result<PathBuf> {
    if Path::new(address).is_absolute() {
        return Ok(PathBuf::from(address));
    }
    let file = address.split_once(':').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("file"));
    let (_, rest) = file.context("only folders of this machine are answered about")?;
    // An authority, if any, stands between two slashes and the path (RFC 8089).
    let rest = rest.strip_prefix("//").or(Some(rest).filter(|rest| rest.starts_with('/'))).unwrap_or_default();
    let written = match rest {
        // On Windows: file://C:\folder.
        drive if is_drive(drive) => drive,
        rest => &rest[rest.find('/').context("it names no folder")?..],
    };
    let as_written = local(written);
    match String::from_utf8(decoded(written)) {
        Ok(path) if local(&path).exists() || !as_written.exists() => Ok(local(&path)),
        Err(error) if !as_written.exists() => Err(error).context("its name is not UTF-8"),
        _ => Ok(as_written),
    }
}

/// The bytes of a path with its percent signs decoded, where two digits follow.
fn decoded(path: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::with_capacity(path.len()), path.as_bytes());
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    while let [byte, behind @ ..] = rest {
        let code = match behind {
            [high, low, ..] if *byte == b'%' => digit(high).zip(digit(low)),
            _ => None,
        };
        bytes.push(code.map_or(*byte, |(high, low)| (16 * high + low) as u8));
        rest = &behind[if code.is_some() { 2 } else { 0 }..];
    }
    bytes
}

/// Whether a path begins with a drive of Windows.
fn is_drive(path: &str) -> bool {
    cfg!(windows) && path.get(1..2) == Some(":")
}

/// A path of an address on this machine; on Windows, `/C:/folder` is `C:/folder`.
fn local(path: &str) -> PathBuf {
    PathBuf::from(path.strip_prefix('/').filter(|rest| is_drive(rest)).unwrap_or(path))
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
            ("file:///tmp/my project#1", Some("/tmp/my project#1")),
            ("file:///tmp/é", Some("/tmp/é")),
            ("file:///tmp/%4", Some("/tmp/%4")),
            ("file:///tmp/100%", Some("/tmp/100%")),
            ("file:///tmp/%zz%20", Some("/tmp/%zz ")),
            ("file:///tmp/%ff", None),
            ("http://host/tmp", None),
            ("/tmp/a%20b", Some("/tmp/a%20b")),
            ("tmp", None),
        ] {
            let path = file_path(address).ok();
            assert_eq!(path.as_deref(), expected.map(Path::new), "{address}");
        }
    }
}
