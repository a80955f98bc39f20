//! Indexes shared through a folder: what is pushed is found elsewhere, and nothing is lost on the way.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::common::shared::{
    answer, blobs, blobs_of, clone_of, commit, done, files_below, find_what_was_pushed, killed, manifest, manifests,
    place, push_at_once, repository, sha256, snapshots, timed, write_manifest,
};
use crate::common::{Sandbox, git};
use colgrep_index::lexical::forge;
use serde_json::{Value, json};

#[test]
fn what_is_pushed_is_found_in_a_clone_without_parsing_or_encoding() {
    let ours = repository().with_meaning();
    let (remote, url) = place(&ours);
    let pushed = done(&ours, &["push", &url]);
    assert!(pushed.err.contains("sent ("), "{}", pushed.err);
    let theirs = clone_of(&ours).with_meaning();
    let pulled = done(&theirs, &["pull", &url]);
    assert!(
        pulled.err.contains("what is checked out (") && pulled.err.contains("0 units parsed, 0 texts encoded"),
        "{}",
        pulled.err
    );
    assert_eq!(answer(&theirs), answer(&ours));
    assert!(!answer(&theirs).is_empty());
    // A second pull and a second push send nothing, and what a third pushes of a pulled index is known.
    let again = done(&theirs, &["pull", &url]);
    assert!(again.err.contains("is here already"), "{}", again.err);
    let before = files_below(&remote);
    assert!(done(&ours, &["push", &url]).err.contains("nothing was sent"));
    assert_eq!(files_below(&remote), before);
    // A pulled index is there already, whoever pushes it.
    assert!(done(&theirs, &["push", &url]).err.contains("nothing was sent"));
    assert_eq!(files_below(&remote), before);
    // Neither a root nor a time goes out.
    let root = ours.root().display().to_string();
    for blob in blobs(&remote) {
        let bytes = fs::read(&blob).expect("a blob");
        assert!(!bytes.windows(root.len()).any(|part| part == root.as_bytes()), "{}", blob.display());
    }
    done(&theirs, &["doctor", "--verify"]);
}

#[test]
fn edits_are_overlaid_by_the_hashes_of_texts() {
    let ours = repository().with_meaning();
    let (_, url) = place(&ours);
    done(&ours, &["push", &url]);
    let theirs = clone_of(&ours).with_meaning();
    theirs.write("src/pages.rs", "/// Sends a page of answers.\npub fn send_page() {}\n");
    fs::remove_file(theirs.root().join("src/queue/ring.rs")).expect("a file");
    let pulled = done(&theirs, &["pull", &url]);
    assert!(pulled.err.contains("1 removed, ") && pulled.err.contains("1 text encoded"), "{}", pulled.err);
    let fresh = answer(&theirs);
    assert!(fresh.contains("src/pages.rs") && !fresh.contains("ring.rs"), "{fresh}");
    // The same as an index that was built here.
    done(&theirs, &["clear"]);
    done(&theirs, &["init"]);
    assert_eq!(answer(&theirs), fresh);
    // What was encoded here before a pull is not encoded again after.
    let pulled = done(&theirs, &["pull", &url]);
    assert!(pulled.err.contains("0 texts encoded"), "{}", pulled.err);
    assert_eq!(answer(&theirs), fresh);
    // Uncommitted files are shared only on request.
    theirs.refuses(&["push", &url], "src/pages.rs differs from the commit");
    done(&theirs, &["push", &url, "--dirty"]);
}

#[test]
fn the_nearest_commit_is_taken_whatever_was_pushed_last() {
    let ours = repository();
    let (remote, url) = place(&ours);
    let theirs = clone_of(&ours);
    done(&ours, &["push", &url]);
    for n in 0..2 {
        ours.write(&format!("src/later{n}.rs"), "pub fn later() {}\n");
        commit(&ours, "More");
        done(&ours, &["push", &url]);
    }
    let pulled = done(&theirs, &["pull", &url]);
    assert!(pulled.err.contains(", what is checked out (") && pulled.err.contains("0 removed"), "{}", pulled.err);
    git(&theirs, &["fetch", "-q"]);
    git(&theirs, &["checkout", "-q", "origin/HEAD~1"]);
    let pulled = done(&theirs, &["pull", &url]);
    assert!(pulled.err.contains("what is checked out (") && pulled.err.contains("0 units parsed"), "{}", pulled.err);
    // Of a branch the newest three stay, and pruning leaves what they name.
    for n in 2..5 {
        ours.write(&format!("src/later{n}.rs"), "pub fn later() {}\n");
        commit(&ours, "More");
        done(&ours, &["push", &url]);
    }
    let all = blobs(&remote).len();
    assert_eq!(snapshots(&remote).len(), 3);
    done(&ours, &["push", &url, "--prune=1"]);
    assert_eq!(blobs(&remote).len(), all, "young ones stay");
    let old = std::time::SystemTime::now() - Duration::from_secs(3 * 86_400);
    for blob in blobs(&remote) {
        fs::File::options().write(true).open(&blob).and_then(|file| file.set_modified(old)).expect("a time");
    }
    done(&ours, &["push", &url, "--prune=1"]);
    assert!(blobs(&remote).len() < all);
    git(&theirs, &["fetch", "-q"]);
    git(&theirs, &["checkout", "-q", "origin/HEAD"]);
    done(&theirs, &["pull", &url]);
    assert_eq!(answer(&theirs), answer(&ours));
}

#[test]
fn of_two_who_push_at_once_both_are_found() {
    let ours = repository();
    let (remote, url) = place(&ours);
    let clones = push_at_once(&ours, &url, Sandbox::command);
    let branch = |s: &Value| s["branch"].as_str().expect("a branch").to_string();
    let mut branches: Vec<String> = snapshots(&remote).iter().map(branch).collect();
    branches.sort();
    assert_eq!(branches, ["branch0", "branch1", "branch2", "branch3"]);
    assert_eq!(manifests(&remote).len(), 4, "each moved the manifest once");
    find_what_was_pushed(&clones, &url, Sandbox::command);
}

#[test]
fn a_killed_push_or_pull_loses_nothing() {
    let ours = repository();
    let (remote, url) = place(&ours);
    done(&ours, &["push", &url]);
    let theirs = clone_of(&ours);
    done(&theirs, &["init"]);
    // What a whole one takes on this machine.
    ours.write("src/changing.rs", "pub fn changing() {}\n");
    commit(&ours, "Change");
    let push = timed(&mut ours.command(&["push", &url]));
    git(&theirs, &["pull", "-q"]);
    let pull = timed(&mut theirs.command(&["pull", &url]));
    let (mut pushes, mut pulls) = (0, 0);
    for n in 0..14 {
        ours.write("src/changing.rs", &format!("/// Number {n}.\npub fn changing{n}() {{}}\n"));
        commit(&ours, "Change");
        pushes += u32::from(killed(&mut ours.command(&["push", &url]), push * n / 14));
        // What is there can be read, and leads to an index.
        let fresh = clone_of(&ours);
        let pulled = done(&fresh, &["pull", &url]);
        assert!(pulled.err.contains("files indexed"), "{}", pulled.err);
        assert_eq!(fresh.run(&[&format!("changing{n}")]).paths(), ["src/changing.rs"]);
        done(&ours, &["push", &url]);
        git(&theirs, &["pull", "-q"]);
        pulls += u32::from(killed(&mut theirs.command(&["pull", &url]), pull * n / 14));
        // The index answers as before or as after, and is sound.
        assert_eq!(theirs.run(&["ring", "--no-update"]).status, 0);
        done(&theirs, &["doctor", "--verify"]);
    }
    assert!(pushes > 2 && pulls > 2, "{pushes} pushes and {pulls} pulls were at work");
    done(&theirs, &["pull", &url]);
    assert_eq!(answer(&theirs), answer(&ours));
    // No temporary files remain.
    done(&theirs, &["init"]);
    let left: Vec<PathBuf> =
        files_below(&theirs.data()).into_iter().filter(|p| p.display().to_string().contains(".pull")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!manifests(&remote).is_empty());
}

#[test]
fn no_damaged_blob_is_taken() {
    let ours = repository().with_meaning();
    let (remote, url) = place(&ours);
    done(&ours, &["push", &url]);
    let theirs = clone_of(&ours).with_meaning();
    theirs.write("src/own.rs", "pub fn own() {}\n");
    done(&theirs, &["init"]);
    let before = answer(&theirs);
    for blob in blobs(&remote) {
        let bytes = fs::read(&blob).expect("a blob");
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        for (content, why) in [
            (&flipped[..], "its SHA-256 is another"),
            (&bytes[..bytes.len() - 1], "it is cut"),
            (&[&bytes[..], b"x"].concat()[..], "it is longer than it should be"),
        ] {
            fs::write(&blob, content).expect("written");
            // What a pull before this one fetched is not fetched again, unless something has removed it.
            done(&theirs, &["init"]);
            let refused = theirs.run(&["pull", &url]);
            let path = format!("{} is damaged", blob.display());
            let said = [why, "(fetched 3 times)", "push --anew", &path];
            assert!(refused.status == 2 && said.iter().all(|part| refused.err.contains(part)), "{}", refused.err);
            assert_eq!(answer(&theirs), before, "{}", blob.display());
        }
        fs::remove_file(&blob).expect("a blob");
        done(&theirs, &["init"]);
        let refused = theirs.run(&["pull", &url]);
        assert_eq!(refused.status, 2, "{}", refused.err);
        // A search with the same remote continues without it.
        let searched = theirs.run(&["own", "--remote", &url]);
        assert_eq!(searched.paths(), ["src/own.rs"], "{}", searched.err);
        fs::write(&blob, &bytes).expect("written");
    }
    for blob in blobs(&remote) {
        fs::write(&blob, b"no more").expect("written");
    }
    done(&ours, &["push", &url, "--anew"]);
    done(&theirs, &["pull", &url]);
    assert_eq!(answer(&theirs), before, "with its own file on top");
}

#[test]
fn a_damaged_or_newer_manifest_changes_nothing() {
    let ours = repository();
    let (remote, url) = place(&ours);
    done(&ours, &["push", &url]);
    let theirs = clone_of(&ours);
    let path = manifests(&remote).pop().expect("a manifest");
    let sound = fs::read(&path).expect("a manifest");
    fs::write(&path, &sound[..sound.len() / 2]).expect("written");
    for command in ["pull", "push"] {
        theirs.refuses(&[command, &url], "is damaged: it is cut");
    }
    done(&ours, &["push", &url, "--anew"]);
    done(&theirs, &["pull", &url]);
    let said = manifest(&remote);
    let mut newer = said.clone();
    newer["layout"] = json!(2);
    write_manifest(&remote, &newer);
    for command in ["pull", "push"] {
        theirs.refuses(&[command, &url], "newer colgrep (layout 2)");
    }
    // An index of another format doesn't disturb the others.
    let mut other = said.clone();
    other["snapshots"][0]["format"] = json!(99);
    other["snapshots"][0]["signed"] = json!("by somebody");
    write_manifest(&remote, &other);
    let refused = clone_of(&ours).run(&["pull", &url]);
    assert!(refused.status == 2 && refused.err.contains("made by other versions of colgrep"), "{}", refused.err);
    done(&ours, &["push", &url]);
    let both = manifest(&remote);
    assert_eq!(both["snapshots"][0], other["snapshots"][0]);
    assert_eq!(snapshots(&remote).len(), 2);
    done(&clone_of(&ours), &["pull", &url]);
}

/// Replaces a part of the newest index by one with other content, and all checksums over it.
fn forge_part(remote: &Path, ending: &str, change: impl Fn(&mut Vec<u8>)) {
    let mut said = manifest(remote);
    let parts = said["snapshots"][0]["parts"].as_array_mut().expect("a list");
    let part = parts.iter_mut().find(|part| part["name"].as_str().is_some_and(|name| name.ends_with(ending)));
    let part = part.expect("a part");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(Path::new(part["name"].as_str().expect("a name")).file_name().expect("a name"));
    let blob = blobs_of(remote).join(part["key"].as_str().or(part["sha256"].as_str()).expect("a name"));
    fs::copy(&blob, &file).expect("copied");
    let mut content = forge::unsealed(&file).expect("a file of a segment");
    change(&mut content);
    forge::seal(&file, &content).expect("written");
    let bytes = fs::read(&file).expect("bytes");
    let hash = sha256(&bytes);
    fs::write(blobs_of(remote).join(&hash), &bytes).expect("written");
    (part["sha256"], part["bytes"]) = (json!(hash), json!(bytes.len()));
    part.as_object_mut().expect("an object").remove("key");
    write_manifest(remote, &said);
}

#[test]
fn an_index_that_can_not_be_read_is_never_pulled_again() {
    let ours = repository();
    let (remote, url) = place(&ours);
    done(&ours, &["push", &url]);
    // Documents that no writer writes, under right checksums.
    forge_part(&remote, ".store", |content| {
        let documents = content.len() / 2;
        content[..documents].fill(7);
    });
    let theirs = clone_of(&ours);
    let refused = theirs.run(&["pull", &url]);
    assert_eq!(refused.status, 2, "{}", refused.err);
    // It is not even fetched again.
    theirs.refuses(&["pull", &url], "it is not pulled again");
    let searched = theirs.run(&["ring", "--remote", &url]);
    assert!(searched.status == 0 && searched.err.contains("the search goes on without"), "{}", searched.err);
    done(&ours, &["clear"]);
    ours.write("src/later.rs", "pub fn later() {}\n");
    commit(&ours, "Later");
    done(&ours, &["push", &url]);
    git(&theirs, &["pull", "-q"]);
    let pulled = done(&theirs, &["pull", &url]);
    assert!(pulled.err.contains("what is checked out ("), "another one is: {}", pulled.err);
    assert_eq!(theirs.run(&["later"]).paths().first(), Some(&"src/later.rs"));
}

#[test]
fn a_crafted_index_is_refused_or_can_do_no_harm() {
    let ours = repository();
    let (remote, url) = place(&ours);
    done(&ours, &["push", &url]);
    let said = manifest(&remote);
    let theirs = clone_of(&ours);
    for (key, value) in [
        ("name", json!("lexical/../../../x")),
        ("name", json!("lock")),
        ("sha256", json!("../x")),
        ("key", json!("../../x")),
    ] {
        let mut crafted = said.clone();
        crafted["snapshots"][0]["parts"][0][key] = value.clone();
        write_manifest(&remote, &crafted);
        theirs.refuses(&["pull", &url], "is damaged");
    }
    // Files that match the manifest but are not an index: two parts are swapped.
    let mut crafted = said.clone();
    let parts = crafted["snapshots"][0]["parts"].as_array().expect("a list");
    let (first, second) = (parts[0].clone(), parts[1].clone());
    crafted["snapshots"][0]["parts"][0]["sha256"] = second["sha256"].clone();
    crafted["snapshots"][0]["parts"][0]["bytes"] = second["bytes"].clone();
    crafted["snapshots"][0]["parts"][1]["sha256"] = first["sha256"].clone();
    crafted["snapshots"][0]["parts"][1]["bytes"] = first["bytes"].clone();
    write_manifest(&remote, &crafted);
    let refused = theirs.run(&["pull", &url]);
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert_eq!(theirs.run(&["ring"]).status, 0, "an index of its own");
    assert!(files_below(theirs.data().parent().expect("a folder")).iter().all(|p| !p.ends_with("x")));
}

#[test]
fn a_search_takes_its_first_index_from_the_remote() {
    let ours = repository();
    let (_, url) = place(&ours);
    done(&ours, &["push", &url]);
    let theirs = clone_of(&ours);
    let searched = theirs.run(&["ring", "--remote", &url]);
    assert!(searched.status == 0 && searched.err.contains("took the index of commit/"), "{}", searched.err);
    let searched = theirs.run(&["ring", "--remote", &url]);
    assert!(searched.status == 0 && searched.err.is_empty(), "{}", searched.err);
    assert_eq!(answer(&theirs), answer(&ours));
    // The setting is for projects without an index; a repository's own counts once it is trusted.
    let theirs = clone_of(&ours);
    theirs.write(".colgrep.toml", &format!("remote = {url:?}\n"));
    assert!(theirs.run(&["ring"]).err.contains("not taken until you trust"));
    done(&theirs, &["clear"]);
    done(&theirs, &["settings", "--trust"]);
    assert!(theirs.run(&["ring"]).err.contains("took the index of"));
    assert!(theirs.run(&["ring"]).err.is_empty());
    // A missing remote is reported, and the index is built.
    let theirs = clone_of(&ours);
    theirs.refuses(&["ring", "--remote", "nope"], "nope: is not an address");
    let searched = theirs.run(&["ring", "--remote", "/nowhere/at/all"]);
    assert!(
        searched.status == 0 && searched.err.contains("(there is no such folder) has no index of commit/"),
        "{}",
        searched.err
    );
    assert_eq!(theirs.run(&["pull", "/nowhere/at/all"]).status, 1);
}

#[test]
fn what_nobody_meant_to_share_is_not_sent() {
    let ours = repository();
    let (remote, url) = place(&ours);
    ours.write(".env", "TOKEN=verysecretvalue\n");
    commit(&ours, "Oops");
    done(&ours, &["init", "--secrets", "--hidden"]);
    ours.refuses(&["push", &url], "--secrets");
    assert!(files_below(&remote).is_empty());
    done(&ours, &["init"]);
    done(&ours, &["push", &url]);
    for blob in blobs(&remote) {
        let bytes = fs::read(&blob).expect("a blob");
        for word in ["verysecretvalue", ".env"] {
            assert!(!bytes.windows(word.len()).any(|part| part == word.as_bytes()), "{}", blob.display());
        }
    }
    for (args, said) in [
        (&["push"][..], "no place to share indexes is named"),
        (&["push", "."], "holds the project itself"),
        (&["push", "ftp://host/x"], "takes s3://BUCKET/FOLDER"),
        (
            &["push", "--prune", "3"],
            "a folder of that name is written ./3; `colgrep search push 3` searches for the word",
        ),
        (&["push", "src/"], "src is part of the project ROOT; name a folder outside of it; `colgrep search push src/`"),
        (&["push", "./src/new/x"], "is part of the project ROOT"),
        (&["push", "nosuch/path.py"], "`colgrep search push nosuch/path.py` searches"),
        (&["push", "relay.toml"], "is a file, and not an address"),
        (&["push", "constant", "src/"], "`colgrep search push constant src/` searches"),
        (&["push", &url, "--name", "a\nb"], "--name takes"),
        (&["pull", &url, "--name", "other"], "has no index of other"),
    ] {
        let refused = ours.run(args);
        assert!(refused.status > 0 && refused.err.contains(said), "{args:?}: {}", refused.err);
    }
    for path in ["src/repositories", "src/new", "nosuch"] {
        assert!(!ours.root().join(path).exists(), "{path}");
    }
    let alone = Sandbox::of("relay");
    alone.refuses(&["push", &url], "--name NAME says");
    done(&alone, &["push", &url, "--name", "by hand"]);
    done(&Sandbox::of("relay"), &["pull", &url, "--name", "by hand"]);
}

#[test]
fn modes_and_models_need_not_be_the_same() {
    let full = repository().with_meaning();
    let (_, url) = place(&full);
    done(&full, &["push", &url]);
    // By keywords alone, no vectors are fetched.
    let keyword = clone_of(&full);
    let pulled = done(&keyword, &["pull", &url]);
    assert!(!pulled.err.contains("encoded, ") && pulled.err.contains("0 texts encoded"), "{}", pulled.err);
    assert!(!files_below(&keyword.data()).iter().any(|path| path.extension().is_some_and(|e| e == "seg")));
    done(&keyword, &["doctor", "--verify"]);
    // An index without vectors gets them where it is taken.
    let plain = repository();
    let (_, url) = place(&plain);
    done(&plain, &["push", &url]);
    let pulled = done(&clone_of(&plain).with_meaning(), &["pull", &url]);
    assert!(pulled.err.contains("0 units parsed") && !pulled.err.contains("0 texts encoded"), "{}", pulled.err);
    assert!(pulled.err.contains("not of this model (it has none)"), "{}", pulled.err);
}

#[cfg(unix)]
#[test]
fn a_folder_without_rights_is_said() {
    use std::os::unix::fs::PermissionsExt as _;
    let ours = repository();
    let (remote, url) = place(&ours);
    done(&ours, &["push", &url]);
    let closed = remote.join("repositories");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("a mode");
    let is_open = fs::read_dir(&closed).is_ok();
    let refused = clone_of(&ours).run(&["pull", &url]);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).expect("a mode");
    if is_open {
        // The superuser reads it all the same.
        assert_eq!(refused.status, 0, "{}", refused.err);
    } else {
        assert!(refused.status == 2 && refused.err.contains("no right to list there"), "{}", refused.err);
    }
}
