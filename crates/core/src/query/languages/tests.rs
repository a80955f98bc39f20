//! The glossaries and what is kept beside them.

use proptest::prelude::*;

use super::inflection::{stem, without_accents};
use super::natural::is_english;
use super::*;

fn read(text: &str) -> Option<String> {
    translated(text, |_| false).map(|read| read.text)
}

#[test]
fn lines_of_glossaries_are_sorted_and_found() {
    let mut wrong = Vec::new();
    for language in NaturalLanguage::ALL {
        let glossary = language.glossary();
        let keys: Vec<&str> = glossary.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect();
        assert!(keys.is_sorted_by(|one, next| one < next), "{language:?}");
        for line in glossary.lines() {
            let mut cells = line.split('\t');
            let (key, english, term) = (cells.next().unwrap_or_default(), cells.next(), cells.next());
            assert_eq!(glossary.get(key), english, "{language:?} {key}");
            assert!(english.is_some_and(str::is_ascii), "{language:?} {key}");
            let is_stem = |term: &str| match key.strip_prefix('=') {
                Some(whole) => whole == without_accents(term),
                None => {
                    let words = term.split([' ', '-', '\'', '’']).filter(|word| !word.is_empty());
                    key.split(' ').eq(words.map(|word| stem(language, word)))
                }
            };
            if !term.is_none_or(is_stem) {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn words_of_both_languages_are_kept() {
    let text = "где создаётся пул соединений для parseRequest";
    let read = translated(text, |_| false).expect("Russian");
    assert_eq!(read.language, NaturalLanguage::Russian);
    assert_eq!((&*read.text, &*read.words), ("create connection pool parseRequest", "создаётся пул соединений"));
}

#[test]
fn a_lone_word_that_the_project_has_in_names_is_one() {
    assert_eq!(translated("Datenbank", |word| word == "datenbank"), None);
    assert_eq!(read("Datenbank").as_deref(), Some("database"));
    assert!(is_english("connections") && !is_english("datenbank"));
}

proptest! {
    #[test]
    fn any_text_can_be_read(text in "(\\PC|[a-zäöüßéñç ]|[а-яё ]|[ぁ-ん一-龥가-힣]|\n){0,80}") {
        let read = translated(&text, |_| false);
        prop_assert!(read.is_none_or(|read| !read.text.trim().is_empty()));
    }
}
