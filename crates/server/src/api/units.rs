//! Units that a request names by their ids.

use colgrep_index::update::ReadFirst;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use colgrep_engine::error::{Error as EngineError, Refused};
use colgrep_index::ids::StableId;
use colgrep_render::path::in_root;

use super::state::{Root, ServerState};
use super::unserved::{self, NotServed, Unserved};

/// Refuses a request about a unit that says neither which nor where.
///
/// # Errors
/// When both are empty.
pub fn check_file(id: &str, file: &str) -> Result<()> {
    if id.is_empty() && file.is_empty() {
        bail!("the parameter `file` is missing (or `id`, the unit's id behind # in answers)");
    }
    Ok(())
}

/// A unit's root, its path from there, and its first and last line.
pub(super) type UnitPlace<'s> = (&'s Arc<Root>, String, u32, u32);

/// The unit with an id, in `file` if several roots have such a unit; `None` where no id is given.
///
/// # Errors
/// When no root has such a unit, or several have: an id encodes path and lines alone, so copies of a file share theirs.
pub(super) fn unit_with<'s>(state: &'s ServerState, id: &str, file: &str) -> Result<Option<UnitPlace<'s>>> {
    let id = id.trim_start_matches('#');
    if id.is_empty() {
        return Ok(None);
    }
    let known: StableId =
        id.parse().ok().with_context(|| format!("{id:?} is not an id: these are 16 hexadecimal digits"))?;
    let (mut away, mut found) = (Vec::new(), Vec::new());
    for root in state.roots() {
        let snapshot = match state.opened(root, &ReadFirst::default()) {
            Ok((snapshot, ..)) => snapshot,
            Err(error) => {
                away.push(Unserved::new(&root.folder, &error));
                continue;
            }
        };
        if let Some((hit, record)) = snapshot.unit_with(known) {
            let full = root.project.root.join(&record.path);
            // An index may cover more than its root, and another root may lie in this one.
            if state.around(&full).is_some_and(|around| Arc::ptr_eq(around, root)) {
                let span = snapshot.lexical.unit(hit.key)?.span;
                found.push((full, (root, record.path.clone(), span.line, span.end)));
            }
        }
    }
    let name = |full: &Path| in_root(full).unwrap_or_else(|| full.display().to_string());
    let names: Vec<String> = found.iter().map(|(full, _)| name(full)).collect();
    if names.len() > 1 && !file.is_empty() {
        let (_, meant, _) = state.locate(file)?;
        found.retain(|(full, _)| *full == meant);
    }
    if names.len() > 1 && found.len() != 1 {
        bail!("units of several roots have the id {id}: say in `file` which is meant, {}", names.join(" or "));
    }
    if let Some((_, place)) = found.pop() {
        return Ok(Some(place));
    }
    let unknown = EngineError::from(Refused::NoUnitWith { id: id.to_string() });
    // It may be one of theirs.
    match unserved::told(&away) {
        Some(left_out) => Err(NotServed(format!("{unknown}; {left_out}")).into()),
        None => Err(unknown.into()),
    }
}
