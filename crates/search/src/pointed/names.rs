//! Names: the definitions that a query asks for by name, and who calls them.

use std::collections::HashSet;

use colgrep_core::clue::{Certainty, Clues, Declaration, Pointer, mark_behind};
use colgrep_core::code_line::{LAMBDAS, NAME_LINES_MAX, is_binding};
use colgrep_core::query::{Query, last_segment, plain_path};
use colgrep_core::token::{is_word_char, parts};
use colgrep_core::written::is_odd;
use colgrep_core::{UnitKind, UnitRole};
use colgrep_syntax::language;

use super::{Point, Search, allowed, best_of};
use crate::locate::{Fit, MODULE_END};
use crate::rounds::{
    DefinitionFound, DefinitionsRequest, EnclosingRequest, FilesWithAllRequest, LineOf, LinesRequest, LocateRequest,
    Look, PhrasesRequest, Seen, StoredUnitsRequest,
};
use crate::shard::UnitFound;
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::{Run, run_of};

/// Units that one name points at, at most.
const UNITS_POINTED_MAX: usize = 50;
/// Definitions that a name may have for each of them to be what is meant. With more, the ranking decides.
const DEFINITIONS_MAX: usize = 3;
/// Definitions of a name whose last marks are compared, at most.
const MARKED_MAX: usize = 16;
/// Files that are read for lines that announce or call a name.
const FILES_READ_MAX: usize = 64;
/// Bytes of all files that are read.
const BYTES_READ_MAX: u64 = 8 << 20;

/// How code calls what it stands in: they own no name.
pub(crate) const SELVES: &[&str] = &["Self", "cls", "crate", "self", "super", "this"];

impl Search<'_> {
    /// The definitions of the name that the whole query is or asks for, and whether it has any. Where it has only a few,
    /// they are pointed at; where it is the path of a module or the stem of a file instead, the file is named.
    pub(super) fn named(&mut self, query: &Query) -> Result<bool> {
        let whole = query.text.trim();
        if let Some(name) = &query.clues.beside_file
            && (self.of_file(query, name)? || self.elsewhere(query, name)?)
        {
            return Ok(true);
        }
        let Some(identifier) = query.identifiers.iter().find(|i| i.whole_query) else {
            if let Some(name) = &query.clues.definition_of {
                return self.asked_for(query, name);
            }
            if self.odd_path(query)? {
                return Ok(true);
            }
            // `rate-limit` may be two words, which stand elsewhere, too.
            if !whole.contains(|c: char| c.is_whitespace() || c == '/') {
                self.module(&[whole])?;
            }
            self.path_alone(&query.clues, whole)?;
            return Ok(false);
        };
        let written = plain_path(&query.text);
        let path: Vec<&str> = path_of(&written).skip_while(|part| SELVES.contains(part)).collect();
        if language::facts().is_file_name(whole) {
            let is_module = self.found.files.is_empty() && self.module(&path)?;
            self.path_alone(&query.clues, whole)?;
            return Ok(is_module);
        }
        let name = identifier.name.as_str();
        let Defining { units, is_owned, is_aside } = self.defining(query, name, &path)?;
        // Its file says more than the line that announces a module, or than those that import it.
        let is_defined = (is_owned || path.len() < 2) && units.iter().any(|unit| unit.role.defines());
        if !is_defined && (self.module(&path)? || (path.len() > 1 && self.module(&[whole])?)) {
            return Ok(true);
        }
        // In most languages a field is no unit of its own.
        if !is_owned && self.member(query, &path)? {
            return Ok(true);
        }
        // `@expires.setter` is no setter of others.
        let stands = !is_owned && path.len() > 1 && self.stands_in_few(&query.text)?;
        // `github.com` is no `com`, whoever defines one.
        if !is_owned && path.len() > 1 && is_word(name) {
            return Ok(stands);
        }
        // Brackets and the like ask for the function.
        let is_bare = whole == name;
        let has_type = !is_aside && units.iter().any(|unit| unit.kind == UnitKind::Class);
        if is_bare && is_word(name) && !has_type && self.means_more(name, is_aside)? {
            return Ok(true);
        }
        if units.is_empty() {
            return Ok(stands || self.named_inside(name)?);
        }
        if units.len() <= DEFINITIONS_MAX {
            self.point_at_names(&units, name)?;
        }
        Ok(true)
    }

    /// The same for a name, written as no word of a sentence is, whose definition a question asks for.
    pub(super) fn asked_for(&mut self, query: &Query, written: &str) -> Result<bool> {
        let path: Vec<&str> = path_of(written).skip_while(|part| SELVES.contains(part)).collect();
        let name = last_segment(written);
        let Defining { units, is_owned, .. } = self.defining(query, name, &path)?;
        // `github.com` is no `com`, and `client.py` is a file.
        if path.len() > 1 && !is_owned {
            return self.member(query, &path);
        }
        if units.is_empty() {
            return self.named_inside(name);
        }
        if units.len() <= DEFINITIONS_MAX {
            self.point_at_names(&units, name)?;
        }
        Ok(true)
    }

    /// The same for a name beside a file: what defines it there, however often. Where no such file is here, the name is asked
    /// for as if nothing else were said.
    pub(super) fn of_file(&mut self, query: &Query, written: &str) -> Result<bool> {
        let files: HashSet<FilePlace> = self.found.files.keys().copied().collect();
        if files.is_empty() {
            let is_file = |path: &String| language::facts().is_file_name(&path.to_lowercase());
            let is_gone = is_odd(written) && query.clues.mentions.iter().any(is_file);
            return if is_gone { self.asked_for(query, written) } else { Ok(false) };
        }
        let path: Vec<&str> = path_of(written).skip_while(|part| SELVES.contains(part)).collect();
        let name = last_segment(written);
        let Defining { mut units, .. } = self.defining_in(query, name, &path, Some(&files))?;
        if units.is_empty() {
            return Ok(self.member(query, &path)? || self.announced_in(&files, name)?);
        }
        units.truncate(UNITS_POINTED_MAX);
        self.point_at_names(&units, name)?;
        Ok(true)
    }

    /// Points at the lines of files that announce a name which no unit has, and tells whether there are any.
    fn announced_in(&mut self, files: &HashSet<FilePlace>, name: &str) -> Result<bool> {
        // `enum class` announces no `class`.
        if language::facts().is_declaration_keyword(name) {
            return Ok(false);
        }
        let mut files: Vec<FilePlace> = files.iter().copied().collect();
        files.sort_unstable();
        let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
        // A plain word is bound to values in any code.
        let announces = |word: &&str| !is_binding(word) || !is_plain(name);
        let keywords = language::facts().declaration_keywords().filter(announces).map(String::from).collect();
        let mut places = self.rounds.scan(&files, Look::Announces { name: name.to_string(), keywords })?;
        places.truncate(UNITS_POINTED_MAX);
        self.point(&points(&places, 0.5))?;
        Ok(!places.is_empty())
    }

    /// Points at the few definitions that a path of names means one of which its language needs marks for, with these or as
    /// the index has it: `` `Max-Age`.get ``, `Max-Age.get`. Tells whether there are any.
    fn odd_path(&mut self, query: &Query) -> Result<bool> {
        let whole = query.text.trim();
        if !whole.contains(['`', '-']) || whole.contains(char::is_whitespace) || !query.clues.mentions.is_empty() {
            return Ok(false);
        }
        let written = whole.replace('`', "");
        let path: Vec<&str> = written.split(['.', ':', '#']).filter(|part| !part.is_empty()).collect();
        let [_, .., name] = path.as_slice() else { return Ok(false) };
        let Defining { units, is_owned, .. } = self.defining(query, name, &path)?;
        // `my-site.com` is no `com` of others.
        if !is_owned {
            return self.member(query, &path);
        }
        let are_few = units.len() <= DEFINITIONS_MAX;
        if are_few {
            self.point_at_names(&units, name)?;
        }
        Ok(are_few)
    }

    /// Names the files that a path of names means as a module, or that a stem of several parts is the stem of, and tells
    /// whether there are any. A plain word alone is left to the ranking, and capitals alone are a constant.
    fn module(&mut self, path: &[&str]) -> Result<bool> {
        let is_constant = |name: &str| name.contains(char::is_uppercase) && !name.contains(char::is_lowercase);
        let is_stem = |name: &&str| !is_plain(name) && !is_constant(name);
        let files = if path.len() < 2 && !path.iter().any(is_stem) { Vec::new() } else { self.modules(path)? };
        let share = 1.0 / (files.len() as f32).sqrt();
        for file in &files {
            self.named_file(*file, share, true);
        }
        if let ([stem], false) = (path, files.is_empty()) {
            self.stem_in_blocks(&files, stem)?;
        }
        Ok(!files.is_empty())
    }

    /// Points at the first block of each of these files that holds their stem: blocks have no names, so the ranking may
    /// take one that holds nothing of it. Elsewhere the ranking knows better than the first place.
    fn stem_in_blocks(&mut self, files: &[FilePlace], stem: &str) -> Result<()> {
        let files = self.readable(files, FILES_READ_MAX, BYTES_READ_MAX)?;
        let mut places = self.rounds.scan(&files, Look::typed(stem))?;
        places.retain(|(_, seen)| seen.holds_all());
        let lines: Vec<(FilePlace, u32)> = places.iter().map(|(file, seen)| (*file, seen.line)).collect();
        for (unit, (_, line)) in self.rounds.ask(&EnclosingRequest { lines: lines.clone() })?.into_iter().zip(lines) {
            if let Some(unit) = unit.filter(|unit| unit.kind == UnitKind::RawCode) {
                self.point_at(unit.unit, Pointer { certainty: Certainty::Run, strength: 0.5, line });
            }
        }
        Ok(())
    }

    /// Names the file that a path means which is all that is asked and no file's as written: the only one of code that is
    /// called so but for its ending, or the only one of its name, whatever folder is written.
    fn path_alone(&mut self, clues: &Clues, whole: &str) -> Result<()> {
        let [written] = clues.mentions.as_slice() else { return Ok(()) };
        if !self.found.files.is_empty() || !clues.is_name_alone(whole) {
            return Ok(());
        }
        let has_ending = written.rsplit('/').next().is_some_and(|name| name.contains('.'));
        let (written, least) =
            if has_ending { (written.clone(), Fit::Name) } else { (written.clone() + MODULE_END, Fit::Whole) };
        let asked = LocateRequest { paths: vec![written.clone()], ..LocateRequest::default() };
        let meant = best_of(&self.rounds.ask(&asked)?, 0, &written).filter(|(fit, _)| *fit >= least);
        let files = meant.map(|(_, files)| allowed(&files)).unwrap_or_default();
        if let [file] = files.as_slice() {
            self.named_file(*file, 1.0, true);
        }
        Ok(())
    }

    /// The files of code whose path ends so, or with two names of it at least.
    fn modules(&self, path: &[&str]) -> Result<Vec<FilePlace>> {
        let written = path.join("/") + MODULE_END;
        let asked = LocateRequest { paths: vec![written.clone()], ..LocateRequest::default() };
        let meant = best_of(&self.rounds.ask(&asked)?, 0, &written).filter(|(fit, _)| *fit > Fit::Name);
        Ok(meant.map(|(_, files)| allowed(&files)).unwrap_or_default())
    }

    /// Whether a word in small letters means more than the functions and values that it names, which the ranking weighs:
    /// a type or a file is called so too. Where nothing but tests and the like define it, any definition in other case says
    /// more.
    fn means_more(&self, word: &str, is_aside: bool) -> Result<bool> {
        let mut letters = word.chars();
        let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        let asked = DefinitionsRequest { name: capital, ..DefinitionsRequest::default() };
        let says_more = |found: &DefinitionFound| {
            found.is_named && !found.is_aside && (is_aside || found.unit.kind == UnitKind::Class)
        };
        Ok(self.rounds.ask(&asked)?.iter().any(says_more) || !self.modules(&[word])?.is_empty())
    }

    /// Points at a written path of names where it stands as typed, in a few units, and tells whether it does.
    fn stands_in_few(&mut self, written: &str) -> Result<bool> {
        let known = self.found.clone();
        let stands = self.text(written)? && self.found.units.len() <= known.units.len() + DEFINITIONS_MAX;
        if !stands {
            self.found = known;
        }
        Ok(stands)
    }

    /// The same for a name that no unit has: functions and types inside others, else what is bound to the name, which may
    /// be a function. A plain word is bound to values in any code.
    fn named_inside(&mut self, name: &str) -> Result<bool> {
        let (bindings, others): (Vec<&str>, Vec<&str>) =
            language::facts().declaration_keywords().partition(|word| is_binding(word));
        let places = best_places(self.announced(name, &others)?);
        if places.len() <= DEFINITIONS_MAX {
            self.point(&points(&places, 1.0))?;
        }
        if !places.is_empty() || is_plain(name) {
            return Ok(!places.is_empty());
        }
        let places = best_places(self.announced(name, &bindings)?);
        let are_few = (1..=DEFINITIONS_MAX).contains(&places.len());
        if are_few {
            self.point(&points(&places, 1.0))?;
        }
        Ok(are_few)
    }

    /// Points at the lines inside a type that declare the member which a path of names means (`Config.theme`), and tells
    /// whether there are any. Of a type that has a few definitions each may be meant.
    fn member(&mut self, query: &Query, path: &[&str]) -> Result<bool> {
        let [before @ .., name] = path else { return Ok(false) };
        let Some(owner) = before.last() else { return Ok(false) };
        let Defining { units, .. } = self.defining(query, owner, before)?;
        let types = units.into_iter().filter(|unit| unit.kind == UnitKind::Class).take(UNITS_POINTED_MAX);
        let keys: Vec<_> = types.map(|unit| unit.unit).collect();
        if keys.is_empty() {
            return Ok(false);
        }
        let lines =
            self.rounds.ask(&LinesRequest { units: keys.clone(), line: LineOf::Member((*name).to_string()) })?;
        let found: Vec<_> = keys.into_iter().zip(lines).filter(|(_, line)| *line > 0).collect();
        let are_few = (1..=DEFINITIONS_MAX).contains(&found.len());
        for (unit, line) in found.into_iter().filter(|_| are_few) {
            self.point_at(unit, Pointer { certainty: Certainty::Exact, strength: 0.5, line });
        }
        Ok(are_few)
    }

    /// The units that define a name, written so. Of one that is defined, those that only announce it are left out, of a
    /// type's file its constructors, of a path (`Session.get`) those that lie elsewhere, and those in tests and the like.
    fn defining(&self, query: &Query, name: &str, path: &[&str]) -> Result<Defining> {
        self.defining_in(query, name, path, None)
    }

    /// The same in some files alone.
    fn defining_in(
        &self,
        query: &Query,
        name: &str,
        path: &[&str],
        files: Option<&HashSet<FilePlace>>,
    ) -> Result<Defining> {
        let is_in = |found: &DefinitionFound| files.is_none_or(|files| files.contains(&found.unit.file));
        let owner = path.len().checked_sub(2).map(|i| path[i].to_string());
        let asked = DefinitionsRequest { name: name.to_string(), owner, ..DefinitionsRequest::default() };
        let mut units: Vec<DefinitionFound> =
            self.rounds.ask(&asked)?.into_iter().filter(|found| found.is_named && is_in(found)).collect();
        let best = |keep: &dyn Fn(&DefinitionFound) -> bool, units: &mut Vec<DefinitionFound>| {
            if units.iter().any(keep) {
                units.retain(keep);
            }
        };
        best(&|found| found.unit.role == UnitRole::Definition, &mut units);
        best(&|found| found.is_owned, &mut units);
        if query.asks_for.is_empty() {
            best(&|found| !found.is_aside, &mut units);
        }
        let is_owned = units.iter().any(|found| found.is_owned);
        let is_aside = query.asks_for.is_empty() && units.iter().all(|found| found.is_aside);
        let mut units: Vec<UnitFound> = units.into_iter().map(|found| found.unit).collect();
        let types: HashSet<FilePlace> =
            units.iter().filter(|unit| unit.kind == UnitKind::Class).map(|unit| unit.file).collect();
        units.retain(|unit| unit.kind == UnitKind::Class || !types.contains(&unit.file));
        // Fields and members of an enum bear the names of types and functions.
        if units.iter().any(|unit| unit.kind != UnitKind::Constant) {
            units.retain(|unit| unit.kind != UnitKind::Constant);
        }
        self.keep_marked(&mut units, mark_behind(&query.text, name))?;
        Ok(Defining { units, is_owned, is_aside })
    }

    /// Of a few units of one name those that end in this mark or, without one, in none, where there are any: `insert` is not
    /// `insert!`. A question's own mark leaves all.
    fn keep_marked(&self, units: &mut Vec<UnitFound>, mark: Option<char>) -> Result<()> {
        if !(2..=MARKED_MAX).contains(&units.len()) {
            return Ok(());
        }
        let keys: Vec<_> = units.iter().map(|unit| unit.unit).collect();
        let is_meant = |name: &str| name.chars().next_back().filter(|c| matches!(c, '!' | '?')) == mark;
        let meant: Vec<bool> = self
            .rounds
            .ask(&StoredUnitsRequest { units: keys.clone() })?
            .iter()
            .map(|unit| is_meant(&unit.name))
            .collect();
        if meant.contains(&true) {
            let mut meant = meant.into_iter();
            units.retain(|_| meant.next().unwrap_or_default());
        }
        Ok(())
    }

    /// The definition that keyword and name announce. Two words of a sentence (`function call`) are hardly meant for one in
    /// tests and the like.
    pub(super) fn declared(&mut self, query: &Query) -> Result<()> {
        let Some(Declaration { keyword, name }) = &query.clues.declaration else { return Ok(()) };
        let may_be_aside = !(is_word(keyword) && is_word(name) && query.asks_for.is_empty());
        let asked = DefinitionsRequest {
            name: name.clone(),
            owner: None,
            keyword: Some(keyword.clone()),
            max: Some(UNITS_POINTED_MAX),
        };
        let found = self.rounds.ask(&asked)?.into_iter();
        let is_meant = |one: &DefinitionFound| one.is_named && one.is_announced && (may_be_aside || !one.is_aside);
        let mut units: Vec<UnitFound> = found.filter(is_meant).map(|one| one.unit).collect();
        if units.iter().any(|unit| unit.role == UnitRole::Definition) {
            units.retain(|unit| unit.role == UnitRole::Definition);
        }
        // "Static files" is no binding.
        if units.is_empty() && !(is_binding(keyword) && is_plain(name)) {
            let mut places = self.announced(name, &[keyword])?;
            places.retain(|(_, seen)| may_be_aside || !seen.is_aside);
            self.point(&points(&places, 0.5))?;
        }
        self.point_at_names(&units, name)
    }

    /// Lines of code that announce a name with one of some keywords in front, in units that have other names: functions
    /// inside functions.
    fn announced(&mut self, name: &str, keywords: &[&str]) -> Result<Vec<(FilePlace, Seen)>> {
        let is_of_functions = |keyword: &&str| language::known().any(|row| row.function_keywords.contains(keyword));
        let may_bind = keywords.iter().any(|keyword| is_binding(keyword) || is_of_functions(keyword));
        let announced = keywords.iter().map(|keyword| format!("{keyword} {name}"));
        let bound = LAMBDAS.iter().filter(|_| may_bind).map(|lambda| format!("{name} {lambda}"));
        let runs: Vec<Run> =
            announced.chain(bound).map(|text| run_of(&text, self.tokenizer)).filter(|run| run.len() > 1).collect();
        let mut files = self.rounds.ask(&PhrasesRequest { phrases: runs })?.concat();
        files.sort_unstable();
        files.dedup();
        let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
        let keywords = keywords.iter().map(|keyword| (*keyword).to_string()).collect();
        self.rounds.scan(&files, Look::Announces { name: name.to_string(), keywords })
    }

    /// Who calls the name that is asked about, each with the line of the call. Of all places of a name these come before its
    /// definition, where they are no tests.
    pub(super) fn callers(&mut self, query: &Query) -> Result<()> {
        let Some(asked) = query.clues.callers_of.as_deref() else { return Ok(()) };
        let strength = if query.is_everywhere() { 1.0 } else { 0.5 };
        let name = last_segment(asked);
        let mut units = self.rounds.callers(asked)?;
        units.truncate(UNITS_POINTED_MAX);
        self.point_at_lines(&units, &LineOf::Call(name.to_string()), strength)?;
        // Calls outside of units, and those that a grammar does not show.
        let Some(term) = colgrep_index::lexical::term_of_word(name, self.tokenizer) else { return Ok(()) };
        let terms = vec![term];
        let counts = self.rounds.term_counts(&terms, 0)?;
        if counts.iter().any(|count| count.units.most() > FILES_READ_MAX as u64 * 8) {
            return Ok(());
        }
        let files = self.rounds.ask(&FilesWithAllRequest { terms })?;
        let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
        // What a text shows of a call calls nothing.
        let seen = self.rounds.scan(&files, Look::Calls(name.to_string()))?.into_iter().filter(|(_, s)| !s.is_text);
        let lines: Vec<(FilePlace, u32)> = seen.map(|(file, seen)| (file, seen.line)).collect();
        let around = self.rounds.ask(&EnclosingRequest { lines: lines.clone() })?;
        let found: Vec<(UnitFound, u32)> =
            around.into_iter().zip(&lines).filter_map(|(unit, (_, line))| Some((unit?, *line))).collect();
        let keys: Vec<_> = found.iter().map(|(unit, _)| unit.unit).collect();
        for ((unit, line), stored) in
            found.into_iter().zip(self.rounds.ask(&StoredUnitsRequest { units: keys.clone() })?)
        {
            if last_segment(&stored.name) == name && line < unit.line + NAME_LINES_MAX as u32 {
                continue;
            }
            let pointer = Pointer { certainty: Certainty::Exact, strength, line };
            self.found.units.entry(unit.unit).or_insert(pointer);
        }
        Ok(())
    }

    /// Points at units, each by the line that names it.
    fn point_at_names(&mut self, units: &[UnitFound], name: &str) -> Result<()> {
        self.point_at_lines(units, &LineOf::Name(name.to_string()), 0.5)
    }

    /// Points at units, each by the line that is wanted of it, else by its own.
    fn point_at_lines(&mut self, units: &[UnitFound], line: &LineOf, strength: f32) -> Result<()> {
        let keys: Vec<_> = units.iter().map(|unit| unit.unit).collect();
        for (unit, line) in keys.iter().zip(self.rounds.ask(&LinesRequest { units: keys.clone(), line: line.clone() })?)
        {
            self.point_at(*unit, Pointer { certainty: Certainty::Exact, strength, line });
        }
        Ok(())
    }
}

/// The units that define a name.
struct Defining {
    units: Vec<UnitFound>,
    /// Whether they lie in what the path in front of the name says.
    is_owned: bool,
    /// Whether all lie in tests and the like, which nobody asked for.
    is_aside: bool,
}

/// The places of a name without those in tests and the like, where there are others.
fn best_places(mut places: Vec<(FilePlace, Seen)>) -> Vec<(FilePlace, Seen)> {
    if places.iter().any(|(_, seen)| !seen.is_aside) {
        places.retain(|(_, seen)| !seen.is_aside);
    }
    places
}

/// The names in a written path of them.
fn path_of(written: &str) -> impl Iterator<Item = &str> {
    written.split(|c: char| !is_word_char(c)).filter(|part| !part.is_empty())
}

/// Whether a name has one part, as a word of a sentence has.
fn is_plain(name: &str) -> bool {
    parts(name).nth(1).is_none()
}

/// Whether a name is written as a word of a sentence in small letters is.
fn is_word(name: &str) -> bool {
    name.chars().all(|c| c.is_lowercase() || c.is_ascii_digit())
}

/// Lines that are pointed at as the places of a name.
fn points(places: &[(FilePlace, Seen)], strength: f32) -> Vec<Point> {
    let point = |(file, seen): &(FilePlace, Seen)| Point {
        file: *file,
        line: seen.line,
        certainty: Certainty::Exact,
        strength,
    };
    places.iter().map(point).collect()
}
