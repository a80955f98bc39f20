//! YAKE: keywords of a text, from the text alone.
//!
//! R. Campos, V. Mangaravite, A. Pasquali, A. Jorge, C. Nunes, A. Jatowt, "YAKE! Keyword extraction from single
//! documents using multiple local features", Information Sciences 509 (2020). Candidates are runs of up to three words,
//! scored by five features of their words. Lower is better.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Maximum of words in a keyword. The paper's n.
const WORDS_MAX: usize = 3;
/// Similarity (1 − Levenshtein distance over the longer length) above which the worse of two keywords is left out. The
/// paper's threshold.
const LIKENESS_MAX: f64 = 0.9;
/// Words shorter than this count as stop words, as in the paper's program. In characters.
const WORD_CHARS_MIN: usize = 3;
/// Longest word that can be part of a keyword, in bytes: longer ones are data.
const WORD_BYTES_MAX: usize = 40;
/// Maximum of bytes read of a text.
const TEXT_BYTES_MAX: usize = 32 << 10;

/// Words that never begin or end a keyword: more than the query's stop words ([`crate::token::is_stop_word`]), since
/// common verbs say little here too.
static STOP_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    "a able about above across actually after again against all allow allows almost along already also although always am \
     among an and another any anyone anything are aren't around as at available away back be became because become been \
     before being below best better between both but by call called calls came can can't cannot case certain change come \
     comes could couldn't currently did didn't different do does doesn't doing don't done down during each easily easy \
     either else enough especially etc even ever every everything example examples exactly far few find first following \
     follows for from full further gave general get gets getting give given gives go goes going good got had has hasn't \
     have haven't having he help helps her here hers him his how however if important in include included includes \
     including instead into is isn't it it's its itself just keep kept kind know known last later least less let let's like \
     likely little long look looks lot made mainly make makes making many may maybe me mean means might more most mostly \
     much must my need needed needs never new next no none nor not note nothing now of off often old on once one ones only \
     onto or other others otherwise our out over own part particular per perhaps please possible previous probably provide \
     provided provides put quite rather read really recommended require required requires right same saw say says second \
     see seem seen set several shall she should show shown shows similar simple simply since so some someone something \
     sometimes soon still such sure take taken takes tell than that that's the their them then there there's these they \
     thing things think this those though three through thus to together too took try trying turn two under until up upon \
     us use used useful user uses using usually various very via want wants was wasn't way ways we well went were weren't \
     what when where whether which while who whole whose why will with within without won't work works would wouldn't yet \
     you you'll you're your yours yourself"
        .split_whitespace()
        .collect()
});

/// What a word looks like. Keywords contain no digits or mixtures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WordLook {
    Plain,
    /// Upper case first, and not first in its sentence.
    Capital,
    /// Upper case throughout.
    Acronym,
    /// A number, or letters, digits and signs mixed.
    Other,
}

struct Word<'t> {
    text: &'t str,
    term: usize,
    look: WordLook,
    /// Whether punctuation separates it from the word before.
    begins: bool,
}

/// Statistics of the words that differ only by case.
#[derive(Default)]
struct Term {
    is_stop: bool,
    frequency: f64,
    capitals: f64,
    acronyms: f64,
    /// Numbers of the sentences with this term, ascending.
    sentences: Vec<usize>,
    /// Distinct terms on its left and right, with their counts.
    left: HashMap<usize, f64>,
    right: HashMap<usize, f64>,
    score: f64,
}

impl Term {
    fn median_sentence(&self) -> f64 {
        let (middle, count) = (self.sentences.len() / 2, self.sentences.len());
        match count {
            0 => 0.0,
            _ if count % 2 == 1 => self.sentences[middle] as f64,
            _ => (self.sentences[middle - 1] + self.sentences[middle]) as f64 / 2.0,
        }
    }
}

/// The best keywords of `text`, at most `count`, best first, as first written. The text should be prose
/// ([`crate::enrich::prose_of`]); only the beginning of a long one is read.
pub fn keywords(text: &str, count: usize) -> Vec<String> {
    let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
    let mut terms = KeywordTerms::default();
    let sentences = terms.read(text);
    terms.score(sentences.len());
    let mut ranked = terms.candidates(&sentences);
    ranked.sort_by(|a, b| a.score.total_cmp(&b.score).then(a.first.cmp(&b.first)));
    let mut kept: Vec<(String, &str)> = Vec::new();
    for candidate in &ranked {
        if kept.len() == count {
            break;
        }
        let is_new =
            |(other, _): &(String, &str)| strsim::normalized_levenshtein(other, &candidate.key) <= LIKENESS_MAX;
        if kept.iter().all(is_new) {
            kept.push((candidate.key.clone(), &candidate.written));
        }
    }
    kept.into_iter().map(|(_, written)| written.to_string()).collect()
}

/// A run of words that may be a keyword.
struct KeywordRun {
    /// In lower case.
    key: String,
    /// As first written.
    written: String,
    /// Position of its first occurrence.
    first: usize,
    score: f64,
}

#[derive(Default)]
struct KeywordTerms<'t> {
    all: Vec<Term>,
    numbers: HashMap<String, usize>,
    text: std::marker::PhantomData<&'t str>,
}

impl<'t> KeywordTerms<'t> {
    /// Reads the text's sentences and counts their terms.
    fn read(&mut self, text: &'t str) -> Vec<Vec<Word<'t>>> {
        let mut sentences: Vec<Vec<Word<'t>>> = Vec::new();
        for sentence in split_sentences(text) {
            let number = sentences.len();
            let words: Vec<Word<'t>> = self.words(sentence, number);
            for pair in words.windows(2) {
                if !pair[1].begins && pair[0].look != WordLook::Other && pair[1].look != WordLook::Other {
                    *self.all[pair[0].term].right.entry(pair[1].term).or_default() += 1.0;
                    *self.all[pair[1].term].left.entry(pair[0].term).or_default() += 1.0;
                }
            }
            if !words.is_empty() {
                sentences.push(words);
            }
        }
        sentences
    }

    fn words(&mut self, sentence: &'t str, number: usize) -> Vec<Word<'t>> {
        let mut words: Vec<Word<'t>> = Vec::new();
        let mut end = 0;
        for (at, text) in split_words(sentence) {
            let begins = !sentence[end..at].chars().all(char::is_whitespace);
            end = at + text.len();
            let look = look(text, words.is_empty());
            let key = text.to_lowercase();
            let next = self.all.len();
            let term = *self.numbers.entry(key).or_insert(next);
            if term == next {
                let lower = text.to_lowercase();
                let is_stop = STOP_WORDS.contains(lower.as_str()) || lower.chars().count() < WORD_CHARS_MIN;
                self.all.push(Term { is_stop, ..Term::default() });
            }
            let known = &mut self.all[term];
            known.frequency += 1.0;
            known.capitals += f64::from(u8::from(look == WordLook::Capital));
            known.acronyms += f64::from(u8::from(look == WordLook::Acronym));
            if known.sentences.last() != Some(&number) {
                known.sentences.push(number);
            }
            words.push(Word { text, term, look, begins });
        }
        words
    }

    /// Section 3.2 of the paper: the score S(t) of every term.
    fn score(&mut self, sentences: usize) {
        let counted: Vec<f64> = self.all.iter().filter(|t| !t.is_stop).map(|t| t.frequency).collect();
        let n = counted.len().max(1) as f64;
        let mean = counted.iter().sum::<f64>() / n;
        let deviation = (counted.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / n).sqrt();
        let highest = self.all.iter().map(|t| t.frequency).fold(1.0, f64::max);
        for term in &mut self.all {
            let share = |side: &HashMap<usize, f64>| match side.is_empty() {
                true => 0.0,
                false => side.len() as f64 / side.values().sum::<f64>(),
            };
            let case = term.capitals.max(term.acronyms) / (1.0 + term.frequency.ln());
            let position = (3.0 + term.median_sentence()).ln().ln();
            let frequency = term.frequency / (mean + deviation).max(f64::MIN_POSITIVE);
            let related = 1.0 + (share(&term.left) + share(&term.right)) * term.frequency / highest;
            let spread = term.sentences.len() as f64 / sentences.max(1) as f64;
            term.score = related * position / (case + frequency / related + spread / related);
        }
    }

    /// Section 3.3: every run of up to three words that neither begins nor ends with a stop word, with its score.
    fn candidates(&self, sentences: &[Vec<Word<'t>>]) -> Vec<KeywordRun> {
        let mut found: HashMap<Vec<usize>, (String, usize, f64)> = HashMap::new();
        let mut first = 0;
        for words in sentences {
            for start in 0..words.len() {
                for end in start + 1..=words.len().min(start + WORDS_MAX) {
                    let run = &words[start..end];
                    if run[run.len() - 1].look == WordLook::Other || (run.len() > 1 && run[run.len() - 1].begins) {
                        break;
                    }
                    if self.all[run[0].term].is_stop {
                        break;
                    }
                    if self.all[run[run.len() - 1].term].is_stop {
                        continue;
                    }
                    first += 1;
                    let terms = run.iter().map(|word| word.term).collect();
                    let written = || run.iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
                    found.entry(terms).or_insert_with(|| (written(), first, 0.0)).2 += 1.0;
                }
            }
        }
        let scored = found.into_iter().map(|(terms, (written, first, count))| KeywordRun {
            key: written.to_lowercase(),
            score: self.candidate_score(&terms, count),
            written,
            first,
        });
        scored.collect()
    }

    /// `S(kw) = Π S(t) / (count · (1 + Σ S(t)))`; a stop word inside counts by how seldom it joins its neighbours.
    fn candidate_score(&self, terms: &[usize], count: f64) -> f64 {
        let (mut product, mut sum) = (1.0, 0.0);
        for (i, term) in terms.iter().map(|t| &self.all[*t]).enumerate() {
            if !term.is_stop {
                product *= term.score;
                sum += term.score;
                continue;
            }
            let (before, behind) = (&self.all[terms[i - 1]], &self.all[terms[i + 1]]);
            let from = before.right.get(&terms[i]).copied().unwrap_or_default() / before.frequency;
            let to = term.right.get(&terms[i + 1]).copied().unwrap_or_default() / behind.frequency;
            let joins = from * to;
            product *= 2.0 - joins;
            sum -= 1.0 - joins;
        }
        product / (count * (1.0 + sum).max(1e-9))
    }
}

/// Ends of sentences are `.`, `!`, `?` before white space, and blank lines.
fn split_sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = |(at, c): (usize, char)| {
            let behind = &rest[at + c.len_utf8()..];
            let stops = matches!(c, '.' | '!' | '?' | '\u{3002}') && behind.starts_with(char::is_whitespace);
            (stops || (c == '\n' && behind.starts_with('\n'))).then_some(at + c.len_utf8())
        };
        let end = rest.char_indices().find_map(ends).unwrap_or(rest.len());
        let sentence;
        (sentence, rest) = rest.split_at(end);
        Some(sentence)
    })
}

/// Words with their offsets: letters and digits, and single signs between them (`end-to-end`, `http.Client`).
fn split_words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(char::is_alphanumeric)?;
        let mut end = start;
        let mut letters = text[start..].char_indices().peekable();
        while let Some((i, c)) = letters.next() {
            let joins = matches!(c, '-' | '_' | '.' | '\'' | '\u{2019}' | '+' | '#' | '/')
                && letters.peek().is_some_and(|(_, next)| next.is_alphanumeric());
            if !c.is_alphanumeric() && !joins {
                break;
            }
            end = start + i + c.len_utf8();
        }
        at = end;
        Some((start, &text[start..end]))
    })
}

fn look(word: &str, is_first: bool) -> WordLook {
    let signs = word.chars().filter(|c| !c.is_alphanumeric()).count();
    let digits = word.chars().filter(char::is_ascii_digit).count();
    if digits > 0 || signs > 1 || word.contains(['.', '_', '/']) || word.len() > WORD_BYTES_MAX {
        return WordLook::Other;
    }
    let mut letters = word.chars().filter(|c| c.is_alphabetic());
    let first_upper = letters.next().is_some_and(char::is_uppercase);
    let rest: Vec<char> = letters.collect();
    if first_upper && !rest.is_empty() && rest.iter().all(|c| c.is_uppercase()) {
        return WordLook::Acronym;
    }
    if first_upper && !is_first { WordLook::Capital } else { WordLook::Plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALING: &str = "The Kubernetes autoscaler adds and removes nodes. When pods can't be scheduled for want of \
        memory, the autoscaler asks the cloud for another node; when nodes stand idle, the autoscaler drains them. \
        Kubernetes itself knows nothing of the cloud. Set a minimum of nodes, so that the Kubernetes autoscaler never \
        empties a pool.";

    #[test]
    fn the_subject_is_among_the_first_keywords() {
        let found = keywords(SCALING, 5).join(" ").to_lowercase();
        assert!(found.contains("autoscaler") && found.contains("kubernetes"), "{found}");
    }

    #[test]
    fn keywords_are_runs_of_three_words_at_most_and_differ() {
        let found = keywords(SCALING, 20);
        assert!(found.len() > 5, "{found:?}");
        for (i, keyword) in found.iter().enumerate() {
            let words: Vec<String> = keyword.split(' ').map(str::to_lowercase).collect();
            assert!(words.len() <= 3 && !STOP_WORDS.contains(words[0].as_str()), "{keyword}");
            assert!(!STOP_WORDS.contains(words[words.len() - 1].as_str()), "{keyword}");
            let like = |other: &String| strsim::normalized_levenshtein(&keyword.to_lowercase(), &other.to_lowercase());
            assert!(found[i + 1..].iter().all(|other| like(other) <= 0.9), "{keyword} twice in {found:?}");
        }
        assert_eq!(found[..3], keywords(SCALING, 3), "best first");
    }

    #[test]
    fn the_features_are_the_papers() {
        let mut terms = KeywordTerms::default();
        let text = "Alpha beta. Gamma beta, the beta of Delta. We like Delta";
        let sentences = terms.read(text);
        terms.score(sentences.len());
        let term = |name: &str| &terms.all[terms.numbers[name]];
        assert_eq!(sentences.len(), 3);
        assert_eq!((term("beta").frequency, &term("beta").sentences[..]), (3.0, &[0, 1][..]));
        // Upper case does not count at the beginning of a sentence.
        assert_eq!((term("alpha").capitals, term("delta").capitals), (0.0, 2.0));
        assert_eq!(term("delta").left.len(), 2);
        // S(beta) by hand: the frequencies of the terms that are not stop words (alpha, beta, gamma, delta) are 1, 3,
        // 1, 2.
        let (mean, deviation) = (1.75, (0.6875f64).sqrt());
        let related = 1.0 + (3.0 / 3.0 + 1.0 / 1.0) * 3.0 / 3.0;
        let position = (3.0 + 0.5f64).ln().ln();
        let expected = related * position / (3.0 / (mean + deviation) / related + (2.0 / 3.0) / related);
        assert!((term("beta").score - expected).abs() < 1e-9, "{} and {expected}", term("beta").score);
        // Two words, once: the product over one and the sum.
        let pair = [terms.numbers["alpha"], terms.numbers["beta"]];
        let (a, b) = (term("alpha").score, term("beta").score);
        assert!((terms.candidate_score(&pair, 1.0) - a * b / (1.0 + a + b)).abs() < 1e-9);
    }

    #[test]
    fn texts_without_words_have_no_keywords() {
        for text in ["", "   \n\n", "12 34.5 6_7", "the of and", "= = ="] {
            assert!(keywords(text, 5).is_empty(), "{text}");
        }
        assert_eq!(keywords("Retry", 5), ["Retry"]);
    }
}
