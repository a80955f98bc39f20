//! Buffers texts of units between the parser and the model.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use colgrep_core::Unit;

use crate::ids::{FileId, TextHash};
use crate::units::{is_encoded, text_hash, unit_text};

/// Texts to encode of a file's units, each with its hash.
pub(super) type UnitTexts = Vec<(TextHash, String)>;

pub(super) fn texts_of(path: &str, units: &[Unit]) -> UnitTexts {
    let text = |unit| {
        let mut text = unit_text(path, unit);
        // `unit_text` reserves room for the longest text.
        text.shrink_to_fit();
        (text_hash(&text), text)
    };
    units.iter().filter(|unit| is_encoded(unit)).map(text).collect()
}

/// Texts of parsed files, kept in memory until they are encoded, to avoid parsing these files twice. Bounded in bytes;
/// files beyond the bound are parsed again.
#[derive(Debug)]
pub(super) struct PendingTexts {
    bytes_max: usize,
    held: Mutex<PendingText>,
}

#[derive(Debug, Default)]
struct PendingText {
    files: HashMap<FileId, UnitTexts>,
    bytes: usize,
}

impl PendingTexts {
    /// An empty store for at most `bytes_max` bytes.
    pub(super) fn new(bytes_max: usize) -> PendingTexts {
        PendingTexts { bytes_max, held: Mutex::default() }
    }

    /// Keeps the texts of a file's units, if there is room.
    pub(super) fn keep(&self, file: FileId, path: &str, units: &[Unit]) {
        if self.bytes_max == 0 {
            return;
        }
        let texts = texts_of(path, units);
        let bytes = size(&texts);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let replaced = held.files.remove(&file).map_or(0, |texts| size(&texts));
        held.bytes -= replaced;
        if held.bytes + bytes <= self.bytes_max {
            held.bytes += bytes;
            held.files.insert(file, texts);
        }
    }

    /// Removes and returns the texts of a file's units.
    pub(super) fn take(&self, file: FileId) -> Option<UnitTexts> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let texts = held.files.remove(&file)?;
        held.bytes -= size(&texts);
        Some(texts)
    }
}

fn size(texts: &UnitTexts) -> usize {
    texts.iter().map(|(_, text)| text.capacity() + size_of::<(TextHash, String)>()).sum::<usize>()
        + size_of::<UnitTexts>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let unit = |body: &str| [Unit { body: body.to_string(), ..Unit::default() }];
        let one = size(&texts_of("a.rs", &unit("fn a() -> u8 {}")));
        let texts = PendingTexts::new(2 * one);
        let keep = |file, body: &str| texts.keep(FileId(file), "a.rs", &unit(body));
        for file in 0..3 {
            keep(file, "fn a() -> u8 {}");
        }
        assert!(texts.take(FileId(2)).is_none(), "no room");
        keep(1, "fn b() -> u8 {}");
        let expected = texts_of("a.rs", &unit("fn b() -> u8 {}"));
        assert_eq!(texts.take(FileId(1)), Some(expected), "the file as it was read last");
        assert!(texts.take(FileId(1)).is_none(), "handed over");
        keep(2, "fn a() -> u8 {}");
        assert!(texts.take(FileId(2)).is_some() && texts.take(FileId(0)).is_some());
        let none = PendingTexts::new(0);
        none.keep(FileId(0), "a.rs", &unit("fn a() -> u8 {}"));
        assert!(none.take(FileId(0)).is_none());
    }
}
