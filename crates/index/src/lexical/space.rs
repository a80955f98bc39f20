//! Space of each field, before blocks are compressed.

use super::read::Lexical;
use crate::error::Result;

impl Lexical {
    /// Bytes of each field for each purpose, as written by tantivy; stored documents have no field.
    pub fn space(&self) -> Result<Vec<(&'static str, String, u64)>> {
        let mut space = Vec::new();
        for segment in self.searcher.space_usage().map_err(tantivy::TantivyError::from)?.segments() {
            for (purpose, fields) in [
                ("terms", segment.termdict()),
                ("postings", segment.postings()),
                ("positions", segment.positions()),
                ("fast", segment.fast_fields()),
                ("lengths", segment.fieldnorms()),
            ] {
                let of_field = |field: &tantivy::space_usage::FieldUsage| {
                    (purpose, field.field_name().to_string(), field.total().get_bytes())
                };
                space.extend(fields.fields().map(of_field));
            }
            space.push(("stored", String::new(), segment.store().total().get_bytes()));
        }
        Ok(space)
    }
}
