//! Walks of small trees, and of trees that change between two walks.

use std::fs;

use super::*;

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn paths(folder: &Path, options: &WalkOptions) -> String {
    let walked = walk(folder, &LeftOut::default(), options).unwrap();
    walked.files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn ignore_files_decide_and_not_folder_names() {
    let folder = tree(&[
        (".gitignore", "*.log\n/out/\n"),
        (".colgrepignore", "secret/\n"),
        ("bin/a.rs", ""),
        ("build/b.rs", ""),
        ("env/c.rs", ""),
        ("out/d.rs", ""),
        ("secret/e.rs", ""),
        (".hidden/f.rs", ""),
        ("run.log", ""),
        ("target.rs", ""),
    ]);
    let defaults = WalkOptions::default();
    assert_eq!(paths(folder.path(), &defaults), "bin/a.rs build/b.rs env/c.rs target.rs");
    let all = WalkOptions { hidden: true, no_ignore: true, ..defaults };
    assert_eq!(
        paths(folder.path(), &all),
        ".colgrepignore .gitignore .hidden/f.rs bin/a.rs build/b.rs env/c.rs out/d.rs run.log secret/e.rs target.rs"
    );
}

#[test]
fn a_git_repository_is_read_by_its_rules_and_not_by_its_insides() {
    let folder = tree(&[(".git/HEAD", ""), (".gitignore", "gen\n"), ("gen/a.rs", ""), ("sub/b.rs", "")]);
    assert_eq!(paths(&folder.path().join("sub"), &WalkOptions::default()), "b.rs");
    let hidden = WalkOptions { hidden: true, ..WalkOptions::default() };
    assert_eq!(paths(folder.path(), &hidden), ".gitignore sub/b.rs");
}

#[test]
fn a_change_of_either_time_shows() {
    // A change time comes from the system; if the modification time is later, either may stay unchanged.
    assert_eq!((one_of([0, 7]), one_of([7, 7]), one_of([-7, 7])), (7, 7, 7));
    for (before, after) in [([5, 7], [5, 8]), ([9, 7], [9, 8]), ([9, 7], [8, 7]), ([9, 0], [10, 0]), ([9, 7], [7, 7])] {
        assert_ne!(one_of(before), one_of(after), "{before:?} {after:?}");
    }
    assert_ne!(one_of([i64::MAX, 7]), one_of([i64::MAX, 8]));
}

#[test]
fn what_is_left_out_is_left_out_whole() {
    let folder = tree(&[("a.rs", ""), ("data/index/b.rs", "")]);
    let data = folder.path().join("data");
    let left_out = LeftOut { folder: Some(&data), ..LeftOut::default() };
    let walked = walk(folder.path(), &left_out, &WalkOptions::default()).unwrap();
    assert_eq!(walked.files.len(), 1);
}

#[test]
fn patterns_count_as_an_ignore_file_at_the_root() {
    let folder = tree(&[("a.rs", ""), ("a.snap", ""), ("keep.snap", ""), ("x/gen/b.rs", ""), ("gen/c.rs", "")]);
    let patterns = ["*.snap", "!keep.snap", "/gen/"].map(String::from);
    let left_out = LeftOut { patterns: &patterns, ..LeftOut::default() };
    let paths = |options: &WalkOptions| {
        let walked = walk(folder.path(), &left_out, options).unwrap();
        walked.files.into_iter().map(|f| f.path).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(paths(&WalkOptions::default()), "a.rs keep.snap x/gen/b.rs");
    let all = WalkOptions { no_ignore: true, ..WalkOptions::default() };
    assert_eq!(paths(&all), "a.rs a.snap gen/c.rs keep.snap x/gen/b.rs");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let folder = tree(&[("a.rs", "")]);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("a.rs"), folder.path().join("b.rs")).unwrap();
    assert_eq!(paths(folder.path(), &WalkOptions::default()), "a.rs");
    let walked = walk(folder.path(), &LeftOut::default(), &WalkOptions::default()).unwrap();
    assert_eq!(walked.unreadable.len(), 2, "links are counted: {:?}", walked.unreadable);
}

#[cfg(unix)]
#[test]
fn ignore_files_are_regular_and_bounded() {
    let folder = tree(&[("a.rs", ""), ("b/c.rs", ""), ("b/d.log", ""), ("e/f.rs", ""), ("big/g.rs", "")]);
    for (link, to) in [
        (".gitignore", "/dev/zero"),
        (".ignore", "/dev/zero"),
        (".colgrepignore", "/dev/stdin"),
        ("b/.gitignore", "../rules"),
    ] {
        std::os::unix::fs::symlink(to, folder.path().join(link)).unwrap();
    }
    fs::write(folder.path().join("rules"), "*.rs\n").unwrap();
    fs::write(folder.path().join("b/.ignore"), "*.log\n").unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("e/.gitignore")).status().unwrap();
    assert!(made.success());
    fs::write(folder.path().join("big/.gitignore"), "g.rs\n".repeat(60_000)).unwrap();
    let walked = walk(folder.path(), &LeftOut::default(), &WalkOptions::default()).unwrap();
    let files: Vec<_> = walked.files.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(files, ["a.rs", "b/c.rs", "big/g.rs", "e/f.rs", "rules"]);
    let unheeded: Vec<_> = walked.unheeded.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(unheeded, [".colgrepignore", ".gitignore", ".ignore", "b/.gitignore", "big/.gitignore", "e/.gitignore"]);
}

#[test]
fn patterns_in_force_at_a_time_are_bounded() {
    let text: String = (0..20_000).map(|i| format!("a?{i}*\n")).collect();
    let folder = tree(&[("a/a.rs", ""), ("b/b.rs", ""), ("a1", "")]);
    let mut inner = folder.path().to_path_buf();
    for _ in 0..4 {
        fs::write(inner.join(".gitignore"), &text).unwrap();
        inner.push("a");
        fs::create_dir_all(&inner).unwrap();
    }
    fs::write(folder.path().join("b/.gitignore"), &text).unwrap();
    let walked = walk(folder.path(), &LeftOut::default(), &WalkOptions::default()).unwrap();
    assert_eq!(walked.files.len(), 3, "{walked:?}");
    let deep = walked.unheeded.iter().filter(|(path, _)| path.starts_with("a/a/"));
    assert!(deep.count() > 0, "{:?}", walked.unheeded);
}

#[test]
fn the_nearest_rule_of_the_first_kind_decides() {
    let folder = tree(&[
        (".git/info/exclude", "*.x\n"),
        (".gitignore", "*.log\n!.kept\nsub/*.y\n"),
        (".ignore", "!b.log\n*.i\n"),
        (".colgrepignore", "!c.i\n"),
        ("a.log", ""),
        ("b.log", ""),
        ("c.i", ""),
        ("d.i", ""),
        ("e.x", ""),
        (".kept", ""),
        (".hidden", ""),
        ("sub/.gitignore", "!f.log\n"),
        ("sub/f.log", ""),
        ("sub/g.log", ""),
        ("sub/h.y", ""),
        ("repository/.git/HEAD", ""),
        ("repository/i.log", ""),
        ("repository/j.i", ""),
    ]);
    let kept = ".kept b.log c.i repository/i.log sub/f.log";
    assert_eq!(paths(folder.path(), &WalkOptions::default()), kept);
    // The same from above as from inside.
    assert_eq!(paths(&folder.path().join("sub"), &WalkOptions::default()), "f.log");
}

#[test]
fn the_configuration_of_git_names_more_rules() {
    let folder = tree(&[
        ("home/.gitconfig", "[include]\npath = more\n[includeIf \"gitdir:**/jobs/\"]\npath = ~/of-jobs\n"),
        ("home/more", "[core]\n\texcludesFile = ~/ignore # mine\n"),
        ("home/of-jobs", "[core]\nignoreCase\n"),
        ("home/ignore", "*.tmp\n/top.rs\n"),
        ("home/.config/git/ignore", "*.rs\n"),
        ("jobs/repo/.git/HEAD", "ref: refs/heads/main\n"),
        ("jobs/repo/a.rs", ""),
        ("jobs/repo/B.TMP", ""),
        ("jobs/repo/top.rs", ""),
        ("jobs/repo/sub/c.tmp", ""),
        ("jobs/repo/sub/top.rs", ""),
        ("jobs/repo/inner/.git/HEAD", "ref: refs/heads/main\n"),
        ("jobs/repo/inner/.git/config", "[core]\nexcludesFile = own\nignoreCase = false\n"),
        ("jobs/repo/inner/own", "*.x\n"),
        ("jobs/repo/inner/d.x", ""),
        ("jobs/repo/inner/E.X", ""),
        ("jobs/repo/inner/f.tmp", ""),
        ("plain/a.rs", ""),
        ("plain/b.tmp", ""),
        ("plain/sub/top.rs", ""),
    ]);
    let home = folder.path().join("home");
    let places = GitPlaces {
        files: vec![home.join("none"), home.join(".gitconfig")],
        ignore: Some(home.join(".config/git/ignore")),
        home: Some(home.clone()),
        settings: Vec::new(),
    };
    let paths = |below: &str, places: &GitPlaces| {
        let left_out = LeftOut { git: Some(places), ..LeftOut::default() };
        let walked = walk(&folder.path().join(below), &left_out, &WalkOptions::default()).unwrap();
        walked.files.into_iter().map(|f| f.path).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(paths("jobs/repo", &places), "a.rs inner/E.X inner/f.tmp inner/own sub/top.rs");
    assert_eq!(paths("jobs/repo/sub", &places), "top.rs");
    assert_eq!(paths("plain", &places), "a.rs sub/top.rs");
    // The environment says more than any file.
    let own = |key: &str, value: &str| vec![(key.to_string(), value.to_string())];
    for (settings, expected) in [
        (own("core.excludesFile", "~/.config/git/ignore"), "B.TMP inner/E.X inner/d.x inner/f.tmp inner/own sub/c.tmp"),
        (own("core.ignoreCase", "false"), "B.TMP a.rs inner/E.X inner/f.tmp inner/own sub/top.rs"),
        (
            own("Core.ExcludesFile", ""),
            "B.TMP a.rs inner/E.X inner/d.x inner/f.tmp inner/own sub/c.tmp sub/top.rs top.rs",
        ),
        (own("include.path", "~/none"), "a.rs inner/E.X inner/f.tmp inner/own sub/top.rs"),
    ] {
        let told = format!("{settings:?}");
        assert_eq!(paths("jobs/repo", &GitPlaces { settings, ..places.clone() }), expected, "{told}");
    }
    // Without a configured file, the usual one counts.
    let bare = GitPlaces { files: vec![home.join("of-jobs")], ..places };
    assert_eq!(paths("jobs/repo", &bare), "B.TMP inner/E.X inner/f.tmp inner/own sub/c.tmp");
}

#[cfg(unix)]
#[test]
fn repositories_may_share_a_file_of_rules_by_a_link() {
    let folder = tree(&[("shared", "*.log\n"), ("repo/.git/HEAD", ""), ("repo/a.log", ""), ("repo/b.rs", "")]);
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("repo/.git/info")).unwrap();
    std::os::unix::fs::symlink(at("shared"), at("repo/.git/info/exclude")).unwrap();
    let walked = walk(&at("repo"), &LeftOut::default(), &WalkOptions::default()).unwrap();
    assert_eq!(walked.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["b.rs"]);
    assert_eq!(walked.unheeded, []);
}

#[test]
fn other_worktrees_of_a_repository_are_skipped() {
    let folder = tree(&[
        ("repo/.git/HEAD", ""),
        ("repo/.git/worktrees/feat/commondir", "../..\n"),
        ("repo/.git/worktrees/deep/commondir", "../..\n"),
        ("repo/.git/modules/sub/HEAD", ""),
        ("repo/a.rs", ""),
        ("repo/wt/feat/a.rs", ""),
        ("repo/wt/feat/wt/deep/a.rs", ""),
        ("repo/sub/b.rs", ""),
        ("repo/sub/.git", "gitdir: ../.git/modules/sub\n"),
        ("beside/a.rs", ""),
    ]);
    let git = |name: &str| format!("gitdir: {}\n", folder.path().join("repo/.git/worktrees").join(name).display());
    for (at, name) in [("repo/wt/feat", "feat"), ("repo/wt/feat/wt/deep", "deep"), ("beside", "feat")] {
        fs::write(folder.path().join(at).join(".git"), git(name)).unwrap();
    }
    let options = WalkOptions::default();
    let walked = walk(&folder.path().join("repo"), &LeftOut::default(), &options).unwrap();
    let files: Vec<&str> = walked.files.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(files, ["a.rs", "sub/b.rs"]);
    assert_eq!(walked.unreadable, [("wt/feat".to_string(), CHECKOUT.to_string())]);
    // A worktree is a tree of its own, without those inside it.
    assert_eq!(paths(&folder.path().join("repo/wt/feat"), &options), "a.rs");
    assert_eq!(paths(&folder.path().join("repo/wt"), &options), "");
    // Around both, each file comes once; where the main checkout is elsewhere, a worktree is all there is.
    assert_eq!(paths(folder.path(), &options), "repo/a.rs repo/sub/b.rs");
    assert_eq!(paths(&folder.path().join("beside"), &options), "a.rs");
    let all = WalkOptions { no_ignore: true, ..options };
    assert_eq!(paths(&folder.path().join("repo"), &all), "a.rs sub/b.rs wt/feat/a.rs wt/feat/wt/deep/a.rs");
}

#[test]
fn worktrees_of_a_bare_repository_are_all_there_is() {
    for (git, has_file) in [("box/.bare", true), ("box/.git", false)] {
        let folder = tree(&[("box/main/a.rs", ""), ("box/main/wt/x/b.rs", ""), ("box/feat/a.rs", "")]);
        let git = folder.path().join(git);
        for (at, name) in [("box/main", "main"), ("box/main/wt/x", "x"), ("box/feat", "feat")] {
            let own = git.join("worktrees").join(name);
            fs::create_dir_all(&own).unwrap();
            fs::write(own.join("commondir"), "../..\n").unwrap();
            fs::write(folder.path().join(at).join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(git.join("config"), "[core]\n\tbare = true\n").unwrap();
        if has_file {
            fs::write(folder.path().join("box/.git"), "gitdir: ./.bare\n").unwrap();
        }
        let options = WalkOptions::default();
        // One inside another is its copy still.
        assert_eq!(paths(&folder.path().join("box"), &options), "feat/a.rs main/a.rs", "{has_file}");
        assert_eq!(paths(&folder.path().join("box/main"), &options), "a.rs", "{has_file}");
        fs::write(git.join("config"), "[core]\n\tbare = false\n").unwrap();
        assert_eq!(paths(&folder.path().join("box"), &options), "", "{has_file}");
    }
}

#[test]
fn a_missing_root_is_an_error() {
    assert!(walk(Path::new("/no/such/folder"), &LeftOut::default(), &WalkOptions::default()).is_err());
}

/// A walk, and the state that it leaves for the next.
#[cfg(target_os = "linux")]
struct Remembered {
    walked: Walked,
}

#[cfg(target_os = "linux")]
impl Remembered {
    fn of(folder: &Path, options: &WalkOptions) -> Remembered {
        // Recent changes are not trusted.
        std::thread::sleep(std::time::Duration::from_millis(60));
        Remembered { walked: walk(folder, &LeftOut::default(), options).unwrap() }
    }

    /// The next walk, and how many folders it listed.
    fn again(&self, folder: &Path, options: &WalkOptions) -> Walked {
        let Walked { files, tree, unreadable, .. } = &self.walked;
        let path = |place: usize| files[place].path.as_str();
        let known = DirCache { tree, files: files.len(), path: &path, unreadable, skips: None };
        let again = walk_again(folder, &LeftOut::default(), options, Some(&known)).unwrap();
        let anew = walk(folder, &LeftOut::default(), options).unwrap();
        assert_eq!((&again.files, &again.unreadable), (&anew.files, &anew.unreadable));
        assert_eq!((&again.misnamed, &again.unheeded), (&anew.misnamed, &anew.unheeded));
        again
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_ignore_file_that_is_new_is_remembered() {
    let folder = tree(&[("a.rs", "1"), ("b.log", "")]);
    std::fs::write(folder.path().join(".ignore"), "*.log\n").unwrap();
    let walked = walk_to_remember(folder.path(), &LeftOut::default(), &WalkOptions::default(), None).unwrap();
    let rules = walked.tree.rules.iter().filter(|(path, _)| path.ends_with("/.ignore"));
    assert_eq!(rules.map(|(_, state)| *state == super::known::UNSURE).collect::<Vec<_>>(), [false]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_can_be_read_again_is_told_of_no_more() {
    let folder = tree(&[("a/b.rs", "1"), ("c.rs", "2")]);
    let mut before = Remembered::of(folder.path(), &WalkOptions::default());
    // As the walk leaves it if the folder could not be read.
    for (path, state) in &mut before.walked.tree.folders {
        if path == "a" {
            *state = super::known::UNSURE;
        }
    }
    before.walked.files.retain(|file| file.path == "c.rs");
    before.walked.unreadable.push(("a".to_string(), "Permission denied".to_string()));
    let again = before.again(folder.path(), &WalkOptions::default());
    assert!(again.unreadable.is_empty() && again.files.len() == 2, "{again:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_known_is_used() {
    let folder =
        tree(&[(".git/HEAD", ""), (".gitignore", "*.log\n"), ("a/b.rs", "1"), ("a/c/d.rs", "2"), ("a/e.log", "")]);
    let options = WalkOptions::default();
    let before = Remembered::of(folder.path(), &options);
    assert_eq!(before.walked.tree.folders.len(), 3);
    // An extra file that supposedly was found earlier and does exist: a listing would not return it.
    let files = ["a/b.rs", "a/c/d.rs", "a/e.log"];
    let path = |place: usize| files[place];
    let known = DirCache { tree: &before.walked.tree, files: files.len(), path: &path, unreadable: &[], skips: None };
    let listed = |known: &DirCache<'_>| {
        let walked = walk_again(folder.path(), &LeftOut::default(), &options, Some(known)).unwrap();
        walked.files.into_iter().map(|f| f.path).collect::<Vec<_>>()
    };
    assert_eq!(listed(&known), files, "the folder was not listed");
    // A left-out folder outside the tree changes nothing, whether it exists or not.
    let outside = tempfile::tempdir().unwrap();
    for index in [outside.path().join("none"), outside.path().to_path_buf()] {
        let left_out = LeftOut { folder: Some(&index), ..LeftOut::default() };
        let walked = walk_again(folder.path(), &left_out, &options, Some(&known)).unwrap();
        assert_eq!(walked.files.len(), 3, "the folder was not listed");
    }
    // Its folder is listed once a name in it is added or removed.
    fs::write(folder.path().join("a/new.rs"), "").unwrap();
    assert_eq!(listed(&known), ["a/b.rs", "a/c/d.rs", "a/new.rs"]);
    // With other options, nothing of it is used.
    let all = WalkOptions { hidden: true, ..options };
    let walked = walk_again(folder.path(), &LeftOut::default(), &all, Some(&known)).unwrap();
    assert!(walked.files.iter().all(|f| f.path != "a/e.log"));
}

#[cfg(target_os = "linux")]
#[test]
fn whatever_changes_is_seen() {
    let folder = tree(&[
        (".git/info/exclude", ""),
        (".gitignore", "*.log\n"),
        ("a/b.rs", "1"),
        ("a/c/d.rs", "2"),
        ("a/c/f/g.rs", "2"),
        ("h/i.rs", "3"),
        ("h/j.log", "3"),
        ("k/l.rs", "4"),
    ]);
    let at = |name: &str| folder.path().join(name);
    let options = WalkOptions::default();
    type Change<'a> = (&'a str, Box<dyn Fn() + 'a>);
    let changes: Vec<Change<'_>> = vec![
        ("an edit", Box::new(|| fs::write(at("a/b.rs"), "longer").unwrap())),
        (
            "a time that is yet to come",
            Box::new(|| {
                let later = std::time::SystemTime::now() + std::time::Duration::from_secs(100_000);
                fs::File::options().append(true).open(at("a/b.rs")).and_then(|f| f.set_modified(later)).unwrap();
            }),
        ),
        ("a file goes", Box::new(|| fs::remove_file(at("a/c/d.rs")).unwrap())),
        ("a file comes", Box::new(|| fs::write(at("a/c/m.rs"), "").unwrap())),
        ("a folder comes", Box::new(|| fs::create_dir_all(at("n/o/p")).unwrap())),
        ("a file deep in a new folder", Box::new(|| fs::write(at("n/o/p/q.rs"), "").unwrap())),
        ("a folder is renamed", Box::new(|| fs::rename(at("a"), at("z")).unwrap())),
        (
            "two folders change places",
            Box::new(|| {
                fs::rename(at("h"), at("t")).unwrap();
                fs::rename(at("k"), at("h")).unwrap();
                fs::rename(at("t"), at("k")).unwrap();
            }),
        ),
        ("a rule comes", Box::new(|| fs::write(at("z/c/.gitignore"), "g.rs\n").unwrap())),
        ("a rule changes in place", Box::new(|| fs::write(at(".gitignore"), "*.txt\n").unwrap())),
        ("a rule of git's own", Box::new(|| fs::write(at(".git/info/exclude"), "b.rs\n").unwrap())),
        ("a configuration comes", Box::new(|| fs::write(at(".git/config"), "[core]\nexcludesFile = x\n").unwrap())),
        ("the file that it names comes", Box::new(|| fs::write(at("x"), "m.rs\n").unwrap())),
        ("a worktree", {
            let own = at(".git/worktrees/h");
            Box::new(move || {
                fs::create_dir_all(&own).unwrap();
                fs::write(own.join("commondir"), "../..\n").unwrap();
                fs::write(at("h/.git"), format!("gitdir: {}\n", own.display())).unwrap();
            })
        }),
        ("a file in a worktree", Box::new(|| fs::write(at("h/new.rs"), "").unwrap())),
        ("a worktree goes", Box::new(|| fs::remove_file(at("h/.git")).unwrap())),
        ("a rule goes", Box::new(|| fs::remove_file(at("z/c/.gitignore")).unwrap())),
        ("a repository begins inside", Box::new(|| fs::create_dir(at("z/.git")).unwrap())),
        (
            "a folder becomes a file",
            Box::new(|| {
                fs::remove_dir_all(at("n")).unwrap();
                fs::write(at("n"), "").unwrap();
            }),
        ),
        (
            "a folder becomes a link",
            Box::new(|| {
                fs::rename(at("z"), at("y")).unwrap();
                std::os::unix::fs::symlink(at("y"), at("z")).unwrap();
            }),
        ),
        (
            "a file becomes a link",
            Box::new(|| {
                fs::remove_file(at("y/b.rs")).unwrap();
                std::os::unix::fs::symlink(at("h"), at("y/b.rs")).unwrap();
            }),
        ),
        ("an ignored file comes", Box::new(|| fs::write(at("y/x.txt"), "").unwrap())),
        (
            "a name that is no text",
            Box::new(|| {
                use std::os::unix::ffi::OsStrExt as _;
                fs::write(at("y").join(OsStr::from_bytes(b"\xff.rs")), "").unwrap();
            }),
        ),
    ];
    let mut remembered = Remembered::of(folder.path(), &options);
    let first = Remembered::of(folder.path(), &options);
    for (what, change) in changes {
        change();
        let again = remembered.again(folder.path(), &options);
        // Old state is of use too.
        first.again(folder.path(), &options);
        std::thread::sleep(std::time::Duration::from_millis(60));
        let settled = Remembered { walked: again }.again(folder.path(), &options);
        assert!(!settled.tree.is_empty(), "{what}");
        remembered = Remembered { walked: settled };
    }
}
