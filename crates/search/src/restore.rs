//! Restores the texts of indexed units without a parser, from what the index stores of a unit and the lines of its
//! file. A text that is restored wrongly has another hash and is not used.

use std::path::Path;

use colgrep_core::UnitId;
use colgrep_syntax::parse::{OwnLines, body_lines, takes_lines};
use colgrep_syntax::read::lines_between;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use colgrep_index::error::Result;
use colgrep_index::ids::{FileId, TextHash};
use colgrep_index::lexical::{UnitHit, UnitSpan};
use colgrep_index::store::{FileRecord, Snapshot};
use colgrep_index::units::{text_hash, unit_text};

/// The texts of those units that can be restored, by their hash ([`text_hash`]). Left out are units of changed or
/// deleted files, and a few whose body is not made of whole lines or was merged from several.
pub(crate) fn restore(snapshot: &Snapshot, units: &[UnitHit]) -> Result<FxHashMap<TextHash, String>> {
    if snapshot.files.keeps_texts() {
        return units.iter().map(|unit| snapshot.lexical.kept_text(unit.key)).collect();
    }
    let mut of_file: FxHashMap<FileId, Vec<&UnitHit>> = FxHashMap::default();
    for unit in units {
        of_file.entry(unit.file).or_default().push(unit);
    }
    let wanted = of_file.into_iter().filter_map(|(file, units)| Some((snapshot.record(file)?, units)));
    let wanted: Vec<(&FileRecord, Vec<&UnitHit>)> = wanted.collect();
    let parts: Vec<Vec<(TextHash, String)>> = wanted
        .par_iter()
        .with_max_len(1)
        .map(|(record, units)| of_one(snapshot, record, units))
        .collect::<Result<_>>()?;
    Ok(parts.into_iter().flatten().collect())
}

fn of_one(snapshot: &Snapshot, record: &FileRecord, units: &[&UnitHit]) -> Result<Vec<(TextHash, String)>> {
    let root = Path::new(&snapshot.files.root);
    let Ok(source) = snapshot.texts.text(root, &record.path) else { return Ok(Vec::new()) };
    let spans = snapshot.lexical.spans_of(record.id)?;
    let wanted: FxHashSet<UnitId> = units.iter().map(|u| u.key).collect();
    let of_wanted = || spans.iter().filter(|s| wanted.contains(&s.key));
    let first = of_wanted().map(|s| s.first as usize).min().unwrap_or_default();
    let last = of_wanted().map(|s| s.end as usize).max().unwrap_or_default();
    let lines = lines_between(&source, first, last, |text| text.split_inclusive('\n'));
    let mut texts = Vec::new();
    for span in of_wanted() {
        let mut unit = snapshot.lexical.unit(span.key)?.unit(&lines);
        unit.body = body(&lines, span, &spans);
        let text = unit_text(&record.path, &unit);
        let hash = text_hash(&text);
        if Some(hash) == snapshot.lexical.text_of(span.key) {
            texts.push((hash, text));
        }
    }
    Ok(texts)
}

/// The body that the parser makes of a unit, from its span and `all` spans of its file.
fn body(lines: &[&str], unit: &UnitSpan, all: &[UnitSpan]) -> String {
    let text = |line: u32| lines.get((line as usize).wrapping_sub(1)).copied().unwrap_or_default();
    own(lines, unit, all).into_iter().flat_map(|own| own.first..=own.end).map(text).collect()
}

/// The lines of a unit outside its members.
fn own(lines: &[&str], unit: &UnitSpan, all: &[UnitSpan]) -> Vec<OwnLines> {
    let inside = |s: &&UnitSpan| s.key != unit.key && s.line >= unit.line && s.end <= unit.end;
    let members = all.iter().filter(inside).filter(|s| takes_lines(s.kind)).map(|member| (member.line, member.end));
    let text = |line: u32| lines.get((line as usize).wrapping_sub(1)).copied().unwrap_or_default();
    body_lines(unit.kind, unit.line, unit.end, members, text).0
}

/// First and last line of each part of a unit that is outside its members: the whole unit if it has none, else the
/// lines between them, with the first line of each member but without its documentation. `lines` are those of its file.
pub fn own_lines(snapshot: &Snapshot, file: FileId, unit: UnitId, lines: &[&str]) -> Result<Vec<(u32, u32)>> {
    let spans = snapshot.lexical.spans_of(file)?;
    let Some(span) = spans.iter().find(|span| span.key == unit) else { return Ok(Vec::new()) };
    let is_member = |s: &&UnitSpan| s.key != unit && s.line > span.line && s.end <= span.end && takes_lines(s.kind);
    let documented: FxHashSet<u32> = spans.iter().filter(is_member).flat_map(|s| s.first..s.line).collect();
    let is_blank = |line: u32| lines.get((line as usize).wrapping_sub(1)).is_some_and(|line| line.trim().is_empty());
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for line in own(lines, span, &spans).into_iter().flat_map(|own| own.first..=own.end) {
        match parts.last_mut() {
            _ if documented.contains(&line) => {}
            Some((_, last)) if *last + 1 == line => *last = line,
            // A part must not begin with a blank line.
            _ if is_blank(line) => {}
            _ => parts.push((line, line)),
        }
    }
    Ok(parts)
}

#[cfg(test)]
#[path = "../../syntax/tests/languages/mod.rs"]
mod samples;

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use colgrep_core::UnitKind;

    use super::*;
    use colgrep_index::store::Store;
    use colgrep_index::update::Updater;

    /// A copy of the samples of all languages, lexically indexed.
    fn samples(folder: &Path) -> (PathBuf, Snapshot) {
        let root = folder.join("samples");
        for [language, file, text, units] in samples::samples() {
            let to = root.join(language);
            std::fs::create_dir_all(&to).expect("a folder");
            std::fs::write(to.join(file), text).expect("a copy");
            std::fs::write(to.join("units.txt"), units).expect("a copy");
        }
        let store = Store::new(folder.join("index"));
        let (snapshot, _) = Updater::new(&store, &root).run().expect("an index");
        (root, snapshot)
    }

    fn units(snapshot: &Snapshot) -> Vec<UnitHit> {
        let mut units = Vec::new();
        snapshot.lexical.each_unit(None, |key, _, _| units.extend(snapshot.lexical.hit(key)));
        units
    }

    #[test]
    fn nearly_all_texts_of_all_languages_come_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let (root, snapshot) = samples(folder.path());
        let all = units(&snapshot);
        let texts = restore(&snapshot, &all).expect("texts");
        let (back, lost): (Vec<&UnitHit>, Vec<&UnitHit>) =
            all.iter().partition(|u| snapshot.lexical.text_of(u.key).is_some_and(|hash| texts.contains_key(&hash)));
        for kind in UnitKind::ALL {
            assert!(back.iter().any(|u| u.kind == kind), "no {kind:?} came back");
        }
        let place = |u: &&UnitHit| {
            let path = snapshot.files.files.iter().find(|f| f.id == u.file).map(|f| f.path.as_str());
            format!("{}:{}", path.unwrap_or_default(), u.line)
        };
        let lost: Vec<String> = lost.iter().map(place).collect();
        assert!(all.len() > 500 && lost.len() * 20 < all.len(), "{} of {}: {lost:?}", lost.len(), all.len());

        // A changed file gives none of its changed texts.
        let sample = root.join("rust/sample.rs");
        let changed = std::fs::read_to_string(&sample).expect("a sample").replace("fn ", "fn  ");
        std::fs::write(&sample, changed).expect("a file");
        let after = restore(&snapshot, &all).expect("texts");
        assert!(after.len() < texts.len() && after.iter().all(|(hash, text)| text_hash(text) == *hash));
    }
}
