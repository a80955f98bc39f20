//! The patterns of an outline, compiled once per process.

use regex::{Regex, RegexBuilder};

use super::{DefinitionExtent, DefinitionLine, LineOutline};

/// Largest compiled pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 4 << 20;

/// A [`LineOutline`] with its patterns compiled.
#[derive(Debug)]
pub struct CompiledOutline {
    /// Each first line: its row, its pattern, and the pattern of its last line.
    pub(crate) heads: Vec<(DefinitionLine, Regex, Option<Regex>)>,
    pub(crate) imports: Option<Regex>,
    pub(crate) calls: Option<Regex>,
    pub(crate) headings: Option<[Regex; 2]>,
    pub(crate) continues: Option<Regex>,
}

impl LineOutline {
    /// Compiles its patterns.
    ///
    /// # Errors
    /// The first wrong pattern.
    pub fn compile(&self) -> Result<CompiledOutline, regex::Error> {
        let compiled = |pattern: &str| {
            let anchored = if pattern.starts_with('^') { pattern.to_string() } else { format!(r"^\s*{pattern}") };
            self.pattern(&anchored)
        };
        let given = |pattern: &str| (!pattern.is_empty()).then(|| pattern.to_string());
        let head = |head: &DefinitionLine| {
            let last = match head.extent {
                DefinitionExtent::Closed(pattern) | DefinitionExtent::Ended(pattern) => Some(compiled(pattern)?),
                _ => None,
            };
            Ok((*head, compiled(head.pattern)?, last))
        };
        Ok(CompiledOutline {
            heads: self.heads.iter().map(head).collect::<Result<_, _>>()?,
            imports: given(self.imports).map(|pattern| compiled(&pattern)).transpose()?,
            headings: match self.headings {
                ["", _] => None,
                [first, last] => Some([compiled(first)?, compiled(last)?]),
            },
            continues: given(self.continues).map(|pattern| compiled(&pattern)).transpose()?,
            calls: given(self.calls).map(|pattern| self.pattern(&pattern)).transpose()?,
        })
    }

    fn pattern(&self, pattern: &str) -> Result<Regex, regex::Error> {
        RegexBuilder::new(pattern).case_insensitive(self.ignores_case).size_limit(PATTERN_BYTES_MAX).build()
    }
}
