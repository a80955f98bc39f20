//! `colgrep status`: what is indexed, what was skipped and why.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::Result;
use colgrep_engine::history::HistoryPlace;
use colgrep_engine::notice::{HistoryState, Unranked};
use colgrep_engine::project::Project;
use colgrep_engine::request::filter::tracked_left_out;
use colgrep_engine::settings::env::Env;
use colgrep_index::ErrorKind;
use colgrep_index::history::Unknown;
use colgrep_index::mode::VectorMode;
use colgrep_index::store::{Coverage, FileTable};
use serde::Serialize;

#[cfg(feature = "cluster")]
use super::over;
use super::{folder_or_here, others};
use crate::args::StatusArgs;
use crate::{FOUND, NOTHING};
use colgrep_render::advice;
use colgrep_render::console::tell_refused;
use colgrep_render::escape::{escape_text, in_json};
use colgrep_render::notice::building;
use colgrep_render::words::{counted, in_words};

#[derive(Serialize)]
struct ProjectStatus {
    root: String,
    index: String,
    indexed: bool,
    complete: bool,
    /// How far another process is that builds the index now.
    building: Option<String>,
    files: u64,
    units: u64,
    source_bytes: u64,
    index_bytes: u64,
    segments: usize,
    /// What the index keeps for the ranking by meaning.
    index_mode: VectorMode,
    vectors: Option<VectorStatus>,
    languages: BTreeMap<String, u64>,
    skipped: BTreeMap<String, Skipped>,
    notes: BTreeMap<String, u64>,
    /// Where the settings say that indexes are shared.
    remote: Option<String>,
    /// Whether the index began as one that somebody shared.
    taken: bool,
    /// What is indexed of the history, once `log` was asked.
    history: Option<HistoryState>,
}

#[derive(Serialize)]
struct VectorStatus {
    model: String,
    #[serde(flatten)]
    coverage: Coverage,
    bytes: u64,
}

#[derive(Serialize, Default)]
struct Skipped {
    files: u64,
    examples: Vec<String>,
}

const EXAMPLES_MAX: usize = 3;
/// The reason given for files that git tracks although a rule ignores them.
const TRACKED: &str = "tracked by git, but ignored";
/// Least source, in bytes, for which the index's share is shown.
const SHARE_BYTES_MIN: u64 = 1_000_000;

pub(super) fn run(args: &StatusArgs, env: &Env) -> Result<u8> {
    if let Some(file) = &args.shards {
        #[cfg(feature = "cluster")]
        return over::status(file, args.json, env);
        #[cfg(not(feature = "cluster"))]
        return super::left_out(&format!("the state of shards ({})", file.display()), "cluster");
    }
    let (mut project, _) = Project::around(folder_or_here(args.path.as_deref()), env)?;
    let settings = project.settings(env)?;
    tell_refused(&settings);
    let mut status = ProjectStatus {
        root: project.root.display().to_string(),
        index: project.store.folder().display().to_string(),
        indexed: false,
        complete: false,
        building: None,
        files: 0,
        units: 0,
        source_bytes: 0,
        index_bytes: project.store.bytes_on_disk(),
        segments: 0,
        index_mode: VectorMode::default(),
        vectors: None,
        languages: BTreeMap::new(),
        skipped: BTreeMap::new(),
        notes: BTreeMap::new(),
        remote: settings.text("remote").map(str::to_string),
        taken: false,
        history: HistoryPlace::of(&project, &settings, env).ok().and_then(|place| place.state()),
    };
    match project.store.open() {
        Ok(snapshot) => {
            status.indexed = true;
            status.segments = snapshot.lexical.shape().0;
            status.index_mode = snapshot.files.mode;
            status.vectors = snapshot.vectors.as_ref().map(|vectors| VectorStatus {
                model: vectors.manifest().model.clone(),
                coverage: snapshot.coverage(),
                bytes: vectors.bytes_on_disk(),
            });
            describe(&snapshot.files, &mut status);
            // Hidden files are left out of most trees, and nobody misses them.
            let left_out = tracked_left_out(&project, &snapshot.files)?.into_iter();
            let ignored = left_out.filter(|file| file.why == Unranked::IgnoredTracked).map(|file| file.path);
            add_skipped(&mut status, TRACKED, &ignored.collect::<Vec<_>>());
            status.building = building(&project, Some(&snapshot));
        }
        Err(error) if error.kind() == ErrorKind::Missing => status.building = building(&project, None),
        Err(error) => return Err(error.into()),
    }
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", in_json(serde_json::to_string_pretty(&status)?))?;
    } else {
        let mut text = Vec::new();
        // A home folder is not indexed without being asked.
        let refused = project.check_size(env, false).err().map(anyhow::Error::from);
        print(&status, refused.as_ref(), &mut text)?;
        for remark in others::remarks(env) {
            writeln!(text, "others    {remark}")?;
        }
        write!(out, "{}", escape_text(&String::from_utf8_lossy(&text)))?;
    }
    Ok(if status.indexed { FOUND } else { NOTHING })
}

fn add_skipped(status: &mut ProjectStatus, reason: &str, paths: &[impl ToString]) {
    if !paths.is_empty() {
        let examples = paths.iter().take(EXAMPLES_MAX).map(ToString::to_string).collect();
        status.skipped.insert(reason.to_string(), Skipped { files: paths.len() as u64, examples });
    }
}

fn describe(table: &FileTable, status: &mut ProjectStatus) {
    status.complete = table.complete;
    status.taken = !table.pulled.is_empty();
    for (reason, paths) in table.skipped() {
        add_skipped(status, reason, &paths);
    }
    for file in table.indexed() {
        status.files += 1;
        status.units += u64::from(file.units);
        status.source_bytes += file.size;
        *status.languages.entry(file.language.clone()).or_default() += 1;
        if let Some(note) = &file.note {
            *status.notes.entry(note.clone()).or_default() += 1;
        }
    }
}

fn print(
    status: &ProjectStatus,
    refused: Option<&anyhow::Error>,
    out: &mut impl std::io::Write,
) -> std::io::Result<()> {
    writeln!(out, "project   {}", status.root)?;
    writeln!(out, "index     {}", status.index)?;
    let is_being_built = status.building.is_some();
    match &status.building {
        Some(coverage) => writeln!(out, "a build is under way: {coverage}")?,
        None if !status.indexed => match refused {
            Some(refused) => writeln!(out, "not indexed: {}", advice::told(refused))?,
            None => writeln!(out, "not indexed; the first search does it, or `colgrep init`")?,
        },
        None if !status.complete => {
            writeln!(out, "the last build was stopped; the next search or `colgrep init` goes on from there")?;
        }
        None => {}
    }
    if !status.indexed {
        return Ok(());
    }
    let units = counted(status.units, "unit");
    writeln!(out, "files     {} ({units}, {})", status.files, in_words(status.source_bytes))?;
    let share = match status.source_bytes {
        // An index has a minimum size, so its share of a small source means nothing.
        0..SHARE_BYTES_MIN => String::new(),
        source => format!(" ({:.0} % of the source)", 100.0 * status.index_bytes as f64 / source as f64),
    };
    let segments = counted(status.segments as u64, "segment");
    writeln!(out, "on disk   {}{share}, {segments}", in_words(status.index_bytes))?;
    writeln!(out, "mode      {}", status.index_mode.name())?;
    match &status.vectors {
        Some(VectorStatus { model, coverage: Coverage { units, with_vectors }, bytes }) => {
            let rest = match with_vectors < units {
                true if is_being_built => "; the rest is being made",
                true => "; `colgrep init` makes the rest",
                false => "",
            };
            writeln!(out, "vectors   {with_vectors} of {units} units, {}, of {model}{rest}", in_words(*bytes))?;
        }
        None if is_being_built && status.index_mode == VectorMode::Full => writeln!(out, "vectors   none yet")?,
        None if status.index_mode == VectorMode::Full => writeln!(out, "vectors   none; `colgrep init` makes them")?,
        None => writeln!(out, "vectors   none; `colgrep init --index-mode full` makes them")?,
    }
    let mut languages: Vec<(&String, &u64)> = status.languages.iter().collect();
    languages.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let languages: Vec<String> = languages.iter().map(|(name, count)| format!("{name} {count}")).collect();
    writeln!(out, "languages {}", languages.join(", "))?;
    for (reason, skipped) in &status.skipped {
        let more = if skipped.files as usize > skipped.examples.len() { ", …" } else { "" };
        writeln!(out, "skipped   {} ({reason}): {}{more}", skipped.files, skipped.examples.join(", "))?;
    }
    for (note, count) in &status.notes {
        writeln!(out, "note      {}: {note}", counted(*count, "file"))?;
    }
    if let Some(remote) = &status.remote {
        writeln!(out, "remote    {remote}")?;
    }
    if status.taken {
        writeln!(out, "note      taken from a remote, and kept up to date here")?;
    }
    if let Some(history) = &status.history {
        print_history(history, out)?;
    }
    Ok(())
}

fn print_history(history: &HistoryState, out: &mut impl std::io::Write) -> std::io::Result<()> {
    let turns = match history.sessions {
        0 => String::new(),
        sessions => format!(", {} of {}", counted(history.turns, "turn"), counted(sessions, "session")),
    };
    let disk = in_words(history.bytes);
    writeln!(out, "history   {}{turns}, {disk} on disk", counted(history.commits, "commit"))?;
    if history.is_shallow {
        writeln!(out, "note      the clone is shallow: older commits are not here")?;
    }
    let Unknown { lines, files } = history.unknown;
    if lines > 0 {
        let (files, are) = (counted(files, "file"), if lines == 1 { "is" } else { "are" });
        writeln!(out, "note      {} of transcripts {are} of an unknown form, in {files}", counted(lines, "line"))?;
    }
    Ok(())
}
