//! A project with an index in its own folder, and questions for it.

use std::fs;
use std::path::PathBuf;

use colgrep_core::collapse::PerFile;
use colgrep_core::knob::{Knobs, Profile};
use colgrep_index::Result;
use colgrep_index::lexical::UnitFilter;
use colgrep_index::store::{Snapshot, Store, project_folder};
use colgrep_index::update::{Encoding, UpdateReport, Updater};
use colgrep_search::{Mode, Request, Semantic, search_one};

use crate::toy::Toy;

/// A project's folder and a data folder.
pub struct Project {
    pub _folder: tempfile::TempDir,
    pub root: PathBuf,
    pub data: PathBuf,
}

impl Project {
    pub fn new() -> Project {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path().canonicalize().expect("its path");
        let (root, data) = (base.join("project"), base.join("data"));
        fs::create_dir_all(&root).expect("a folder");
        Project { _folder: folder, root, data }
    }

    pub fn with(files: &[(&str, &str)]) -> Project {
        let project = Project::new();
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub fn store(&self) -> Store {
        Store::new(project_folder(&self.data, &self.root))
    }

    pub fn try_update(&self, encoding: Option<&Encoding<'_>>) -> Result<(Snapshot, UpdateReport)> {
        Updater::new(&self.store(), &self.root).encoding(encoding).run()
    }

    pub fn update(&self, encoding: Option<&Encoding<'_>>) -> (Snapshot, UpdateReport) {
        self.try_update(encoding).expect("an index")
    }
}

pub const FILES: [(&str, &str); 4] = [
    ("src/net.py", "def download_page(url):\n    return get(url)\n\ndef delete_page(url):\n    return drop(url)\n"),
    (
        "src/math.py",
        "def add_numbers(a, b):\n    return a + b\n\nclass Matrix:\n    def transpose(self):\n        return self\n",
    ),
    ("README.md", "# Pages\n\nHow a page is stored.\n\n## Numbers\n\nHow numbers are added.\n"),
    ("tests/net_test.py", "def test_download_page():\n    assert download_page('x')\n"),
];

pub fn semantic(toy: &Toy, mode: Mode) -> Semantic<'_> {
    Semantic { mode, ..Semantic::new(toy) }
}

pub type Shown = (String, u32, f32);

pub fn request<'a>(query: &'a str, knobs: &'a Knobs) -> Request<'a> {
    Request { units_per_file: PerFile::Units(3), ..Request::new(query, knobs, 20) }
}

pub fn ask(
    snapshot: &Snapshot,
    query: &str,
    semantic: Option<Semantic<'_>>,
    filter: Option<&dyn UnitFilter>,
) -> Result<Vec<Shown>> {
    let knobs = Knobs::of(Profile::Default);
    let request = Request { semantic, ..request(query, &knobs) };
    let answer = search_one(snapshot, filter, &request, None)?;
    let shown = answer.hits.iter().flat_map(|hit| {
        let path = &answer.files[hit.file].path;
        hit.units.iter().map(|u| (path.clone(), u.line, u.score)).collect::<Vec<_>>()
    });
    Ok(shown.collect())
}

pub const QUERIES: [&str; 5] = ["fetch page", "remove a page", "numbers added", "Matrix", "test download"];

pub fn answers(snapshot: &Snapshot, toy: &Toy) -> Vec<Shown> {
    let modes = [Mode::Hybrid, Mode::SemanticOnly].map(|mode| semantic(toy, mode));
    let all = modes.into_iter().flat_map(|s| QUERIES.map(|q| ask(snapshot, q, Some(s), None).expect("an answer")));
    all.flatten().collect()
}

pub fn same(a: &[Shown], b: &[Shown]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.0 == y.0 && x.1 == y.1 && (x.2 - y.2).abs() < 1e-4)
}

pub fn many(count: usize) -> Project {
    let project = Project::new();
    for i in 0..count {
        let (a, b) = (i % 7, i % 11);
        project.write(
            &format!("src/part{a}/file{i}.py"),
            &format!("def handle_{i}(x{b}):\n    return word{a} + word{b}\n"),
        );
    }
    project
}
