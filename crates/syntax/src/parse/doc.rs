//! Assigns comments and attributes to definitions.

use super::collect::FileCaptures;
use super::lines::{Bytes, Lines};
use super::text::{clean_comment, is_directive, push_line};
use crate::language::Language;

/// Maximum of preprocessor lines between a definition and its comments.
const DIRECTIVES_MAX: u32 = 8;

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
    /// Whether `///` comments contain XML.
    pub(super) xml: bool,
}

/// The head of a definition: its documentation, and where it and the definition begin.
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
    /// Where a definition ends, without trailing comments, which a grammar may attach although they document the next
    /// one.
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

    /// Reads the comments and attributes above the definition at `bytes`, or inside it before its first word.
    /// `previous` is where the definition before it begins.
    pub(super) fn head_of(&self, bytes: &Bytes, previous: usize, lines: &Lines<'_>) -> Head {
        let (start, next) = self.first_word(bytes, lines);
        let own = lines.line_of(start);
        let mut head = Head { first: own, line: own, start, doc: String::new() };
        let mut docs: Vec<String> = Vec::new();
        let indentation = lines.indentation(start);
        // Where the parts taken so far begin.
        let mut below = start;
        for piece in self.pieces[..next].iter().rev() {
            let text = &lines.text[piece.bytes.clone()];
            // A blank line may separate `/** … */` from what it documents, but no other comment.
            let gap = if docs.is_empty() && text.starts_with("/**") { 2 } else { 1 };
            // A comment indented further ends the head (a block without a closing bracket).
            let is_inner =
                piece.is_comment && piece.bytes.start < bytes.start && lines.column(piece.bytes.start) > indentation;
            if piece.bytes.end > below || piece.end + gap + DIRECTIVES_MAX < head.first {
                break;
            }
            let (between, directives) = self.behind_directives(&lines.text[piece.bytes.end..below]);
            let is_apart = directives > 0 && piece.is_comment && !text.starts_with("///");
            if piece.end + gap + directives < head.first || is_inner || is_apart {
                break;
            }
            // Words outside the definition in the grammar (`pub`, `static const int`) may come between.
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

    /// The rest of a text after white space and lines for C#'s preprocessor, and the number of these lines.
    fn behind_directives<'t>(&self, text: &'t str) -> (&'t str, u32) {
        let (mut rest, mut count) = (text.trim_start(), 0);
        while self.xml && count < DIRECTIVES_MAX && is_directive(rest.lines().next().unwrap_or_default()) {
            rest = rest.split_once('\n').map_or("", |(_, behind)| behind.trim_start());
            count += 1;
        }
        (rest, count)
    }

    /// Offset of the first word of the definition at `bytes`, after comments and attributes, and the index of the first
    /// piece after it.
    fn first_word(&self, bytes: &Bytes, lines: &Lines<'_>) -> (usize, usize) {
        let mut start = bytes.start;
        let mut next = self.pieces.partition_point(|p| p.bytes.start < start);
        while let Some(piece) = self.pieces.get(next).filter(|p| p.bytes.start == start && p.bytes.end < bytes.end) {
            let rest = &lines.text[piece.bytes.end..bytes.end];
            start = bytes.end - self.behind_directives(rest).0.len();
            next += 1;
        }
        (start, next)
    }

    /// The attributes above the definition at `bytes`, or inside it before its first word, nearest first.
    pub(super) fn attributes_of<'t>(&self, bytes: &Bytes, lines: &Lines<'t>) -> Vec<&'t str> {
        let text = lines.text;
        let (mut below, next) = self.first_word(bytes, lines);
        let mut attributes = Vec::new();
        for piece in self.pieces[..next].iter().rev() {
            let is_near = piece.bytes.end <= below && piece.end + 1 >= lines.line_of(below);
            if !is_near || !text[piece.bytes.end..below].trim().is_empty() {
                break;
            }
            if !piece.is_comment {
                attributes.push(&text[piece.bytes.clone()]);
            }
            below = piece.bytes.start;
        }
        attributes
    }
}
