//! The line of data or markup that introduces a name: a key, a label, an anchor.

/// The text before and after a label in the line that defines it, not in references to it.
const AROUND: &[(&str, &str)] = &[
    // TeX, Texinfo, BibTeX.
    ("\\label{", "}"),
    ("\\bibitem{", "}"),
    ("@anchor{", "}"),
    // reStructuredText.
    (".. _", ":"),
    (".. _`", "`:"),
    (".. |", "|"),
    (".. [", "]"),
    // Markdown, AsciiDoc, HTML and XML, Org.
    ("{#", "}"),
    ("[#", "]"),
    ("[^", "]:"),
    ("anchor:", "["),
    ("id=\"", "\""),
    ("name=\"", "\""),
    ("#+name: ", ""),
    ("#+NAME: ", ""),
];
/// What may stand on a line before a key.
const BEFORE_KEY: &[&str] = &["- ", "export ", "set ", "? ", "\"", "'", "["];

/// Whether a line of data or markup introduces a name: as a key (`name = …`, `"name": …`), or as a label (`\label{name}`,
/// `.. _name:`, `id="name"`).
pub fn introduces(line: &str, name: &str) -> bool {
    is_key(line, name)
        || AROUND.iter().any(|(front, behind)| stands_between(line, front, name, behind))
        || is_entry(line, name)
}

fn stands_between(line: &str, front: &str, name: &str, behind: &str) -> bool {
    line.match_indices(front).any(|(at, _)| {
        let rest = line[at + front.len()..].strip_prefix(name).and_then(|rest| rest.strip_prefix(behind));
        rest.is_some_and(|rest| !behind.is_empty() || rest.trim().is_empty())
    })
}

/// Whether a name is a line's key, and a value or nothing follows.
fn is_key(line: &str, name: &str) -> bool {
    let mut key = line.trim();
    while let Some(rest) = BEFORE_KEY.iter().find_map(|before| key.strip_prefix(before)) {
        key = rest.trim_start();
    }
    let Some(behind) = key.strip_prefix(name) else { return false };
    let behind = behind.trim_start_matches(['"', '\'', ']']).trim_start();
    let value = behind.strip_prefix(['=', ':']);
    // `name:port` and `name::other` are names of their own.
    value.is_some_and(|value| behind.starts_with('=') || value.is_empty() || value.starts_with(char::is_whitespace))
}

/// Whether a line begins the entry of a bibliography with this key: `@article{name,`.
fn is_entry(line: &str, name: &str) -> bool {
    let entry = line.trim_start().strip_prefix('@').and_then(|entry| entry.split_once('{'));
    entry.is_some_and(|(_, key)| key.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with(',')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_or_a_label_is_told_from_what_refers_to_it() {
        for (line, name, expected) in [
            ("fast-feat = []", "fast-feat", true),
            ("x = [\"fast-feat\"]", "fast-feat", false),
            ("fast-feat2 = []", "fast-feat", false),
            ("    \"lint-fix\": \"eslint --fix\",", "lint-fix", true),
            ("    \"lint\": \"npm run lint-fix\",", "lint-fix", false),
            ("Run lint-fix: it mends.", "lint-fix", false),
            ("- lint-fix:", "lint-fix", true),
            ("  - lint-fix", "lint-fix", false),
            ("[features.fast-feat]", "fast-feat", false),
            ("export MAX_LEN=3", "MAX_LEN", true),
            ("host_a:80", "host_a", false),
            ("\\label{fig:two_cars}", "fig:two_cars", true),
            ("\\section{One}\\label{sec:one}", "sec:one", true),
            ("see \\ref{fig:two_cars}", "fig:two_cars", false),
            (".. _my-target:", "my-target", true),
            (".. _my-target: https://host/", "my-target", true),
            ("See my-target_ or :ref:`my-target`.", "my-target", false),
            ("# Title {#my-part}", "my-part", true),
            ("see [it](#my-part)", "my-part", false),
            ("[^note_one]: text", "note_one", true),
            ("text[^note_one]", "note_one", false),
            ("<a id=\"my-part\"></a>", "my-part", true),
            ("<a href=\"#my-part\">", "my-part", false),
            ("@article{knuth_84,", "knuth_84", true),
            ("\\cite{knuth_84}", "knuth_84", false),
            ("#+NAME: tab-one", "tab-one", true),
        ] {
            assert_eq!(introduces(line, name), expected, "{name} in {line}");
        }
    }
}
