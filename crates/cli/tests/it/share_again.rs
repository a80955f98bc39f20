//! Repeated pushes and pulls: nothing is sent or fetched twice.

use std::process::Stdio;

use crate::common::Ran;
use crate::common::shared::{clone_of, commit, done, manifests, place, repository};

#[test]
fn who_pulled_an_index_pushes_nothing_new() {
    let ours = repository();
    let (remote, url) = place(&ours);
    done(&ours, &["push", &url]);
    let before = manifests(&remote);
    for clone in [clone_of(&ours), clone_of(&ours)] {
        done(&clone, &["pull", &url]);
        let pushed = done(&clone, &["push", &url]);
        assert!(pushed.err.contains("this very index") && pushed.err.contains("nothing was sent"), "{}", pushed.err);
    }
    assert_eq!(manifests(&remote), before);
    // A clone with other content sends it.
    let theirs = clone_of(&ours);
    done(&theirs, &["pull", &url]);
    theirs.write("src/later.rs", "pub fn later() {}\n");
    commit(&theirs, "Later");
    let pushed = done(&theirs, &["push", &url]);
    assert!(pushed.err.contains(" sent (") && manifests(&remote).len() > before.len(), "{}", pushed.err);
}

#[test]
fn of_pulls_at_once_in_one_clone_one_fetches() {
    let ours = repository();
    let (_, url) = place(&ours);
    done(&ours, &["push", &url]);
    let theirs = clone_of(&ours);
    let start = |_| theirs.command(&["pull", &url]).stderr(Stdio::piped()).spawn().expect("a process");
    let pulls: Vec<_> = (0..4).map(start).collect();
    let ran: Vec<Ran> =
        pulls.into_iter().map(|pull| Ran::of(pull.wait_with_output().expect("an end"), &theirs.root())).collect();
    assert!(ran.iter().all(|ran| ran.status == 0), "{ran:?}");
    let count = |said: &str| ran.iter().filter(|ran| ran.err.contains(said)).count();
    assert_eq!((count(" fetched"), count("is here already")), (1, 3), "{ran:?}");
}
