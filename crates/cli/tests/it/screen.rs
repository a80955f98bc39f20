//! The binary before people: what fits a terminal, what is a link, which colours there are.

use crate::common::{Sandbox, on_terminal};

#[cfg(target_os = "linux")]
#[test]
fn what_does_not_fit_the_height_is_left_out_at_the_end() {
    let sandbox = Sandbox::new();
    for i in 0..9 {
        sandbox.write(&format!("f{i}.py"), &format!("def zebra_{i}():\n    pass\n"));
    }
    sandbox.run(&["init"]);
    let whole = sandbox.run(&["zebra", "-k", "9"]);
    let Some(cut) = on_terminal(&sandbox, "dumb", "stty rows 7; colgrep zebra") else { return };
    let shown: Vec<&str> = cut.lines().filter(|line| line.contains(":1:def zebra_")).collect();
    assert!((1..=5).contains(&shown.len()) && whole.out.starts_with(shown[0]), "the best stay: {cut}");
    let last = cut.lines().last().expect("a word behind the last");
    assert!(last.contains(" results fit on the screen; -k ") && last.contains("or a pager shows all"), "{cut}");
    let all = on_terminal(&sandbox, "dumb", "stty rows 7; colgrep zebra -k 9").expect("a terminal");
    assert_eq!(all.lines().filter(|line| line.contains(":1:def zebra_")).count(), 9, "who asks sees all: {all}");
    let paged = on_terminal(&sandbox, "dumb", "stty rows 7; PAGER=false colgrep zebra -k 9").expect("a terminal");
    assert_eq!(paged, all, "no pager is run that nobody asked for: {paged}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_list_is_cut_inside_a_file() {
    let sandbox = Sandbox::new();
    let text: String = (0..30).map(|i| format!("def zebra_{i}():\n    pass\n\n")).collect();
    sandbox.write("a.py", &text);
    sandbox.write("b.py", &text);
    sandbox.run(&["init"]);
    for list in ["file:a.py", "lang:python", "--kind function"] {
        let Some(cut) = on_terminal(&sandbox, "dumb", &format!("stty rows 12; colgrep {list}")) else { return };
        let rows: usize = cut.lines().map(|line| line.chars().count().div_ceil(60).max(1)).sum();
        let units = cut.lines().filter(|line| line.contains("def zebra_")).count();
        assert!(rows < 12 && units > 5 && cut.contains("a part of the list fits"), "{list}: {rows}: {cut}");
    }
    for i in 0..9 {
        sandbox.write(&format!("many/f{i}.py"), "def okapi():\n    pass\n\ndef okapi_2():\n    pass\n");
    }
    sandbox.run(&["init"]);
    for height in 9..13 {
        let command = format!("stty rows {height}; colgrep --kind function many --heading");
        let Some(cut) = on_terminal(&sandbox, "dumb", &command) else { return };
        let rows: Vec<&str> = cut.lines().filter(|line| !line.starts_with("colgrep:") && !line.is_empty()).collect();
        assert!(rows.last().is_some_and(|row| row.contains("def okapi")), "ends in no heading: {height}: {cut}");
        assert!(cut.contains(" of 9 results fit on the screen"), "{height}: {cut}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_belongs_together_fits_the_terminal_too() {
    let sandbox = Sandbox::new();
    let name = format!("zebra{}", "_of_the_ring".repeat(3));
    sandbox.write("ring.py", &format!("def {name}():\n    pass\n"));
    let parameters = "a_parameter, ".repeat(9);
    for i in 0..9 {
        let text = format!("from ring import {name}\n\ndef user_{i}({parameters}):\n    {name}()\n");
        sandbox.write(&format!("f{i}.py"), &text);
    }
    sandbox.run(&["init"]);
    for command in [format!("--calls {name} --depth 2"), "impact ring.py".to_string()] {
        let Some(cut) = on_terminal(&sandbox, "dumb", &format!("stty rows 9; colgrep {command}")) else { return };
        let rows: Vec<&str> = cut.lines().filter(|line| line.contains(":3:def user_")).collect();
        assert!((1..9).contains(&rows.len()) && cut.contains("fit on the screen; "), "{command}: {cut}");
        assert!(rows.iter().all(|row| row.chars().count() <= 60 && row.ends_with(']')), "{command}: {cut}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_remark_that_is_wrapped_has_its_rows_too() {
    let sandbox = Sandbox::new();
    for i in 0..9 {
        sandbox.write(&format!("src/f{i}.py"), &format!("def zebra_{i}():\n    pass\n"));
    }
    let empty = format!("{}.py", "x".repeat(130));
    sandbox.write(&empty, "");
    sandbox.run(&["init"]);
    let Some(cut) = on_terminal(&sandbox, "dumb", &format!("stty rows 8; colgrep zebra src {empty}")) else { return };
    let rows: usize = cut.lines().map(|line| line.chars().count().div_ceil(60).max(1)).sum();
    assert!(rows < 8 && cut.contains(&format!("{empty} is empty")), "{rows}: {cut}");
    assert!(cut.lines().filter(|line| line.contains("def zebra_")).count() > 1, "{cut}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_path_has_its_own_line_and_wrapped_lines_are_counted() {
    let sandbox = Sandbox::new();
    let folder = "packages/a_rather_long_name_of_a_package/sources/components/parts";
    for i in 0..9 {
        sandbox.write(&format!("{folder}/f{i}.py"), &format!("def zebra_{i}():\n    pass\n"));
    }
    sandbox.run(&["init"]);
    let whole = sandbox.run(&["zebra", "-k", "9"]).out;
    let (path, code) = whole.lines().next().and_then(|line| line.split_once(":1:")).expect("a result");
    let Some(cut) = on_terminal(&sandbox, "dumb", "stty rows 12; colgrep zebra") else { return };
    assert!(cut.contains(&format!("{path}\n1:{code}\n")), "{cut}");
    let rows: usize = cut.lines().map(|line| line.chars().count().div_ceil(60).max(1)).sum();
    assert!(rows < 12 && cut.contains(" results fit on the screen; "), "{rows}: {cut}");
    assert!(cut.lines().filter(|line| line.contains("def zebra_")).count() > 1, "{cut}");
}

#[test]
fn a_link_covers_the_number_and_what_is_found_has_a_colour_of_its_own() {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", "def zebra():\n    pass\n");
    for args in [&["zebra"][..], &["-e", "zebra"]] {
        let flags = ["--color=always", "--no-heading", "--hyperlink-format=vscode"];
        let out = sandbox.run(&[args, &flags].concat()).out;
        let (before, behind) = out.split_once("\u{1b}]8;;\u{1b}\\").expect("an end of the link");
        assert!(before.starts_with("\u{1b}]8;;vscode://file") && before.contains("a.py:1:"), "{args:?}: {out:?}");
        assert!(before.contains("\u{1b}[35ma.py") && before.ends_with("\u{1b}[32m1\u{1b}[0m"), "{args:?}: {out:?}");
        assert!(behind.contains("zebra") && !behind.contains("\u{1b}[35mzebra"), "{args:?}: {out:?}");
    }
}
