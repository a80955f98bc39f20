//! Replicas of a shard: those that took one index answer the same, and losing a replica costs no answer, whatever the
//! others serve.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::process::until;
use crate::common::serve::Server;
use crate::common::shard::{Shard, name};
use crate::common::shared::{clone_of, commit, done, manifest, place, repository, write_manifest};
use crate::common::{Sandbox, git};
use serde_json::{Value, json};

/// Serves one repository, under one name wherever it lies.
fn serving(sandbox: &Sandbox) -> Shard {
    let root = format!("relay={}", sandbox.root().display());
    Shard::of(&mut sandbox.command(&["serve", "--shard", "--listen", "127.0.0.1:0", &root]))
}

/// Proxies a replica: lets this many answers through, then closes all connections.
fn cut_behind(answers: usize, replica: &Shard) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let (address, left) = (listener.local_addr().expect("an address"), Arc::new(AtomicUsize::new(answers)));
    let target = replica.address.clone();
    std::thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let (Ok(far), left) = (TcpStream::connect(&target), Arc::clone(&left)) else { continue };
            let (mut from_near, mut to_far) = (near.try_clone().expect("a clone"), far.try_clone().expect("a clone"));
            std::thread::spawn(move || std::io::copy(&mut from_near, &mut to_far));
            std::thread::spawn(move || pass_on(far, near, &left));
        }
    });
    address
}

/// Passes frames on (four bytes of length in front of each), as long as some are left.
fn pass_on(mut far: TcpStream, mut near: TcpStream, left: &AtomicUsize) {
    let mut head = [0; 4];
    while far.read_exact(&mut head).is_ok() {
        let mut frame = head.to_vec();
        frame.resize(4 + u32::from_le_bytes(head) as usize, 0);
        let is_read = far.read_exact(&mut frame[4..]).is_ok();
        let is_left = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        if !is_read || !is_left || near.write_all(&frame).is_err() {
            break;
        }
    }
    let _ = near.shutdown(Shutdown::Both);
}

#[test]
fn replicas_that_pulled_one_index_hold_one_generation() {
    let ours = repository().with_meaning();
    let (_, url) = place(&ours);
    done(&ours, &["push", &url]);
    let clones = [clone_of(&ours).with_meaning(), clone_of(&ours).with_meaning()];
    clones.iter().for_each(|clone| drop(done(clone, &["pull", &url])));
    let shards = clones.each_ref().map(serving);
    name(&ours, &[&[&shards[0].address, &shards[1].address]]);
    let generations = || -> Vec<Value> {
        let seen: Value =
            serde_json::from_str(&ours.run(&["status", "--shards", "shards.json", "--json"]).out).expect("JSON");
        let replicas = seen["shards"][0]["replicas"].as_array().cloned().unwrap_or_default();
        replicas.iter().map(|replica| replica["generation"].clone()).collect()
    };
    let both = generations();
    assert!(both.len() == 2 && both[0].is_string() && both[0] == both[1], "{both:?}");
    // What changed in one of them is another generation there.
    clones[1].write("src/pages.rs", "/// Sends a page of answers.\npub fn send_page() {}\n");
    until("another generation", || generations()[1] != both[1]);
    assert_eq!(generations()[0], both[0]);
}

#[test]
fn a_pull_lists_the_commits_that_replicas_can_be_brought_to() {
    let ours = repository();
    let (remote, url) = place(&ours);
    let none = ours.run(&["pull", "--list", &url]);
    assert_eq!((none.status, &*none.out), (1, ""), "{none:?}");
    let pushed = || {
        done(&ours, &["push", &url]);
        [&["rev-parse", "HEAD"][..], &["symbolic-ref", "--short", "HEAD"]].map(|args| git(&ours, args))
    };
    let [first, branch] = pushed();
    ours.write("src/pages.rs", "/// Sends a page of answers.\npub fn send_page() {}\n");
    commit(&ours, "Pages");
    let [second, _] = pushed();
    let clone = clone_of(&ours);
    let rows = done(&clone, &["pull", "--list", &url]).out;
    assert_eq!(rows.lines().collect::<Vec<_>>(), [format!("{second} {branch}"), format!("{first} {branch}")]);
    // Scripts give them to git.
    let mut hostile = manifest(&remote);
    hostile["snapshots"][1]["commit"] = "--upload-pack=touch pwned".into();
    write_manifest(&remote, &hostile);
    assert_eq!(done(&clone, &["pull", "--list", &url]).out, format!("{first} {branch}\n"));
}

#[test]
fn a_replica_that_is_lost_costs_no_answer_where_the_other_has_an_index_of_its_own() {
    let ours = repository().with_meaning();
    let theirs = clone_of(&ours).with_meaning();
    let shards = [&ours, &theirs].map(serving);
    // The file of the shards lies outside of what they serve.
    let coordinator = Sandbox::new();
    let query = "where waits what is sent";
    let asked = |first: &[&str], more: &[&str]| {
        name(&coordinator, &[&[first, &[&*shards[1].address]].concat()]);
        done(&coordinator, &[&[query, "--shards", "shards.json"], more].concat()).out
    };
    let rows = |text: &str| {
        let rows: Vec<Value> = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        rows.iter().map(|row| (row["unit"]["name"].clone(), row["score"].clone())).collect::<Vec<_>>()
    };
    let (text, whole) = (asked(&[], &[]), rows(&asked(&[], &["--json"])));
    assert!(whole.len() > 2 && !text.is_empty(), "{text} {whole:?}");
    for answers in 1..22 {
        let cut = || cut_behind(answers, &shards[0]).to_string();
        assert_eq!(asked(&[&cut()], &[]), text, "behind {answers} answers");
        assert_eq!(rows(&asked(&[&cut()], &["--json"])), whole, "behind {answers} answers");
    }
    for answers in (9..21).step_by(3) {
        name(&coordinator, &[&[&cut_behind(answers, &shards[0]).to_string(), &shards[1].address]]);
        let args = ["serve", "--listen", "127.0.0.1:0", "--shards", "shards.json"];
        let server = Server::of(&mut coordinator.command(&args));
        for _ in 0..3 {
            let found = server.good("/api/v1/search", &json!({ "query": query, "pack": 0 }));
            assert_eq!(found["shards"], json!({"asked": 1, "answered": 1, "missing": []}), "behind {answers} answers");
        }
    }
}
