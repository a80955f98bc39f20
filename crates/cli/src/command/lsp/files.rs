//! Files as an editor has them: texts that are open, and where units lie in those.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use colgrep_core::Unit;
use colgrep_index::source::read_text;

use super::symbols::{ranges_of, units_of};
use super::text::path_of;

/// The texts that the editor has open; other files are read from the disk. Editors write one address in several ways, so
/// texts are known by path.
#[derive(Debug, Default)]
pub(super) struct EditorFiles {
    open: HashMap<PathBuf, String>,
}

impl EditorFiles {
    /// Takes over the text of a file that is open.
    pub(super) fn put(&mut self, uri: &str, text: String) {
        self.open.insert(place_of(uri), text);
    }

    /// Forgets a file that was closed.
    pub(super) fn close(&mut self, uri: &str) {
        self.open.remove(&place_of(uri));
    }

    /// The text of a file.
    ///
    /// # Errors
    /// When it is not open, and can't be read or is no text.
    pub(super) fn text(&self, uri: &str) -> Result<String> {
        match self.open.get(&place_of(uri)) {
            Some(text) => Ok(text.clone()),
            None => text_of(&path_of(uri)?),
        }
    }

    /// A unit of the index, found again in the text of the editor where that differs from the file.
    pub(super) fn in_editor(&self, path: &Path, unit: &Unit) -> Option<Unit> {
        let (text, saved) = self.unsaved(path)?;
        let name = path.to_string_lossy();
        counterpart(&units_of(&name, &saved), units_of(&name, text), |one| one.span.line == unit.span.line)
    }

    /// The line, in the file, of the unit whose name is on a line of the editor's text.
    pub(super) fn on_disk(&self, path: &Path, line: u32) -> Option<u32> {
        let (text, saved) = self.unsaved(path)?;
        let (name, lines) = (path.to_string_lossy(), text.lines().collect::<Vec<_>>());
        let has_name_there = |unit: &Unit| ranges_of(unit, &lines).1.start.line + 1 == line;
        Some(counterpart(&units_of(&name, text), units_of(&name, &saved), has_name_there)?.span.line)
    }

    /// The text of the editor and that of the file, where they differ.
    fn unsaved(&self, path: &Path) -> Option<(&str, String)> {
        let text = self.open.get(path)?;
        text_of(path).ok().filter(|saved| saved != text).map(|saved| (text.as_str(), saved))
    }
}

/// The unit of `others` that a unit of `known` is: of its name and kind, and at its place among those.
fn counterpart(known: &[Unit], others: Vec<Unit>, is_it: impl Fn(&Unit) -> bool) -> Option<Unit> {
    let key = |unit: &Unit| (unit.qualified_name(), unit.kind);
    let wanted = key(known.iter().find(|unit| is_it(unit))?);
    let at = known.iter().filter(|unit| key(unit) == wanted).position(is_it)?;
    others.into_iter().filter(|unit| key(unit) == wanted).nth(at)
}

fn text_of(path: &Path) -> Result<String> {
    let (folder, name) = (path.parent().unwrap_or(Path::new("/")), path.file_name().unwrap_or_default());
    Ok(read_text(folder, &name.to_string_lossy())?)
}

/// The path of an address; of one that is no file's, such as that of a new document, the address.
pub(super) fn place_of(uri: &str) -> PathBuf {
    path_of(uri).unwrap_or_else(|_| PathBuf::from(uri))
}
