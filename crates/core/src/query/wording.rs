//! Tells the words of a question that carry its form ("where is it decided that", "how do I", "the thing that") from
//! those that carry its subject.
//!
//! Function words carry nothing wherever they occur. At the beginning, the phrases of [`PHRASES`] are part of the frame
//! as long as only function words are between them.

use std::ops::Range;

use super::contractions::{APOSTROPHES, is_in};
use crate::token::{is_stop_word, words as word_places};

/// Pronouns, auxiliaries and other function words, besides the stop words of an index. In capitals they may be names.
const FUNCTION_WORDS: &str = "am been being can cannot could did doing had having he her hers herself him himself his i \
                              itself may me might must my myself our ours ourselves shall she should theirs \
                              themselves those us we whether whom whose will would you your yours yourself";
/// Adverbs and determiners that are part of a frame, but may be the subject elsewhere.
const FRAME_ADVERBS: &str = "about actually all also any basically currently each ever every exactly here just ok okay \
                             please really so some there";
/// Words that begin a question.
const INTERROGATIVES: &str = "how what when where which who whom whose why";
const CLAUSE_WORDS: &str = "how i if that to we what when where whether which who why";
/// Words between a request and the noun of a frame.
const DETERMINERS: &str = "a all an any every the";
/// Words that connect a noun to what is said about it.
const RELATIVES: &str = "are can do does how i is that to was we were when where which who why you";

/// Where a phrase is part of a frame, besides what precedes it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FrameRule {
    /// Before any word.
    Always,
    /// Before a clause.
    Clause,
    /// Before any word, unless a question has begun: "where do we search for" asks about searching.
    Request,
    /// Before a clause, unless a question has begun.
    RequestOfClause,
    /// In a question, followed by what must not happen: "what keeps a session from".
    Against,
    /// A noun for code, before what is said about it.
    Noun,
    /// A noun that is often part of a name: before "that", "which" or "where".
    Concrete,
}

/// Phrases of frames; `|` separates alternatives.
const PHRASES: &[(FrameRule, &str)] = &[
    (FrameRule::Always, "make|makes|making|made sure"),
    (FrameRule::Always, "take|takes|taking|taken care of"),
    (FrameRule::Always, "ensure|ensures|ensured"),
    (FrameRule::Always, "guarantee|guarantees|guaranteed"),
    (FrameRule::Always, "happen|happens|happened|happening"),
    (FrameRule::Always, "responsible for"),
    (FrameRule::Always, "in charge of"),
    (FrameRule::Always, "part|parts|piece|purpose of"),
    (FrameRule::Always, "figure|figures|find|finds|found|work|works|worked out"),
    (FrameRule::Always, "need|needs|want|wants|wanted|like|try|tries|trying|going|supposed|able to"),
    (FrameRule::Clause, "decide|decides|decided|deciding"),
    (FrameRule::Clause, "determine|determines|determined"),
    (FrameRule::Clause, "choose|chooses|chosen|pick|picks|picked"),
    (FrameRule::Clause, "know|knows|known|see|sees|tell|tells"),
    (FrameRule::Against, "keep|keeps|prevent|prevents|stop|stops"),
    (FrameRule::Request, "show|tell|give|find|get me|us"),
    (FrameRule::Request, "show|explain|describe to me|us"),
    (FrameRule::Request, "point me|us to|at"),
    (FrameRule::Request, "look|looking|search|searching for"),
    (FrameRule::Request, "help me|us"),
    (FrameRule::Request, "interested in"),
    (FrameRule::Request, "curious|wonder|wondering about|how|if|what|when|where|whether|which|who|why"),
    (FrameRule::RequestOfClause, "explain|describe|find|identify|list|locate|learn|need|show|understand|want"),
    (
        FrameRule::Noun,
        "bit|code|codebase|function|functions|implementation|logic|method|methods|repo|repository|routine",
    ),
    (FrameRule::Noun, "part|parts|piece|place|places|point|reason|something|somewhere|spot|thing|things|way|ways"),
    (FrameRule::Concrete, "class|classes|component|file|files|line|lines|module|script|struct|type"),
];

struct QuestionWord {
    lower: String,
    place: Range<usize>,
    /// Whether it is written like a word of a sentence, with no marks of code around it and not in capitals.
    is_plain: bool,
    /// Whether it is what remains of a contraction or a possessive.
    is_ending: bool,
}

/// The words of a query, and which of them carry its form.
pub(super) struct Wording {
    words: Vec<QuestionWord>,
    /// Number of words in the frame.
    frame: usize,
    /// Whether nothing separates the words but marks: `can-be` is a name, and no part of a sentence.
    is_piece: bool,
}

impl Wording {
    /// Reads a query.
    pub(super) fn new(text: &str) -> Wording {
        let mut words: Vec<QuestionWord> = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let is_code = line.contains(['{', '}', '=', ';']);
            let places = word_places(line).map(|place| start + place.start..start + place.end);
            words.extend(places.map(|place| question_word(text, place, is_code)));
            start += line.len();
        }
        let frame = frame_len(&words);
        Wording { words, frame, is_piece: !text.trim().contains(char::is_whitespace) }
    }

    /// The places of the words that carry only the form of the query, besides stop words; none if no others are left.
    pub(super) fn form(&self) -> Vec<Range<usize>> {
        let (form, subject): (Vec<_>, Vec<_>) =
            self.words.iter().enumerate().partition(|(at, word)| *at < self.frame || is_function(word));
        match !self.is_piece && subject.iter().any(|(_, word)| !is_stop_word(&word.lower)) {
            true => form.into_iter().filter(|(_, w)| !is_stop_word(&w.lower)).map(|(_, w)| w.place.clone()).collect(),
            false => Vec::new(),
        }
    }

    /// All words in lower case.
    pub(super) fn lower(&self) -> Vec<&str> {
        self.words.iter().map(|word| word.lower.as_str()).collect()
    }

    /// Number of words at the beginning that are its frame.
    pub(super) fn frame(&self) -> usize {
        self.frame
    }

    /// Whether a word before a position is no function word.
    pub(super) fn has_content_before(&self, at: usize) -> bool {
        self.words[..at].iter().any(is_content)
    }

    /// Whether the frame names what the query asks for: "which function".
    pub(super) fn names_subject(&self) -> bool {
        let nouns = PHRASES.iter().filter(|(rule, _)| matches!(rule, FrameRule::Noun | FrameRule::Concrete));
        let mut nouns = nouns.flat_map(|(_, phrase)| phrase.split('|'));
        nouns.any(|noun| self.words[..self.frame].iter().any(|word| word.lower == noun))
    }
}

fn question_word(text: &str, place: Range<usize>, is_code: bool) -> QuestionWord {
    const OPENING: &[char] = &['(', '\'', '‘', '“'];
    const CLOSING: &[char] = &[',', '.', ';', ':', '?', '!', ')', '\'', '’', '”'];
    let word = &text[place.clone()];
    let before = &text[..place.start];
    let behind = text[place.end..].trim_start_matches(CLOSING);
    let begins = before.trim_end_matches(OPENING).chars().next_back().is_none_or(char::is_whitespace);
    let ends = behind.chars().next().is_none_or(char::is_whitespace);
    let is_in_capitals = word.len() > 1 && !word.contains(char::is_lowercase);
    let owner = before.strip_suffix(APOSTROPHES);
    let is_ending = matches!(word, "d" | "ll" | "m" | "re" | "s" | "t" | "ve")
        && owner.is_some_and(|owner| owner.ends_with(char::is_alphanumeric))
        && ends;
    QuestionWord {
        lower: word.to_lowercase(),
        place,
        is_plain: begins && ends && !is_code && !is_in_capitals,
        is_ending: is_ending && !is_code,
    }
}

fn is_function(word: &QuestionWord) -> bool {
    word.is_ending || (word.is_plain && is_in(FUNCTION_WORDS, &word.lower))
}

/// Whether a word is neither a stop word nor another function word.
fn is_content(word: &QuestionWord) -> bool {
    !is_function(word) && !is_stop_word(&word.lower)
}

/// Number of words at the beginning that are the frame of a query; 0 if nothing else is left.
fn frame_len(words: &[QuestionWord]) -> usize {
    let mut at = 0;
    while let Some(count) = frame_part(words, at) {
        at += count;
    }
    if words[at..].iter().any(is_content) { at } else { 0 }
}

/// Number of words from a position that are a function word or a phrase of a frame.
fn frame_part(words: &[QuestionWord], at: usize) -> Option<usize> {
    let word = words.get(at).filter(|word| word.is_plain || word.is_ending)?;
    let is_phrase = |(rule, phrase): &(FrameRule, &str)| {
        let count = phrase_len(phrase, plain(&words[at..]))?;
        is_frame(*rule, words, at, count).then_some(count)
    };
    if let Some(count) = PHRASES.iter().find_map(is_phrase) {
        return Some(count);
    }
    let is_adverb = || is_in(FRAME_ADVERBS, &word.lower) && (at > 0 || frame_part(words, 1).is_some());
    (is_function(word) || is_stop_word(&word.lower) || is_adverb()).then_some(1)
}

/// Number of words of a phrase, with `|` between alternatives, if words in lower case begin with it.
pub(crate) fn phrase_len<'w>(phrase: &str, mut words: impl Iterator<Item = &'w str>) -> Option<usize> {
    let parts = phrase.split(' ');
    let fits = |part: &str| words.next().is_some_and(|word| part.split('|').any(|known| known == word));
    parts.clone().all(fits).then(|| parts.count())
}

/// Words in lower case; in the place of one that is not plain, none.
fn plain(words: &[QuestionWord]) -> impl Iterator<Item = &str> {
    words.iter().map(|word| if word.is_plain { word.lower.as_str() } else { "" })
}

/// Whether a phrase of some words at a position is part of the frame, which all words before it are.
fn is_frame(rule: FrameRule, words: &[QuestionWord], at: usize, count: usize) -> bool {
    let (front, behind) = (&words[..at], &words[at + count..]);
    let Some(next) = behind.first() else { return false };
    let asks = || front.iter().any(|word| is_in(INTERROGATIVES, &word.lower));
    match rule {
        FrameRule::Always => true,
        FrameRule::Clause => begins_clause(words, at + count),
        FrameRule::Against => asks() && behind.iter().any(|word| word.lower == "from"),
        FrameRule::Request => !asks(),
        FrameRule::RequestOfClause => !asks() && begins_clause(words, at + count),
        FrameRule::Concrete => {
            matches!(next.lower.as_str(), "that" | "where" | "which") || frame_phrase_follows(words, at + count)
        }
        FrameRule::Noun if at == 0 => matches!(next.lower.as_str(), "that" | "where" | "which"),
        FrameRule::Noun => {
            let is_asked = front.last().is_some_and(|word| matches!(word.lower.as_str(), "what" | "which"));
            let is_verb = next.lower.ends_with('s') && !next.lower.ends_with("ss") && behind.len() > 1;
            let is_connected = is_in(RELATIVES, &next.lower) || matches!(next.lower.as_str(), "for" | "responsible");
            is_connected || (is_asked && is_verb) || frame_phrase_follows(words, at + count)
        }
    }
}

/// Whether words from a position begin a clause, or are an article and a noun of a frame.
fn begins_clause(words: &[QuestionWord], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    is_in(CLAUSE_WORDS, &word.lower) || (is_in(DETERMINERS, &word.lower) && frame_phrase_follows(words, at + 1))
}

/// Whether a phrase of a frame begins at a position.
fn frame_phrase_follows(words: &[QuestionWord], at: usize) -> bool {
    let rest = &words[at..];
    PHRASES
        .iter()
        .any(|(rule, phrase)| phrase_len(phrase, plain(rest)).is_some_and(|count| is_frame(*rule, words, at, count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a text that are neither stop words nor part of its form.
    fn subject(text: &str) -> String {
        let form = Wording::new(text).form();
        let is_subject =
            |place: &Range<usize>| !form.contains(place) && !is_stop_word(&text[place.clone()].to_lowercase());
        word_places(text).filter(is_subject).map(|place| &text[place]).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn frames_of_questions_are_told_from_their_subject() {
        for (text, expected) in [
            ("which code makes sure that sockets are closed", "sockets closed"),
            ("which function ensures sockets are closed", "sockets closed"),
            ("where is it decided that a file is binary", "file binary"),
            ("where is it decided whether a file is binary", "file binary"),
            ("what happens when a request fails", "request fails"),
            ("what happens on timeout", "timeout"),
            ("how do I read a file", "read file"),
            ("how can we read a file?", "read file"),
            ("the thing that retries requests", "retries requests"),
            ("something that retries requests", "retries requests"),
            ("code that retries requests", "retries requests"),
            ("where do we close sockets", "close sockets"),
            ("I am looking for the parser of headers", "parser headers"),
            ("Looking for the parser", "parser"),
            ("I want to know where sessions expire", "sessions expire"),
            ("we need to find the code that retries", "retries"),
            ("find all places where sessions expire", "sessions expire"),
            ("show me how sessions expire", "sessions expire"),
            ("please show me where sessions expire", "sessions expire"),
            ("can you explain how the cache expires", "cache expires"),
            ("tell me about the cache", "cache"),
            ("which function is responsible for closing sockets", "closing sockets"),
            ("which part takes care of closing sockets", "closing sockets"),
            ("who is in charge of closing sockets", "closing sockets"),
            ("is there a way to upload a file", "upload file"),
            ("where in the code is the header parsed", "header parsed"),
            ("what does the code do when the disk is full", "disk full"),
            ("how does it know whether a file is binary", "file binary"),
            ("how do I find out which port is open", "port open"),
            ("what do I need to do to upload a file", "upload file"),
            ("which code lowers the score of test files", "lowers score test files"),
            ("what is the purpose of the lock", "lock"),
            ("what keeps a session from expiring", "session expiring"),
            ("which code prevents sessions from expiring", "sessions expiring"),
            ("the bit that closes sockets", "closes sockets"),
            ("how does it choose which socket is closed", "socket closed"),
            ("the exact place", "exact place"),
            ("it should retry my requests", "retry requests"),
        ] {
            assert_eq!(subject(text), expected, "{text}");
        }
    }

    #[test]
    fn words_of_frames_may_be_the_subject() {
        for (text, expected) in [
            ("find unused imports", "find unused imports"),
            ("list the files in a directory", "list files directory"),
            ("where do we search for duplicates", "search duplicates"),
            ("search files", "search files"),
            ("file upload", "file upload"),
            ("the file watcher", "file watcher"),
            ("function call", "function call"),
            ("which file formats are supported", "file formats supported"),
            ("where is the level decided", "level decided"),
            ("decide the level", "decide level"),
            ("what stops the server", "stops server"),
            ("keep sessions from expiring", "keep sessions expiring"),
            ("which sockets are picked", "sockets picked"),
            ("how are places ranked", "places ranked"),
            ("exit code", "exit code"),
            ("show the version", "show version"),
            ("need to know", "know"),
            ("what happens when", "happens"),
            ("can I", "can I"),
            ("how do I", "I"),
            ("cannot dispatch", "dispatch"),
            // Code, names and abbreviations.
            ("I/O errors", "I O errors"),
            ("my.helper", "my helper"),
            ("can_dispatch", "can_dispatch"),
            ("i = my + 1;", "i my 1"),
            ("CAN frames", "CAN frames"),
            ("the US locale", "US locale"),
            ("`my` parser", "my parser"),
            ("", ""),
        ] {
            assert_eq!(subject(text), expected, "{text}");
        }
    }
}
