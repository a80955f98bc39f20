//! `install` and `uninstall`: what is written for each agent, that it can be repeated, and that it can be taken back.

use std::fs;

use crate::common::Sandbox;
use crate::common::agents::{AGENTS, everything, home, lived_in};

#[test]
fn what_is_installed_is_taken_back_byte_for_byte() {
    for filled in [false, true] {
        for agent in AGENTS {
            for project in [&[][..], &["--project"]] {
                let sandbox = Sandbox::of("relay");
                if filled {
                    lived_in(&sandbox, str::to_string);
                }
                let what = format!("{agent} {project:?} filled: {filled}");
                let before = everything(&home(&sandbox));
                let dry = sandbox.run(&[&["install", agent, "--dry-run"], project].concat());
                assert!(dry.status == 0 && dry.out.contains("+"), "{what}: {dry:?}");
                assert_eq!(everything(&home(&sandbox)), before, "{what}: a dry run writes nothing");
                let ran = sandbox.run(&[&["install", agent], project].concat());
                assert_eq!(ran.status, 0, "{what}: {ran:?}");
                let installed = everything(&home(&sandbox));
                assert_ne!(installed, before, "{what}");
                let again = sandbox.run(&[&["install", agent], project].concat());
                assert!(again.err.contains("is up to date") && !again.err.contains("wrote"), "{what}: {again:?}");
                assert_eq!(everything(&home(&sandbox)), installed, "{what}: the second time changes nothing");
                let dry = sandbox.run(&[&["uninstall", agent, "--dry-run"], project].concat());
                assert!(dry.status == 0 && dry.out.contains('-'), "{what}: {dry:?}");
                assert_eq!(everything(&home(&sandbox)), installed, "{what}: a dry run writes nothing");
                let ran = sandbox.run(&[&["uninstall", agent], project].concat());
                assert_eq!(ran.status, 0, "{what}: {ran:?}");
                let mut after = everything(&home(&sandbox));
                // The place of the indexes itself may stay, empty.
                after.remove(&sandbox.data().display().to_string());
                assert_eq!(after, before, "{what}");
                assert_eq!(sandbox.run(&[&["uninstall", agent], project].concat()).status, 1, "{what}: nothing left");
            }
        }
    }
}

#[test]
fn what_was_there_before_the_first_installation_stays() {
    for agent in AGENTS {
        let sandbox = Sandbox::of("relay");
        let settings = home(&sandbox).join("fresh");
        let folder = settings.to_str().expect("a path");
        let run = |what: &str| sandbox.run_with(&[("XDG_CONFIG_HOME", folder)], &[what, agent, "--project"]);
        assert_eq!(run("install").status, 0, "{agent}");
        // As in a clone, where nothing is known of the installation.
        fs::remove_dir_all(&settings).expect("receipts");
        let before = everything(&sandbox.root());
        assert_eq!(run("install").status, 0, "{agent}");
        let ran = run("uninstall");
        assert!(ran.status == 0 && ran.err.contains("was there before `install`, and stays"), "{agent}: {ran:?}");
        assert_eq!(everything(&sandbox.root()), before, "{agent}");
        assert_eq!(run("uninstall").status, 0, "{agent}");
        assert_ne!(everything(&sandbox.root()), before, "{agent}: the second time it goes");
    }
}

#[test]
fn the_folders_of_receipts_go_with_the_last() {
    let sandbox = Sandbox::of("relay");
    let settings = home(&sandbox).join("fresh");
    let run = |args: &[&str]| sandbox.run_with(&[("XDG_CONFIG_HOME", settings.to_str().expect("a path"))], args).status;
    let both = ["claude-code", "gemini"];
    for project in [&[][..], &["--project"]] {
        for uninstalled in [both, ["gemini", "claude-code"]] {
            both.iter().for_each(|agent| assert_eq!(run(&[&["install", agent], project].concat()), 0, "{agent}"));
            assert!(settings.join("colgrep/installs").is_dir());
            for agent in uninstalled {
                assert_eq!(run(&[&["uninstall", agent], project].concat()), 0, "{agent}");
            }
            assert!(!settings.exists(), "{project:?} {uninstalled:?}");
        }
    }
    let own = settings.join("colgrep");
    fs::create_dir_all(&own).expect("a folder");
    for args in [&["uninstall", "gemini"][..], &["install", "gemini"], &["uninstall", "gemini"]] {
        run(args);
        assert!(own.is_dir(), "a folder of the user's stays: {args:?}");
    }
    assert!(!own.join("installs").exists());
}

#[test]
fn a_file_of_two_agents_goes_with_the_last() {
    let sandbox = Sandbox::of("relay");
    let before = everything(&home(&sandbox));
    let run = |what: &str, agent: &str| sandbox.run(&[what, agent, "--project"]);
    let notes = || sandbox.root().join("AGENTS.md").exists();
    assert_eq!((run("install", "codex").status, run("install", "opencode").status), (0, 0));
    let first = run("uninstall", "codex");
    assert!(first.status == 0 && first.err.contains("AGENTS.md stays, for opencode\n") && notes(), "{first:?}");
    assert_eq!(run("uninstall", "codex").status, 1, "nothing of it is left");
    assert!(run("uninstall", "opencode").status == 0 && !notes());
    let mut after = everything(&home(&sandbox));
    after.remove(&sandbox.data().display().to_string());
    assert_eq!(after, before);
}

#[test]
fn entries_are_what_the_agents_document() {
    let sandbox = Sandbox::of("relay");
    lived_in(&sandbox, str::to_string);
    let json = |path: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(sandbox.root().join(path)).expect(path)).expect(path)
    };
    for agent in AGENTS {
        assert_eq!(sandbox.run(&["install", agent, "--project"]).status, 0, "{agent}");
    }
    let stdio = serde_json::json!({"type": "stdio", "command": "colgrep", "args": ["mcp"]});
    assert_eq!(json(".mcp.json")["mcpServers"]["colgrep"], stdio);
    assert_eq!(json(".vscode/mcp.json")["servers"]["colgrep"], stdio);
    assert_eq!(json(".cursor/mcp.json")["mcpServers"]["colgrep"]["args"], serde_json::json!(["mcp"]));
    assert_eq!(json(".gemini/settings.json")["mcpServers"]["a"]["command"], "b", "others' entries stay");
    for (path, table) in [
        (".junie/mcp/mcp.json", "mcpServers"),
        (".kiro/settings/mcp.json", "mcpServers"),
        (".zed/settings.json", "context_servers"),
    ] {
        let server = serde_json::json!({"command": "colgrep", "args": ["mcp"]});
        assert_eq!(json(path)[table]["colgrep"], server, "{path}");
    }
    let amp = fs::read_to_string(sandbox.root().join(".amp/settings.jsonc")).expect("settings.jsonc");
    assert!(amp.contains("// mine") && amp.contains("\"x\"") && amp.contains("\"colgrep\""), "{amp}");
    let opencode = fs::read_to_string(sandbox.root().join("opencode.json")).expect("opencode.json");
    assert!(opencode.contains("// mine") && opencode.contains("\"local\""), "{opencode}");
    for (path, event, command) in [
        (".codex/hooks.json", "SessionStart", "codex"),
        (".gemini/settings.json", "SessionStart", "gemini"),
        (".cursor/hooks.json", "sessionStart", "cursor"),
        (".github/hooks/colgrep.json", "sessionStart", "copilot"),
    ] {
        let file = json(path);
        let entry = &file["hooks"][event][0];
        let entry = if entry["hooks"].is_array() { &entry["hooks"][0] } else { entry };
        assert_eq!(entry["command"], format!("colgrep hook {command}"), "{path}: {file}");
    }
    assert_eq!(json(".cursor/hooks.json")["hooks"]["stop"][0]["command"], "x", "others' hooks stay");
    let claude = fs::read_to_string(sandbox.root().join(".claude/settings.json")).expect("settings.json");
    assert!(
        claude.contains("// mine") && claude.contains("\"date\"") && claude.contains("colgrep hook claude-code"),
        "{claude}"
    );
    let codex = fs::read_to_string(sandbox.root().join(".codex/config.toml")).expect("config.toml");
    assert!(codex.contains("# mine") && codex.contains("[mcp_servers.colgrep]\ncommand = \"colgrep\"\n"), "{codex}");
    let notes = [".junie/AGENTS.md", ".kiro/steering/colgrep.md", ".rules", ".windsurf/rules/colgrep.md"];
    for path in ["CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md"].iter().chain(&notes) {
        let text = fs::read_to_string(sandbox.root().join(path)).expect(path);
        assert_eq!(text.matches("<!-- colgrep:begin").count(), 1, "{path}: {text}");
    }
    for path in [".cursor/rules/colgrep.mdc", ".windsurf/rules/colgrep.md"] {
        assert!(fs::read_to_string(sandbox.root().join(path)).expect("a rule").starts_with("---\n"), "{path}");
    }
    sandbox.run(&["install", "codex"]);
    let user = fs::read_to_string(home(&sandbox).join(".codex/config.toml")).expect("config.toml");
    assert!(user.contains(&format!("command = \"{}\"", env!("CARGO_BIN_EXE_colgrep"))), "{user}");
}

#[cfg(unix)]
#[test]
fn the_program_is_named_by_the_path_that_people_call() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    let (bin, other) = (home(&sandbox).join("bin"), home(&sandbox).join("other"));
    for folder in [&bin, &other] {
        fs::create_dir(folder).expect("a folder");
    }
    symlink(env!("CARGO_BIN_EXE_colgrep"), bin.join("colgrep")).expect("a link");
    fs::write(other.join("colgrep"), "another program").expect("a file");
    let real = std::path::Path::new(env!("CARGO_BIN_EXE_colgrep"));
    let path = |folders: &[&std::path::Path]| std::env::join_paths(folders).expect("a path");
    for (called, path, expected) in [
        (real.to_path_buf(), path(&[&other, &bin]), bin.join("colgrep")),
        (bin.join("colgrep"), path(&[&other]), bin.join("colgrep")),
        (real.to_path_buf(), path(&[&other]), real.to_path_buf()),
    ] {
        let like = sandbox.command(&["install", "cursor"]);
        let mut command = std::process::Command::new(&called);
        command.args(like.get_args()).env_clear().envs(like.get_envs().filter_map(|(k, v)| Some((k, v?))));
        assert!(command.env("PATH", path).output().expect("a run").status.success());
        let text = fs::read_to_string(home(&sandbox).join(".cursor/mcp.json")).expect("a file");
        let servers: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(servers["mcpServers"]["colgrep"]["command"], expected.display().to_string(), "{called:?}");
    }
}

#[test]
fn what_people_change_meanwhile_stays() {
    let sandbox = Sandbox::of("relay");
    sandbox.write("AGENTS.md", "# Mine\n");
    sandbox.run(&["install", "codex", "--project"]);
    let path = sandbox.root().join("AGENTS.md");
    let text = fs::read_to_string(&path).expect("AGENTS.md");
    fs::write(&path, format!("{text}\n## Added later\n")).expect("AGENTS.md");
    let config = sandbox.root().join(".codex/config.toml");
    let servers = fs::read_to_string(&config).expect("config.toml");
    fs::write(&config, format!("model = \"o\"\n{servers}")).expect("config.toml");
    let ran = sandbox.run(&["install", "codex", "--project"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(fs::read_to_string(&path).expect("AGENTS.md").matches("<!-- colgrep:begin").count(), 1);
    assert_eq!(sandbox.run(&["uninstall", "codex", "--project"]).status, 0);
    assert_eq!(fs::read_to_string(&path).expect("AGENTS.md"), "# Mine\n\n## Added later\n");
    assert_eq!(fs::read_to_string(&config).expect("config.toml").trim(), "model = \"o\"");
}

#[test]
fn the_hook_tells_what_is_indexed_where_the_session_is() {
    let sandbox = Sandbox::of("relay");
    let told = |agent: &str, message: &str| -> serde_json::Value {
        use std::io::Write as _;
        let mut command = sandbox.command(&["hook", agent]);
        command.current_dir(home(&sandbox)).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut hook = command.spawn().expect("a hook");
        hook.stdin.take().expect("a pipe").write_all(message.as_bytes()).expect("a listener");
        let output = hook.wait_with_output().expect("an end");
        assert_eq!(output.status.code(), Some(0), "{agent}");
        serde_json::from_slice(&output.stdout).expect("JSON alone")
    };
    let cwd = serde_json::json!({"cwd": sandbox.root(), "source": "startup"}).to_string();
    let roots = serde_json::json!({"workspace_roots": [sandbox.root()]}).to_string();
    let text =
        |answer: &serde_json::Value| answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_string);
    assert!(text(&told("claude-code", &cwd)).is_some_and(|t| t.contains("has no index yet")));
    sandbox.run(&["init"]);
    for agent in ["claude-code", "codex", "gemini"] {
        assert!(text(&told(agent, &cwd)).is_some_and(|t| t.contains("holds 13 files with")), "{agent}");
    }
    assert!(told("cursor", &roots)["additional_context"].as_str().is_some_and(|t| t.contains("holds 13 files")));
    assert!(told("copilot", &cwd)["additionalContext"].as_str().is_some_and(|t| t.contains("holds 13 files")));
    for nothing in ["{\"cwd\": \"/\"}", "no JSON", ""] {
        let answer = told("claude-code", nothing);
        assert!(answer.is_object(), "{nothing:?}: {answer}");
    }
    let commands = ["must", "should", "always", "never", "prefer", "instead", "please", "use "];
    let lower = text(&told("codex", &cwd)).unwrap_or_default().to_lowercase();
    assert!(!commands.iter().any(|c| lower.contains(c)), "it states and never commands: {lower}");
}

#[test]
fn other_spellings_and_mistakes() {
    let sandbox = Sandbox::of("relay");
    for agent in AGENTS {
        assert_eq!(sandbox.run(&[&format!("--install-{agent}")]).status, 0, "{agent}");
        assert_eq!(sandbox.run(&[&format!("--uninstall-{agent}")]).status, 0, "{agent}");
    }
    assert_eq!(sandbox.run(&["--install-emacs"]).status, 2);
    let ran = sandbox.run(&["install", "emacs"]);
    assert!(ran.status == 2 && ran.err.contains("claude-code"), "{ran:?}");
    sandbox.write(".mcp.json", "{broken");
    let ran = sandbox.run(&["install", "claude-code", "--project"]);
    assert!(ran.status == 2 && ran.err.contains(".mcp.json can't be edited; nothing was changed"), "{ran:?}");
    assert!(!sandbox.root().join("CLAUDE.md").exists(), "all or nothing");
}

#[test]
fn sessions_are_offered_in_words_and_not_set() {
    let sandbox = Sandbox::of("relay");
    let sessions = |ran: &crate::common::Ran| ran.err.contains("colgrep settings sessions");
    let ran = sandbox.run(&["install", "claude-code"]);
    let folder = home(&sandbox).join(".claude/projects").display().to_string();
    assert!(ran.err.contains(&format!("colgrep settings sessions \"{folder}\"")), "{ran:?}");
    assert!(!sandbox.run(&["settings"]).out.contains(".claude/projects"), "nothing is set");
    assert!(!sessions(&sandbox.run(&["install", "cursor"])), "whose transcripts nobody can read");
    assert!(!sessions(&sandbox.run(&["install", "codex", "--dry-run"])));
    assert_eq!(sandbox.run(&["settings", "sessions", "~/.claude/projects"]).status, 0);
    assert!(!sessions(&sandbox.run(&["install", "claude-code"])), "named already");
    let ran = sandbox.run(&["install", "codex"]);
    let both = format!("\"{folder}, {}\"", home(&sandbox).join(".codex/sessions").display());
    assert!(ran.err.contains(&both), "what is set stays: {ran:?}");
}

#[test]
fn the_agents_own_folders_are_where_their_variables_say() {
    let sandbox = Sandbox::of("relay");
    let own = home(&sandbox).join("own");
    let folder = own.display().to_string();
    for (agent, variable, expected) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", &[".claude.json", "CLAUDE.md", "settings.json"][..]),
        ("codex", "CODEX_HOME", &["AGENTS.md", "config.toml", "hooks.json"]),
        ("copilot", "COPILOT_HOME", &["copilot-instructions.md", "hooks/colgrep.json", "mcp-config.json"]),
        ("cline", "CLINE_DIR", &["data/settings/cline_mcp_settings.json", "rules/colgrep.md"]),
        ("gemini", "GEMINI_CLI_HOME", &[".gemini/GEMINI.md", ".gemini/settings.json"]),
        ("opencode", "OPENCODE_CONFIG_DIR", &["AGENTS.md", "opencode.json"]),
    ] {
        let before = everything(&home(&sandbox));
        let vars = [(variable, folder.as_str())];
        assert_eq!(sandbox.run_with(&vars, &["install", agent]).status, 0, "{agent}");
        let installed = everything(&home(&sandbox));
        for name in expected {
            assert!(own.join(name).is_file(), "{agent}: {name}: {installed:?}");
        }
        let is_elsewhere = |path: &&String| !path.starts_with(&folder) && !path.contains("/config/colgrep/");
        let new: Vec<_> = installed.keys().filter(|path| !before.contains_key(*path)).filter(is_elsewhere).collect();
        assert!(new.is_empty(), "{agent}: {new:?}");
        assert_eq!(sandbox.run_with(&vars, &["uninstall", agent]).status, 0, "{agent}");
        assert_eq!(everything(&home(&sandbox)), before, "{agent}");
    }
    let ran = sandbox.run_with(&[("CLAUDE_CONFIG_DIR", &folder)], &["install", "claude-code"]);
    assert!(ran.err.contains(&own.join("projects").display().to_string()), "its sessions: {ran:?}");
    let settings = own.join("amp.json");
    let vars = [("AMP_SETTINGS_FILE", settings.to_str().expect("a path"))];
    assert_eq!(sandbox.run_with(&vars, &["install", "amp"]).status, 0);
    assert!(settings.is_file() && !home(&sandbox).join("config/amp/settings.json").exists());
    assert_eq!(sandbox.run_with(&vars, &["uninstall", "amp"]).status, 0);
    assert!(!settings.exists());
    // Notes in OpenCode's own folder would hide the usual ones.
    let usual = home(&sandbox).join("config/opencode/AGENTS.md");
    fs::create_dir_all(usual.parent().expect("a folder")).expect("a folder");
    fs::write(&usual, "mine\n").expect("a file");
    assert_eq!(sandbox.run_with(&[("OPENCODE_CONFIG_DIR", &folder)], &["install", "opencode"]).status, 0);
    assert!(!own.join("AGENTS.md").exists() && fs::read_to_string(&usual).expect("a text").contains("colgrep"));
}

#[test]
fn codex_finds_its_notes_where_another_file_goes_first() {
    let sandbox = Sandbox::of("relay");
    sandbox.write("AGENTS.override.md", "mine\n");
    let before = everything(&home(&sandbox));
    assert_eq!(sandbox.run(&["install", "codex", "--project"]).status, 0);
    for name in ["AGENTS.md", "AGENTS.override.md"] {
        let text = fs::read_to_string(sandbox.root().join(name)).expect(name);
        assert!(text.contains("<!-- colgrep:begin"), "{name}: {text}");
    }
    assert_eq!(sandbox.run(&["uninstall", "codex", "--project"]).status, 0);
    assert_eq!(everything(&home(&sandbox)), before);
}

#[test]
fn gemini_finds_its_notes_where_a_setting_names_another_file() {
    for (setting, expected) in [
        ("\"AGENTS.md\"", "AGENTS.md"),
        ("[\"CONTEXT.md\", \"NOTES.md\"]", "CONTEXT.md"),
        ("[\"CONTEXT.md\", \"GEMINI.md\"]", "GEMINI.md"),
        ("\"../up.md\"", "GEMINI.md"),
        ("7", "GEMINI.md"),
    ] {
        for project in [&[][..], &["--project"]] {
            let sandbox = Sandbox::of("relay");
            let folder = if project.is_empty() { home(&sandbox).join(".gemini") } else { sandbox.root() };
            // What the user's settings say holds for every project.
            let settings = home(&sandbox).join(".gemini/settings.json");
            fs::create_dir_all(settings.parent().expect("a folder")).expect("a folder");
            fs::write(&settings, format!("{{\"context\": {{\"fileName\": {setting}}} /* mine */}}")).expect("a file");
            let before = everything(&home(&sandbox));
            assert_eq!(sandbox.run(&[&["install", "gemini"], project].concat()).status, 0);
            for name in ["AGENTS.md", "CONTEXT.md", "NOTES.md", "GEMINI.md"] {
                assert_eq!(folder.join(name).exists(), name == expected, "{setting} {project:?}: {name}");
            }
            assert_eq!(sandbox.run(&[&["uninstall", "gemini"], project].concat()).status, 0);
            assert_eq!(everything(&home(&sandbox)), before, "{setting}");
        }
    }
}

#[test]
fn a_program_that_agents_will_not_find_is_told() {
    let sandbox = Sandbox::of("relay");
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_colgrep")).parent().expect("a folder").display().to_string();
    let told = "colgrep is not on PATH";
    for (path, project, expected) in [("/nowhere", true, true), (bin.as_str(), true, false), ("/nowhere", false, false)]
    {
        let args = [&["install", "cursor"][..], if project { &["--project"] } else { &[] }].concat();
        let ran = sandbox.run_with(&[("PATH", path)], &args);
        assert_eq!((ran.status, ran.err.contains(told)), (0, expected), "{path} {project}: {ran:?}");
    }
}
