//! Makes items of Rust readable for the grammar where a macro encloses them. Removed text becomes spaces, so that offsets
//! stay the same.

/// Words that begin an item in Rust.
const RUST_ITEMS: [&str; 15] = [
    "pub",
    "fn",
    "struct",
    "enum",
    "union",
    "trait",
    "impl",
    "mod",
    "use",
    "const",
    "static",
    "type",
    "async",
    "unsafe",
    "macro_rules",
];

/// Rust: blanks the first line and last bracket of `cfg_rt! { pub fn spawn … }`, so that its content is parsed as
/// items. Blocks of anything else (`quote! { … }`, patterns) and definitions of macros are kept.
pub(super) fn rust_items(text: &str) -> Option<String> {
    if !text.contains("! {\n") {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    let lines: Vec<(usize, &str)> =
        text.split_inclusive('\n').scan(0, |at, line| Some((*at, line)).inspect(|_| *at += line.len())).collect();
    let mut changed = false;
    // The open blocks, by indentation.
    let mut open: Vec<usize> = Vec::new();
    for (i, (start, line)) in lines.iter().enumerate() {
        let word = line.trim();
        let indentation = line.len() - line.trim_start().len();
        let blank = |bytes: &mut Vec<u8>, from: usize, length: usize| bytes[from..from + length].fill(b' ');
        if opens_items(word) && begins_item(&lines[i + 1..]) {
            open.push(indentation);
            blank(&mut bytes, start + indentation, word.len());
            changed = true;
        } else if word == "}" && open.last() == Some(&indentation) {
            open.pop();
            blank(&mut bytes, start + indentation, 1);
        }
    }
    // An unclosed block is not one.
    if !changed || !open.is_empty() {
        return None;
    }
    String::from_utf8(bytes).ok()
}

/// `name! {` alone on its line; `macro_rules! name {` has another form, and quoted code is not an item.
fn opens_items(line: &str) -> bool {
    let name = line.strip_suffix("! {").unwrap_or_default();
    !name.is_empty()
        && !name.contains("quote")
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == ':')
}

/// Whether the first line that is not blank, a comment or an attribute begins an item.
fn begins_item(lines: &[(usize, &str)]) -> bool {
    let mut inside_attribute = false;
    for (_, line) in lines {
        let word = line.trim();
        if inside_attribute {
            inside_attribute = !word.ends_with(']');
            continue;
        }
        if word.is_empty() || word.starts_with("//") {
            continue;
        }
        if word.starts_with('#') {
            inside_attribute = !word.ends_with(']');
            continue;
        }
        let first = word.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
        // Names of values, as in a map's pattern, are not followed by an item.
        return RUST_ITEMS.contains(&first) && !word.contains("=>") || opens_items(word);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_of_items_are_taken_off() {
        for (text, expected) in [
            (
                "cfg_rt! {\n    /// Doc.\n    #[inline]\n    pub fn spawn() {\n    }\n}\n",
                Some("         \n    /// Doc.\n    #[inline]\n    pub fn spawn() {\n    }\n \n"),
            ),
            (
                "io! {\n    macro_rules! m {\n        () => {};\n    }\n}\n",
                Some("     \n    macro_rules! m {\n        () => {};\n    }\n \n"),
            ),
            ("a! {\n    b! {\n        fn f() {}\n    }\n}\n", Some("    \n        \n        fn f() {}\n     \n \n")),
            ("quote! {\n    fn #name() {}\n}\n", None),
            ("macro_rules! m {\n    () => { fn f() {} };\n}\n", None),
            ("vec! {\n    1, 2\n}\n", None),
            ("cfg_rt! {\n    fn open() {\n", None),
        ] {
            assert_eq!(rust_items(text).as_deref(), expected, "{text}");
        }
    }
}
