//! Bounds what the scanners of grammars store in the parser.
//!
//! A scanner serializes its state (open strings, here-documents, indentation) into 1,024 bytes of the parser after each
//! token, and reads it back before the next. On deeply nested text some scanners write more, which overwrites memory,
//! or lengths that overflow their bytes, which aborts the process when they are read back. So scanners write into a
//! larger buffer, and a state of more than [`Grammar::STATE_BYTES_MAX`] bytes is replaced by the empty one, which every
//! scanner accepts. The rest of such a text is parsed badly, but nothing aborts.
#![expect(unsafe_code, reason = "functions that the C library calls for the state of a scanner")]

use std::cell::RefCell;
use std::ffi::{c_char, c_uint, c_void};
use std::mem::offset_of;
use std::ptr;

use tree_sitter::Language;

/// Largest state that a grammar may store. The parser has room for one byte more
/// (`TREE_SITTER_SERIALIZATION_BUFFER_SIZE` of its `parser.h`), but Kotlin's scanner aborts when it adds to a full one.
pub(super) const STATE_BYTES_MAX: usize = 1023;
/// Bytes that scanners may write here. Perl's may need 3,100; other states are bounded by checks of the text
/// (`nesting.rs`).
const ROOM_BYTES: usize = 64 << 10;
/// The first version of grammars that has a name, as all later ones do.
const NAMED_ABI: u32 = 15;

thread_local! {
    static ROOM: RefCell<Vec<u8>> = RefCell::new(vec![0; ROOM_BYTES]);
}

/// A grammar by its type, so that a C function can belong to it.
pub(super) trait Grammar {
    /// Largest state that its scanner reads back safely, in bytes.
    const STATE_BYTES_MAX: usize;
    /// The grammar as its crate has it.
    fn language() -> Language;
}

type Serialize = unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_uint;

/// `TSLanguage` of tree-sitter's `parser.h`, for its layout. [`bounded`] compares it with what the library reports for
/// a grammar, and changes nothing if they differ.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawLanguage {
    abi_version: u32,
    symbol_count: u32,
    alias_count: u32,
    token_count: u32,
    external_token_count: u32,
    state_count: u32,
    large_state_count: u32,
    production_id_count: u32,
    field_count: u32,
    max_alias_sequence_length: u16,
    tables: [*const c_void; 15],
    keyword_capture_token: u16,
    scanner: Scanner,
    primary_state_ids: *const c_void,
    name: *const c_char,
    reserved_words: *const c_void,
    max_reserved_word_set_size: u16,
    supertype_count: u32,
    supertypes: [*const c_void; 3],
    metadata: [u8; 3],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Scanner {
    states: *const c_void,
    symbol_map: *const c_void,
    functions: [*const c_void; 3],
    serialize: Option<Serialize>,
    deserialize: *const c_void,
}

/// The grammar `G` with a scanner whose state always fits into the parser's buffer. Each call leaks a new one.
pub(super) fn bounded<G: Grammar>() -> Language {
    let language = G::language();
    match raw::<G>(&language) {
        Some(raw) if raw.scanner.serialize.is_some() => {
            let scanner = Scanner { serialize: Some(serialize::<G>), ..raw.scanner };
            let changed = Box::leak(Box::new(RawLanguage { scanner, ..raw }));
            // SAFETY: a whole `TSLanguage` that lives for ever; the library frees only those that it made itself.
            unsafe { Language::from_raw(ptr::from_ref(changed).cast()) }
        }
        _ => language,
    }
}

/// What the library knows of a grammar, where its layout is the one above.
fn raw<G: Grammar>(language: &Language) -> Option<RawLanguage> {
    let from = G::language().into_raw();
    let abi = u32::try_from(language.abi_version()).ok()?;
    let bytes = if abi < NAMED_ABI { offset_of!(RawLanguage, name) } else { size_of::<RawLanguage>() };
    // SAFETY: all fields are numbers and pointers, for which zero is a value; a grammar of the library has `bytes` bytes
    // and is never freed.
    let raw = unsafe {
        let mut raw = std::mem::zeroed::<RawLanguage>();
        ptr::copy_nonoverlapping(from.cast::<u8>(), ptr::from_mut(&mut raw).cast::<u8>(), bytes);
        raw
    };
    let is_known = raw.abi_version == abi
        && (raw.symbol_count + raw.alias_count) as usize == language.node_kind_count()
        && raw.state_count as usize == language.parse_state_count()
        && raw.field_count as usize == language.field_count();
    is_known.then_some(raw)
}

/// Gives the state of a scanner to the parser.
unsafe extern "C" fn serialize<G: Grammar>(scanner: *mut c_void, state: *mut c_char) -> c_uint {
    let raw = G::language().into_raw().cast::<RawLanguage>();
    ROOM.with_borrow_mut(|room| {
        // SAFETY: the parser calls this with a scanner of the grammar and room for more than `STATE_BYTES_MAX` bytes; the grammar
        // has such a function, or this one had not taken its place.
        unsafe {
            let Some(serialize) = (*raw).scanner.serialize else { return 0 };
            let length = serialize(scanner, room.as_mut_ptr().cast()) as usize;
            if length > G::STATE_BYTES_MAX {
                return 0;
            }
            ptr::copy_nonoverlapping(room.as_ptr().cast(), state, length);
            length as c_uint
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::LANGUAGES;

    #[test]
    fn every_scanner_is_bounded() {
        let mut bounded = 0;
        for row in LANGUAGES.iter() {
            let Some(grammar) = row.grammar else { continue };
            // A bounded grammar is new at each call.
            let [first, second] = [grammar(), grammar()].map(|language| language.into_raw().cast::<RawLanguage>());
            // SAFETY: a grammar has at least the fields up to its scanner.
            let has_scanner = unsafe { (*first).scanner.serialize.is_some() };
            assert_eq!(first != second, has_scanner, "{}: its layout is another one", row.name);
            bounded += usize::from(has_scanner);
        }
        assert!(bounded > 20, "{bounded}");
    }
}
