//! `colgrep init`: builds the index of a project, or brings it up to date.

use colgrep_render::remark;
use std::time::Instant;

use anyhow::Result;
use colgrep_engine::project::Project;
use colgrep_engine::project::model::Model;
use colgrep_engine::project::open::{name_runtime, update};
use colgrep_engine::settings::env::Env;
use colgrep_index::mode::VectorMode;
use colgrep_index::update::set_mode;

use super::{behind, folder_or_here, limit_threads};
use crate::args::InitArgs;
use crate::{FOUND, NOTHING};
use colgrep_render::console::{Console, tell_refused};
use colgrep_render::words::{counted, in_words};

pub(super) fn run(args: &InitArgs, env: &Env) -> Result<u8> {
    if args.behind {
        return behind::run(args, env);
    }
    let started = Instant::now();
    let (mut project, _) = Project::around(folder_or_here(args.path.as_deref()), env)?;
    project.check_size(env, args.walk.yes)?;
    let settings = project.settings(env)?;
    if !args.walk.quiet {
        tell_refused(&settings);
    }
    let mut options = args.walk.open_options(args.model.clone());
    // Ignore the mode stored in the index; `init` sets it anew.
    options.vectors = options.vectors.or(settings.index_mode()).or(Some(VectorMode::default()));
    limit_threads(args.walk.threads);
    let opening = options.with(&settings);
    let model = Model::of_index(&opening.choice, &env.working_on([&project.root]))?;
    let encoding = model.as_ref().and_then(|m| m.encoding(None));
    let console = Console::new(args.walk.quiet, env);
    name_runtime(&*console);
    let (snapshot, report) = update(&project, Some(&opening.walk), true, encoding.as_ref(), &*console)?;
    let mode = opening.choice.vectors;
    let told_anew = set_mode(&project.store, mode)?;
    if !args.walk.quiet {
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
