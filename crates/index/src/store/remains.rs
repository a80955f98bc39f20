//! Remains of removed texts in an index: documents marked as deleted, and vectors without units. Somebody may have
//! removed a secret, so an index is rewritten without them before it is sent.

use std::collections::HashSet;
use std::io;

use super::{IndexPart, Snapshot, Store};
use crate::error::{Error, Result};
use crate::ids::TextHash;
use crate::lexical::Writer;
use crate::vector::without;

/// Whether others have a part's bytes already.
pub type IsOut<'a> = &'a dyn Fn(&IndexPart) -> io::Result<bool>;

/// The segments with such texts, by id and by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Remains {
    lexical: Vec<String>,
    vectors: Vec<String>,
}

impl Remains {
    pub(super) fn is_empty(&self) -> bool {
        self.lexical.is_empty() && self.vectors.is_empty()
    }
}

impl Snapshot {
    /// The hashes of the texts of all units.
    pub(super) fn texts(&self) -> HashSet<TextHash> {
        let mut texts = HashSet::new();
        self.lexical.each_unit(None, |_, _, hash| {
            texts.insert(hash);
        });
        texts
    }
}

impl Store {
    /// The segments among `parts` with removed texts, except those already sent: the texts are out, and a rewritten
    /// segment would have to be sent whole.
    pub(super) fn remains(&self, snapshot: &Snapshot, parts: &[IndexPart], is_out: IsOut<'_>) -> Result<Remains> {
        let all_out = |prefix: &str| {
            let mut others = parts.iter().filter(|part| part.name.starts_with(prefix) && !part.name.ends_with(".del"));
            let out = others.try_fold(true, |all, part| Ok(all && is_out(part)?));
            out.map_err(|e: io::Error| Error::io("read", &self.folder.join(prefix), e))
        };
        let mut remains = Remains::default();
        for part in parts.iter().filter(|part| part.name.ends_with(".del")) {
            let id = part.name.trim_start_matches("lexical/").split('.').next().unwrap_or_default();
            if !all_out(&format!("lexical/{id}."))? {
                remains.lexical.push(id.to_string());
            }
        }
        let Some(vectors) = &snapshot.vectors else { return Ok(remains) };
        for name in vectors.with_others(&snapshot.texts()) {
            if !all_out(&format!("vectors/{name}"))? {
                remains.vectors.push(name);
            }
        }
        Ok(remains)
    }

    /// Rewrites segments without removed texts. Their vectors are set aside as spares, which are neither searched nor
    /// sent.
    pub(super) fn rewrite(&self, remains: &Remains) -> Result<()> {
        let _lock = self.lock(true)?;
        if !remains.lexical.is_empty() {
            let mut writer = Writer::open(&self.lexical_folder(), &self.disk)?;
            writer.rewrite(&remains.lexical)?;
            writer.finish()?;
        }
        let mut snapshot = self.open()?;
        if let Some(vectors) = snapshot.vectors.take().filter(|_| !remains.vectors.is_empty()) {
            let kept = without((&self.vectors_folder(), &self.disk), vectors, &remains.vectors, &snapshot.texts())?;
            let table = super::FileTable { vectors: Some(kept), ..snapshot.files };
            self.commit_table(&table)?;
        }
        self.open()?.lexical.keep_lengths(&self.lexical_folder(), &self.disk);
        Ok(())
    }
}
