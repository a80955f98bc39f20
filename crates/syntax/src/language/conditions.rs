//! Makes texts readable for a grammar where preprocessor conditions separate a definition's head from its body, or a
//! bracket from its match. Replaces the lines of such conditions by spaces, and all branches but one.

use std::ops::Range;

use super::pieces::{Piece, end_of_line, pieces};

/// Maximum nesting of groups; a text with more is read unchanged.
const GROUPS_MAX: usize = 64;

/// C and its descendants: removes conditions with unbalanced brackets. Conditions on C++ are kept: `extern "C" {`
/// encloses whole definitions.
pub(super) fn c(text: &str) -> Option<String> {
    without(text, |group| !group.asks_for_cpp && !group.is_balanced())
}

/// C#: removes conditions around partial members or statements.
pub(super) fn csharp(text: &str) -> Option<String> {
    without(text, |group| !group.is_balanced() || !group.is_whole())
}

/// `#if … #endif`: the signs and words of its branches, and the piece before it.
struct Group {
    before: Option<Piece>,
    branches: Vec<Vec<Piece>>,
    asks_for_cpp: bool,
}

impl Group {
    /// Whether the brackets of each branch are balanced.
    fn is_balanced(&self) -> bool {
        self.branches.iter().all(|branch| {
            let mut depth = 0usize;
            for piece in branch {
                match piece {
                    Piece::Sign(b'{' | b'(' | b'[') => depth += 1,
                    Piece::Sign(b'}' | b')' | b']') => match depth.checked_sub(1) {
                        Some(outer) => depth = outer,
                        None => return false,
                    },
                    _ => {}
                }
            }
            depth == 0
        })
    }

    /// Whether it begins where a member or a statement may begin, and each branch ends where one may end.
    fn is_whole(&self) -> bool {
        let ends = |piece: &Piece| matches!(piece, Piece::Sign(b'}' | b';'));
        self.before.is_none_or(|piece| matches!(piece, Piece::Sign(b'{' | b'}' | b';')))
            && self.branches.iter().all(|branch| branch.last().is_none_or(ends))
    }
}

/// A line of a condition.
#[derive(Clone, Copy, PartialEq)]
enum Directive {
    If,
    Else,
    End,
}

/// The text without the `broken` groups, inner groups first.
fn without(text: &str, broken: impl Fn(&Group) -> bool) -> Option<String> {
    let directives = directives(text);
    if directives.is_empty() {
        return None;
    }
    let pieces = pieces(text);
    let behind = |at: usize| pieces.partition_point(|(_, place)| place.start < at);
    let mut dropped = vec![false; pieces.len()];
    let mut bytes = text.as_bytes().to_vec();
    let mut changed = false;
    // The open groups, each with its lines so far.
    let mut open: Vec<Vec<Range<usize>>> = Vec::new();
    for (directive, line) in directives {
        if directive == Directive::If {
            if open.len() == GROUPS_MAX {
                return None;
            }
            open.push(vec![line]);
            continue;
        }
        let Some(lines) = open.last_mut() else { continue };
        lines.push(line);
        let Some(lines) = (directive == Directive::End).then(|| open.pop()).flatten() else { continue };
        let branch = |pair: &[Range<usize>]| -> Vec<Piece> {
            let inside = behind(pair[0].end)..behind(pair[1].start);
            inside.filter(|&i| !dropped[i]).map(|i| pieces[i].0).collect()
        };
        let (word, condition) = condition(&text[lines[0].clone()]);
        let group = Group {
            before: behind(lines[0].start).checked_sub(1).map(|last| pieces[last].0),
            branches: lines.windows(2).map(branch).collect(),
            asks_for_cpp: condition.contains("__cplusplus"),
        };
        // The first branch of `#if 0` is never compiled.
        let is_never = word == "if" && matches!(condition.trim_matches(['(', ')', ' ', '\t']), "0" | "false");
        if is_never || !broken(&group) {
            continue;
        }
        // Of two branches, keep the one that is not only for Windows.
        let last = lines[lines.len() - 1].clone();
        let is_windows = word != "ifndef" && condition.contains("WIN32") && !condition.contains('!');
        let (others, rest) = match is_windows && lines.len() == 3 {
            true => (lines[0].start..lines[1].end, last),
            false => (lines[1].start..last.end, lines[0].clone()),
        };
        dropped[behind(others.start)..behind(others.end)].fill(true);
        for range in [rest, others] {
            bytes[range].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        }
        changed = true;
    }
    // Whole lines become spaces, so no character is cut.
    if changed { String::from_utf8(bytes).ok() } else { None }
}

/// The directive of a line, after its `#`, and its condition.
fn condition(line: &str) -> (&str, &str) {
    let line = line.trim_start_matches(['#', ' ', '\t']);
    let (word, condition) = line.split_at(line.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(line.len()));
    (word, condition.trim())
}

/// The lines of conditions, with those that a backslash joins to them.
fn directives(text: &str) -> Vec<(Directive, Range<usize>)> {
    let mut found: Vec<(Directive, Range<usize>)> = Vec::new();
    let mut next = 0;
    for line in text.split_inclusive('\n') {
        let at = next + line.len() - line.trim_start().len();
        next += line.len();
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let is_joined = found.last().is_some_and(|(_, last)| at < last.end);
        let rest = rest.trim_start();
        let directive = match rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default() {
            "if" | "ifdef" | "ifndef" => Directive::If,
            "else" | "elif" | "elifdef" | "elifndef" => Directive::Else,
            "endif" => Directive::End,
            _ => continue,
        };
        if !is_joined {
            found.push((directive, at..end_of_line(text.as_bytes(), at)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_part_brackets_are_taken_off() {
        for (text, expected) in [
            (
                "#ifdef A\n  if (a) {\n#else\n  if (b) {\n#endif\n  }\n",
                Some("        \n  if (a) {\n     \n          \n      \n  }\n"),
            ),
            ("{\n# if A && \\\n  B\n}{\n# endif // é\n}\n", Some("{\n           \n   \n}{\n             \n}\n")),
            ("#if A\nvoid f();\n#endif\n", None),
            ("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint a;\n#ifdef __cplusplus\n}\n#endif\n", None),
            // The part that the inner group drops no longer counts.
            ("#if A\n#if B\n{\n#else\n{\n#endif\n}\n#endif\n", Some("#if A\n     \n{\n     \n \n      \n}\n#endif\n")),
            ("#endif\n{\n#if A\n{", None),
            ("#define A {\n#error Don't {\n", None),
        ] {
            assert_eq!(c(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn conditions_inside_members_of_csharp_are_taken_off() {
        for (text, expected) in [
            ("#if A\n[B]\n#endif\nint C;\n", Some("     \n[B]\n      \nint C;\n")),
            ("int C()\n#if A\n    => 1\n#endif\n;\n", Some("int C()\n     \n    => 1\n      \n;\n")),
            ("int C()\n#if A\n{ }\n#else\n;\n#endif\n", Some("int C()\n     \n{ }\n     \n \n      \n")),
            ("class A : B\n#if X\n, C\n#endif\n{\n}\n", Some("class A : B\n     \n, C\n      \n{\n}\n")),
            ("int A;\n#if X\nint B;\n#else\nint C() { }\n#endif\nint D;\n", None),
            ("#region A\nint A;\n#endregion\n", None),
        ] {
            assert_eq!(csharp(text).as_deref(), expected, "{text}");
        }
    }
}
