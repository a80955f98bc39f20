//! The same tree gives the same answer, byte for byte, however its index came to be.

use std::fs;

use crate::common::Sandbox;

const QUESTIONS: [&[&str]; 6] = [
    &["parse header", "--json", "-k", "30", "--units"],
    &["how is a page kept", "--json", "-k", "30"],
    &["page_3", "--json", "--per-file", "4"],
    &["retry", "-e", "fn \\w+_2", "--json"],
    &["--like", "part0/a1.rs:2", "--json"],
    &["header", "--explain", "-k", "9"],
];

/// Numbers that look random; the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        // xorshift64, Marsaglia 2003.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// A file whose functions call those of the others.
fn text(file: u64, version: u64) -> String {
    let function = |i: u64| {
        let other = (file + i + version) % 12;
        format!(
            "/// Parses the header of page {i} and tries again: retry {version}.\npub fn page_{file}_{i}(count: usize) -> usize {{\n    \
             page_{other}_{i}(count) + header_{file}(count)\n}}\n\nfn header_{file}(n: usize) -> usize {{\n    n + {version}\n}}\n"
        )
    };
    (0..1 + version % 4).map(function).collect()
}

fn answers(sandbox: &Sandbox) -> Vec<String> {
    QUESTIONS.iter().map(|words| sandbox.run(words).out).collect()
}

/// Changes files again and again, each time with a search or `init`, and compares with a new index at the end.
fn compare(sandbox: &Sandbox, rounds: u64, seed: u64) {
    let mut random = Random(seed);
    let path = |file: u64| format!("part{}/a{file}.rs", file % 3);
    for file in 0..12 {
        sandbox.write(&path(file), &text(file, 1));
    }
    sandbox.run(&["init"]);
    for round in 0..rounds {
        for _ in 0..1 + random.below(3) {
            let file = random.below(12);
            match random.below(5) {
                // The first file stays: a question names it.
                0 if file > 1 => drop(fs::remove_file(sandbox.root().join(path(file)))),
                _ => sandbox.write(&path(file), &text(file, random.below(9))),
            }
        }
        sandbox.write("part0/a1.rs", &text(1, random.below(9)));
        let run: &[&str] = if random.below(3) == 0 { &["init"] } else { &["page"] };
        assert_eq!(sandbox.run(run).status, 0, "{seed}, {round}");
    }
    sandbox.run(&["init"]);
    let updated = answers(sandbox);
    assert_eq!(sandbox.run(&["clear"]).status, 0);
    sandbox.run(&["init"]);
    for ((question, new), old) in QUESTIONS.iter().zip(answers(sandbox)).zip(updated) {
        assert_eq!(old, new, "{seed}, {question:?}");
    }
}

#[test]
fn updates_give_what_a_new_index_gives() {
    for seed in [1, 2] {
        compare(&Sandbox::new(), 16, seed);
    }
}

#[test]
fn updates_give_what_a_new_index_gives_by_meaning_too() {
    compare(&Sandbox::new().with_meaning(), 6, 3);
}
