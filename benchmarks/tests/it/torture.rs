//! A small run of each kind of torture, on cases drawn from a seed: checks the promises of `docs/reliability.md`.

use crate::common::printed;

fn torture(args: &[&str]) -> String {
    printed(&[&["torture"], args].concat(), &[("RUST_BACKTRACE", "0")])
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

#[test]
fn what_is_forged_ends_nothing_and_does_not_last() {
    let table = torture(&["forge", "--cases", "48", "--time-limit", "30"]);
    assert_sound(&table, &["forged indexes", "forged frames"]);
}

/// Each part has a row that says how many cases it went through, and that none failed.
fn assert_sound(table: &str, parts: &[&str]) {
    for part in parts {
        let row = table.lines().find(|l| l.starts_with(&format!("| {part} |"))).expect("a row");
        let fields: Vec<&str> = row.split('|').map(str::trim).collect();
        assert!(fields[2] != "0" && fields[4] == "0", "{row}");
    }
}

#[test]
fn a_crowd_answers_as_one() {
    assert_sound(
        &torture(&["crowd", "--cases", "40", "--time-limit", "15"]),
        &["crowd of 8, keyword", "crowd of 8, full"],
    );
}

#[test]
fn bombs_take_bounded_time_and_memory() {
    let table = torture(&["bombs", "--cases", "16", "--time-limit", "12"]);
    assert_sound(&table, &["bombs, repeated texts", "bombs, 250 mutated sources a case", "bombs, trees"]);
}

#[test]
fn mutated_sources_end_workers_at_most() {
    let table = torture(&["parsers", "--cases", "150", "--time-limit", "30"]);
    assert_sound(&table, &["parsers, 64 mutated texts a case"]);
    assert!(table.contains(" parsed"), "{table}");
}

#[test]
fn a_mutated_request_is_answered() {
    let table = torture(&["mcp", "--cases", "600", "--time-limit", "15"]);
    assert_sound(&table, &["mcp, 20 requests a case"]);
    assert!(table.contains(" errors, ") && table.contains(" results"), "{table}");
}

#[cfg(unix)]
#[test]
fn no_exchange_of_names_leads_a_server_out_of_its_root() {
    let table = torture(&["race", "--cases", "40", "--time-limit", "15"]);
    assert_sound(&table, &["race, every route a case"]);
    assert!(table.contains(" results") && table.contains(" answers of HTTP"), "{table}");
}

#[test]
fn parts_of_identifiers_are_found_in_every_spelling_and_none_is_denied() {
    let table = torture(&["held", "--cases", "200"]);
    assert_sound(&table, &["parts of identifiers"]);
    assert!(table.contains("| 200 | 200 | 0 |"), "{table}");
}

#[cfg(unix)]
#[test]
fn ignore_files_mean_what_they_mean_to_git() {
    let table = torture(&["ignored", "--cases", "200"]);
    assert_sound(&table, &["ignore files of a tree"]);
    assert!(table.contains("| 200 | 200 | 0 |"), "{table}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_cluster_that_loses_parts_loses_no_answer() {
    assert_sound(&torture(&["cluster", "--cases", "6", "--time-limit", "60"]), &["cluster"]);
}

#[cfg(unix)]
#[test]
fn a_starved_run_says_so_and_loses_nothing() {
    assert_sound(&torture(&["starve", "--cases", "30", "--time-limit", "20"]), &["starve"]);
}

#[cfg(unix)]
#[test]
fn no_trap_of_a_clone_closes() {
    assert_sound(&torture(&["traps", "--cases", "12", "--time-limit", "20"]), &["traps, clones"]);
}
