//! Keys of configuration inside others.

use colgrep_core::query::intents::key_path;

use super::definitions::keep_best;
use super::lookup::{BYTES_READ_MAX, FILES_READ_MAX, IntentLookup, Point, UNITS_MAX};
use super::{Intent, Pointers, Resolved, Settled};
use crate::rounds::{FilesWithAllRequest, ScanTarget};
use colgrep_index::error::Result;

pub(super) const KEYS: Intent = Intent {
    name: "path of keys",
    doc: "The key inside the others, by indentation, a table's head or dots; the first may name the file. Dotted names \
          that nothing defines, too.",
    examples: &[
        ("spring.data-source.url", "spring.data-source.url"),
        ("${pool.size}", "pool.size"),
        ("config.get(\"pool.size\")", "pool.size"),
    ],
    parse: |query| {
        let is_plain = query.intents.locations.is_empty() && query.intents.phrases.is_empty();
        key_path(&query.text).filter(|_| is_plain).map(String::from).into_iter().collect()
    },
    resolve: |lookup, found, asked| {
        if !found.pointers.files.is_empty() {
            return Ok(Resolved::default());
        }
        let keys = lookup.keys(&asked[0])?;
        if keys.units.is_empty() && asked[0] != lookup.query.text.trim() {
            return Ok(Resolved::open(lookup.alone(&asked[0], found)?));
        }
        Ok(Resolved::open(keys))
    },
    settles: &[],
    yields_to: &[Settled::Name, Settled::Text],
};

impl IntentLookup<'_> {
    /// The keys with this path: where it is a whole one, in files that are no tests and the like, and in configuration
    /// rather than in code.
    pub(super) fn keys(&mut self, path: &str) -> Result<Pointers> {
        let mut terms = self.tokenizer.part_terms(path);
        terms.retain(|term| !term.bytes().all(|byte| byte.is_ascii_digit()));
        let files = self.rounds.ask(&FilesWithAllRequest { terms })?;
        let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
        let mut places = self.rounds.scan(&files, ScanTarget::Keys(path.to_string()))?;
        keep_best(&mut places, |(_, seen)| seen.is_cut);
        keep_best(&mut places, |(_, seen)| !seen.is_aside);
        keep_best(&mut places, |(_, seen)| seen.is_text);
        places.truncate(UNITS_MAX);
        self.point(&Point::at_all(&places, 1.0))
    }
}
