//! The end of an answer: the rule between likely and weak results, and the remark after the last one.

use std::collections::BTreeSet;
use std::io::{self, Write};

use colgrep_core::strength::{FLOOR, RULE};
use colgrep_engine::answer::summary::End;
use colgrep_engine::request::{Facts, QUERY_TERMS_MAX, searched_part};
use colgrep_engine::{Changes, Scope, Tests};

use super::style::{self, paint};
use super::{Format, OutputOptions};
use crate::notice::with_reason;
use crate::path::typed as typed_path;
use crate::remarks::RemarkKind;
use crate::words::{counted, in_shell, in_short, in_whole, quoted, shell_word};

/// Maximum number of suggestions that a remark names.
const NEAR_SHOWN: usize = 4;
/// Maximum width of the rule, in columns.
const RULE_COLUMNS_MAX: usize = 60;

/// What is not indexed, though it is text.
const UNINDEXED: &str = "lock files, minified or large files, outputs of notebooks";
/// Further files that are not indexed. Only their owner learns of them, never a client of a server.
const SECRET: &str = "files that look like secrets";

/// Writes the rule between likely results and weak ones; on a terminal only, and not between rows for programs or bare
/// names.
pub fn write_rule(out: &mut impl Write, options: &OutputOptions) -> io::Result<()> {
    let is_for_people = !options.wish.names_only && options.wish.format == Format::Text;
    let Some(width) = options.look.width.filter(|_| is_for_people) else { return Ok(()) };
    let label = "── less likely ";
    let columns = width.min(RULE_COLUMNS_MAX).saturating_sub(label.chars().count());
    paint(out, style::DIM, options.look.color, format!("{label}{}", "─".repeat(columns)))?;
    writeln!(out)
}

/// The remark after the last result, if there is something that the results don't say themselves; `scope` are the limits
/// of the search, as [`typed`]. What was not found comes before what is weak. If the rule `is_marked` on a terminal,
/// nothing repeats which results are weak.
pub fn remark(end: &End, is_marked: bool, scope: &str) -> Option<(RemarkKind, String)> {
    if let Some(cut) = cut_query(&end.query) {
        return Some((RemarkKind::CommandLine, cut));
    }
    if let Some(not_found) = not_found(end, scope) {
        return Some((RemarkKind::NotFound, not_found));
    }
    // Not for a single result, for several words, or where as many files are shown as were asked for, unless the query
    // asks for every place.
    let is_part = end.shown > 1 && (!end.is_full || end.is_everywhere) && end.holders > end.shown;
    // A file that contains the only word of the query is what was asked for, and comes first.
    let is_plain = end.words.len() == 1 && end.holders > 0;
    let is_weak = end.shown > 0 && end.is_ruled && end.strongest < RULE && !is_marked && !is_plain;
    let told = match is_part && end.words.len() == 1 {
        true => Some(holders(end, scope)),
        false => is_weak.then(|| format!("not sure about these, best guess first (strength {:.2})", end.strongest)),
    };
    Some((RemarkKind::Quality, told?))
}

/// The remark on a query that is searched only in part.
pub fn cut_query(query: &str) -> Option<String> {
    let is_cut = !query.trim_end().ends_with(searched_part(query).trim_end());
    is_cut.then(|| format!("only the first {QUERY_TERMS_MAX} different words of the query are searched"))
}

/// The remark on what was not found, or not well enough.
fn not_found(end: &End, scope: &str) -> Option<String> {
    let nothing = nothing(end);
    // What nobody would paste again is not printed again.
    let with = |flag: &str| match in_whole(&end.query) {
        true => format!("colgrep {flag} {}{scope}", shell_word(&end.query)),
        false => format!("the same with {flag}"),
    };
    if end.shown == 0 && is_cut(end) {
        let asked = format!("{} (--min-strength, or the setting min_strength)", end.least);
        return Some(format!("nothing here has a strength of {asked}; {} shows what is below", with("--all")));
    }
    if let Some(unindexed) = unindexed(end, scope) {
        return Some(unindexed);
    }
    if end.shown == 0
        && end.is_tokens
        && !end.is_held
        && let Some(outside) = outside(end, scope)
    {
        return Some(outside);
    }
    if end.shown == 0 && end.is_tokens && !end.is_held {
        let tokens = in_short(end.query.trim().trim_matches('"'));
        let near = match reword(end) {
            Some(near) => near,
            None => format!("nearest by meaning: {}", with("--semantic-only")),
        };
        return Some(format!("{nothing} holds \"{tokens}\"; {near}"));
    }
    // Another spelling of a name shows in the results.
    let is_respelled = |(typed, read): &(String, String)| letters(typed).eq(letters(read));
    let read_otherwise = || read_as(end, nothing).filter(|_| !(end.shown > 0 && end.read_as.iter().all(is_respelled)));
    let remarks: Vec<String> = match end.quoted.is_empty() {
        true => read_otherwise().into_iter().chain(unheld(end, end.shown, nothing)).collect(),
        false => vec![unquoted(&end.quoted)],
    };
    if !remarks.is_empty() {
        let is_near = end.shown == 0 && end.weak > 0;
        let more = if is_near { format!("; {} shows weak answers", with("--all")) } else { String::new() };
        return Some(remarks.join("; ") + &more);
    }
    let is_weak = end.shown == 0 && end.weak > 0;
    is_weak.then(|| format!("no likely answer here; {} shows weak ones", with("--all")))
}

/// Whether a requested strength leaves files out, and the query is not a token that occurs nowhere.
pub fn is_cut(end: &End) -> bool {
    let is_nowhere = end.is_tokens && !end.unknown.is_empty();
    end.weak > 0 && end.least > FLOOR && !is_nowhere
}

/// The limits of a search, if it has any: "within `src`".
fn within(scope: &str) -> Option<String> {
    Some(scope.trim()).filter(|limits| !limits.is_empty()).map(|limits| format!("within `{limits}`"))
}

/// The remark on words that only files outside the limits of a search hold.
fn outside(end: &End, scope: &str) -> Option<String> {
    let outside = [end.outside.as_slice(), &end.closed_outside].concat();
    let held = (!outside.is_empty()).then(|| quoted(&outside))?;
    let limits = within(scope).unwrap_or_else(|| "within what is searched here".to_string());
    Some(format!("nothing {limits} holds {held}, but other parts of the project do"))
}

/// The remark on words that only text contains which is not indexed, or that may be in a file that was not read.
fn unindexed(end: &End, scope: &str) -> Option<String> {
    let listing = |word: &str| {
        let fixed = if word.chars().all(|c| c.is_alphanumeric() || c == '_') { "" } else { "-F " };
        format!("colgrep -i {fixed}-e {}", in_shell(word))
    };
    let others = [end.unindexed.as_slice(), &end.secret].concat();
    let of_left_out = end.left_out.iter().map(|(word, _)| word).filter(|word| !others.contains(word));
    let words: Vec<String> = others.iter().chain(of_left_out).cloned().collect();
    if let Some(word) = words.first() {
        let mut kinds: Vec<String> = Vec::new();
        kinds.extend((!end.unindexed.is_empty()).then(|| UNINDEXED.to_string()));
        kinds.extend((!end.secret.is_empty()).then(|| SECRET.to_string()));
        let left_out: BTreeSet<&str> =
            end.left_out.iter().flat_map(|(_, files)| files).map(|file| file.path.as_str()).collect();
        let first = end.left_out.iter().find_map(|(_, files)| files.first());
        kinds.extend(first.map(|first| match left_out.len() {
            1 => with_reason(first),
            files => format!("{} and {} more", with_reason(first), files - 1),
        }));
        // What is left out is searched where it is named.
        let named = first.filter(|_| others.is_empty());
        let named = named.map(|file| format!(" {}", in_shell(&typed_path(&file.root, &file.path)))).unwrap_or_default();
        let place = within(scope).map(|within| format!("{within}, ")).unwrap_or_default();
        return Some(format!(
            "{place}only what is not indexed ({}) holds {}; {}{named} lists it",
            kinds.join(", "),
            quoted(&words),
            listing(word)
        ));
    }
    let first = end.unread.first().filter(|_| end.shown == 0)?;
    Some(format!("not every file was searched for {}; {} searches all", quoted(&end.unread), listing(first)))
}

/// The remark on phrases in quotes that no file contains.
pub fn unquoted(phrases: &[String]) -> String {
    let all = if phrases.len() > 1 { "all of " } else { "" };
    format!("no searched file contains {all}{}; without the quotes, its words are searched", quoted(phrases))
}

/// What a remark denies: of the owner's files everything, of those of others only what is searched.
pub const NOTHING_HERE: &str = "nothing here";
pub const NOTHING_SEARCHED: &str = "nothing in what is searched";

fn nothing(end: &End) -> &'static str {
    if end.is_elsewhere { NOTHING_SEARCHED } else { NOTHING_HERE }
}

/// The remark on words that occur nowhere and were read as others, or left out.
pub fn read_as(end: &End, nothing: &str) -> Option<String> {
    let told = |(word, read): &(String, String)| match read.is_empty() {
        true => format!("{:?} is left out", in_short(word)),
        false => format!("{:?} is read as {:?}", in_short(word), in_short(read)),
    };
    let each: Vec<String> = end.read_as.iter().map(told).collect();
    (!each.is_empty()).then(|| format!("{}, since {nothing} holds it as typed", each.join(", ")))
}

/// The remark on words that occur nowhere, with similar ones that do; `found` is the number of results.
pub fn unheld(end: &End, found: usize, nothing: &str) -> Option<String> {
    // For tokens without results, this was said already.
    let is_said = end.is_tokens && found == 0 && end.near.is_empty();
    let near = if end.near.is_empty() { "" } else { "; similar words here: " };
    let is_told = !end.unknown.is_empty() && !is_said;
    is_told.then(|| format!("{nothing} holds {}{near}{}", quoted(&end.unknown), near_words(end)))
}

/// The first few suggestions.
fn near_words(end: &End) -> String {
    let few: Vec<&str> = end.near.iter().take(NEAR_SHOWN).map(String::as_str).collect();
    few.join(", ")
}

/// The letters and digits of a word, in lower case.
fn letters(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Words spelled like unknown tokens.
fn reword(end: &End) -> Option<String> {
    let is_told = !end.unknown.is_empty() && !end.near.is_empty();
    is_told.then(|| format!("similar: {}", near_words(end)))
}

/// The words that the counted files contain: the index treats all forms of a word as one.
pub fn held(end: &End) -> String {
    match (end.words.as_slice(), end.are_forms) {
        ([word], false) => format!("{:?}", in_short(word)),
        ([word], true) => format!("a form of {:?}", in_short(word)),
        (words, false) => format!("all {} words", words.len()),
        (words, true) => format!("a form of each of the {} words", words.len()),
    }
}

/// The remark on how many files contain the word. Where fewer are shown than were asked for, only a list has the others.
fn holders(end: &End, scope: &str) -> String {
    let files = counted(end.holders as u64, "file");
    let more = match end.patterns.first() {
        Some(pattern) if !end.is_full => format!("colgrep -il -e {}{scope} lists them", in_shell(pattern)),
        _ => "-k shows more".to_string(),
    };
    format!("{files} hold {}, {} shown; {more}", held(end), end.shown)
}

/// Something that takes files or units out of a search: its flag, its parameter for tools, and its value.
#[derive(Clone)]
pub(crate) struct SearchLimit {
    pub(crate) flag: &'static str,
    pub(crate) parameter: &'static str,
    pub(crate) value: Option<String>,
}

impl SearchLimit {
    /// As typed on the command line.
    pub(crate) fn as_flag(&self) -> String {
        let value = self.value.as_ref().map_or_else(String::new, |value| format!(" {}", in_shell(value)));
        format!("{}{value}", self.flag).trim_start().to_string()
    }

    /// As the parameter of a tool.
    pub(crate) fn as_parameter(&self) -> String {
        let value = self.value.as_ref().map_or_else(String::new, |value| format!(" {}", in_short(value)));
        format!("`{}`{value}", self.parameter)
    }
}

/// The filters of a search by path and git.
pub(crate) fn path_filters(scope: &Scope) -> Vec<SearchLimit> {
    let mut limits = Vec::new();
    let mut add = |flag, parameter, value| limits.push(SearchLimit { flag, parameter, value });
    for (flag, parameter, values) in [
        ("-t", "languages", &scope.types),
        ("-T", "-lang:", &scope.types_not),
        ("--include", "include", &scope.include),
        ("--exclude", "exclude", &scope.exclude),
        ("--exclude-dir", "exclude", &scope.exclude_dir),
        ("--iglob", "include", &scope.include_any_case),
    ] {
        values.iter().for_each(|value| add(flag, parameter, Some(value.clone())));
    }
    scope.exclude_any_case.iter().for_each(|glob| add("--iglob", "exclude", Some(format!("!{glob}"))));
    scope.max_depth.iter().for_each(|folders| add("-d", "paths", Some(folders.to_string())));
    match scope.code_only {
        Some(true) => add("--code-only", "code_only", None),
        Some(false) => add("--no-code-only", "code_only", None),
        None => {}
    }
    match scope.tests {
        Some(Tests::Only) => add("--tests", "tests", Some("only".to_string())),
        Some(Tests::Exclude) => add("--tests", "tests", Some("exclude".to_string())),
        Some(Tests::Auto) | None => {}
    }
    match &scope.changes {
        Some(Changes::Since(since)) => add("--since", "paths", Some(since.clone())),
        Some(Changes::Uncommitted) => add("--changed", "paths", None),
        None => {}
    }
    limits
}

/// Whether a search is limited by path or git.
pub fn has_filters(scope: &Scope) -> bool {
    !path_filters(scope).is_empty()
}

/// The filters of a search by the text and the structure of units.
pub(crate) fn text_filters(scope: &Scope) -> Vec<SearchLimit> {
    let expressions = scope.pattern.iter().flat_map(|pattern| &pattern.expressions);
    let of_lines =
        expressions.map(|text| SearchLimit { flag: "-e", parameter: "pattern", value: Some(in_short(text)) });
    let of_code = scope.structure.iter().map(|text| SearchLimit {
        flag: "--ast",
        parameter: "pattern",
        value: Some(in_short(text)),
    });
    of_lines.chain(of_code).collect()
}

/// The filters of a search by what units are, call or are called by.
fn fact_filters(scope: &Scope) -> Vec<SearchLimit> {
    let Facts { calls, called_by, kinds, .. } = &scope.facts;
    let kinds: Vec<String> = kinds.iter().map(|kind| kind.name().to_string()).collect();
    let all =
        [("--kind", "kind", kinds.as_slice()), ("--calls", "calls", calls), ("--called-by", "called_by", called_by)];
    let of_flag = all.into_iter().flat_map(|(flag, parameter, values)| {
        values.iter().map(move |value| SearchLimit { flag, parameter, value: Some(value.clone()) })
    });
    of_flag.collect()
}

/// The limits of a search, as typed after a query: filters by path, git and facts, then the paths, each once.
pub fn typed(scope: &Scope) -> String {
    let filters = [path_filters(scope), fact_filters(scope)].concat();
    let paths = scope.paths.iter().enumerate().filter(|(at, path)| !scope.paths[..*at].contains(path));
    let paths = paths.map(|(_, path)| shell_word(&path.to_string_lossy()));
    filters.iter().map(SearchLimit::as_flag).chain(paths).map(|word| format!(" {word}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Look, OutputRequest};
    use super::*;

    fn end(change: impl Fn(&mut End)) -> End {
        let mut end = End::default();
        (end.query, end.is_ruled) = ("parse it".to_string(), true);
        change(&mut end);
        end
    }

    #[test]
    fn a_terminal_alone_has_a_rule() {
        for (width, names_only, format, expected) in [
            (Some(30), false, Format::Text, "── less likely ───────────────\n"),
            (Some(30), true, Format::Text, ""),
            (Some(30), false, Format::Vimgrep, ""),
            (None, false, Format::Text, ""),
        ] {
            let wish = OutputRequest { names_only, format, ..OutputRequest::default() };
            let options = OutputOptions { wish, look: Look { width, ..Look::default() } };
            let mut out = Vec::new();
            write_rule(&mut out, &options).expect("memory takes all");
            assert_eq!(String::from_utf8_lossy(&out), expected, "{width:?} {names_only}");
        }
    }

    #[test]
    fn what_is_said_fits_what_was_found() {
        let words = |all: &[&str]| all.iter().map(ToString::to_string).collect();
        let found = |strongest| end(move |end| (end.shown, end.strongest) = (2, strongest));
        let weak = end(|end| end.weak = 3);
        let tokens = end(|end| (end.is_tokens, end.query) = (true, "E0502".to_string()));
        let unknown = end(|end| {
            end.unknown = words(&["frob"]);
            end.near = words(&["grab", "take"]);
        });
        let locked = end(|end| (end.is_tokens, end.unindexed) = (true, words(&["a/b"])));
        let unread = end(|end| (end.is_held, end.unread) = (true, words(&["frob"])));
        let quoted = end(|end| end.quoted = words(&["on any host"]));
        let cut = end(|end| (end.weak, end.least) = (3, 0.5));
        let cut_tokens = end(|end| {
            (end.is_tokens, end.query, end.weak, end.least) = (true, "E0502".to_string(), 3, 0.5);
            end.unknown = words(&["E0502"]);
        });
        let named = end(|end| {
            (end.shown, end.strongest) = (2, 0.9);
            end.unknown = words(&["frob_it"]);
        });
        let many = end(|end| {
            (end.shown, end.strongest, end.holders) = (2, 0.9, 30);
            (end.patterns, end.words, end.are_forms) = (words(&["pars"]), words(&["parse"]), true);
        });
        let pairs = |typed: &str, read: &str| vec![(typed.to_string(), read.to_string())];
        let respelled = end(|end| {
            (end.shown, end.strongest) = (2, 0.9);
            end.read_as = pairs("parseRequest", "parse_request");
        });
        let read = end(|end| (end.shown, end.strongest, end.read_as) = (2, 0.9, pairs("frobs", "grab")));
        let read_in_part = end(|end| {
            (end.shown, end.strongest, end.read_as) = (2, 0.9, pairs("frobs", "grab"));
            end.unknown = words(&["frob_it"]);
        });
        let held = end(|end| {
            (end.shown, end.strongest, end.holders) = (2, 0.1, 1);
            end.words = words(&["capacity"]);
        });
        let mut full = many.clone();
        full.is_full = true;
        let mut all = full.clone();
        all.is_everywhere = true;
        let elsewhere = end(|end| {
            (end.shown, end.strongest, end.holders, end.is_elsewhere) = (2, 0.9, 30, true);
            (end.patterns, end.words) = (words(&["wait"]), words(&["wait"]));
        });
        let three = end(|end| {
            (end.shown, end.strongest, end.holders) = (2, 0.9, 30);
            end.patterns = words(&["pars", "1.2", "it"]);
            (end.words, end.are_forms) = (words(&["parse", "1.2", "it"]), true);
        });
        for (end, is_marked, expected) in [
            (found(0.9), false, ""),
            (found(0.1), true, ""),
            (found(0.1), false, "not sure about these, best guess first (strength 0.10)"),
            (
                cut,
                false,
                "nothing here has a strength of 0.5 (--min-strength, or the setting min_strength); \
                 colgrep --all 'parse it' src shows what is below",
            ),
            (cut_tokens, false, "nothing here holds \"E0502\"; nearest by meaning: colgrep --semantic-only E0502 src"),
            (named, false, "nothing here holds \"frob_it\""),
            (weak, false, "no likely answer here; colgrep --all 'parse it' src shows weak ones"),
            (tokens, false, "nothing here holds \"E0502\"; nearest by meaning: colgrep --semantic-only E0502 src"),
            (unknown, false, "nothing here holds \"frob\"; similar words here: grab, take"),
            (
                locked,
                false,
                "within `src`, only what is not indexed (lock files, minified or large files, outputs of notebooks) holds \
                 \"a/b\"; colgrep -i -F -e a/b lists it",
            ),
            (unread, false, "not every file was searched for \"frob\"; colgrep -i -e frob searches all"),
            (full, false, ""),
            (all, false, "30 files hold a form of \"parse\", 2 shown; -k shows more"),
            (respelled, false, ""),
            (read, false, "\"frobs\" is read as \"grab\", since nothing here holds it as typed"),
            (
                read_in_part,
                false,
                "\"frobs\" is read as \"grab\", since nothing here holds it as typed; nothing here holds \"frob_it\"",
            ),
            (held, false, ""),
            (many, false, "30 files hold a form of \"parse\", 2 shown; colgrep -il -e pars src lists them"),
            (elsewhere, false, "30 files hold \"wait\", 2 shown; colgrep -il -e wait src lists them"),
            (three, false, ""),
            (quoted, false, "no searched file contains \"on any host\"; without the quotes, its words are searched"),
            (end(|_| {}), false, ""),
        ] {
            assert_eq!(remark(&end, is_marked, " src").map_or(String::new(), |told| told.1), expected, "{end:?}");
        }
    }

    #[test]
    fn filters_and_paths_are_typed_again_each_path_once() {
        let mut scope = Scope::default();
        scope.paths = ["web", "it's", "web", "api"].map(std::path::PathBuf::from).to_vec();
        assert_eq!(typed(&scope), " web 'it'\\''s' api");
        (scope.types, scope.include) = (vec!["rst".to_string()], vec!["*.md".to_string(), "docs".to_string()]);
        scope.exclude_any_case = vec!["*.py".to_string()];
        (scope.tests, scope.code_only) = (Some(Tests::Only), Some(false));
        scope.changes = Some(Changes::Since("HEAD~2".to_string()));
        let globs = " -t rst --include '*.md' --include docs --iglob '!*.py'";
        let told = format!("{globs} --no-code-only --tests only --since 'HEAD~2' web 'it'\\''s' api");
        assert_eq!(typed(&scope), told);
    }
}
