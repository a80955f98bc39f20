//! The calls of one index as a graph. Calls are known by name, not by type, so each edge says how sure it is: a call is
//! resolved where its qualifier, its own file or the imports of its file leave one definition.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use colgrep_core::code_line::{CallReceiver, call_receiver};
use colgrep_core::import::{file_keys, import_keys};
use colgrep_core::path::{PathClass, stem_of};
use colgrep_core::query::last_segment;
use colgrep_core::token::is_word_char;
use colgrep_core::unit::qualified;
use colgrep_core::{Unit, UnitId, UnitKind};
use colgrep_index::ids::FileId;
use colgrep_index::lexical::{UnitHit, split_callee};
use colgrep_index::store::Snapshot;
use colgrep_search::is_test_inside;
use colgrep_syntax::language::{self, is_constructor};
use colgrep_syntax::read::{self, lines_between};

use crate::error::Result;

/// Qualifiers that mean the class around the call.
const OWN_CLASS: [&str; 6] = ["Self", "self", "this", "$this", "cls", "static"];
/// Importers of a file that are searched for other names of what it defines.
const IMPORTERS_MAX: usize = 300;
/// Qualifiers that say nothing of the owner.
const NO_OWNER: [&str; 3] = ["crate", "super", "parent"];

#[derive(Clone, Debug)]
pub struct GraphUnit {
    /// Its place in the index.
    pub hit: UnitHit,
    pub name: String,
    /// The names of the units around it, joined by dots.
    pub parent: String,
    /// The base classes that its definition names.
    pub extends: Vec<String>,
}

impl GraphUnit {
    fn new((hit, unit): (UnitHit, Unit)) -> GraphUnit {
        GraphUnit { hit, name: unit.name, parent: unit.parent, extends: unit.extends }
    }

    /// The name after its parents, joined by dots.
    pub fn qualified_name(&self) -> String {
        qualified(&self.parent, &self.name)
    }
}

/// The definitions that a call may mean.
#[derive(Clone, Debug, Default)]
pub struct CallTargets {
    /// The definitions, by file and line.
    pub definitions: NamedUnits,
    /// Whether more than the name says that it is this one.
    pub is_certain: bool,
}

type NamedUnits = Rc<Vec<GraphUnit>>;

pub struct CallGraph<'s> {
    pub snapshot: &'s Snapshot,
    /// Called names as written, by their last part; read once callers are asked for.
    callees: OnceCell<HashMap<String, Vec<String>>>,
    /// Definitions by the last part of their names, and the language of the call.
    definitions: RefCell<HashMap<(String, &'s str), NamedUnits>>,
    /// Import keys by file.
    imports: RefCell<HashMap<FileId, Rc<HashSet<String>>>>,
}

impl std::fmt::Debug for CallGraph<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallGraph").field("callees", &self.callees.get().map(HashMap::len)).finish_non_exhaustive()
    }
}

impl<'s> CallGraph<'s> {
    pub fn new(snapshot: &'s Snapshot) -> CallGraph<'s> {
        let callees = OnceCell::new();
        CallGraph { snapshot, callees, definitions: RefCell::default(), imports: RefCell::default() }
    }

    fn callees(&self) -> Result<&HashMap<String, Vec<String>>> {
        if let Some(known) = self.callees.get() {
            return Ok(known);
        }
        let read = self.snapshot.lexical.callees()?;
        Ok(self.callees.get_or_init(|| read))
    }

    /// The unit at a place of the index.
    pub fn unit(&self, hit: UnitHit) -> Result<GraphUnit> {
        Ok(GraphUnit::new((hit, self.snapshot.lexical.unit(hit.key)?.unit(&[]))))
    }

    /// The path of a file; empty if the index has none.
    pub fn path(&self, file: FileId) -> &'s str {
        self.snapshot.record(file).map_or("", |record| record.path.as_str())
    }

    /// The language of a file.
    pub fn language(&self, file: FileId) -> &'s str {
        self.snapshot.language(file)
    }

    /// Whether a unit is a test, by its path, its syntax or the module around it.
    pub fn is_test(&self, unit: &GraphUnit) -> bool {
        is_test_inside(unit.hit.role, &unit.parent, self.language(unit.hit.file))
            || PathClass::of(self.path(unit.hit.file), language::facts()).has(PathClass::TEST)
    }

    /// The definitions that a call in this language may mean by the last part of its name; declarations only where
    /// nothing defines it.
    pub fn definitions(&self, last: &str, language: &'s str) -> Result<Rc<Vec<GraphUnit>>> {
        let key = (last.to_string(), language);
        if let Some(known) = self.definitions.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let units = self.snapshot.callable(last, language)?;
        let units = Rc::new(units.into_iter().map(GraphUnit::new).collect::<Vec<_>>());
        self.definitions.borrow_mut().insert(key, Rc::clone(&units));
        Ok(units)
    }

    /// The units that call a name by its last part, each with the name as written.
    pub fn callers(&self, last: &str) -> Result<Vec<(UnitHit, &str)>> {
        let mut found = Vec::new();
        for callee in self.callees()?.get(last).into_iter().flatten() {
            found.extend(
                self.snapshot.lexical.callers_as_written(callee)?.into_iter().map(|hit| (hit, callee.as_str())),
            );
        }
        Ok(found)
    }

    /// The definitions that a call of `callee` in `caller` may mean.
    pub fn targets(&self, caller: &GraphUnit, callee: &str) -> Result<CallTargets> {
        let (qualifier, last) = split_callee(callee);
        let language = self.language(caller.hit.file);
        let mut all = self.definitions(last, language)?;
        if all.is_empty()
            && let Some(name) = self.imported_as(caller.hit.file, last)?
        {
            all = self.definitions(&name, language)?;
        }
        let only = |is_meant: &dyn Fn(&GraphUnit) -> bool| -> Vec<GraphUnit> {
            all.iter().filter(|unit| is_meant(unit)).cloned().collect()
        };
        let owner = match owner_of(qualifier) {
            Some(owner) if OWN_CLASS.contains(&owner) => Some(last_segment(&caller.parent)),
            owner => owner,
        };
        if let Some(owner) = owner.filter(|owner| !owner.is_empty()) {
            let owned = only(&|unit| last_segment(&unit.parent) == owner || is_module(self.path(unit.hit.file), owner));
            return Ok(CallTargets { is_certain: owned.len() == 1, definitions: Rc::new(owned) });
        }
        let is_own = |unit: &GraphUnit| unit.hit.file == caller.hit.file;
        let is_of_class = |unit: &GraphUnit| is_own(unit) && !unit.parent.is_empty() && unit.parent == caller.parent;
        let is_free = |unit: &GraphUnit| unit.hit.kind != UnitKind::Method;
        let imports = self.imports(caller.hit.file)?;
        let facts = language::facts();
        let is_imported =
            |unit: &GraphUnit| file_keys(self.path(unit.hit.file), facts).iter().any(|key| imports.contains(key));
        let is_single = all.len() == 1;
        for is_meant in [
            &is_of_class as &dyn Fn(&GraphUnit) -> bool,
            &|unit| is_own(unit) && (is_free(unit) || is_single),
            &|unit| is_imported(unit) && (is_free(unit) || is_single),
        ] {
            let meant = only(is_meant);
            let [unit] = meant.as_slice() else { continue };
            // What the own file defines is not what another value has.
            let is_received = !is_own(unit)
                || match self.receiver(caller, last)? {
                    CallReceiver::Own => true,
                    CallReceiver::Other => !is_of_class(unit),
                    CallReceiver::Part => !is_of_class(unit) && unit.hit.kind != UnitKind::Function,
                };
            if is_received {
                return Ok(CallTargets { definitions: Rc::new(meant), is_certain: true });
            }
        }
        Ok(CallTargets { definitions: Rc::clone(&all), is_certain: false })
    }

    /// The names by which a unit is called, and all units that such a call may mean if it means this one: a class and its
    /// constructors are called alike.
    pub fn called_as(&self, unit: &GraphUnit) -> Result<(Vec<String>, HashSet<UnitId>)> {
        let language = self.language(unit.hit.file);
        let (name, class) = (last_part(&unit.name), last_segment(&unit.parent));
        let (mut names, mut meant) = (vec![name.to_string()], HashSet::from([unit.hit.key]));
        let is_class = |one: &&GraphUnit| one.hit.kind == UnitKind::Class;
        if is_constructor(language, class, name) {
            let all = self.definitions(class, language)?;
            let classes: Vec<&GraphUnit> =
                all.iter().filter(is_class).filter(|one| one.qualified_name() == unit.parent).collect();
            let is_here = |one: &&GraphUnit| one.hit.file == unit.hit.file;
            let here = classes.iter().copied().filter(is_here).map(|one| one.hit.key).collect::<Vec<_>>();
            meant.extend(if here.is_empty() { classes.iter().map(|one| one.hit.key).collect() } else { here });
            names.push(class.to_string());
            names.dedup();
        } else if is_class(&unit) {
            let all = self.definitions(name, language)?;
            let own = all.iter().filter(|one| one.hit.kind == UnitKind::Method && one.parent == unit.qualified_name());
            meant.extend(own.map(|one| one.hit.key));
        }
        Ok((names, meant))
    }

    /// What a unit calls a name on, by its text; unknown text has the name alone.
    fn receiver(&self, caller: &GraphUnit, name: &str) -> Result<CallReceiver> {
        let Some(record) = self.snapshot.record(caller.hit.file) else { return Ok(CallReceiver::Own) };
        let text = self.snapshot.texts.hashed(Path::new(&self.snapshot.files.root), &record.path);
        let Some((text, _)) = text.ok().filter(|(_, hash)| *hash == record.hash) else { return Ok(CallReceiver::Own) };
        let (first, end) = (caller.hit.line as usize, caller.hit.end as usize);
        let unit = self.snapshot.unit(caller.hit.key)?;
        let class = last_segment(&caller.parent);
        let mut own = OWN_CLASS.to_vec();
        own.extend(Some(class).filter(|class| !class.is_empty()));
        // `func (ring *Ring) push`, `other: Ring`
        let head = unit.signature.split(&unit.name).next().unwrap_or_default();
        let typed = unit.parameters.iter().map(String::as_str).chain([head]).map(words_of);
        typed.filter(|words| words.contains(&class)).for_each(|words| own.extend(words));
        let lines = lines_between(&text, first, end, read::lines);
        let own_lines = lines.into_iter().skip(first.saturating_sub(1));
        Ok(call_receiver(own_lines, name, language::comment_marks(&record.language), &own))
    }

    /// Whether a file imports the one at a path, which need not be there any more, or is it.
    pub fn sees(&self, file: FileId, path: &str) -> Result<bool> {
        let imports = self.imports(file)?;
        Ok(self.path(file) == path || file_keys(path, language::facts()).iter().any(|key| imports.contains(key)))
    }

    /// The name that a file imports under another one.
    fn imported_as(&self, file: FileId, alias: &str) -> Result<Option<String>> {
        let texts = self.snapshot.lexical.imports(file)?;
        let found = texts.iter().flat_map(|text| aliases(text)).find(|(_, other)| *other == alias);
        Ok(found.map(|(name, _)| name.to_string()))
    }

    /// Other names under which files import a unit, each with these files and, of an exported one, with those that import
    /// them.
    pub fn aliases_of(&self, unit: &GraphUnit) -> Result<Vec<(String, HashSet<FileId>)>> {
        let (facts, lexical) = (language::facts(), &self.snapshot.lexical);
        let importers = lexical.importers(&file_keys(self.path(unit.hit.file), facts))?;
        let mut found = Vec::new();
        for importer in importers.into_iter().take(IMPORTERS_MAX) {
            for text in lexical.imports(importer)? {
                let Some((_, alias)) = aliases(&text).find(|(name, _)| *name == unit.name) else { continue };
                let mut files = HashSet::from([importer]);
                if text.starts_with("export") || text.starts_with("pub ") {
                    files.extend(lexical.importers(&file_keys(self.path(importer), facts))?);
                }
                found.push((alias.to_string(), files));
            }
        }
        Ok(found)
    }

    /// The keys of what a file imports.
    fn imports(&self, file: FileId) -> Result<Rc<HashSet<String>>> {
        if let Some(known) = self.imports.borrow().get(&file) {
            return Ok(Rc::clone(known));
        }
        let (path, facts) = (self.path(file), language::facts());
        let texts = self.snapshot.lexical.imports(file)?;
        let keys = Rc::new(texts.iter().flat_map(|text| import_keys(text, path, facts)).collect::<HashSet<_>>());
        self.imports.borrow_mut().insert(file, Rc::clone(&keys));
        Ok(keys)
    }

    /// The units at these places without those that are the same.
    pub fn units(&self, hits: impl IntoIterator<Item = UnitHit>) -> Result<Vec<GraphUnit>> {
        let mut known: HashSet<UnitId> = HashSet::new();
        hits.into_iter().filter(|hit| known.insert(hit.key)).map(|hit| self.unit(hit)).collect()
    }
}

/// The class or module that a qualifier names; none where it is a value, a type parameter or a relative path.
fn owner_of(qualifier: &str) -> Option<&str> {
    let is_value = qualifier.ends_with("->");
    let owner = split_callee(qualifier.trim_end_matches(['-', '>', ':', '\\'])).1;
    let is_parameter = owner.len() == 1 && owner.starts_with(char::is_uppercase);
    let is_own = OWN_CLASS.contains(&owner);
    (!owner.is_empty() && !is_parameter && !NO_OWNER.contains(&owner) && (is_own || !is_value)).then_some(owner)
}

/// The last part of a unit's name, by which calls are found.
pub(super) fn last_part(name: &str) -> &str {
    let last = split_callee(name).1;
    if last.is_empty() { last_segment(name) } else { last }
}

/// The names that an import gives others, each with the other: `a` and `b` of `{ a as b }` and of `{a => b}`.
fn aliases(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let words: Vec<&str> =
        text.split(|c| !is_word_char(c) && !matches!(c, '=' | '>' | '*')).filter(|word| !word.is_empty()).collect();
    let aliased = |at: usize| {
        matches!(words[at], "as" | "=>").then(|| Some((*words.get(at.checked_sub(1)?)?, *words.get(at + 1)?)))
    };
    (0..words.len()).filter_map(aliased).flatten().collect::<Vec<_>>().into_iter()
}

/// The words of a declaration.
fn words_of(text: &str) -> Vec<&str> {
    text.split(|c| !is_word_char(c)).filter(|word| !word.is_empty()).collect()
}

/// Whether a file or one of its folders has the name of a module.
fn is_module(path: &str, name: &str) -> bool {
    let mut parts = path.rsplit('/');
    parts.next().map(stem_of) == Some(name) || parts.any(|folder| folder == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qualifier_names_an_owner_or_a_value() {
        for (qualifier, expected) in [
            ("", None),
            ("Ring::", Some("Ring")),
            ("a::Ring::", Some("Ring")),
            ("Self::", Some("Self")),
            ("T::", None),
            ("crate::", None),
            ("$this->", Some("$this")),
            ("$ring->", None),
            ("App\\Mail\\", Some("Mail")),
        ] {
            assert_eq!(owner_of(qualifier), expected, "{qualifier}");
        }
    }

    #[test]
    fn an_import_gives_other_names() {
        for (text, expected) in [
            ("from x import y as z, v", "y z"),
            ("export { a as b, c as d } from './x'", "a b c d"),
            ("pub use x::{y as z, w};", "y z"),
            ("import a.{b => c}", "b c"),
            ("import * as all from 'x'", "* all"),
            ("as", ""),
        ] {
            let told: Vec<String> = aliases(text).map(|(name, other)| format!("{name} {other}")).collect();
            assert_eq!(told.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_module_is_a_file_or_a_folder() {
        for (path, name, expected) in
            [("src/net/tcp.rs", "tcp", true), ("src/net/tcp.rs", "net", true), ("src/net/tcp.rs", "udp", false)]
        {
            assert_eq!(is_module(path, name), expected, "{path} {name}");
        }
    }
}
