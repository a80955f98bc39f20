//! `compare` counts, names and fails as it should.

mod common;

use common::{bench, bench_kiosk, kiosk};

#[test]
fn a_regression_beyond_the_bound_fails_and_is_named() {
    let folder = kiosk();
    let (a, b) = (folder.path().join("a.json"), folder.path().join("b.json"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    bench_kiosk(folder.path(), "run", &["--out", a], &[]);
    // Depth over all: the file at the root comes first, whatever was asked.
    bench_kiosk(folder.path(), "run", &["--out", b], &[("COLGREP_DEPTH_BOOST", "5")]);
    let check = |args: &[&str], status: i32, expected: &[&str]| {
        let output = bench(&[&["compare"], args].concat(), &[]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
        for part in expected {
            assert!(text.contains(part), "{part:?} is missing in {text}");
        }
    };
    check(&[a, a, "--fail-below", "-0.002"], 0, &["difference +0.0000", "(same;", "0 better, 0 worse, 7 the same"]);
    check(&[a, b], 0, &["COLGREP_DEPTH_BOOST: 0.2 -> 5", "worst regressions", "\"charge a card\"", "first main.py"]);
    check(&[a, b, "--fail-below", "-0.002"], 1, &[]);
    check(&[b, a, "--fail-below", "-0.002"], 0, &[]);
    check(&[a, "/nonexistent"], 2, &[]);
}
