//! What a push takes along: what is committed, and nothing else of the machine that it runs on.

use std::fs;

use crate::common::git;
use crate::common::shared::{answer, clone_from, clone_of, commit, done, files_below, manifest, place, repository};

#[test]
fn a_draft_that_was_never_committed_is_not_in_the_bucket() {
    let ours = repository().with_meaning();
    let (remote, url) = place(&ours);
    done(&ours, &["init"]);
    // A search indexes it, with files that are committed later.
    ours.write("src/draft.rs", "/// Of customer zebraquux.\npub fn zebraquux_secret() {}\n");
    ours.write("src/more.rs", "/// More of it.\npub fn more() {}\n");
    done(&ours, &["init"]);
    fs::remove_file(ours.root().join("src/draft.rs")).expect("a file");
    commit(&ours, "More");
    done(&ours, &["push", &url]);
    let parts = manifest(&remote)["snapshots"][0]["parts"].as_array().expect("a list").clone();
    let names: Vec<&str> = parts.iter().map(|part| part["name"].as_str().expect("a name")).collect();
    assert!(!names.iter().any(|name| name.ends_with(".del")), "every document is of a file: {names:?}");
    // It is the index of a clone that never had the draft, and the same is sent again.
    let theirs = clone_of(&ours).with_meaning();
    done(&theirs, &["init"]);
    let fresh = answer(&theirs);
    done(&theirs, &["clear"]);
    done(&theirs, &["pull", &url]);
    assert_eq!(answer(&theirs), fresh);
    assert!(done(&ours, &["push", &url]).err.contains("nothing was sent"));
    // Deleting a shared file later is recorded in a file of its own.
    fs::remove_file(ours.root().join("src/more.rs")).expect("a file");
    commit(&ours, "Less");
    let before = files_below(&remote).len();
    done(&ours, &["push", &url]);
    assert!(files_below(&remote).len() <= before + 4, "{:?}", files_below(&remote));
    done(&ours, &["doctor", "--verify"]);
}

#[test]
fn what_git_does_not_look_at_counts_as_changed() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let ours = repository();
        let (remote, url) = place(&ours);
        ours.write("src/settings.rs", "pub fn settings() {}\n");
        commit(&ours, "Settings");
        git(&ours, &["update-index", flag, "src/settings.rs"]);
        ours.write("src/settings.rs", "pub fn settings() { let password = \"zebraquux\"; }\n");
        ours.refuses(&["push", &url], "src/settings.rs differs");
        assert!(files_below(&remote).is_empty());
        done(&ours, &["push", &url, "--dirty"]);
    }
    // Ignored by git, and taken back in by another file of rules.
    let ours = repository();
    let (remote, url) = place(&ours);
    ours.write(".gitignore", "local.rs\n");
    ours.write(".ignore", "!local.rs\n");
    commit(&ours, "Rules");
    ours.write("local.rs", "pub fn local() {}\n");
    assert_eq!(ours.run(&["local"]).paths(), ["local.rs"]);
    ours.refuses(&["push", &url], "local.rs differs");
    assert!(files_below(&remote).is_empty());
    // A sparse checkout has no such files on its disk, and is as good as another.
    let ours = repository();
    let (_, url) = place(&ours);
    git(&ours, &["sparse-checkout", "set", "--no-cone", "/*", "!/src/queue/"]);
    assert!(!ours.root().join("src/queue").exists());
    done(&ours, &["push", &url]);
}

#[test]
fn no_secret_of_an_address_is_sent_kept_or_shown() {
    let ours = repository();
    let (remote, url) = place(&ours);
    for (origin, name) in [
        ("https://host/o/n.git?private_token=SEKRET", Some("host/o/n")),
        ("user:SEKRET@host:o/n.git", Some("host/o/n")),
        ("https://user:SEK/RET@host/o/n", None),
    ] {
        git(&ours, &["config", "remote.origin.url", origin]);
        let pushed = done(&ours, &["push", &url]);
        assert!(!pushed.err.contains("RET"), "{}", pushed.err);
        assert!(pushed.err.contains(name.unwrap_or("commit/")), "{origin}: {}", pushed.err);
    }
    for file in files_below(&remote) {
        let bytes = fs::read(&file).expect("a file");
        let shown = file.display().to_string();
        assert!(!shown.contains("RET") && !bytes.windows(3).any(|part| part == b"RET"), "{shown}");
    }
    for address in ["s3://AKIA:SEK/RET@bucket/x", "s3://u:SEKRET@b:x/x", "https://a.blob.core.windows.net/c?sig=SEKRET"]
    {
        for args in [&["pull", address][..], &["push", address], &["settings", "remote", address]] {
            let refused = ours.run(args);
            assert!(refused.status == 2 && refused.err.contains("the environment"), "{args:?}: {}", refused.err);
            assert!(!refused.err.contains("RET") && !refused.out.contains("RET"), "{args:?}: {}", refused.err);
        }
    }
    assert!(!ours.run(&["settings"]).out.contains("RET"));
}

#[test]
fn the_first_addresses_that_people_try_work_or_are_told() {
    let ours = repository();
    done(&ours, &["push", "../share"]);
    assert!(ours.data().with_file_name("share").join("repositories").is_dir());
    assert!(done(&clone_of(&ours), &["pull", &ours.data().with_file_name("share").display().to_string()]).status == 0);
    // In these tests, the home folder encloses the project.
    assert!(done(&ours, &["push", "~/share"]).err.contains("nothing was sent"));
    done(&ours, &["settings", "remote", "~/share"]);
    assert!(done(&ours, &["push"]).err.contains("nothing was sent"));
    for (address, said) in
        [("s3:/bucket/x", "two slashes (s3://"), ("file:/tmp/x", "two slashes"), ("~other/x", "home")]
    {
        for command in ["push", "pull"] {
            ours.refuses(&[command, address], said);
        }
    }
    #[cfg(target_os = "linux")]
    {
        let refused = ours.run(&["push", "/proc/x"]);
        assert!(refused.status == 2 && refused.err.contains("/proc/x/") && refused.err.contains("could not write"));
        assert!(!refused.err.contains("not there any more"), "{}", refused.err);
    }
    assert!(!ours.root().join("s3:").exists() && !ours.root().join("~other").exists());
    let refused = ours.run_with(
        &[("AWS_ENDPOINT_URL", "127.0.0.1:9"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")],
        &["pull", "s3://bucket/x"],
    );
    assert!(refused.status == 2 && refused.err.contains("AWS_ENDPOINT_URL: is not an address"), "{}", refused.err);
}

#[test]
fn a_folder_inside_the_project_is_no_source_of_it() {
    let ours = repository();
    done(&ours, &["push", "./share"]);
    let folders = fs::read_dir(ours.root().join("share/repositories")).expect("a folder").count();
    assert_eq!(folders, 1);
    // Neither git nor an index sees what lies there.
    assert_eq!(git(&ours, &["status", "--short"]), "");
    assert!(done(&ours, &["push", "./share"]).err.contains("nothing was sent"));
    assert!(!done(&ours, &["--files"]).out.contains("share/"));
    done(&clone_of(&ours), &["pull", &ours.root().join("share").display().to_string()]);
}

#[test]
fn a_renamed_or_forked_repository_is_found_by_its_other_names() {
    let ours = repository();
    let (_, url) = place(&ours);
    // It was shared before it had an address.
    done(&ours, &["push", &url]);
    let theirs = clone_of(&ours);
    git(&theirs, &["config", "remote.origin.url", "https://host/new/name"]);
    let pulled = done(&theirs, &["pull", &url]);
    assert!(pulled.err.contains("commit/") && pulled.err.contains("what is checked out ("), "{}", pulled.err);
    // A fork has an old index of its own, and upstream a fresh one.
    let fork = clone_of(&ours);
    git(&fork, &["config", "remote.origin.url", "git@host:me/fork.git"]);
    git(&fork, &["config", "remote.upstream.url", "https://Host/Team/Name"]);
    done(&fork, &["push", &url]);
    git(&ours, &["config", "remote.origin.url", "https://host/team/name"]);
    ours.write("src/fresh.rs", "pub fn fresh() {}\n");
    commit(&ours, "Fresh");
    done(&ours, &["push", &url]);
    let from = ours.root().display().to_string();
    git(&fork, &["pull", "-q", &from, "HEAD"]);
    let pulled = done(&fork, &["pull", &url]);
    assert!(pulled.err.contains("host/team/name") && pulled.err.contains("what is checked out ("), "{}", pulled.err);
    // What has no name says why.
    let shallow = clone_from(&format!("file://{from}"), &["--depth", "1"]);
    shallow.refuses(&["pull", &url], "is a shallow clone");
}
