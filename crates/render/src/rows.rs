//! Rows of JSON: one array, or one a line.

use std::io::Write;

use anyhow::Result;
use serde::Serialize;

use super::Format;
use super::escape::json_text;

/// Writes rows as one array, or one a line.
pub(super) fn write_rows<T: Serialize>(
    out: &mut impl Write,
    mut rows: impl Iterator<Item = T>,
    format: Format,
) -> Result<()> {
    match format {
        Format::Json => writeln!(out, "{}", json_text(&rows.collect::<Vec<_>>())?)?,
        _ => rows.try_for_each(|row| anyhow::Ok(writeln!(out, "{}", json_text(&row)?)?))?,
    }
    Ok(())
}
