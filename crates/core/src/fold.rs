//! Letters in one form: composed (NFC), lower case, and of several small letters with one capital the usual one.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::is_nfc;

/// Whether a character is a combining mark, such as the accent of a decomposed `é`.
pub(crate) fn is_mark(c: char) -> bool {
    !c.is_ascii() && canonical_combining_class(c) != 0
}

/// The composed form (NFC) of a text.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// A text in lower case and composed form. Texts that differ only in case or Unicode normalisation fold to the same.
pub fn folded(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if is_lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_ascii_lowercase()) };
    }
    let mut lower = String::with_capacity(text.len());
    push_folded(text, &mut lower);
    Cow::Owned(lower)
}

/// Appends the [`folded`] form of a text.
pub(crate) fn push_folded(text: &str, to: &mut String) {
    to.extend(composed(text).chars().flat_map(|c| c.to_lowercase().map(usual)));
}

/// The usual one of the small letters with the same capital: `σ` for a final `ς`, `μ` for the micro sign `µ`, `s` for
/// `ſ`. The Turkish `ı` is a letter of its own.
fn usual(small: char) -> char {
    let only = |all: &mut dyn Iterator<Item = char>| all.next().filter(|_| all.next().is_none());
    if small.is_ascii() || small == 'ı' {
        return small;
    }
    let capital = only(&mut small.to_uppercase()).filter(|capital| *capital != small);
    capital.and_then(|capital| only(&mut capital.to_lowercase())).unwrap_or(small)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_normalisation_do_not_matter() {
        for (one, other) in [
            ("Café", "cafe\u{301}"),
            ("ΟΔΟΣ", "οδος"),
            ("οδός", "ΟΔΟ\u{301}Σ"),
            ("Größe", "GRO\u{308}ßE"),
            ("parseHTTP", "ParseHttp"),
            ("timeout_\u{b5}s", "timeout_\u{3bc}s"),
            ("ΜΕΓΑ\u{b5}", "\u{b5}εγα\u{3bc}"),
            ("pa\u{17f}t", "PAST"),
            ("ϕ_ϑ_ϵ", "Φ_Θ_Ε"),
            ("\u{212a}ey", "key"),
            ("한글", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        for (one, other) in [("ısı", "isi"), ("straße", "strasse"), ("ﬁn", "fin")] {
            assert_ne!(folded(one), folded(other), "{one} {other}");
        }
        assert!(is_mark('\u{301}') && is_mark('\u{3099}') && !is_mark('a') && !is_mark('é'));
    }
}
