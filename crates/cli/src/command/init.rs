//! `colgrep init`: builds the index of a project, or brings it up to date.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use colgrep_engine::env::Env;
use colgrep_engine::model::{Choice, Model};
use colgrep_engine::project::Project;
use colgrep_index::mode::VectorMode;
use colgrep_index::update::set_mode;

use super::{counted, folder_or_here, in_words, limit_threads, name_runtime, open_updated, walk_options};
use crate::args::InitArgs;
use crate::{FOUND, NOTHING};

pub(super) fn run(args: &InitArgs, env: &Env) -> Result<u8> {
    let started = Instant::now();
    let (mut project, _) = Project::around(folder_or_here(args.path.as_deref()), env)?;
    project.check_size(env, args.walk.yes)?;
    let mut walk = args.walk.clone();
    let settings = project.settings(env)?;
    // Not what the index was told before: that is said anew.
    walk.index_mode = walk.index_mode.or(settings.index_mode().map(Into::into)).or(Some(Default::default()));
    walk.fill(&settings);
    limit_threads(&walk);
    let repository = if args.model.is_none() { settings.repository_model() } else { None };
    let choice = Choice {
        name: args.model.as_deref().or(settings.model()).map(str::to_string),
        repository: repository.map(Path::to_path_buf),
        vectors: walk.vector_mode(),
    };
    let model = Model::of_index(&choice, &env.working_on([&project.root]))?;
    name_runtime(env);
    let encoding = model.as_ref().and_then(|m| m.encoding(None));
    let options = walk_options(&walk);
    let (snapshot, report) = open_updated(&project, Some(&options), true, encoding.as_ref(), walk.quiet)?;
    let mode = walk.vector_mode();
    let told_anew = set_mode(&project.store, mode)?;
    if !walk.quiet {
        let indexed = counted(snapshot.files.indexed().count() as u64, "file");
        let skipped: u64 = snapshot.files.skipped().values().map(|paths| paths.len() as u64).sum();
        let root = project.root.display();
        if report.wrote {
            let seconds = started.elapsed().as_secs_f64();
            remark!(
                "{root}: {indexed} indexed ({} read, {} removed, {}, {}) in {seconds:.2} s",
                report.changed,
                report.removed,
                counted(report.units, "unit"),
                in_words(report.bytes)
            );
        } else {
            remark!("{root}: {indexed} indexed, {}", if told_anew { "no file changed" } else { "nothing changed" });
        }
        if told_anew {
            let dropped = snapshot.files.vectors.is_some() && mode != VectorMode::Full;
            let end = if dropped { ": its vectors are dropped" } else { "" };
            remark!("the index is kept in mode {} from now on{end}", mode.name());
        }
        if report.encoded + report.without_vectors > 0 {
            remark!(
                "vectors: {} encoded, {} had theirs already{}",
                counted(report.encoded, "text"),
                counted(report.reused, "unit"),
                if report.without_vectors > 0 {
                    format!(", {} have none", report.without_vectors)
                } else {
                    String::new()
                }
            );
        }
        if skipped > 0 {
            remark!("{} skipped; `colgrep status` says why", counted(skipped, "file"));
        }
    }
    Ok(if snapshot.files.indexed().next().is_some() { FOUND } else { NOTHING })
}
