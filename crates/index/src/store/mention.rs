//! Searches files for text that is not a term of an index: a name in any spelling, or another text in any case.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use colgrep_core::spelling::{Spelled, Spelling};
use colgrep_syntax::read::{Skip, is_notebook, looks_secret};
use rayon::prelude::*;

use crate::beneath::open_beneath;
use crate::disk::read_open;
use crate::error::{Error, Result};
use crate::ids::FileId;
use crate::lexical::{UnitFilter, UnitSpan};
use crate::signature::{Needed, Sought};
use crate::store::{FileRecord, Snapshot};
use crate::walk::{CHECKOUT, SPECIAL};

/// Maximum of bytes read for one text.
const BYTES_MAX: u64 = 256 << 20;

/// Maximum of bytes of text that no unit has which are read for one text.
const SKIPPED_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a file that tell whether it is text.
const HEAD_BYTES: usize = 8 << 10;

/// The result of searching all files for a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mention {
    /// Whether a file contains it in some spelling.
    pub is_anywhere: bool,
    /// Whether an allowed file does.
    pub is_allowed: bool,
    /// Whether some files were not read.
    pub is_partial: bool,
}

/// Whether text without units contains a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedMention {
    /// Whether a file does that anybody may know of.
    pub is_open: bool,
    /// Whether one does that looks like a secret.
    pub is_secret: bool,
}

impl Snapshot {
    /// For each of the files, where it contains a text in some spelling. Reads at most 256 MiB, first files first.
    pub fn spelled(&self, files: &[Option<&FileRecord>], spelling: &Spelling) -> Result<Vec<Option<Spelled>>> {
        let (is_read, _) = self.to_be_read(files, spelling)?;
        let find = |(record, is_read): (&Option<&FileRecord>, &bool)| {
            let record = record.filter(|_| *is_read)?;
            // A file that can't be read any more has no match.
            spelling.find(&self.texts.text(Path::new(&self.files.root), &record.path).ok()?)
        };
        Ok(files.par_iter().zip(&is_read).map(find).collect())
    }

    /// What `filter` leaves of a file's text: all of it, or the lines of the allowed units and their qualified names.
    pub fn allowed_text<'t>(
        &self,
        file: FileId,
        text: &'t str,
        filter: Option<&dyn UnitFilter>,
    ) -> Result<Cow<'t, str>> {
        let Some(filter) = filter else { return Ok(Cow::Borrowed(text)) };
        let all = self.lexical.spans_of(file)?;
        let allowed: Vec<&UnitSpan> = all.iter().filter(|unit| self.lexical.is_allowed(unit.key, filter)).collect();
        if allowed.len() == all.len() {
            return Ok(Cow::Borrowed(text));
        }
        let is_allowed = |line: u32| allowed.iter().any(|unit| (unit.first..=unit.end).contains(&line));
        let lines = (1..).zip(text.split_inclusive('\n')).filter(|(line, _)| is_allowed(*line));
        let mut left: String = lines.map(|(_, line)| line).collect();
        for unit in allowed {
            left.push('\n');
            left.push_str(&self.lexical.unit(unit.key)?.unit(&[]).qualified_name());
        }
        Ok(Cow::Owned(left))
    }

    /// Whether any indexed file, and what `filter` leaves of one, contains a text in some spelling.
    pub fn mention(&self, spelling: &Spelling, filter: Option<&dyn UnitFilter>) -> Result<Mention> {
        let allows = |file| filter.is_none_or(|filter| filter.allows_file(file));
        let is_left = |record: &FileRecord, text: &str| -> Result<bool> {
            Ok(allows(record.id) && spelling.stands_in(&self.allowed_text(record.id, text, filter)?))
        };
        let files: Vec<Option<&FileRecord>> = self.files.indexed().map(Some).collect();
        let (is_read, is_partial) = self.to_be_read(&files, spelling)?;
        // Nobody looked at files that the index lacks.
        let is_partial = is_partial || !self.files.complete;
        let (is_anywhere, is_allowed) = (AtomicBool::new(false), AtomicBool::new(false));
        files.par_iter().zip(&is_read).filter(|(_, is_read)| **is_read).try_for_each(|(record, _)| {
            let Some(record) = record else { return Ok(()) };
            let may_tell =
                |allowed| !is_allowed.load(Ordering::Relaxed) && (allowed || !is_anywhere.load(Ordering::Relaxed));
            let allowed = allows(record.id);
            if !may_tell(allowed) {
                return Ok(());
            }
            let text = self.texts.text(Path::new(&self.files.root), &record.path);
            if let Some(text) = text.ok().filter(|text| spelling.stands_in(text)) {
                is_anywhere.store(true, Ordering::Relaxed);
                is_allowed.fetch_or(is_left(record, &text)?, Ordering::Relaxed);
            }
            Ok::<(), Error>(())
        })?;
        let [is_anywhere, is_allowed] = [is_anywhere, is_allowed].map(AtomicBool::into_inner);
        Ok(Mention { is_anywhere, is_allowed, is_partial })
    }

    /// Which texts are in text without units: a lock file, a minified or a large one, what looks like a secret, and the
    /// outputs of notebooks. Reads each file once, and at most 64 MiB; also whether there is more.
    pub fn in_skipped(&self, spellings: &[Spelling]) -> (Vec<SkippedMention>, bool) {
        let may_be_text = |record: &&FileRecord| match record.skip {
            Some(Skip::LockFile | Skip::Minified | Skip::TooLarge | Skip::Secret) => true,
            Some(_) => false,
            None => is_notebook(&record.path),
        };
        let root = Path::new(&self.files.root);
        // A path that nobody can write down, or that the system keeps closed.
        let has_closed = self.files.unreadable.iter().any(|(_, why)| why != SPECIAL && why != CHECKOUT);
        let (mut left, mut is_partial) = (SKIPPED_BYTES_MAX, has_closed);
        let mut files = Vec::new();
        for record in self.files.files.iter().filter(may_be_text) {
            match open_beneath(root, &record.path).and_then(|(file, _)| is_binary(&file)) {
                Ok(true) | Err(_) => {}
                Ok(false) if record.size > left => is_partial = true,
                Ok(false) => {
                    left -= record.size;
                    files.push(record);
                }
            }
        }
        // Of each text, whether an open file has it, and whether one does that looks like a secret.
        let found: Vec<[AtomicBool; 2]> = spellings.iter().map(|_| Default::default()).collect();
        files.par_iter().for_each(|record| {
            let is_secret = usize::from(record.skip.is_some() && looks_secret(&record.path));
            let missing = || {
                let found = found.iter().map(|found| &found[is_secret]);
                spellings.iter().zip(found).filter(|(_, is_in)| !is_in.load(Ordering::Relaxed))
            };
            if missing().next().is_none() {
                return;
            }
            let bytes = open_beneath(root, &record.path).and_then(|opened| read_open(opened, SKIPPED_BYTES_MAX));
            let Ok(bytes) = bytes else { return };
            let text = String::from_utf8_lossy(&bytes);
            missing()
                .filter(|(spelling, _)| spelling.stands_in(&text))
                .for_each(|(_, is_in)| is_in.store(true, Ordering::Relaxed));
        });
        let mention = |found: [AtomicBool; 2]| {
            let [is_open, is_secret] = found.map(AtomicBool::into_inner);
            SkippedMention { is_open, is_secret }
        };
        (found.into_iter().map(mention).collect(), is_partial)
    }

    /// Which of the files to read for a spelling: those that their signatures do not rule out, up to a total size. Also
    /// whether there are more.
    fn to_be_read(&self, files: &[Option<&FileRecord>], spelling: &Spelling) -> Result<(Vec<bool>, bool)> {
        let needed = needed(spelling);
        let without = match needed.is_selective() {
            true => self.without(Path::new(&self.files.root), &Sought::new(&needed))?,
            false => Default::default(),
        };
        let (mut bytes, mut is_partial) = (0, false);
        let mut is_read = |record: &Option<&FileRecord>| {
            let record = record.filter(|record| !without.contains(record.id.0 as usize));
            bytes += record.map_or(0, |record| record.size);
            is_partial |= bytes > BYTES_MAX;
            record.is_some() && bytes <= BYTES_MAX
        };
        let is_read = files.iter().map(&mut is_read).collect();
        Ok((is_read, is_partial))
    }
}

/// Whether a file begins as none of text does.
fn is_binary(mut file: &File) -> io::Result<bool> {
    let mut head = [0; HEAD_BYTES];
    let read = file.read(&mut head)?;
    Ok(head[..read].contains(&0))
}

/// What a file must contain to have a text in some spelling, in terms of signatures, which ignore only ASCII case.
fn needed(spelling: &Spelling) -> Needed {
    let pieces = spelling.pieces().filter(|piece| piece.is_ascii());
    Needed::All(pieces.map(|piece| Needed::Text(piece.as_bytes().to_vec())).collect())
}
