//! Names of definitions: alone, after a keyword, next to a file, in a question.

use std::borrow::Cow;
use std::collections::HashSet;

use colgrep_core::code_line::{LAMBDAS, is_binding};
use colgrep_core::identifier_style::{capitalized, is_odd};
use colgrep_core::query::intents::{Certainty, NamedDeclaration, Pointer, key_path, mark_behind, sign_before};
use colgrep_core::query::{Identifier, Query, SELVES, last_segment, plain_path};
use colgrep_core::token::{is_word_char, parts};
use colgrep_core::{Unit, UnitKind, UnitRole};
use colgrep_syntax::language;

use super::lookup::{BYTES_READ_MAX, FILES_READ_MAX, IntentLookup, Point, UNITS_MAX};
use super::text_evidence::{PlacedText, STRENGTH_OF_MENTION};
use super::{Intent, Pointers, Resolved, ResolvedSoFar, Settled};
use crate::rounds::{
    DefinitionFound, DefinitionsRequest, LineOf, LinesRequest, PhrasesRequest, ScanTarget, ScannedLine,
    StoredUnitsRequest,
};
use crate::shard::UnitFound;
use colgrep_index::error::Result;
use colgrep_index::ids::FilePlace;
use colgrep_index::lexical::{Run, run_of};

/// Maximum of definitions for a name to mean each of them. With more, the ranking decides.
pub(super) const DEFINITIONS_MAX: usize = 3;
/// Maximum of definitions of a name whose final marks are compared.
const MARKED_MAX: usize = 16;

pub(super) const DECLARATION: Intent = Intent {
    name: "declaration",
    doc: "The definition with that keyword; otherwise a line of code where a statement begins with it. Two words in lower \
          case (`event loop`) mean none in tests, examples and vendored code.",
    examples: &[("struct Socket", "struct | Socket"), ("pub fn spawn<F>(future: F)", "fn | spawn")],
    parse: |query| {
        query.intents.declaration.iter().flat_map(|found| [found.keyword.clone(), found.name.clone()]).collect()
    },
    resolve: |lookup, _, _| Ok(Resolved::open(lookup.declared()?)),
    settles: &[],
    yields_to: &[],
};

pub(super) const NAME_IN_FILE: Intent = Intent {
    name: "name in a file",
    doc: "What defines the name in that file, at the line that names it. If there is no such file, what the name alone \
          points at.",
    examples: &[
        ("open in tcp.rs", "open"),
        ("src/net/tcp.rs Socket", "Socket"),
        ("where is open defined in tcp.rs", "open"),
    ],
    parse: |query| query.intents.beside_file.iter().cloned().collect(),
    resolve: |lookup, found, asked| lookup.in_files(&asked[0], found),
    settles: &[Settled::Name],
    yields_to: &[],
};

pub(super) const DEFINITION_QUESTION: Intent = Intent {
    name: "question for a definition",
    doc: "What the name alone points at. A plain word must be the name of a few definitions.",
    examples: &[
        ("where is open_socket defined", "open_socket"),
        ("where is open_socket", "open_socket"),
        ("the definition of open_socket", "open_socket"),
        ("what is the default value of MAX_LEN", "MAX_LEN"),
    ],
    parse: |query| query.intents.definition_of.iter().cloned().collect(),
    resolve: |lookup, _, asked| lookup.asked_for(&asked[0]),
    settles: &[Settled::Name],
    yields_to: &[Settled::Name],
};

pub(super) const NAME: Intent = Intent {
    name: "name",
    doc: "Its definitions, if there are at most three, at the lines that name them: code before tests, types before their \
          constructors, `insert!` apart from `insert`; for `jobs.deploy` the block of that name. A member that is no unit \
          (`Config.theme`) is found on the lines of its type, and a module by the path or the stem of its file.",
    examples: &[
        ("open_any_socket", "open_any_socket"),
        ("Session.get", "Session.get"),
        ("jobs.deploy", "jobs.deploy"),
        ("net::tcp", "net::tcp"),
        ("Oban.Job.new/2", "Oban.Job.new"),
        ("stack(for:)", "stack"),
        (":meth:`~m.C.f`", "m.C.f"),
        ("Vec<T>::push", "Vec::push"),
        ("open(", "open"),
    ],
    parse: |query| name_alone(query).map(|(_, path)| path.into_owned()).into_iter().collect(),
    resolve: |lookup, found, _| lookup.name(found),
    settles: &[Settled::Name],
    yields_to: &[Settled::Name],
};

/// The name that is the whole query, and its plain path; `None` for the name of a file.
fn name_alone(query: &Query) -> Option<(&Identifier, Cow<'_, str>)> {
    let whole = query.identifiers.iter().find(|identifier| identifier.whole_query)?;
    (!language::facts().is_file_name(query.text.trim())).then(|| (whole, plain_path(&query.text)))
}

/// The units that define a name.
pub(super) struct Defining {
    pub units: Vec<UnitFound>,
    /// Whether they are in the owner that the path before the name gives.
    pub is_owned: bool,
    /// Whether all are in tests and the like, which the query does not ask for.
    pub is_aside: bool,
}

impl IntentLookup<'_> {
    fn name(&mut self, found: &ResolvedSoFar) -> Result<Resolved> {
        let query = self.query;
        let Some((identifier, written)) = name_alone(query) else { return Ok(Resolved::default()) };
        let (name, whole, path) = (identifier.name.as_str(), query.text.trim(), path_of(&written));
        let Defining { units, is_owned, is_aside } = self.defining(name, &path, None)?;
        // Of several, what is further out tells which.
        if is_owned && units.len() > 1 && path.len() > 2 {
            let keys = self.keys(&written)?;
            if !keys.units.is_empty() {
                return Ok(Resolved::named(keys, true));
            }
        }
        // A module's file is more useful than the line that declares it or those that import it.
        if !((is_owned || path.len() < 2) && units.iter().any(|unit| unit.role.defines())) {
            let stems = [&path[..], &[whole]];
            for stem in &stems[..path.len().min(2)] {
                let module = self.module(stem)?;
                if !module.files.is_empty() {
                    return Ok(Resolved::named(module, true));
                }
            }
        }
        if !is_owned && path.len() > 1 {
            let sections = self.written()?;
            if !sections.units.is_empty() {
                return Ok(Resolved::named(sections, true));
            }
        }
        // In most languages a field is not a unit.
        if !is_owned && let Some(member) = self.member(&path)? {
            return Ok(Resolved::named(member, true));
        }
        let mut pointers = Pointers::default();
        // `@expires.setter` does not mean any other `setter`.
        if !is_owned && path.len() > 1 {
            let PlacedText { pointers: places, is_whole, is_introduced, .. } = self.text(&query.text, found)?;
            if is_introduced || (is_whole && places.units.len() <= DEFINITIONS_MAX) {
                pointers = places;
            }
            let keys = key_path(&query.text).filter(|_| !is_introduced).map(|path| self.keys(path)).transpose()?;
            if let Some(keys) = keys.filter(|keys| !keys.units.is_empty()) {
                pointers.units.values_mut().for_each(|mention| mention.strength *= STRENGTH_OF_MENTION);
                pointers.merge(keys);
                return Ok(Resolved::named(pointers, true));
            }
            // `github.com` does not mean `com`.
            if is_word(name) {
                let is_named = !pointers.units.is_empty();
                return Ok(Resolved::named(pointers, is_named));
            }
        }
        let has_type = !is_aside && units.iter().any(|unit| unit.kind == UnitKind::Class);
        // Brackets and the like show that the function is meant.
        if whole == name && is_word(name) && !has_type && self.means_more(name, is_aside)? {
            return Ok(Resolved::named(pointers, true));
        }
        let mut is_named = !pointers.units.is_empty();
        if !is_named || !units.is_empty() {
            let of_name = self.named(&units, name)?;
            is_named |= of_name.is_some();
            pointers.merge(of_name.unwrap_or_default());
        }
        Ok(Resolved::named(pointers, is_named))
    }

    /// A requested definition. A plain word is only the name of one if there are few of that name.
    pub(super) fn asked_for(&mut self, written: &str) -> Result<Resolved> {
        let (path, name) = (path_of(written), last_segment(written));
        let Defining { units, is_owned, is_aside } = self.defining(name, &path, None)?;
        if !is_odd(written) && (is_aside || !(1..=DEFINITIONS_MAX).contains(&units.len())) {
            return Ok(Resolved::default());
        }
        if path.len() > 1 && !is_owned {
            let declared = self.named_by(written)?;
            if !declared.units.is_empty() {
                return Ok(Resolved::named(declared, true));
            }
        }
        // `github.com` does not mean `com`, and `client.py` is a file.
        let found = if path.len() > 1 && !is_owned { self.member(&path)? } else { self.named(&units, name)? };
        let is_named = found.is_some();
        Ok(Resolved::named(found.unwrap_or_default(), is_named))
    }

    /// A name in the files that the query names, however often they define it.
    pub(super) fn in_files(&mut self, written: &str, found: &ResolvedSoFar) -> Result<Resolved> {
        let files: HashSet<FilePlace> = found.pointers.files.keys().copied().collect();
        if files.is_empty() {
            let mentions = &self.query.intents.mentions;
            let is_file = |path: &String| language::facts().is_file_name(&path.to_lowercase());
            let is_gone = is_odd(written) && (mentions.is_empty() || mentions.iter().any(is_file));
            return if is_gone { self.asked_for(written) } else { Ok(Resolved::default()) };
        }
        let (path, name) = (path_of(written), last_segment(written));
        let Defining { mut units, .. } = self.defining(name, &path, Some(&files))?;
        if units.is_empty() {
            let found = match self.member(&path)? {
                Some(member) => member,
                None => self.announced_in(&files, name)?,
            };
            let is_named = !found.units.is_empty();
            return Ok(Resolved::named(found, is_named));
        }
        units.truncate(UNITS_MAX);
        Ok(Resolved::named(self.point_at_names(&units, name)?, true))
    }

    /// The definition that keyword and name declare. Two plain words (`function call`) hardly mean one in tests and the
    /// like.
    fn declared(&mut self) -> Result<Pointers> {
        let query = self.query;
        let Some(NamedDeclaration { keyword, name }) = &query.intents.declaration else {
            return Ok(Pointers::default());
        };
        let may_be_aside = !(is_word(keyword) && is_word(name) && query.asks_for.is_empty());
        let (keyword_asked, max) = (Some(keyword.clone()), Some(UNITS_MAX));
        let asked = DefinitionsRequest { name: name.clone(), owner: None, keyword: keyword_asked, max };
        let is_meant = |one: &DefinitionFound| one.is_named && one.is_announced && (may_be_aside || !one.is_aside);
        let found = self.rounds.ask(&asked)?.into_iter().filter(is_meant);
        let mut units: Vec<UnitFound> = found.map(|one| one.unit).collect();
        keep_best(&mut units, |unit| unit.role == UnitRole::Definition);
        // "Static files" is not a binding.
        if units.is_empty() && !(is_binding(keyword) && is_plain(name)) {
            let mut places = self.announced(name, &[keyword])?;
            places.retain(|(_, seen)| may_be_aside || !seen.is_aside);
            return self.point(&Point::at_all(&places, 0.5));
        }
        self.point_at_names(&units, name)
    }

    /// The units that define a name, in some files or anywhere: definitions before declarations, those in the owner
    /// before the name (`Session.get`) before others, code before tests and the like, a type before the constructors in
    /// its file.
    pub(super) fn defining(&self, name: &str, path: &[&str], files: Option<&HashSet<FilePlace>>) -> Result<Defining> {
        let is_in = |found: &DefinitionFound| files.is_none_or(|files| files.contains(&found.unit.file));
        let owner = path.len().checked_sub(2).map(|i| path[i].to_string());
        let asked = DefinitionsRequest { name: name.to_string(), owner, ..DefinitionsRequest::default() };
        let mut units: Vec<DefinitionFound> =
            self.rounds.ask(&asked)?.into_iter().filter(|found| found.is_named && is_in(found)).collect();
        let asks_for_none = self.query.asks_for.is_empty();
        keep_best(&mut units, |found| found.unit.role == UnitRole::Definition);
        keep_best(&mut units, |found| found.is_owned);
        keep_best(&mut units, |found| !asks_for_none || !found.is_aside);
        let is_owned = units.iter().any(|found| found.is_owned);
        let is_aside = asks_for_none && units.iter().all(|found| found.is_aside);
        let mut units: Vec<UnitFound> = units.into_iter().map(|found| found.unit).collect();
        let types: HashSet<FilePlace> =
            units.iter().filter(|unit| unit.kind == UnitKind::Class).map(|unit| unit.file).collect();
        units.retain(|unit| unit.kind == UnitKind::Class || !types.contains(&unit.file));
        if !types.is_empty() {
            self.keep_types(&mut units, name)?;
        }
        // Fields and variants often have the names of types and functions.
        keep_best(&mut units, |unit| unit.kind != UnitKind::Constant);
        self.keep_meant(&mut units, name)?;
        Ok(Defining { units, is_owned, is_aside })
    }

    /// Drops the constructors and destructors that a file defines apart from their type.
    fn keep_types(&self, units: &mut Vec<UnitFound>, name: &str) -> Result<()> {
        let others: Vec<_> =
            units.iter().filter(|unit| unit.kind != UnitKind::Class).map(|unit| unit.unit).take(UNITS_MAX).collect();
        let stored = self.rounds.ask(&StoredUnitsRequest { units: others.clone() })?;
        let is_part = |unit: &Unit| unit.parent.rsplit('.').next() == Some(name);
        let parts: HashSet<_> =
            others.into_iter().zip(&stored).filter(|(_, own)| is_part(own)).map(|(key, _)| key).collect();
        units.retain(|unit| !parts.contains(&unit.unit));
        Ok(())
    }

    /// Of a few units of one name, keeps those that the query's form means, if there are any: `insert` is not `insert!`;
    /// in Ruby `Queue.insert` means `self.insert`, and `Queue#insert` the method of an object. A question mark at the end
    /// of a question keeps all.
    fn keep_meant(&self, units: &mut Vec<UnitFound>, name: &str) -> Result<()> {
        if !(2..=MARKED_MAX).contains(&units.len()) {
            return Ok(());
        }
        let text = &self.query.text;
        let mark = mark_behind(text, name);
        let stored = self.rounds.ask(&StoredUnitsRequest { units: units.iter().map(|unit| unit.unit).collect() })?;
        let mut meant: Vec<(UnitFound, Unit)> = units.drain(..).zip(stored).collect();
        keep_best(&mut meant, |(_, unit)| unit.name.chars().next_back().filter(|c| matches!(c, '!' | '?')) == mark);
        if let Some(sign) = sign_before(text, name) {
            let of_type = format!("self.{name}");
            let is_word = |c: char| is_word_char(c) || c == '.';
            let is_of_type = |unit: &Unit| unit.signature.split(|c| !is_word(c)).any(|word| word == of_type);
            keep_best(&mut meant, |(_, unit)| is_of_type(unit) == (sign == '.'));
        }
        units.extend(meant.into_iter().map(|(unit, _)| unit));
        Ok(())
    }

    /// Pointers to these definitions of a name, if they are few; if there are none, to definitions of it that are not
    /// units. `None` if it has no definition.
    fn named(&mut self, units: &[UnitFound], name: &str) -> Result<Option<Pointers>> {
        match units.len() {
            0 => self.announced_anywhere(name),
            1..=DEFINITIONS_MAX => Ok(Some(self.point_at_names(units, name)?)),
            _ => Ok(Some(Pointers::default())),
        }
    }

    /// Functions and types inside others, else bindings of the name, which may be functions. A plain word is bound to
    /// values in any code.
    fn announced_anywhere(&mut self, name: &str) -> Result<Option<Pointers>> {
        let (bindings, others): (Vec<&str>, Vec<&str>) =
            language::facts().declaration_keywords().partition(|word| is_binding(word));
        for (keywords, may_be_many) in [(others, true), (bindings, false)] {
            let mut places = self.announced(name, &keywords)?;
            keep_best(&mut places, |(_, seen)| !seen.is_aside);
            let are_few = places.len() <= DEFINITIONS_MAX;
            if !places.is_empty() && (are_few || may_be_many) {
                return Ok(Some(self.point(&Point::at_all(if are_few { &places } else { &[] }, 1.0))?));
            }
            if is_plain(name) || !places.is_empty() {
                break;
            }
        }
        Ok(None)
    }

    /// Lines of code that declare a name with one of some keywords, in units of other names: functions inside
    /// functions.
    fn announced(&mut self, name: &str, keywords: &[&str]) -> Result<Vec<(FilePlace, ScannedLine)>> {
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
        self.rounds.scan(&files, ScanTarget::Announces { name: name.to_string(), keywords })
    }

    /// The lines of files that declare a name which no unit has.
    fn announced_in(&mut self, files: &HashSet<FilePlace>, name: &str) -> Result<Pointers> {
        // `enum class` does not declare a `class`.
        if language::facts().is_declaration_keyword(name) {
            return Ok(Pointers::default());
        }
        let mut files: Vec<FilePlace> = files.iter().copied().collect();
        files.sort_unstable();
        let files = self.readable(&files, FILES_READ_MAX, BYTES_READ_MAX)?;
        // A plain word is bound to values in any code.
        let announces = |word: &&str| !is_binding(word) || !is_plain(name);
        let keywords = language::facts().declaration_keywords().filter(announces).map(String::from).collect();
        let mut places = self.rounds.scan(&files, ScanTarget::Announces { name: name.to_string(), keywords })?;
        places.truncate(UNITS_MAX);
        self.point(&Point::at_all(&places, 0.5))
    }

    /// The lines inside a type that declare the member of a path (`Config.theme`), if they are few.
    fn member(&mut self, path: &[&str]) -> Result<Option<Pointers>> {
        let [before @ .., name] = path else { return Ok(None) };
        let Some(owner) = before.last() else { return Ok(None) };
        let Defining { units, .. } = self.defining(owner, before, None)?;
        let types = units.into_iter().filter(|unit| unit.kind == UnitKind::Class).take(UNITS_MAX);
        let keys: Vec<_> = types.map(|unit| unit.unit).collect();
        if keys.is_empty() {
            return Ok(None);
        }
        let lines =
            self.rounds.ask(&LinesRequest { units: keys.clone(), line: LineOf::Member((*name).to_string()) })?;
        let found: Vec<_> = keys.into_iter().zip(lines).filter(|(_, line)| *line > 0).collect();
        let mut pointers = Pointers::default();
        if !(1..=DEFINITIONS_MAX).contains(&found.len()) {
            return Ok(None);
        }
        for (unit, line) in found {
            pointers.point_at(unit, Pointer { certainty: Certainty::Exact, strength: 0.5, line });
        }
        Ok(Some(pointers))
    }

    /// Whether a word in lower case means more than the functions and values of that name, which the ranking weighs:
    /// there is a type of the capitalized name, or a file. If only tests and the like define the word, any definition
    /// of the capitalized name counts.
    fn means_more(&self, word: &str, is_aside: bool) -> Result<bool> {
        let asked = DefinitionsRequest { name: capitalized(word), ..DefinitionsRequest::default() };
        let says_more = |found: &DefinitionFound| {
            found.is_named && !found.is_aside && (is_aside || found.unit.kind == UnitKind::Class)
        };
        Ok(self.rounds.ask(&asked)?.iter().any(says_more) || !self.modules(&[word])?.is_empty())
    }

    /// Pointers to units, each at the line that names it.
    pub(super) fn point_at_names(&self, units: &[UnitFound], name: &str) -> Result<Pointers> {
        self.point_at_lines(units, &LineOf::Name(name.to_string()), 0.5)
    }
}

/// Drops unwanted items, unless there are no others.
pub(super) fn keep_best<T>(items: &mut Vec<T>, is_wanted: impl Fn(&T) -> bool) {
    if items.iter().any(&is_wanted) {
        items.retain(is_wanted);
    }
}

/// The names in a written path, without a leading `self` or the like. In some languages names contain hyphens and primes.
pub(super) fn path_of(written: &str) -> Vec<&str> {
    let in_name = |c: char| is_word_char(c) || matches!(c, '-' | '\'');
    let parts = written.split("->").flat_map(move |path| path.split(move |c| !in_name(c)));
    let parts =
        parts.map(|part| part.trim_start_matches(['-', '\'']).trim_end_matches('-')).filter(|part| !part.is_empty());
    parts.skip_while(|part| SELVES.contains(part)).collect()
}

/// Whether a name has only one part, like a plain word.
pub(super) fn is_plain(name: &str) -> bool {
    parts(name).nth(1).is_none()
}

/// Whether a name looks like a plain word in lower case.
fn is_word(name: &str) -> bool {
    name.chars().all(|c| c.is_lowercase() || c.is_ascii_digit())
}
