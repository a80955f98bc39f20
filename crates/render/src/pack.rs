//! `--pack`: an answer that spends a budget of tokens on the likeliest units, as text or as rows of JSON.

use std::io::Write;

use anyhow::Result;
use colgrep_engine::answer::FileAnswer;
use colgrep_engine::answer::pack::{BYTES_A_TOKEN, PackPiece, pack};
use schemars::JsonSchema;
use serde::Serialize;

use super::OutputOptions;
use super::escape::{escape_control, escape_text};
use super::path::{absolute, shown};
use super::rows::write_rows;

/// A unit of a pack, with --pack.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "Packed")]
pub struct Packed {
    /// Absolute path.
    file: String,
    /// Its first line, from 1.
    line: u32,
    /// Its last line.
    end_line: u32,
    /// function, method, class, constant, document, section or rawcode.
    unit_type: &'static str,
    /// Name with the names that enclose it.
    qualified_name: String,
    /// Its id.
    id: String,
    /// Its score. Comparable within one answer and one project only.
    score: f32,
    /// How much of it is shown: line, brief (signature and first sentence), cut (lines left out) or full.
    grade: &'static str,
    /// The text shown: its head, then lines.
    text: String,
}

/// The pieces of a pack of at most `tokens`; with `ids`, each names its unit's id.
pub fn pieces(files: &[FileAnswer], tokens: usize, ids: bool) -> Vec<PackPiece> {
    pack(files, tokens.saturating_mul(BYTES_A_TOKEN), ids, |file| escape_control(&shown(file).to_string_lossy()))
}

/// Prints a pack and returns the number of its pieces; for a terminal, with control characters escaped.
pub fn print(out: &mut impl Write, files: &[FileAnswer], tokens: usize, options: &OutputOptions) -> Result<usize> {
    let pieces = pieces(files, tokens, false);
    let count = pieces.len();
    let mut rows = pieces.into_iter().map(|piece| packed(files, piece));
    let is_terminal = options.look.width.is_some();
    let text = |row: Packed| if is_terminal { escape_text(&row.text) } else { row.text };
    match options.wish.format {
        format if format.is_json() => write_rows(out, rows, format)?,
        _ => rows.try_for_each(|row| out.write_all(text(row).as_bytes()))?,
    }
    Ok(count)
}

fn packed(files: &[FileAnswer], piece: PackPiece) -> Packed {
    let file = &files[piece.file];
    let answered = &file.units[piece.unit];
    Packed {
        file: absolute(&file.root, &file.path),
        line: answered.unit.span.line,
        end_line: answered.unit.span.end,
        unit_type: answered.unit.kind.name(),
        qualified_name: answered.unit.qualified_name(),
        id: answered.id.to_string(),
        score: answered.score,
        grade: piece.grade.name(),
        text: piece.text,
    }
}
