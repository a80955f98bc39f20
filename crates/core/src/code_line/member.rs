//! The line of a type that declares one of its members, by its form.

use super::{is_comment, lines_of_code, words_at};

/// Beginnings of lines that end in a name without declaring it.
pub(super) const STATEMENTS: &[&str] = &[
    "assert", "extend", "for", "from", "if", "import", "include", "match", "package", "prepend", "raise", "require",
    "return", "switch", "throw", "unless", "use", "using", "while", "yield",
];
/// How code refers to a method's own object, before a field.
pub(super) const OWN: &[&str] = &["$this->", "@", "@@", "self->", "self.", "this->", "this."];

/// The line of a type, from `first` to `last`, that declares its member `name`: a field, a variant, a parameter that is a field.
/// Otherwise the first line that sets it on the type's own object.
pub fn member_line(text: &str, first: u32, last: u32, name: &str) -> Option<u32> {
    let is_within = |(number, line): &(u32, &str)| (first..=last).contains(number) && !is_comment(line);
    let lines: Vec<(u32, &str)> = lines_of_code(text).filter(is_within).collect();
    let outer = indent(lines.first()?.1);
    // Lines of marks, and labels such as `public:`, are indented differently from members.
    let is_label = |line: &str| line.trim_end().ends_with(':') && !line.contains('(');
    let is_inner = |line: &&str| indent(line) > outer && line.contains(char::is_alphanumeric) && !is_label(line);
    let inner = lines.iter().map(|(_, line)| *line).filter(is_inner).map(indent).min();
    let is_member = |line: &str| match indent(line) {
        // `struct Port { number: u16 }`, `data class Port(val number: Int)`
        at if at == outer => line.find(['{', '(']).is_some_and(|open| declares(&line[open + 1..], name)),
        at => Some(at) == inner && declares(line, name),
    };
    let line_that =
        |is_one: &dyn Fn(&str) -> bool| lines.iter().find(|(_, line)| is_one(line)).map(|(number, _)| *number);
    line_that(&is_member).or_else(|| line_that(&|line| sets_own(line, name)))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn declares(line: &str, name: &str) -> bool {
    words_at(line, name).any(|at| is_declared(&line[..at], &line[at + name.len()..]))
}

/// Whether a member's line declares the name between these two texts.
fn is_declared(front: &str, behind: &str) -> bool {
    // `char *name`, `private $name`
    let bare = front.trim_end_matches(['$', '@', '*', '&']);
    let next = behind.trim_start_matches(['?', '!']);
    let is_apart = next.starts_with(char::is_whitespace);
    let next = next.trim_start();
    // `int (*name)(int)`
    if bare.ends_with('(') && front.ends_with('*') {
        return next.starts_with(')');
    }
    // A name in an open call or signature, after `=`, or as part of something else is not declared here.
    let is_open = bare.matches('(').count() != bare.matches(')').count();
    let mut words = bare.split_whitespace();
    let ends = [words.next(), words.next_back()];
    let is_statement = ends.into_iter().flatten().any(|word| STATEMENTS.contains(&word));
    let is_of_another = bare.contains(['=', '"', '`']) || bare.contains(" ? ") || bare.ends_with(['.', '-', '#', '!']);
    if is_open || is_statement || is_of_another || bare.ends_with("::") || bare.ends_with("->") {
        return false;
    }
    // `attr_reader :name`, `defstruct [:name]`
    if bare.ends_with(':') {
        return true;
    }
    let is_first = bare.trim().is_empty() || bare.trim() == "case";
    match next.chars().next() {
        None | Some(',' | ';' | '{' | '}') => true,
        // `name: u16`, `name :: Int`; `name::open()` is a path.
        Some(':') => next.starts_with(": ") || !next.starts_with("::") || is_apart,
        Some('=') => !next.starts_with("==") && (!is_first || !next.starts_with("=>")),
        Some(')') => !is_first,
        Some('[') => is_apart == is_first,
        Some('(') => is_first && next.trim_end().ends_with([',', ')', ';']),
        // `name uint16`
        Some(c) => is_first && is_apart && (c == '*' || c == '<' || c.is_alphanumeric()),
    }
}

/// Whether a line sets a field of its method's own object, which is how Python and Ruby declare it.
fn sets_own(line: &str, name: &str) -> bool {
    words_at(line, name).any(|at| {
        let next = line[at + name.len()..].trim_start();
        let is_set =
            (next.starts_with('=') && !next.starts_with("==")) || (next.starts_with(':') && !next.starts_with("::"));
        is_set && OWN.contains(&line[..at].trim_start())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_where_their_type_declares_them() {
        for (lines, name, expected) in [
            (
                &[
                    "#[derive(Debug)]",
                    "pub struct Port<'a> {",
                    "    /// The port: a number.",
                    "    pub(crate) port: u16,",
                    "}",
                ][..],
                "port",
                Some(4),
            ),
            (&["pub struct Port { port: u16, host: String }"], "host", Some(1)),
            (&["pub enum Port {", "    Open,", "    Named(String),", "    At { host: Host },", "}"], "Named", Some(3)),
            (&["pub enum Port {", "    Open,", "    At { host: Host },", "}"], "At", Some(3)),
            (&["pub enum Port {", "    Open,", "    At {", "        host: Host,", "    },", "}"], "host", None),
            (&["type Port struct {", "\tport uint16 `json:\"port\"`", "\thosts []string", "}"], "hosts", Some(3)),
            (
                &["class Port {", " public:", "  int open(int port);", "  int port_;", "  char *host;", "};"],
                "port_",
                Some(4),
            ),
            (&["class Port {", " public:", "  int open(int port);", "  char *host;", "};"], "host", Some(4)),
            (&["class Port {", " public:", "  int open(int port);", "};"], "port", None),
            (&["class Port {", "  int open() { return port; }", "  int port;", "};"], "port", Some(3)),
            (&["struct port {", "  int a, b;", "  int (*run)(int);", "  char name[8];", "};"], "run", Some(3)),
            (&["struct port {", "  int a, b;", "  char name[8];", "};"], "b", Some(2)),
            (&["struct port {", "  char name[8];", "};"], "name", Some(2)),
            (&["data class Port(val number: Int) {", "  val host = number", "}"], "number", Some(1)),
            (&["class Port(", "  private val number: Int,", ") {", "  val host: String", "}"], "number", Some(2)),
            (
                &[
                    "public class Port",
                    "{",
                    "    readonly Map<string, int> _map = new();",
                    "    public int Number { get; }",
                    "}",
                ],
                "_map",
                Some(3),
            ),
            (&["public class Port", "{", "    public int Number { get; }", "}"], "Number", Some(3)),
            (&["enum Port {", "  case open", "  case named(String)", "}"], "named", Some(3)),
            (&["interface Port {", "  host?: string;", "}"], "host", Some(2)),
            (&["class Port", "  attr_reader :host, :number", "end"], "number", Some(2)),
            (
                &["class Port:", "    \"\"\"A port.", "", "    host: its host.", "    \"\"\"", "    host: str = ''"],
                "host",
                Some(6),
            ),
            (&["class Port:", "    def __init__(self, host):", "        self.host = host"], "host", Some(3)),
            (&["class Port {", "    private ?string $host;", "}"], "host", Some(2)),
            (&["struct Port {", "    number: u16,", "}", "let host: u8 = 3;"], "hosts", None),
            (
                &["mod port {", "    use host::number;", "    fn open() {", "        let host = 3;", "    }", "}"],
                "host",
                None,
            ),
        ] {
            let (text, last) = (lines.join("\n"), lines.len() as u32);
            assert_eq!(member_line(&text, 1, last, name), expected, "{name} in {text}");
        }
        assert_eq!(member_line("struct A {\n  port: u8,\n}\nstruct B {\n  port: u8,\n}\n", 4, 6, "port"), Some(5));
    }
}
