//! The units that hold the word or name that a query is: terms are stems and parts of names, so only the text tells the
//! word itself from other forms of it.

use std::cmp::Reverse;

use colgrep_core::UnitId;
use colgrep_core::identifier_style::is_piece;
use colgrep_core::query::Query;
use colgrep_core::spelling::{NameFit, Spelling};
use colgrep_core::token::Tokenizer;
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::run_of;
use rustc_hash::{FxHashMap, FxHashSet};

use super::rounds::{
    CandidatesResponse, Coordinator, FilesWithAllRequest, PhrasesRequest, ScanTarget, SizesRequest, SpelledUnits,
    SpelledUnitsRequest,
};

/// Number of candidate files to read, unless the answer needs more.
const FILES_READ_MIN: usize = 256;
/// Number of files with a whole-word match to add to the candidates, unless the answer needs more.
const FILES_HELD_MIN: usize = 64;
/// A name in a sentence is searched for if at most this many files have its parts.
const FILES_OF_INSIDE_MAX: usize = 64;
/// A name in a sentence tells files apart if at most this many hold it.
const HOLDERS_OF_INSIDE_MAX: usize = 8;
/// At least one in this many files is assumed to be allowed.
const FILES_ALLOWED_SHARE: usize = 64;
/// Maximum of bytes in all files that are read.
const BYTES_READ_MAX: u64 = 32 << 20;

/// The units that hold the name that a query is.
#[derive(Default)]
pub(super) struct NameHolders {
    pub fits: FxHashMap<UnitId, NameFit>,
    /// Of each file whose holders are not among the candidates, the best.
    pub further: Vec<UnitId>,
    /// Whether it is a name of several parts that the corpus has, but no unit that the search may return.
    pub is_outside: bool,
}

impl NameHolders {
    /// The holders of the query's name, among the candidates by words and elsewhere. Reads the files of candidates first,
    /// and enough to fill an answer of `wanted` files.
    pub fn of(
        rounds: &Coordinator<'_>,
        query: &Query,
        candidates: &CandidatesResponse,
        wanted: usize,
        tokenizer: &mut Tokenizer,
    ) -> Result<NameHolders> {
        let mut holders = NameHolders::default();
        let Some(name) = query.written.as_ref().or(query.name_inside.as_ref()) else { return Ok(holders) };
        let mut ranks: FxHashMap<FilePlace, usize> = FxHashMap::default();
        let named = candidates.named.iter().map(|named| named.file);
        for (rank, file) in named.chain(candidates.units.iter().map(|unit| unit.file)).enumerate() {
            ranks.entry(file).or_insert(rank);
        }
        let is_inside = query.written.is_none();
        let limits = match is_inside {
            true => FileLimits { known: FILES_OF_INSIDE_MAX, read: FILES_OF_INSIDE_MAX },
            false => FileLimits { known: usize::MAX, read: wanted.max(FILES_READ_MIN) },
        };
        let SpelledFiles { files: mut spelled, is_outside } =
            spelled(rounds, name, &ranks, limits, &FxHashSet::default(), tokenizer)?;
        holders.is_outside = is_outside && is_piece(name) && !is_inside;
        // Other names have the parts of `headerEnd` between other marks, and `headerend` has no parts.
        if let Some(form) = form_in_parts(name, spelled.iter().map(|(_, own)| own.form.as_str())) {
            let read = spelled.iter().map(|(file, _)| *file).collect();
            spelled.extend(self::spelled(rounds, &form, &ranks, limits, &read, tokenizer)?.files);
        }
        if is_inside {
            spelled.iter_mut().for_each(|(_, own)| own.units.retain(|(_, fit)| *fit == NameFit::Whole));
            spelled.retain(|(_, own)| !own.units.is_empty());
            if spelled.len() > HOLDERS_OF_INSIDE_MAX {
                return Ok(holders);
            }
        }
        let known: FxHashSet<UnitId> = candidates.units.iter().map(|unit| unit.unit).collect();
        let mut held = 0;
        for (_, SpelledUnits { units, .. }) in spelled {
            let Some((first, best)) = units.first().copied() else { continue };
            if held < wanted.max(FILES_HELD_MIN)
                && !units.iter().any(|(unit, fit)| *fit == best && known.contains(&unit.unit))
            {
                holders.further.push(first.unit);
            }
            held += usize::from(best == NameFit::Whole);
            holders.fits.extend(units.into_iter().map(|(unit, fit)| (unit.unit, fit)));
        }
        Ok(holders)
    }
}

/// Maxima of files.
#[derive(Clone, Copy)]
struct FileLimits {
    /// Of files with all parts of a name; more are not read.
    known: usize,
    /// Of files that are read.
    read: usize,
}

/// How files hold a name, in any spelling: those with the best ranks first, and none that was `read` before.
fn spelled(
    rounds: &Coordinator<'_>,
    name: &str,
    ranks: &FxHashMap<FilePlace, usize>,
    limits: FileLimits,
    read: &FxHashSet<FilePlace>,
    tokenizer: &mut Tokenizer,
) -> Result<SpelledFiles> {
    let spelling = Spelling::new(name.trim_matches('_'));
    let pieces: Vec<&str> = spelling.pieces().collect();
    let term = |word: &str, tokenizer: &mut Tokenizer| tokenizer.normal(word).to_string();
    let terms: Vec<String> = pieces.iter().map(|piece| term(piece, tokenizer)).collect();
    let (in_parts, whole) = match run_of(name, tokenizer) {
        run if pieces.len() > 1 => {
            // As one word, and with underscores: what an index has of a whole name.
            let wholes = [pieces.concat(), pieces.join("_")].map(|whole| vec![(term(&whole, tokenizer), 0)]);
            let run = if run.is_empty() { Vec::new() } else { vec![run] };
            let mut found = rounds.ask(&PhrasesRequest { phrases: wholes.into_iter().chain(run).collect() })?;
            // The index has no positions of stop words.
            let in_parts = match found.get(2) {
                Some(_) => found.pop().unwrap_or_default(),
                None => rounds.ask(&FilesWithAllRequest { terms })?,
            };
            (in_parts, found.into_iter().flatten().collect())
        }
        _ => (rounds.ask(&FilesWithAllRequest { terms })?, FxHashSet::default()),
    };
    let mut files: Vec<FilePlace> = in_parts.into_iter().chain(whole.iter().copied()).collect();
    files.sort_unstable();
    files.dedup();
    files.retain(|file| !read.contains(file));
    if files.len() > limits.known {
        return Ok(SpelledFiles::default());
    }
    let rank = |file: &FilePlace| ranks.get(file).copied().unwrap_or(usize::MAX);
    files.sort_by_key(|file| (Reverse(whole.contains(file)), rank(file), *file));
    files.truncate(limits.read.saturating_mul(FILES_ALLOWED_SHARE));
    let sizes = rounds.ask(&SizesRequest { files: files.clone() })?;
    let allowed = files.into_iter().zip(sizes).filter_map(|(file, size)| Some((file, size?)));
    let allowed: Vec<(FilePlace, u64)> = allowed.collect();
    let mut bytes = 0;
    let is_within = |(_, size): &&(FilePlace, u64)| {
        bytes += size;
        bytes <= BYTES_READ_MAX
    };
    let files: Vec<FilePlace> = allowed.iter().take(limits.read).filter(is_within).map(|(file, _)| *file).collect();
    let found = rounds.ask(&SpelledUnitsRequest { files: files.clone(), name: name.to_string() })?;
    let is_all = files.len() == allowed.len();
    let files: Vec<(FilePlace, SpelledUnits)> =
        files.into_iter().zip(found).filter(|(_, own)| !own.units.is_empty()).collect();
    // The term of a whole name may be that of another form of it.
    let mut whole: Vec<FilePlace> = if is_all && files.is_empty() { whole.into_iter().collect() } else { Vec::new() };
    whole.sort_unstable();
    whole.truncate(FILES_READ_MIN);
    let is_outside = rounds.scan(&whole, ScanTarget::Spelled(name.to_string()))?.iter().any(|(_, seen)| seen.is_cut);
    Ok(SpelledFiles { files, is_outside })
}

/// Files that hold a name.
#[derive(Default)]
struct SpelledFiles {
    files: Vec<(FilePlace, SpelledUnits)>,
    /// Whether there is none that the search may return, but another.
    is_outside: bool,
}

/// Of a name without parts, the form with parts that most texts have.
fn form_in_parts<'f>(name: &str, forms: impl Iterator<Item = &'f str>) -> Option<String> {
    let has_parts = |text: &str| Spelling::new(text).pieces().nth(1).is_some();
    if has_parts(name) {
        return None;
    }
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for form in forms.filter(|form| has_parts(form)) {
        *counts.entry(form).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(form, count)| (*count, Reverse(*form))).map(|(form, _)| form.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_name_has_the_parts_of_the_form_that_most_texts_have() {
        for (name, forms, expected) in [
            ("headerend", &["headerEnd", "headerend", "HeaderEnd", "headerEnd"][..], "headerEnd"),
            ("headerend", &["HeaderEnd", "headerEnd"], "HeaderEnd"),
            ("headerend", &["headerend"], ""),
            ("header_end", &["headerEnd"], ""),
        ] {
            let form = form_in_parts(name, forms.iter().copied());
            assert_eq!(form.unwrap_or_default(), expected, "{name} {forms:?}");
        }
    }
}
