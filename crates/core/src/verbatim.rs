//! Text that stands in a file as somebody typed it: a whole query, or the longest run of its words.
//!
//! Words are compared in the order typed, upper and lower case alike; what stands between them (punctuation, line
//! ends, comment marks) may differ. So a message finds its literal although its values stand where the source has
//! placeholders: the run between two values is what both have.

use std::ops::Range;

use memchr::memmem;

use crate::token::{is_word_char, words};

/// Words of a text that runs are grown from: the rarest ones.
const ANCHORS_MAX: usize = 4;
/// Places of one anchor in a file that are looked at.
const ANCHOR_PLACES_MAX: usize = 200;
/// Words of a text that are compared; who pastes more than this has pasted a file.
const WORDS_MAX: usize = 400;

/// How far a text and a file agree, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// A run of the text's words.
    Run,
    /// All of the text's words, with other punctuation, spaces or case between them.
    Words,
    /// Every character.
    Exact,
}

/// A text, as typed, ready to be looked for.
#[derive(Clone, Debug)]
pub struct Typed<'t> {
    text: &'t str,
    words: Vec<Range<usize>>,
    /// For each word how rare it is; 0 where no file is known to have it, or nearly all have.
    weights: Vec<f32>,
}

/// Where a text stands in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// How far they agree.
    pub agreement: Agreement,
    /// Words in a row that agree.
    pub words: usize,
    /// Share, 0 to 1, of the text's weight that these words have.
    pub share: f32,
    /// Byte offset in the file of the first character that agrees.
    pub start: usize,
}

impl<'t> Typed<'t> {
    /// A text whose words weigh what `weight` says: 0 for a word that can't lead to a file.
    pub fn new(text: &'t str, mut weight: impl FnMut(&str) -> f32) -> Typed<'t> {
        let text = text.trim();
        let words: Vec<Range<usize>> = words(text).take(WORDS_MAX).collect();
        let weights = words.iter().map(|word| weight(&text[word.clone()])).collect();
        Typed { text, words, weights }
    }

    /// Number of its words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether it holds no word.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether it holds punctuation that prose does not: brackets, operators, a semicolon at the end.
    pub fn is_code(&self) -> bool {
        let marks =
            |c: char| matches!(c, '(' | ')' | '{' | '}' | '[' | ']' | ';' | '=' | '<' | '>' | '&' | '|' | '\\' | '$');
        self.text.contains(marks) || self.text.contains("::") || self.text.contains("->")
    }

    fn word(&self, i: usize) -> &'t str {
        &self.text[self.words[i].clone()]
    }

    /// Where the text, or the longest run of its words, stands in `file`; `None` where not even a rare word does.
    pub fn find(&self, file: &str) -> Option<Standing> {
        if self.is_empty() {
            return None;
        }
        if let Some(start) = self.exact(file) {
            return Some(Standing { agreement: Agreement::Exact, words: self.len(), share: 1.0, start });
        }
        self.longest_run(file)
    }

    /// The first place where every character stands, as whole words where there is one.
    fn exact(&self, file: &str) -> Option<usize> {
        let mut first = None;
        for at in memmem::find_iter(file.as_bytes(), self.text.as_bytes()).take(ANCHOR_PLACES_MAX) {
            if is_whole(file, at..at + self.text.len()) {
                return Some(at);
            }
            first.get_or_insert(at);
        }
        // `rror in par` is nobody's text: a part of a word counts only where the text itself ends in no word.
        let ends_in_words = |c: Option<char>| c.is_some_and(is_word_char);
        first.filter(|_| !ends_in_words(self.text.chars().next()) && !ends_in_words(self.text.chars().next_back()))
    }

    fn longest_run(&self, file: &str) -> Option<Standing> {
        let mut anchors: Vec<usize> = (0..self.len()).filter(|i| self.weights[*i] > 0.0).collect();
        anchors.sort_by(|a, b| self.weights[*b].total_cmp(&self.weights[*a]).then(a.cmp(b)));
        anchors.truncate(ANCHORS_MAX);
        let mut best: Option<(Standing, f32)> = None;
        for anchor in anchors {
            // As typed, and as the middle of a sentence has it.
            let (typed, lower) = (self.word(anchor), self.word(anchor).to_lowercase());
            let as_lower = (typed.len() == lower.len() && typed != lower).then_some(lower);
            let places = memmem::find_iter(file.as_bytes(), typed.as_bytes()).take(ANCHOR_PLACES_MAX);
            let more =
                as_lower.iter().flat_map(|l| memmem::find_iter(file.as_bytes(), l.as_bytes()).take(ANCHOR_PLACES_MAX));
            for at in places.chain(more) {
                let place = at..at + self.word(anchor).len();
                if !is_whole(file, place.clone()) {
                    continue;
                }
                let (run, start) = self.run_around(anchor, file, place);
                let weight: f32 = self.weights[run.clone()].iter().sum();
                if best.as_ref().is_none_or(|(known, known_weight)| (run.len(), weight) > (known.words, *known_weight))
                {
                    let agreement = if run.len() == self.len() { Agreement::Words } else { Agreement::Run };
                    best = Some((Standing { agreement, words: run.len(), share: 0.0, start }, weight));
                }
            }
        }
        let all: f32 = self.weights.iter().sum();
        best.map(|(standing, weight)| Standing { share: if all > 0.0 { weight / all } else { 0.0 }, ..standing })
    }

    /// The run of words around the word `anchor`, which stands at `place`, and where it begins in the file.
    fn run_around(&self, anchor: usize, file: &str, place: Range<usize>) -> (Range<usize>, usize) {
        let mut run = anchor..anchor + 1;
        for word in words(&file[place.end..]) {
            let word = &file[place.end..][word];
            if run.end == self.len() || !word.eq_ignore_ascii_case(self.word(run.end)) {
                break;
            }
            run.end += 1;
        }
        let mut start = place.start;
        // Words can't be read backwards: read those of a piece that is surely long enough.
        let reach = 2 * self.words[anchor].start + 256;
        let from = file.floor_char_boundary(place.start.saturating_sub(reach));
        let before: Vec<Range<usize>> = words(&file[from..place.start]).collect();
        for word in before.into_iter().rev() {
            let text = &file[from..][word.clone()];
            if run.start == 0 || !text.eq_ignore_ascii_case(self.word(run.start - 1)) {
                break;
            }
            run.start -= 1;
            start = from + word.start;
        }
        (run, start)
    }
}

/// Whether no word goes on beyond either end of `place`.
fn is_whole(file: &str, place: Range<usize>) -> bool {
    let joins = |a: Option<char>, b: Option<char>| a.is_some_and(is_word_char) && b.is_some_and(is_word_char);
    let (inside, before) = (&file[place.clone()], &file[..place.start]);
    let behind = &file[place.end..];
    !joins(before.chars().next_back(), inside.chars().next())
        && !joins(inside.chars().next_back(), behind.chars().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Agreement, words and the text of the file's line from where it begins.
    fn found(text: &str, file: &str) -> String {
        // Stop words lead nowhere.
        let weight = |word: &str| if word.len() > 3 { word.len() as f32 } else { 0.0 };
        let Some(standing) = Typed::new(text, weight).find(file) else { return "nothing".to_string() };
        let line = file[standing.start..].lines().next().unwrap_or_default();
        format!("{:?} {} {line}", standing.agreement, standing.words)
    }

    #[test]
    fn a_text_is_found_as_typed_or_by_its_longest_run() {
        let file = "use net;\n// opens a socket\nfn open_socket(host: &str) {\n    fail(\"no route to %s, try another host\");\n}\n";
        for (text, expected) in [
            ("fn open_socket(host: &str) {", "Exact 4 fn open_socket(host: &str) {"),
            ("fn open_socket (host : &str)", "Words 4 fn open_socket(host: &str) {"),
            ("Opens A Socket", "Words 3 opens a socket"),
            ("no route to db7, try another host", "Run 3 try another host\");"),
            ("open_socket", "Exact 1 open_socket(host: &str) {"),
            ("socket", "Exact 1 socket"),
            ("pen_sock", "nothing"),
            ("another universe", "Run 1 another host\");"),
            ("xyz", "nothing"),
            ("", "nothing"),
        ] {
            assert_eq!(found(text, file), expected, "{text:?}");
        }
    }

    #[test]
    fn code_is_told_from_prose() {
        for (text, expected) in [
            ("x = compute(y)", true),
            ("a::b c", true),
            ("could not open file: x", false),
            ("it's here, isn't it?", false),
        ] {
            assert_eq!(Typed::new(text, |_| 1.0).is_code(), expected, "{text}");
        }
    }

    #[test]
    fn the_share_is_that_of_the_weight() {
        let weight = |word: &str| if word == "rare" { 3.0 } else { 1.0 };
        let standing = Typed::new("rare words here", weight).find("some rare words there").expect("a run");
        assert_eq!((standing.words, standing.share), (2, 0.8));
    }

    proptest::proptest! {
        #[test]
        fn any_text_in_any_file_ends_and_stays_inside(text in "[a-c_ .é漢]{0,20}", file in "[a-c_ .\né漢]{0,80}") {
            if let Some(standing) = Typed::new(&text, |_| 1.0).find(&file) {
                assert!(file.is_char_boundary(standing.start) && standing.words <= words(&text).count());
                assert!((0.0..=1.0).contains(&standing.share));
            }
        }
    }
}
