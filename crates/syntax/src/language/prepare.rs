//! Texts that a grammar can read in place of what people write. Each is as long, in bytes, as the file's.

use std::iter::repeat_n;

/// Bash: as [`bats_tests`] and [`narrow`] have it.
pub(super) fn bash(text: &str) -> Option<String> {
    let tests = bats_tests(text);
    narrow(tests.as_deref().unwrap_or(text)).or(tests)
}

/// Characters beyond Latin-1 as letters. The scanners of Bash and Markdown ask C's `isdigit` about any character, and its
/// table has 256 entries: what lies far behind it can't be read, and the process ends.
pub(super) fn narrow(text: &str) -> Option<String> {
    let is_wide = |c: char| c > '\u{FF}';
    let narrowed = |c| if is_wide(c) { repeat_n('x', c.len_utf8()) } else { repeat_n(c, 1) };
    text.contains(is_wide).then(|| text.chars().flat_map(narrowed).collect())
}

/// Bats: a test's block as a command of its own, which is how the grammar of Bash reads it: `@test "…" ;{`.
fn bats_tests(text: &str) -> Option<String> {
    edit_lines(text, "@test ", |line| {
        if line.trim_ascii_start().starts_with(b"@test ") && line.trim_ascii_end().ends_with(b" {") {
            let brace = line.trim_ascii_end().len() - 1;
            line[brace - 1] = b';';
        }
    })
}

/// Swift: without the lines of conditional compilation. They may stand between any two lines, and the grammar
/// knows them between statements only.
pub(super) fn swift_conditions(text: &str) -> Option<String> {
    edit_lines(text, "#if", |line| {
        let directive = line.trim_ascii();
        // A character of several bytes must not be cut into spaces: what the grammar finds ends between characters.
        if ["#if", "#else", "#endif"].iter().any(|d| directive.starts_with(d.as_bytes())) && directive.is_ascii() {
            line.fill(b' ');
        }
    })
}

/// The text with `edit` applied to each line, if it holds `marker` at all. `edit` writes only ASCII over ASCII.
fn edit_lines(text: &str, marker: &str, edit: impl Fn(&mut [u8])) -> Option<String> {
    if !text.contains(marker) {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    bytes.split_mut(|&b| b == b'\n').for_each(edit);
    String::from_utf8(bytes).ok()
}
