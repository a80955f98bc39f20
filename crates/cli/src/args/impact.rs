//! The flags of `impact`.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use colgrep_engine::relations::changed::LineSpan;
use colgrep_engine::relations::impact::IMPACT_FILES_DEFAULT;
use colgrep_engine::request::{split_lines, unread_line};
use colgrep_engine::{ChangeSpec, GitChange, ImpactRequest, Refused};
use colgrep_render::words::in_short;
use colgrep_render::{Format, OutputRequest, When};

use super::search::{Color, TestsArg};

#[derive(Clone, Debug, Default, Args)]
pub struct ImpactArgs {
    /// What changed: a commit, A...B (what B changed since both were the same), or files, of which FILE:LINE and
    /// FILE:FROM-TO mean the units there (default: uncommitted changes)
    #[arg(value_name = "REV|A...B|FILE[:LINE]")]
    pub change: Vec<String>,
    /// Staged changes
    #[arg(long, conflicts_with = "change")]
    pub staged: bool,
    /// Tests: only (the tests to run), exclude or auto [default: auto]
    #[arg(long, value_name = "WHAT")]
    pub tests: Option<TestsArg>,
    /// Number of files (default: 15)
    #[arg(short = 'k', long, aliases = ["limit", "top-k"], value_name = "N", value_parser = super::size::positive)]
    pub results: Option<usize>,
    /// Print only file names
    #[arg(short = 'l', long, conflicts_with_all = ["json", "jsonl"], help_heading = "Output")]
    pub files_only: bool,
    /// Print a JSON array
    #[arg(long, conflicts_with = "jsonl", help_heading = "Output")]
    pub json: bool,
    /// Print one JSON object per line
    #[arg(long, help_heading = "Output")]
    pub jsonl: bool,
    /// When to use colour: auto, always or never
    #[arg(long, value_name = "WHEN", value_enum, hide_possible_values = true, help_heading = "Output")]
    pub color: Option<Color>,
    /// Hide progress and remarks on stderr
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

impl ImpactArgs {
    /// What is asked.
    ///
    /// # Errors
    /// When one of several words is not a file, or a file is followed by what is no line.
    pub fn request(&self) -> Result<ImpactRequest> {
        let mut request = ImpactRequest::new(self.spec()?);
        request.tests = self.tests.unwrap_or_default().into();
        request.files = self.results.unwrap_or(IMPACT_FILES_DEFAULT);
        Ok(request)
    }

    fn spec(&self) -> Result<ChangeSpec> {
        let places: Vec<Option<_>> = self.change.iter().map(|word| place(word)).collect();
        if !places.is_empty() && places.iter().all(Option::is_some) {
            return Ok(ChangeSpec::Places(places.into_iter().flatten().collect()));
        }
        let unread = |word: &String| Some(Refused::not_a_line(unread_line(word, is_file, is_file)?));
        if let Some(refused) = self.change.iter().find_map(unread) {
            return Err(colgrep_engine::Error::from(refused).into());
        }
        let change = match (self.staged, self.change.as_slice()) {
            (true, _) => GitChange::Staged,
            (false, []) => GitChange::Uncommitted,
            (false, [name]) if name.trim().is_empty() => bail!("the change is empty; name a commit, A...B, or files"),
            (false, [name]) => GitChange::named(name),
            (false, words) => {
                let missing =
                    words.iter().zip(&places).find(|(_, place)| place.is_none()).map(|(word, _)| word.as_str());
                bail!(
                    "there is no file {:?}; name one commit, one A...B, or files",
                    in_short(missing.unwrap_or_default())
                )
            }
        };
        Ok(ChangeSpec::Git(change))
    }

    /// What is printed of the answer.
    pub fn output(&self) -> OutputRequest {
        OutputRequest {
            format: match (self.json, self.jsonl) {
                (true, _) => Format::Json,
                (_, true) => Format::JsonLines,
                _ => Format::Text,
            },
            names_only: self.files_only,
            quiet: self.quiet,
            color: self.color.map(When::from),
            all: self.results.is_some(),
            ..OutputRequest::default()
        }
    }
}

/// An existing file, with or without lines.
fn place(word: &str) -> Option<(PathBuf, Option<LineSpan>)> {
    if is_file(word) {
        return Some((word.into(), None));
    }
    let (path, lines) = split_lines(word).filter(|(path, _)| is_file(path))?;
    Some((path.into(), Some(lines)))
}

fn is_file(path: &str) -> bool {
    Path::new(path).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_a_commit_a_range_or_files() {
        let spec = |words: &[&str]| {
            ImpactArgs { change: words.iter().map(|word| (*word).to_string()).collect(), ..ImpactArgs::default() }
                .spec()
        };
        let commit = |name: &str| ChangeSpec::Git(GitChange::Commit(name.into()));
        let since = |one: &str, other: &str| ChangeSpec::Git(GitChange::Since(one.into(), other.into()));
        assert_eq!(spec(&[]).unwrap(), ChangeSpec::Git(GitChange::Uncommitted));
        assert_eq!(spec(&["HEAD~1"]).unwrap(), commit("HEAD~1"));
        assert_eq!(spec(&["main...topic"]).unwrap(), since("main", "topic"));
        assert_eq!(spec(&["main..."]).unwrap(), since("main", ""));
        assert_eq!(spec(&["main..topic"]).unwrap(), since("main", "topic"));
        assert_eq!(spec(&["../gone.rs"]).unwrap(), commit("../gone.rs"));
        for (word, lines) in [
            ("Cargo.toml", None),
            ("Cargo.toml:3", Some((3, 3))),
            ("Cargo.toml:3-9", Some((3, 9))),
            ("Cargo.toml:3:7", Some((3, 3))),
        ] {
            assert_eq!(spec(&[word]).unwrap(), ChangeSpec::Places(vec![("Cargo.toml".into(), lines)]), "{word}");
        }
        for (word, behind) in [("Cargo.toml:0", "0"), ("Cargo.toml:2-1", "2-1"), ("Cargo.toml:3x", "3x")] {
            let refused = spec(&["Cargo.toml", word]).unwrap_err().to_string();
            assert!(
                refused.contains(&format!("Cargo.toml exists, but {behind:?} after it is not a line")),
                "{refused}"
            );
        }
        assert!(spec(&["HEAD", "Cargo.toml"]).unwrap_err().to_string().contains("there is no file \"HEAD\""));
        let staged = ImpactArgs { staged: true, ..ImpactArgs::default() };
        assert_eq!(staged.spec().unwrap(), ChangeSpec::Git(GitChange::Staged));
    }
}
