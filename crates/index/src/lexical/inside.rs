//! Finds tests inside the files that they test.

use std::collections::HashMap;

use colgrep_core::bm25::Field as UnitField;
use colgrep_core::{UnitKind, UnitRole};
use tantivy::Term;

use super::read::{Lexical, key};
use crate::error::Result;
use crate::ids::FileId;

/// Maximum lines of a block next to a module of tests that count as its frame (imports and braces).
const FRAME_LINES_MAX: u32 = 10;

impl Lexical {
    /// Lines of tests in files whose paths are not those of tests: units that the language's syntax marks as tests, and
    /// modules named `tests` or `test` of the files that `has_modules` accepts (Rust keeps tests there).
    pub fn tests_inside(&self, has_modules: impl Fn(FileId) -> bool) -> Result<HashMap<FileId, Vec<(u32, u32)>>> {
        let mut tests: HashMap<FileId, Vec<(u32, u32)>> = HashMap::new();
        let mut modules: HashMap<(FileId, String), (u32, u32)> = HashMap::new();
        // Both names have this term.
        let term = Term::from_field_text(self.fields.unit[UnitField::Parent as usize], "test");
        for (s, segment) in self.segments.iter().enumerate() {
            for doc in segment.reader.doc_ids_alive() {
                let info = segment.info(doc);
                if !info.is_file() && info.role() == UnitRole::Test {
                    tests.entry(segment.file(doc)).or_default().push((info.first(), info.end()));
                }
            }
            let mut members = Vec::new();
            segment.each(&term, |doc| members.push(doc))?;
            members.retain(|doc| has_modules(segment.file(*doc)));
            for doc in members {
                let parent = self.unit(key(s, doc))?.parent;
                let mut end = 0;
                let module = parent.split('.').find(|name| {
                    end += name.len() + 1;
                    matches!(*name, "tests" | "test")
                });
                if module.is_some() {
                    let (info, module) = (segment.info(doc), parent[..end - 1].to_string());
                    let span = modules.entry((segment.file(doc), module)).or_insert((info.first(), info.end()));
                    *span = (span.0.min(info.first()), span.1.max(info.end()));
                }
            }
        }
        for ((file, _), (first, end)) in modules {
            let spans = tests.entry(file).or_default();
            spans.push((first, end));
            // The lines that open and close the module belong to short adjacent blocks.
            for (s, doc) in self.documents_of(file)? {
                let info = self.segments[s].info(doc);
                let beside = info.end() + 1 == first || info.first() == end + 1;
                if !info.is_file()
                    && info.kind() == UnitKind::RawCode
                    && beside
                    && info.end() - info.first() < FRAME_LINES_MAX
                {
                    spans.push((info.first(), info.end()));
                }
            }
        }
        Ok(tests)
    }
}
