//! Settings from the user, the repository, the environment and flags; and the commands that say what is in force.

use std::fs;

use crate::common::Sandbox;

/// A project with a user's settings file.
fn configured(user: &str, repository: &str) -> (Sandbox, String) {
    let sandbox = Sandbox::of("relay");
    let folder = sandbox.data().with_file_name("config");
    fs::create_dir_all(folder.join("colgrep")).expect("a folder");
    fs::write(folder.join("colgrep/config.toml"), user).expect("settings");
    if !repository.is_empty() {
        sandbox.write(".colgrep.toml", repository);
    }
    (sandbox, folder.display().to_string())
}

#[test]
fn flag_then_environment_then_repository_then_user_then_default() {
    let user = "results = 4\nprofile = \"classic\"\n[ranking]\nk1 = 2.0\nalpha = 0.1\n";
    for (repository, vars, flags, files, k1, profile) in [
        ("", &[][..], &[][..], 4, "2", "classic"),
        ("results = 3\n[ranking]\nk1 = 3.0\n", &[], &[], 3, "3", "classic"),
        ("results = 3\n[ranking]\nk1 = 3.0\n", &[("COLGREP_K1", "4")], &[], 3, "4", "classic"),
        ("results = 3\n", &[("COLGREP_PROFILE", "default")], &[], 3, "2", "default"),
        ("results = 3\n", &[("COLGREP_K1", "4")], &["-k", "2"], 2, "4", "classic"),
    ] {
        let (sandbox, config) = configured(user, repository);
        let mut vars = vars.to_vec();
        vars.push(("XDG_CONFIG_HOME", &config));
        let mut args = vec!["parse request", "-l"];
        args.extend(flags);
        assert_eq!(sandbox.run_with(&vars, &args).out.lines().count(), files, "{repository:?} {vars:?} {flags:?}");
        let knobs = sandbox.run_with(&vars, &["knobs"]).out;
        assert!(knobs.contains(&format!("COLGREP_K1={k1} ")), "{repository:?} {vars:?}: {knobs}");
        let shown = sandbox.run_with(&vars, &["settings", "profile"]).out;
        assert!(shown.contains(&format!("profile = {profile} ")), "{shown}");
    }
}

#[test]
fn what_is_shown_says_where_it_comes_from() {
    let (sandbox, config) = configured("results = 4\n", "color = \"never\"\nignore = [\"docs/\"]\n");
    let vars = [("XDG_CONFIG_HOME", config.as_str()), ("COLGREP_K1", "2")];
    let shown = sandbox.run_with(&vars, &["settings"]).out;
    for line in [
        "results = 4  (".to_string() + &config + "/colgrep/config.toml)",
        "color = never  (ROOT/.colgrep.toml)".to_string(),
        "ignore = [docs/]  (ROOT/.colgrep.toml)".to_string(),
        "per_file = 1  (default)".to_string(),
        "ranking.k1 = 2  (environment: COLGREP_K1)".to_string(),
    ] {
        assert!(shown.lines().any(|l| l == line), "no {line:?} in {shown}");
    }
    assert!(sandbox.run_with(&vars, &["settings", "--show"]).out.contains("ranking.b = "), "{shown}");
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.run_with(&vars, &["settings", "--json"]).out).expect("JSON");
    assert_eq!(json[0], serde_json::json!({"key": "results", "value": 4, "source": config + "/colgrep/config.toml"}));
}

#[test]
fn settings_are_written_and_taken_back() {
    let (sandbox, config) = configured("# mine\nresults = 4 # few\n", "");
    let vars = [("XDG_CONFIG_HOME", config.as_str())];
    let file = format!("{config}/colgrep/config.toml");
    for (args, status, message) in [
        (&["settings", "per_file", "2"][..], 0, "per_file = 2, written to"),
        (&["settings", "ranking.alpha", "0.4"], 0, "written to"),
        (&["settings", "types.web", "*.html,*.ts"], 0, "[*.html, *.ts]"),
        (&["settings", "types.web", "*.html", "*.ts"], 0, "[*.html, *.ts]"),
        (&["settings", "per_fil", "2"], 2, "did you mean \"per_file\"?"),
        (&["settings", "per_file", "two"], 2, "per_file takes a whole number from 1 to 1000, not \"two\""),
        (&["settings", "nothing"], 2, "there is no setting"),
        (&["settings", "alpha"], 2, "did you mean \"ranking.alpha\"?"),
        (&["settings", "COLGREP_ALPHA"], 2, "did you mean \"ranking.alpha\"?"),
        (&["settings", "--unset", "per_file"], 0, "taken out"),
        (&["settings", "--unset", "per_file"], 1, "is not set"),
    ] {
        let ran = sandbox.run_with(&vars, args);
        assert!(ran.status == status && ran.err.contains(message), "{args:?}: {ran:?}");
    }
    let text = fs::read_to_string(&file).expect("settings");
    assert_eq!(text, "# mine\nresults = 4 # few\n\n[ranking]\nalpha = 0.4\n\n[types]\nweb = [\"*.html\", \"*.ts\"]\n");
    assert_eq!(sandbox.run_with(&vars, &["stats", "-t", "web", "-l", "-k", "1"]).out, "web/api.ts\n");
    assert!(sandbox.run_with(&vars, &["--type-list"]).out.contains("web: *.html, *.ts (settings)"));
}

#[test]
fn bad_files_are_errors_that_name_them() {
    for (user, repository, message) in [
        ("result = 4\n", "", "/colgrep/config.toml: there is no setting \"result\"; did you mean \"results\"?"),
        ("results = \n", "", "/colgrep/config.toml: "),
    ] {
        let (sandbox, config) = configured(user, repository);
        for command in ["parse", "status", "init"] {
            let ran = sandbox.run_with(&[("XDG_CONFIG_HOME", &config)], &[command]);
            assert!(ran.status == 2 && ran.err.contains(message) && ran.out.is_empty(), "{command}: {ran:?}");
        }
    }
}

#[test]
fn bad_entries_of_an_untrusted_repository_are_ignored_with_a_remark() {
    for (repository, message) in [
        ("colour = \"blue\"\n", "ROOT/.colgrep.toml: ignored: there is no setting \"colour\"; did you mean \"color\"?"),
        ("color = \"blue\"\n", "ROOT/.colgrep.toml: ignored: color takes auto, always, never, not \"blue\""),
        ("results = \n", "ROOT/.colgrep.toml: ignored: "),
        ("[ranking]\nalhpa = 0.5\n", "did you mean \"ranking.alpha\"?"),
    ] {
        let (sandbox, config) = configured("", &format!("code_only = false\n{repository}"));
        for args in [&["parse", "-l"][..], &["-e", "parse"], &["status"], &["init"], &["settings"]] {
            let ran = sandbox.run_with(&[("XDG_CONFIG_HOME", &config)], args);
            assert!(ran.status == 0 && format!("{}{}", ran.out, ran.err).contains(message), "{args:?}: {ran:?}");
        }
        let trusting = sandbox.run_with(&[("XDG_CONFIG_HOME", &config)], &["settings", "--trust"]);
        assert!(trusting.status == 2 && !trusting.err.contains("ignored"), "{trusting:?}");
    }
    let (sandbox, config) = configured("", "colour = \"blue\"\nresults = 1\n");
    let ran = sandbox.run_with(&[("XDG_CONFIG_HOME", &config)], &["parse", "-l"]);
    assert_eq!(ran.out.lines().count(), 1, "the other entries are taken: {ran:?}");
}

#[test]
fn a_repository_hides_files_in_both_ways_of_searching() {
    let (sandbox, _) = configured("", "ignore = [\"/vendor/\", \"*_test.rs\", \"!keep_test.rs\"]\n");
    for args in [&["parse", "-l", "-k", "99"][..], &["-e", "parse", "-l"]] {
        let out = sandbox.run(args).out;
        assert!(out.contains("src/http/parse.rs") && !out.contains("vendor") && !out.contains("_test.rs"), "{out}");
    }
    let below = sandbox.command(&["-e", "parse", "-l"]).current_dir(sandbox.root().join("tests")).output();
    assert_eq!(below.expect("a run").status.code(), Some(1), "the settings hold in a subfolder too");
    let named = ["vendor", "tests/parse_test.rs"].map(|path| sandbox.run(&["-e", ".", "-l", path]).out);
    assert!(named[0].starts_with("vendor/"), "what is named is searched: {named:?}");
    assert_eq!(named[1], "tests/parse_test.rs\n");
}

#[test]
fn what_is_ignored_is_as_if_it_were_not_there() {
    let (sandbox, _) = configured("", "ignore = [\"/vendor/\", \"*_test.rs\"]\n");
    let (bare, _) = configured("", "");
    fs::remove_dir_all(bare.root().join("vendor")).expect("a folder");
    fs::remove_file(bare.root().join("tests/parse_test.rs")).expect("a file");
    for query in ["parse request", "RingBuffer", "retry", "json"] {
        let answer = |sandbox: &Sandbox| sandbox.run(&[query, "-k", "99", "--explain"]).out;
        assert_eq!(answer(&sandbox), answer(&bare), "{query}: scores too");
    }
    assert!(sandbox.run(&["status"]).out.contains("files     11 ("), "{}", sandbox.run(&["status"]).out);
    assert!(sandbox.run(&["doctor"]).out.contains("the index is what the files are"));
    sandbox.write(".colgrep.toml", "");
    assert!(sandbox.run(&["parse", "-l", "-k", "99"]).out.contains("vendor/"), "found again once that is taken back");
}

#[test]
fn code_only_and_headings_can_be_settings_and_flags_go_before_them() {
    let (sandbox, _) = configured("", "code_only = true\nheading = \"always\"\n");
    let prose = |flags: &[&str]| sandbox.run(&[&["retry", "-l"], flags].concat()).out.contains(".md");
    assert!(!prose(&[]) && prose(&["--no-code-only"]));
    assert!(sandbox.run(&["RingBuffer", "-k", "1"]).out.starts_with("src/queue/ring.rs\n3:"));
    assert!(sandbox.run(&["RingBuffer", "-k", "1", "--no-heading"]).out.starts_with("src/queue/ring.rs:3:"));
}

#[test]
fn a_model_is_chosen_after_a_look_at_it() {
    let (sandbox, config) = configured("", "");
    let vars = [("XDG_CONFIG_HOME", config.as_str())];
    sandbox.write("model/tokenizer.json", "{}");
    let ran = sandbox.run_with(&vars, &["set-model", "model"]);
    assert!(ran.status == 2 && ran.err.contains("model"), "{ran:?}");
    let ran = sandbox.run_with(&vars, &["set-model", "nosuchfolder"]);
    assert!(ran.status == 2 && ran.err.contains("neither a folder that exists"), "{ran:?}");
    assert_eq!(sandbox.run_with(&vars, &["set-model", "default"]).status, 0);
    assert!(sandbox.run_with(&vars, &["settings", "model"]).out.contains("model = default "));
    // The setting is looked at as well.
    let ran = sandbox.run_with(&vars, &["settings", "model", "./nosuchfolder"]);
    assert!(ran.status == 2 && ran.err.contains("nosuchfolder"), "{ran:?}");
    for written in ["default", "\"default\""] {
        let ran = sandbox.run_with(&vars, &["settings", "model", written]);
        assert!(ran.status == 0 && ran.err.contains("model = default, written to"), "{ran:?}");
    }
}

#[test]
fn the_doctor_says_what_is_there_and_what_to_do() {
    let (sandbox, _) = configured("", "results = 5\n");
    assert!(sandbox.run(&["doctor"]).out.contains("do    index    there is none yet"));
    sandbox.run(&["init"]);
    sandbox.write("src/new.rs", "fn a() {}\n");
    sandbox.write("logo.png", "\u{89}PNG\0\0");
    sandbox.run(&["init"]);
    sandbox.write("src/new.rs", "fn changed() {}\n");
    let out = sandbox.run(&["doctor"]).out;
    for line in [
        "ok    index    14 files, ",
        "0 files are new, 1 changed, 0 gone",
        "note  skipped  1 (binary); `colgrep status`",
        "note  settings results = 5 (ROOT/.colgrep.toml)",
    ] {
        assert!(out.contains(line), "no {line:?} in {out}");
    }
    let json: serde_json::Value = serde_json::from_str(&sandbox.run(&["doctor", "--json"]).out).expect("JSON");
    assert!(
        json["findings"].as_array().expect("findings").iter().any(|f| f["about"] == "fresh" && f["level"] == "note")
    );
}

#[test]
fn other_commands() {
    let sandbox = Sandbox::of("relay");
    let outline = sandbox.run(&["outline", "src/queue/ring.rs"]).out;
    insta::assert_snapshot!("outline", outline);
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.run(&["outline", "src/queue/ring.rs", "--json"]).out).expect("JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(outline.lines().count()));
    sandbox.run(&["init"]);
    assert!(sandbox.run(&["--stats"]).out.contains("ROOT\n    13 files, "));
    let stats: serde_json::Value = serde_json::from_str(&sandbox.run(&["--stats", "--json"]).out).expect("JSON");
    assert_eq!((&stats["files"], &stats["indexes"][0]["root"]), (&13.into(), &"ROOT".into()));
    assert!(sandbox.run(&["man", "search"]).out.contains(".TH colgrep-search 1  \"colgrep "));
    for (args, expected) in [
        (&["completions", "bash"][..], "--hyperlink-format"),
        (&["completions", "zsh"], "#compdef colgrep"),
        (&["completions", "fish"], "complete -c colgrep"),
        (&["completions", "powershell"], "Register-ArgumentCompleter"),
        (&["completions", "elvish"], "edit:completion:arg-completer[colgrep]"),
        (&["man"], ".TH colgrep 1"),
        (&["man", "settings"], ".TH colgrep-settings 1"),
    ] {
        let ran = sandbox.run(args);
        assert!(ran.status == 0 && ran.out.contains(expected), "{args:?}: {}", ran.out);
    }
    let page = sandbox.run(&["man"]).out;
    let help = sandbox.run(&["--help"]).out;
    let short = sandbox.run(&["-h"]).out;
    assert!(!page.contains("EXTRA"), "{page}");
    for (heading, title, part) in [
        (".SH EXAMPLES", "Examples:", "TODO|FIXME"),
        (".SH \"EXIT STATUS\"", "Exit status:", "nothing found"),
        (".SH ENVIRONMENT", "Environment:", "COLGREP_DATA_DIR"),
        (".SH FILES", "Files:", ".colgrep.toml"),
    ] {
        let section = page.split(heading).nth(1).unwrap_or_default();
        assert!(section.contains(part), "{heading}: {page}");
        let section = help.split(title).nth(1).unwrap_or_default();
        assert!(section.contains(part), "{title}: {help}");
    }
    assert!(short.contains("TODO|FIXME") && !short.contains("COLGREP_DATA_DIR"), "{short}");
    assert!(short.lines().count() <= 55, "one screen: {short}");
    for (args, message) in [
        (&["outline", "nowhere.rs"][..], "could not read nowhere.rs"),
        (&["outline", "src"], "src is a folder"),
        (&["man", "nosuch"], "there is no subcommand"),
        (&["completions", "tcsh"], "possible values"),
    ] {
        sandbox.refuses(args, message);
    }
}

#[test]
fn the_recorded_demo_is_what_the_program_prints() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/generated/demo.txt");
    let recorded = fs::read_to_string(path).expect("docs/generated/demo.txt");
    let sandbox = Sandbox::of("relay").with_meaning();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_colgrep"));
    let mut printed = String::new();
    for command in recorded.lines().filter_map(|l| l.strip_prefix("$ ")) {
        let like = sandbox.command(&[]);
        let path = format!("{}:/usr/bin:/bin", program.parent().expect("a folder").display());
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", command]).current_dir(sandbox.root()).env_clear().env("PATH", path);
        let ran = shell.envs(like.get_envs().filter_map(|(k, v)| Some((k, v?)))).output().expect("a shell");
        printed += &format!("$ {command}\n{}\n", String::from_utf8_lossy(&ran.stdout));
    }
    assert!(printed == recorded, "the demo is old, run `just demo`; it prints now:\n{printed}");
}

#[test]
fn no_library_of_a_repository_is_loaded() {
    let sandbox = Sandbox::of("relay");
    let capi = ".venv/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so";
    for path in [capi, "libonnxruntime.so", "bin/libonnxruntime.so"] {
        sandbox.write(path, "no library: to load it is an error of its own");
    }
    sandbox.write("bin/python3", "");
    // The model in the program needs no library.
    sandbox.write("m/tokenizer.json", "{}");
    let config = sandbox.data().with_file_name("config/colgrep/config.toml");
    std::fs::write(config, format!("model = {:?}\n", sandbox.root().join("m"))).expect("settings");
    let venv = sandbox.root().join(".venv");
    let vars = [
        ("VIRTUAL_ENV", venv.to_str().expect("a name")),
        ("CONDA_PREFIX", ".venv"),
        ("PATH", ":bin:."),
        ("LD_LIBRARY_PATH", "/usr/lib:"),
    ];
    let doctor = sandbox.run_with(&vars, &["doctor"]);
    assert_eq!(doctor.status, 0, "{doctor:?}");
    assert!(doctor.out.contains(&format!("ROOT/{capi} is not loaded: it lies inside the project ROOT")), "{doctor:?}");
    assert_eq!(doctor.out.matches("libonnxruntime.so is not loaded").count(), 1, "{doctor:?}");
}

#[test]
fn what_is_set_at_once_is_all_kept() {
    let sandbox = Sandbox::new();
    let wanted = [
        ("results", "9"),
        ("per_file", "2"),
        ("lines", "3"),
        ("code_only", "true"),
        ("color", "never"),
        ("heading", "never"),
        ("profile", "classic"),
        ("background", "false"),
    ];
    let children: Vec<_> = wanted
        .iter()
        .map(|(key, value)| {
            let mut command = sandbox.command(&["settings", key, value]);
            command.stderr(std::process::Stdio::null()).spawn().expect("a binary")
        })
        .collect();
    for mut child in children {
        assert_eq!(child.wait().expect("an end").code(), Some(0));
    }
    for (key, value) in wanted {
        let shown = sandbox.run(&["settings", key]).out;
        assert!(shown.starts_with(&format!("{key} = {value}  (")), "{key}: {shown}");
    }
}
