//! Runs that the system gives too little: they end with an answer, or with a sentence and status 2, and nothing is lost.

#![cfg(target_os = "linux")]

use std::process::Command;

use crate::common::{Ran, Sandbox};

/// Runs colgrep under limits of the shell's `ulimit`.
fn limited(sandbox: &Sandbox, limits: &str, args: &[&str]) -> Ran {
    let own = sandbox.command(args);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{limits}; exec \"$@\"")).arg("sh").arg(own.get_program()).args(own.get_args());
    shell.current_dir(own.get_current_dir().expect("a folder")).env_clear();
    shell.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Ran::of(shell.output().expect("a shell"), &sandbox.root())
}

fn project() -> Sandbox {
    let sandbox = Sandbox::of("relay");
    let text: String = (0..600).map(|i| format!("fn starved_{i}(a: usize) -> usize {{ a + {i} }}\n")).collect();
    sandbox.write("large.rs", &text);
    sandbox
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    for blocks in [0, 1, 4, 8] {
        let sandbox = project();
        let ran = limited(&sandbox, &format!("ulimit -f {blocks}"), &["init"]);
        assert!(ran.status == 2 && ran.err.contains("File too large"), "{blocks}: {ran:?}");
        assert!(!ran.err.contains("writer was killed"), "{blocks}: {ran:?}");
        assert!(ran.err.contains("COLGREP_DATA_DIR=FOLDER"), "{blocks}: {ran:?}");
        assert_eq!(sandbox.run(&["init"]).status, 0);
        let whole = sandbox.run(&["starved", "-l"]).out;
        sandbox.write("large.rs", "fn starved_no_more() {}\n");
        sandbox.write("more.rs", &"fn starved_again() {}\n".repeat(500));
        // An index that can't be updated is searched in its old state, with a remark.
        let ran = limited(&sandbox, &format!("ulimit -f {blocks}"), &["starved_7", "-l"]);
        assert!(ran.status == 0 && ran.err.contains("File too large"), "{blocks}: {ran:?}");
        let said = ["COLGREP_DATA_DIR=FOLDER; this answer may lack the latest changes", "files read)"];
        assert!(said.iter().all(|part| ran.err.contains(part)), "{blocks}: {ran:?}");
        assert_eq!(sandbox.run(&["init"]).status, 0);
        assert_ne!(sandbox.run(&["starved", "-l"]).out, whole);
    }
}

#[test]
fn too_few_handles_are_told_and_wait_for_nobody() {
    for handles in [4, 5, 6, 7, 8, 10, 12] {
        let sandbox = project();
        for args in [&["init"][..], &["starved", "-l"], &["status"]] {
            let ran = limited(&sandbox, &format!("ulimit -n {handles}"), args);
            assert!((0..=2).contains(&ran.status) && !ran.err.contains("fault of colgrep"), "{handles}: {ran:?}");
            assert!(ran.status != 2 || ran.err.contains("Too many open files"), "{handles}, {args:?}: {ran:?}");
        }
        assert_eq!(sandbox.run(&["starved", "-l"]).status, 0);
    }
}

#[test]
fn too_little_memory_is_told() {
    let sandbox = project();
    let program = std::fs::metadata(env!("CARGO_BIN_EXE_colgrep")).expect("a program").len() >> 10;
    for mib in [40, 48, 64, 96, 512] {
        for args in [&["init"][..], &["starved", "-l"], &["-e", "starved", "-l"]] {
            let ran = limited(&sandbox, &format!("ulimit -v {}", program + (mib << 10)), args);
            assert!((0..=2).contains(&ran.status) && !ran.err.contains("fault of colgrep"), "{mib}, {args:?}: {ran:?}");
            assert!(ran.status != 2 || ran.err.contains("memory") || ran.err.contains("thread"), "{mib}: {ran:?}");
            assert!(!ran.err.contains("writer was killed"), "{mib}: {ran:?}");
            assert!(mib < 512 || ran.status == 0, "{mib}, {args:?}: {ran:?}");
        }
    }
}

#[test]
fn a_small_stack_of_the_first_thread_is_enough() {
    let sandbox = project();
    for args in [&["init"][..], &["starved", "-l"], &["doctor", "--verify"]] {
        let ran = limited(&sandbox, "ulimit -s 128", args);
        assert_eq!(ran.status, 0, "{args:?}: {ran:?}");
    }
}
