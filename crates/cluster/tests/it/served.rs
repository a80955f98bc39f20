//! Repositories that a shard can't serve, and replicas that serve different ones: what is left out is reported.

use std::sync::Arc;

use crate::corpus::{Corpus, NAMES, Serving, asked, cluster, hurried, told};
use colgrep_cluster::{Cluster, ClusterScope, FileProgress, Generation, ReplicaTimeouts, ShardCoverage};
use colgrep_engine::answer::{FileAnswer, UnitAnswer};
use colgrep_engine::{Detail, Scope};

const QUERY: &str = "retry the socket when the session is closed";

/// What a search answers, and what it says of the shards.
fn ask(cluster: &Cluster, corpus: &Corpus, allowed: Option<&[String]>, below: &str) -> (String, ShardCoverage) {
    let mut scope = Scope::default();
    scope.paths = (!below.is_empty()).then(|| below.into()).into_iter().collect();
    asked(corpus, QUERY, false, |asked| {
        let (ranked, gathered) = cluster.rank(&ClusterScope { allowed, scope: &scope }, asked, &()).expect("an answer");
        (told(&ranked, &gathered), gathered.coverage().clone())
    })
}

fn unserved(coverage: &ShardCoverage) -> Vec<&str> {
    coverage.unserved.iter().map(|one| one.repository.as_str()).collect()
}

#[test]
fn a_repository_that_a_shard_cannot_serve_is_told_in_every_answer() {
    let corpus = Corpus::new(&NAMES[..3]);
    let [one, two] = [0, 1].map(|at| Serving::new(vec![corpus.repositories[at].clone()], None));
    let lost = ["zeta", "docs"].map(|name| (name.to_string(), "its folder is gone".to_string()));
    *two.shelf.missing.lock().expect("unbroken") = lost.to_vec();
    let shards = [vec![one.name()], vec![two.name()]];
    let cluster = cluster(corpus.folder.path(), &shards, None, ReplicaTimeouts::default());
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let rest = corpus.here(Some(&names(&["acme", "acme-web"])), &Scope::default(), QUERY, false);
    for _ in 0..2 {
        let (got, coverage) = ask(&cluster, &corpus, None, "");
        assert_eq!((got.as_str(), coverage.answered), (rest.as_str(), 2));
        assert_eq!(unserved(&coverage), ["zeta", "docs"]);
        let told = coverage.told().expect("it is told");
        assert!(told.contains("zeta (shard 2): its folder is gone"), "{told}");
    }
    // Who may not see it does not hear of it, and who looks elsewhere is not concerned.
    assert_eq!(unserved(&ask(&cluster, &corpus, Some(&names(&["acme", "docs"])), "").1), ["docs"]);
    assert_eq!(ask(&cluster, &corpus, Some(&names(&["acme", "acme-web"])), "").1.told(), None);
    assert_eq!(ask(&cluster, &corpus, None, "acme").1.told(), None);
    assert_eq!(unserved(&ask(&cluster, &corpus, None, "zeta/src").1), ["zeta"]);
    let seen = cluster.health(None).expect("a look");
    assert_eq!((unserved(&seen.coverage), seen.names()), (vec!["zeta", "docs"], vec!["acme", "acme-web"]));
    assert_eq!(unserved(&cluster.health(Some(&names(&["docs"]))).expect("a look").coverage), ["docs"]);
}

#[test]
fn of_replicas_the_fullest_answers_and_what_it_lacks_is_told() {
    let corpus = Corpus::new(&NAMES[..3]);
    let of = |at: &[usize]| Serving::new(at.iter().map(|at| corpus.repositories[*at].clone()).collect(), None);
    let (part, full) = (of(&[0]), of(&[0, 1, 2]));
    let shards = [vec![part.name(), full.name()]];
    let whole = corpus.here(None, &Scope::default(), QUERY, false);
    let over = cluster(corpus.folder.path(), &shards, None, hurried());
    for _ in 0..4 {
        let (got, coverage) = ask(&over, &corpus, None, "");
        assert_eq!((got.as_str(), coverage.told()), (whole.as_str(), None));
    }
    assert_eq!(over.health(None).expect("a look").names(), ["acme", "acme-web", "zeta"]);
    drop(full);
    // The other one answers for both; what it lacks is known from before, also by who looks there alone.
    for (below, expected) in [("", &["acme-web", "zeta"][..]), ("zeta", &["zeta"]), ("acme", &[])] {
        let (_, coverage) = ask(&over, &corpus, None, below);
        assert_eq!((unserved(&coverage), coverage.answered), (expected.to_vec(), 1), "{below}");
    }
    let names = ["acme".to_string(), "zeta".to_string()];
    assert_eq!(unserved(&over.health(None).expect("a look").coverage), ["acme-web", "zeta"]);
    assert_eq!(unserved(&over.health(Some(&names)).expect("a look").coverage), ["zeta"]);
    over.greet().expect("a look");
    assert_eq!(unserved(&over.last_health().expect("a look").coverage), ["acme-web", "zeta"]);
    // Who never heard of it can't know, and says whom it could not ask.
    let fresh = cluster(corpus.folder.path(), &shards, None, hurried());
    let mut scope = Scope::default();
    scope.paths = vec!["zeta".into()];
    let refused =
        asked(&corpus, QUERY, false, |asked| fresh.rank(&ClusterScope { allowed: None, scope: &scope }, asked, &()));
    let said = refused.expect_err("nobody knows it").to_string();
    assert!(said.contains("there is no repository \"zeta\"") && said.contains(&shards[0][1]), "{said}");
    // One serves what the fullest does not.
    let other = of(&[1, 2]);
    let over = cluster(corpus.folder.path(), &[vec![part.name(), other.name()]], None, ReplicaTimeouts::default());
    let (_, coverage) = ask(&over, &corpus, None, "");
    assert_eq!(unserved(&coverage), ["acme"]);
    assert_eq!(unserved(&over.health(None).expect("a look").coverage), ["acme"]);
}

#[test]
fn a_shard_is_told_its_own_of_what_a_caller_may_see_and_what_is_new_is_found_at_once() {
    let corpus = Corpus::new(&NAMES[..3]);
    let [one, two] = [0, 1].map(|at| Serving::new(vec![corpus.repositories[at].clone()], None));
    let over = cluster(corpus.folder.path(), &[vec![one.name()], vec![two.name()]], None, ReplicaTimeouts::default());
    let mut allowed: Vec<String> = (0..500).map(|at| format!("of another shard {at}")).collect();
    allowed.extend(NAMES[..3].iter().map(ToString::to_string));
    let here = |count: usize| {
        let names: Vec<String> = NAMES[..count].iter().map(ToString::to_string).collect();
        corpus.here(Some(&names), &Scope::default(), QUERY, false)
    };
    let sent = || over.traffic_by_kind()["begin"].sent;
    // Before the first answer it is not known what a shard has.
    let mut told = 0;
    for most in [30_000, 1_000, 1_000] {
        let (got, coverage) = ask(&over, &corpus, Some(&allowed), "");
        assert_eq!((got, coverage.told()), (here(2), None));
        assert!(sent() - told < most, "{} bytes", sent() - told);
        told = sent();
    }
    let more = Generation::new(corpus.repositories[1..].to_vec());
    *two.shelf.now.lock().expect("unbroken") = Some(Arc::new(more));
    let (got, coverage) = ask(&over, &corpus, Some(&allowed), "");
    assert_eq!((got, coverage.told()), (here(3), None));
}

#[test]
fn a_repository_that_moves_to_another_shard_is_found_at_once() {
    let corpus = Corpus::new(&NAMES[..3]);
    let of = |at: &[usize]| at.iter().map(|at| corpus.repositories[*at].clone()).collect::<Vec<_>>();
    let (one, two) = (Serving::new(of(&[0, 1]), None), Serving::new(of(&[2]), None));
    let over = cluster(corpus.folder.path(), &[vec![one.name()], vec![two.name()]], None, ReplicaTimeouts::default());
    let allowed = ["acme".to_string(), "acme-web".to_string()];
    let expected = corpus.here(Some(&allowed), &Scope::default(), QUERY, false);
    // A caller with rights learns of no shard but his own.
    let (got, coverage) = ask(&over, &corpus, Some(&allowed), "");
    assert_eq!((got, coverage.asked), (expected.clone(), 1));
    let (alone, _) = ask(&over, &corpus, None, "acme-web");
    let serve = |at: &Serving, all: &[usize]| {
        *at.shelf.now.lock().expect("unbroken") = Some(Arc::new(Generation::new(of(all))));
    };
    serve(&two, &[1, 2]);
    serve(&one, &[0]);
    let (got, coverage) = ask(&over, &corpus, Some(&allowed), "");
    assert_eq!((got, coverage.told()), (expected.clone(), None));
    serve(&one, &[0, 1]);
    serve(&two, &[2]);
    assert_eq!(ask(&over, &corpus, None, "acme-web").0, alone, "a path finds it as well");
    // The shard that has it no more names it as one that it can't serve.
    *one.shelf.missing.lock().expect("unbroken") = vec![("acme-web".into(), "its folder is gone".into())];
    serve(&one, &[0]);
    serve(&two, &[1, 2]);
    let (got, coverage) = ask(&over, &corpus, Some(&allowed), "");
    assert_eq!((got, coverage.told()), (expected, None));
    assert_eq!(over.health(None).expect("a look").coverage.told(), None);
}

#[test]
fn an_index_that_is_being_brought_up_to_date_is_told_as_long_as_it_is() {
    let corpus = Corpus::new(&NAMES[..3]);
    let mut repositories = corpus.repositories.clone();
    repositories[1].known_files = Some(FileProgress { known: 3, in_tree: Some(8) });
    let one = Serving::new(repositories, None);
    let cluster = cluster(corpus.folder.path(), &[vec![one.name()]], None, ReplicaTimeouts::default());
    let (got, coverage) = ask(&cluster, &corpus, None, "");
    assert_eq!((got, coverage.is_whole()), (corpus.here(None, &Scope::default(), QUERY, false), true));
    let lead = "indexes are being brought up to date, and this answer knows a part";
    let told = format!("{lead}: acme-web (shard 1): 3 of 8 files as they are now");
    assert_eq!((coverage.unfinished(), coverage.told()), (Some(told.clone()), None));
    assert_eq!(cluster.health(None).expect("a look").coverage.unfinished(), Some(told));
    // Who looks elsewhere is not concerned, nor who may not see it.
    assert_eq!(ask(&cluster, &corpus, None, "acme").1.unfinished(), None);
    assert_eq!(ask(&cluster, &corpus, Some(&["zeta".to_string()]), "").1.unfinished(), None);
    *one.shelf.now.lock().expect("unbroken") =
        Some(std::sync::Arc::new(colgrep_cluster::Generation::new(corpus.repositories.clone())));
    assert_eq!(ask(&cluster, &corpus, None, "").1.unfinished(), None);
}

#[test]
fn lines_of_a_file_that_changed_since_are_shown_where_they_stand_now() {
    let corpus = Corpus::new(&NAMES[..1]);
    let one = Serving::new(corpus.repositories.clone(), None);
    let cluster = cluster(corpus.folder.path(), &[vec![one.name()]], None, ReplicaTimeouts::default());
    let scope = Scope::default();
    let files = || -> Vec<FileAnswer> {
        asked(&corpus, QUERY, false, |asked| {
            let (ranked, gathered) =
                cluster.rank(&ClusterScope { allowed: None, scope: &scope }, asked, &()).expect("an answer");
            ranked.files(&gathered, 0..ranked.len(), Detail::Lines).expect("files")
        })
    };
    let before = files();
    let root = &corpus.repositories[0].project.root;
    for file in &before {
        let text = std::fs::read_to_string(root.join(&file.path)).expect("a text");
        std::fs::write(root.join(&file.path), ["\n".repeat(40), text].concat()).expect("a file");
    }
    let (mut shown, lines) =
        (0, |file: &FileAnswer, number: usize| file.text.lines().nth(number - 1).map(str::to_string));
    for (old, new) in before.iter().zip(files()) {
        for (old, unit) in old.units.iter().zip(&new.units) {
            let line = &unit.line;
            assert_eq!(
                (&line.text, line.number, line.is_in_file),
                (&old.line.text, old.line.number + 40, true),
                "{}",
                new.path
            );
            assert_eq!(lines(&new, line.number).as_ref(), Some(&line.text));
            shown += 1;
        }
    }
    assert!(shown > 2, "{shown} lines");
    // What is gone is not shown.
    for file in &before {
        std::fs::write(root.join(&file.path), "x = 1\n").expect("a file");
    }
    let units: Vec<UnitAnswer> = files().into_iter().flat_map(|file| file.units).collect();
    assert!(units.iter().all(|unit| unit.line.text == "x = 1"), "{units:?}");
}
