//! A section of a Markdown file, between two marks on lines of their own.
//!
//! Outside the marks, only a line end before the section is added where the file did not end with one; the second mark
//! has no line end then. So the file can be restored from the section alone. Text that is appended to such a file
//! follows the second mark on its line, and moves to its own line when the section is removed.

use std::ops::Range;

use anyhow::{Result, bail};
use serde_json::Value;

use super::edit::OwnedPart;

/// The line before the section.
const BEGIN: &str = "<!-- colgrep:begin (written by `colgrep install`; `colgrep uninstall` removes it) -->";
/// The line after the section.
const END: &str = "<!-- colgrep:end -->";

/// A section of a Markdown file.
pub struct Section {
    /// The text above it in a file that is colgrep's alone; empty for a shared file.
    pub head: &'static str,
    /// The text between the marks.
    pub text: &'static str,
}

impl Section {
    fn marked(&self) -> String {
        format!("{BEGIN}\n{}{END}", self.text)
    }
}

impl OwnedPart for Section {
    fn wanted(&self) -> Value {
        Value::String(self.marked())
    }

    fn found(&self, text: &str) -> Result<Vec<Value>> {
        Ok(sections(text)?.into_iter().map(|s| Value::String(text[s].trim_end().to_string())).collect())
    }

    fn put(&self, text: &str) -> Result<String> {
        if !self.head.is_empty() && !text.is_empty() {
            bail!("it is a file of your own; rename or remove it, and install again");
        }
        let (head, section) = (self.head, self.marked());
        Ok(match text {
            t if t.is_empty() || t.ends_with('\n') => format!("{t}{head}{section}\n"),
            t => format!("{t}\n{section}"),
        })
    }

    fn cut(&self, text: &str, _: Option<&str>) -> Result<String> {
        let mut left = text.to_string();
        for section in sections(text)?.into_iter().rev() {
            let last = section.end == text.len() && !text.ends_with('\n');
            let begin = if last { section.start.saturating_sub(1) } else { section.start };
            left.replace_range(begin..section.end, "");
        }
        Ok(if left == self.head { String::new() } else { left })
    }

    fn tells_all(&self) -> bool {
        true
    }
}

/// The byte ranges of colgrep's sections of any version, with their marks. A section that is quoted, inside a code fence
/// or HTML that is shown as written, belongs to the user.
fn sections(text: &str) -> Result<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut at, mut fenced) = (0, 0);
    for (index, line) in lines.iter().enumerate() {
        if open.is_none() && index >= fenced {
            fenced = index + fenced_lines(&lines[index..]).max(verbatim_lines(&lines[index..]));
        }
        if index < fenced {
            at += line.len();
            continue;
        }
        let (number, mark) = (index + 1, line.trim_end());
        if mark.starts_with("<!-- colgrep:begin ") && mark.find("-->") == Some(mark.len() - "-->".len()) {
            if let Some((number, _)) = open.replace((number, at)) {
                return unpaired(number);
            }
        } else if mark == END {
            let Some((_, begin)) = open.take() else { return unpaired(number) };
            found.push(begin..at + line.len());
        } else if line.starts_with(END)
            && let Some((_, begin)) = open.take()
        {
            found.push(begin..at + END.len());
        }
        at += line.len();
    }
    match open {
        Some((number, _)) => unpaired(number),
        None => Ok(found),
    }
}

/// Number of lines of the code fence that begins on the first line; none if it is not closed.
fn fenced_lines(lines: &[&str]) -> usize {
    let Some((sign, width, info)) = lines.first().and_then(|line| fence(line)) else { return 0 };
    if sign == '`' && info.contains('`') {
        return 0;
    }
    let closes = |line: &&str| fence(line).is_some_and(|(s, w, behind)| s == sign && w >= width && behind.is_empty());
    lines[1..].iter().position(closes).map_or(0, |inner| inner + 2)
}

/// Number of lines of the HTML block that begins on the first line and is text as written (CommonMark 4.6); none if it
/// is not closed.
fn verbatim_lines(lines: &[&str]) -> usize {
    let first = lines.first().map(|line| line.trim_start_matches(' ').to_lowercase()).unwrap_or_default();
    let begins = |tag: &&str| {
        let behind = first.strip_prefix('<').and_then(|first| first.strip_prefix(*tag));
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with(|c: char| c == '>' || c.is_whitespace()))
    };
    let Some(tag) = ["pre", "script", "style", "textarea"].into_iter().find(begins) else { return 0 };
    let end = format!("</{tag}>");
    lines.iter().position(|line| line.to_lowercase().contains(&end)).map_or(0, |last| last + 1)
}

/// The sign and the width of a code fence, and what follows it on its line.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let text = line.trim_start_matches(' ');
    let sign = text.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let behind = text.trim_start_matches(sign);
    let width = text.len() - behind.len();
    (width >= 3 && line.len() - text.len() <= 3).then(|| (sign, width, behind.trim()))
}

fn unpaired<T>(number: usize) -> Result<T> {
    bail!(
        "the mark of colgrep in line {number} has no partner, so that nobody can tell what is colgrep's; \
         take its text and the mark out by hand"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: Section = Section { head: "", text: "text\n" };
    const ALONE: Section = Section { head: "---\na: b\n---\n\n", text: "text\n" };

    #[test]
    fn the_section_alone_tells_what_the_file_was() {
        for text in ["", "# Mine\n", "# Mine", "# Mine\n\n", "\n", "a\n\n\n"] {
            let put = SHARED.put(text).unwrap();
            assert_eq!(SHARED.found(&put).unwrap(), [SHARED.wanted()], "{put}");
            assert_eq!(SHARED.cut(&put, None).unwrap(), text);
            let more = format!("{put}{}below\n", if put.ends_with('\n') { "" } else { "\n" });
            let kept = format!("{text}{}below\n", if text.is_empty() || text.ends_with('\n') { "" } else { "\n" });
            assert_eq!(SHARED.cut(&more, None).unwrap(), kept);
            assert_eq!(SHARED.cut(&format!("above\n{put}"), None).unwrap(), format!("above\n{text}"));
        }
        assert_eq!(ALONE.cut(&ALONE.put("").unwrap(), None).unwrap(), "");
        assert!(ALONE.put("mine\n").is_err());
    }

    #[test]
    fn what_is_appended_to_the_last_line_stays() {
        for text in ["", "# Mine\n", "# Mine"] {
            let put = SHARED.put(text).unwrap();
            let more = format!("{}new\nrule\n", put.trim_end());
            assert_eq!(SHARED.found(&more).unwrap(), [SHARED.wanted()], "{more}");
            let end = if text == "# Mine" { "\n" } else { "" };
            assert_eq!(SHARED.cut(&more, None).unwrap(), format!("{text}{end}new\nrule\n"));
        }
    }

    #[test]
    fn marks_stand_alone_on_their_lines() {
        for text in [
            "see `<!-- colgrep:begin -->` and `<!-- colgrep:end -->`\n",
            "  <!-- colgrep:begin -->\n  <!-- colgrep:end -->\n",
            "<!-- colgrep:begin --> and <!-- colgrep:end -->\n",
            "<!-- colgrep:beginning -->\n",
            "<!-- colgrep:end --> ends it\n",
        ] {
            assert!(SHARED.found(text).unwrap().is_empty(), "{text}");
            assert_eq!(SHARED.cut(&SHARED.put(text).unwrap(), None).unwrap(), text);
        }
    }

    #[test]
    fn a_section_in_a_code_fence_is_the_users() {
        let marked = SHARED.marked();
        for text in [
            format!("# Notes\n\n```\n{marked}\n```\n"),
            format!("~~~~ md\n```\n{marked}\n~~~~\nmine\n"),
            format!("````\n```\n{marked}\n````\n"),
            "```\n<!-- colgrep:begin (x) -->\n```\n".to_string(),
            format!("# Notes\n<pre>\n{marked}\n</pre>\n"),
            format!("<PRE class=\"x\">{marked}\n</PRE>\n"),
        ] {
            assert!(SHARED.found(&text).unwrap().is_empty(), "{text}");
            let put = SHARED.put(&text).unwrap();
            assert_eq!(SHARED.found(&put).unwrap(), [SHARED.wanted()], "{put}");
            assert_eq!(SHARED.cut(&put, None).unwrap(), text);
        }
        // What nobody closed takes nothing in.
        for text in ["```\nmine\n", "<pre>\nmine\n", "<prefix>\n"] {
            assert_eq!(SHARED.cut(&SHARED.put(text).unwrap(), None).unwrap(), text);
        }
    }

    #[test]
    fn several_sections_go_and_broken_ones_are_refused() {
        let two = "a\n<!-- colgrep:begin (old) -->\nx\n<!-- colgrep:end -->\nb\n<!-- colgrep:begin -->\n<!-- colgrep:end -->\n";
        assert_eq!(SHARED.cut(two, None).unwrap(), "a\nb\n");
        for (text, line) in [
            ("a\n<!-- colgrep:begin -->\nx\n", "line 2"),
            ("a\nb\n<!-- colgrep:end -->\n", "line 3"),
            ("<!-- colgrep:begin -->\nx\n<!-- colgrep:begin -->\n<!-- colgrep:end -->\n", "line 1"),
        ] {
            let error = SHARED.cut(text, None).unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}
