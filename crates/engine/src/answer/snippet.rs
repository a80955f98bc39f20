//! Chooses the line of a unit that shows best why it answers, and marks the query's words in a line.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use colgrep_core::beginnings::Beginnings;
use colgrep_core::code_line::{NAME_LINES_MAX, naming_line, tells};
use colgrep_core::query::{Query, last_segment};
use colgrep_core::spelling::{NameFit, Spelling};
use colgrep_core::statistics::Statistics;
use colgrep_core::token::{Initials, Token, Tokenizer, is_stop_word};
use colgrep_core::{Unit, UnitKind};

/// Longest line that is considered, in bytes; longer ones are data or bundles.
const LINE_BYTES_MAX: usize = 4 << 10;
/// Longest text that is weighed, in bytes; documentation is stored up to 8,000.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// Only the lines in the first bytes of a unit, this many, are considered. Reading a class of thousands of lines would
/// take longer than finding it, and a better member is a unit of its own.
const UNIT_BYTES_MAX: usize = 32 << 10;
/// A line inside a definition is shown instead of the line that names it, if it has more of the query's weight than
/// name, signature and documentation together by this share of the whole.
const BODY_MARGIN: f32 = 0.25;
/// If a unit's documentation has this share of the weight of a query of several words, the unit answers as a whole, and
/// its line is the one that names it.
const WHOLE_SHARE: f32 = 0.99;
/// Bonus for two words that are neighbours in the line as they are in the query: a share of the smaller of their
/// weights.
const PAIR_SHARE: f32 = 0.25;

/// The query's terms, weighted by their rarity in the index.
#[derive(Clone, Debug)]
pub struct QueryWords {
    terms: HashMap<String, f32>,
    initials: Initials,
    /// How words of the terms begin; none where that is not known.
    beginnings: Option<Beginnings>,
    /// Neighbouring words of the query: from the second to the first and the weight of the pair.
    pairs: HashMap<String, (String, f32)>,
    total: f32,
    /// Whether it is one word or one name, which occurs on one line or nowhere.
    is_one: bool,
    /// The name that the query is, in any spelling.
    name: Option<Spelling>,
    /// Whether that is all of the query, not the end of a path.
    is_whole_name: bool,
}

thread_local! {
    /// One a thread: it caches stems from one answer of a server to the next.
    static TOKENIZER: RefCell<Tokenizer> = RefCell::default();
}

impl QueryWords {
    /// Weighs a query's terms by inverse document frequency over the units of a corpus.
    pub fn new(query: &Query, statistics: &Statistics) -> QueryWords {
        let mut words = QueryWords::unweighed(query.terms.iter().map(|t| t.text.as_str()));
        words.total = 0.0;
        for (at, term) in query.terms.iter().enumerate() {
            if let Some(weight) = words.terms.get_mut(&term.text) {
                *weight = statistics.idf_of_most(at);
                words.total += *weight;
            }
        }
        let weight = |term: &str| words.terms.get(term).copied().unwrap_or_default();
        let pairs = query.pairs().into_iter();
        let pairs = pairs.map(|(a, b)| (b.to_string(), (a.to_string(), PAIR_SHARE * weight(a).min(weight(b)))));
        words.pairs = pairs.collect();
        words.is_one |= query.is_symbol();
        let name = query.identifiers.iter().find(|name| name.whole_query).map(|name| name.name.as_str());
        words.name = query.written.as_deref().or(name).map(|name| Spelling::new(name.trim_matches('_')));
        words.is_whole_name = query.written.is_some();
        words
    }

    /// The words of a text, all of the same weight.
    pub fn of_text(text: &str) -> QueryWords {
        let terms = TOKENIZER.with_borrow_mut(|t| t.terms(text));
        QueryWords::unweighed(terms.iter().map(String::as_str))
    }

    /// The terms without stop words, each with weight 1; all terms where all are stop words.
    fn unweighed<'t>(all: impl Iterator<Item = &'t str> + Clone) -> QueryWords {
        let is_content = |term: &&str| !is_stop_word(term);
        let any = all.clone().any(|term| is_content(&term));
        let terms: HashMap<String, f32> = all.filter(|t| !any || is_content(t)).map(|t| (t.to_string(), 1.0)).collect();
        let initials = Initials::of(terms.keys().map(String::as_str));
        let beginnings = Beginnings::of(terms.keys().map(String::as_str));
        let (total, is_one) = (terms.len() as f32, terms.len() == 1);
        QueryWords {
            total,
            is_one,
            pairs: HashMap::new(),
            initials,
            beginnings,
            terms,
            name: None,
            is_whole_name: false,
        }
    }

    /// The summed weight of the query's distinct terms in `text`, and of neighbours in it that are neighbours in the
    /// query.
    fn weight(&self, text: &str) -> f32 {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut before: (usize, &str) = (usize::MAX, "");
        let mut sum = 0.0;
        let text = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        let mut add = |token: Token<'_>| {
            if let Some((term, weight)) = self.terms.get_key_value(token.term) {
                if seen.insert(term) {
                    sum += weight;
                }
                let pair = self.pairs.get(token.term).filter(|(first, _)| first == before.1);
                if let Some((_, weight)) = pair.filter(|_| before.0.wrapping_add(1) == token.position) {
                    sum += weight;
                }
                if !token.compound {
                    before = (token.position, term);
                }
            }
        };
        TOKENIZER.with_borrow_mut(|t| t.tokenize_among(text, &self.initials, &mut add));
        sum
    }

    /// How a text holds the word or name that the query is, in any spelling. The last part of a path counts only if a
    /// text with all of its parts need not hold it.
    pub fn fit_in(&self, text: &str) -> NameFit {
        let name = self.name.as_ref().filter(|name| self.is_whole_name || name.pieces().nth(1).is_some());
        name.map_or(NameFit::Inside, |name| name.fit_in(text))
    }

    /// The line of a section that holds the name that the query is, in any spelling or form, where the heading does not.
    pub fn line_below_heading(&self, lines: &[&str], unit: &Unit) -> Option<usize> {
        let name = self.name.as_ref()?;
        let holds = |line: &&str| match name.pieces().nth(1) {
            Some(_) => self.fit_in(line) > NameFit::Inside,
            None => self.weight(line) > 0.0,
        };
        let heading = unit.span.line as usize;
        let own = lines.get(heading.checked_sub(1)?..(unit.span.end as usize).min(lines.len()))?;
        own.iter().position(holds).map(|at| heading + at)
    }

    /// False for a text without any of the query's words.
    fn may_stand_in(&self, text: &str) -> bool {
        let Some(beginnings) = self.beginnings.as_ref().filter(|_| text.is_ascii()) else { return true };
        let mut any = false;
        beginnings.each(text.as_bytes(), &text.as_bytes().to_ascii_lowercase(), |_| {
            any = true;
            text.len()
        });
        any
    }

    /// Weighs lines that have no weight yet. Most lines contain no word of the query and are not tokenized.
    fn weigh(&self, lines: &mut WeighedLines<'_>, numbers: Range<usize>) {
        let WeighedLines { all, weights } = lines;
        let is_known = |number: &usize| weights.get(number.wrapping_sub(1)).is_none_or(|weight| !weight.is_nan());
        let unknown: Vec<usize> = numbers.filter(|number| !is_known(number)).collect();
        let mut may_hold: Vec<bool> = unknown.iter().map(|number| !all[number - 1].is_ascii()).collect();
        match &self.beginnings {
            Some(beginnings) => {
                let mut starts = Vec::with_capacity(unknown.len() + 1);
                let mut text: Vec<u8> = Vec::new();
                for number in &unknown {
                    starts.push(text.len());
                    text.extend_from_slice(all[number - 1].as_bytes());
                    text.push(b'\n');
                }
                starts.push(text.len());
                let lower = text.to_ascii_lowercase();
                beginnings.each(&text, &lower, |place| {
                    let at = starts.partition_point(|start| *start <= place) - 1;
                    may_hold[at] = true;
                    starts[at + 1]
                });
            }
            None => may_hold.fill(true),
        }
        for (number, may_hold) in unknown.into_iter().zip(may_hold) {
            weights[number - 1] = if may_hold { self.weight(all[number - 1]) } else { 0.0 };
        }
    }

    /// Whether the query has no words.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The highest weight of a single line of a unit; `lines` are those of its file.
    pub fn most(&self, lines: &[&str], unit: &Unit) -> f32 {
        let (first, end) = (unit.span.line.max(1) as usize, (unit.span.end as usize).min(lines.len()));
        let own = lines.get(first - 1..end).unwrap_or_default();
        own.iter().map(|line| self.weight(line)).fold(0.0, f32::max)
    }

    /// Byte ranges of the query's words in a line, in order, without overlaps.
    pub fn places(&self, line: &str) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        let line = &line[..line.floor_char_boundary(LINE_BYTES_MAX)];
        let mut add = |token: Token<'_>| {
            let inside = places.last().is_some_and(|p| token.start < p.end);
            if self.terms.contains_key(token.term) && !inside {
                places.push(token.start..token.end);
            }
        };
        TOKENIZER.with_borrow_mut(|t| t.tokenize_among(line, &self.initials, &mut add));
        places
    }

    /// The number of the line, from 1, that shows best why `unit` answers. For a unit found by a pattern it is one of
    /// the lines in `matching`, if any lies in the unit.
    pub fn best_line(&self, lines: &mut WeighedLines<'_>, unit: &Unit, matching: Option<&[u32]>) -> usize {
        let best = self.best_of_all(lines, unit);
        let lines = lines.all;
        let Some(matching) = matching else { return best };
        let (first, end) = (unit.span.first.min(unit.span.line), unit.span.end);
        let inside = matching.iter().filter(|n| (first..=end).contains(n)).map(|n| *n as usize);
        let weight = |n: usize| self.weight(lines.get(n.wrapping_sub(1)).unwrap_or(&""));
        if matching.contains(&(best as u32)) {
            return best;
        }
        // The first of the best.
        inside.rev().max_by(|a, b| weight(*a).total_cmp(&weight(*b))).unwrap_or(best)
    }

    /// The line with the most of the query's weight; lines that say nothing ([`tells`]) come last. The line that names
    /// the unit wins if it has a word of the query or the documentation has all of several, unless another line
    /// outweighs name, signature and documentation by [`BODY_MARGIN`]; and it takes the place of a line above the
    /// definition that lacks a word. Lines with the word or name that the query is come before those with it in a longer
    /// name, and these before others.
    fn best_of_all(&self, weighed: &mut WeighedLines<'_>, unit: &Unit) -> usize {
        let lines = weighed.all;
        let (first, end) = (unit.span.line as usize, (unit.span.end as usize).min(lines.len()));
        let is_text = matches!(unit.kind, UnitKind::RawCode | UnitKind::Document | UnitKind::Section);
        let own = if is_text { first } else { own_line(lines, unit, end) };
        let line_at = |number: usize| lines.get(number.wrapping_sub(1)).copied().unwrap_or_default();
        let mut best = BestSoFar { number: own, ..BestSoFar::default() };
        let docstring = if self.may_stand_in(&unit.docstring) { unit.docstring.as_str() } else { "" };
        let is_whole = || !self.is_one && self.weight(docstring) >= WHOLE_SHARE * self.total;
        let answers = || self.weight(line_at(own)) > 0.0 || is_whole();
        if !is_text && self.total > 0.0 && answers() {
            // Its documentation counts for it, wherever it is.
            let named = format!("{} {} {docstring}", line_at(own), unit.qualified_name());
            let weight = self.weight(&named) + BODY_MARGIN * self.total;
            let fit = self.fit_in(line_at(own)).max(self.fit_in(&unit.name));
            best = BestSoFar { key: (fit, true, weight), number: own };
        }
        let mut bytes_left = UNIT_BYTES_MAX;
        let from = (unit.span.first as usize).clamp(1, first.max(1));
        let is_considered = |number: &usize| {
            let before = bytes_left;
            bytes_left = bytes_left.saturating_sub(line_at(*number).len());
            before > 0
        };
        let considered = from..from + (from..=end).take_while(is_considered).count();
        self.weigh(weighed, considered.clone());
        for number in considered.clone() {
            let (line, weight) = (line_at(number), weighed.weights[number - 1]);
            let fit = self.fit_in(line);
            if weight > 0.0 || fit > NameFit::Inside {
                best.offer((fit, tells(line), weight), number);
            }
        }
        // A look at further lines for the name alone is cheap.
        for number in considered.end..=end {
            if best.key.0 < NameFit::Whole && self.name.is_some() {
                best.offer((self.fit_in(line_at(number)), false, 0.0), number);
            }
        }
        let BestSoFar { key: (fit, _, weight), mut number } = best;
        let has_letters = |number: &usize| line_at(*number).contains(char::is_alphabetic);
        // A comment above a definition is the reason, and the definition the place; a line of it with all words may be
        // the text that was looked for.
        if !is_text && number < first && weight < self.total && fit == NameFit::Inside {
            number = own;
        }
        if weight > 0.0 || has_letters(&number) {
            return number;
        }
        let told = (first..=end).find(|number| tells(line_at(*number)));
        told.or_else(|| (first..=end).find(has_letters)).unwrap_or(own)
    }
}

/// The best line so far.
#[derive(Default)]
struct BestSoFar {
    /// How it holds the name that the query is, whether it tells something, and its weight.
    key: (NameFit, bool, f32),
    number: usize,
}

impl BestSoFar {
    fn offer(&mut self, key: (NameFit, bool, f32), number: usize) {
        if key > self.key {
            *self = BestSoFar { key, number };
        }
    }
}

/// The weighed lines of a file, cached because a class and its methods share lines.
#[derive(Debug)]
pub struct WeighedLines<'l> {
    /// The lines, from the first of the file.
    pub all: &'l [&'l str],
    /// The weight of each; no number where it is not known yet.
    weights: Vec<f32>,
}

impl<'l> WeighedLines<'l> {
    /// Lines that are not weighed yet.
    pub fn new(all: &'l [&'l str]) -> WeighedLines<'l> {
        WeighedLines { all, weights: vec![f32::NAN; all.len()] }
    }
}

/// The line with the unit's name, which attributes, decorators and templates may precede.
pub fn own_line(lines: &[&str], unit: &Unit, end: usize) -> usize {
    let first = unit.span.line as usize;
    // The text below a heading mentions it, and names nothing.
    let is_text = matches!(unit.kind, UnitKind::RawCode | UnitKind::Document | UnitKind::Section);
    let end = if is_text { end.min(first + NAME_LINES_MAX) } else { end };
    let own = lines.get(first.saturating_sub(1)..end).unwrap_or_default();
    let named = naming_line(own.iter().copied(), last_segment(&unit.name))
        .or_else(|| naming_line(own.iter().copied(), &unit.name));
    named.filter(|_| !unit.name.is_empty()).map_or(first, |at| first + at)
}

#[cfg(test)]
mod tests {
    use colgrep_core::language::LanguageFacts;
    use colgrep_core::unit::Span;

    use super::*;

    fn unit(kind: UnitKind, name: &str, line: u32, end: u32) -> Unit {
        Unit { kind, name: name.into(), span: Span { first: line, line, end }, ..Unit::default() }
    }

    fn words(query: &str) -> QueryWords {
        QueryWords::of_text(query)
    }

    #[test]
    fn the_best_line_holds_most_of_the_query() {
        let text = ["# Title", "how to parse", "parse a request body", "request"];
        let code =
            ["#[test]", "fn push(item: T) {", "    // wait until the queue has room", "    self.items.add(item)"];
        for (query, lines, unit, expected) in [
            ("parse request", text, unit(UnitKind::Section, "Title", 1, 4), 3),
            ("nothing", text, unit(UnitKind::Section, "Title", 2, 4), 2),
            ("push item", code, unit(UnitKind::Function, "push", 1, 4), 2),
            ("queue has no room", code, unit(UnitKind::Function, "push", 1, 4), 3),
            // A comment that answers says more than a name without a word of the question.
            ("room", code, unit(UnitKind::Function, "push", 1, 4), 3),
            ("push when the queue is full", code, unit(UnitKind::Function, "push", 1, 4), 2),
            // The line that names the unit has none of the words.
            ("has room", code, unit(UnitKind::Function, "push", 1, 4), 3),
            // Nothing does: never a line that says nothing.
            ("nowhere", ["}", "#endif", "use a::b;", "fn run() {"], unit(UnitKind::RawCode, "", 1, 4), 4),
            ("socket", ["use net::socket;", "", "open(socket)", "}"], unit(UnitKind::RawCode, "", 1, 4), 3),
        ] {
            assert_eq!(words(query).best_line(&mut WeighedLines::new(&lines), &unit, None), expected, "{query}");
        }
        // Words of the documentation: one word shows its own line, several show the line with the name.
        let code = ["/// Waits until the queue", "/// has room for it.", "fn push(item: T) {", "    add(item)", "}"];
        let docstring = "Waits until the queue has room for it.".to_string();
        let span = Span { first: 1, line: 3, end: 5 };
        let push = Unit { docstring, span, ..unit(UnitKind::Function, "push", 3, 5) };
        for (query, expected) in [("room", 2), ("queue", 1), ("queue room", 3), ("push room", 3), ("room of cars", 3)] {
            assert_eq!(words(query).best_line(&mut WeighedLines::new(&code), &push, None), expected, "{query}");
        }
        // Lines far down in a long unit are not considered.
        let filler = "filler ".repeat(1024);
        for (above, expected) in [(3, 4), (5, 1)] {
            let lines = [vec![filler.as_str(); above], vec!["parse a request"]].concat();
            let unit = unit(UnitKind::Section, "Title", 1, lines.len() as u32);
            assert_eq!(words("parse request").best_line(&mut WeighedLines::new(&lines), &unit, None), expected);
        }
    }

    /// A name in another case, with other joiners, and at the end of a long declaration.
    #[test]
    fn a_line_with_the_name_comes_before_those_with_its_parts() {
        let query = |text: &str| {
            let query = Query::new(text, "/src/a", &LanguageFacts::default(), &mut Tokenizer::default());
            let QueryWords { name, is_whole_name, .. } = QueryWords::new(&query, &Statistics::default());
            QueryWords { name, is_whole_name, ..words(text) }
        };
        let guard = ["#ifndef ACME_NET_RING_H_", "namespace acme {", "namespace net {", "class Ring; // h", "#endif"];
        let code = ["int main(int argc) {", "  return test(argc);", "}  // ACME_TEST_MAIN"];
        let doc = ["## What was renamed", "Of animation and object", "* `animationObject` is now `anim`"];
        for (typed, lines, unit, expected) in [
            ("acme_net_ring_h_", &guard[..], unit(UnitKind::RawCode, "", 1, 5), 1),
            ("acmeNetRing", &guard[1..], unit(UnitKind::RawCode, "", 1, 4), 1),
            ("acme_test_main", &code[..], unit(UnitKind::Function, "main", 1, 3), 3),
            ("testMain", &code[..2], unit(UnitKind::Function, "main", 1, 2), 1),
        ] {
            assert_eq!(query(typed).best_line(&mut WeighedLines::new(lines), &unit, None), expected, "{typed}");
        }
        for (typed, expected) in
            [("animationobject", Some(3)), ("animation_object", Some(3)), ("renamed", Some(1)), ("other", None)]
        {
            let section = unit(UnitKind::Section, "What was renamed", 1, 3);
            assert_eq!(query(typed).line_below_heading(&doc, &section), expected, "{typed}");
        }
        let filler = "max ".repeat(4096);
        let long = [vec![filler.as_str(); 9], vec!["port_max = 1", "maxPort = 1"]].concat();
        let unit = unit(UnitKind::RawCode, "", 1, 11);
        assert_eq!(query("MAX_PORT").best_line(&mut WeighedLines::new(&long), &unit, None), 11);
    }
}
