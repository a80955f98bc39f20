//! Remotes that are damaged, incomplete, slow or hostile: an index is found as long as there is one, nothing hangs, and a
//! push puts in order what it can.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::common::shared::{
    answer, blobs, blobs_of, clone_of, commit, done, done_by, files_below, manifest, manifests, place, repository,
    snapshots, write_manifest,
};
use crate::common::{Sandbox, git};
use serde_json::{Value, json};

/// Two commits, each pushed.
fn pushed_twice() -> (Sandbox, PathBuf, String) {
    let ours = repository();
    let (remote, url) = place(&ours);
    done(&ours, &["push", &url]);
    ours.write("src/later.rs", "pub fn later() {}\n");
    commit(&ours, "Later");
    done(&ours, &["push", &url]);
    (ours, remote, url)
}

/// The blobs that the last index alone names.
fn of_the_last(remote: &Path) -> Vec<PathBuf> {
    let said = manifest(remote);
    let keys = |at: usize| -> Vec<String> {
        let parts = said["snapshots"][at]["parts"].as_array().expect("a list");
        parts.iter().map(|part| part["sha256"].as_str().expect("a hash").to_string()).collect()
    };
    let before = keys(0);
    keys(1).into_iter().filter(|key| !before.contains(key)).map(|key| blobs_of(remote).join(key)).collect()
}

#[test]
fn what_is_missing_is_put_again_by_the_next_push() {
    let (ours, remote, url) = pushed_twice();
    let all = files_below(&remote);
    let lost = of_the_last(&remote);
    assert!(lost.len() > 2, "{lost:?}");
    for blob in &lost {
        fs::remove_file(blob).expect("a blob");
    }
    // Until then the previous index is taken, and the missing one is reported.
    let theirs = clone_of(&ours);
    let pulled = done(&theirs, &["pull", &url]);
    let said = ["is not there any more", "another one is used", "1 unit parsed"];
    assert!(said.iter().all(|part| pulled.err.contains(part)), "{}", pulled.err);
    let fresh = answer(&theirs);
    let again = done(&ours, &["push", &url]);
    assert!(again.err.contains(&format!("{} files sent", lost.len())), "{}", again.err);
    assert!(all.iter().filter(|path| path.extension().is_none()).all(|path| path.exists()));
    done(&theirs, &["clear"]);
    assert!(done(&theirs, &["pull", &url]).err.contains("what is checked out ("));
    assert_eq!(answer(&theirs), fresh);
    // If nothing is left, the message says what to do.
    fs::remove_dir_all(blobs_of(&remote)).expect("a folder");
    let refused = clone_of(&ours).run(&["pull", &url]);
    assert!(refused.status == 2 && refused.err.contains("`colgrep push` puts what is missing"), "{}", refused.err);
    done(&ours, &["push", &url]);
    done(&clone_of(&ours), &["pull", &url]);
}

#[test]
fn a_push_relies_on_no_damaged_file() {
    let (ours, remote, url) = pushed_twice();
    let blob = of_the_last(&remote).pop().expect("a blob");
    let mut bytes = fs::read(&blob).expect("bytes");
    bytes[0] ^= 1;
    fs::write(&blob, bytes).expect("written");
    let refused = ours.run(&["push", &url]);
    assert!(refused.status == 2 && refused.err.contains("is damaged: its SHA-256 is another;"), "{refused:?}");
    assert!(refused.err.contains("`colgrep push --anew` sends the index again"), "{refused:?}");
    done(&ours, &["push", &url, "--anew"]);
    assert!(done(&ours, &["push", &url]).err.contains("nothing was sent"));
    let pulled = done(&clone_of(&ours), &["pull", &url]);
    assert!(pulled.err.contains("what is checked out (") && !pulled.err.contains("damaged"), "{}", pulled.err);
}

/// The commands of the job in the guide, with another place.
fn job(url: &str) -> String {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide.md");
    let text = fs::read_to_string(guide).expect("the guide");
    let block = text.split("      - run: |\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the job");
    assert!(block.contains("pull s3://team/colgrep") && block.contains("push s3://team/colgrep"), "{block}");
    block.replace("s3://team/colgrep", url)
}

#[cfg(unix)]
#[test]
fn the_job_of_the_guide_puts_in_order_what_it_finds() {
    let ours = repository();
    let (remote, url) = place(&ours);
    let runs = |project: &Sandbox| {
        let programs = Path::new(env!("CARGO_BIN_EXE_colgrep")).parent().expect("a folder").display().to_string();
        let mut job_of = std::process::Command::new("bash");
        job_of.args(["-e", "-c", &job(&url)]).current_dir(project.root()).env_clear();
        job_of.envs(project.command(&[]).get_envs().filter_map(|(name, value)| Some((name, value?))));
        done_by(project, job_of.env("PATH", format!("{programs}:/usr/bin:/bin")))
    };
    assert!(runs(&ours).err.contains("has no index"), "nobody has pushed yet");
    let fresh = answer(&ours);
    let blob = || blobs(&remote).into_iter().max_by_key(|blob| blob.metadata().map_or(0, |m| m.len())).expect("a blob");
    let junk = |path: &Path| fs::write(path, vec![b'x'; fs::read(path).expect("bytes").len()]).expect("written");
    let damages: [&dyn Fn(); 3] =
        [&|| fs::remove_file(blob()).expect("removed"), &|| blobs(&remote).iter().for_each(|blob| junk(blob)), &|| {
            manifests(&remote).iter().for_each(|manifest| junk(manifest))
        }];
    for (at, damage) in damages.iter().enumerate() {
        damage();
        assert_eq!(clone_of(&ours).run(&["pull", &url]).status, 2, "damage {at}");
        let ran = runs(&clone_of(&ours));
        let theirs = clone_of(&ours);
        let pulled = done(&theirs, &["pull", &url]);
        assert!(pulled.err.contains("what is checked out ("), "damage {at}: {} {}", ran.err, pulled.err);
        assert_eq!(answer(&theirs), fresh, "damage {at}");
    }
}

#[test]
fn of_manifests_the_newest_that_can_be_read_counts() {
    let (ours, remote, url) = pushed_twice();
    fs::write(manifests(&remote).pop().expect("a manifest"), "junk").expect("written");
    let pulled = done(&clone_of(&ours), &["pull", &url]);
    let said = ["0000000002.json is damaged", "another one is used", "1 commit from"];
    assert!(said.iter().all(|part| pulled.err.contains(part)), "{}", pulled.err);
    // A push continues from it, without a flag, and keeps everyone's indexes.
    let pushed = done(&ours, &["push", &url]);
    assert!(pushed.err.contains("0000000002.json is damaged"), "{}", pushed.err);
    assert_eq!(snapshots(&remote).len(), 2);
    let pulled = done(&clone_of(&ours), &["pull", &url]);
    assert!(pulled.err.contains("what is checked out (") && !pulled.err.contains("damaged"), "{}", pulled.err);
    fs::write(manifests(&remote).pop().expect("a manifest"), "junk").expect("written");
    done(&ours, &["push", &url, "--anew"]);
    assert_eq!(snapshots(&remote).len(), 2, "--anew forgets nobody's either");
}

#[cfg(unix)]
#[test]
fn nothing_in_a_folder_is_waited_for() {
    let (ours, remote, url) = pushed_twice();
    let fifo = |path: &Path| {
        let _ = fs::remove_file(path);
        assert!(std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
    };
    // In the place of a blob, of a manifest, and of one that would be the newest.
    fifo(&of_the_last(&remote)[0]);
    let refused = done(&clone_of(&ours), &["pull", &url]);
    assert!(refused.err.contains("it is not a regular file"), "{}", refused.err);
    let newest = manifests(&remote).pop().expect("a manifest");
    fifo(&newest.with_file_name("manifest-0000000000000009.json"));
    for args in [&["pull", &url][..], &["later", "--remote", &url], &["push", &url]] {
        let ran = done(&clone_of(&ours), args);
        assert!(ran.err.contains("0009.json is damaged: it is not a regular file"), "{args:?}: {}", ran.err);
    }
    assert!(newest.with_file_name("manifest-0000000000000010.json").is_file());
    // Add a link to itself, and one to an endless file.
    std::os::unix::fs::symlink("loop", newest.with_file_name("loop")).expect("a link");
    std::os::unix::fs::symlink("/dev/zero", newest.with_file_name("manifest-0000000000000011.json")).expect("a link");
    done(&ours, &["push", &url, "--anew"]);
    done(&clone_of(&ours), &["pull", &url]);
    // A blob of any length is read no further than it should be.
    let file = fs::File::create(table_of_the_last(&remote)).expect("a file");
    file.set_len(200 << 30).expect("a length");
    let pulled = done(&clone_of(&ours), &["pull", &url]);
    assert!(pulled.err.contains("it is longer than it should be"), "{}", pulled.err);
}

/// The blob of the last index's table.
fn table_of_the_last(remote: &Path) -> PathBuf {
    let last = snapshots(remote).pop().expect("an index");
    let is_table = |part: &&Value| part["name"].as_str().is_some_and(|name| name.starts_with("files-"));
    let table = last["parts"].as_array().expect("a list").iter().find(is_table).expect("a table");
    blobs_of(remote).join(table["key"].as_str().or(table["sha256"].as_str()).expect("a name"))
}

#[test]
fn numbers_that_no_push_gives_do_no_harm() {
    let (ours, remote, url) = pushed_twice();
    let newest = manifests(&remote).pop().expect("a manifest");
    for name in ["manifest-18446744073709551615.json", "manifest-7.json", "manifest-99999999999999999999999.json"] {
        fs::copy(&newest, newest.with_file_name(name)).expect("copied");
    }
    assert!(done(&ours, &["push", &url]).err.contains("nothing was sent"));
    ours.write("src/last.rs", "pub fn last() {}\n");
    commit(&ours, "Last");
    done(&ours, &["push", &url]);
    assert!(newest.with_file_name("manifest-0000000000000003.json").is_file());
    fs::copy(&newest, newest.with_file_name("manifest-9999999999999999.json")).expect("copied");
    ours.write("src/last.rs", "pub fn very_last() {}\n");
    commit(&ours, "Very last");
    ours.refuses(&["push", &url], "remove it");
}

#[test]
fn a_manifest_of_others_is_told_from_a_damaged_one() {
    let (ours, remote, url) = pushed_twice();
    let said = manifest(&remote);
    let with = |change: &dyn Fn(&mut Value)| {
        let mut value = said.clone();
        change(&mut value);
        write_manifest(&remote, &value);
    };
    // An index of a later format, whose codec this program does not know, stays; the others can be used.
    with(&|value| {
        value["snapshots"][1]["format"] = json!(7);
        value["snapshots"][1]["vectors"] = json!({"codec": {"bits": "mixed"}});
    });
    let newer = manifest(&remote)["snapshots"][1].clone();
    done(&clone_of(&ours), &["pull", &url]);
    done(&ours, &["push", &url]);
    let now = snapshots(&remote);
    assert!(now.contains(&newer), "{now:?}");
    // An intact file that is not a manifest is not replaced.
    with(&|value| value["snapshots"] = json!(7));
    for args in [&["pull", &url][..], &["push", &url], &["push", &url, "--anew"]] {
        ours.refuses(args, "is not understood");
    }
    // Somebody copied a folder in the place of another.
    with(&|value| value["repository"] = json!("github.com/other/name"));
    for args in [&["pull", &url][..], &["push", &url]] {
        ours.refuses(args, "of the repository github.com/other");
    }
    // What it says of itself begins no lines of ours.
    with(&|value| value["snapshots"][1]["branch"] = json!("x\ncolgrep: all is well\u{1b}[2J"));
    let pulled = done(&clone_of(&ours), &["pull", &url]);
    assert!(!pulled.err.contains("\ncolgrep: all is well") && !pulled.err.contains('\u{1b}'), "{}", pulled.err);
}

#[test]
fn line_ends_of_their_own_stay_beside_the_others() {
    let ours = repository();
    let (remote, url) = place(&ours);
    done(&ours, &["push", &url]);
    let windows = clone_of(&ours);
    git(&windows, &["config", "core.autocrlf", "true"]);
    for file in files_below(&windows.root()).into_iter().filter(|path| path.extension().is_some_and(|e| e == "rs")) {
        fs::remove_file(file).expect("a file");
    }
    git(&windows, &["checkout", "-q", "--", "."]);
    done(&windows, &["push", &url]);
    let lines: Vec<Value> = snapshots(&remote).iter().map(|s| s["lines"].clone()).collect();
    assert_eq!(lines, [Value::Null, json!("crlf")]);
    assert!(done(&clone_of(&ours), &["pull", &url]).err.contains("0 units parsed"));
}

#[test]
fn a_search_waits_for_seconds_and_says_so() {
    let ours = repository();
    // A server that takes connections and never answers.
    let mute = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", mute.local_addr().expect("an address"));
    let vars = [
        ("AWS_ENDPOINT_URL", address.as_str()),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("COLGREP_PROGRESS", "1"),
    ];
    let searched = ours.run_with(&vars, &["ring", "--remote", "s3://team/x"]);
    assert_eq!(searched.status, 0, "{}", searched.err);
    let said = ["waiting for s3://team/x", "the search goes on without"];
    assert!(said.iter().all(|part| searched.err.contains(part)), "{}", searched.err);
    // One that answers with a byte now and then.
    let slow = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let trickling = format!("http://{}", slow.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in slow.incoming().flatten() {
            std::thread::spawn(move || trickle(stream));
        }
    });
    let vars = [("AWS_ENDPOINT_URL", trickling.as_str()), vars[1], vars[2], vars[3], vars[4]];
    let searched = ours.run_with(&vars, &["ring", "--remote", "s3://team/x"]);
    assert_eq!(searched.status, 0, "{}", searched.err);
    let said = ["waiting for s3://team/x", "no whole answer within", "the search goes on without"];
    assert!(said.iter().all(|part| searched.err.contains(part)), "{}", searched.err);
    // Another pull of the same project is at work.
    let (_, url) = place(&ours);
    done(&ours, &["push", &url]);
    let theirs = clone_of(&ours);
    done(&theirs, &["init"]);
    let index = fs::read_dir(theirs.data()).expect("a folder").flatten().next().expect("an index").path();
    let incoming = PathBuf::from(format!("{}.pull", index.display()));
    fs::create_dir(&incoming).expect("a folder");
    let lock = fs::File::create(incoming.join("lock")).expect("a file");
    lock.lock().expect("locked");
    let searched = theirs.run(&["ring", "--remote", &url]);
    assert_eq!(searched.status, 0, "{}", searched.err);
    let said = ["another process takes an index", "the search goes on without"];
    assert!(said.iter().all(|part| searched.err.contains(part)), "{}", searched.err);
    // A flag without effect is refused, and a pulled index is reported.
    for args in [&["-e", "ring", "--remote", &url][..], &["ring", "--no-update", "--remote", &url]] {
        theirs.refuses(args, "--remote");
    }
    drop(lock);
    done(&theirs, &["settings", "remote", &url]);
    done(&theirs, &["pull"]);
    let status = done(&theirs, &["status"]).out;
    assert!(status.contains(&format!("remote    {url}")) && status.contains("taken from a remote"), "{status}");
}

/// Answers a request without an end.
fn trickle(mut stream: std::net::TcpStream) {
    let _ = stream.read(&mut [0; 4096]);
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nContent-Length: 100000\r\n\r\n");
    while stream.write_all(b" ").is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[test]
fn of_two_who_push_one_commit_with_other_settings_each_is_found_by_his_own() {
    let ours = repository();
    ours.write(".tools/gauge.rs", "/// Measures the pressure of a valve.\npub fn measure_pressure() {}\n");
    ours.write("gen/valve.rs", "pub fn generated_valve() {}\n");
    commit(&ours, "A gauge");
    let (remote, url) = place(&ours);
    let set = |sandbox: &Sandbox, settings: &str| {
        let file = sandbox.data().with_file_name("config").join("colgrep/config.toml");
        let mode = if settings.contains("index_mode") { "" } else { "index_mode = \"keyword\"\n" };
        fs::write(file, format!("{mode}{settings}")).expect("a file");
    };
    let of_settings = |settings: &str| {
        let clone = clone_of(&ours);
        set(&clone, settings);
        clone
    };
    let kinds = ["", "hidden = true\n", "ignore = [\"gen/\"]\n", "max_filesize = \"20K\"\n", "index_mode = \"full\"\n"];
    for settings in kinds {
        done(&of_settings(settings), &["push", &url]);
    }
    assert_eq!(snapshots(&remote).len(), kinds.len(), "none takes the place of another");
    for settings in kinds {
        let theirs = of_settings(settings);
        let pulled = done(&theirs, &["pull", &url]).err;
        assert!(
            pulled.contains(" and 0 removed, 0 units parsed, 0 texts encoded")
                && !pulled.contains("another")
                && !pulled.contains("not of this model"),
            "{pulled}"
        );
        let found = answer_of(&theirs, "measure pressure valve");
        assert_eq!(found.contains("gauge.rs"), settings.contains("hidden"), "{settings}: {found}");
        assert_eq!(found.contains("gen/valve.rs"), !settings.contains("gen/"), "{settings}: {found}");
        // The same as what is built here.
        done(&theirs, &["clear"]);
        done(&theirs, &["init"]);
        assert_eq!(answer_of(&theirs, "measure pressure valve"), found, "{settings}");
    }
    // If nobody has the same settings, the difference is reported and read here.
    let theirs = of_settings("hidden = true\nignore = [\"gen/\"]\n");
    let pulled = done(&theirs, &["pull", &url]).err;
    assert!(
        pulled.contains("it was made with another ") && pulled.contains("those that differ are read here"),
        "{pulled}"
    );
    let found = answer_of(&theirs, "measure pressure valve");
    assert!(found.contains("gauge.rs") && !found.contains("gen/valve.rs"), "{found}");
}

fn answer_of(sandbox: &Sandbox, query: &str) -> String {
    sandbox.run(&[query, "--json", "--no-update", "--all", "-k", "20"]).out
}
