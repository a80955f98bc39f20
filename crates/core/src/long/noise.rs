//! Parts of issues that say nothing about the code: templates, environments, comments, imports.

use crate::filler::is_courtesy;

/// Words of template headings: a heading of only these words is noise.
const TEMPLATE_WORDS: &str = "a about actual actually additional alternative alternatives an and any are asking be before behavior \
    behaviour bug can case check checklist checks code conduct considered context current d describe \
    description detail details did do does error example exception expect expected explain feature going \
    happen happened happening happens have how i if impact info information instead is issue it like link \
    list log logs message minimal more motivation notes observed of on or other output overview please \
    possible prerequisites problem question related relevant report repro reproduce reproduced reproducible \
    reproducing reproduction request result results s sample screenshot screenshots search see should \
    solution stack stacktrace step steps suggestion summary tell test that the this to trace traceback tried \
    us want was we went what when with workaround would wrong you your";
/// Words of headings about the environment of a program.
const ENVIRONMENT_WORDS: &str = "desktop device environment os platform setup smartphone system version versions";
/// Other words that such a heading may contain; a heading with any further word is about something else.
const BESIDE_ENVIRONMENT: &str = "a about additional and any complete configuration details following for info information my of on or our \
    please relevant running test tested the used using with your";
/// Keys of lines that describe an environment, before their colon.
const ENVIRONMENT_KEYS: &str = "android app arch architecture browser build chrome compiler cpu device distribution distro docker edition \
    environment firefox go installed ios java jdk jvm kernel kotlin library linux macos memory name node \
    nodejs npm number operating os package php platform pnpm python ram release ruby runtime rust rustc \
    safari shell system terminal toolchain used using version versions windows yarn";
/// Words before a title that name the kind of text.
const KINDS: &[&str] =
    &["bug", "bugs", "bug report", "feature", "feature request", "question", "issue", "enhancement", "regression"];

/// The title without marks of a heading and without its kind: `[Bug]: Sockets leak` → `Sockets leak`.
pub(super) fn title(line: &str) -> &str {
    let line = line.trim_start_matches('#').trim();
    let kind_of = |end: char| {
        let (kind, rest) = line.split_once(end)?;
        let is_kind = KINDS.contains(&kind.trim_start_matches(['[', '(']).trim().to_lowercase().as_str());
        Some(rest.trim_start_matches([':', ' ', '-', ']'])).filter(|rest| is_kind && !rest.is_empty())
    };
    kind_of(']').or_else(|| kind_of(':')).or_else(|| kind_of(')')).unwrap_or(line)
}

/// A text without noise: the remaining lines, in order.
pub(super) fn without(text: &str) -> String {
    let mut told = String::new();
    let (mut in_environment, mut in_code) = (false, false);
    for line in without_comments(text).lines() {
        let bare = line.trim();
        if is_fence(bare) {
            in_code = !in_code;
            continue;
        }
        let heading = heading(bare).filter(|_| !in_code);
        // A section ends at the next heading of its kind; a line with a colon does not end one.
        if let Some(heading) = heading.filter(|_| !bare.ends_with(':')) {
            in_environment = is_of_environment(heading);
        }
        let is_noise = in_environment
            || heading.is_some_and(|heading| is_of(heading, TEMPLATE_WORDS))
            || is_import(bare)
            || (!in_code && (is_box(bare) || is_environment(bare)));
        if !is_noise {
            told.push_str(&without_addresses(line));
            told.push('\n');
        }
    }
    told.trim().to_string()
}

/// A text without its `<!-- … -->`. One that is never closed is kept.
pub(super) fn without_comments(text: &str) -> String {
    let (mut outside, mut rest) = (String::new(), text);
    while let Some((before, inside)) = rest.split_once("<!--") {
        let Some((_, behind)) = inside.split_once("-->") else { break };
        outside.push_str(before);
        rest = behind;
    }
    outside + rest
}

/// A text without the template headings, boxes and greetings before its first line of content. Unchanged if that part
/// has code, or if nothing would be left.
pub(super) fn from_first_told(text: &str) -> &str {
    let mut rest = text;
    loop {
        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        let bare = line.trim();
        if !(bare.is_empty() || is_box(bare) || is_template(bare) || is_courtesy(bare)) {
            return if is_fence(bare) { text } else { rest };
        }
        if behind.is_empty() {
            return text;
        }
        rest = behind;
    }
}

/// Whether a line is a heading from a template. `# Search results` may be a person's title.
fn is_template(line: &str) -> bool {
    let is_part = line.starts_with("##") || line.starts_with("**") || line.ends_with(':');
    is_part && heading(line).is_some_and(|heading| is_of(heading, TEMPLATE_WORDS))
}

/// Whether code begins or ends with a line.
fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// A line without its URLs, except those with a line and a column.
pub(super) fn without_addresses(line: &str) -> String {
    let mut rest = line;
    let mut kept = String::new();
    while let Some(at) = ["https://", "http://"].iter().filter_map(|scheme| rest.find(scheme)).min() {
        kept.push_str(&rest[..at]);
        let behind = rest[at..].find(|c: char| c.is_whitespace() || ")>]\"'`".contains(c));
        let end = behind.map_or(rest.len(), |end| at + end);
        // A browser's frame is a place: `http://localhost/src/a.js:12:5`.
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if rest[at..end].rsplit(':').take(2).filter(is_number).count() == 2 {
            kept.push_str(&rest[at..end]);
        }
        rest = &rest[end..];
    }
    kept + rest
}

/// The words of a heading: after `#`, in bold, or a few words followed by a colon.
fn heading(line: &str) -> Option<&str> {
    let marked = line.strip_prefix('#').map(|rest| rest.trim_matches(['#', ' ']));
    let bold = || line.strip_prefix("**").and_then(|rest| rest.trim_end_matches([':', ' ']).strip_suffix("**"));
    let short = || line.strip_suffix(':').filter(|words| words.split_whitespace().count() <= 6);
    marked.or_else(bold).or_else(short).map(|words| words.trim_matches(['*', '_', ':', '?', ' ']))
}

/// Whether all words of a text are among `words`.
fn is_of(text: &str, words: &str) -> bool {
    own_words(text).all(|word| is_among(words, word))
}

/// Whether a heading is about the environment and nothing else.
fn is_of_environment(heading: &str) -> bool {
    let is_named = |word: &str| is_among(ENVIRONMENT_WORDS, word);
    let is_beside = |word: &str| is_among(BESIDE_ENVIRONMENT, word) || is_among(ENVIRONMENT_KEYS, word);
    own_words(heading).any(is_named) && own_words(heading).all(|word| is_named(word) || is_beside(word))
}

fn own_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known.eq_ignore_ascii_case(word))
}

/// `- [x] I searched for it`.
fn is_box(line: &str) -> bool {
    let item = line.trim_start_matches(['-', '*', '+', ' ']);
    item.len() < line.len() && ["[ ]", "[x]", "[X]"].iter().any(|tick| item.starts_with(tick))
}

/// `- OS: Linux`, `**Node version**: 18`.
fn is_environment(line: &str) -> bool {
    let Some((key, _)) = line.split_once(':') else { return false };
    let key = key.trim_matches(['-', '*', '+', '_', ' ', '`']);
    !key.is_empty() && key.split_whitespace().count() <= 3 && is_of(key, ENVIRONMENT_KEYS)
}

/// Whether a line of code is an import, in any language. Sentences begin with the same words, so this asks for more
/// than the beginnings in `code_line`.
fn is_import(line: &str) -> bool {
    let line = line.trim_start_matches(['>', '+', ' ']);
    let words = line.split_whitespace().count();
    let is_statement = line.ends_with(';');
    let is_module =
        words <= 2 || is_statement || line.contains(" from ") || line.contains(" as ") || line.contains(", ");
    line.starts_with("#include")
        || (line.starts_with("import ") && is_module)
        || (line.starts_with("from ") && line.contains(" import "))
        || (["use ", "using ", "package "].iter().any(|word| line.starts_with(word)) && is_statement)
        || (line.starts_with("package ") && words == 2)
        || (["const ", "let ", "var "].iter().any(|word| line.starts_with(word)) && line.contains("= require("))
        || ["require '", "require \"", "require_relative "].iter().any(|word| line.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_lose_their_kind() {
        for (line, expected) in [
            ("Sockets leak", "Sockets leak"),
            ("# Sockets leak", "Sockets leak"),
            ("[Bug]: Sockets leak", "Sockets leak"),
            ("bug: sockets leak", "sockets leak"),
            ("[BUG] Sockets leak", "Sockets leak"),
            ("[net] Sockets leak", "[net] Sockets leak"),
            ("Bug:", "Bug:"),
        ] {
            assert_eq!(title(line), expected);
        }
    }

    #[test]
    fn lines_that_tell_nothing_of_the_code_go() {
        for line in [
            "import os",
            "import { open } from 'net'",
            "import numpy as np",
            "from a.b import c",
            "use std::fmt;",
            "using System.Linq;",
            "#include <stdio.h>",
            "package com.acme;",
            "const net = require('net');",
            "require \"json\"",
            "<!-- say what happens -->",
            "- [x] I searched for it",
            "- OS: Linux",
            "**Node version**: 18",
            "### Describe the bug",
            "**To Reproduce**",
            "Steps to reproduce:",
            "```rust",
        ] {
            assert_eq!(without(line), "", "{line}");
        }
        for line in [
            "import of modules fails",
            "use the socket twice",
            "from time to time",
            "let socket = open();",
            "error: no such host",
            "### The pool of sockets",
            "[x] marks the spot",
        ] {
            assert_eq!(without(line), line);
        }
    }

    #[test]
    fn a_text_begins_where_it_says_something() {
        for (text, expected) in [
            ("Sockets leak\n\nMuch.", "Sockets leak\n\nMuch."),
            ("### Describe the bug\n\nSockets leak.", "Sockets leak."),
            ("- [x] I searched\n\n**Bug:**\nSockets leak.\nMuch.", "Sockets leak.\nMuch."),
            ("### Describe the bug\n\n- [x] I searched", "### Describe the bug\n\n- [x] I searched"),
            ("**Bug:**\nHi all,\n\nSockets leak.\nMuch.", "Sockets leak.\nMuch."),
            ("### Bug\n\n```\nopen()\n```\nIt leaks.", "### Bug\n\n```\nopen()\n```\nIt leaks."),
            ("# Search results\n\nare empty", "# Search results\n\nare empty"),
            ("Docker: container leaks\n\nMuch.", "Docker: container leaks\n\nMuch."),
            ("from a import b raises\n\nMuch.", "from a import b raises\n\nMuch."),
        ] {
            assert_eq!(from_first_told(text), expected);
        }
    }

    #[test]
    fn sections_of_the_environment_end_at_the_next_heading() {
        let text =
            "It leaks.\n\n## Environment\n\nfoo 1.2 on bar\n\n## Pool\n\nSee https://a.b/c?d (or <http://e>) here.";
        assert_eq!(without(text), "It leaks.\n\n## Pool\n\nSee  (or <>) here.");
        assert_eq!(without("My system:\n\nIt leaks."), "My system:\n\nIt leaks.");
        assert_eq!(without("a <!-- b\nc --> d"), "a  d");
        assert_eq!(without("a `<!---` b\nc"), "a `<!---` b\nc");
        assert_eq!(without("## System information (please complete)\nfoo 1.2"), "");
        for kept in ["## Environment variables are ignored\nfoo 1.2", "**System proxies are skipped:**\nfoo 1.2"] {
            assert_eq!(without(kept), kept);
        }
        assert_eq!(without("```\nversion: 3\n```"), "version: 3");
    }
}
