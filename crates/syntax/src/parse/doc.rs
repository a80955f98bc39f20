//! Which comments and attributes belong to a definition.

use super::collect::FileCaptures;
use super::lines::{Bytes, Lines};
use super::text::{clean_comment, push_line};
use crate::language::Language;

/// A comment or attribute that begins its line.
pub(super) struct Leading {
    pub(super) bytes: Bytes,
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) is_comment: bool,
}

/// The comments and attributes that may belong to a definition below or around them, by position.
pub(super) struct DocComments {
    pub(super) pieces: Vec<Leading>,
    /// Whether `///` comments hold XML.
    pub(super) xml: bool,
}

/// What stands above a definition: its documentation, and where it and the definition begin.
pub(super) struct Head {
    /// First line of the documentation (or of the definition).
    pub(super) first: u32,
    /// Line of the definition, attributes included.
    pub(super) line: u32,
    /// Offset of the definition's own first word.
    pub(super) start: usize,
    pub(super) doc: String,
}

pub(super) fn doc_comments(found: &FileCaptures, lines: &Lines<'_>, language: &Language) -> DocComments {
    let piece = |bytes: &Bytes, is_comment| {
        let (first, end) = (lines.line_of(bytes.start), lines.end_line(bytes));
        lines.starts_line(bytes.start).then(|| Leading { bytes: bytes.clone(), first, end, is_comment })
    };
    let mut pieces: Vec<Leading> = (found.comments.iter().filter_map(|b| piece(b, true)))
        .chain(found.attributes.iter().filter_map(|b| piece(b, false)))
        .collect();
    pieces.sort_by_key(|p| (p.bytes.start, std::cmp::Reverse(p.bytes.end)));
    // A comment inside an attribute is part of it.
    let mut end = 0;
    pieces.retain(|p| {
        let is_outer = p.bytes.end > end;
        end = end.max(p.bytes.end);
        is_outer
    });
    DocComments { pieces, xml: language.has_xml_docs }
}

impl DocComments {
    /// Where a definition ends without the comments below it: a grammar may give it what stands above the next one.
    pub(super) fn end_of(&self, bytes: &Bytes, lines: &Lines<'_>) -> usize {
        let mut end = bytes.start + lines.text[bytes.clone()].trim_end().len();
        let column = lines.column(bytes.start);
        let before = self.pieces.partition_point(|p| p.bytes.start < end);
        for piece in self.pieces[..before].iter().rev() {
            let is_last = piece.bytes.end >= end || lines.text[piece.bytes.end..end].trim_start().is_empty();
            if !is_last
                || !piece.is_comment
                || piece.bytes.start <= bytes.start
                || lines.column(piece.bytes.start) > column
            {
                break;
            }
            end = bytes.start + lines.text[bytes.start..piece.bytes.start].trim_end().len();
        }
        end
    }

    /// Reads what stands above the definition at `bytes`, or inside it in front of its first word.
    /// `previous` is where the definition before it begins.
    pub(super) fn head_of(&self, bytes: &Bytes, previous: usize, lines: &Lines<'_>) -> Head {
        let mut start = bytes.start;
        let mut next = self.pieces.partition_point(|p| p.bytes.start < start);
        while let Some(piece) = self.pieces.get(next).filter(|p| p.bytes.start == start && p.bytes.end < bytes.end) {
            let rest = &lines.text[piece.bytes.end..bytes.end];
            start = bytes.end - rest.trim_start().len();
            next += 1;
        }
        let own = lines.line_of(start);
        let mut head = Head { first: own, line: own, start, doc: String::new() };
        let mut docs: Vec<String> = Vec::new();
        let indentation = lines.indentation(start);
        // Where what is already taken begins.
        let mut below = start;
        for piece in self.pieces[..next].iter().rev() {
            let text = &lines.text[piece.bytes.clone()];
            // A blank line may part `/** … */` from what it documents, and nothing any other comment.
            let gap = if docs.is_empty() && text.starts_with("/**") { 2 } else { 1 };
            // A comment further in ends what stands above (a block without a closing bracket).
            let is_inner =
                piece.is_comment && piece.bytes.start < bytes.start && lines.column(piece.bytes.start) > indentation;
            if piece.bytes.end > below || piece.end + gap < head.first || is_inner {
                break;
            }
            // Words that the grammar keeps out of the definition (`pub`, `static const int`) are no obstacle.
            let between = lines.text[piece.bytes.end..below].trim_start();
            let is_head = below == start && previous < piece.bytes.end && !between.contains(['\n', ';', '}']);
            if !between.is_empty() && !is_head {
                break;
            }
            below = piece.bytes.start;
            head.first = piece.first.min(head.first);
            if piece.is_comment {
                docs.push(clean_comment(text, self.xml));
            } else if docs.is_empty() {
                head.line = piece.first.min(head.line);
            }
        }
        docs.iter().rev().for_each(|doc| push_line(&mut head.doc, doc));
        head
    }
}
