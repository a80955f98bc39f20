//! The line that introduces a name which is no definition: a key, a label, an anchor, a field, a variable.

use super::member::{OWN, STATEMENTS};
use super::{is_comment, lines_of_code, member_line, words_at};

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
    ("#+name: ", ""),
    ("#+NAME: ", ""),
    // YAML.
    (": &", ""),
    ("- &", ""),
];
/// The attributes of HTML and XML that introduce a name.
const ATTRIBUTES: &[&str] = &["id=", "name=", "xml:id="];
/// What may stand on a line before a key.
const BEFORE_KEY: &[&str] = &["- ", "export ", "set ", "ENV ", "ARG ", "? ", "\"", "'", "["];

/// Maximum of words in the value of a directive.
const DIRECTIVE_WORDS_MAX: usize = 2;

/// The line of a text that introduces a name, from 1: in data and markup the first key or label; in code the first that
/// declares it as a member of one of the `types`, which are given by their first and last lines, else the first that
/// defines a function or variable of this name, or an element, or reads the environment's variable.
pub fn introducing_line(text: &str, name: &str, is_data: bool, types: &[(u32, u32)]) -> Option<u32> {
    let first = |introduces: &dyn Fn(&str) -> bool| {
        (1..).zip(text.lines()).find(|(_, line)| introduces(line)).map(|(number, _)| number)
    };
    if is_data {
        return first(&|line| introduces(line, name));
    }
    let mut members = types.iter().filter_map(|(first, last)| member_line(text, *first, *last, name));
    let sets = || lines_of_code(text).find(|(_, line)| sets(line, name)).map(|(number, _)| number);
    let reads = || lines_of_code(text).find(|(_, line)| is_of_environment(line, name)).map(|(number, _)| number);
    members.next().or_else(sets).or_else(|| first(&|line| is_element(line, name))).or_else(reads)
}

/// Whether a line of code has a name in capitals as a whole literal, and says that it is of the environment
/// (`getenv("APP_PORT")`), or as a member of that (`process.env.APP_PORT`).
fn is_of_environment(line: &str, name: &str) -> bool {
    let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.contains('_')
        && name.chars().all(is_capital)
        && !is_comment(line)
        && line.to_lowercase().contains("env")
        && words_at(line, name).any(|at| {
            let (front, behind) = (&line[..at], &line[at + name.len()..]);
            let is_quoted = |quote: char| front.ends_with(quote) && behind.starts_with(quote);
            is_quoted('"') || is_quoted('\'') || front.to_lowercase().ends_with("env.")
        })
}

/// Whether a line of code defines a method by its form (`name() {`), or sets a variable (`name = 1`); not one that names
/// an argument (`name=1,`).
fn sets(line: &str, name: &str) -> bool {
    if is_comment(line) {
        return false;
    }
    words_at(line, name).any(|at| {
        // `constructor() { this.name = 1; }`
        let front = line[..at].rsplit(['{', ';']).next().unwrap_or_default().trim_start();
        let behind = line[at + name.len()..].trim_end();
        let is_statement = front.split_whitespace().any(|word| STATEMENTS.contains(&word));
        let is_free = !is_statement && front.chars().all(|c| c.is_alphanumeric() || " *$@&_<>:".contains(c));
        // In a shell nothing is around the `=`.
        let is_bare = |kind: &str| kind.is_empty() && (at == 0 || front.starts_with("export "));
        let is_kind = |kind: &str| kind.ends_with([' ', ':']) && !kind.contains(['(', '.', '[']);
        let is_bare = |kind: &str, value: &str| is_bare(kind) && is_one_word(value);
        let value = behind.split_once('=').filter(|(kind, value)| is_kind(kind) || is_bare(kind, value));
        let is_value = value.is_some_and(|(_, value)| !value.starts_with(['=', '>', '~']) && !behind.ends_with(','));
        (is_free && (is_value || opens_body(behind))) || (is_value && OWN.contains(&front))
    })
}

/// Whether a value of a shell is all of the text: in `MODE=fast make`, a command follows.
fn is_one_word(value: &str) -> bool {
    let in_quotes = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.find(quote));
    let end = in_quotes('"').or_else(|| in_quotes('\'')).map_or(0, |length| length + 2);
    value.starts_with("$(") || !value[end..].trim().contains(' ') && (end == 0 || value[end..].trim().is_empty())
}

/// Whether parameters and the start of a body follow a name: `(a: u8): u8 {`.
fn opens_body(behind: &str) -> bool {
    let mut depth = 0;
    let close = behind.char_indices().find(|(_, c)| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth <= 0
    });
    let body = close.filter(|(_, c)| *c == ')').map_or("", |(at, _)| behind[at + 1..].trim_start());
    body.starts_with('{') || (body.starts_with([':', '-']) && body.ends_with('{'))
}

/// Whether a line of data or markup introduces a name: as a key (`name = …`, `"name": …`), the head of a table (`[name]`),
/// or as a label (`\label{name}`, `.. _name:`, `id="name"`).
fn introduces(line: &str, name: &str) -> bool {
    is_key(line, name)
        || is_table(line, name)
        || AROUND.iter().any(|(front, behind)| stands_between(line, front, name, behind))
        || is_element(line, name)
        || is_entry(line, name)
}

/// Whether an element of markup has this name: `id="name"`, `id=name`.
fn is_element(line: &str, name: &str) -> bool {
    words_at(line, name).any(|at| {
        let (front, behind) = (&line[..at], &line[at + name.len()..]);
        let quote = front.chars().next_back().filter(|c| matches!(c, '"' | '\''));
        let front = front.strip_suffix(['"', '\'']).unwrap_or(front);
        let is_in_tag =
            |before: &str| before.trim().is_empty() || (before.ends_with([' ', '\t']) && before.contains('<'));
        ATTRIBUTES.iter().any(|attribute| front.strip_suffix(attribute).is_some_and(is_in_tag))
            && match quote {
                Some(quote) => behind.starts_with(quote),
                None => behind.starts_with([' ', '>', '/', '\t']) || behind.is_empty(),
            }
    })
}

/// Whether a line is the head of a table, or of one of several, or of one inside others.
fn is_table(line: &str, name: &str) -> bool {
    let inside = line.trim().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    inside.is_some_and(|(inside, _)| {
        let front = inside.trim_start_matches('[').trim().strip_suffix(name);
        front.is_some_and(|front| front.is_empty() || front.ends_with('.'))
    })
}

fn stands_between(line: &str, front: &str, name: &str, behind: &str) -> bool {
    line.match_indices(front).any(|(at, _)| {
        let rest = line[at + front.len()..].strip_prefix(name).and_then(|rest| rest.strip_prefix(behind));
        rest.is_some_and(|rest| !behind.is_empty() || rest.trim().is_empty())
    })
}

/// Whether a name is a line's key, perhaps behind the keys around it and a dot, and a value or nothing follows; in quotes or
/// braces it may be a key inside the line.
fn is_key(line: &str, name: &str) -> bool {
    let mut key = line.trim();
    while let Some(rest) = BEFORE_KEY.iter().find_map(|before| key.strip_prefix(before)) {
        key = rest.trim_start();
    }
    // `name:port` and `name::other` are names of their own.
    let has_value = |behind: &str| {
        let value = behind.strip_prefix(['=', ':']);
        value.is_some_and(|value| behind.starts_with('=') || value.is_empty() || value.starts_with(char::is_whitespace))
    };
    let is_inside = || {
        let (mut seen, mut is_open) = (0, false);
        words_at(line, name).any(|at| {
            if let Some(brace) = line[seen..at].rfind(['{', '}']) {
                is_open = line[seen + brace..].starts_with('{');
            }
            seen = at;
            let (front, behind) = (&line[..at], &line[at + name.len()..]);
            match behind.strip_prefix('"') {
                Some(behind) => front.ends_with('"') && behind.trim_start().starts_with(':'),
                None => is_open && front.trim_end().ends_with(['{', ',']) && has_value(behind.trim_start()),
            }
        })
    };
    let outer = key.find(name).filter(|at| key[..*at].ends_with('.') && !key[..*at].contains([' ', '=', ':']));
    let Some(behind) = key[outer.unwrap_or(0)..].strip_prefix(name) else { return is_inside() };
    // A directive of nginx and the like.
    let value = behind.strip_suffix(';').filter(|value| key == line.trim() && value.starts_with(char::is_whitespace));
    let is_directive = value.is_some_and(|value| matches!(value.split_whitespace().count(), 1..=DIRECTIVE_WORDS_MAX));
    is_directive || has_value(behind.trim_start_matches(['"', '\'', ']']).trim_start()) || is_inside()
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
            ("[features.fast-feat]", "fast-feat", true),
            ("[tool.ruff.lint]", "tool.ruff.lint", true),
            ("[[tool.mypy.overrides]] # all", "tool.mypy.overrides", true),
            ("[tool.ruff.lint.more]", "tool.ruff.lint", false),
            ("{\"a\":1,\"lint-fix\":\"x\"}", "lint-fix", true),
            ("{\"a\":\"lint-fix\", \"b\": 1}", "lint-fix", false),
            ("export MAX_LEN=3", "MAX_LEN", true),
            ("ENV max-len=3", "max-len", true),
            ("net = { host = \"a\", max-len = 3 }", "max-len", true),
            ("net: {max-len: 3}", "max-len", true),
            ("{{ max-len }} and {a, max-len}", "max-len", false),
            ("see a, max-len: it ends", "max-len", false),
            ("net.http.max-len = 3", "max-len", true),
            ("see net.max-len = 3", "max-len", false),
            ("    max-len 3m;", "max-len", true),
            ("max-len is 3", "max-len", false),
            ("max-len is a limit;", "max-len", false),
            ("- max-len wins;", "max-len", false),
            ("use {this}, max-len: it ends", "max-len", false),
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
            ("<div class='a' id='my-part'>", "my-part", true),
            ("<input id=my-part>", "my-part", true),
            ("  id=\"my-part\"", "my-part", true),
            ("<label for=\"my-part\">", "my-part", false),
            ("<a data-id=\"my-part\">", "my-part", false),
            ("<a id=\"my-part-two\">", "my-part", false),
            ("@article{knuth_84,", "knuth_84", true),
            ("\\cite{knuth_84}", "knuth_84", false),
            ("#+NAME: tab-one", "tab-one", true),
        ] {
            assert_eq!(introduces(line, name), expected, "{name} in {line}");
        }
    }

    #[test]
    fn a_name_is_introduced_where_a_type_or_a_statement_declares_it() {
        for (text, name, types, expected) in [
            ("# a_b\nclass C:\n  def f(self):\n    self.a_b = 1", "a_b", &[(2, 4)][..], Some(4)),
            ("use(a_b=1,\n  a_b)\na_b = 3", "a_b", &[], Some(3)),
            ("f(\n    a_b = 1,\n)\n", "a_b", &[], None),
            ("x(a_b)\nlet mut a_b: u8 = 3;", "a_b", &[], Some(2)),
            ("if a_b == 3 {\n}\n", "a_b", &[], None),
            ("x.a_b = 3\n", "a_b", &[], None),
            ("a_b => 3\n", "a_b", &[], None),
            ("auto a_b := 3\n", "a_b", &[], Some(1)),
            ("@click=\"aB\"\nmethods: {\n  aB() {\n", "aB", &[], Some(3)),
            ("x = aB() {\n  async aB(e) {\n", "aB", &[], Some(2)),
            ("x: aB,\naB(a: u8): u8 {\n", "aB", &[], Some(2)),
            ("{{ aB }}\n  aB() { return 1; },\n", "aB", &[], Some(2)),
            ("aB(1);\nif (aB(2)) {\n", "aB", &[], None),
            ("aB(1, () => {\n", "aB", &[], None),
            ("if aB(2) {\n", "aB", &[], None),
            ("let g:a_b = 1\n", "a_b", &[], Some(1)),
            ("// aB\nconstructor() { this.aB = 1; }\n", "aB", &[], Some(2)),
            ("<a href=\"#a-b\">\n<nav id=\"a-b\" />", "a-b", &[], Some(2)),
            ("// a_b = 3\n", "a_b", &[], None),
            ("# A_B\nexport A_B=3\n", "A_B", &[], Some(2)),
            ("run $A_B\nA_B=3\n", "A_B", &[], Some(2)),
            ("f(a,\n  a_b=3)\n", "a_b", &[], None),
            ("/// `A_B`\nconst ENV_KEY: &str = \"A_B\";", "A_B", &[], Some(2)),
            ("return role[\"A_B\"] == 'A_B'", "A_B", &[], None),
            ("// 'A_B'\nlet a = process.env.A_B || 1", "A_B", &[], Some(2)),
            ("log('A_B is not set')", "A_B", &[], None),
            ("get('a_b')", "a_b", &[], None),
        ] {
            assert_eq!(introducing_line(text, name, false, types), expected, "{name} in {text}");
        }
        assert_eq!(introducing_line("see a-b\na-b: 1\na-b: 2", "a-b", true, &[]), Some(2));
        assert_eq!(introducing_line("a: *a_b\nb: &a_b\n", "a_b", true, &[]), Some(2));
    }
}
