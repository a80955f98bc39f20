//! Words of languages with spaces: their stems, participles and compounds.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

use super::glossary::Glossary;
use super::natural::{NaturalLanguage, is_english};
use crate::fold::composed;

/// Minimum of letters in each part of a German compound.
const LETTERS_OF_A_PART_MIN: usize = 3;
/// The same of an English word in one.
const LETTERS_OF_A_LOAN_MIN: usize = 4;
/// Maximum of bytes in a compound: longer words are data.
const BYTES_OF_A_COMPOUND_MAX: usize = 48;
/// Maximum of parts in a compound.
const PARTS_MAX: usize = 4;
/// Maximum of words in a term.
const WORDS_OF_A_TERM_MAX: usize = 5;
/// Letters that join the parts of a compound.
const LINKS: [&str; 6] = ["", "s", "es", "n", "en", "e"];
/// Prefixes that a participle's `ge` and an infinitive's `zu` follow.
const SEPARABLE: [&str; 24] = [
    "ab", "an", "auf", "aus", "bei", "bereit", "durch", "ein", "fest", "frei", "her", "herunter", "hin", "hinzu",
    "hoch", "nach", "um", "vor", "weg", "weiter", "wieder", "zu", "zurück", "zusammen",
];
/// Endings of German verbs that the stemmer leaves or cuts elsewhere than in the infinitive.
const WEAK_ENDINGS: [&str; 12] = ["etest", "enden", "ende", "eten", "ete", "end", "est", "et", "ten", "te", "st", "t"];
/// Endings of Spanish and Portuguese words that the stemmer confuses with others, each with those that it knows.
const VERB_ENDINGS: [(&str, &[&str]); 17] = [
    ("ares", &["ar"]),
    ("eres", &["er"]),
    ("ores", &["or"]),
    ("adas", &["ar"]),
    ("ados", &["ar"]),
    ("ada", &["ar"]),
    ("ado", &["ar"]),
    ("idas", &["er", "ir"]),
    ("idos", &["er", "ir"]),
    ("ida", &["er", "ir", "idar"]),
    ("ido", &["er", "ir"]),
    ("an", &["ar"]),
    ("am", &["ar"]),
    ("en", &["er", "ir"]),
    ("em", &["er", "ir"]),
    ("a", &["ar"]),
    ("e", &["er", "ir"]),
];
/// Endings that the stemmer does not know, or that people type without accents, each with the form that it knows.
const ENDINGS: [(NaturalLanguage, &str, &str); 16] = [
    (NaturalLanguage::Spanish, "cion", "ción"),
    (NaturalLanguage::Spanish, "sion", "sión"),
    (NaturalLanguage::Portuguese, "ções", "ção"),
    (NaturalLanguage::Portuguese, "coes", "ção"),
    (NaturalLanguage::Portuguese, "cao", "ção"),
    (NaturalLanguage::Portuguese, "sões", "são"),
    (NaturalLanguage::Portuguese, "soes", "são"),
    (NaturalLanguage::Portuguese, "sao", "são"),
    (NaturalLanguage::Portuguese, "ões", "ão"),
    (NaturalLanguage::Portuguese, "ais", "al"),
    (NaturalLanguage::Portuguese, "eis", "el"),
    (NaturalLanguage::Portuguese, "ens", "em"),
    (NaturalLanguage::French, "ions", "ion"),
    (NaturalLanguage::French, "eaux", "eau"),
    (NaturalLanguage::French, "aux", "al"),
    (NaturalLanguage::French, "ee", "ée"),
];

/// The key of a word in a glossary: its stem without accents.
pub(super) fn stem(language: NaturalLanguage, word: &str) -> String {
    let algorithm = match language {
        NaturalLanguage::Russian => Algorithm::Russian,
        NaturalLanguage::Spanish => Algorithm::Spanish,
        NaturalLanguage::German => Algorithm::German,
        NaturalLanguage::French => Algorithm::French,
        NaturalLanguage::Portuguese => Algorithm::Portuguese,
        _ => return word.to_string(),
    };
    let ending = ENDINGS.iter().find(|(own, ending, _)| *own == language && word.ends_with(ending));
    let word = match ending {
        Some((_, ending, known)) => Cow::Owned(format!("{}{known}", &word[..word.len() - ending.len()])),
        None if language == NaturalLanguage::Russian => Cow::Owned(word.replace('ё', "е")),
        None => Cow::Borrowed(word),
    };
    without_accents(&Stemmer::create(algorithm).stem(&word)).into_owned()
}

/// A lower-case text without the accents of Latin letters, and with `е` for `ё`.
pub(super) fn without_accents(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let plain = |c: char| match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => "a",
        'ç' => "c",
        'è' | 'é' | 'ê' | 'ë' => "e",
        'ì' | 'í' | 'î' | 'ï' => "i",
        'ñ' => "n",
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' => "o",
        'ù' | 'ú' | 'û' | 'ü' => "u",
        'ÿ' => "y",
        'ß' => "ss",
        'œ' => "oe",
        'æ' => "ae",
        'ё' => "е",
        _ => "",
    };
    let mut bare = String::with_capacity(text.len());
    for c in composed(text).chars() {
        match plain(c) {
            "" => bare.push(c),
            plain => bare.push_str(plain),
        }
    }
    Cow::Owned(bare)
}

/// The English of a lower-case word in any of its forms.
pub(super) fn english_of(language: NaturalLanguage, glossary: &Glossary, word: &str) -> Option<Cow<'static, str>> {
    if let Some(english) = by_stem(language, glossary, word) {
        return Some(Cow::Borrowed(english));
    }
    if matches!(language, NaturalLanguage::Spanish | NaturalLanguage::Portuguese) {
        return of_romance_verb(language, glossary, word).map(Cow::Borrowed);
    }
    if language != NaturalLanguage::German {
        return None;
    }
    let umlauts = word.replace("ae", "ä").replace("oe", "ö").replace("ue", "ü");
    let spellings = [word, &umlauts];
    let spellings = || spellings.iter().take(if umlauts == word { 1 } else { 2 });
    if let Some(english) = spellings().find_map(|word| of_german_verb(glossary, word)) {
        return Some(Cow::Borrowed(english));
    }
    spellings().find_map(|word| of_compound(glossary, word, PARTS_MAX)).map(Cow::Owned)
}

/// The longest term of several words that some lower-case words begin with: their number, and the term's English.
pub(super) fn term_of_words<'a>(
    language: NaturalLanguage,
    glossary: &Glossary,
    words: impl Iterator<Item = Cow<'a, str>>,
) -> Option<(usize, &'static str)> {
    let (mut key, mut found) = (String::new(), None);
    for (at, word) in words.take(WORDS_OF_A_TERM_MAX).enumerate() {
        if at > 0 {
            key.push(' ');
        }
        key.push_str(&stem(language, &word));
        if at > 0
            && let Some(english) = glossary.get(&key)
        {
            found = Some((at + 1, english));
        }
        if !glossary.has_prefix(&key) {
            break;
        }
    }
    found
}

/// The English of a word as it is, or of its stem.
pub(super) fn by_stem(language: NaturalLanguage, glossary: &Glossary, word: &str) -> Option<&'static str> {
    glossary.get(&format!("={}", without_accents(word))).or_else(|| glossary.get(&stem(language, word)))
}

/// The English of a Spanish or Portuguese verb by its infinitive.
fn of_romance_verb(language: NaturalLanguage, glossary: &Glossary, word: &str) -> Option<&'static str> {
    let bare = without_accents(word);
    let of_infinitive = |word: &str| {
        VERB_ENDINGS.iter().find_map(|(ending, infinitives)| {
            let root = word.strip_suffix(ending).filter(|root| root.chars().count() >= LETTERS_OF_A_PART_MIN)?;
            infinitives.iter().find_map(|infinitive| glossary.get(&stem(language, &format!("{root}{infinitive}"))))
        })
    };
    of_infinitive(word).or_else(|| of_infinitive(&bare))
}

/// The English of a German verb: `geöffnet`, `hochgeladen`, `aufzurufen`, `verbindet`.
fn of_german_verb(glossary: &Glossary, word: &str) -> Option<&'static str> {
    let separable = SEPARABLE.iter().filter_map(|prefix| Some((*prefix, word.strip_prefix(prefix)?)));
    let inside = separable.filter_map(|(prefix, rest)| {
        let rest = rest.strip_prefix("ge").or_else(|| rest.strip_prefix("zu"))?;
        Some(format!("{prefix}{rest}"))
    });
    let whole = word.strip_prefix("ge").map(str::to_string);
    let bare: Vec<String> = inside.chain(whole).chain([word.to_string()]).collect();
    bare.iter().find_map(|word| {
        let infinitive = |ending: &str| {
            let root = word.strip_suffix(ending).filter(|root| root.chars().count() >= LETTERS_OF_A_PART_MIN)?;
            by_stem(NaturalLanguage::German, glossary, &format!("{root}en"))
        };
        by_stem(NaturalLanguage::German, glossary, word)
            .or_else(|| WEAK_ENDINGS.iter().find_map(|ending| infinitive(ending)))
    })
}

/// The English of a German compound, part by part: `Verbindungspool` is "connection pool".
fn of_compound(glossary: &Glossary, word: &str, parts: usize) -> Option<String> {
    if parts < 2 || word.len() > BYTES_OF_A_COMPOUND_MAX {
        return None;
    }
    let cuts: Vec<usize> = word.char_indices().map(|(at, _)| at).skip(LETTERS_OF_A_PART_MIN).collect();
    let cuts = cuts.iter().rev().skip(LETTERS_OF_A_PART_MIN - 1);
    let halves = cuts.map(|cut| word.split_at(*cut));
    halves.filter(|(first, rest)| !(is_english(first) && is_english(rest))).find_map(|(first, rest)| {
        let first = of_first_part(glossary, first)?;
        let rest = match by_stem(NaturalLanguage::German, glossary, rest).filter(|english| !english.is_empty()) {
            Some(english) => english.to_string(),
            None if is_loan(rest) => rest.to_string(),
            None => of_compound(glossary, rest, parts - 1)?,
        };
        Some(format!("{first} {rest}"))
    })
}

/// Whether a part of a compound is an English word: the pool of `Verbindungspool`.
fn is_loan(part: &str) -> bool {
    part.len() >= LETTERS_OF_A_LOAN_MIN && is_english(part)
}

/// The English of a part that another one follows.
fn of_first_part(glossary: &Glossary, part: &str) -> Option<String> {
    let known = LINKS.iter().find_map(|link| {
        let part = part.strip_suffix(link).filter(|part| part.chars().count() >= LETTERS_OF_A_PART_MIN)?;
        by_stem(NaturalLanguage::German, glossary, part).filter(|english| !english.is_empty())
    });
    known.map(str::to_string).or_else(|| is_loan(part).then(|| part.to_string()))
}
