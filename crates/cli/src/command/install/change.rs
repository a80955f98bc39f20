//! Computes the change of one file for `install` and `uninstall`. Writes nothing.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::agents::InstallTarget;
use super::edit::{Edit, NAME, names_colgrep};
use super::receipt::{InstallStep, Receipt, Receipts};
use crate::files::read;
use crate::hunk::Hunk;

pub struct FileChange {
    pub path: PathBuf,
    /// Its current content; `None` if it does not exist.
    pub before: Option<String>,
    /// Its new content; `None` removes it.
    pub after: Option<String>,
    /// Its receipt after the change.
    pub receipt: Option<Receipt>,
    /// What the user should know about it.
    pub note: Option<String>,
    /// Whether it is kept because another agent reads it too, or because `install` found it as it is.
    pub is_shared: bool,
}

/// Adds colgrep's parts for `agent` to the file. A file that has exactly these is unchanged.
///
/// # Errors
/// When the file can't be read, or has an unexpected form.
pub fn installed(target: &InstallTarget, receipts: &Receipts, agent: &str) -> Result<FileChange> {
    let path = target.path.clone();
    let (before, old) = (read(&path)?, receipts.of(&path));
    let is_current = |text: &str| all(&target.edits, |edit| edit.is_current(text));
    if before.as_deref().map_or(Ok(false), is_current)? {
        // Without a receipt, it is the user's own, or came with a clone.
        let untouched = || Receipt::untouched(path.clone(), receipts.made_folders(&path));
        let receipt = Some(old.unwrap_or_else(untouched).with(agent));
        let note = of_folder(target, before.as_deref())?;
        return Ok(FileChange { path, after: before.clone(), before, receipt, note, is_shared: false });
    }
    let base = base(&target.edits, before.as_deref(), old.as_ref(), Edit::is_in)?;
    let mut text = base.clone().unwrap_or_default();
    let mut steps = Vec::new();
    for (index, edit) in target.edits.iter().enumerate() {
        // What an earlier `install` wrote may have been changed since: the user's own is what that one replaced.
        let replaced = old.as_ref().and_then(|old| old.steps.get(index)?.taken.as_deref());
        if let Some(own) = replaced
            && edit.taken(&text)?.is_some_and(|changed| names_colgrep(&changed))
        {
            text = edit.cut(&edit.put(&text)?, Some(own))?;
        }
        let taken = edit.taken(&text)?;
        let next = edit.put(&text)?;
        let (made, strict) = (edit.missing(&text)?, edit.is_strict(&text));
        steps.push(InstallStep { hunk: Hunk::between(&text, &next, taken.is_some()), taken, made, strict });
        text = next;
    }
    ensure!(is_current(&text)?, "what is put in would not be read again");
    let folders = receipts.made_folders(&path);
    let agents = old.map(|old| old.agents).unwrap_or_default();
    let note = steps
        .iter()
        .any(|s| s.taken.is_some())
        .then(|| format!("your own entry {NAME:?} in {} is replaced; uninstall restores it", path.display()));
    let note = joined(note, of_folder(target, Some(&text))?);
    let receipt = Receipt { path: path.clone(), existed: base.is_some(), steps, folders, agents }.with(agent);
    Ok(FileChange { path, before, after: Some(text), receipt: Some(receipt), note, is_shared: false })
}

/// Removes colgrep's parts from the file; unchanged if another agent than `agent` reads it too.
///
/// # Errors
/// When the file can't be read, or has an unexpected form.
pub fn uninstalled(target: &InstallTarget, receipts: &Receipts, agent: &str) -> Result<FileChange> {
    let path = target.path.clone();
    let (before, mut old) = (read(&path)?, receipts.of(&path));
    if let Some(receipt) = &mut old {
        let is_shared = receipt.agents.iter().any(|known| known == agent);
        receipt.agents.retain(|known| known != agent);
        if !receipt.agents.is_empty() {
            let note = Some(format!("{} stays, for {}", path.display(), receipt.agents.join(" and ")));
            return Ok(FileChange { path, after: before.clone(), before, receipt: old, note, is_shared });
        }
    }
    let text = before.as_deref().unwrap_or_default();
    if old.as_ref().is_some_and(Receipt::is_untouched) && all(&target.edits, |edit| edit.is_in(text))? {
        let note = Some(format!(
            "what is in {} was there before `install`, and stays; a second `uninstall` takes it out",
            path.display()
        ));
        return Ok(FileChange { path, after: before.clone(), before, receipt: None, note, is_shared: true });
    }
    // What no record tells of may be anybody's, unless it is exactly what `install` writes.
    let is_known = old.is_some();
    let is_own =
        |edit: &Edit, text: &str| -> Result<bool> { Ok(edit.is_in(text)? && (is_known || edit.is_exact(text)?)) };
    let after = base(&target.edits, before.as_deref(), old.as_ref(), is_own)?;
    let stays = !all(&target.edits, |edit| Ok(is_own(edit, text)? || !edit.is_left(text)?))?;
    let note = stays.then(|| {
        let path = path.display();
        format!("the entry {NAME:?} in {path} is not as colgrep writes it, and stays; to remove it, edit that file")
    });
    let removes = old.is_none() && after != before;
    let note = joined(note, removes.then(|| of_no_receipt(target, text)).transpose()?.flatten());
    let note = joined(note, of_folder(target, after.as_deref())?);
    // Without the receipt, the user's entry that was replaced would be lost.
    let receipt = old.filter(|_| stays);
    Ok(FileChange { path, before, after, receipt, note, is_shared: false })
}

/// A remark on parts that are removed without a receipt, where the file alone doesn't tell what it was.
fn of_no_receipt(target: &InstallTarget, text: &str) -> Result<Option<String>> {
    let is_whole = all(&target.edits, |edit| Ok(edit.tells_all() || !edit.is_exact(text)?))?;
    let path = target.path.display();
    let said = || {
        format!(
            "no record of `install` is known here for {path}: if it replaced an entry of your own, put that back by hand"
        )
    };
    Ok((!is_whole).then(said))
}

/// A remark on commands of a file that run a program of the agent's folder: `install` writes no such command.
fn of_folder(target: &InstallTarget, text: Option<&str>) -> Result<Option<String>> {
    let mut commands: Vec<String> = Vec::new();
    for edit in &target.edits {
        commands.extend(edit.of_folder(text.unwrap_or_default())?);
    }
    let said = || format!("{} runs `{}`, a program of the project's own", target.path.display(), commands.join("`, `"));
    Ok((!commands.is_empty()).then(said))
}

/// Two remarks as one.
fn joined(one: Option<String>, other: Option<String>) -> Option<String> {
    let both: Vec<String> = one.into_iter().chain(other).collect();
    (!both.is_empty()).then(|| both.join("; "))
}

fn all(edits: &[Edit], holds: impl Fn(&Edit) -> Result<bool>) -> Result<bool> {
    edits.iter().try_fold(true, |all, edit| Ok(all && holds(edit)?))
}

/// What a file is without colgrep: `None` where it was made for colgrep and nothing is left.
///
/// Each part is reverted byte for byte as the receipt says, if its text is unchanged; else it is removed by meaning,
/// with the containers made for it that are empty then. Without a receipt, nothing empty is left. Parts that `is_own`
/// denies stay.
fn base(
    edits: &[Edit],
    before: Option<&str>,
    receipt: Option<&Receipt>,
    is_own: impl Fn(&Edit, &str) -> Result<bool>,
) -> Result<Option<String>> {
    let Some(before) = before else { return Ok(None) };
    let mut text = before.to_string();
    let mut found = false;
    for (index, edit) in edits.iter().enumerate().rev() {
        if !is_own(edit, &text)? {
            continue;
        }
        found = true;
        let step = receipt.and_then(|r| r.steps.get(index));
        // Check the result: the same bytes may occur elsewhere, or a comma may now be missing or left over.
        let back = step.filter(|_| !edit.tells_all()).and_then(|step| {
            let back = step.hunk.back_in_any_form(&text)?;
            let fits = edit.is_in(&back).is_ok_and(|is_in| !is_in) && (edit.is_strict(&back) || !step.strict);
            fits.then_some(back)
        });
        text = match back {
            Some(back) => back,
            None => {
                let cut = edit.cut(&text, step.and_then(|s| s.taken.as_deref()))?;
                // Without a receipt, whatever `install` may have made around it.
                let made = step.map_or_else(|| edit.missing(""), |step| Ok(step.made.clone()))?;
                edit.cleared(&cut, &made)?
            }
        };
    }
    let bare = || edits.iter().any(|edit| edit.is_bare(&text));
    let gone = found && receipt.is_none_or(|r| !r.existed) && bare();
    Ok((!gone).then_some(text))
}
