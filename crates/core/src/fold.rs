//! Letters in one form: composed (NFC), lower case, and without the final form of the Greek sigma.

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
    let lower = |c: char| c.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c });
    to.extend(composed(text).chars().flat_map(lower));
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
            ("한글", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        assert!(is_mark('\u{301}') && is_mark('\u{3099}') && !is_mark('a') && !is_mark('é'));
    }
}
