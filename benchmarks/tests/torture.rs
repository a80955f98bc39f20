//! A small run of each kind of torture: the promises of `docs/reliability.md` hold on the cases that a seed draws.

mod common;

use common::bench;

fn torture(args: &[&str]) -> String {
    let output = bench(&[&["torture"], args].concat(), &[("RUST_BACKTRACE", "0")]);
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{said}\n{errors}", output.status);
    said.into_owned()
}

#[test]
fn a_stop_at_any_step_is_healed_by_the_next_run() {
    let table = torture(&["kill", "--cases", "24"]);
    for part in ["Build", "Update", "Merge", "Vectors", "Clear"] {
        let row = table.lines().find(|l| l.starts_with(&format!("| kill {part} | 24 |"))).expect("a row");
        assert!(row.contains(" | 0 | ") && row.contains("stopped"), "{row}");
    }
    assert!(table.contains("| kill a process | 24 |"), "{table}");
}

#[test]
fn damage_is_met_or_harmless_and_healed() {
    let table = torture(&["rot", "--cases", "60"]);
    let row = table.lines().find(|l| l.starts_with("| rot | 60 |")).expect("a row");
    assert!(row.contains(" | 0 | ") && row.contains(" errors,"), "{row}");
}
