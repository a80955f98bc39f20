//! Searches whose index lacks files: what they read first, and what they wait for.

use std::sync::Mutex;
use std::time::Duration;

use colgrep_core::UnitKind;
use colgrep_index::update::UpdateBudget;

use super::*;
use crate::request::{Changes, Scope};

/// Files of a made project, of 10 kB each: an update without time reads 128 kB.
const FILES: usize = 60;

#[derive(Default)]
struct PartialNotices {
    partial: Mutex<Vec<String>>,
}

impl Listener for PartialNotices {
    fn hears(&self) -> bool {
        true
    }

    fn notice(&self, notice: &Notice) {
        if matches!(notice, Notice::Unfinished { .. } | Notice::AsItIs { .. }) {
            self.partial.lock().unwrap().push(format!("{notice:?}"));
        }
    }
}

struct Scene {
    folder: tempfile::TempDir,
    heard: Arc<PartialNotices>,
}

impl Scene {
    fn new() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let scene = Scene { folder, heard: Arc::default() };
        std::fs::create_dir_all(scene.root().join(".git")).unwrap();
        std::fs::write(scene.root().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        (0..FILES).for_each(|file| scene.write(file, ""));
        scene
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn write(&self, file: usize, text: &str) {
        let filling = "    a_line_of_code_that_fills_the_file()\n".repeat(250);
        let text = format!("def handler_{file}():\n{filling}{text}\n");
        std::fs::write(self.root().join(format!("f{file:02}.py")), text).unwrap();
    }

    /// A session whose updates have no time: each reads one round of files.
    fn session(&self) -> Session {
        let hurried = Some(UpdateBudget { first: Duration::ZERO, later: Duration::ZERO });
        let options = OpenOptions { hurried, ..OpenOptions::default() };
        let env = Env::default().data_in(self.folder.path().join("data"));
        let listener: Arc<dyn Listener> = self.heard.clone();
        Session::new(env, &self.root(), &options, listener).unwrap()
    }

    fn paths(&self, request: SearchRequest) -> Vec<String> {
        let mut request = request.by(RankBy::Words);
        if request.scope.paths.is_empty() {
            request = request.within(self.root());
        }
        let answer = self.session().search(&request).unwrap();
        answer.files.into_iter().map(|file| file.path).collect()
    }

    /// Indexes every file.
    fn whole(&self) {
        let env = Env::default().data_in(self.folder.path().join("data"));
        let mut session = Session::new(env, &self.root(), &OpenOptions::default(), Arc::new(())).unwrap();
        session.search(&SearchRequest::new("handler_3").within(self.root()).by(RankBy::Words)).unwrap();
    }

    /// What was reported as partial since the last call.
    fn partial(&self) -> usize {
        std::mem::take(&mut *self.heard.partial.lock().unwrap()).len()
    }
}

#[test]
fn a_first_search_reads_the_files_with_its_words_first() {
    let scene = Scene::new();
    scene.write(57, "def zebra_stripes():\n    pass\n");
    assert_eq!(scene.paths(SearchRequest::new("zebra stripes")), ["f57.py"]);
    assert_eq!(scene.partial(), 1, "the rest is unread, and that is reported");
    // After a change of many files too, by any spelling of the word.
    scene.write(58, "zebraCounter = 1\n");
    (0..50).for_each(|file| scene.write(file, "changed = 1\n"));
    assert_eq!(scene.paths(SearchRequest::new("zebra_counter"))[0], "f58.py");
}

#[test]
fn named_files_are_read_first() {
    let scene = Scene::new();
    let named = scene.root().join("f59.py");
    assert_eq!(scene.paths(SearchRequest::new("line of code").within(&named)), ["f59.py"]);
    assert_eq!(scene.partial(), 1);
}

#[test]
fn nothing_is_said_only_of_what_was_read() {
    let scene = Scene::new();
    // Nothing has the word: every file was read before that is said.
    assert!(scene.paths(SearchRequest::new("giraffe")).is_empty());
    assert_eq!(scene.partial(), 0);
    let mut session = scene.session();
    let request = SearchRequest::new("giraffe_neck handler_3").within(scene.root()).by(RankBy::Words);
    assert_eq!(session.rank(&request).unwrap().end().unwrap().unknown, ["giraffe_neck"]);

    // With unread files, a word that no read file has is not denied.
    let scene = Scene::new();
    let mut session = scene.session();
    let request = SearchRequest::new("giraffe_neck handler_3").within(scene.root()).by(RankBy::Words);
    let results = session.rank(&request).unwrap();
    assert!(!results.is_empty() && results.end().unwrap().unknown.is_empty());
}

#[test]
fn lists_and_counts_wait_for_every_file() {
    let every = || {
        let mut request = SearchRequest { question: Question::Every, ..SearchRequest::default() };
        request.scope.facts.kinds = vec![UnitKind::Function];
        request
    };
    let count = || {
        let mut request = SearchRequest::new("line of code").files(1_000);
        request.shape.every_match = true;
        request
    };
    for request in [every(), count()] {
        let scene = Scene::new();
        assert_eq!(scene.paths(request).len(), FILES);
        assert_eq!(scene.partial(), 0);
    }
    let scene = Scene::new();
    let request = SearchRequest::new("zebra").within(scene.root());
    assert_eq!(scene.session().files_without(&request).unwrap().len(), FILES);
    // A session that answered from a part opens the index again.
    let scene = Scene::new();
    let mut session = scene.session();
    session.search(&SearchRequest::new("handler_3").within(scene.root())).unwrap();
    assert_eq!(session.search(&every().within(scene.root())).unwrap().files.len(), FILES);
}

#[test]
fn an_index_that_is_searched_as_it_is_stays_partial() {
    let scene = Scene::new();
    scene.paths(SearchRequest::new("handler_3"));
    let options = OpenOptions { update: false, ..OpenOptions::default() };
    let env = Env::default().data_in(scene.folder.path().join("data"));
    let mut session = Session::new(env, &scene.root(), &options, Arc::new(())).unwrap();
    let answer = session.search(&SearchRequest::new("giraffe").within(scene.root()).by(RankBy::Words)).unwrap();
    assert!(answer.files.is_empty() && session.may_lack(), "what was not read may have it");
}

/// Runs git in the scene's project.
fn git(scene: &Scene, args: &[&str]) {
    let fixed = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
    let ran = std::process::Command::new("git").args(fixed).args(args).current_dir(scene.root()).output().unwrap();
    assert!(ran.status.success(), "{args:?}: {ran:?}");
}

#[test]
fn what_a_branch_brings_is_never_denied() {
    let word = "zebra_counter";
    let definition = format!("def {word}(stripes):\n    return stripes\n");
    // Each begins on a branch whose index is whole, and ends on one where one file has the word.
    type Change = fn(&Scene, &str);
    let changes: [(&str, Change); 4] = [
        ("every file differs", |scene, text| {
            (0..FILES).for_each(|file| scene.write(file, if file == 58 { text } else { "changed = 1\n" }));
        }),
        ("a new file among many", |scene, text| {
            (0..40).for_each(|file| scene.write(file, "changed = 1\n"));
            (FILES..FILES + 20).for_each(|file| scene.write(file, if file == 70 { text } else { "" }));
        }),
        ("files were renamed", |scene, text| {
            (0..FILES).for_each(|file| {
                std::fs::remove_file(scene.root().join(format!("f{file:02}.py"))).unwrap();
                scene.write(file + 100, if file == 30 { text } else { "" });
            });
        }),
        ("the word moved to another file", |scene, text| {
            (0..FILES).for_each(|file| scene.write(file, if file == 2 { text } else { "other = 2\n" }));
        }),
    ];
    let within = |request: SearchRequest, change: fn(&mut Scope)| {
        let mut request = request;
        change(&mut request.scope);
        request
    };
    let questions = [
        SearchRequest::new(word),
        SearchRequest::new("zebraCounter"),
        SearchRequest::new("where is the zebra counter"),
        within(SearchRequest::new(word), |scope| scope.include = vec!["*.py".into()]),
        within(SearchRequest::new(word), |scope| scope.facts.kinds = vec![UnitKind::Function]),
        within(SearchRequest::new(word), |scope| scope.changes = Some(Changes::Since("main".into()))),
    ];
    for (name, change) in changes {
        for question in &questions {
            let scene = Scene::new();
            std::fs::remove_dir_all(scene.root().join(".git")).unwrap();
            git(&scene, &["init", "-q"]);
            git(&scene, &["add", "."]);
            git(&scene, &["commit", "-q", "-m", "Begin"]);
            // The other branch has the word in a file that this one lacks it in.
            git(&scene, &["checkout", "-q", "-b", "side"]);
            change(&scene, &definition);
            git(&scene, &["add", "-A"]);
            git(&scene, &["commit", "-q", "-m", "Count zebras"]);
            git(&scene, &["checkout", "-q", "main"]);
            scene.whole();
            git(&scene, &["checkout", "-q", "side"]);
            let found = scene.paths(question.clone());
            let holds = |path: &String| std::fs::read_to_string(scene.root().join(path)).unwrap().contains(word);
            assert!(found.first().is_some_and(holds), "{name}: {question:?} found {found:?}");
        }
    }
}
