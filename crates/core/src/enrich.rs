//! Enrichment of prose: keywords and entities of a section, and the text with both prepended.

use std::borrow::Cow;

use crate::entity::{Entities, entities};
use crate::keyword::keywords;
use crate::language::LanguageFacts;

/// Keywords kept of a section.
pub const KEYWORDS_MAX: usize = 10;
/// Sections with fewer words have no keywords: their words are few enough.
pub const WORDS_MIN: usize = 20;
/// Keywords prepended to an enriched text.
const HEAD_KEYWORDS: usize = 7;
/// Entities of one label prepended to it, and of all labels.
const HEAD_ENTITIES_A_LABEL: usize = 2;
const HEAD_ENTITIES: usize = 5;

/// The keywords of a piece of prose, if it is long enough, and its entities.
pub fn enrich(text: &str, facts: &LanguageFacts) -> (Vec<String>, Entities) {
    let prose = prose_of(text);
    let mut words = prose.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
    let keywords = if words.nth(WORDS_MIN - 1).is_some() { keywords(&prose, KEYWORDS_MAX) } else { Vec::new() };
    (keywords, entities(text, facts))
}

/// Prepends a head to `content`: `keyword, keyword | entity, entity`, an empty line, the content. At most seven
/// keywords, two entities per label and five in all, without their labels. An empty side is left out with the bar; if
/// both are empty, the content is unchanged.
pub fn enriched<'t>(keywords: &[String], entities: &Entities, content: &'t str) -> Cow<'t, str> {
    match head(keywords, entities) {
        Some(head) => Cow::Owned(format!("{head}\n\n{content}")),
        None => Cow::Borrowed(content),
    }
}

/// The first line of an enriched text.
pub fn head(keywords: &[String], entities: &Entities) -> Option<String> {
    let keywords: Vec<&str> = keywords.iter().take(HEAD_KEYWORDS).map(String::as_str).collect();
    let of_labels = entities.values().flat_map(|found| found.iter().take(HEAD_ENTITIES_A_LABEL));
    let entities: Vec<&str> = of_labels.take(HEAD_ENTITIES).map(String::as_str).collect();
    let sides = [keywords.join(", "), entities.join(", ")];
    let sides: Vec<String> = sides.into_iter().filter(|side| !side.is_empty()).collect();
    (!sides.is_empty()).then(|| sides.join(" | "))
}

/// The rendered text of markup: without code, link targets, tags, rules and line marks. Code between back-ticks becomes
/// a comma, so that no keyword extends across it.
pub fn prose_of(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut fence: Option<&str> = None;
    // Indented lines are code after a blank line or `::`, and otherwise continue the paragraph above.
    let mut behind_blank = true;
    let mut announced = false;
    for line in text.lines() {
        let word = line.trim();
        if let Some(open) = fence {
            fence = fence.filter(|_| !(word.starts_with(open) && word.trim_start_matches(&open[..1]).is_empty()));
            continue;
        }
        if let Some(open) = ["```", "~~~", "----", "...."].into_iter().find(|mark| opens(word, mark)) {
            fence = Some(open);
            continue;
        }
        let is_code = line.starts_with("    ") && (behind_blank || announced);
        if word.is_empty() {
            prose.push('\n');
            behind_blank = true;
            continue;
        }
        if is_code {
            announced = true;
            continue;
        }
        announced = word.ends_with("::") || word.starts_with(".. ");
        behind_blank = false;
        let is_markup = word.starts_with(".. ") || (word.starts_with(':') && word[1..].contains(':'));
        if is_markup || !word.contains(char::is_alphabetic) || word.starts_with('|') {
            prose.push('\n');
            continue;
        }
        push_line(&mut prose, word);
    }
    prose
}

/// Whether a line opens a code block that a line like it closes. AsciiDoc's fences have exactly four characters; title
/// underlines are shorter or longer.
fn opens(line: &str, mark: &str) -> bool {
    match mark {
        "----" | "...." => line == mark,
        _ => line.strip_prefix(mark).is_some_and(|rest| !rest.contains(mark)),
    }
}

/// A line with web addresses replaced by commas: their schemes are not words. The text of links stays.
fn without_addresses(line: &str) -> Cow<'_, str> {
    let mut plain = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let start = rest[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '+').len();
        let ends = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | '<' | '>' | '(' | ')' | '`' | '"');
        let address = rest[at..].split(ends).next().unwrap_or_default();
        let address = address.trim_end_matches(['.', ',', ';', '!', '?']);
        plain.push_str(&rest[..start]);
        plain.push(',');
        rest = &rest[at + address.len()..];
    }
    if plain.is_empty() { Cow::Borrowed(line) } else { Cow::Owned(plain + rest) }
}

/// Adds a line without marks of headings and lists, without links' targets, tags and code.
fn push_line(prose: &mut String, line: &str) {
    let is_heading = line.starts_with(['#', '=']);
    let line = without_addresses(line);
    let item = line.trim_start_matches(['#', '=', '>', '*', '-', '+', '!']).trim_start();
    if item.len() < line.len() && !prose.ends_with("\n\n") {
        // An item or a heading is a sentence of its own.
        prose.push('\n');
    }
    let mut rest = item.trim_end_matches(['=', '#']);
    while let Some(at) = rest.find(['`', '<', '[', ']', '(', '*', '_']) {
        let before = &rest[..at];
        prose.push_str(before);
        let mark = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match mark {
            b'`' => {
                rest = rest.trim_start_matches('`');
                let end = rest.find('`').unwrap_or(rest.len());
                rest = rest[end..].trim_start_matches(['`', '_']);
                prose.push_str(", ");
            }
            b'<' => rest = rest.find('>').map_or(rest, |end| &rest[end + 1..]),
            // The target of a link.
            b'(' if prose.ends_with(']') => {
                prose.pop();
                rest = rest.find(')').map_or(rest, |end| &rest[end + 1..]);
            }
            b'[' | b'(' => prose.push_str(", "),
            b']' if rest.starts_with('(') => prose.push(']'),
            b']' => prose.push_str(", "),
            // Emphasis, or a sign inside a name.
            b'_' if before.ends_with(char::is_alphanumeric) => prose.push('_'),
            _ => {}
        }
    }
    prose.push_str(rest);
    prose.push_str(if is_heading { "\n\n" } else { "\n" });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::Label;

    fn words(all: &[&str]) -> Vec<String> {
        all.iter().map(|w| w.to_string()).collect()
    }

    #[test]
    fn an_enriched_text_has_keywords_a_bar_and_entities_in_front() {
        let keywords = words(&["pod autoscaler", "kubernetes"]);
        let entities =
            Entities::from([(Label::Name, words(&["HorizontalPodAutoscaler"])), (Label::Version, words(&["v1.23"]))]);
        let expected = "pod autoscaler, kubernetes | HorizontalPodAutoscaler, v1.23\n\nScales pods.";
        assert_eq!(enriched(&keywords, &entities, "Scales pods."), expected);
        assert_eq!(enriched(&[], &Entities::new(), "Scales pods."), "Scales pods.", "nothing in front of it");
        assert_eq!(enriched(&keywords, &Entities::new(), "x"), "pod autoscaler, kubernetes\n\nx");
        assert_eq!(enriched(&[], &entities, "x"), "HorizontalPodAutoscaler, v1.23\n\nx");
    }

    #[test]
    fn seven_keywords_two_entities_a_label_and_five_in_all() {
        let keywords = words(&["a", "b", "c", "d", "e", "f", "g", "h"]);
        let of = |label, all: &[&str]| (label, words(all));
        let entities = Entities::from([
            of(Label::Code, &["1", "2", "3"]),
            of(Label::Name, &["4", "5", "6"]),
            of(Label::Path, &["7", "8"]),
        ]);
        assert_eq!(enriched(&keywords, &entities, ""), "a, b, c, d, e, f, g | 1, 2, 4, 5, 7\n\n");
    }

    #[test]
    fn prose_is_what_people_read() {
        let text = "# Time *limits*\n\nSee [the guide](https://a.b/c) of `run()`, and <b>wait</b>.\n\n```sh\nrun --fast\n```\n\
                    - one item\n\nLike so::\n\n    code here\n\n.. note:: x\n\n|a|b|\n|--|--|\nsnake_case stays.\n";
        let expected = "Time limits. See , the guide of , , and wait. one item. Like so::. snake_case stays.";
        let found = prose_of(text);
        let found: Vec<String> =
            found.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let found: Vec<&str> = found.iter().map(|p| p.trim_end_matches('.')).filter(|p| !p.is_empty()).collect();
        assert_eq!(found.join(". ") + ".", expected);
    }

    #[test]
    fn addresses_are_no_words() {
        for (line, expected) in [
            ("See https://a.b/c_d?e=*. Then wait.", "See ,. Then wait."),
            ("https://a.b/c[The guide] says it", ",[The guide] says it"),
            ("[the guide](http://a.b) and <redis://c:1>", "[the guide](,) and <,>"),
            ("a :// b", "a , b"),
            ("no address: //", "no address: //"),
        ] {
            assert_eq!(without_addresses(line), expected);
        }
        let words = "Set the limit in the file of settings, as the page https://a.b/c and the other one, \
                     https://d.e[The limits of the client], explain it to everybody who wants to know.";
        let (keywords, entities) = enrich(words, &LanguageFacts::sample());
        assert!(!keywords.is_empty() && !keywords.iter().any(|k| k.contains("http")), "{keywords:?}");
        assert_eq!(entities[&Label::Url].len(), 2);
    }

    #[test]
    fn short_texts_have_entities_alone_or_neither() {
        let facts = LanguageFacts::sample();
        assert_eq!(enrich("Tag the commit, push it, and wait.", &facts), Default::default());
        let short = "The `run` command of HTTP takes 5 seconds.";
        let (keywords, entities) = enrich(short, &facts);
        assert_eq!((keywords.len(), &entities[&Label::Code][..]), (0, &words(&["run"])[..]));
        assert_eq!(entities[&Label::Quantity], ["5 seconds"]);
        let long = format!(
            "{short} It reads the queue of messages, sends each of them, and waits for an answer of the server."
        );
        let (keywords, entities) = enrich(&long, &facts);
        assert!(!keywords.is_empty() && keywords.len() <= KEYWORDS_MAX, "{keywords:?}");
        // 002.15: an entity is not also a keyword.
        assert_eq!(entities[&Label::Code], ["run"]);
        assert!(!keywords.iter().any(|k| k.contains("run")), "{keywords:?}");
    }
}
