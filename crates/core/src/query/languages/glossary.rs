//! A sorted table of terms, searched in place: nothing is read or allocated before the first look-up.

/// Lines of `key TAB english [TAB term]`, sorted by key. A key is a word's stem, a run of stems, `=` and a whole word, or
/// a text without spaces between words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glossary {
    lines: &'static str,
}

impl Glossary {
    pub(super) const fn new(lines: &'static str) -> Glossary {
        Glossary { lines }
    }

    /// The English of a key; empty for a word that carries only the form of a question.
    pub(super) fn get(&self, key: &str) -> Option<&'static str> {
        let (own, english) = split(self.line_at(self.lower_bound(key)));
        (own == key && !key.is_empty()).then_some(english)
    }

    /// Whether some key begins like this.
    pub(super) fn has_prefix(&self, prefix: &str) -> bool {
        self.line_at(self.lower_bound(prefix)).starts_with(prefix)
    }

    /// The longest key that the text begins with: its length in bytes, and its English.
    pub(super) fn longest(&self, text: &str) -> Option<(usize, &'static str)> {
        let mut found = None;
        for (at, c) in text.char_indices() {
            let prefix = &text[..at + c.len_utf8()];
            let line = self.line_at(self.lower_bound(prefix));
            if !line.starts_with(prefix) {
                break;
            }
            let (key, english) = split(line);
            if key == prefix {
                found = Some((prefix.len(), english));
            }
        }
        found
    }

    /// Where the first line begins whose key is not below `key`.
    fn lower_bound(&self, key: &str) -> usize {
        let bytes = self.lines.as_bytes();
        let (mut low, mut high) = (0, bytes.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let start = memchr::memrchr(b'\n', &bytes[low..middle]).map_or(low, |at| low + at + 1);
            let line = self.line_at(start);
            if split(line).0 < key {
                low = (start + line.len() + 1).min(bytes.len());
            } else {
                high = start;
            }
        }
        low
    }

    fn line_at(&self, start: usize) -> &'static str {
        let rest = &self.lines[start..];
        &rest[..memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())]
    }

    #[cfg(test)]
    pub(super) fn lines(&self) -> impl Iterator<Item = &'static str> {
        self.lines.lines()
    }
}

/// The key and the English of a line.
fn split(line: &'static str) -> (&'static str, &'static str) {
    let (key, rest) = line.split_once('\t').unwrap_or((line, ""));
    (key, rest.split_once('\t').map_or(rest, |(english, _)| english))
}
