//! Searches files for text that is not a term of an index: a name in any spelling, or another text in any case.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use colgrep_core::code_line::KeyPath;
use colgrep_core::spelling::{Spelled, Spelling};
use colgrep_syntax::read::{Skip, is_notebook, looks_secret};
use rayon::prelude::*;

use crate::beneath::open_beneath;
use crate::disk::read_open;
use crate::error::Result;
use crate::ids::FileId;
use crate::lexical::{UnitFilter, UnitSpan};
use crate::signature::{Needed, Sought};
use crate::source::TextScan;
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

impl Snapshot {
    /// For each of the files, where it contains a text in some spelling. Reads at most 256 MiB, first files first.
    pub fn spelled(&self, files: &[Option<&FileRecord>], spelling: &Spelling) -> Result<Vec<Option<Spelled>>> {
        let (is_read, _) = self.to_be_read(files, spelling)?;
        let Ok(scan) = TextScan::new(Path::new(&self.files.root)) else { return Ok(vec![None; files.len()]) };
        let find = |buffer: &mut Vec<u8>, (record, is_read): (&Option<&FileRecord>, &bool)| {
            let record = record.filter(|_| *is_read)?;
            // A file that can't be read any more has no match.
            scan.look(&record.path, buffer, |text| spelling.find(text)).ok()?
        };
        Ok(files.par_iter().zip(&is_read).map_init(Vec::new, find).collect())
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

    /// For each text, whether any indexed file, and what `filter` leaves of one, contains it in some spelling, in its path or
    /// as a path of keys. Reads each file once.
    pub fn mentions(&self, spellings: &[Spelling], filter: Option<&dyn UnitFilter>) -> Result<Vec<Mention>> {
        let files: Vec<Option<&FileRecord>> = self.files.indexed().map(Some).collect();
        let to_be_read = spellings.iter().map(|spelling| self.to_be_read(&files, spelling));
        let (are_read, are_partial): (Vec<Vec<bool>>, Vec<bool>) = to_be_read.collect::<Result<_>>()?;
        let Ok(scan) = TextScan::new(Path::new(&self.files.root)) else {
            return Ok(vec![Mention { is_partial: true, ..Mention::default() }; spellings.len()]);
        };
        // Of each text, whether any file has it, and whether an allowed one does.
        let found: Vec<[AtomicBool; 2]> = spellings.iter().map(|_| Default::default()).collect();
        for record in self.files.indexed() {
            let is_allowed = filter.is_none_or(|filter| filter.allows_file(record.id));
            for ([anywhere, allowed], _) in found.iter().zip(spellings).filter(|(_, one)| one.stands_in(&record.path)) {
                anywhere.store(true, Ordering::Relaxed);
                allowed.fetch_or(is_allowed, Ordering::Relaxed);
            }
        }
        let keys: Vec<Option<KeyPath>> = spellings.iter().map(Spelling::key_path).collect();
        files.par_iter().enumerate().try_for_each_init(Vec::new, |buffer, (at, record)| {
            let Some(record) = record.filter(|_| are_read.iter().any(|is_read| is_read[at])) else { return Ok(()) };
            let allowed = usize::from(filter.is_none_or(|filter| filter.allows_file(record.id)));
            let missing = || {
                let each = spellings.iter().zip(&keys).zip(&are_read).zip(&found);
                let each = each.filter(|((_, is_read), found)| is_read[at] && !found[allowed].load(Ordering::Relaxed));
                each.map(|((one, _), found)| (one, found))
            };
            let holds = |(spelling, keys): (&Spelling, &Option<KeyPath>), text: &str| {
                let is_key = || keys.as_ref().is_some_and(|keys| keys.find(text, &record.path).is_some());
                spelling.stands_in(text) || is_key()
            };
            if missing().next().is_none() {
                return Ok(());
            }
            let look = |text: &str| -> Result<()> {
                let mut of_units = None;
                for (one, found) in missing().filter(|(one, _)| holds(*one, text)) {
                    found[0].store(true, Ordering::Relaxed);
                    if allowed == 1 {
                        let left = match &mut of_units {
                            Some(left) => left,
                            none => none.insert(self.allowed_text(record.id, text, filter)?),
                        };
                        found[1].fetch_or(holds(one, left), Ordering::Relaxed);
                    }
                }
                Ok(())
            };
            // A file that can't be read any more contains nothing.
            scan.look(&record.path, buffer, look).unwrap_or(Ok(()))
        })?;
        let mention = |([is_anywhere, is_allowed], is_partial): ([AtomicBool; 2], bool)| Mention {
            is_anywhere: is_anywhere.into_inner(),
            is_allowed: is_allowed.into_inner(),
            // Nobody looked at files that the index lacks.
            is_partial: is_partial || !self.files.complete,
        };
        Ok(found.into_iter().zip(are_partial).map(mention).collect())
    }

    /// For each text, the paths of files without units of it that contain it: lock files, minified and large files, the
    /// outputs of notebooks, `with_secrets` what looks like a secret, and the files `besides`. Reads each file once, and at
    /// most 64 MiB; also whether there is more.
    pub fn in_skipped(&self, spellings: &[Spelling], with_secrets: bool, besides: &[&str]) -> (Vec<Vec<String>>, bool) {
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
        let may_be_read = |record: &&FileRecord| with_secrets || record.skip.is_none() || !looks_secret(&record.path);
        let skipped = self.files.files.iter().filter(may_be_text).filter(may_be_read);
        let skipped = skipped.map(|record| record.path.as_str());
        for path in skipped.chain(besides.iter().copied()) {
            match open_beneath(root, path).and_then(|(file, about)| Ok((is_binary(&file)?, about.len()))) {
                Ok((true, _)) | Err(_) => {}
                Ok((false, size)) if size > left => is_partial = true,
                Ok((false, size)) => {
                    left -= size;
                    files.push(path);
                }
            }
        }
        let holds = |path: &str| -> Vec<bool> {
            let bytes = open_beneath(root, path).and_then(|opened| read_open(opened, SKIPPED_BYTES_MAX));
            let Ok(bytes) = bytes else { return Vec::new() };
            let text = String::from_utf8_lossy(&bytes);
            spellings.iter().map(|spelling| spelling.stands_in(&text)).collect()
        };
        let held: Vec<Vec<bool>> = files.par_iter().map(|path| holds(path)).collect();
        let of_text = |text: usize| {
            let holding = files.iter().zip(&held).filter(|(_, held)| held.get(text) == Some(&true));
            holding.map(|(path, _)| (*path).to_string()).collect()
        };
        ((0..spellings.len()).map(of_text).collect(), is_partial)
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
