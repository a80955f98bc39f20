//! What is tortured: a small project whose tree has several states, its index, and all that the index answers.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use colgrep_core::collapse::PerFile;
use colgrep_core::knob::{Knobs, Profile};
use colgrep_encoder::{Encoder, Hashed};
use colgrep_index::disk::Disk;
use colgrep_index::store::{Snapshot, Store, project_folder};
use colgrep_index::update::{Encoding, Updater, caught, check};
use colgrep_index::vector::Codebook;
use colgrep_search::recall::recall;
use colgrep_search::{Request, Semantic, search_one};

use super::past::PastRepository;
use super::toy::{codebook, encoding};

/// Questions that touch names, words in documentation and in bodies, callers, paths.
const QUERIES: [&str; 6] =
    ["parse header", "Ring", "how a page is stored", "send 3", "retry after a failure", "path:src/part1 worker"];

/// Time that a search has for vectors here: more than it needs.
const SEARCH_BUDGET: Duration = Duration::from_secs(3_600);

/// A project and the place of its indexes.
pub(super) struct Subject {
    folder: tempfile::TempDir,
    /// The project's root.
    pub(super) root: PathBuf,
    codebook: Codebook,
    /// Its commits, where these are what is indexed or asked for.
    past: Option<PastRepository>,
    /// Whether the index is of the commits, not of the tree.
    of_past: bool,
}

impl Subject {
    /// The project in its first state.
    pub(super) fn new() -> Result<Subject> {
        Subject::made(false)
    }

    fn made(is_repository: bool) -> Result<Subject> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().canonicalize()?.join("project");
        let codebook = codebook()?;
        let mut subject = Subject { folder, root, codebook, past: None, of_past: false };
        (0..5).try_for_each(|part| subject.write(part, 0))?;
        subject.file("README.md", "# Pages\n\nHow a page is stored.\n\n## Rings\n\nA ring holds what is sent.\n")?;
        subject.file("src/gone.py", "def obsolete_parse(header):\n    return send_0(header)\n")?;
        if is_repository {
            subject.past = Some(PastRepository::new(&subject.root)?);
        }
        Ok(subject)
    }

    /// The project as a repository of its own, which commits each state.
    pub(super) fn repository() -> Result<Subject> {
        Subject::made(true)
    }

    /// The history of such a repository: its index is of the commits.
    pub(super) fn history() -> Result<Subject> {
        Ok(Subject { of_past: true, ..Subject::made(true)? })
    }

    /// What is committed of a state.
    fn commit(&self, message: &str) -> Result<()> {
        self.past.as_ref().map_or(Ok(()), |past| past.commit(message))
    }

    /// Puts a file in place whole, so that nobody reads it between being opened and written.
    fn file(&self, path: &str, text: &str) -> Result<()> {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().context("a parent")?)?;
        let next = tempfile::NamedTempFile::new_in(&self.folder)?;
        fs::write(next.path(), text)?;
        next.persist(path)?;
        Ok(())
    }

    /// Writes a file of the project, whose content differs from version to version.
    pub(super) fn write(&self, part: usize, version: usize) -> Result<()> {
        let next = (part + 1) % 5;
        let mut text = format!(
            "//! Part {part}.\n\n/// Reads the header of version {version} and tries again, with retry, after a failure.\n\
             pub fn parse_header_{part}(input: &str) -> usize {{\n    send_{next}(input.len() + {version})\n}}\n\n\
             /// A ring of pages.\npub struct Ring{part} {{\n    pages: Vec<u8>,\n}}\n\n\
             pub fn send_{part}(count: usize) -> usize {{\n    parse_header_{next}(\"worker\") + count\n}}\n"
        );
        for i in 0..version * 3 {
            let _ = writeln!(text, "\nfn worker_{part}_{i}(ring: &Ring{part}) -> usize {{\n    send_{part}({i})\n}}");
        }
        self.file(&format!("src/part{part}/header.rs"), &text)?;
        self.commit(&format!(
            "Part {part} has version {version}\n\nWorkers send a ring; retry after a failure.\n{text}"
        ))
    }

    /// The tree's next state: files changed, new and gone.
    pub(super) fn change(&self) -> Result<()> {
        self.write(1, 1)?;
        self.write(3, 2)?;
        self.file(
            "src/new.py",
            "def send_page(ring):\n    \"\"\"Stores a page.\"\"\"\n    return parse_header_1(ring)\n",
        )?;
        if let Err(error) = fs::remove_file(self.root.join("src/gone.py"))
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(error.into());
        }
        self.commit("How a page is stored")?;
        self.past.as_ref().map_or(Ok(()), PastRepository::forget)
    }

    /// A data folder of a name of its own.
    pub(super) fn data(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The project's index in a data folder.
    pub(super) fn store(&self, data: &Path) -> Store {
        Store::new(project_folder(data, &self.root))
    }

    /// The same, changed through a disk.
    pub(super) fn store_on(&self, data: &Path, disk: Disk) -> Store {
        Store::on(project_folder(data, &self.root), disk)
    }

    /// Brings an index up to date, as `init` does (`whole`) or as a search does.
    pub(super) fn update(&self, store: &Store, whole: bool, vectors: bool) -> colgrep_index::Result<Snapshot> {
        let model = Hashed::default();
        let wish = Encoding { budget: (!whole).then_some(SEARCH_BUDGET), ..encoding(&model, &self.codebook) };
        let past = self.past.as_ref().filter(|_| self.of_past);
        let root = past.map_or(&*self.root, PastRepository::common);
        let updater = Updater::new(store, root).wait(whole).encoding(Some(&wish).filter(|_| vectors));
        let Some(past) = past else { return Ok(updater.run()?.0) };
        let history = past.history();
        Ok(updater.source(&history).run()?.0)
    }

    /// All that an index answers, as text: every stored unit, and the results of searches with their scores.
    pub(super) fn answers(&self, snapshot: &Snapshot) -> colgrep_index::Result<String> {
        caught(|| all_answers(snapshot)).flatten()
    }

    /// What is wrong with the answers of an index, opened or updated.
    pub(super) fn difference(
        &self,
        opened: colgrep_index::Result<Snapshot>,
        expected: &str,
        case: &str,
    ) -> Option<(&'static str, String)> {
        match opened.and_then(|snapshot| self.answers(&snapshot)) {
            Ok(found) if found == expected => None,
            Ok(found) => Some(("other answers", format!("{case}: {}", first_difference(expected, &found)))),
            Err(error) => Some(("stuck", format!("{case}: {error}"))),
        }
    }

    /// The answers of a newly built index of the current tree.
    pub(super) fn expected(&self, vectors: bool) -> Result<String> {
        let data = self.data("fresh");
        let snapshot = self.update(&self.store(&data), true, vectors)?;
        let answers = self.answers(&snapshot)?;
        drop(snapshot);
        fs::remove_dir_all(&data)?;
        Ok(answers)
    }
}

fn all_answers(snapshot: &Snapshot) -> colgrep_index::Result<String> {
    let mut text = String::new();
    for file in &snapshot.files.files {
        let imports = snapshot.lexical.imports(file.id)?;
        let _ = writeln!(text, "{} {:x} {} {} {imports:?}", file.path, file.hash, file.language, file.units);
        for hit in snapshot.lexical.units_of(file.id, None)? {
            let unit = snapshot.lexical.unit(hit.key)?;
            let _ = writeln!(text, "  {unit:?} called by {:?}", snapshot.callers(&unit.name, &file.language)?);
        }
    }
    let knobs = Knobs::of(Profile::Default);
    let model = Hashed::default();
    let has_vectors = snapshot.vectors.as_ref().is_some_and(|v| v.manifest().fingerprint == model.fingerprint());
    let _ = writeln!(text, "{:?}", snapshot.coverage());
    for query in QUERIES {
        for semantic in [None, Some(Semantic::new(&model)).filter(|_| has_vectors)] {
            let request = Request { units_per_file: PerFile::Units(3), semantic, ..Request::new(query, &knobs, 20) };
            let answer = match snapshot.files.keeps_texts() {
                true => recall(snapshot, None, &request, None)?.0,
                false => search_one(snapshot, None, &request, None)?,
            };
            for hit in &answer.hits {
                let units: Vec<(u32, u32)> = hit.units.iter().map(|u| (u.line, u.score.to_bits())).collect();
                let _ = writeln!(text, "{query}: {} {units:?}", answer.files[hit.file].path);
            }
        }
    }
    Ok(text)
}

/// The first line in which two answers differ.
pub(super) fn first_difference(expected: &str, found: &str) -> String {
    let differs = expected.lines().zip(found.lines()).find(|(a, b)| a != b);
    match differs {
        Some((a, b)) => format!("{b:?} in place of {a:?}"),
        None => format!("{} lines in place of {}", found.lines().count(), expected.lines().count()),
    }
}

/// Makes a link, unless there is one; nothing where the system has none.
pub(super) fn link(to: impl AsRef<Path>, path: &Path) -> Result<()> {
    #[cfg(unix)]
    if !path.is_symlink() {
        std::os::unix::fs::symlink(to, path)?;
    }
    let _ = path;
    Ok(())
}

/// Lists the files below a folder that have at least this many bytes, sorted. Lock files are empty.
pub(super) fn files_below(folder: &Path, bytes_min: u64) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path, bytes_min)?);
        } else if path.metadata()?.len() >= bytes_min {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// What is wrong with the files of an index.
pub(super) fn faults(store: &Store, case: &str) -> Vec<(&'static str, String)> {
    let checked = match check(store) {
        Ok(checked) => checked,
        Err(error) => return vec![("damage", format!("{case}: {error}"))],
    };
    let damage = checked.damage.iter().map(|error| ("damage", format!("{case}: {error}")));
    damage.chain(checked.stray.iter().map(|path| ("left over", format!("{case}: {}", path.display())))).collect()
}

/// Copies a folder with all in it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
