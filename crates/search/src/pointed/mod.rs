//! What a query points at beside its words: a line of a file, a file by name, a definition, text that stands as typed.

mod beside;
mod inside;
mod moved;
mod names;
mod printed;
mod text;

use colgrep_core::UnitId;
use colgrep_core::clue::{Certainty, Clues, Pointer};
use colgrep_core::query::Query;
use colgrep_core::statistics::Statistics;
use colgrep_core::token::Tokenizer;
use colgrep_core::verbatim::{Frame, frame_of};
pub(super) use names::SELVES;
use printed::Told;
use rustc_hash::{FxHashMap, FxHashSet};

use super::locate::{FILES_MAX, Fit, fit_of, longest};
use super::rounds::{
    Coordinator, EnclosingRequest, FileMeant, LocateRequest, LocateResponse, PathsRequest, SizesRequest,
};
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;

/// Frames of a pasted trace that are looked up.
const FRAMES_MAX: usize = 128;
/// Places of a pasted trace that are followed.
const LOCATIONS_MAX: usize = 16;

/// What a file that is named gets of its share where another one is the place that is asked about.
const SHARE_BESIDE_A_PLACE: f32 = 0.5;

/// All that a query points at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pointers {
    /// Units, by what points best at each.
    pub units: FxHashMap<UnitId, Pointer>,
    /// Files that are named, with a share of 1: several of one name share.
    pub files: FxHashMap<FilePlace, f32>,
    /// Those of them that are meant, alone or with others of their name: not the ones that are named beside a place.
    pub meant: FxHashSet<FilePlace>,
    /// Where phrases stand in quotes: the files that hold them all. Nothing else is an answer.
    pub only: Option<FxHashSet<FilePlace>>,
}

impl Pointers {
    /// True if a phrase in quotes stands nowhere and no file is named either: there is no answer then.
    pub fn allow_nothing(&self) -> bool {
        self.only.as_ref().is_some_and(FxHashSet::is_empty) && self.files.is_empty()
    }
}

/// Looks at what a query points at. `here` is the folder where the reader works, from the corpus's root; that
/// root's name is the program's, as far as is known, which may stand in front of its messages.
///
/// # Errors
/// When an index can't be read.
pub fn pointers(
    rounds: &Coordinator<'_>,
    query: &Query,
    statistics: &Statistics,
    here: &str,
    root: &str,
    tokenizer: &mut Tokenizer,
) -> Result<Pointers> {
    let clues = &query.clues;
    let mut search = Search {
        rounds,
        statistics,
        here,
        program: root.trim_end_matches('/').rsplit('/').next().unwrap_or_default(),
        tokenizer,
        found: Pointers::default(),
        written: Vec::new(),
        told: Told::Nothing,
        has_message: false,
    };
    if query.long.is_some() {
        search.whole(query)?;
        return Ok(search.found);
    }
    let by_name = search.located(clues, &query.text)?;
    search.declared(query)?;
    search.callers(query)?;
    // What a name defines says more than the places where it stands.
    let is_named = search.named(query)?;
    let stands_whole = !is_named && search.typed(query)?;
    if !is_named && !stands_whole {
        search.inside(query)?;
        search.qualified(query)?;
    }
    // A pasted line or message may hold quotes of its own.
    if !clues.phrases.is_empty() && !stands_whole && !search.is_message(query)? {
        search.quoted(clues)?;
    }
    // Where another folder is written than a file's, its name alone says less than a text that stands somewhere.
    if !search.is_sure() && !search.has_message {
        search.point(&by_name)?;
    }
    Ok(search.found)
}

struct Search<'a> {
    rounds: &'a Coordinator<'a>,
    statistics: &'a Statistics,
    here: &'a str,
    /// The name of the program; empty where none is known.
    program: &'a str,
    tokenizer: &'a mut Tokenizer,
    found: Pointers,
    /// The paths and names of files that are here, as they are written.
    written: Vec<String>,
    /// What points at the places of the text that was looked for last.
    told: Told,
    /// Whether what is pointed at is the message of a trace, or what stands behind a front.
    has_message: bool,
}

/// A line of a file that is pointed at.
struct Point {
    file: FilePlace,
    line: u32,
    certainty: Certainty,
    strength: f32,
}

/// What a name means, over all shards.
struct Meant<'n> {
    written: &'n str,
    files: Vec<FileMeant>,
    /// Whether it is written as a word of a sentence is: `file`.
    is_word: bool,
}

impl Search<'_> {
    /// Of a long query, which may be a passage of a text: nothing but places that hold all of it.
    fn whole(&mut self, query: &Query) -> Result<()> {
        self.typed(query)?;
        self.found.units.retain(|_, pointer| pointer.certainty > Certainty::Run);
        Ok(())
    }

    /// Whether the query means one file by its name: what stands in it is what is asked for, where all else is equal.
    fn means(&self, file: FilePlace) -> bool {
        self.found.files.get(&file).is_some_and(|share| *share >= 1.0)
    }

    /// Points at the units around lines.
    fn point(&mut self, points: &[Point]) -> Result<()> {
        if points.is_empty() {
            return Ok(());
        }
        let lines: Vec<(FilePlace, u32)> = points.iter().map(|point| (point.file, point.line)).collect();
        for (unit, point) in self.rounds.ask(&EnclosingRequest { lines: lines.clone() })?.into_iter().zip(points) {
            let Point { line, certainty, strength, .. } = *point;
            if let Some(unit) = unit {
                self.point_at(unit.unit, Pointer { certainty, strength, line });
            }
        }
        Ok(())
    }

    /// Keeps what points best at a unit.
    fn point_at(&mut self, unit: UnitId, pointer: Pointer) {
        let known = self.found.units.entry(unit).or_insert(pointer);
        if (known.certainty, known.strength) < (pointer.certainty, pointer.strength) {
            *known = pointer;
        }
    }

    /// Those of the files that are allowed, in their order: the first `files_max`, of `bytes_max` at most.
    fn readable(&self, files: &[FilePlace], files_max: usize, bytes_max: u64) -> Result<Vec<FilePlace>> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let allowed = files
            .iter()
            .zip(self.rounds.ask(&SizesRequest { files: files.to_vec() })?)
            .filter_map(|(file, size)| Some((*file, size?)));
        let mut bytes = 0;
        let is_within = |(_, size): &(FilePlace, u64)| {
            bytes += size;
            bytes <= bytes_max
        };
        Ok(allowed.take(files_max).filter(is_within).map(|(file, _)| file).collect())
    }

    /// Files and lines that are named. Gives the lines of files of which nothing but the name fits: they are pointed at where
    /// nothing else is.
    fn located(&mut self, clues: &Clues, text: &str) -> Result<Vec<Point>> {
        let frames = clues.locations.iter().take(FRAMES_MAX);
        let paths: Vec<String> =
            frames.clone().map(|location| &location.path).chain(&clues.mentions).cloned().collect();
        let may_be_spelled = text.contains('.') && text.contains(' ');
        let is_alone = clues.is_name_alone(text);
        if paths.is_empty() && clues.names.is_empty() && !may_be_spelled {
            return Ok(Vec::new());
        }
        let spelled = if may_be_spelled { text.to_string() } else { String::new() };
        let asked = LocateRequest { paths, names: clues.names.clone(), text: spelled };
        let found = self.rounds.ask(&asked)?;
        let lines: Vec<(u32, Option<Frame<'_>>)> =
            frames.map(|location| (location.line, frame_of(text, &location.path, location.line))).collect();
        let best = |(at, written): (usize, &String)| {
            // Who types nothing but a name may mean any file that bears it.
            let all = if is_alone && !written.contains('/') { alike(&found, at, written) } else { None };
            all.filter(|(_, files)| files.len() <= FILES_MAX).or_else(|| best_of(&found, at, written))
        };
        let mut named: Vec<Option<(Fit, Vec<FileMeant>)>> = asked.paths.iter().enumerate().map(best).collect();
        let mentions = named.split_off(lines.len());
        self.stand_here(&asked.paths, &mut named)?;
        let by_name = self.locations(named, &lines, text)?;
        self.mentions(clues, text, mentions, &found)?;
        Ok(by_name)
    }

    /// A place below the folder where the reader works comes before one of that path elsewhere. One that climbs from there
    /// and stays in the project (`../a.rs`) means no other file by its name alone.
    fn stand_here(&self, paths: &[String], named: &mut [Option<(Fit, Vec<FileMeant>)>]) -> Result<()> {
        if self.here.is_empty() {
            return Ok(());
        }
        let whole: Vec<Option<String>> = paths.iter().take(named.len()).map(|path| below(self.here, path)).collect();
        let at = whole.iter().map(|path| path.clone().unwrap_or_default()).collect();
        let files = self.rounds.ask(&PathsRequest { paths: at })?;
        for (at, named) in named.iter_mut().enumerate() {
            let climbs = paths[at].starts_with("../") && whole[at].is_some();
            match files[at] {
                Some(file) => *named = Some((Fit::Whole, vec![FileMeant { file, is_exact: true, is_allowed: true }])),
                None if climbs && named.as_ref().is_some_and(|(fit, _)| *fit == Fit::Name) => *named = None,
                None => {}
            }
        }
        Ok(())
    }

    /// Names a file, which has at least this share then.
    fn named_file(&mut self, file: FilePlace, share: f32, is_meant: bool) {
        let known = self.found.files.entry(file).or_default();
        *known = known.max(share);
        if is_meant {
            self.found.meant.insert(file);
        }
    }

    /// Lines that are named. Where a path fits well, those of which nothing but the file's name fits are of other
    /// projects: a library's frames in a trace. Where none does, these are given instead. A line is where its frame's
    /// function is here.
    fn locations(
        &mut self,
        named: Vec<Option<(Fit, Vec<FileMeant>)>>,
        lines: &[(u32, Option<Frame<'_>>)],
        text: &str,
    ) -> Result<Vec<Point>> {
        let mut found: Vec<(Fit, FilePlace, u32, Option<Frame<'_>>)> = Vec::new();
        let is_alone = lines.len() == 1;
        for (named, (line, frame)) in named.into_iter().zip(lines) {
            let Some((fit, files)) = named else { continue };
            let files = allowed(&files);
            // The last part of a foreign path alone is hardly more than a name, unless nothing else is asked.
            if fit > Fit::Name || files.len() == 1 || is_alone {
                found.extend(files.into_iter().map(|file| (fit, file, *line, *frame)));
            }
        }
        let fits = found.iter().any(|place| place.0 > Fit::Name);
        if fits {
            found.retain(|place| place.0 > Fit::Name);
        }
        let mut points = Vec::new();
        for (i, (_, file, line, frame)) in found.into_iter().take(LOCATIONS_MAX).enumerate() {
            let line = frame.map_or(Ok(line), |frame| self.moved(file, line, &frame, text))?;
            let strength = 1.0 / (1 + i) as f32;
            points.push(Point { file, line, certainty: Certainty::Location, strength });
        }
        if !fits {
            return Ok(points);
        }
        self.point(&points)?;
        Ok(Vec::new())
    }

    /// Files that are named. Where several are and one of them ends the question behind "in", that one is meant. Of a word
    /// that is the name of several, none is, unless nothing else is asked. A folder that is all that stands beside a name
    /// says which.
    fn mentions(
        &mut self,
        clues: &Clues,
        text: &str,
        by_path: Vec<Option<(Fit, Vec<FileMeant>)>>,
        found: &LocateResponse,
    ) -> Result<()> {
        let is_alone = clues.is_name_alone(text);
        let mut spelled = found.spelled.clone();
        longest(&mut spelled);
        let by_path = clues.mentions.iter().zip(by_path).filter_map(|(written, named)| {
            let (fit, files) = named?;
            (fit > Fit::Name).then_some(Meant { written, files, is_word: false })
        });
        let by_name = clues.names.iter().enumerate().filter_map(|(at, written)| {
            let files = found.names.get(at)?.clone();
            let is_word = written.chars().all(char::is_lowercase);
            (!files.is_empty() && files.len() <= FILES_MAX).then_some(Meant { written, files, is_word })
        });
        let spelled = spelled.iter().map(|(written, files)| Meant { written, files: files.clone(), is_word: false });
        let meant: Vec<Meant<'_>> = by_path.chain(by_name).chain(spelled).collect();
        let place = clues.place.as_deref().filter(|place| meant.iter().any(|meant| meant.written == *place));
        for Meant { written, mut files, is_word } in meant {
            let in_folder = self.in_folder(text, written)?;
            if !in_folder.is_empty() {
                files = in_folder;
            }
            files.retain(|file| file.is_allowed);
            if !files.is_empty() {
                self.written.push(written.to_string());
            }
            let is_place = place.is_none_or(|place| place == written);
            let is_meant = is_place && (is_alone || !is_word || files.len() == 1);
            let part = if is_place { 1.0 } else { SHARE_BESIDE_A_PLACE };
            let share = part / (files.len() as f32).sqrt();
            for FileMeant { file, is_exact, .. } in files {
                self.named_file(file, if is_exact { part } else { share }, is_meant);
            }
        }
        Ok(())
    }
}

/// A path from the root that is written from a folder of it. None where it climbs out of the root or begins elsewhere.
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

pub(super) fn allowed(files: &[FileMeant]) -> Vec<FilePlace> {
    files.iter().filter(|meant| meant.is_allowed).map(|meant| meant.file).collect()
}

/// The files that the path at a position means: none where it fits none or too many.
pub(super) fn best_of(found: &LocateResponse, at: usize, written: &str) -> Option<(Fit, Vec<FileMeant>)> {
    let (fit, mut files) = alike(found, at, written)?;
    // The file that is exactly so called, from the root, leaves no doubt.
    if files.first().is_some_and(|meant| meant.is_exact) {
        files.truncate(1);
    }
    (files.len() <= FILES_MAX).then_some((fit, files))
}

/// The files that share most of the path at a position, what is exactly so called first.
fn alike(found: &LocateResponse, at: usize, written: &str) -> Option<(Fit, Vec<FileMeant>)> {
    let (shared, files) = found.paths.get(at)?;
    Some((fit_of(written, *shared as usize)?, files.clone()))
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
