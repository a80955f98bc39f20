//! Links to files in a terminal (OSC 8), in ripgrep's formats: its own parser reads and checks them.

use std::path::Path;

use anyhow::{Result, anyhow};
use grep_printer::{HyperlinkFormat, hyperlink_aliases};

use super::path::STDIN;

/// Bytes that need no escape in a link.
const PLAIN: &[u8] = b"/:-._~";

/// The format of links; without one no links are written.
#[derive(Clone, Debug, Default)]
pub struct Links {
    format: Option<String>,
    host: String,
}

impl Links {
    /// Reads a format: one of ripgrep's names, or text with `{path}`, `{line}`, `{column}`, `{host}`.
    ///
    /// # Errors
    /// When the format can't be parsed; the message lists the names.
    pub fn new(format: Option<&str>) -> Result<Links> {
        let Some(format) = format else { return Ok(Links::default()) };
        let parsed: HyperlinkFormat = format.parse().map_err(|e| {
            let names: Vec<String> = hyperlink_aliases().iter().map(|a| a.name().to_string()).collect();
            anyhow!("--hyperlink-format {format:?}: {e}; known names are {}", names.join(", "))
        })?;
        let text = parsed.to_string();
        let host = if text.contains("{host}") { host_name() } else { String::new() };
        Ok(Links { format: Some(text).filter(|t| !t.is_empty()), host })
    }

    /// Whether links are off.
    pub fn are_none(&self) -> bool {
        self.format.is_none()
    }

    /// The escape sequences before and after a text that links to a line of the file at the absolute `path`; empty
    /// without links.
    pub fn around(&self, path: &str, line: usize) -> (String, &'static str) {
        let Some(format) = self.format.as_ref().filter(|_| path != STDIN) else { return (String::new(), "") };
        let path = if path.starts_with('/') { encode(path) } else { format!("/{}", encode(&path.replace('\\', "/"))) };
        let target = format
            .replace("{host}", &self.host)
            .replace("{wslprefix}", "")
            .replace("{line}", &line.to_string())
            .replace("{column}", "1")
            .replace("{path}", &path);
        (format!("\x1b]8;;{target}\x1b\\"), "\x1b]8;;\x1b\\")
    }
}

fn encode(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b if b.is_ascii_alphanumeric() || PLAIN.contains(&b) => encoded.push(byte as char),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

fn host_name() -> String {
    let name =
        ["/proc/sys/kernel/hostname", "/etc/hostname"].iter().find_map(|p| std::fs::read_to_string(Path::new(p)).ok());
    name.unwrap_or_default().trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_by_name_and_by_format() {
        for (format, expected) in [
            (None, "x"),
            (Some("none"), "x"),
            (Some("vscode"), "\x1b]8;;vscode://file/a%20b/c.rs:7:1\x1b\\x\x1b]8;;\x1b\\"),
            (Some("grep+"), "\x1b]8;;grep+:///a%20b/c.rs:7\x1b\\x\x1b]8;;\x1b\\"),
            (Some("my://{path}?l={line}"), "\x1b]8;;my:///a%20b/c.rs?l=7\x1b\\x\x1b]8;;\x1b\\"),
        ] {
            let (before, behind) = Links::new(format).unwrap().around("/a b/c.rs", 7);
            assert_eq!(format!("{before}x{behind}"), expected, "{format:?}");
        }
        let refused = Links::new(Some("nosuch")).unwrap_err().to_string();
        assert!(refused.contains("known names are") && refused.contains("kitty"), "{refused}");
        let links = Links::new(Some("file")).unwrap();
        assert!(links.around("/a", 1).0.contains("file://"));
        assert_eq!(links.around(STDIN, 1), (String::new(), ""), "a stream is no file");
    }
}
