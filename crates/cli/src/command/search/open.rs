//! Opening a project's index for a search: current if possible, else as it is, and never silent about the difference.

use std::time::Duration;

use anyhow::{Context as _, Result};
use colgrep_engine::env::Env;
use colgrep_engine::model::Model;
use colgrep_engine::project::Project;
use colgrep_index::ErrorKind;
use colgrep_index::store::{Coverage, Snapshot};
use colgrep_index::walk::{WalkOptions, walk};
use colgrep_syntax::read::Skip;
use indicatif::DecimalBytes;

use crate::args::WalkArgs;
use crate::command::{counted_are, open_updated, walk_options_asked};

/// How often the first part of a first build is looked for.
const FIRST_PART_POLL: Duration = Duration::from_millis(50);

/// Opens a project's index, brought up to date if that is wanted (`update`) and possible, and says what it lacks.
///
/// # Errors
/// When there is none and none can be built.
pub fn open(
    walk_args: &WalkArgs,
    update: bool,
    env: &Env,
    project: &Project,
    model: Option<&Model>,
) -> Result<Snapshot> {
    let snapshot = opened(walk_args, update, env, project, model)?;
    if !walk_args.quiet
        && let Some(lacking) = model.and_then(|m| m.lacking(&snapshot, || maker(project)))
    {
        remark!("colgrep: {lacking}");
    }
    Ok(snapshot)
}

/// Another process that writes the index, if there is one.
pub fn maker(project: &Project) -> Option<&'static str> {
    is_being_built(project).then_some("another colgrep")
}

fn opened(walk_args: &WalkArgs, update: bool, env: &Env, project: &Project, model: Option<&Model>) -> Result<Snapshot> {
    if !update {
        let snapshot = project.store.open().with_context(|| {
            format!(
                "{} has no index that this colgrep can read; leave out --no-update, or run `colgrep init`",
                project.root.display()
            )
        })?;
        if !snapshot.files.complete && !walk_args.quiet {
            remark!("colgrep: the index is not complete: {}", coverage(project, &snapshot, model));
        }
        return Ok(snapshot);
    }
    project.check_size(env, walk_args.yes)?;
    let mut options = walk_options_asked(walk_args);
    let remarks = !walk_args.quiet;
    if let (Some(asked), Ok(snapshot)) = (options, project.store.open())
        && snapshot.files.walk_options() != asked
    {
        // What is indexed is `init`'s to change: a search must not throw away what another one needs.
        if remarks {
            remark!(
                "colgrep: the index was made with other --hidden, --no-ignore or --max-filesize; `colgrep init` with these flags changes it"
            );
        }
        options = None;
    }
    let encoding = model.and_then(Model::encoding_of_search);
    match open_updated(project, options.as_ref(), false, encoding.as_ref(), walk_args.quiet) {
        Ok((snapshot, report)) => {
            let large = snapshot.files.files.iter().filter(|f| f.skip == Some(Skip::TooLarge)).count();
            if remarks && report.wrote && large > 0 {
                let limit = DecimalBytes(snapshot.files.filesize_max);
                let files = counted_are(large as u64, "file");
                remark!("colgrep: {files} larger than {limit} and not indexed (`colgrep status`)");
            }
            Ok(snapshot)
        }
        Err(error) => match project.store.open() {
            // What is there is better than nothing: another process writes, or the disk is full or read-only.
            Ok(snapshot) => {
                if remarks {
                    let (why, known) = (reason(&error), coverage(project, &snapshot, model));
                    remark!("colgrep: {why}; this answer is from the index as it is: {known}");
                }
                Ok(snapshot)
            }
            Err(_) if error.kind() == ErrorKind::Busy => first_part(project, options.as_ref(), model, walk_args.quiet),
            Err(_) if !project.store.folder().is_dir() => Err(error).with_context(|| {
                let root = project.root.display();
                format!("the index of {root} has no place; COLGREP_DATA_DIR=FOLDER names another one")
            }),
            Err(_) => Err(error.into()),
        },
    }
}

/// Waits for the first commit of another process that builds this index for the first time; if that process ends
/// without one, builds it here.
fn first_part(
    project: &Project,
    options: Option<&WalkOptions>,
    model: Option<&Model>,
    quiet: bool,
) -> Result<Snapshot> {
    if !quiet {
        remark!("colgrep: another colgrep builds this index for the first time; waiting for its first part");
    }
    loop {
        std::thread::sleep(FIRST_PART_POLL);
        if let Ok(snapshot) = project.store.open() {
            if !quiet {
                let part = coverage(project, &snapshot, model);
                remark!("colgrep: the build goes on; this answer is from its first part: {part}");
            }
            return Ok(snapshot);
        }
        if project.store.lock(false).is_ok() {
            let encoding = model.and_then(Model::encoding_of_search);
            return Ok(open_updated(project, options, true, encoding.as_ref(), quiet)?.0);
        }
    }
}

/// Whether another process writes the index.
pub fn is_being_built(project: &Project) -> bool {
    project.store.is_locked()
}

/// How far another process is that writes the index, if one does; `snapshot` is what there is to search.
pub fn building(project: &Project, snapshot: Option<&Snapshot>) -> Option<String> {
    let told = |s| coverage(project, s, None);
    is_being_built(project).then(|| snapshot.map_or("nothing of it can be searched yet".to_string(), told))
}

/// `120 of 4000 files are indexed`, and where a model would have given more, `500 of 900 units have vectors`.
pub fn coverage(project: &Project, snapshot: &Snapshot, model: Option<&Model>) -> String {
    let known = snapshot.files.files.len();
    let files = match walk(&project.root, &project.left_out(), &snapshot.files.walk_options()) {
        Ok(walked) => {
            format!("{known} of {} indexed", counted_are(walked.files.len().max(known) as u64, "file"))
        }
        Err(_) => format!("{} indexed", counted_are(known as u64, "file")),
    };
    if !model.is_some_and(|m| m.lacks(snapshot)) {
        return files;
    }
    let Coverage { units, with_vectors } = snapshot.coverage();
    format!("{files}, {with_vectors} of {units} units have vectors")
}

fn reason(error: &colgrep_index::Error) -> String {
    match error.kind() {
        ErrorKind::Busy => "another colgrep is indexing".to_string(),
        _ => error.to_string(),
    }
}
