//! A search through the network equals the search in one process, to the bit: the ranking and the files shown.

use crate::corpus::{Corpus, NAMES, Serving, cluster, through};
use colgrep_cluster::{ClusterScope, ReplicaTimeouts};
use colgrep_engine::{Pattern, Scope, Tests};

const QUERIES: [&str; 21] = [
    "parse request",
    "retry the socket when the session is closed",
    "parse_request",
    "cacheOfToken",
    "where is the header merged",
    "how do worker and buffer share a vector",
    "shard",
    "no parse of cache 17",
    "\"the cache is\"",
    "who calls merge",
    "fn score_commit",
    "zeta/src/core/parse0.py:3",
    "header in request1.rs",
    "help with the index of vectors please",
    "tests for the session",
    "nosuchword parse",
    "the and of",
    "E0502",
    "retyr the sokcet of a nosuchword",
    "buffre",
    "The session is closed when a request is retried\n\nWe retry the socket, and the cache of the header is merged into the \
     index of another worker. It should be kept in its buffer.\n\nSteps: parse a request in src/core/parse0.py, wait until \
     the token is gone, commit the vector, look at the score of the shard. It happens every time.\n\nTraceback:\n  File \
     \"zeta/src/core/parse0.py\", line 3, in parse_request\n    return cache(x, 17)\n",
];

fn scopes() -> Vec<Scope> {
    let mut tests = Scope::default();
    tests.tests = Some(Tests::Exclude);
    let mut rust = Scope::default();
    rust.include = vec!["*.rs".into(), "*.py".into()];
    let mut pattern = Scope::default();
    pattern.pattern = Some(Pattern::new("return|throw"));
    vec![Scope::default(), tests, rust, pattern]
}

#[test]
fn answers_through_the_wire_are_those_of_one_process() {
    let corpus = Corpus::new(&NAMES);
    let mut found = 0;
    for count in [1, 3] {
        let servers: Vec<Serving> = (0..count).map(|at| Serving::new(corpus.part(at, count), None)).collect();
        let shards: Vec<Vec<String>> = servers.iter().map(|server| vec![server.name()]).collect();
        let cluster = cluster(corpus.folder.path(), &shards, None, ReplicaTimeouts::default());
        for (at, query) in QUERIES.iter().enumerate() {
            let scopes = scopes();
            for case in [at, at + 1].into_iter().take(count) {
                let (scope, hybrid) = (&scopes[case % scopes.len()], (case + at / 4) % 2 == 0);
                let expected = corpus.here(None, scope, query, hybrid);
                let wanted = ClusterScope { allowed: None, scope };
                let (got, coverage) = through(&cluster, &corpus, &wanted, query, hybrid);
                assert_eq!(got, expected, "{query:?} over {count} shards, hybrid {hybrid}, {scope:?}");
                assert_eq!((coverage.asked, coverage.answered), (count, count));
                found += usize::from(got.lines().count() > 2);
            }
        }
    }
    assert!(found > 36, "{found} answers hold something");
}
