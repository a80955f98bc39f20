//! What is taken of a repository's settings before and after the user trusts them.

use std::fs;

use crate::common::{Ran, Sandbox};

/// A project with a hidden file, a large one, and what a clone could ask for.
fn cloned(settings: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("plain.rs", "fn trusted() {}\n");
    sandbox.write(".hidden.rs", "fn trusted() {}\n");
    sandbox.write("large.rs", &"fn trusted() {}\n".repeat(100_000));
    sandbox.write("out/kept.rs", "fn trusted() {}\n");
    sandbox.write(".colgrep.toml", settings);
    sandbox
}

fn found(sandbox: &Sandbox) -> Ran {
    sandbox.run(&["trusted", "-l", "-k", "9"])
}

#[test]
fn what_widens_the_index_needs_trust_in_the_text_as_it_is() {
    let widening = "hidden = true\nmax_filesize = \"100G\"\nresults = 3\n";
    let sandbox = cloned(widening);
    let told = "colgrep: ROOT/.colgrep.toml: hidden = true, max_filesize = 107374182400 are not taken until you trust the \
                file: `colgrep settings --trust`\n";
    for args in [&["trusted", "-l", "-k", "9"][..], &["-e", "trusted", "-l"], &["status"], &["init"]] {
        let ran = sandbox.run(args);
        assert!(ran.status == 0 && ran.err.contains(told), "{args:?}: {ran:?}");
        let names_it = ["-e", "status"].contains(&args[0]);
        assert!(!ran.out.contains("hidden") && (names_it || !ran.out.contains("large.rs\n")), "{args:?}: {ran:?}");
    }
    assert_eq!(sandbox.run(&["settings", "results"]).out.lines().next(), Some("results = 3  (ROOT/.colgrep.toml)"));
    assert!(sandbox.run(&["settings", "hidden"]).out.starts_with("hidden = false  (default)"));
    let shown = sandbox.run(&["settings"]).out;
    assert!(shown.contains("# repository: ROOT/.colgrep.toml\n# ROOT/.colgrep.toml: hidden = true, "), "{shown}");
    let doctor = sandbox.run(&["doctor"]).out;
    assert!(doctor.contains("note  settings ROOT/.colgrep.toml: hidden = true, max_filesize"), "{doctor}");

    let trusting = sandbox.run(&["settings", "--trust"]);
    assert!(
        trusting.status == 0 && trusting.err.contains("ROOT/.colgrep.toml is trusted as it is now"),
        "{trusting:?}"
    );
    sandbox.run(&["init"]);
    let all = found(&sandbox);
    assert_eq!(all.err, "");
    for name in [".hidden.rs", "large.rs", "plain.rs"] {
        assert!(all.out.contains(name), "{name}: {all:?}");
    }
    assert!(sandbox.run(&["settings"]).out.contains("# repository: ROOT/.colgrep.toml (trusted)\n"));

    // Another text, even by a space, is another file.
    sandbox.write(".colgrep.toml", &format!("{widening}\n"));
    assert!(found(&sandbox).err.contains("until you trust the file"));
    sandbox.write(".colgrep.toml", widening);
    assert!(!found(&sandbox).err.contains("until you trust the file"));
    assert_eq!(sandbox.run(&["settings", "--untrust"]).status, 0);
    assert_eq!(sandbox.run(&["settings", "--untrust"]).status, 1);
    assert!(found(&sandbox).err.contains("until you trust the file"));
    // The same text elsewhere is trusted no more than before.
    sandbox.run(&["settings", "--trust"]);
    sandbox.write("out/.colgrep.toml", widening);
    let below = sandbox.command(&["settings", "hidden"]).current_dir(sandbox.root().join("out")).output();
    assert!(String::from_utf8_lossy(&below.expect("a run").stdout).starts_with("hidden = false"));
}

#[test]
fn what_narrows_the_index_or_shows_answers_is_taken() {
    let sandbox = cloned("ignore = [\"out/\"]\nmax_filesize = \"1K\"\ncode_only = true\n[ranking]\nalpha = 0.5\n");
    let ran = found(&sandbox);
    assert_eq!(ran.out, "plain.rs\n");
    assert!(!ran.err.contains("trust"), "{ran:?}");
    // What the user leaves out stays left out.
    let sandbox = cloned("ignore = [\"!out/\", \"large.rs\"]\n");
    let config = sandbox.data().with_file_name("config/colgrep/config.toml");
    let user = fs::read_to_string(&config).expect("settings") + "ignore = [\"out/\"]\n";
    fs::write(&config, user).expect("settings");
    assert_eq!(found(&sandbox).out, "plain.rs\n");
    sandbox.run(&["settings", "--trust"]);
    assert!(found(&sandbox).out.contains("out/kept.rs\n"), "{:?}", found(&sandbox));
}

#[test]
fn a_model_that_runs_native_code_needs_trust() {
    let sandbox = cloned("model = \"m\"\n").with_meaning();
    sandbox.write("m/tokenizer.json", "{}");
    let ran = sandbox.run(&["trusted", "--index-mode", "lite", "-l", "-k", "1"]);
    assert!(ran.status == 0 && ran.err.contains("model = m is not taken until you trust"), "{ran:?}");
    sandbox.run(&["settings", "--trust"]);
    sandbox.refuses(&["trusted", "--index-mode", "lite", "-l", "-k", "1"], "ROOT/m");
}

#[test]
fn what_trust_does_not_help_asks_for_none() {
    let sandbox = cloned("sessions = [\"~/.claude/projects\"]\n");
    let told = "ROOT/.colgrep.toml: sessions = [~/.claude/projects] is taken from your own settings alone\n";
    assert!(found(&sandbox).err.contains(told), "{:?}", found(&sandbox));
    sandbox.run(&["settings", "--trust"]);
    assert!(found(&sandbox).err.contains(told), "trusted or not");
    for command in ["settings", "doctor"] {
        let ran = sandbox.run(&[command]);
        assert!(ran.out.contains(told), "{ran:?}");
    }
}

#[test]
fn what_is_no_settings_file_of_its_own_is_ignored_with_a_remark() {
    for model in ["\\\\\\\\server\\\\share", "//server/share", "\\\\\\\\?\\\\UNC\\\\server\\\\share"] {
        let sandbox = cloned(&format!("model = \"{model}\"\n"));
        let ran = found(&sandbox);
        assert!(ran.status == 0 && ran.err.contains("lies on another machine"), "{ran:?}");
        sandbox.run(&["settings", "--trust"]);
        let ran = found(&sandbox);
        assert!(ran.status == 2 && ran.err.contains("lies on another machine"), "{ran:?}");
    }
    let sandbox = cloned(&format!("# {}\n", "x".repeat(300_000)));
    let ran = found(&sandbox);
    assert!(ran.status == 0 && ran.err.contains("larger than 256 KiB, the most that settings take"), "{ran:?}");
    fs::write(sandbox.root().join(".colgrep.toml"), b"results = \xff\xfe\n").expect("a file");
    let ran = found(&sandbox);
    assert!(ran.status == 0 && ran.err.contains(".colgrep.toml: ignored: "), "{ran:?}");
    #[cfg(unix)]
    {
        let sandbox = cloned("");
        let secret = sandbox.data().with_file_name("secret");
        fs::write(&secret, "a secret\n").expect("a file");
        fs::remove_file(sandbox.root().join(".colgrep.toml")).expect("a file");
        std::os::unix::fs::symlink(&secret, sandbox.root().join(".colgrep.toml")).expect("a link");
        let ran = found(&sandbox);
        assert!(ran.status == 0 && ran.err.contains("is a link") && !ran.err.contains("a secret"), "{ran:?}");
    }
}

#[test]
fn twelve_thousand_patterns_hold() {
    // As one automaton they are too large to be made.
    let patterns: Vec<String> = (0..12_000).map(|i| format!("\"out/**/a{i}.rs\"")).collect();
    let sandbox = cloned(&format!("ignore = [{}]\n", patterns.join(",")));
    sandbox.write("out/b/a777.rs", "fn trusted() {}\n");
    for args in [&["trusted", "-l", "-k", "9"][..], &["-e", "trusted", "-l", "--max-filesize", "1M"]] {
        let mut files: Vec<_> = sandbox.run(args).out.lines().map(str::to_string).collect();
        files.sort();
        assert_eq!(files, ["out/kept.rs", "plain.rs"], "{args:?}");
    }
}
