//! Finds where a text may contain given terms by the first letters of their words, without tokenizing it.

use memchr::memmem::Finder;

/// Words with irregular English stems, and the letters that word and stem have in common.
const OTHERS: [(&str, &str); 4] = [("die", "d"), ("lie", "l"), ("tie", "t"), ("sky", "sk")];

/// Prefixes of the words of some terms, in lower case.
#[derive(Clone, Debug)]
pub struct Beginnings(Vec<Finder<'static>>);

impl Beginnings {
    /// A finder for these terms, or `None` if one has non-ASCII letters: its words may begin differently.
    pub fn of<'t>(terms: impl Iterator<Item = &'t str>) -> Option<Beginnings> {
        let finder = |term: &str| term.is_ascii().then(|| Finder::new(beginning(term)).into_owned());
        terms.map(finder).collect::<Option<Vec<_>>>().map(Beginnings)
    }

    /// Calls `visit` with each place in `lower` where a token with one of the terms may begin, and skips the places
    /// before the one that `visit` returns. `text` is ASCII and `lower` is its lower case.
    pub fn each(&self, text: &[u8], lower: &[u8], mut visit: impl FnMut(usize) -> usize) {
        for finder in &self.0 {
            let mut from = 0;
            while let Some(at) = lower.get(from..).and_then(|rest| finder.find(rest)) {
                let at = from + at;
                from = at + 1;
                if may_begin(text, at) {
                    from = from.max(visit(at));
                }
            }
        }
    }
}

/// The common prefix of every word with this term. Stems lose their ends, and a few get another one: `hoping` is
/// `hope`, `parties` is `parti` as `party` is, `ability` is `abl`.
fn beginning(term: &str) -> &str {
    if let Some((_, begins)) = OTHERS.iter().find(|(other, _)| *other == term) {
        return begins;
    }
    let is_stem = term.bytes().all(|byte| byte.is_ascii_lowercase());
    let changed = match () {
        () if !is_stem => 0,
        () if term.ends_with("ble") => 2,
        () if term.ends_with(['e', 'i']) || term.ends_with("bl") => 1,
        () => 0,
    };
    &term[..term.len().saturating_sub(changed).max(1).min(term.len())]
}

/// Whether a token may begin at a place: a word, or a part of one.
fn may_begin(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| text[before]) else { return true };
    match text[at] {
        b'a'..=b'z' => !before.is_ascii_alphabetic(),
        b'0'..=b'9' => !before.is_ascii_digit(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::token::Tokenizer;

    fn places(terms: &[String], text: &str) -> Vec<usize> {
        let beginnings = Beginnings::of(terms.iter().map(String::as_str)).expect("terms of ASCII");
        let mut places = Vec::new();
        beginnings.each(text.as_bytes(), text.to_ascii_lowercase().as_bytes(), |at| {
            places.push(at);
            at
        });
        places
    }

    /// Every word built from these roots and endings begins like its stem.
    #[test]
    fn words_begin_as_their_stems_say() {
        let roots = [
            "", "hop", "hopp", "cry", "part", "dy", "ly", "ty", "sk", "ab", "abil", "vi", "na", "pro", "gener",
            "commun", "arsen", "rel", "condi", "valen", "hesi", "digi", "conform", "radic", "differ", "vile", "analog",
            "oper", "feudal", "decis", "hopeful", "callous", "formal", "sensi", "sensib", "tripl", "electr", "adjust",
            "bowdler", "effec", "activ", "proba", "poss", "cap", "siz", "troubl", "fail", "runn", "begg", "pla", "say",
            "ski", "ug", "ear", "on", "sing", "gent", "id", "out", "inn", "us", "ag", "be", "y", "yo", "enjo", "by",
        ];
        let endings = [
            "",
            "s",
            "es",
            "ies",
            "ied",
            "sses",
            "us",
            "ss",
            "eed",
            "eedly",
            "ed",
            "edly",
            "ing",
            "ingly",
            "y",
            "ying",
            "e",
            "er",
            "ers",
            "izer",
            "ization",
            "izations",
            "ize",
            "ized",
            "izing",
            "ate",
            "ated",
            "ating",
            "ation",
            "ational",
            "ator",
            "tional",
            "tion",
            "enci",
            "ency",
            "ence",
            "anci",
            "ancy",
            "ance",
            "able",
            "ably",
            "abli",
            "ability",
            "abilities",
            "ible",
            "ibly",
            "ibility",
            "ble",
            "bly",
            "bility",
            "bilities",
            "ently",
            "ent",
            "ement",
            "ment",
            "al",
            "alism",
            "ality",
            "alities",
            "ally",
            "fulness",
            "ful",
            "fully",
            "ousness",
            "ous",
            "ously",
            "iveness",
            "ive",
            "ivity",
            "ivities",
            "ogy",
            "ogi",
            "lessly",
            "less",
            "li",
            "ly",
            "icate",
            "icity",
            "ical",
            "ically",
            "ness",
            "ative",
            "alize",
            "ic",
            "ion",
            "sion",
            "ant",
            "ism",
            "iti",
            "ity",
            "l",
            "ll",
            "le",
            "led",
            "ling",
            "bing",
            "bled",
            "bling",
            "ying",
            "yed",
            "est",
            "ts",
            "zes",
            "ies's",
        ];
        let mut tokenizer = Tokenizer::default();
        for root in roots {
            for first in endings {
                for second in ["", "s", "ed", "ing", "ly", "ness", "er", "ity", "able", "y", "ies", "al"] {
                    let word = [root, first, second].concat();
                    if word.len() < 2 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                        continue;
                    }
                    let stem = tokenizer.normal(&word);
                    assert!(word.starts_with(beginning(stem)), "{word}: {stem}, {}", beginning(stem));
                }
            }
        }
        for (term, expected) in
            [("pars", "pars"), ("hope", "hop"), ("parti", "part"), ("abl", "ab"), ("max_len", "max_len"), ("sky", "sk")]
        {
            assert_eq!(beginning(term), expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

        /// Each token with one of the terms begins at one of the places.
        #[test]
        fn no_token_is_missed(text in "[a-zA-Z0-9_ .'(]{0,60}", words in "([a-zA-Z]{1,8}[ _]|[A-Za-z]{1,3}[0-9]? ){0,8}") {
            let mut tokenizer = Tokenizer::default();
            let text = [text, words].concat();
            for token in tokenizer.terms(&text) {
                let places = places(std::slice::from_ref(&token), &text);
                tokenizer.tokenize(&text, |found| {
                    // A compound begins after the leading underscores of its word.
                    let start = found.start + text[found.start..].bytes().take_while(|byte| found.compound && *byte == b'_').count();
                    assert!(found.term != token || places.contains(&start), "{token} in {text:?}");
                });
            }
        }
    }
}
