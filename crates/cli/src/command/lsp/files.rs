//! Files as an editor has them: texts that are open, and where units lie in those.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Result;
use colgrep_core::{Unit, UnitKind};
use colgrep_index::source::read_text;
use colgrep_syntax::language;

use super::symbols::{ranges_of, units_of};
use super::text::path_of;

/// The texts that the editor has open; other files are read from the disk. Editors write one address in several ways, so
/// texts are known by path.
#[derive(Debug, Default)]
pub(super) struct EditorFiles {
    open: HashMap<PathBuf, OpenDocument>,
    /// The units of texts that are not saved. A list of symbols asks for one file many times.
    unsaved: RefCell<HashMap<PathBuf, Rc<UnsavedUnits>>>,
}

/// A document that is open.
#[derive(Debug, Default)]
struct OpenDocument {
    text: String,
    /// Its language as the editor names it.
    language: String,
}

/// The units of an open text and of its file.
#[derive(Debug)]
struct UnsavedUnits {
    /// The text of the file.
    saved: String,
    on_disk: KeyedUnits,
    in_editor: KeyedUnits,
}

/// Units with what tells them from others: name and kind.
type KeyedUnits = Vec<((String, UnitKind), Unit)>;

impl EditorFiles {
    /// Takes over the text of a document that is open, and its language where that is said.
    pub(super) fn put(&mut self, uri: &str, text: String, language: String) {
        let place = place_of(uri);
        self.unsaved.get_mut().remove(&place);
        let open = self.open.entry(place).or_default();
        open.text = text;
        if !language.is_empty() {
            open.language = language;
        }
    }

    /// The named units of a document, each enclosing one before its members. A name that tells no language leaves it to
    /// the editor.
    pub(super) fn units(&self, uri: &str, text: &str) -> Vec<Unit> {
        let place = place_of(uri);
        let of_path = language::of_file(&place.to_string_lossy(), text.as_bytes());
        let of_editor = || language::by_name(&self.open.get(&place)?.language);
        let language = Some(of_path).filter(|language| !language::is_unknown(language)).or_else(of_editor);
        units_of(&place.to_string_lossy(), text, language.unwrap_or(of_path))
    }

    /// Forgets a file that was closed.
    pub(super) fn close(&mut self, uri: &str) {
        let place = place_of(uri);
        self.unsaved.get_mut().remove(&place);
        self.open.remove(&place);
    }

    /// The text of a file.
    ///
    /// # Errors
    /// When it is not open, and can't be read or is no text.
    pub(super) fn text(&self, uri: &str) -> Result<String> {
        match self.open.get(&place_of(uri)) {
            Some(open) => Ok(open.text.clone()),
            None => text_of(&path_of(uri)?),
        }
    }

    /// A unit of the index, found again in the text of the editor where that differs from the file.
    pub(super) fn in_editor(&self, path: &Path, unit: &Unit) -> Option<Unit> {
        let units = self.unsaved(path)?;
        counterpart(&units.on_disk, &units.in_editor, |one| one.span.line == unit.span.line).cloned()
    }

    /// The line, in the file, of the unit whose name is on a line of the editor's text; `None` if the file has no such
    /// unit yet.
    pub(super) fn on_disk(&self, path: &Path, line: u32) -> Option<u32> {
        let (Some(open), Some(units)) = (self.open.get(path), self.unsaved(path)) else { return Some(line) };
        let lines: Vec<&str> = open.text.lines().collect();
        let has_name_there = |unit: &Unit| ranges_of(unit, &lines).1.start.line + 1 == line;
        Some(counterpart(&units.in_editor, &units.on_disk, has_name_there)?.span.line)
    }

    /// The units of the editor's text and of the file, where these differ.
    fn unsaved(&self, path: &Path) -> Option<Rc<UnsavedUnits>> {
        let text = &self.open.get(path)?.text;
        let saved = text_of(path).ok().filter(|saved| saved != text)?;
        if let Some(known) = self.unsaved.borrow().get(path).filter(|known| known.saved == saved) {
            return Some(Rc::clone(known));
        }
        let name = path.to_string_lossy();
        let keyed = |text: &str| {
            let units = units_of(&name, text, language::of_file(&name, text.as_bytes())).into_iter();
            units.map(|unit| ((unit.qualified_name(), unit.kind), unit)).collect()
        };
        let units = Rc::new(UnsavedUnits { on_disk: keyed(&saved), in_editor: keyed(text), saved });
        self.unsaved.borrow_mut().insert(path.to_path_buf(), Rc::clone(&units));
        Some(units)
    }
}

/// The unit of `others` that a unit of `known` is: of its name and kind, and at its place among those.
fn counterpart<'u>(known: &KeyedUnits, others: &'u KeyedUnits, is_it: impl Fn(&Unit) -> bool) -> Option<&'u Unit> {
    let (wanted, _) = known.iter().find(|(_, unit)| is_it(unit))?;
    let at = known.iter().filter(|(key, _)| key == wanted).position(|(_, unit)| is_it(unit))?;
    others.iter().filter(|(key, _)| key == wanted).nth(at).map(|(_, unit)| unit)
}

fn text_of(path: &Path) -> Result<String> {
    let (folder, name) = (path.parent().unwrap_or(Path::new("/")), path.file_name().unwrap_or_default());
    Ok(read_text(folder, &name.to_string_lossy())?)
}

/// The path of an address; of one that is no file's, such as that of a new document, the address.
fn place_of(uri: &str) -> PathBuf {
    path_of(uri).unwrap_or_else(|_| PathBuf::from(uri))
}
