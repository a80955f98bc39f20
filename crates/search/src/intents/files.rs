//! Files by name, with or without a line.

use std::collections::HashSet;

use colgrep_core::UnitKind;
use colgrep_core::bm25::Field;
use colgrep_core::identifier_style::other_styles;
use colgrep_core::literal_match::{TraceFrame, called_by_frame, frame_of};
use colgrep_core::query::intents::{Certainty, Location, Pointer, is_written};
use colgrep_core::query::{Query, last_segment, plain_path};
use colgrep_core::token::is_stop_word;
use colgrep_syntax::language;

use super::definitions::{Defining, is_plain, path_of};
use super::lookup::{BYTES_READ_MAX, FILES_READ_MAX, IntentLookup, Point};
use super::{Intent, Pointers, Resolved, ResolvedSoFar, Settled};
use crate::locate::{FILES_MAX, Fit, MODULE_END, fit_of, longest};
use crate::rounds::{
    EnclosingRequest, FileMeant, HolderCount, LineOf, LinesRequest, LocateRequest, LocateResponse, PathsRequest,
    ScanTarget,
};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;

/// Maximum of frames of a trace that are looked up.
const FRAMES_MAX: usize = 128;
/// Maximum of lines of a trace that are pointed at.
const LINES_MAX: usize = 16;
/// Maximum of words next to a file's name that may be its folders.
const FOLDERS_MAX: usize = 3;
/// The share of a named file if the query is about another one.
const SHARE_BESIDE_PLACE: f32 = 0.5;
/// Strength of a definition that is called like its file: more than a block that contains the name.
const STRENGTH_OF_NAMESAKE: f32 = 0.8;

pub(super) const LINE: Intent = Intent {
    name: "line of a file",
    doc: "The unit on that line, of a stack the innermost frame first. If a frame's line has moved, the function that it \
          names, at the line of code below the frame or the one that printed the message; instead of an empty line, the one \
          with the message or name beside it, or the nearest. A path of another machine is matched from its end, by its \
          file name alone only if nothing else is found.",
    examples: &[
        ("src/a.rs:12", "src/a.rs:12"),
        ("src/a.rs#L12", "src/a.rs:12"),
        ("File \"x.py\", line 7", "x.py:7"),
        ("at a.B.c(B.java:120)", "a/B.java:120"),
        ("x.c(12)", "x.c:12"),
        ("run@http://host/x.js:12:5", "x.js:12"),
        ("https://github.com/o/n/blob/main/src/a.rs#L12", "src/a.rs:12"),
        ("a.rs (lines 12-20)", "a.rs:12"),
        ("line 12 of a.rs", "a.rs:12"),
    ],
    parse: |query| query.intents.locations.iter().map(|at| format!("{}:{}", at.path, at.line)).collect(),
    resolve: |lookup, _, _| lookup.lines(),
    settles: &[],
    yields_to: &[],
};

pub(super) const FILE: Intent = Intent {
    name: "file",
    doc: "The file, before all others; of several of one name all, ordered by the other words. An exact path counts before \
          the end of a path, and that before a bare name. Of several files, the one behind \"in\" at the end is meant, and a \
          folder beside a bare name tells which. A plain word names a file only alone, or if the index has it nowhere else; \
          a file without the name asked for beside it is not meant.",
    examples: &[
        ("retry in client.py", "client.py"),
        ("the Makefile", "Makefile"),
        ("move it to _utils", "_utils"),
        ("@src/client.py", "src/client.py"),
        ("LICENSE in lib/net", "lib/net | LICENSE"),
        ("server.*", "server.*"),
    ],
    parse: |query| {
        let intents = &query.intents;
        let mut names = [intents.mentions.as_slice(), &intents.names].concat();
        if names.is_empty() && may_have_spaces(query) {
            names.push(query.text.clone());
        }
        names
    },
    resolve: |lookup, _, _| lookup.files(),
    settles: &[],
    yields_to: &[],
};

pub(super) const MODULE: Intent = Intent {
    name: "module written like a file",
    doc: "The file of code with that path, or for a folder the file that stands for it (`mod.rs`, `__init__.py`), if no file is \
          called as written.",
    examples: &[("django.utils.html", "django.utils.html")],
    parse: |query| written_like_file(query).then(|| query.text.trim().to_string()).into_iter().collect(),
    resolve: |lookup, found, asked| {
        let names_one = !found.pointers.files.is_empty();
        let module = if names_one { Pointers::default() } else { lookup.module(&path_of(&plain_path(&asked[0])))? };
        let is_module = !module.files.is_empty();
        Ok(Resolved::named(module, is_module))
    },
    settles: &[Settled::Name],
    yields_to: &[Settled::Name],
};

pub(super) const STEM: Intent = Intent {
    name: "file without its ending",
    doc: "The file of code with that stem or path, a test only if no other file is called so. A stem has several parts: a plain \
          word is left to the ranking.",
    examples: &[("rate-limit", "rate-limit"), ("net/tcp", "net/tcp")],
    parse: |query| {
        let whole = query.text.trim();
        let is_one = !whole.contains(char::is_whitespace) || query.intents.is_name_alone(whole);
        let is_name = query.is_symbol() && !written_like_file(query);
        (is_one && !is_name && !whole.is_empty()).then(|| whole.to_string()).into_iter().collect()
    },
    resolve: |lookup, found, asked| lookup.stem(&asked[0], found),
    settles: &[],
    yields_to: &[Settled::Name],
};

/// Whether the query is one name that looks like a file's.
fn written_like_file(query: &Query) -> bool {
    query.is_symbol() && language::facts().is_file_name(query.text.trim())
}

/// Whether the text may contain a file name with spaces.
fn may_have_spaces(query: &Query) -> bool {
    query.text.contains('.') && query.text.contains(' ')
}

/// The files that a written name means, over all shards.
struct MeantFiles<'n> {
    written: &'n str,
    files: Vec<FileMeant>,
}

impl IntentLookup<'_> {
    /// Resolves the named lines. If a path fits well, those that fit only by file name are other projects', such as a
    /// library's frames in a trace; otherwise these are the fallback.
    fn lines(&mut self) -> Result<Resolved> {
        let locations: Vec<&Location> = self.query.intents.locations.iter().take(FRAMES_MAX).collect();
        let paths: Vec<String> = locations.iter().map(|location| location.path.clone()).collect();
        let located = self.rounds.ask(&LocateRequest { paths: paths.clone(), ..LocateRequest::default() })?;
        let mut named: Vec<_> = paths.iter().enumerate().map(|(at, path)| best_of(&located, at, path)).collect();
        self.prefer_files_here(&paths, &mut named)?;
        let mut places: Vec<(Fit, FilePlace, &Location)> = Vec::new();
        for (location, (fit, files)) in locations.iter().zip(named).filter_map(|(at, named)| Some((at, named?))) {
            let files = allowed(&files);
            // The last part of a foreign path is hardly more than a name, unless the query names nothing else.
            if fit > Fit::Name || files.len() == 1 || locations.len() == 1 {
                places.extend(files.into_iter().map(|file| (fit, file, *location)));
            }
        }
        let fits = places.iter().any(|(fit, ..)| *fit > Fit::Name);
        places.retain(|(fit, ..)| !fits || *fit > Fit::Name);
        let mut points = Vec::new();
        for (i, (_, file, at)) in places.into_iter().take(LINES_MAX).enumerate() {
            let frame: Option<TraceFrame<'_>> = frame_of(&self.query.text, &at.path, at.line);
            let line = frame.map_or(Ok(at.line), |frame| self.line_of_frame(file, at.line, &frame))?;
            let line = self.line_with_content(file, line, called_by_frame(&self.query.text, &at.path, at.line))?;
            points.push(Point { file, line, certainty: Certainty::Location, strength: 1.0 / (1 + i) as f32 });
        }
        let pointers = self.point(&points)?;
        Ok(match fits {
            true => Resolved::open(pointers),
            false => Resolved { fallback: pointers, ..Resolved::default() },
        })
    }

    /// Prefers files below the reader's folder to files of the same path elsewhere. A path that climbs from there and
    /// stays in the project (`../a.rs`) does not match other files by name only.
    fn prefer_files_here(&self, paths: &[String], named: &mut [Option<(Fit, Vec<FileMeant>)>]) -> Result<()> {
        if self.here.is_empty() {
            return Ok(());
        }
        let whole: Vec<Option<String>> = paths.iter().map(|path| below(self.here, path)).collect();
        let at = whole.iter().map(|path| path.clone().unwrap_or_default()).collect();
        for (at, file) in self.rounds.ask(&PathsRequest { paths: at })?.into_iter().enumerate() {
            let climbs = paths[at].starts_with("../") && whole[at].is_some();
            match file {
                Some(file) => {
                    named[at] = Some((Fit::Whole, vec![FileMeant { file, is_exact: true, is_allowed: true }]));
                }
                None if climbs && named[at].as_ref().is_some_and(|(fit, _)| *fit == Fit::Name) => named[at] = None,
                None => {}
            }
        }
        Ok(())
    }

    fn files(&mut self) -> Result<Resolved> {
        let query = self.query;
        let intents = &query.intents;
        let text = if may_have_spaces(query) { query.text.clone() } else { String::new() };
        let asked = LocateRequest { paths: intents.mentions.clone(), names: intents.names.clone(), text };
        let located = self.rounds.ask(&asked)?;
        let mut with_spaces = located.spelled.clone();
        longest(&mut with_spaces);
        let is_alone = intents.is_name_alone(&query.text);
        let by_path = intents.mentions.iter().enumerate().filter_map(|(at, written)| {
            // A bare name that is the whole query may mean any file of that name.
            let all = if is_alone && !written.contains('/') { alike(&located, at, written) } else { None };
            let (fit, files) =
                all.filter(|(_, files)| files.len() <= FILES_MAX).or_else(|| best_of(&located, at, written))?;
            (fit > Fit::Name).then_some(MeantFiles { written, files })
        });
        let are_words = match is_alone {
            true => vec![false; intents.names.len()],
            false => self.are_words(&intents.names, &located.names)?,
        };
        let by_name = intents.names.iter().zip(are_words).enumerate().filter_map(|(at, (written, is_word))| {
            let files = located.names.get(at)?.clone();
            let is_name = is_alone || !is_word;
            (is_name && !files.is_empty() && files.len() <= FILES_MAX).then_some(MeantFiles { written, files })
        });
        let with_spaces = with_spaces.iter().map(|(written, files)| MeantFiles { written, files: files.clone() });
        let meant: Vec<MeantFiles<'_>> = by_path.chain(by_name).chain(with_spaces).collect();
        let place = intents.place.as_deref().filter(|place| meant.iter().any(|meant| meant.written == *place));
        let mut pointers = Pointers::default();
        for MeantFiles { written, mut files } in meant {
            let in_folder = self.in_folder(written)?;
            if !in_folder.is_empty() {
                files = in_folder;
            }
            files.retain(|file| file.is_allowed);
            let is_meant = place.is_none_or(|place| place == written);
            let part = if is_meant { 1.0 } else { SHARE_BESIDE_PLACE };
            let share = part / (files.len() as f32).sqrt();
            for FileMeant { file, is_exact, .. } in files {
                pointers.name_file(file, if is_exact { part } else { share }, is_meant);
            }
        }
        if let Some(name) = &intents.beside_file
            && pointers.files.len() > 1
            && !self.is_in_any(&pointers, last_segment(name))?
        {
            return Ok(Resolved::default());
        }
        Ok(Resolved::open(pointers))
    }

    /// Which of some names are words like any other: in lower case, and the index has them elsewhere than in paths. "Upload
    /// a file" does not mean a file called `file`.
    /// Only names that files have are looked up; `files` has those of each name.
    fn are_words(&mut self, names: &[String], files: &[Vec<FileMeant>]) -> Result<Vec<bool>> {
        let is_asked = |(name, files): (&String, &Vec<FileMeant>)| {
            (1..=FILES_MAX).contains(&files.len()) && name.chars().all(char::is_lowercase)
        };
        let asked: Vec<bool> = names.iter().zip(files).map(is_asked).collect();
        let mut terms = Vec::new();
        for (name, _) in names.iter().zip(&asked).filter(|(_, is_asked)| **is_asked) {
            terms.push(self.tokenizer.normal(name).to_string());
        }
        let is_text = |field: &Field| matches!(field, Field::Name | Field::Parent | Field::Doc | Field::Body);
        let occurs = |count: &HolderCount| {
            Field::ALL.iter().zip(count.units.in_field).any(|(field, units)| is_text(field) && units > 0)
        };
        let counts = self.rounds.term_counts(&terms, 0)?;
        let mut counts = counts.iter();
        Ok(asked.into_iter().map(|is_asked| is_asked && counts.next().is_some_and(occurs)).collect())
    }

    /// The files of a bare name in a folder, if that is all the query says besides: `LICENSE in lib/net`.
    fn in_folder(&self, name: &str) -> Result<Vec<FileMeant>> {
        let is_beside = |word: &&str| !is_written(word, name) && !is_stop_word(&word.to_lowercase());
        let bare = |word: &str| word.trim_matches(['"', '\'', '`', ',']).to_string();
        let words = self.query.text.split_whitespace();
        let folder: Vec<String> = words.filter(is_beside).take(FOLDERS_MAX + 1).map(bare).collect();
        if name.contains('/') || !(1..=FOLDERS_MAX).contains(&folder.len()) {
            return Ok(Vec::new());
        }
        let found = self.best_fit(format!("{}/{name}", folder.join("/")))?;
        let files = found.filter(|(fit, _)| *fit == Fit::Whole).map(|(_, files)| files).unwrap_or_default();
        Ok(files.into_iter().filter(|file| file.is_allowed).collect())
    }

    /// Whether one of the named files contains a name, among those that can be read.
    fn is_in_any(&self, pointers: &Pointers, name: &str) -> Result<bool> {
        let mut named: Vec<FilePlace> = pointers.files.keys().copied().collect();
        named.sort_unstable();
        let files = self.readable(&named, FILES_READ_MAX, BYTES_READ_MAX)?;
        let contains = self.rounds.scan(&files, ScanTarget::typed(name))?.iter().any(|(_, seen)| seen.holds_all());
        Ok(contains || files.len() < named.len())
    }

    /// The files of a stem; for a written path without an extension only the one that fits.
    fn stem(&mut self, whole: &str, found: &ResolvedSoFar) -> Result<Resolved> {
        let mut pointers = Pointers::default();
        if !self.query.is_symbol() && !whole.contains(|c: char| c.is_whitespace() || c == '/') {
            pointers = self.module(&[whole])?;
        }
        if let [written] = self.query.intents.mentions.as_slice()
            && found.pointers.files.is_empty()
            && pointers.files.is_empty()
            && self.query.intents.is_name_alone(whole)
        {
            let has_ending = written.rsplit('/').next().is_some_and(|name| name.contains('.'));
            let (written, least) =
                if has_ending { (written.clone(), Fit::Name) } else { (written.clone() + MODULE_END, Fit::Whole) };
            let fitting = self.best_fit(written)?.filter(|(fit, _)| *fit >= least);
            if let [file] = fitting.map(|(_, files)| allowed(&files)).unwrap_or_default()[..] {
                pointers.name_file(file, 1.0, true);
            }
        }
        Ok(Resolved::open(pointers))
    }

    /// The files that a path of names means as a module, or whose stem is a name of several parts. A name in capitals
    /// is a constant.
    pub(super) fn module(&self, path: &[&str]) -> Result<Pointers> {
        let is_constant = |name: &str| name.contains(char::is_uppercase) && !name.contains(char::is_lowercase);
        let is_stem = |name: &&str| !is_plain(name) && !is_constant(name);
        let mut pointers = Pointers::default();
        if path.len() < 2 && !path.iter().any(is_stem) {
            return Ok(pointers);
        }
        let files = self.modules(path)?;
        let share = 1.0 / (files.len() as f32).sqrt();
        files.iter().for_each(|file| pointers.name_file(*file, share, true));
        if let ([stem], false) = (path, files.is_empty()) {
            self.point_at_blocks_with(&files, stem, &mut pointers)?;
            self.point_at_namesakes(&files, stem, &mut pointers)?;
        }
        Ok(pointers)
    }

    /// Points at the first definition of each file that is called like it in another style: `JoinSet` in `join_set.rs`.
    fn point_at_namesakes(&self, files: &[FilePlace], stem: &str, pointers: &mut Pointers) -> Result<()> {
        let files: HashSet<FilePlace> = files.iter().copied().collect();
        for style in other_styles(stem) {
            let Defining { mut units, .. } = self.defining(&style, &[style.as_str()], Some(&files))?;
            units.dedup_by_key(|unit| unit.file);
            let keys: Vec<_> = units.iter().map(|unit| unit.unit).collect();
            let lines = self.rounds.ask(&LinesRequest { units: keys.clone(), line: LineOf::Name(style) })?;
            for (unit, line) in keys.into_iter().zip(lines) {
                pointers.point_at(unit, Pointer { certainty: Certainty::Run, strength: STRENGTH_OF_NAMESAKE, line });
            }
        }
        Ok(())
    }

    /// Points at the first block of each file that contains its stem: blocks have no names, so the ranking might choose
    /// one without it.
    fn point_at_blocks_with(&self, files: &[FilePlace], stem: &str, pointers: &mut Pointers) -> Result<()> {
        let files = self.readable(files, FILES_READ_MAX, BYTES_READ_MAX)?;
        let seen = self.rounds.scan(&files, ScanTarget::typed(stem))?;
        let lines: Vec<(FilePlace, u32)> =
            seen.iter().filter(|(_, seen)| seen.holds_all()).map(|(file, seen)| (*file, seen.line)).collect();
        for (unit, (_, line)) in self.rounds.ask(&EnclosingRequest { lines: lines.clone() })?.into_iter().zip(lines) {
            if let Some(unit) = unit.filter(|unit| unit.kind == UnitKind::RawCode) {
                pointers.point_at(unit.unit, Pointer { certainty: Certainty::Run, strength: 0.5, line });
            }
        }
        Ok(())
    }

    /// The code files whose path without its extension is this one, or ends in at least two names of it.
    pub(super) fn modules(&self, path: &[&str]) -> Result<Vec<FilePlace>> {
        let found = self.best_fit(path.join("/") + MODULE_END)?.filter(|(fit, _)| *fit > Fit::Name);
        Ok(found.map(|(_, files)| allowed(&files)).unwrap_or_default())
    }

    fn best_fit(&self, written: String) -> Result<Option<(Fit, Vec<FileMeant>)>> {
        let asked = LocateRequest { paths: vec![written], ..LocateRequest::default() };
        Ok(best_of(&self.rounds.ask(&asked)?, 0, &asked.paths[0]))
    }
}

/// Resolves a path relative to a folder, from the root; `None` if it climbs out of the root or is absolute.
fn below(folder: &str, written: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in written.split('/') {
        match part {
            "" => return None,
            "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

pub(crate) fn allowed(files: &[FileMeant]) -> Vec<FilePlace> {
    files.iter().filter(|meant| meant.is_allowed).map(|meant| meant.file).collect()
}

/// The files that the path at a position means; `None` if it fits none or too many.
pub(crate) fn best_of(found: &LocateResponse, at: usize, written: &str) -> Option<(Fit, Vec<FileMeant>)> {
    let (fit, mut files) = alike(found, at, written)?;
    // An exact path is unambiguous.
    if files.first().is_some_and(|meant| meant.is_exact) {
        files.truncate(1);
    }
    (files.len() <= FILES_MAX).then_some((fit, files))
}

/// The files that share most of the path at a position, exact ones first.
fn alike(found: &LocateResponse, at: usize, written: &str) -> Option<(Fit, Vec<FileMeant>)> {
    let (best, files) = found.paths.get(at)?;
    Some((fit_of(written, *best)?, files.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_from_the_folder_where_they_are_written() {
        for (folder, written, expected) in [
            ("lib/net", "tcp.rs", Some("lib/net/tcp.rs")),
            ("lib/net", "./tcp.rs", Some("lib/net/tcp.rs")),
            ("lib/net", "../a/tcp.rs", Some("lib/a/tcp.rs")),
            ("lib/net", "../../tcp.rs", Some("tcp.rs")),
            ("lib/net", "../../../tcp.rs", None),
            ("lib/net", "/srv/tcp.rs", None),
        ] {
            assert_eq!(below(folder, written).as_deref(), expected, "{written}");
        }
    }
}
