//! A line of a file, as people and compilers write it.

use std::path::PathBuf;

use anyhow::{Result, bail};
use colgrep_engine::request::split_line;

/// Reads `FILE:LINE` or `FILE#L40`; of several lines the first.
///
/// # Errors
/// When it is not written so.
pub fn parse(text: &str) -> Result<(PathBuf, u32)> {
    match split_line(text) {
        Some((file, line)) => Ok((PathBuf::from(file), line)),
        None => bail!("{text:?} has no line number; write it as src/main.rs:40"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_as_grep_prints_them() {
        for (text, expected) in [
            ("src/a.rs:40", Some(("src/a.rs", 40))),
            ("C:\\a.rs:1", Some(("C:\\a.rs", 1))),
            ("src/a.rs:40:7", Some(("src/a.rs", 40))),
            ("C:\\a.rs:1:0", Some(("C:\\a.rs", 1))),
            ("src/a.rs#L40", Some(("src/a.rs", 40))),
            ("src/a.rs:40-52", Some(("src/a.rs", 40))),
            ("a:0:3", None),
            ("src/a.rs", None),
            ("src/a.rs:", None),
            (":4", None),
            ("a:0", None),
        ] {
            let read = parse(text).ok();
            assert_eq!(read, expected.map(|(f, l)| (PathBuf::from(f), l)), "{text}");
        }
    }
}
