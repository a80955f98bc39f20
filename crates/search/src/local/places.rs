//! What a query points at in one index.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use colgrep_core::code_line::{
    NAME_LINES_MAX, announces, binds_function, calling_line, calling_lines, is_binding, lines_of_code, member_line,
    naming_line, word_at,
};
use colgrep_core::identifier_style::is_name_in_example;
use colgrep_core::literal_match::{Agreement, LiteralMatch, PastedText};
use colgrep_core::path::{PathClass, stem_of};
use colgrep_core::query::last_segment;
use colgrep_core::spelling::{Spelled, Spelling};
use colgrep_core::token::is_word_char;
use colgrep_core::{Unit, UnitId, UnitKind};
use colgrep_syntax::language::{self, Category};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::LocalSearch;
use crate::locate::{FILES_MAX, best_named, files_called, files_spelled};
use crate::retrieve::{is_data, is_text};
use crate::shard::{
    Context, ContextsAsked, DefinitionFound, DefinitionsAsked, FileMeant, HolderCount, HoldingAsked, LineOf,
    LocateAsked, LocateFound, Look, Places, Seen, UnitFound,
};
use colgrep_index::error::Result;
use colgrep_index::ids::{FileId, FilePlace};
use colgrep_index::lexical::{CodeName, Run, UnitHit};
use colgrep_index::store::FileRecord;

impl LocalSearch<'_> {
    fn places(&self, files: Vec<FileId>) -> Vec<FilePlace> {
        let mut places: Vec<FilePlace> = files.into_iter().map(|file| self.shard.place(file)).collect();
        places.sort_unstable();
        places
    }

    /// The files that hold a term, ascending by number; looked up once.
    fn files_with<T>(&self, term: &str, read: impl FnOnce(&[FileId]) -> T) -> Result<T> {
        let known = || self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = known().get(term) {
            return Ok(read(files));
        }
        let files = self.snapshot.lexical.files_with(term)?;
        let result = read(&files);
        known().insert(term.to_string(), files);
        Ok(result)
    }

    /// Files that are meant: the first ones, and what is written exactly so.
    fn meant(&self, files: &[&FileRecord], written: &str) -> Vec<FileMeant> {
        let is_exact = |record: &FileRecord| {
            let (front, path) = self.shard.path_of(record);
            [front, path].concat().eq_ignore_ascii_case(written)
        };
        let meant = |record: &FileRecord| FileMeant {
            file: self.shard.place(record.id),
            is_exact: is_exact(record),
            is_allowed: self.shard.allows(record.id),
        };
        let mut all: Vec<FileMeant> = files.iter().map(|record| meant(record)).collect();
        all.sort_by_key(|meant| (!meant.is_exact, meant.file));
        all.truncate(FILES_MAX + 1);
        all
    }

    fn typed_in(&self, typed: &PastedText<'_>, record: &FileRecord, text: &str) -> Vec<Seen> {
        let Some(standing) = typed.find(text) else { return Vec::new() };
        let line = self
            .heading_with(typed, record, text, &standing)
            .unwrap_or_else(|| 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..standing.start]).count() as u32);
        vec![Seen { standing: Some(standing), ..seen_in(record, line) }]
    }

    /// The line of the heading, in a file of prose, that holds a text as well as the place that was found: a section
    /// says more than what links to it. Of several the shortest.
    fn heading_with(
        &self,
        typed: &PastedText<'_>,
        record: &FileRecord,
        text: &str,
        found: &LiteralMatch,
    ) -> Option<u32> {
        let is_prose = language::by_name(&record.language).is_some_and(|own| own.category == Category::Prose);
        if !is_prose || found.agreement == Agreement::Run {
            return None;
        }
        let lines: Vec<&str> = text.lines().collect();
        let length = |line: u32| {
            let heading = lines.get((line as usize).checked_sub(1)?)?;
            let own = typed.find(heading)?;
            ((own.agreement, own.is_alone) >= (found.agreement, found.is_alone)).then_some(heading.len())
        };
        let units = self.snapshot.lexical.units_of(record.id, self.filter()).ok()?;
        let sections = units.iter().filter(|unit| unit.kind == UnitKind::Section);
        sections.filter_map(|unit| Some((length(unit.line)?, unit.line))).min().map(|(_, line)| line)
    }

    /// For each of the files the line that holds a text in some spelling.
    fn spelled(&self, files: &[FilePlace], spelling: &Spelling) -> Result<Vec<Vec<Seen>>> {
        let records: Vec<Option<&FileRecord>> = files.iter().map(|file| self.shard.record(*file)).collect();
        let found = self.snapshot.spelled(&records, spelling)?;
        let seen = |(record, spelled): (&Option<&FileRecord>, Option<Spelled>)| {
            let Spelled { line, is_cut } = spelled?;
            Some(Seen { is_cut, ..seen_in((*record)?, line) })
        };
        Ok(records.iter().zip(found).map(|both| seen(both).into_iter().collect()).collect())
    }

    /// Whether a file is or lies in the module of a name: it is called so, or one of its folders.
    fn is_module(record: &FileRecord, name: &str) -> bool {
        let mut parts = record.path.rsplit('/');
        parts.next().map(stem_of) == Some(name) || parts.any(|folder| folder == name)
    }

    /// The line that is wanted of a unit, which goes from `first` to `last` in a file of `language`; none where it has
    /// no such line.
    fn chosen(line: &LineOf, text: &str, language: &str, first: u32, last: u32) -> Option<u32> {
        let wanted = 1 + last.saturating_sub(first);
        let lines = text.lines().skip(first.saturating_sub(1) as usize).take(wanted as usize);
        let at = match line {
            LineOf::Name(name) => naming_line(lines.take(NAME_LINES_MAX), name),
            LineOf::Call(name) => {
                calling_line(lines, &[name.as_str()], language::comment_marks(language), language::facts())
            }
            LineOf::Member(name) => return member_line(text, first, last, name),
        };
        at.map(|at| first + at as u32)
    }
}

/// What is seen on a line of a file.
fn seen_in(record: &FileRecord, line: u32) -> Seen {
    let is_aside = is_data(&record.language, &record.path)
        || PathClass::of(&record.path, language::facts()).has(PathClass::REPEATS);
    Seen { line, standing: None, is_text: is_text(&record.language), is_aside, is_cut: false }
}

/// The lines of a program that announce a name with one of some keywords, or bind a function to it. Only those keywords
/// count that its language has.
fn announcing(record: &FileRecord, text: &str, name: &str, keywords: &[String]) -> Vec<Seen> {
    if is_text(&record.language) {
        return Vec::new();
    }
    let language = language::by_name(&record.language);
    let own: Vec<&str> = language.into_iter().flat_map(|language| language.keywords()).collect();
    // Rows without any hold programs of other languages.
    let is_own = |keyword: &&str| own.is_empty() || own.contains(keyword);
    let keywords: Vec<&str> = keywords.iter().map(String::as_str).filter(is_own).collect();
    let is_of_functions = |keyword: &&str| language.is_none_or(|language| language.function_keywords.contains(keyword));
    let may_bind = keywords.iter().any(|keyword| is_binding(keyword) || is_of_functions(keyword));
    let announces = |line: &str| announces(line, name, &keywords) || (may_bind && binds_function(line, name));
    let mut lines: Vec<u32> =
        lines_of_code(text).filter(|(_, line)| announces(line)).map(|(number, _)| number).collect();
    // An example in a documentation, of a name that is no word of a sentence.
    if lines.is_empty() && is_name_in_example(name) {
        lines.extend((1..).zip(text.lines()).filter(|(_, line)| announces(line)).map(|(number, _)| number));
    }
    lines.into_iter().map(|number| seen_in(record, number)).collect()
}

impl Places for LocalSearch<'_> {
    fn located(&self, asked: &LocateAsked) -> Result<LocateFound> {
        let table = &self.snapshot.files;
        // The root's own folder is a part too.
        let root = table.root.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default();
        let front_of = |record| match self.shard.path_of(record) {
            ("", path) => (root, path),
            named => named,
        };
        // What the filter leaves out says nothing of what is meant.
        let allowed: Vec<&FileRecord> = table.indexed().filter(|record| self.shard.allows(record.id)).collect();
        let of_path = |written: &String| {
            let (shared, files) = best_named(allowed.iter().copied(), front_of, written);
            (shared as u32, self.meant(&files, written))
        };
        let called = files_called(table, &asked.names);
        let spelled = files_spelled(table, &asked.text);
        Ok(LocateFound {
            paths: asked.paths.iter().map(of_path).collect(),
            names: called.into_iter().map(|(name, files)| self.meant(&files, name)).collect(),
            spelled: spelled.into_iter().map(|(name, files)| (name.to_string(), self.meant(&files, name))).collect(),
        })
    }

    fn definitions(&self, asked: &DefinitionsAsked) -> Result<Vec<DefinitionFound>> {
        let DefinitionsAsked { name, owner, keyword, max } = asked;
        let mut units = self.shard.in_order(&self.snapshot.lexical.definitions(name, self.filter())?);
        units.truncate(max.unwrap_or(usize::MAX));
        let keys: Vec<UnitId> = units.iter().map(|unit| unit.unit).collect();
        // Signatures stand in files.
        let stored = match keyword {
            Some(_) => self.snapshot.units(&keys)?,
            None => keys.iter().map(|key| Ok(self.snapshot.lexical.unit(*key)?.unit(&[]))).collect::<Result<_>>()?,
        };
        let is_enclosed =
            |stored: &Unit| owner.as_deref().is_some_and(|owner| stored.parent.split('.').next_back() == Some(owner));
        // A file that is called as its type is holds the members of others, too: of a type inside it, say.
        let enclosed = units.iter().zip(&stored).filter(|(_, stored)| is_enclosed(stored));
        let of_owner: FxHashSet<FilePlace> = enclosed.map(|(unit, _)| unit.file).collect();
        let is_in_module = |unit: &UnitFound| {
            let record = self.shard.record(unit.file);
            let is_module = |owner: &String| record.is_some_and(|record| Self::is_module(record, owner));
            owner.as_ref().is_some_and(is_module) && !of_owner.contains(&unit.file)
        };
        let definition = |(unit, stored): (UnitFound, Unit)| {
            let signature = &stored.signature;
            let front = &signature[..word_at(signature, name).unwrap_or(signature.len())];
            let mut words = front.split(|c: char| !is_word_char(c));
            let record = self.shard.record(unit.file);
            DefinitionFound {
                unit,
                // The index compares a hash of eight bits.
                is_named: last_segment(&stored.name) == name,
                is_owned: is_enclosed(&stored) || is_in_module(&unit),
                is_announced: keyword.as_ref().is_some_and(|keyword| words.any(|word| word == keyword)),
                is_aside: record.is_some_and(|record| seen_in(record, unit.line).is_aside),
            }
        };
        Ok(units.into_iter().zip(stored).map(definition).collect())
    }

    fn callers(&self, name: &str, is_loose: bool) -> Result<Vec<UnitFound>> {
        let name = CodeName::new(name, false);
        Ok(self.shard.in_order(&self.snapshot.lexical.callers_by(&name, is_loose, self.filter())?))
    }

    fn around(&self, lines: &[(FilePlace, u32)]) -> Result<Vec<Option<UnitFound>>> {
        let around = |(file, line): &(FilePlace, u32)| {
            let unit = self.snapshot.lexical.unit_around(self.shard.number(*file), *line, self.filter())?;
            Ok(unit.map(|hit| self.shard.found(&hit)))
        };
        lines.iter().map(around).collect()
    }

    fn runs(&self, runs: &[Run]) -> Result<Vec<Vec<FilePlace>>> {
        runs.iter().map(|run| Ok(self.places(self.snapshot.lexical.files_with_run(run)?))).collect()
    }

    fn counts(&self, terms: &[String], units_max: u64) -> Result<Vec<HolderCount>> {
        let count = |term: &String| {
            let units = self.snapshot.lexical.count_of(term)?;
            let files = if units.most() > units_max { 0 } else { self.files_with(term, |files| files.len() as u64)? };
            Ok(HolderCount { units, files })
        };
        terms.iter().map(count).collect()
    }

    fn holding(&self, asked: &HoldingAsked) -> Result<Vec<(FilePlace, f32)>> {
        let mut held: FxHashMap<FileId, f32> = FxHashMap::default();
        for (term, weight) in &asked.terms {
            self.files_with(term, |files| {
                for file in files.iter().filter(|file| self.shard.allows(**file)) {
                    *held.entry(*file).or_default() += weight;
                }
            })?;
        }
        let enough = held.into_iter().filter(|(_, weight)| *weight >= asked.least);
        let mut held: Vec<(FilePlace, f32)> = enough.map(|(file, weight)| (self.shard.place(file), weight)).collect();
        held.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        held.truncate(asked.files_max);
        Ok(held)
    }

    fn holding_all(&self, terms: &[String]) -> Result<Vec<FilePlace>> {
        let mut holders: Option<Vec<FileId>> = None;
        for term in terms {
            holders = Some(self.files_with(term, |files| match holders.take() {
                None => files.to_vec(),
                Some(known) => known.into_iter().filter(|file| files.binary_search(file).is_ok()).collect(),
            })?);
        }
        Ok(self.places(holders.unwrap_or_default()))
    }

    fn sizes(&self, files: &[FilePlace]) -> Result<Vec<Option<u64>>> {
        let size = |file: &FilePlace| {
            let record = self.shard.record(*file)?;
            (record.skip.is_none() && self.shard.allows(record.id)).then_some(record.size)
        };
        Ok(files.iter().map(size).collect())
    }

    fn look(&self, files: &[FilePlace], look: &Look) -> Result<Vec<Vec<Seen>>> {
        let root = Path::new(&self.snapshot.files.root);
        let typed = match look {
            Look::Typed { text, weights } => Some(PastedText::weighed(text, weights)),
            Look::Spelled(text) => return self.spelled(files, &Spelling::new(text)),
            Look::Announces { .. } | Look::Calls(_) => None,
        };
        let seen = |file: &FilePlace| -> Vec<Seen> {
            let Some(record) = self.shard.record(*file) else { return Vec::new() };
            // One that can't be read any more holds nothing.
            let Ok(text) = self.snapshot.texts.text(root, &record.path) else { return Vec::new() };
            match (look, &typed) {
                (_, Some(typed)) => self.typed_in(typed, record, &text),
                (Look::Announces { name, keywords }, _) => announcing(record, &text, name, keywords),
                (Look::Calls(name), _) => {
                    let marks = language::comment_marks(&record.language);
                    let lines = calling_lines(&text, name, marks, language::facts());
                    lines.into_iter().map(|line| seen_in(record, line)).collect()
                }
                (Look::Typed { .. } | Look::Spelled(_), None) => Vec::new(),
            }
        };
        Ok(files.par_iter().map(seen).collect())
    }

    fn lines(&self, units: &[UnitId], line: &LineOf) -> Result<Vec<u32>> {
        let root = Path::new(&self.snapshot.files.root);
        let mut read: Option<(FileId, Arc<String>)> = None;
        let mut of_unit = |unit: &UnitHit| {
            let record = self.shard.record(self.shard.place(unit.file));
            if read.as_ref().is_none_or(|(file, _)| *file != unit.file) {
                let text =
                    record.and_then(|record| self.snapshot.texts.text(root, &record.path).ok()).unwrap_or_default();
                read = Some((unit.file, text));
            }
            let text = read.as_ref().map_or("", |(_, text)| text.as_str());
            let end = self.snapshot.lexical.end_of(unit.key).unwrap_or(unit.line);
            let otherwise = if matches!(line, LineOf::Member(_)) { 0 } else { unit.line };
            let language = record.map_or("", |record| record.language.as_str());
            LocalSearch::chosen(line, text, language, unit.line, end).unwrap_or(otherwise)
        };
        Ok(units.iter().map(|unit| self.snapshot.lexical.hit(*unit).as_ref().map_or(0, &mut of_unit)).collect())
    }

    fn contexts(&self, asked: &ContextsAsked<'_>) -> Result<Vec<(FilePlace, Context)>> {
        super::near::contexts(self, asked)
    }

    fn files_at(&self, paths: &[&str]) -> Result<Vec<Option<FilePlace>>> {
        let files = &self.snapshot.files.files;
        let at = |path: &&str| {
            let path = self.shard.own_path(path)?;
            let record = &files[files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?];
            (record.skip.is_none() && self.shard.allows(record.id)).then(|| self.shard.place(record.id))
        };
        Ok(paths.iter().map(at).collect())
    }
}
