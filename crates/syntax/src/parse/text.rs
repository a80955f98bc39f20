//! Cleans names, comments and lists as written.

use super::{DOCSTRING_BYTES_MAX, NAME_BYTES_MAX};

/// Adds `more` to `text` on a line of its own.
pub(super) fn push_line(text: &mut String, more: &str) {
    let more = more.trim();
    if more.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

/// Cuts `text` to at most `bytes_max` bytes, at a character boundary.
pub(super) fn truncate(text: &mut String, bytes_max: usize) {
    text.truncate(text.floor_char_boundary(bytes_max));
}

/// Words after `#` of lines for C#'s preprocessor that may be inside a definition.
const DIRECTIVES: [&str; 6] = ["if", "elif", "else", "endif", "nullable", "pragma"];

/// Whether a line is a directive for C#'s preprocessor.
pub(super) fn is_directive(line: &str) -> bool {
    let name = line.trim_start().strip_prefix('#').and_then(|rest| rest.split_whitespace().next());
    name.is_some_and(|name| DIRECTIVES.contains(&name))
}

/// `text` without its lines for C#'s preprocessor, and without all but the first branch.
pub(super) fn without_directives(text: &str) -> String {
    let mut is_other = false;
    let is_kept = |line: &&str| {
        let word = line.trim_start().trim_start_matches(['#', ' ', '\t']);
        match is_directive(line) {
            true => is_other = (is_other || word.starts_with("el")) && !word.starts_with("endif"),
            false => return !is_other,
        }
        false
    };
    text.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}

/// `text` with every run of white space as one space, cut to `bytes_max` bytes.
pub(super) fn fold_space(text: &str, bytes_max: usize) -> String {
    let cut = &text[..text.floor_char_boundary(bytes_max.saturating_mul(2))];
    let mut folded = String::with_capacity(cut.len());
    for word in cut.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    truncate(&mut folded, bytes_max);
    folded
}

/// Adds a name to those that enclose it.
pub(super) fn push_part(names: &mut String, name: &str) {
    if !names.is_empty() && !name.is_empty() {
        names.push('.');
    }
    names.push_str(name);
}

/// `text` without the quotes around it, if one pair of them is around the whole.
pub(super) fn unquote(text: &str) -> &str {
    let inner =
        ['"', '\'', '`'].into_iter().find_map(|quote| Some((quote, text.strip_prefix(quote)?.strip_suffix(quote)?)));
    match inner {
        Some((quote, inner)) => {
            let mut escaped = false;
            let ends = inner.chars().any(|c| {
                let ends = c == quote && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            if ends { text } else { inner }
        }
        None => text,
    }
}

/// A name as written, without quotes, type arguments or line breaks.
pub(super) fn clean_name(text: &str) -> String {
    let text = text.trim();
    // A symbol of Ruby or Elixir.
    let text = match text.strip_prefix(':') {
        Some(symbol) if symbol.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'')) => symbol,
        _ => text,
    };
    let unquoted = unquote(text);
    let name = if unquoted.len() < text.len() { unquoted } else { without_type_arguments(text) };
    fold_space(name, NAME_BYTES_MAX)
}

/// `Map<K, V>` → `Map`; anything else unchanged (operators such as `<=>` too).
pub(super) fn without_type_arguments(name: &str) -> &str {
    if !name.ends_with('>') {
        return name;
    }
    let mut depth = 0u32;
    for (i, c) in name.char_indices().rev() {
        match c {
            // The arrow of a function type is not a closing bracket.
            '>' if name[..i].ends_with(['-', '=']) => {}
            '>' => depth += 1,
            '<' if depth == 1 && name[..i].ends_with(|c: char| c.is_alphanumeric() || c == '_') => return &name[..i],
            '<' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    name
}

/// A title as written, on one line, without quotes around it.
pub(super) fn clean_title(text: &str) -> String {
    fold_space(unquote(text.trim()), NAME_BYTES_MAX)
}

/// A title without the attributes that some dialects append: `Setup {#setup .wide}`.
pub(super) fn without_attributes(title: &str) -> &str {
    let parts = title.strip_suffix('}').and_then(|title| title.rsplit_once('{'));
    let is_attribute = |inner: &str| inner.trim_start().starts_with(['#', '.', ':']) || inner.contains('=');
    match parts {
        Some((before, inner)) if is_attribute(inner) && !before.trim().is_empty() => before.trim_end(),
        _ => title,
    }
}

/// The rendered text of a Markdown heading: links reduced to their text, no images, no HTML tags, no closing `#`s.
pub(super) fn clean_heading(text: &str) -> String {
    // Longer than any real heading.
    let text = text.trim();
    let text = without_attributes(text[..text.floor_char_boundary(8 * NAME_BYTES_MAX)].trim_end());
    let open = text.trim_end_matches('#');
    let mut rest = if open.is_empty() || open.ends_with(char::is_whitespace) { open } else { text };
    let mut plain = String::with_capacity(rest.len());
    while let Some(at) = rest.find(['`', '<', '[', '!']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_image = rest.starts_with("![");
        let taken = match rest.as_bytes()[0] {
            b'`' => rest[1..].find('`').map(|end| (&rest[..end + 2], end + 2)),
            b'<' => html_tag(rest).map(|end| ("", end)),
            b'!' if !is_image => None,
            _ => link(&rest[usize::from(is_image)..]).map(|(text, end)| match is_image {
                true => ("", end + 1),
                false => (text, end),
            }),
        };
        // Images and tags in a link's text are removed, too.
        let (shown, end) = taken.unwrap_or((&rest[..1], 1));
        match shown.starts_with("![") {
            true => plain.push_str(&clean_heading(shown)),
            false => plain.push_str(shown),
        }
        rest = &rest[end..];
    }
    plain.push_str(rest);
    clean_title(&plain)
}

/// The length of the HTML tag that `text` begins with. Type arguments (`<T>`, `<https://…>`) are not tags.
pub(super) fn html_tag(text: &str) -> Option<usize> {
    let name = text[1..].strip_prefix('/').unwrap_or(&text[1..]);
    let after = name.trim_start_matches(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let is_tag = name.starts_with(|c: char| c.is_ascii_lowercase()) && after.starts_with([' ', '/', '>']);
    if is_tag { text.find('>').map(|end| end + 1) } else { None }
}

/// The text of the link that `text` begins with (`[text](target)`, `[text][label]`), and the link's length.
pub(super) fn link(text: &str) -> Option<(&str, usize)> {
    let mut depth = 0;
    let (middle, _) = text.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '[') - i32::from(*c == ']');
        depth == 0
    })?;
    let target = &text[middle + 1..];
    let end = match target.as_bytes().first()? {
        b'(' => target.find(')')?,
        b'[' => target.find(']')?,
        _ => return None,
    };
    Some((&text[1..middle], middle + 1 + end + 1))
}

/// Marks that may open or close a comment or a string of documentation.
pub(super) const MARKERS: [&str; 29] = [
    "\"\"\"", "'''", "r\"\"\"", "~S\"\"\"", "{-|", "{-", "-}", "(**", "(*", "*)", "<!--", "-->", "--[[", "]]", "<#",
    "#>", "{{--", "--}}", "{{!--", "{{/*", "*/}}", "{{- /*", "<%#", "%>", "{#", "#}", "@*", "*@", "-/",
];

/// A comment's text without its markers; with `xml`, `///` lines lose their tags.
pub(super) fn clean_comment(comment: &str, xml: bool) -> String {
    let comment = without_doc_call(comment.trim());
    let comment = &comment[..comment.floor_char_boundary(2 * DOCSTRING_BYTES_MAX)];
    let mut text = String::with_capacity(comment.len());
    for line in comment.lines() {
        let mut line = line.trim();
        let is_xml = xml && line.starts_with("///");
        for marker in MARKERS.iter().chain(&["=begin", "=end"]) {
            // Most lines differ in the first and last byte, which is cheaper to see than to compare texts.
            if line.as_bytes().first() == marker.as_bytes().first() {
                line = line.strip_prefix(marker).unwrap_or(line);
            }
            if line.as_bytes().last() == marker.as_bytes().last() {
                line = line.strip_suffix(marker).unwrap_or(line);
            }
        }
        let line = line.trim_start();
        // Roxygen; marks of Basic, Vim and batch files, m4.
        let mark = ["#'", "' ", "\" ", "rem ", "REM ", "Rem ", "@rem ", ":: ", "dnl "];
        let line = mark.into_iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
        let line = line.trim_start_matches(['/', '*', '#', '!', ';', '%', '|']).trim_start();
        let line = line.strip_prefix("--").map_or(line, |rest| rest.trim_start_matches('-').trim_start());
        let line = line.trim_start_matches(['-', '|', '^']);
        let line = line.strip_suffix("**/").unwrap_or(line).trim_end_matches("*/").trim();
        match is_xml {
            true => push_line(&mut text, &without_tags(line)),
            false => push_line(&mut text, line),
        }
    }
    text
}

/// The string of `@doc "…"` (Elixir) and `desc "…"` (Rake); any other comment unchanged, without a plain pair of quotes
/// around it.
pub(super) fn without_doc_call(comment: &str) -> &str {
    let string = ["@doc", "@moduledoc", "@typedoc", "@shortdoc", "desc"].into_iter().find_map(|name| {
        let argument = comment.strip_prefix(name)?.trim_start_matches([' ', '(']);
        let argument = argument.strip_prefix("~S").or_else(|| argument.strip_prefix("~s")).unwrap_or(argument);
        argument.starts_with(['"', '\'']).then(|| argument.trim_end_matches(')'))
    });
    let text = string.unwrap_or(comment);
    if text.starts_with("\"\"\"") || text.starts_with("'''") { text } else { unquote(text) }
}

/// `line` without XML tags; `<see cref="Name"/>` becomes the name.
pub(super) fn without_tags(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = rest[1..].strip_prefix('/').unwrap_or(&rest[1..]);
        match rest.find('>').filter(|_| name.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
            Some(end) => {
                let tag = &rest[..end];
                if tag.ends_with('/') {
                    plain.push_str(tag.split(['"', '\'']).nth(1).unwrap_or_default());
                }
                rest = &rest[end + 1..];
            }
            None => {
                plain.push('<');
                rest = &rest[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// The items of a written list: `(a, b: T<U, V> = f(1, 2))` → `a`, `b: T<U, V>`.
pub(super) fn split_list(text: &str) -> Vec<String> {
    let inner = without_parentheses(text.trim());
    let mut items = Vec::new();
    let (mut start, mut end) = (0, None);
    for (i, c, depth) in depths(inner) {
        let is_alone = || inner[..i].ends_with(char::is_whitespace) && inner[i + 1..].starts_with(char::is_whitespace);
        match c {
            ',' if depth == 0 => {
                items.push(&inner[start..end.unwrap_or(i)]);
                (start, end) = (i + 1, None);
            }
            // The default value.
            '=' if depth == 0 && end.is_none() && is_alone() => end = Some(i),
            _ => {}
        }
    }
    items.push(&inner[start..end.unwrap_or(inner.len())]);
    items.into_iter().map(|item| fold_space(item, NAME_BYTES_MAX)).filter(|item| !item.is_empty()).collect()
}

/// `text` without the parentheses around it, if one pair is around the whole.
pub(super) fn without_parentheses(text: &str) -> &str {
    let closed_at = depths(text).find(|&(_, c, depth)| c == ')' && depth == 0).map(|(i, ..)| i);
    match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inner) if closed_at == Some(text.len() - 1) => inner,
        _ => text,
    }
}

/// Every character with its offset and the number of open brackets after it. Strings in double quotes are skipped.
pub(super) fn depths(text: &str) -> impl Iterator<Item = (usize, char, u32)> {
    let (mut depth, mut before, mut in_string) = (0u32, ' ', false);
    text.char_indices().filter_map(move |(i, c)| {
        let last = std::mem::replace(&mut before, c);
        if c == '"' && last != '\\' {
            in_string = !in_string;
        } else if in_string {
            return None;
        }
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            // An arrow is not a closing bracket.
            '>' if matches!(last, '-' | '=') => {}
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        Some((i, c, depth))
    })
}

/// A rendered title of reStructuredText: without back-ticks and roles (`:ref:`), links reduced to their text.
pub(super) fn clean_underlined(title: &str) -> String {
    let title = without_attributes(title);
    let mut plain = String::with_capacity(title.len());
    let mut rest = title;
    while let Some(at) = rest.find('`') {
        let before = &rest[..at];
        let role = before.strip_suffix(':').and_then(|b| Some(&b[b.rfind(':')? + 1..]));
        let is_role =
            role.is_some_and(|r| !r.is_empty() && r.chars().all(|c| c.is_ascii_alphanumeric() || "-+.:".contains(c)));
        plain.push_str(&before[..before.len() - role.filter(|_| is_role).map_or(0, |r| r.len() + 2)]);
        rest = rest[at..].trim_start_matches('`');
        let Some(end) = rest.find('`') else { break };
        let inner = &rest[..end];
        let shown =
            inner.split_once(" <").filter(|(_, target)| target.ends_with('>')).map_or(inner, |(shown, _)| shown);
        plain.push_str(shown.trim_start_matches(['~', '!']));
        rest = rest[end..].trim_start_matches('`');
        rest = rest.strip_prefix('_').filter(|r| !r.starts_with(char::is_alphanumeric)).unwrap_or(rest);
    }
    plain.push_str(rest);
    plain
}

/// A rendered title of AsciiDoc: without a closing row and anchors.
pub(super) fn clean_row(title: &str) -> String {
    let open = title.trim_end_matches(['=', '#']);
    let title = if open.ends_with(' ') { open.trim_end() } else { title };
    let mut plain = title.to_string();
    while let Some(start) = plain.find("[[")
        && let Some(length) = plain[start..].find("]]")
    {
        plain.replace_range(start..start + length + 2, "");
    }
    plain.trim().to_string()
}
