//! A result of a search as the text that an agent reads.

use colgrep_engine::answer::{FileAnswer, UnitAnswer};
use colgrep_syntax::read::lines_between;

use colgrep_render::escape::escape_control;
use colgrep_render::line::{escaped, shortened};
use colgrep_render::path::typed;
use colgrep_render::words::counted;

/// A file of the answer as text, a row for each unit: with `content` its whole lines, else `around` lines around its
/// best line.
pub(super) fn block(file: &FileAnswer, content: bool, around: usize) -> String {
    let shown = escape_control(&typed(&file.root, &file.path));
    let first = file.units.iter().map(|unit| unit.unit.span.line).min().unwrap_or_default();
    let end = file.units.iter().map(|unit| unit.unit.span.end).max().unwrap_or_default();
    let best = || file.units.iter().map(|unit| unit.line.number);
    let (from, to) = match (content, around) {
        (true, _) => (first as usize, end as usize),
        (false, 0) => (1, 0),
        (false, _) => {
            let (from, to) = (best().min().unwrap_or_default(), best().max().unwrap_or_default());
            (from.saturating_sub(around).max(1), to.saturating_add(around))
        }
    };
    let lines = if from <= to { lines_between(&file.text, from, to, str::lines) } else { Vec::new() };
    let mut block: String = file.units.iter().map(|unit| unit_block(&shown, &lines, unit, content, around)).collect();
    if file.also_here > 0 {
        block.insert_str(block.len() - 1, &format!("; also here: {}", counted(file.also_here, "unit")));
    }
    block
}

fn unit_block(path: &str, lines: &[&str], answered: &UnitAnswer, content: bool, around: usize) -> String {
    let (unit, line) = (&answered.unit, &answered.line);
    let (first, end) = (unit.span.line as usize, answered.last_line);
    let mut block =
        format!("{path}:{first}-{end} {} {}", unit.kind.name(), unit.qualified_name()).trim_end().to_string();
    block.push('\n');
    if content {
        numbered(&mut block, lines, first, end);
        block.push_str(&format!("    #{}\n", answered.id));
        return block;
    }
    if !unit.signature.is_empty() {
        block.push_str(&format!("    {}\n", shortened(&unit.signature)));
    }
    if around > 0 && line.is_in_file {
        // Half of them before the best line, the rest from it on.
        let from = line.number.saturating_sub((around - 1) / 2).max(1);
        numbered(&mut block, lines, from, from.saturating_add(around - 1));
    } else if line.is_in_file && (unit.signature.is_empty() || line.number != answered.name_line) {
        block.push_str(&format!("    {}: {}\n", line.number, shortened(line.text.trim())));
    }
    block.push_str(&format!("    #{}\n", answered.id));
    block
}

fn numbered(block: &mut String, lines: &[&str], first: usize, end: usize) {
    for number in first..=end {
        let Some(text) = lines.get(number.wrapping_sub(1)) else { break };
        block.push_str(&format!("{number}: {}\n", escaped(text)));
    }
}
