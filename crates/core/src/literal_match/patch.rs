//! Lines that version control adds to those of a file: conflict markers, headers of patches and hunks.

const CONFLICT: &[&str] = &["<<<<<<<", "|||||||", "=======", ">>>>>>>"];
/// Beginnings of the lines before a patch's first hunk.
const HEADS: &[&str] = &["diff ", "index ", "--- ", "+++ "];

/// The first lines of a file inside such markers; `None` if the text does not begin with one.
pub(super) fn inside_marks(text: &str) -> Option<&str> {
    let (mut rest, mut is_inside) = (text, false);
    while let Some((line, behind)) = rest.split_once('\n') {
        if !is_mark(line) && !HEADS.iter().any(|head| line.starts_with(head)) {
            break;
        }
        is_inside |= is_mark(line);
        rest = behind;
    }
    let end = rest.split_inclusive('\n').take_while(|line| !is_mark(line)).map(str::len).sum();
    let inside = rest[..end].trim_end();
    (is_inside && inside.contains(char::is_alphanumeric)).then_some(inside)
}

fn is_mark(line: &str) -> bool {
    CONFLICT.iter().any(|mark| line.starts_with(mark)) || is_head_of_hunk(line)
}

/// `@@ -12,7 +12,8 @@ fn open(port: u16) {`
fn is_head_of_hunk(line: &str) -> bool {
    line.strip_prefix("@@ ").is_some_and(|rest| rest.starts_with(['-', '+']) && rest.contains(" @@"))
}

#[cfg(test)]
mod tests {
    use super::inside_marks;

    #[test]
    fn lines_are_told_from_the_marks_around_them() {
        for (text, expected) in [
            ("<<<<<<< HEAD\n  open(port);\n=======\n  open(host);\n>>>>>>> main", Some("  open(port);")),
            ("<<<<<<< HEAD\n=======\nopen(host);\n>>>>>>> main", Some("open(host);")),
            ("<<<<<<< HEAD\nopen(port);", Some("open(port);")),
            ("@@ -12,7 +12,8 @@ fn run() {\n open(port);\n+close();\n", Some(" open(port);\n+close();")),
            ("diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n c", Some("-a\n+b")),
            ("open(port);\n=======\nopen(host);", None),
            ("--- a\nopen(port);", None),
            ("@@count\nopen(port);", None),
            ("<<<<<<< HEAD", None),
            ("", None),
        ] {
            assert_eq!(inside_marks(text), expected, "{text}");
        }
    }
}
