//! `colgrep doctor`: what index, what model, what settings are in use, and what could be better, in plain words.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use anyhow::Result;
use colgrep_encoder::RuntimeEnv;
use colgrep_engine::Error as EngineError;
use colgrep_engine::history::Absent;
use colgrep_engine::project::model::{self, Model, ModelChoice};
use colgrep_engine::project::{Project, settings_at};
use colgrep_engine::request::RankBy;
use colgrep_engine::settings::env::Env;
use colgrep_engine::settings::{REPOSITORY_FILE, Settings, ValueSource, repository_file};
use colgrep_index::ErrorKind;
use colgrep_index::mode::VectorMode;
use colgrep_index::store::{Coverage, FileTable, Snapshot};
use colgrep_index::update::check;
use colgrep_index::walk::{Walked, walk};
use colgrep_syntax::language;
use colgrep_syntax::read::Skip;
use serde::Serialize;

use super::{folder_or_here, others};
use crate::args::DoctorArgs;
use crate::{FAILED, FOUND};
use colgrep_render::advice;
use colgrep_render::console::told_refused;
use colgrep_render::escape::escape_text;
use colgrep_render::notice::building;
use colgrep_render::words::{counted, counted_are, in_words};

/// Share of dead documents above which rebuilding pays.
const DEAD_SHARE_MAX: f64 = 0.5;
/// Share of skipped files above which it is worth a word.
const SKIPPED_SHARE_MAX: f64 = 0.2;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Good,
    /// Worth knowing.
    Note,
    Advice,
}

#[derive(Debug, Serialize)]
struct Finding {
    about: &'static str,
    level: Level,
    text: String,
}

/// What was found out.
#[derive(Debug, Default, Serialize)]
struct DoctorReport {
    version: &'static str,
    root: String,
    index: String,
    findings: Vec<Finding>,
}

impl DoctorReport {
    fn say(&mut self, about: &'static str, level: Level, text: impl Into<String>) {
        self.findings.push(Finding { about, level, text: text.into() });
    }
}

pub(super) fn run(args: &DoctorArgs, env: &Env) -> Result<u8> {
    let (mut project, _) = Project::around(folder_or_here(args.path.as_deref()), env)?;
    let settings = project.settings(env);
    let mut report = DoctorReport {
        version: env!("CARGO_PKG_VERSION"),
        root: project.root.display().to_string(),
        index: project.store.folder().display().to_string(),
        findings: Vec::new(),
    };
    index(&project, env, &mut report);
    let sound = !args.verify || verify(&project, &mut report)?;
    model(env, &project.root, &mut report);
    say_settings(settings, env, &project.root, &mut report);
    languages(&mut report);
    others::remarks(env).into_iter().for_each(|remark| report.say("others", Level::Advice, remark));
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
        return Ok(if sound { FOUND } else { FAILED });
    }
    writeln!(out, "colgrep {}\nproject  {}\nindex    {}", report.version, report.root, report.index)?;
    for finding in &report.findings {
        let mark = match finding.level {
            Level::Good => "ok  ",
            Level::Note => "note",
            Level::Advice => "do  ",
        };
        writeln!(out, "{mark}  {:<8} {}", finding.about, escape_text(&finding.text))?;
    }
    Ok(if sound { FOUND } else { FAILED })
}

/// Lists the languages whose files are cut into units.
fn languages(report: &mut DoctorReport) {
    let names: Vec<&str> = language::known().filter(|row| row.has_units()).map(|row| row.name).collect();
    report.say("parsing", Level::Good, format!("{} languages and file types: {}", names.len(), names.join(", ")));
}

/// Reads the whole index and reports damage. Returns whether it is intact.
fn verify(project: &Project, report: &mut DoctorReport) -> Result<bool> {
    let checked = match check(&project.store) {
        Err(error) if error.kind() == ErrorKind::Missing => return Ok(true),
        checked => checked?,
    };
    for damage in &checked.damage {
        report.say("sums", Level::Advice, format!("{}; `colgrep init` repairs it", damage.full()));
    }
    if checked.damage.is_empty() {
        let read = in_words(checked.bytes);
        report.say("sums", Level::Good, format!("{} read, {read}: every sum is right", counted(checked.files, "file")));
    }
    if !checked.stray.is_empty() {
        let left = counted(checked.stray.len() as u64, "file");
        let text = format!("a build that was stopped left {left} in the index's folder; `colgrep init` removes that");
        report.say("sums", Level::Note, text);
    }
    Ok(checked.damage.is_empty())
}

fn index(project: &Project, env: &Env, report: &mut DoctorReport) {
    let snapshot = match project.store.open() {
        Ok(snapshot) => snapshot,
        Err(error) if error.kind() == ErrorKind::Missing => {
            return match building(project, None) {
                Some(building) => under_way(&building, report),
                None => {
                    let built = || "the first search builds it, or `colgrep init`".to_string();
                    let how = project.check_size(env, false).err().map_or_else(built, |refused| refused.to_string());
                    report.say("index", Level::Advice, format!("there is none yet; {how}"))
                }
            };
        }
        Err(error) => return report.say("index", Level::Advice, advice::of_index(&error)),
    };
    let table = &snapshot.files;
    let files = table.indexed().count();
    let units = table.units();
    let source: u64 = table.indexed().map(|f| f.size).sum();
    let disk = project.store.bytes_on_disk();
    let (segments, living, dead) = snapshot.lexical.shape();
    report.say(
        "index",
        Level::Good,
        format!(
            "{}, {}, {} of source; {} on disk in {}",
            counted(files as u64, "file"),
            counted(units, "unit"),
            in_words(source),
            in_words(disk),
            counted(segments as u64, "segment")
        ),
    );
    let building = building(project, Some(&snapshot));
    if let Some(building) = &building {
        under_way(building, report);
    } else if !table.complete {
        report.say("index", Level::Advice, "the last build was stopped; the next search or `colgrep init` finishes it");
    }
    vectors(&snapshot, building.is_some(), report);
    if dead as f64 > DEAD_SHARE_MAX * (living + dead).max(1) as f64 {
        let text = format!(
            "{dead} of {} entries are leftovers of changed files; `colgrep clear && colgrep init` makes the index smaller and faster",
            living + dead
        );
        report.say("speed", Level::Advice, text);
    }
    match walk(&project.root, &project.left_out(), &table.walk_options()) {
        Ok(walked) => freshness(table, &walked, report),
        Err(error) => report.say("fresh", Level::Advice, advice::of_index(&error)),
    }
    skipped(table, report);
    let mut notes: BTreeMap<&str, usize> = BTreeMap::new();
    for note in table.files.iter().filter_map(|f| f.note.as_deref()) {
        *notes.entry(note).or_default() += 1;
    }
    for (note, count) in notes {
        report.say("parsing", Level::Note, format!("{}: {note}", counted(count as u64, "file")));
    }
    let unknown = table.indexed().filter(|f| f.language == "unknown").count();
    if unknown > 0 {
        report.say(
            "parsing",
            Level::Note,
            format!("{} of no known language and indexed in blocks of lines", counted_are(unknown as u64, "file")),
        );
    }
}

fn under_way(building: &str, report: &mut DoctorReport) {
    report.say("index", Level::Note, format!("a build is under way: {building}"));
}

fn vectors(snapshot: &Snapshot, is_being_built: bool, report: &mut DoctorReport) {
    if let Some(damage) = &snapshot.damage {
        report.say("vectors", Level::Advice, format!("can't be read: {}", advice::of_index(damage)));
    }
    let Some(vectors) = &snapshot.vectors else {
        if is_being_built && snapshot.files.mode == VectorMode::Full {
            return report.say("vectors", Level::Note, "there are none yet");
        }
        let mode = snapshot.files.mode.name();
        let text = format!("the index has none, its mode is {mode}; `colgrep init --index-mode full` makes them");
        return report.say("vectors", Level::Note, text);
    };
    let Coverage { units, with_vectors } = snapshot.coverage();
    let text = format!("{with_vectors} of {units} units have vectors of {}", vectors.manifest().model);
    match with_vectors < units {
        true if is_being_built => report.say("vectors", Level::Note, format!("{text}; the rest is being made")),
        true => report.say(
            "vectors",
            Level::Advice,
            format!("{text}, the others are ranked by words alone; `colgrep init` makes the rest"),
        ),
        false => report.say("vectors", Level::Good, text),
    }
}

fn freshness(table: &FileTable, walked: &Walked, report: &mut DoctorReport) {
    let known: BTreeMap<&str, (u64, i64)> =
        table.files.iter().map(|f| (f.path.as_str(), (f.size, f.mtime_ns))).collect();
    let found = &walked.files;
    let new = found.iter().filter(|f| !known.contains_key(f.path.as_str())).count();
    let changed =
        found.iter().filter(|f| known.get(f.path.as_str()).is_some_and(|k| *k != (f.size, f.mtime_ns))).count();
    let gone = known.len() - (found.len() - new);
    match (new, changed, gone) {
        (0, 0, 0) => report.say("fresh", Level::Good, "the index is what the files are"),
        _ => report.say(
            "fresh",
            Level::Note,
            format!(
                "since the last update {} new, {changed} changed, {gone} gone; the next search reads them",
                counted_are(new as u64, "file")
            ),
        ),
    }
}

fn skipped(table: &FileTable, report: &mut DoctorReport) {
    let all = table.files.len().max(1);
    let skipped = table.skipped();
    let total: usize = skipped.values().map(Vec::len).sum();
    if total == 0 {
        return report.say(
            "skipped",
            Level::Good,
            "of the files that are neither hidden nor ignored, none is left out",
        );
    }
    let words: Vec<String> = skipped.iter().map(|(reason, paths)| format!("{} ({reason})", paths.len())).collect();
    let many = total as f64 > SKIPPED_SHARE_MAX * all as f64;
    report.say(
        "skipped",
        if many { Level::Advice } else { Level::Note },
        format!("{}; `colgrep status` names some of each", words.join(", ")),
    );
    let large = table.files.iter().filter(|f| f.skip == Some(Skip::TooLarge)).map(|f| f.size).max();
    if let Some(size) = large {
        let text = format!(
            "the largest file left out has {}; `colgrep init --max-filesize SIZE` takes larger ones in",
            in_words(size)
        );
        report.say("skipped", Level::Note, text);
    }
}

fn model(env: &Env, root: &Path, report: &mut DoctorReport) {
    let env = &env.working_on([root]);
    let settings = settings_at(root, env).unwrap_or_default();
    let choice = ModelChoice {
        name: settings.model().map(str::to_string),
        repository: settings.repository_model().map(Path::to_path_buf),
        ..ModelChoice::default()
    };
    match Model::of_search(&choice, RankBy::Both, env) {
        Ok(Some(model)) if choice.name.as_deref().is_none_or(|c| c == "default") => {
            report.say("model", Level::Good, format!("{}, the one in the program, ranks by meaning", model.name()));
        }
        Ok(Some(model)) => report.say("model", Level::Good, format!("{} ranks by meaning", model.name())),
        Ok(None) => report.say("model", Level::Note, "none: searches are by keywords alone"),
        Err(error) => report.say("model", Level::Advice, advice::told(&error.into())),
    }
    // The model in the program needs no library.
    let is_needed = choice.name.as_deref().is_some_and(|name| name != "default");
    runtime(&model::runtime(env), is_needed, report);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    report.say(
        "runtime",
        Level::Good,
        format!("{threads} threads for reading, parsing, encoding and matching; --threads changes it"),
    );
}

/// ONNX Runtime: the library that the model has loaded, or what would be, if it `is_needed`; else only what is refused.
fn runtime(env: &RuntimeEnv, is_needed: bool, report: &mut DoctorReport) {
    let runtime = colgrep_encoder::runtime_report(env);
    for (path, why) in &runtime.refused {
        report.say("runtime", Level::Note, format!("{} is not loaded: {why}", path.display()));
    }
    if !is_needed {
        return;
    }
    match (&runtime.library, &runtime.problem, runtime.candidates.first()) {
        (Some(library), None, _) => {
            let version = runtime.version.as_deref().unwrap_or("of unknown version");
            let provider = runtime.provider.unwrap_or("no provider");
            let text = format!("ONNX Runtime {version}, {provider}: {}", library.display());
            report.say("runtime", Level::Good, text);
        }
        (_, Some(problem), _) => {
            report.say("runtime", Level::Note, format!("models of your own (ONNX) can't be used: {problem}"));
        }
        (None, None, Some(candidate)) => {
            let text = format!("models of your own (ONNX) would be run by {}; none is chosen", candidate.display());
            report.say("runtime", Level::Good, text);
        }
        (None, None, None) => {
            report.say("runtime", Level::Note, "no ONNX Runtime was found; the model in the program needs none")
        }
    }
}

fn say_settings(settings: Result<Settings, EngineError>, env: &Env, root: &Path, report: &mut DoctorReport) {
    match settings {
        Err(error) => report.say("settings", Level::Advice, advice::told(&error.into())),
        Ok(settings) => {
            if let Some(refused) = settings.refused() {
                report.say("settings", Level::Note, told_refused(refused));
            }
            for refused in settings.groups().filter_map(|group| settings.group(group, env).err()) {
                report.say("settings", Level::Advice, advice::told(&refused.into()));
            }
            for folder in settings.sessions(env).into_iter().filter(|folder| !folder.is_dir()) {
                report.say("settings", Level::Advice, super::log::told(&Absent::Folder(folder)));
            }
            let set: Vec<String> = settings
                .all(env)
                .into_iter()
                .filter(|(_, _, source)| *source != ValueSource::Default)
                .map(|(key, value, source)| format!("{key} = {value} ({source})"))
                .collect();
            if set.is_empty() {
                report.say("settings", Level::Good, "all at their defaults");
            }
            for line in set {
                report.say("settings", Level::Note, line);
            }
        }
    }
    if repository_file(env, root).is_none() {
        report.say(
            "settings",
            Level::Note,
            format!("no {REPOSITORY_FILE} here; one committed in the repository sets defaults for everybody"),
        );
    }
}
