//! Which files of a project a written path means.

use crate::store::{FileRecord, FileTable};

/// Files that one written path may mean, at most: a name that more files bear means none of them.
const FILES_MAX: usize = 16;

/// How well a written path fits the files that it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// Its last part alone is a file's name, and more was written: a path of another machine or project.
    Name,
    /// Two parts or more at its end are a file's: the path from another root.
    Tail,
    /// All that is written stands at the end of a file's path.
    Whole,
}

/// The files that `written` means, upper and lower case alike, in the table's order; none where it fits none or too
/// many. A path from another machine (`/srv/app/src/a.rs`) means the files that share most of its last parts.
pub fn files_named<'t>(table: &'t FileTable, written: &str) -> Option<(Fit, Vec<&'t FileRecord>)> {
    let wanted: Vec<String> = parts(written).map(str::to_lowercase).collect();
    if wanted.is_empty() {
        return None;
    }
    let mut best = (0, Vec::new());
    for file in table.indexed() {
        let shared = parts(&file.path).rev().zip(wanted.iter().rev());
        let shared = shared.take_while(|(own, wanted)| own.to_lowercase() == **wanted).count();
        if shared > best.0 {
            best = (shared, Vec::new());
        }
        if shared == best.0 && shared > 0 {
            best.1.push(file);
        }
    }
    let (shared, mut files) = best;
    let fit = match shared {
        0 => return None,
        all if all == wanted.len() => Fit::Whole,
        1 => Fit::Name,
        _ => Fit::Tail,
    };
    // The file that is exactly so called, from the root, leaves no doubt.
    if let Some(exact) = files.iter().position(|f| f.path.eq_ignore_ascii_case(written)) {
        files = vec![files[exact]];
    }
    (files.len() <= FILES_MAX).then_some((fit, files))
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_mean_the_files_that_end_like_them() {
        let file = |path: &str| FileRecord { path: path.to_string(), ..FileRecord::default() };
        let paths = ["a/mod.rs", "b/mod.rs", "b/net/Tcp.java", "src/net/tcp.rs", "tcp.rs"];
        let table = FileTable { files: paths.map(file).to_vec(), ..FileTable::default() };
        for (written, expected) in [
            ("src/net/tcp.rs", "Whole src/net/tcp.rs"),
            ("net/tcp.rs", "Whole src/net/tcp.rs"),
            ("tcp.rs", "Whole tcp.rs"),
            ("/srv/app/src/net/tcp.rs", "Tail src/net/tcp.rs"),
            ("com/acme/net/Tcp.java", "Tail b/net/Tcp.java"),
            ("MOD.rs", "Whole a/mod.rs b/mod.rs"),
            ("/usr/lib/mod.rs", "Name a/mod.rs b/mod.rs"),
            ("other.rs", ""),
            ("/", ""),
        ] {
            let found = files_named(&table, written).map(|(fit, files)| {
                format!("{fit:?} {}", files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>().join(" "))
            });
            assert_eq!(found.unwrap_or_default(), expected, "{written}");
        }
    }
}
