//! The tool `read_unit`: one unit of a file, by its line, its name or its id.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::ErrorKind;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use colgrep_core::UnitKind;
use colgrep_core::fold::{composed, folded};
use colgrep_core::mistyped::MistypedName;
use colgrep_core::query::{last_segment, plain_path};
use colgrep_engine::request::rules::is_below;
use colgrep_engine::request::split_lines;
use colgrep_engine::session::project_searcher::{ProjectSearcher, Within};
use colgrep_engine::settings::did_you_mean::nearest;
use colgrep_engine::{Facts, Scope, SearchRequest, Weakest};
use colgrep_index::ids::FileId;
use colgrep_index::source::read_file;
use colgrep_index::store::Snapshot;
use colgrep_index::update::ReadFirst;
use colgrep_render::empty::{Naming, passed};
use colgrep_render::escape::escape_control;
use colgrep_render::line::escaped;
use colgrep_render::outline::{self as file_outline, Outlined};
use colgrep_render::path::typed;
use colgrep_render::words::in_short;

use super::ends::{RankingReport, ToolAnswer, remark};
use super::page::page_with;
use super::params;
use super::ranking::{RootPaths, RootsRanking, Show, Window};
use super::state::{Root, ServerState};
use super::units::{check_file, unit_with};
use super::unserved::{Unserved, told};
use colgrep_engine::answer::show::ContextLines;

/// The largest file that is read whole for its units, in bytes.
const WHOLE_BYTES_MAX: u64 = 16 << 20;
/// Files of a ranking that order the definitions of a name.
const RANKED_FILES: usize = 10;
/// Files with definitions of a name that are read.
const DEFINING_FILES_MAX: usize = 32;
/// Files with definitions of a name that are read for what may be meant.
const NEAR_FILES_MAX: usize = 8;
/// Units near a name that nothing has.
const NEAR_MAX: usize = 3;
/// Names that one is compared with as written.
const ALIKE_MAX: usize = 64;
/// Further units of a name that are listed.
const LISTED_MAX: usize = 8;

/// The text and the units of a file of a root: read once, so that both are of the same file. `asked` is its name in
/// messages.
///
/// # Errors
/// When it is not a text file, or has more than `bytes_max` bytes, with `too_large`.
pub fn text_and_units(
    root: &Root,
    below: &str,
    asked: &str,
    (bytes_max, too_large): (u64, &str),
) -> Result<(String, Vec<Outlined>)> {
    let full = root.project.root.join(below);
    file_outline::check_file(&full)?;
    let bytes = read_file(&root.project.root, below, bytes_max).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => anyhow!("{asked} is larger than {} MiB, {too_large}", bytes_max >> 20),
        _ => anyhow::Error::from(error).context(format!("could not read {}", full.display())),
    })?;
    file_outline::text_and_units(&full, bytes)
}

/// The same for the tools.
pub(super) fn read_whole(root: &Root, below: &str, asked: &str) -> Result<(String, Vec<Outlined>)> {
    text_and_units(root, below, asked, (WHOLE_BYTES_MAX, "and is not read whole; `pattern` finds its lines"))
}

/// A file, and the lines written after its name: `FILE:LINE`, `FILE:FROM-TO`. A file whose own name has that form takes
/// precedence.
pub(super) fn written_lines<'a>(state: &ServerState, written: &'a str) -> (&'a str, Option<(u32, u32)>) {
    match split_lines(written) {
        Some((file, lines)) if state.locate(written).is_err() => (file, Some(lines)),
        _ => (written, None),
    }
}

/// A file with a unit that is asked for.
struct UnitFile<'s> {
    root: &'s Arc<Root>,
    /// From the root of its project.
    below: String,
}

/// `read_unit`: parses the file itself, so it sees the newest text.
pub fn read_unit(state: &ServerState, asked: &params::ReadUnit) -> Result<ToolAnswer> {
    state.check_here()?;
    let name = asked.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    if let Some(name) = name.filter(|_| asked.id.is_empty() && asked.file.is_empty()) {
        let roots = state.roots().map(|root| (root, vec![root.below.clone()])).collect();
        return read_named(state, name, asked, &NamesWithin { roots, scope: Scope::default() });
    }
    read_in_file(state, asked, &[])
}

/// The same of a file that is named, or of an id; with `kinds`, a name is that of a unit of one of them.
pub(super) fn read_in_file(state: &ServerState, asked: &params::ReadUnit, kinds: &[UnitKind]) -> Result<ToolAnswer> {
    let name = asked.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    check_file(&asked.id, &asked.file)?;
    let (file, lines) = written_lines(state, &asked.file);
    let with_id = unit_with(state, &asked.id, file)?;
    let line = asked.line.or(lines.map(|(first, _)| first));
    let place = match &with_id {
        Some((root, below, ..)) => UnitFile { root, below: below.clone() },
        None => state.locate(file).map(|(root, _, below)| UnitFile { root, below })?,
    };
    let (text, units) = read_whole(place.root, &place.below, file)?;
    let named = |u: &&Outlined| name.is_none_or(|name| is_named(u, name) && is_kind(u, kinds));
    let mut named = units.iter().filter(named);
    let all_named = named.clone();
    // By distance from the line, then by length: the smallest unit around the line comes first.
    let distance = |u: &&Outlined, line: u32| u.line.saturating_sub(line) + line.saturating_sub(u.end_line);
    let spans = |wanted| move |u: &&Outlined| (u.line, u.end_line) == wanted;
    // The documentation of a method belongs to the method more than to its class.
    let around = |u: &&Outlined, line: u32| (u.first..=u.end_line).contains(&line);
    // Lines that are not those of one unit are read as they are.
    if let (None, None, None, Some((first, last))) = (name, asked.line, &with_id, lines)
        && first < last
        && !units.iter().any(|unit| spans((first, last))(&unit))
    {
        return range((&place, &text), (first, last), (file, asked));
    }
    let unit = match (name, line) {
        _ if let Some((_, _, line, end)) = with_id => units.iter().find(spans((line, end))),
        (None, Some(_)) if let Some(unit) = lines.and_then(|wanted| units.iter().find(spans(wanted))) => Some(unit),
        (Some(_), Some(line)) => named.min_by_key(|u| (distance(u, line), u.end_line - u.line)),
        (Some(_), None) => named.next(),
        (None, Some(line)) => named.filter(|u| around(u, line)).min_by_key(|u| u.end_line - u.first),
        (None, None) => bail!("give `line` or `name` of the unit in {file}"),
    };
    match (unit, name, line) {
        (Some(unit), ..) => {
            let mut answer = shown((&place, &text), unit, line, asked);
            if name.is_some() && line.is_none() && with_id.is_none() {
                let others = all_named.filter(|other| !std::ptr::eq(*other, unit));
                answer.remarks.push_str(&also_named(others.map(|other| head(&place, other)).collect(), ""));
            }
            Ok(answer)
        }
        (None, Some(name), _) => {
            let names = || units.iter().map(|unit| unit.name.as_str());
            let near = names().find(|known| folded(known) == folded(name)).or_else(|| nearest(name, names()));
            let way = near.map_or("`outline` lists its units".to_string(), |near| format!("did you mean {near:?}?"));
            bail!("{file} has no unit named {name}; {way}")
        }
        (None, None, line) => {
            // A unit that has an id and is there no more was at this line.
            let line = line.or_else(|| with_id.as_ref().map(|(_, _, line, _)| *line));
            between((&place, &text), &units, line.unwrap_or_default(), (file, asked))
        }
    }
}

/// A name without the quotes that it has in prose; a prime at its end is a part of it.
fn unquoted(name: &str) -> &str {
    let inner = |quote: char| name.strip_prefix(quote)?.strip_suffix(quote).filter(|inner| !inner.is_empty());
    ['`', '"', '\''].into_iter().find_map(inner).unwrap_or(name)
}

/// An operator without the brackets that make it a name.
fn bare(name: &str) -> &str {
    name.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).filter(|inner| !inner.is_empty()).unwrap_or(name)
}

/// `(*Context).JSON`, as Go writes a method of a pointer, without the brackets.
fn of_receiver(name: &str) -> String {
    let owned = name.strip_prefix('(').and_then(|inner| inner.split_once(")."));
    owned.map_or_else(|| name.to_string(), |(owner, last)| format!("{}.{last}", owner.trim_start_matches(['*', '&'])))
}

/// A qualified name with dots for the separators of its language.
fn dotted(name: &str) -> String {
    plain_path(&of_receiver(name)).replace("::", ".").replace("->", ".").replace(['#', '/', ':', '\\'], ".")
}

/// Whether a file, or its folder, is a module of this name.
fn is_module(below: &str, name: &str) -> bool {
    let mut parts = below.rsplit('/');
    let stem = parts.next().map(|file| file.split('.').next().unwrap_or_default());
    !name.is_empty() && [stem, parts.next()].contains(&Some(name))
}

/// Whether a unit has this name, plain or qualified, also with the separators of its language.
fn is_named(unit: &Outlined, name: &str) -> bool {
    if unit.name.is_empty() {
        return false;
    }
    // Whoever types a name sees no difference between letters and their composed forms.
    let (plain, qualified, name) = (composed(&unit.name), composed(&unit.qualified_name), composed(name));
    if plain == name || qualified == name || bare(&plain) == bare(&name) {
        return true;
    }
    let dotted = dotted(&name);
    let is_plain = plain == dotted || qualified == dotted;
    is_plain || qualified.strip_suffix(&dotted).is_some_and(|front| front.ends_with('.'))
}

/// Whether a unit is of one of these kinds; of any where none is named.
fn is_kind(unit: &Outlined, kinds: &[UnitKind]) -> bool {
    kinds.is_empty() || kinds.iter().any(|kind| kind.name() == unit.unit_type)
}

/// Where a name is looked for: the places of roots, and what else limits the search.
pub(super) struct NamesWithin<'s> {
    pub(super) roots: Vec<RootPaths<'s>>,
    /// Of its facts, only kinds count.
    pub(super) scope: Scope,
}

impl NamesWithin<'_> {
    /// What limits files, whatever their units are.
    fn of_files(&self) -> Scope {
        let mut scope = self.scope.clone();
        scope.facts = Facts::default();
        scope
    }
}

/// The unit of a name that no file is given for: the likeliest, and a list of the others.
pub(super) fn read_named(
    state: &ServerState,
    name: &str,
    asked: &params::ReadUnit,
    within: &NamesWithin<'_>,
) -> Result<ToolAnswer> {
    let name = unquoted(name);
    let mut away = Vec::new();
    let searched = searched_roots(state, name, within, &mut away)?;
    let mut files = defining_files(state, name, &searched)?;
    let (mut ranked, mut why) = match files.len() {
        1 => (RankingReport::default(), None),
        _ => ranked_files(state, name, within)?,
    };
    let order = ranked.files();
    if files.is_empty() {
        // Headings, and what else has a name without a definition.
        let located = order.iter().filter_map(|path| state.locate(path).ok());
        files = located.map(|(root, _, below)| UnitFile { root, below }).collect();
    }
    let place = |file: &UnitFile<'_>| typed(&file.root.project.root, &file.below);
    let rank = |file: &UnitFile<'_>| order.iter().position(|path| *path == place(file)).unwrap_or(order.len());
    files.sort_by_cached_key(|file| (rank(file), place(file)));
    let unread = files.split_off(files.len().min(DEFINING_FILES_MAX));
    let units_of = |file: &UnitFile<'_>, is_meant: &dyn Fn(&Outlined) -> bool| {
        // A file that is gone since defines nothing.
        let (text, units) = read_whole(file.root, &file.below, &file.below).unwrap_or_default();
        let text: Arc<str> = text.into();
        let place = searched.iter().find(|one| Arc::ptr_eq(one.root, file.root)).map(|one| &one.place);
        let is_allowed = |unit: &Outlined| {
            place.is_none_or(|place| place.allows_lines(&file.below, (unit.line, unit.end_line)))
                && is_kind(unit, &within.scope.facts.kinds)
        };
        let meant = units.into_iter().filter(|unit| is_meant(unit) && is_allowed(unit));
        meant.map(|unit| (Arc::clone(&text), unit)).collect::<Vec<_>>()
    };
    let is_this = |unit: &Outlined| is_named(unit, name);
    let likely: Vec<(UnitFile<'_>, u64)>;
    let mut found: Vec<(&UnitFile<'_>, Arc<str>, Outlined)> = Vec::new();
    for file in &files {
        found.extend(units_of(file, &is_this).into_iter().map(|(text, unit)| (file, text, unit)));
    }
    let whole = dotted(name);
    let (owner, last) = whole.rsplit_once('.').unwrap_or(("", whole.as_str()));
    if found.is_empty() {
        // `module.function`.
        let is_that = |unit: &Outlined| unit.name == last && unit.qualified_name == last;
        for file in files.iter().filter(|file| is_module(&file.below, last_segment(owner))) {
            found.extend(units_of(file, &is_that).into_iter().map(|(text, unit)| (file, text, unit)));
        }
    }
    // Files and lines keep their order.
    found.sort_by_key(|(.., unit)| unit.qualified_name != name);
    if found.is_empty() {
        // Qualified by what is no part of the unit's own name: a namespace, a package, a trait.
        if files.len() == 1 && ranked.hits.is_empty() {
            (ranked, why) = ranked_files(state, name, within)?;
        }
        let plain = plain_path(name);
        let rows = ranked.likely_places().filter_map(|(path, line)| Some((state.locate(path).ok()?, line)));
        likely = rows.map(|((root, _, below), line)| (UnitFile { root, below }, line)).collect();
        for (file, line) in &likely {
            let is_that =
                |unit: &Outlined| u64::from(unit.line) == *line && last_segment(&unit.name) == last_segment(&plain);
            found.extend(units_of(file, &is_that).into_iter().map(|(text, unit)| (file, text, unit)));
        }
    }
    let Some(((file, text, unit), others)) = found.split_first() else {
        let left_out = told(&away).map(|told| format!("; {told}")).unwrap_or_default();
        let near = match ranked.likely(NEAR_MAX).join("; ") {
            _ if let Some(why) = why => why,
            _ if let Some(meant) = meant(state, name, within, &searched)? => format!("did you mean {}?", meant.place),
            near if near.is_empty() => match ranked.end.as_ref().map(|end| end.near.join(", ")) {
                Some(words) if !words.is_empty() => format!("similar words here: {words}"),
                _ => "`query` finds what is near it".to_string(),
            },
            near => format!("near it: {near}"),
        };
        let kinds: Vec<&str> = within.scope.facts.kinds.iter().map(|kind| kind.name()).collect();
        let kind = if kinds.is_empty() { "unit".to_string() } else { kinds.join(" or ") };
        // Files that look like secrets are not searched.
        let passed = passed(&within.scope, Naming::Parameters);
        let passed = passed.map(|passed| format!(" and passes{passed}")).unwrap_or_default();
        bail!(
            "no {kind} in what is searched is named {:?}{passed}; {}{left_out}",
            in_short(name),
            escape_control(&near)
        );
    };
    let mut answer = shown((file, text), unit, asked.line, asked);
    let or_more = if unread.is_empty() { "" } else { " or more" };
    let others = others.iter().map(|(file, _, unit)| head(file, unit)).collect();
    answer.remarks.push_str(&also_named(others, or_more));
    answer.remarks.extend(told(&away).map(|told| format!("({})\n", escape_control(&told))));
    answer.unserved = away;
    Ok(answer)
}

/// A root with its index and the scope of a search in it.
struct SearchedRoot<'s> {
    root: &'s Arc<Root>,
    below: Vec<String>,
    snapshot: Arc<Snapshot>,
    place: ProjectSearcher,
}

/// The roots that a name is looked for in; those that can't be searched are `away`.
fn searched_roots<'s>(
    state: &ServerState,
    name: &str,
    within: &NamesWithin<'s>,
    away: &mut Vec<Unserved>,
) -> Result<Vec<SearchedRoot<'s>>> {
    let mut searched = Vec::new();
    let (words, scope) = (SearchRequest::new(name).words(), state.with_names(&within.of_files()));
    for (root, below) in &within.roots {
        let root = *root;
        let first = ReadFirst { paths: below.clone(), words: words.clone() };
        let (snapshot, settings) = match state.opened(root, &first) {
            Ok((snapshot, settings, _)) => (snapshot, settings),
            Err(error) => {
                away.push(Unserved::new(&root.folder, &error));
                continue;
            }
        };
        let paths = Within::paths(below.clone());
        let stops = || state.end.has_come();
        let (project, index) = (root.project.clone(), Arc::clone(&snapshot));
        let place = ProjectSearcher::new(project, index, paths, &scope, false, &settings, &stops)?;
        searched.push(SearchedRoot { root, below: below.clone(), snapshot, place });
    }
    Ok(searched)
}

/// The files that define a name, by the indexes of their roots.
fn defining_files<'s>(state: &ServerState, name: &str, searched: &[SearchedRoot<'s>]) -> Result<Vec<UnitFile<'s>>> {
    let mut found = Vec::new();
    for SearchedRoot { root, below, snapshot, place } in searched {
        let root = *root;
        let mut files: HashSet<FileId> = HashSet::new();
        for name in [last_segment(&plain_path(name)), bare(name)] {
            files.extend(snapshot.lexical.definitions(name, None)?.iter().map(|unit| unit.file));
        }
        for record in snapshot.files.indexed().filter(|record| files.contains(&record.id)) {
            let full = root.project.root.join(&record.path);
            // An index may cover more than its root, and another root may lie in this one.
            let is_own = state.around(&full).is_some_and(|around| Arc::ptr_eq(around, root));
            if is_own && below.iter().any(|below| is_below(&record.path, below)) && place.allows_file(record.id) {
                found.push(UnitFile { root, below: record.path.clone() });
            }
        }
    }
    Ok(found)
}

/// A unit that may be meant.
struct Meant {
    name: String,
    /// As [`head`] gives it.
    place: String,
}

/// The member with the nearest name of a class that a qualified name begins with.
fn near_member(state: &ServerState, name: &str, searched: &[SearchedRoot<'_>]) -> Result<Option<Meant>> {
    let whole = dotted(name);
    let Some((owner, last)) = whole.rsplit_once('.').filter(|(owner, _)| !owner.is_empty()) else { return Ok(None) };
    let (class, mut members) = (last_segment(owner), BTreeMap::new());
    for file in defining_files(state, owner, searched)?.iter().take(NEAR_FILES_MAX) {
        let (_, units) = read_whole(file.root, &file.below, &file.below).unwrap_or_default();
        let own = |unit: &Outlined| {
            let (front, member) = unit.qualified_name.rsplit_once('.')?;
            let is_own = front.strip_suffix(class).is_some_and(|outer| outer.is_empty() || outer.ends_with('.'));
            is_own.then(|| (member.to_string(), head(file, unit)))
        };
        for (member, place) in units.iter().filter_map(own) {
            members.entry(member).or_insert(place);
        }
    }
    let names = || members.keys().map(String::as_str);
    let near = names().find(|known| folded(known) == folded(last)).or_else(|| nearest(last, names()));
    let place = near.and_then(|member| Some((member, members.get(member)?)));
    Ok(place.map(|(member, place)| Meant { name: format!("{owner}.{member}"), place: place.clone() }))
}

/// What may be meant by names that nothing has, as a remark; an empty text where nothing is like them.
pub(super) fn mistyped<'n>(
    state: &ServerState,
    names: impl Iterator<Item = &'n String>,
    within: &NamesWithin<'_>,
) -> Result<String> {
    let mut near = Vec::new();
    for name in names {
        let searched = searched_roots(state, name, within, &mut Vec::new())?;
        if defining_files(state, name, &searched)?.is_empty() {
            near.extend(meant(state, name, within, &searched)?.map(|meant| format!("{:?}", meant.name)));
        }
    }
    let told = (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")));
    Ok(remark(told))
}

/// How many characters of a name are not those of another one at the same place: few where its case and joiners are the
/// same.
fn unlike(name: &str, other: &str) -> usize {
    name.chars().zip(other.chars()).filter(|(one, other)| one != other).count()
}

/// The unit whose name differs least from one that nothing has: a member of the class that is named, else a definition
/// that differs in its case alone, or by fewer slips; of these, the one that is written most alike.
fn meant(
    state: &ServerState,
    name: &str,
    within: &NamesWithin<'_>,
    searched: &[SearchedRoot<'_>],
) -> Result<Option<Meant>> {
    if let Some(member) = near_member(state, name, searched)? {
        return Ok(Some(member));
    }
    let plain = plain_path(name);
    let asked = last_segment(&plain);
    let (lower, typed) = (folded(asked), MistypedName::new(asked));
    let mut near: BTreeSet<(u32, usize, String)> = BTreeSet::new();
    for SearchedRoot { snapshot, .. } in searched {
        let mut alike: BTreeSet<String> = BTreeSet::from([lower.to_string()]);
        if let Some(typed) = &typed {
            snapshot.lexical.each_definition_name(|known| {
                if alike.len() < ALIKE_MAX && typed.may_mean(known) {
                    alike.insert(known.to_string());
                }
            })?;
        }
        for known in alike {
            for spelled in snapshot.lexical.spellings_of(&known, None)? {
                let slips = typed.as_ref().and_then(|typed| typed.changes_to(&spelled));
                // Those whose parts are other words come last.
                let slips = slips.or((known == lower).then_some(0)).unwrap_or(u32::MAX);
                near.insert((slips, unlike(asked, &spelled), spelled));
            }
        }
    }
    for (.., name) in near.into_iter().take(NEAR_MAX) {
        for file in defining_files(state, &name, searched)?.iter().take(NEAR_FILES_MAX) {
            let (_, units) = read_whole(file.root, &file.below, &file.below).unwrap_or_default();
            let is_this = |unit: &&Outlined| is_named(unit, &name) && is_kind(unit, &within.scope.facts.kinds);
            if let Some(unit) = units.iter().find(is_this) {
                let place = head(file, unit);
                return Ok(Some(Meant { name, place }));
            }
        }
    }
    Ok(None)
}

/// The files that a search for a name finds first, and why there is none, where filters are the reason.
fn ranked_files(state: &ServerState, name: &str, within: &NamesWithin<'_>) -> Result<(RankingReport, Option<String>)> {
    let mut request = SearchRequest::new(name);
    request.shape.weakest = Weakest::Strength(0.0);
    request.scope = within.of_files();
    let (show, lines): (Show<'_>, _) = (&|_| String::new(), ContextLines::default());
    let window = Window { wanted: RANKED_FILES, show, pack: None, lines, apart: None };
    let ranked = RootsRanking { state, roots: &within.roots, request: &request, window, like: None }.ranked()?;
    Ok((ranked.told, ranked.why))
}

/// The first line of a unit's answer, without its end.
fn head(file: &UnitFile<'_>, unit: &Outlined) -> String {
    let path = escape_control(&typed(&file.root.project.root, &file.below));
    format!("{path}:{}-{} {} {}", unit.line, unit.end_line, unit.unit_type, unit.qualified_name)
}

/// Lists the other units with the same name; an empty text without any. `or_more` follows the number of units left out.
fn also_named(mut others: Vec<String>, or_more: &str) -> String {
    if others.is_empty() {
        return String::new();
    }
    let further = others.len().saturating_sub(LISTED_MAX);
    others.truncate(LISTED_MAX);
    let further = if further > 0 { format!("; {further}{or_more} further") } else { String::new() };
    format!("(also of this name: {}{further})\n", others.join("; "))
}

/// A unit's lines, from its documentation on if the line that is asked for lies there.
fn shown(
    (file, text): (&UnitFile<'_>, &str),
    unit: &Outlined,
    line: Option<u32>,
    asked: &params::ReadUnit,
) -> ToolAnswer {
    let is_documentation = line.is_some_and(|line| (unit.first..unit.line).contains(&line));
    let first = if is_documentation { unit.first } else { unit.line };
    numbered(head(file, unit), text, (first, unit.end_line), line, asked).into()
}

/// Lines of a file from one to another, or to its end.
fn range(
    (place, text): (&UnitFile<'_>, &str),
    (first, last): (u32, u32),
    (file, asked): (&str, &params::ReadUnit),
) -> Result<ToolAnswer> {
    let last = last.min(check_line(text, first, file)?);
    let path = escape_control(&typed(&place.root.project.root, &place.below));
    Ok(numbered(format!("{path}:{first}-{last}"), text, (first, last), None, asked).into())
}

/// The number of lines of a text, which has to have this line.
fn check_line(text: &str, line: u32, file: &str) -> Result<u32> {
    let count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if line == 0 || line > count {
        bail!("{file} has no line {line}; it ends with line {count}");
    }
    Ok(count)
}

/// The lines around one that lies in no unit, as far as the next units.
fn between(
    (place, text): (&UnitFile<'_>, &str),
    units: &[Outlined],
    line: u32,
    (file, asked): (&str, &params::ReadUnit),
) -> Result<ToolAnswer> {
    let count = check_line(text, line, file)?;
    let from = units.iter().map(|unit| unit.end_line).filter(|end| *end < line).max().unwrap_or(0) + 1;
    let to = units.iter().map(|unit| unit.first).filter(|first| *first > line).min().map_or(count, |first| first - 1);
    let path = escape_control(&typed(&place.root.project.root, &place.below));
    Ok(numbered(format!("{path}:{from}-{to}"), text, (from, to), Some(line), asked).into())
}

/// Lines with their numbers under a first line; of many, the page with the line that is asked for.
fn numbered(
    head: String,
    text: &str,
    (first, last): (u32, u32),
    line: Option<u32>,
    asked: &params::ReadUnit,
) -> String {
    let mut blocks = vec![head + "\n"];
    let lines = text.lines().zip(1_u32..).filter(|(_, number)| (first..=last).contains(number));
    blocks.extend(lines.map(|(text, number)| format!("{number}: {}\n", escaped(text))));
    // The first block names the unit.
    let at = line.filter(|line| (first..=last).contains(line));
    let at = at.map_or(0, |line| (line - first) as usize + 1).min(blocks.len() - 1);
    page_with(&blocks, asked.offset, at, asked.max_tokens, "line")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_slips_the_style_that_is_typed_is_most_alike() {
        for (typed, expected, other) in [
            ("zebraname", "zebraName", "ZebraName"),
            ("raw_handel", "raw_handle", "RawHandle"),
            ("rotues", "routes", "Routes"),
            ("Rotues", "Routes", "routes"),
            ("rutes", "routes", "Routes"),
        ] {
            assert!(unlike(typed, expected) < unlike(typed, other), "{typed}");
        }
    }
}
