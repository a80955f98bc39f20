//! Texts as somebody with the problem would send them: from issues in sets, and from commits' messages.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

/// Characters of a message's body at least.
const BODY_MIN: usize = 200;
/// Different words of trouble that a message has at least.
const TROUBLE_MIN: usize = 2;
/// Words of a title at least.
const TITLE_MIN: usize = 3;

/// The question: a title, and the text below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceText {
    /// The title, on one line.
    pub title: String,
    /// The body; empty for none.
    pub body: String,
}

impl InstanceText {
    /// Of a title and a body as they come.
    pub fn new(title: &str, body: &str) -> InstanceText {
        let lines: Vec<&str> = body.lines().map(str::trim_end).collect();
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        InstanceText { title, body: lines.join("\n").trim().to_string() }
    }

    /// Both, as they are pasted.
    pub fn whole(&self) -> String {
        format!("{}\n\n{}", self.title, self.body).trim().to_string()
    }

    /// What the list of instances keeps of it: XXH3 of the whole, in hexadecimal digits.
    pub fn hash(&self) -> String {
        format!("{:016x}", xxh3_64(self.whole().as_bytes()))
    }
}

/// One line of a set in the form of Multi-SWE-bench: a pull request with the issues that it resolves.
#[derive(Clone, Debug, Deserialize)]
pub struct ResolvedPull {
    /// Number of the pull request.
    pub number: u64,
    pub base: Base,
    pub resolved_issues: Vec<Issue>,
    /// Its changes outside of tests, as a patch.
    pub fix_patch: String,
}

/// The commit below a pull request.
#[derive(Clone, Debug, Deserialize)]
pub struct Base {
    /// Its name.
    pub sha: String,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Issue {
    pub title: String,
    pub body: Option<String>,
}

impl ResolvedPull {
    /// The first issue that says more than its title.
    pub fn text(&self) -> Option<InstanceText> {
        let texts =
            self.resolved_issues.iter().map(|i| InstanceText::new(&i.title, i.body.as_deref().unwrap_or_default()));
        texts.into_iter().find(|text| !text.body.is_empty())
    }
}

/// The first issue of an instruction: `## Issue #1 ADDRESS: TITLE`, and the text up to the next issue.
pub fn instructed(text: &str) -> Option<InstanceText> {
    let (_, rest) = text.split_once("\n## Issue #")?;
    let (head, body) = rest.split_once('\n')?;
    let (_, title) = head.split_once(": ")?;
    let body = body.split("\n## Issue #").next().unwrap_or(body);
    Some(InstanceText::new(title, body)).filter(|text| !text.body.is_empty())
}

/// The files that a patch changes or removes, in its order.
pub fn patched(patch: &str) -> Vec<String> {
    patch.lines().filter_map(|line| line.strip_prefix("--- a/")).map(|path| path.trim_end().to_string()).collect()
}

/// The commit that a script checks out.
pub fn checked_out(script: &str) -> Option<String> {
    static CHECKOUT: LazyLock<Regex> = LazyLock::new(|| compiled(r"(?m)^git checkout ([0-9a-f]{40})$"));
    CHECKOUT.captures(script).map(|found| found[1].to_string())
}

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern")
}

/// Lines of messages that no reporter writes: trailers, references, bare addresses, changed files, items that tell what
/// was done.
static NOT_REPORTED: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"(?i)^\s*(signed-off|co-authored|reviewed|acked|tested|reported|suggested|helped|cc|change-id|reviewed-on|git-svn-id|piperorigin-revid|see-also|fixes|closes|resolves|refs?|references|bug|issue|ticket|pull-request|backport\w*|cherry\S*)(-by)?:",
        r"(?i)^\s*[\[(]?((this|it|also|partially|and)\s+)?(fix(es|ed)?|clos(es|ed)|resolv(es|ed)|refs?|references|see|see also|related to|part of|follow[- ]?up to|supersedes|ports?|backport of)\s*:?\s+(issue |pr |pull request |ticket |bug )?(#\d|gh-\d|https?://|[\w.-]+/[\w.-]+#\d|[A-Z]+-\d)[^ ]*[\])]?\.?$",
        r"^\s*\(cherry picked from|^\s*https?://\S+$|^\s*#\d+\.?$",
        r"^\s*[*-]\s+`?[\w.-]*/[\w./-]+|^\s*[*-]\s+`?[\w-]+\.\w{1,5}`?(\s*\([^)]*\))?:",
        r"(?i)^\s*[*-]\s+(add|adds|added|fix|fixes|fixed|remove|removes|removed|update|updates|updated|rename|renames|renamed|use|uses|move|moves|moved|make|makes|made|change|changes|changed|refactor|refactors|refactored|test|tests|rework|improve|improves|simplify|document|bump|revert|drop|drops|review|typo|lint|apply|cleanup|clean|address|wip|merge|avoid|extract|introduce|implement|support)\b",
    ])
    .expect("patterns")
});

/// Beginnings of paragraphs that tell the change and not the problem.
static TELLS_THE_CHANGE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)^\s*((this|the|that) (commit|patch|change|changeset|pr|pull request|cl|fix|solution|diff|merge request)\b|(to |i |we |let's |the )?(fix|fixed|fixes|solve|solved|solution|resolve|resolved|address|addressed)\b|we now|now\b|instead\b|so,? (let|we|i|this|now)|thus|therefore|hence|let's|lets|with this|by (doing|using|making|moving|adding|changing)|add(s|ed)?\b|remove[sd]?\b|change[sd]?\b|use[sd]?\b|make[s]?\b|move[sd]?\b|also\b)",
    )
});

/// Words of somebody who met a problem.
static TROUBLE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)\b(fail(s|ed|ing|ure)?|errors?|exceptions?|crash(es|ed|ing)?|panic(s|ked)?|wrong(ly)?|incorrect(ly)?|bugs?|buggy|broken|breaks?|broke|regression|unexpected(ly)?|hangs?|hung|leak(s|ed|ing)?|overflows?|segfaults?|deadlocks?|races?|missing|invalid|lost|loses|ignored|corrupt(s|ed|ion)?|raise[sd]?|throws?|thrown|undefined|traceback|should(n't)?|not work(ing)?|(do|does|did|is|was|are|were|can|could)(n't| not)|cannot|never|no longer|problem|warns?|warnings?|infinite|stuck|slow|duplicated?)\b",
    )
});

/// What points into code: a name in back quotes, a call, a path of names, a name in mixed case or with underscores, an
/// indented block.
static POINTS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(r"(?m)`[^`\n]+`|\w\(\)|\w::\w|\b[a-z]+[A-Z]\w+|\b[A-Z][a-z0-9]+[A-Z]\w+|\b[A-Za-z]+_\w+|^(    |\t)\S")
});

/// Beginnings of subjects that announce a fix, including "a bug where".
static FIXES: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)^(fix(es|ed|ing)?|bug ?fix|resolve[sd]?|close[sd]?)\b[:,]?\s*((for )?(an?|the|some) )?((bug|issue|problem)s?\b,?\s*)?((where|when|with|in|that)\b\s*)?",
    )
});

/// Subjects that don't announce a fix, by their type.
static NO_FIX: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)^\W*(ci|docs?|tests?|specs?|build|feat(ure)?|refactor(ing)?|perf|cleanup|rfc|typings?)\b[^ ]*:|clean-?up|refactor|bump",
    )
});

/// The message as an issue, if it reads like one: its subject names a problem or a fix, and its body describes a
/// problem at some length, not in items, and points into code. `title` is the subject without its type and numbers.
pub fn reported(title: &str, message: &str) -> Option<InstanceText> {
    let (subject, body) = message.split_once('\n')?;
    if NO_FIX.is_match(subject) || !(FIXES.is_match(title) || TROUBLE.is_match(title)) {
        return None;
    }
    let title = FIXES.replace(title, "");
    // A merge of several commits lists their subjects.
    let is_list = body.split("\n\n").filter(|paragraph| paragraph.trim_start().starts_with("* ")).count() > 1;
    let told = |paragraph: &str| -> String {
        let is_noise = |line: &str| NOT_REPORTED.is_match(line) || is_list && line.starts_with("* ");
        let lines = paragraph.lines().filter(|line| !is_noise(line));
        lines.collect::<Vec<_>>().join("\n")
    };
    let body = body.replace("\r\n", "\n");
    let paragraphs = body.split("\n\n").map(told).filter(|p| !p.trim().is_empty() && !TELLS_THE_CHANGE.is_match(p));
    let text = InstanceText::new(&title, &paragraphs.collect::<Vec<_>>().join("\n\n"));
    let troubles: BTreeSet<String> = TROUBLE.find_iter(&text.body).map(|word| word.as_str().to_lowercase()).collect();
    let is_item = |line: &&str| line.trim_start().starts_with(['-', '*', '+', '•']);
    let is_prose = 2 * text.body.lines().filter(is_item).count() < text.body.lines().count();
    let is_long = text.body.chars().count() >= BODY_MIN && text.title.split(' ').count() >= TITLE_MIN;
    (is_long && is_prose && troubles.len() >= TROUBLE_MIN && POINTS.is_match(&text.body)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORY: &str = "Calling `Reader.next` after the end of the file raises an exception where it should give none.\n\
        It happens with compressed files alone, and the error names a line that is\nnot in the file:\n\n    \
        reader = Reader(path)\n    reader.next()\n\nThe last line is lost too, which nobody notices.";

    #[test]
    fn a_message_that_describes_a_problem_is_an_issue() {
        let noise = "\n\nFixes #12\n* src/read.c (next): Give none.\n- add a test\n\nThis commit gives none there.\n\n\
            Signed-off-by: A Person <a@b.c>";
        let text = reported("Reader gives no end, wrongly", &format!("subject\n\n{STORY}{noise}")).unwrap();
        assert_eq!(text, InstanceText::new("Reader gives no end, wrongly", STORY));
        assert_eq!(text.whole(), format!("Reader gives no end, wrongly\n\n{STORY}"));
        let of = |subject: &str| reported(subject, &format!("{subject}\n\n{STORY}")).map(|text| text.title);
        assert_eq!(of("Fix a bug where the end comes twice").as_deref(), Some("the end comes twice"));
        assert_eq!((of("Tell the end of the file"), of("ci: fix the end of files")), (None, None));
        let list = format!("The end is wrong\n\n* Give it once\n\n{STORY}\n\n* Speak of it");
        assert_eq!(reported("The end is wrong", &list).map(|text| text.body), Some(InstanceText::new("", STORY).body));
        for (title, message) in [
            ("Reader gives no end, wrongly", "subject".to_string()),
            ("Reader gives no end, wrongly", "subject\n\nIt raises an exception, which is wrong.".to_string()),
            ("Reader gives no end, wrongly", format!("subject\n\n- {}", STORY.replace('\n', "\n- "))),
            ("Wrong end", format!("subject\n\n{STORY}")),
            (
                "Tell of the wrong reader",
                format!("subject\n\n{}", "A page about `Reader` and what it is for. ".repeat(9)),
            ),
        ] {
            assert_eq!(reported(title, &message), None, "{message}");
        }
    }

    #[test]
    fn lines_that_no_reporter_writes_are_told() {
        for (line, expected) in [
            ("Signed-off-by: A Person <a@b.c>", true),
            ("Fixes: 1234567 (\"read: give none\")", true),
            ("Closes #12.", true),
            ("See https://example.org/1", true),
            ("* lib/read.rb: give none", true),
            ("- Update the snapshot", true),
            ("- the file is empty", false),
            ("Fixes a crash in the reader", false),
            ("see the `Reader` in the traceback", false),
        ] {
            assert_eq!(NOT_REPORTED.is_match(line), expected, "{line}");
        }
    }

    #[test]
    fn sets_are_read_in_either_form() {
        let line = r#"{"number": 7, "base": {"sha": "ab"}, "fix_patch": "--- a/src/a.rs\n+++ b/src/a.rs\n--- /dev/null\n+++ b/src/b.rs\n",
            "resolved_issues": [{"title": "Empty", "body": null}, {"title": "Two\tends", "body": "It ends\r\ntwice. \n"}]}"#;
        let resolved: ResolvedPull = serde_json::from_str(line).unwrap();
        assert_eq!(resolved.text(), Some(InstanceText { title: "Two ends".into(), body: "It ends\ntwice.".into() }));
        assert_eq!(patched(&resolved.fix_patch), ["src/a.rs"]);
        let asked = "# Implement\n\n## Issue #1 https://a.b/1: [Bug] Two ends\n\nIt ends twice.\n\n## Issue #2 https://a.b/2: More\n\nNo.";
        assert_eq!(
            instructed(asked),
            Some(InstanceText { title: "[Bug] Two ends".into(), body: "It ends twice.".into() })
        );
        assert_eq!(checked_out(&format!("cd x\ngit checkout {}\n", "a1".repeat(20))), Some("a1".repeat(20)));
    }
}
