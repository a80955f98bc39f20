//! The document schema: fields, packed facts, and our tokenizer as tantivy's.

use std::cell::RefCell;

use colgrep_core::bm25::{FIELD_COUNT, Field as UnitField};
use colgrep_core::query::last_segment;
use colgrep_core::token::{Tokenizer as CoreTokenizer, is_stop_word};
use colgrep_core::{Span, Unit, UnitKind, UnitRole};
use tantivy::Index;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use xxhash_rust::xxh3::xxh3_64;

use crate::ids::FileId;
use crate::signature::STRIPS;

const TOKENIZER: &str = "colgrep";
/// Longest stop word, in bytes, that is stored without a position.
const STOP_WORD_BYTES_MAX: usize = 5;
/// Name of the field with the numbers of files that have a signature.
pub(super) const SIGNED: &str = "signed";
/// Names of the fields of signatures, one per strip.
pub(super) const SIGNATURE: [&str; STRIPS] =
    ["signature0", "signature1", "signature2", "signature3", "signature4", "signature5", "signature6", "signature7"];
/// Kind code of a file's document.
pub(super) const FILE_KIND: u64 = 7;

#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// The searched fields, in the order of [`UnitField::ALL`].
    pub(super) unit: [Field; FIELD_COUNT],
    /// Number of the file, for units and files.
    pub(super) file: Field,
    /// Kind, role and lines, packed: see [`Info`].
    pub(super) info: Field,
    /// Hash of the unit's text, the address of its vectors; 0 for files.
    pub(super) text: Field,
    /// Last segment of the unit's name, in lower case.
    pub(super) definition: Field,
    /// Names that the unit calls, as written.
    pub(super) callee: Field,
    /// Files: terms of their topics.
    pub(super) topic: Field,
    /// Files: names that their text defines as types.
    pub(super) textual_type: Field,
    /// Files: keys of their imports.
    pub(super) import: Field,
    /// Entries of a history: paths that they mention.
    pub(super) mention: Field,
    /// Entries of a history: when ([`crate::moment::Moment`]).
    pub(super) time: Field,
    /// Of a file that has a signature, its number: see [`Signed`].
    pub(super) signed: Field,
    /// Signatures of a large tree's files ([`crate::signature`]).
    pub(super) signature: [Field; STRIPS],
    /// Stored for output: a unit without its body, or a file's imports.
    pub(super) stored: Field,
}

pub(super) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let text = |option, lengths| {
        let indexing = TextFieldIndexing::default().set_tokenizer(TOKENIZER).set_index_option(option);
        let indexing = indexing.set_fieldnorms(lengths);
        TextOptions::default().set_indexing_options(indexing)
    };
    let raw = || {
        let indexing = STRING.get_indexing_options().cloned().unwrap_or_default();
        TextOptions::default()
            .set_indexing_options(indexing.set_index_option(IndexRecordOption::Basic).set_fieldnorms(false))
    };
    let unit = UnitField::ALL.map(|field| {
        let option = match field {
            UnitField::Doc | UnitField::Body => IndexRecordOption::WithFreqsAndPositions,
            _ => IndexRecordOption::WithFreqs,
        };
        schema.add_text_field(field.name(), text(option, !field.is_list()))
    });
    let fields = Fields {
        unit,
        file: schema.add_u64_field("file", NumericOptions::default().set_indexed().set_fast()),
        info: schema.add_u64_field("info", FAST),
        text: schema.add_u64_field("text", FAST),
        definition: schema.add_text_field("definition", raw()),
        callee: schema.add_text_field("callee", raw()),
        topic: schema.add_text_field("topic", raw()),
        textual_type: schema.add_text_field("textual_type", raw()),
        import: schema.add_text_field("import", raw()),
        mention: schema.add_text_field("mention", raw().set_fast("raw")),
        time: schema.add_i64_field("time", FAST),
        signed: schema.add_u64_field(SIGNED, FAST),
        signature: SIGNATURE.map(|name| schema.add_u64_field(name, FAST)),
        stored: schema.add_bytes_field("stored", STORED),
    };
    (schema.build(), fields)
}

/// A file that has a signature, in one number: from the lowest bit, whether it is of a large file 1, its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signed {
    pub(super) file: FileId,
    pub(super) is_long: bool,
}

impl Signed {
    pub(super) fn packed(self) -> u64 {
        self.file.in_index() << 1 | u64::from(self.is_long)
    }

    pub(super) fn unpacked(number: u64) -> Signed {
        Signed { file: FileId((number >> 1) as u32), is_long: number & 1 == 1 }
    }
}

/// A unit's facts for ranking in one number, from the lowest bit: kind 3, role 2, line 20, lines after it 20, lines of
/// documentation before it 11, hash of the name's last segment as written 8. Larger values are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Info(pub(super) u64);

impl Info {
    const LINE: u64 = (1 << 20) - 1;
    const LEAD: u64 = (1 << 11) - 1;

    pub(super) fn of(unit: &Unit) -> Info {
        let kind = UnitKind::ALL.iter().position(|k| *k == unit.kind).unwrap_or_default() as u64;
        let role = UnitRole::ALL.iter().position(|r| *r == unit.role).unwrap_or_default() as u64;
        let span = unit.span;
        let line = u64::from(span.line).min(Info::LINE);
        let behind = u64::from(span.end.saturating_sub(span.line)).min(Info::LINE);
        let lead = u64::from(span.line.saturating_sub(span.first)).min(Info::LEAD);
        let name = u64::from(Info::name_hash(last_segment(&unit.name)));
        Info(kind | role << 3 | line << 5 | behind << 25 | lead << 45 | name << 56)
    }

    pub(super) fn name_hash(name: &str) -> u8 {
        xxh3_64(name.as_bytes()) as u8
    }

    pub(super) fn is_file(self) -> bool {
        self.0 & 7 == FILE_KIND
    }

    pub(super) fn kind(self) -> UnitKind {
        UnitKind::ALL.get(self.0 as usize & 7).copied().unwrap_or_default()
    }

    pub(super) fn role(self) -> UnitRole {
        UnitRole::ALL.get(self.0 as usize >> 3 & 3).copied().unwrap_or_default()
    }

    pub(super) fn line(self) -> u32 {
        (self.0 >> 5 & Info::LINE) as u32
    }

    pub(super) fn end(self) -> u32 {
        self.line() + (self.0 >> 25 & Info::LINE) as u32
    }

    /// The lines that it covers.
    pub(super) fn span(self) -> Span {
        Span { first: self.first(), line: self.line(), end: self.end() }
    }

    /// First line, documentation included.
    pub(super) fn first(self) -> u32 {
        self.line().saturating_sub((self.0 >> 45 & Info::LEAD) as u32)
    }

    /// Whether the unit's name has this spelling, case included. Compares 8 bits of a hash: one other spelling in 256
    /// passes too.
    pub(super) fn is_written(self, name: &str) -> bool {
        (self.0 >> 56) as u8 == Info::name_hash(name)
    }
}

thread_local! {
    pub(super) static CORE_TOKENIZER: RefCell<CoreTokenizer> = RefCell::new(CoreTokenizer::default());
}

/// Our tokenizer as tantivy's: tokenizes the whole text at once, then returns the tokens.
#[derive(Clone, Default)]
struct TantivyTokenizer {
    terms: String,
    /// (end of the term in `terms`, start and end in the text, position).
    tokens: Vec<(usize, usize, usize, usize)>,
    token: Token,
}

struct Stream<'a> {
    tokenizer: &'a mut TantivyTokenizer,
    next: usize,
}

impl Tokenizer for TantivyTokenizer {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        self.terms.clear();
        self.tokens.clear();
        self.token.reset();
        CORE_TOKENIZER.with_borrow_mut(|tokenizer| {
            tokenizer.tokenize_text(text, |t| {
                self.terms.push_str(t.term);
                // Proximity never needs stop words: their positions are all equal and take no bytes.
                let position = if t.term.len() <= STOP_WORD_BYTES_MAX && is_stop_word(t.term) { 0 } else { t.position };
                self.tokens.push((self.terms.len(), t.start, t.end, position));
            });
        });
        Stream { tokenizer: self, next: 0 }
    }
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let own = &mut *self.tokenizer;
        let Some(&(end, from, to, position)) = own.tokens.get(self.next) else { return false };
        let start = self.next.checked_sub(1).map_or(0, |i| own.tokens[i].0);
        own.token.text.clear();
        own.token.text.push_str(&own.terms[start..end]);
        own.token.offset_from = from;
        own.token.offset_to = to;
        own.token.position = position;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        &self.tokenizer.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokenizer.token
    }
}

pub(super) fn prepare(index: &Index) {
    index.tokenizers().register(TOKENIZER, TantivyTokenizer::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_packs_and_unpacks() {
        let mut unit = Unit { kind: UnitKind::Class, role: UnitRole::Extension, ..Unit::default() };
        unit.name = "http.Router".to_string();
        (unit.span.first, unit.span.line, unit.span.end) = (70, 77, 12_345);
        let info = Info::of(&unit);
        assert_eq!((info.kind(), info.role(), info.line(), info.end()), (unit.kind, unit.role, 77, 12_345));
        assert!(info.span() == unit.span && info.is_written("Router") && !info.is_written("router"));
        assert!(!info.is_file() && Info(FILE_KIND).is_file());
    }
}
