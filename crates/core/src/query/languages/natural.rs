//! The languages that questions are asked in besides English, and their tables.

use rust_stemmers::{Algorithm, Stemmer};
use serde::{Deserialize, Serialize};

use super::glossary::Glossary;

crate::named! {
    /// A language that questions are asked in.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum NaturalLanguage {
        /// In simplified or traditional characters.
        Chinese = "Chinese",
        Japanese = "Japanese",
        Korean = "Korean",
        Russian = "Russian",
        Spanish = "Spanish",
        German = "German",
        French = "French",
        Portuguese = "Portuguese",
    }
}

/// Stems of English words, one a line. A word with one of them is no sign of another language.
static ENGLISH: Glossary = Glossary::new(include_str!("glossaries/english.txt"));

impl NaturalLanguage {
    /// Those with Latin letters.
    pub(super) const LATIN: [NaturalLanguage; 4] =
        [NaturalLanguage::Spanish, NaturalLanguage::German, NaturalLanguage::French, NaturalLanguage::Portuguese];

    pub(super) fn glossary(self) -> Glossary {
        Glossary::new(match self {
            NaturalLanguage::Chinese => include_str!("glossaries/chinese.txt"),
            NaturalLanguage::Japanese => include_str!("glossaries/japanese.txt"),
            NaturalLanguage::Korean => include_str!("glossaries/korean.txt"),
            NaturalLanguage::Russian => include_str!("glossaries/russian.txt"),
            NaturalLanguage::Spanish => include_str!("glossaries/spanish.txt"),
            NaturalLanguage::German => include_str!("glossaries/german.txt"),
            NaturalLanguage::French => include_str!("glossaries/french.txt"),
            NaturalLanguage::Portuguese => include_str!("glossaries/portuguese.txt"),
        })
    }

    /// Whether a preposition between two of its nouns reverses them in English: `pool de conexiones`.
    pub(super) fn is_romance(self) -> bool {
        matches!(self, NaturalLanguage::Spanish | NaturalLanguage::French | NaturalLanguage::Portuguese)
    }

    /// Whether its words are written without spaces, or with particles attached.
    pub(super) fn is_unspaced(self) -> bool {
        matches!(self, NaturalLanguage::Chinese | NaturalLanguage::Japanese | NaturalLanguage::Korean)
    }
}

/// Whether a lower-case word is a common English one, or one of programming.
pub(super) fn is_english(word: &str) -> bool {
    word.is_ascii() && ENGLISH.get(&Stemmer::create(Algorithm::English).stem(word)).is_some()
}
