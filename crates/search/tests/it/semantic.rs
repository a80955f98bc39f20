//! The semantic half of a search over an index, with a toy model.

use std::collections::BTreeSet;
use std::path::Path;

use crate::project::{FILES, Project, QUERIES, Shown, answers, ask, many, request, same, semantic};
use crate::toy::{Toy, codebook, encoding};
use colgrep_core::UnitId;
use colgrep_core::knob::{Knobs, Profile};
use colgrep_core::rank::Ranked;
use colgrep_index::ids::{FileId, TextHash};
use colgrep_index::lexical::{UnitFilter, UnitPlace};
use colgrep_index::units::{text_hash, unit_text};
use colgrep_index::vector::Effort;
use colgrep_search::{Mode, Request, Semantic, Watch, search_one};

#[test]
fn the_semantic_side_finds_what_words_do_not() {
    let (project, toy, book) = (Project::with(&FILES), Toy::new(), codebook());
    let (snapshot, report) = project.update(Some(&encoding(&toy, &book)));
    assert!(report.encoded > 5 && report.encoded == toy.count() && report.without_vectors == 0, "{report:?}");
    let first = |s| ask(&snapshot, "fetch", s, None).expect("an answer").first().map(|h| (h.0.clone(), h.1));
    assert_eq!(first(None), None);
    for mode in [Mode::Hybrid, Mode::SemanticOnly] {
        assert_eq!(first(Some(semantic(&toy, mode))), Some(("src/net.py".into(), 1)), "{mode:?}");
    }
    let (again, report) = project.update(Some(&encoding(&toy, &book)));
    assert!(!report.wrote && toy.count() == 0);
    assert!(same(&answers(&again, &toy), &answers(&snapshot, &toy)));
}

#[test]
fn without_vectors_or_without_a_model_all_is_as_it_was() {
    let (project, plain, toy, book) = (Project::with(&FILES), Project::with(&FILES), Toy::new(), codebook());
    let (with, _) = project.update(Some(&encoding(&toy, &book)));
    let (without, _) = plain.update(None);
    for query in QUERIES {
        let expected = ask(&without, query, None, None).expect("an answer");
        assert_eq!(ask(&with, query, None, None).expect("an answer"), expected, "{query}");
        let hybrid = Some(semantic(&toy, Mode::Hybrid));
        assert_eq!(ask(&without, query, hybrid, None).expect("an answer"), expected, "{query}");
        let other = Toy { fingerprint: 2, ..Toy::new() };
        let hybrid = Some(semantic(&other, Mode::Hybrid));
        assert_eq!(ask(&with, query, hybrid, None).expect("an answer"), expected, "{query}");
    }
}

#[test]
fn units_that_share_a_text_are_all_found() {
    let text = "def download_page(url):\n    return get(url)\n";
    let copies =
        [("one/a/b/net.py", text), ("two/a/b/net.py", text), ("three/a/b/net.py", text), ("x.py", "def y(): pass\n")];
    let (project, toy, book) = (Project::with(&copies), Toy::new(), codebook());
    let (snapshot, report) = project.update(Some(&encoding(&toy, &book)));
    assert_eq!((report.encoded, report.reused), (2, 2));
    let found = ask(&snapshot, "fetch", Some(semantic(&toy, Mode::SemanticOnly)), None).expect("an answer");
    let first = |found: &[Shown]| found.iter().take(3).map(|f| f.0.clone()).collect::<BTreeSet<_>>();
    assert_eq!(first(&found).into_iter().collect::<Vec<_>>(), ["one/a/b/net.py", "three/a/b/net.py", "two/a/b/net.py"]);
    let later = Semantic { effort: Effort { joined: 0, ..Effort::default() }, ..semantic(&toy, Mode::SemanticOnly) };
    assert_eq!(first(&ask(&snapshot, "fetch", Some(later), None).expect("an answer")), first(&found));
}

struct Files(BTreeSet<FileId>);

impl UnitFilter for Files {
    fn allows_file(&self, file: FileId) -> bool {
        self.0.contains(&file)
    }

    fn allows_unit(&self, unit: &UnitPlace) -> bool {
        unit.first < 100
    }
}

#[test]
fn filters_act_before_the_cut() {
    let (project, toy, book) = (many(200), Toy::new(), codebook());
    let (snapshot, _) = project.update(Some(&encoding(&toy, &book)));
    let wanted = ["src/part3/file3.py", "src/part0/file35.py"];
    let files = snapshot.files.files.iter().filter(|f| wanted.contains(&f.path.as_str())).map(|f| f.id);
    let filter = Files(files.collect());
    // Units that are looked up before the search, and after it.
    let efforts = [Effort::default(), Effort { joined: 0, ..Effort::default() }];
    for (query, effort) in [("handle 4 word1", efforts[0]), ("fetch", efforts[0]), ("handle 4 word1", efforts[1])] {
        let semantic = Semantic { effort, ..semantic(&toy, Mode::SemanticOnly) };
        let found = ask(&snapshot, query, Some(semantic), Some(&filter)).expect("an answer");
        let paths: BTreeSet<&str> = found.iter().map(|f| f.0.as_str()).collect();
        assert_eq!(paths, wanted.into_iter().collect());
    }
    // For many files, the semantic side goes deeper than its share of the pool.
    let knobs = Knobs::of(Profile::Classic);
    let semantic = Some(semantic(&toy, Mode::SemanticOnly));
    let request = Request { files: 150, semantic, ..request("word3", &knobs) };
    assert_eq!(search_one(&snapshot, None, &request, None).expect("an answer").hits.len(), 150);
}

#[derive(Default)]
struct Steps(Vec<(&'static str, Vec<(UnitId, f32)>)>);

impl Watch for Steps {
    fn ranking(&mut self, step: &'static str, hits: &[(UnitId, f32)]) {
        self.0.push((step, hits.to_vec()));
    }

    fn stage(&mut self, _: &'static str, _: &Ranked<'_>) {}
}

#[test]
fn without_stored_vectors_candidates_are_encoded_for_the_search() {
    let (project, toy) = (Project::with(&FILES), Toy::new());
    let (snapshot, _) = project.update(None);
    let knobs = Knobs::of(Profile::Default);
    let semantic = Some(Semantic { encode_max: 4, ..semantic(&toy, Mode::Hybrid) });
    let request = Request { semantic, ..request("numbers page", &knobs) };
    let mut steps = Steps::default();
    search_one(&snapshot, None, &request, Some(&mut steps)).expect("an answer");
    let step = |name| &steps.0.iter().find(|s| s.0 == name).expect("a step").1;
    let (lexical, near) = (step("bm25"), step("semantic"));
    assert!(lexical.len() > 4 && near.len() == 4 && toy.count() == 4);
    let texts: Vec<(TextHash, f32)> = FILES
        .iter()
        .flat_map(|(path, text)| {
            let language = colgrep_syntax::language::detect(Path::new(path), text.as_bytes());
            colgrep_syntax::parse::parse(text, language)
                .units
                .into_iter()
                .map(|u| unit_text(path, &u))
                .collect::<Vec<_>>()
        })
        .map(|t| (text_hash(&t), crate::toy::vectors("numbers page").maxsim(&crate::toy::vectors(&t))))
        .collect();
    for (key, score) in near {
        assert!(lexical.iter().take(4).any(|l| l.0 == *key));
        let hash = snapshot.lexical.text_of(*key);
        let expected = texts.iter().find(|t| Some(t.0) == hash).expect("its text").1;
        assert!((score - expected).abs() < 1e-4);
    }
}
