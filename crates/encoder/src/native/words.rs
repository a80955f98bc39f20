//! Splits text into words for the embedded model's vocabulary.
//!
//! A word is a match of `\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\p{Nd}+|\p{Lo}`, leftmost alternatives first:
//! the parts of identifiers at case changes, runs of digits, and single letters of scripts without case. Everything
//! else separates. The classes are Unicode's general categories.

use std::ops::Range;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// The class of a character in the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharRule {
    /// `\p{Lu}`
    Upper,
    /// `\p{Ll}`
    Lower,
    /// `\p{Nd}`
    Digit,
    /// `\p{Lo}`
    Letter,
    /// Separates words.
    Other,
}

/// Classes of the ASCII characters, which are most of source code.
const ASCII: [CharRule; 128] = {
    let mut table = [CharRule::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'A'..=b'Z' => CharRule::Upper,
            b'a'..=b'z' => CharRule::Lower,
            b'0'..=b'9' => CharRule::Digit,
            _ => CharRule::Other,
        };
        byte += 1;
    }
    table
};

/// The words of a text as byte ranges, in order.
pub(crate) struct Words<'a> {
    text: &'a str,
    position: usize,
}

/// Begins to split `text`.
pub(crate) fn words(text: &str) -> Words<'_> {
    Words { text, position: 0 }
}

impl Words<'_> {
    /// Class and length in bytes of the character at `position`; `Other` and 0 at the end.
    #[inline]
    fn at(&self, position: usize) -> (CharRule, usize) {
        match self.text.as_bytes().get(position) {
            None => (CharRule::Other, 0),
            Some(&byte) if byte < 128 => (ASCII[usize::from(byte)], 1),
            Some(_) => wide(self.text, position),
        }
    }

    /// Where the run of `class` at `position` ends, and where its last character begins.
    #[inline]
    fn run(&self, class: CharRule, mut position: usize) -> (usize, usize) {
        let mut last = position;
        loop {
            let (found, len) = self.at(position);
            if found != class || len == 0 {
                return (position, last);
            }
            (last, position) = (position, position + len);
        }
    }
}

/// [`Words::at`] beyond ASCII.
#[cold]
fn wide(text: &str, position: usize) -> (CharRule, usize) {
    let Some(char) = text[position..].chars().next() else { return (CharRule::Other, 0) };
    let class = match char.general_category() {
        GeneralCategory::UppercaseLetter => CharRule::Upper,
        GeneralCategory::LowercaseLetter => CharRule::Lower,
        GeneralCategory::DecimalNumber => CharRule::Digit,
        GeneralCategory::OtherLetter => CharRule::Letter,
        _ => CharRule::Other,
    };
    (class, char.len_utf8())
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let start = self.position;
            let (class, len) = self.at(start);
            let end = match class {
                CharRule::Other if len == 0 => return None,
                CharRule::Other => {
                    self.position += len;
                    continue;
                }
                CharRule::Letter => start + len,
                CharRule::Digit | CharRule::Lower => self.run(class, start).0,
                CharRule::Upper => {
                    let (end, last) = self.run(class, start);
                    match self.at(end).0 {
                        CharRule::Lower if last == start => self.run(CharRule::Lower, end).0,
                        // The last capital begins the next word: `HTTPServer` is `HTTP`, `Server`.
                        CharRule::Lower => last,
                        _ => end,
                    }
                }
            };
            self.position = end;
            return Some(start..end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples() {
        for (text, expected) in [
            ("parseHTTPRequest2", "parse HTTP Request 2"),
            ("snake_case CONST_NAME", "snake case CONST NAME"),
            ("iPhone X11 aB", "i Phone X 11 a B"),
            ("İstanbul Über straße ΑΒΓδ", "İstanbul Über straße ΑΒ Γδ"),
            ("検索 語", "検 索 語"),
            ("٣٤ ⅷ ǅ e\u{301}", "٣٤ e"),
            ("", ""),
        ] {
            let found: Vec<&str> = words(text).map(|range| &text[range]).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    proptest::proptest! {
        /// Compares the scanner with the rule itself, run by a regex engine.
        #[test]
        fn equal_to_the_rule(text in "([a-zA-Z0-9_ .ÀÉßéΑδ語٣ǅʰ]|\\PC){0,40}") {
            // `regex` has no look-ahead: the acronym rule is the shortest first alternative, tried by hand.
            let rule = regex::Regex::new(r"^(?:\p{Lu}?\p{Ll}+|\p{Lu}+|\p{Nd}+|\p{Lo})").unwrap();
            let acronym = regex::Regex::new(r"^(\p{Lu}+)\p{Lu}\p{Ll}").unwrap();
            let (mut expected, mut at) = (Vec::new(), 0);
            while at < text.len() {
                let rest = &text[at..];
                let len = match acronym.captures(rest) {
                    Some(found) => found[1].len(),
                    None => rule.find(rest).map_or(0, |found| found.len()),
                };
                if len > 0 {
                    expected.push(at..at + len);
                }
                at += if len > 0 { len } else { rest.chars().next().unwrap().len_utf8() };
            }
            proptest::prop_assert_eq!(words(&text).collect::<Vec<_>>(), expected);
        }
    }
}
