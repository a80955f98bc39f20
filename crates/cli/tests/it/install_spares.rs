//! `install` and `uninstall` spare what is the user's: files, entries, links, line ends, and later changes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::common::agents::{AGENTS, everything, home, lived_in};
use crate::common::{Ran, Sandbox};

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn project(sandbox: &Sandbox, verb: &str, agent: &str) -> Ran {
    sandbox.run(&[verb, agent, "--project"])
}

fn files(folder: &Path) -> Vec<PathBuf> {
    everything(folder).into_keys().map(PathBuf::from).filter(|p| p.is_file() && !p.is_symlink()).collect()
}

/// The files that were there before, but for colgrep's own settings.
fn theirs(sandbox: &Sandbox, before: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let settings = home(sandbox).join("config");
    let theirs = |p: &PathBuf| before.contains_key(&p.display().to_string()) && !p.starts_with(&settings);
    files(&home(sandbox)).into_iter().filter(theirs).collect()
}

/// Receipts are lost: the files alone tell what is colgrep's.
fn receipts(sandbox: &Sandbox) -> PathBuf {
    home(sandbox).join("config/colgrep/installs")
}

fn lose_receipts(sandbox: &Sandbox) {
    fs::remove_dir_all(receipts(sandbox)).expect("receipts");
}

#[test]
fn a_file_of_the_users_own_is_neither_overwritten_nor_removed() {
    let sandbox = Sandbox::new();
    sandbox.write(".cursor/rules/colgrep.mdc", "---\nalwaysApply: false\n---\nmine\n");
    let before = everything(&home(&sandbox));
    let ran = project(&sandbox, "install", "cursor");
    assert!(ran.status == 2 && ran.err.contains("colgrep.mdc") && ran.err.contains("rename or remove it"), "{ran:?}");
    assert_eq!(project(&sandbox, "uninstall", "cursor").status, 1);
    assert_eq!(everything(&home(&sandbox)), before);

    let sandbox = Sandbox::new();
    let own = "{\"version\": 1, \"hooks\": {\"sessionStart\": [{\"command\": \"date\"}]}}";
    sandbox.write(".github/hooks/colgrep.json", own);
    let before = everything(&sandbox.root());
    assert_eq!(project(&sandbox, "uninstall", "copilot").status, 1);
    assert_eq!(everything(&sandbox.root()), before);
    assert_eq!(project(&sandbox, "install", "copilot").status, 0);
    let path = sandbox.root().join(".github/hooks/colgrep.json");
    assert!(read(&path).contains("\"date\"") && read(&path).contains("colgrep hook copilot"), "{}", read(&path));
    assert_eq!(project(&sandbox, "uninstall", "copilot").status, 0);
    assert_eq!(everything(&sandbox.root()), before);
}

#[test]
fn a_rule_file_that_was_added_to_stays() {
    let sandbox = Sandbox::new();
    project(&sandbox, "install", "cursor");
    let path = sandbox.root().join(".cursor/rules/colgrep.mdc");
    fs::write(&path, format!("{}mine\n", read(&path))).expect("a file");
    assert_eq!(project(&sandbox, "uninstall", "cursor").status, 0);
    assert!(read(&path).ends_with("mine\n") && !read(&path).contains("colgrep:begin"), "{}", read(&path));
}

/// A file with an entry `colgrep` that is the user's, and a change of another place of it.
const OWN_ENTRIES: [(&str, &str, &str, (&str, &str)); 4] = [
    (
        "claude-code",
        ".mcp.json",
        "{\n  \"mcpServers\": {\n    \"colgrep\": { \"command\": \"mine\" /* why */ },\n    \"x\": {}\n  }\n}",
        ("\"x\": {}", "\"x\": 1"),
    ),
    ("cursor", ".cursor/mcp.json", "{\"mcpServers\":{\"x\":0,\"colgrep\":{\"url\":\"x\"}}}", ("\"x\":0", "\"y\":[]")),
    (
        "codex",
        ".codex/config.toml",
        "a = 1\n# mine\n[mcp_servers.colgrep]\nurl = \"x\"   # why\n[mcp_servers.colgrep.env]\nA = \"b\"\n\n[c]\nd = 2\n",
        ("a = 1", "a = 2"),
    ),
    (
        "codex",
        ".codex/config.toml",
        "[mcp_servers.colgrep]\ncommand = \"colgrep\"\nargs = [\"mcp\", \"/a\"]\n",
        ("[mcp", "# new\n[mcp"),
    ),
];

#[test]
fn an_entry_of_the_users_own_comes_back() {
    for (agent, file, text, (old, new)) in OWN_ENTRIES {
        let sandbox = Sandbox::new();
        sandbox.write(file, text);
        let path = sandbox.root().join(file);
        let before = everything(&sandbox.root());
        // Nothing of colgrep is there yet: the entry is not its own, and is not taken for it.
        let ran = project(&sandbox, "uninstall", agent);
        assert!(ran.status == 1 && ran.err.contains("stays"), "{file}: {ran:?}");
        assert_eq!(everything(&sandbox.root()), before);
        let ran = project(&sandbox, "install", agent);
        assert!(ran.status == 0 && ran.err.contains("uninstall restores it"), "{file}: {ran:?}");
        assert_ne!(read(&path), text, "{file}");
        let installed = everything(&sandbox.root());
        assert_eq!(project(&sandbox, "install", agent).status, 0);
        assert_eq!(everything(&sandbox.root()), installed, "{file}: the second time changes nothing");
        assert_eq!(project(&sandbox, "uninstall", agent).status, 0);
        assert_eq!(everything(&sandbox.root()), before, "{file}");
        // Other places have changed meanwhile.
        project(&sandbox, "install", agent);
        fs::write(&path, read(&path).replacen(old, new, 1)).expect("a file");
        assert_eq!(project(&sandbox, "uninstall", agent).status, 0);
        assert_eq!(read(&path), text.replacen(old, new, 1), "{file}");
    }
}

#[test]
fn an_entry_of_the_users_own_comes_back_behind_one_that_was_changed() {
    let own = ["\"mine\"", "\"url\":\"x\"", "url = \"x\"", "\"/a\""];
    for ((agent, file, text, _), own) in OWN_ENTRIES.into_iter().zip(own) {
        let sandbox = Sandbox::new();
        sandbox.write(file, text);
        let path = sandbox.root().join(file);
        project(&sandbox, "install", agent);
        let changed = read(&path).replace("\"mcp\"", "\"mcp\", \"--hidden\"");
        assert_ne!(changed, read(&path), "{file}");
        fs::write(&path, changed).expect("a file");
        assert_eq!(project(&sandbox, "install", agent).status, 0, "{file}");
        assert!(!read(&path).contains("--hidden"), "{file}: {}", read(&path));
        assert_eq!(project(&sandbox, "uninstall", agent).status, 0, "{file}");
        assert!(read(&path).contains(own), "{file}: {}", read(&path));
    }
}

#[test]
fn an_entry_of_the_users_own_comes_back_into_a_file_written_anew() {
    let sandbox = Sandbox::new();
    sandbox.write(".mcp.json", "{\"mcpServers\":{\"colgrep\":{\"command\":\"mine\"}}}");
    let path = sandbox.root().join(".mcp.json");
    project(&sandbox, "install", "claude-code");
    let mut value: serde_json::Value = serde_json::from_str(&read(&path)).expect("JSON");
    value["numStartups"] = 8.into();
    fs::write(&path, format!("{value:#}")).expect("a file");
    assert_eq!(project(&sandbox, "uninstall", "claude-code").status, 0);
    let value: serde_json::Value = serde_json::from_str(&read(&path)).expect("JSON");
    let expected = serde_json::json!({"mcpServers": {"colgrep": {"command": "mine"}}, "numStartups": 8});
    assert_eq!(value, expected);
}

#[test]
fn an_entry_that_was_changed_stays_and_is_told() {
    let sandbox = Sandbox::new();
    project(&sandbox, "install", "claude-code");
    let path = sandbox.root().join(".mcp.json");
    let changed = read(&path).replace("[\"mcp\"]", "[\"mcp\", \"--hidden\"]");
    assert_ne!(changed, read(&path));
    fs::write(&path, &changed).expect("a file");
    let ran = project(&sandbox, "uninstall", "claude-code");
    assert!(ran.err.contains(".mcp.json is not as colgrep writes it, and stays"), "{ran:?}");
    assert_eq!(read(&path), changed);
    project(&sandbox, "install", "claude-code");
    let path = sandbox.root().join(".claude/settings.json");
    let changed = read(&path).replace("colgrep hook", "env A=1 colgrep hook");
    assert_ne!(changed, read(&path));
    fs::write(&path, &changed).expect("a file");
    for _ in 0..2 {
        let ran = project(&sandbox, "uninstall", "claude-code");
        let told = "settings.json is not as colgrep writes it, and stays; to remove it, edit that file";
        assert!(ran.err.contains(told) && !ran.err.contains("nothing of colgrep"), "{ran:?}");
        assert_eq!(read(&path), changed);
    }
}

#[test]
fn without_a_record_an_entry_of_another_program_stays() {
    let sandbox = Sandbox::new();
    let entry = "{\"mcpServers\": {\"colgrep\": {\"command\": \"/other/search\", \"args\": [\"mcp\"]}}}";
    // The same program at another place is ours.
    sandbox.write(".junie/mcp/mcp.json", &entry.replace("search", "colgrep"));
    let ran = project(&sandbox, "uninstall", "junie");
    assert!(ran.status == 0 && !sandbox.root().join(".junie/mcp/mcp.json").exists(), "{ran:?}");
    sandbox.write(".junie/mcp/mcp.json", entry);
    let ran = project(&sandbox, "uninstall", "junie");
    assert!(ran.status == 1 && ran.err.contains("mcp.json is not as colgrep writes it, and stays"), "{ran:?}");
    assert_eq!(read(&sandbox.root().join(".junie/mcp/mcp.json")), entry);
}

#[test]
fn marks_in_the_users_text_are_text() {
    let sandbox = Sandbox::new();
    let text = "The marks are `<!-- colgrep:begin (x) -->` and\n`<!-- colgrep:end -->`.\n";
    sandbox.write("AGENTS.md", text);
    let path = sandbox.root().join("AGENTS.md");
    assert_eq!(project(&sandbox, "uninstall", "codex").status, 1);
    assert_eq!(read(&path), text);
    project(&sandbox, "install", "codex");
    lose_receipts(&sandbox);
    project(&sandbox, "uninstall", "codex");
    assert_eq!(read(&path), text);
}

#[test]
fn a_mark_without_its_partner_stops_everything() {
    for text in ["a\n<!-- colgrep:begin (x) -->\nmine\n", "a\n<!-- colgrep:end -->\nmine\n"] {
        for verb in ["install", "uninstall"] {
            let sandbox = Sandbox::new();
            sandbox.write("AGENTS.md", text);
            let before = everything(&sandbox.root());
            let ran = project(&sandbox, verb, "codex");
            assert!(ran.status == 2 && ran.err.contains("in line 2 has no partner"), "{text:?} {verb}: {ran:?}");
            assert_eq!(everything(&sandbox.root()), before, "{text:?} {verb}");
        }
    }
}

#[test]
fn several_sections_become_one_and_none() {
    let sandbox = Sandbox::new();
    let old = "<!-- colgrep:begin (old) -->\nx\n<!-- colgrep:end -->\n";
    sandbox.write("AGENTS.md", &format!("a\n{old}b\n{old}"));
    let path = sandbox.root().join("AGENTS.md");
    project(&sandbox, "install", "codex");
    assert_eq!(read(&path).matches("<!-- colgrep:begin").count(), 1, "{}", read(&path));
    project(&sandbox, "uninstall", "codex");
    assert_eq!(read(&path), "a\nb\n");
}

#[cfg(unix)]
#[test]
fn links_are_written_through() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    let root = sandbox.root();
    sandbox.write("shared/notes.md", "mine\n");
    symlink("shared/notes.md", root.join("CLAUDE.md")).expect("a link");
    symlink("shared/new/mcp.json", root.join(".mcp.json")).expect("a link");
    let before = everything(&root);
    assert_eq!(project(&sandbox, "install", "claude-code").status, 0);
    assert!(root.join("CLAUDE.md").is_symlink() && root.join(".mcp.json").is_symlink());
    assert!(read(&root.join("shared/notes.md")).starts_with("mine\n<!-- colgrep:begin"));
    assert!(read(&root.join("shared/new/mcp.json")).contains("colgrep"), "made where the link leads");
    assert_eq!(project(&sandbox, "uninstall", "claude-code").status, 0);
    assert_eq!(everything(&root), before);
    fs::remove_file(root.join(".mcp.json")).expect("a link");
    symlink(".mcp.json", root.join(".mcp.json")).expect("a link");
    let before = everything(&root);
    let ran = project(&sandbox, "install", "claude-code");
    assert!(ran.status == 2 && ran.err.contains("nothing was changed"), "{ran:?}");
    assert_eq!(everything(&root), before);
}

#[test]
fn line_ends_and_byte_order_marks_stay() {
    for agent in AGENTS {
        for scope in [&[][..], &["--project"]] {
            let sandbox = Sandbox::new();
            lived_in(&sandbox, |text| format!("\u{feff}{}", text.replace("\r\n", "\n").replace('\n', "\r\n")));
            let before = everything(&home(&sandbox));
            assert_eq!(sandbox.run(&[&["install", agent], scope].concat()).status, 0, "{agent}");
            for path in theirs(&sandbox, &before) {
                let text = read(&path);
                let windows = before[&path.display().to_string()].contains('\n');
                assert!(!windows || !text.replace("\r\n", "").contains('\n'), "{agent}: {}: {text:?}", path.display());
                assert!(text.rfind('\u{feff}') == Some(0), "{agent}: {}: {text:?}", path.display());
            }
            assert_eq!(sandbox.run(&[&["uninstall", agent], scope].concat()).status, 0, "{agent}");
            let mut after = everything(&home(&sandbox));
            after.remove(&sandbox.data().display().to_string());
            assert_eq!(after, before, "{agent}");
        }
    }
}

#[test]
fn line_ends_may_change_meanwhile() {
    let windows = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    for agent in AGENTS {
        let sandbox = Sandbox::new();
        lived_in(&sandbox, str::to_string);
        let before = everything(&home(&sandbox));
        assert_eq!(project(&sandbox, "install", agent).status, 0, "{agent}");
        let paths = theirs(&sandbox, &before);
        for path in &paths {
            fs::write(path, windows(&read(path))).expect("a file");
        }
        assert_eq!(project(&sandbox, "uninstall", agent).status, 0, "{agent}");
        for path in &paths {
            assert_eq!(read(path), windows(&before[&path.display().to_string()]), "{agent}: {}", path.display());
        }
    }
}

/// A change at both ends of a file, as its owner may make it.
fn edited(path: &Path, text: &str) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let ended = if text.is_empty() || text.ends_with('\n') { "" } else { end };
    match path.extension().and_then(|e| e.to_str()) {
        Some("md") => format!("above{end}{text}{ended}{end}below{end}"),
        Some("toml") => format!("above = 1{end}{text}{ended}[below]{end}"),
        _ => format!("// above{end}{}{end}// below", text.replacen('{', "{ /* inside */", 1)),
    }
}

#[test]
fn after_later_changes_just_what_was_put_in_goes() {
    for agent in AGENTS {
        for scope in [&[][..], &["--project"]] {
            let sandbox = Sandbox::new();
            lived_in(&sandbox, str::to_string);
            let before = everything(&home(&sandbox));
            assert_eq!(sandbox.run(&[&["install", agent], scope].concat()).status, 0, "{agent}");
            let paths = theirs(&sandbox, &before);
            for path in &paths {
                fs::write(path, edited(path, &read(path))).expect("a file");
            }
            let changed = everything(&home(&sandbox));
            assert_eq!(sandbox.run(&[&["install", agent], scope].concat()).status, 0, "{agent}");
            assert_eq!(everything(&home(&sandbox)), changed, "{agent}: the second time changes nothing");
            assert_eq!(sandbox.run(&[&["uninstall", agent], scope].concat()).status, 0, "{agent}");
            for path in &paths {
                let expected = edited(path, &before[&path.display().to_string()]);
                assert_eq!(read(path), expected, "{agent} {scope:?}: {}", path.display());
            }
        }
    }
}

#[test]
fn what_comes_behind_an_entry_of_the_users_stays_on_its_own_line() {
    for text in [
        "[mcp_servers.colgrep]\nurl = \"x\" # why",
        "[mcp_servers.colgrep]\ncommand = \"colgrep\"\nargs = [\"mcp\"]\n[mcp_servers.colgrep.env]\nA = \"b\"",
    ] {
        let sandbox = Sandbox::new();
        sandbox.write(".codex/config.toml", text);
        let path = sandbox.root().join(".codex/config.toml");
        project(&sandbox, "install", "codex");
        fs::write(&path, edited(&path, &read(&path))).expect("a file");
        assert_eq!(project(&sandbox, "uninstall", "codex").status, 0);
        assert_eq!(read(&path), edited(&path, text));
    }
}

#[test]
fn a_blank_line_of_the_users_stays() {
    for text in ["# Mine\n\n", "# Mine\n", "# Mine", ""] {
        let sandbox = Sandbox::new();
        sandbox.write("AGENTS.md", text);
        let path = sandbox.root().join("AGENTS.md");
        project(&sandbox, "install", "codex");
        fs::write(&path, format!("above\n{}", read(&path))).expect("a file");
        lose_receipts(&sandbox);
        project(&sandbox, "uninstall", "codex");
        assert_eq!(read(&path), format!("above\n{text}"), "{text:?}");
    }
}

#[test]
fn what_is_appended_without_a_line_end_in_between_stays() {
    for receipts in [true, false] {
        let sandbox = Sandbox::new();
        sandbox.write("CLAUDE.md", "# rules");
        let path = sandbox.root().join("CLAUDE.md");
        project(&sandbox, "install", "claude-code");
        fs::write(&path, format!("{}new rule\n", read(&path))).expect("a file");
        let installed = everything(&sandbox.root());
        assert_eq!(project(&sandbox, "install", "claude-code").status, 0);
        assert_eq!(everything(&sandbox.root()), installed, "the second time changes nothing");
        if !receipts {
            lose_receipts(&sandbox);
        }
        let ran = project(&sandbox, "uninstall", "claude-code");
        assert_eq!(ran.status, 0, "{ran:?}");
        assert_eq!(read(&path), "# rules\nnew rule\n");
    }
}

#[test]
fn without_a_receipt_nothing_empty_is_left_and_nothing_is_claimed() {
    for agent in AGENTS {
        let sandbox = Sandbox::new();
        let before = files(&sandbox.root());
        project(&sandbox, "install", agent);
        lose_receipts(&sandbox);
        let ran = project(&sandbox, "uninstall", agent);
        assert_eq!(ran.status, 0, "{agent}: {ran:?}");
        assert_eq!(files(&sandbox.root()), before, "{agent}: {ran:?}");
    }
    let sandbox = Sandbox::new();
    sandbox.write(".mcp.json", "{\"mcpServers\": {\"colgrep\": {\"command\": \"/opt/mine\"}, \"x\": {}}}");
    let path = sandbox.root().join(".mcp.json");
    assert!(project(&sandbox, "install", "claude-code").err.contains("your own entry"));
    lose_receipts(&sandbox);
    let ran = project(&sandbox, "uninstall", "claude-code");
    assert!(ran.err.contains("no record of `install` is known here for"), "{ran:?}");
    assert!(read(&path).contains("\"x\"") && !read(&path).contains("colgrep"), "{}", read(&path));
    // What its own marks tell needs no record.
    let sandbox = Sandbox::new();
    sandbox.write("AGENTS.md", "mine\n");
    project(&sandbox, "install", "amp");
    lose_receipts(&sandbox);
    let notes = sandbox.root().join("AGENTS.md").display().to_string();
    let ran = project(&sandbox, "uninstall", "amp");
    assert!(!ran.err.contains(&format!("known here for {notes}")), "{ran:?}");
}

#[test]
fn neighbours_that_came_later_leave_sound_files() {
    let sandbox = Sandbox::new();
    sandbox.write(".mcp.json", "{\n  \"mcpServers\": {\n  }\n}\n");
    let path = sandbox.root().join(".mcp.json");
    for before in [true, false] {
        project(&sandbox, "install", "claude-code");
        let text = read(&path);
        let changed = if before {
            text.replacen("\"colgrep\"", "\"new\": {},\n    \"colgrep\"", 1)
        } else {
            text.replacen("    }\n", "    },\n    \"newer\": {}\n", 1)
        };
        assert_ne!(changed, text);
        fs::write(&path, changed).expect("a file");
        assert_eq!(project(&sandbox, "uninstall", "claude-code").status, 0);
        let value: serde_json::Value = serde_json::from_str(&read(&path)).expect("strict JSON");
        let expected =
            if before { serde_json::json!({"new": {}}) } else { serde_json::json!({"new": {}, "newer": {}}) };
        assert_eq!(value["mcpServers"], expected);
    }
}

#[test]
fn what_was_made_for_an_entry_goes_from_files_written_anew() {
    for agent in AGENTS {
        for own in ["", "{\"a\": 1}", "{\"mcpServers\": {}, \"servers\": {}, \"mcp\": {}, \"hooks\": {}}"] {
            let sandbox = Sandbox::new();
            let all =
                [".mcp.json", ".claude/settings.json", ".cursor/mcp.json", ".cursor/hooks.json", ".vscode/mcp.json"];
            for path in all.iter().filter(|_| !own.is_empty()) {
                sandbox.write(path, own);
            }
            let json = |before: &BTreeMap<String, String>| -> BTreeMap<String, serde_json::Value> {
                let files = before.iter().filter(|(path, _)| path.ends_with(".json"));
                files.map(|(path, text)| (path.clone(), serde_json::from_str(text).expect("JSON"))).collect()
            };
            let before = everything(&sandbox.root());
            project(&sandbox, "install", agent);
            for (path, value) in json(&everything(&sandbox.root())) {
                fs::write(path, format!("{value:#}\n").replace("  ", "\t")).expect("a file");
            }
            assert_eq!(project(&sandbox, "uninstall", agent).status, 0, "{agent} {own:?}");
            let after = everything(&sandbox.root());
            assert_eq!(json(&after), json(&before), "{agent} {own:?}");
            assert!(after.keys().eq(before.keys()), "{agent} {own:?}: {after:?}");
        }
    }
}

#[test]
fn a_comma_that_stood_at_the_end_stays() {
    let sandbox = Sandbox::new();
    let text = "{\"a\": 1, // mine\n}\n";
    sandbox.write(".gemini/settings.json", text);
    project(&sandbox, "install", "gemini");
    assert_eq!(project(&sandbox, "uninstall", "gemini").status, 0);
    assert_eq!(read(&sandbox.root().join(".gemini/settings.json")), text);
}

#[test]
fn a_hook_that_was_put_beside_ours_stays() {
    let sandbox = Sandbox::new();
    project(&sandbox, "install", "claude-code");
    let path = sandbox.root().join(".claude/settings.json");
    let mut value: serde_json::Value = serde_json::from_str(&read(&path)).expect("JSON");
    let group = value["hooks"]["SessionStart"][0]["hooks"].as_array_mut().expect("a list");
    group.push(serde_json::json!({"type": "command", "command": "date"}));
    fs::write(&path, format!("{value:#}")).expect("a file");
    assert_eq!(project(&sandbox, "uninstall", "claude-code").status, 0);
    assert!(read(&path).contains("\"date\"") && !read(&path).contains("colgrep"), "{}", read(&path));
}

#[cfg(unix)]
#[test]
fn permissions_stay_and_a_file_that_is_read_only_stops_everything() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    sandbox.write("CLAUDE.md", "mine\n");
    sandbox.write(".mcp.json", "{}\n");
    let path = sandbox.root().join(".mcp.json");
    let mode = |mode: u32| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("permissions");
    mode(0o640);
    project(&sandbox, "install", "claude-code");
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o640);
    for receipt in files(&receipts(&sandbox)) {
        assert_eq!(fs::metadata(receipt).expect("a file").permissions().mode() & 0o777, 0o600);
    }
    mode(0o440);
    for verb in ["uninstall", "install"] {
        let before = everything(&home(&sandbox));
        let ran = project(&sandbox, verb, "claude-code");
        assert!(ran.status == 2 && ran.err.contains(".mcp.json; nothing was changed"), "{verb}: {ran:?}");
        assert_eq!(everything(&home(&sandbox)), before, "{verb}");
        mode(0o640);
        project(&sandbox, "uninstall", "claude-code");
        mode(0o440);
    }
}

#[test]
fn an_entry_of_the_users_own_comes_back_whatever_the_folder_of_indexes() {
    let sandbox = Sandbox::new();
    let text = "{\"mcpServers\":{\"colgrep\":{\"command\":\"mine\"}}}";
    sandbox.write(".mcp.json", text);
    assert_eq!(project(&sandbox, "install", "claude-code").status, 0);
    let elsewhere = home(&sandbox).join("elsewhere").display().to_string();
    let ran = sandbox.run_with(&[("COLGREP_DATA_DIR", &elsewhere)], &["uninstall", "claude-code", "--project"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(read(&sandbox.root().join(".mcp.json")), text);
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_of_the_project_are_refused() {
    use std::os::unix::fs::symlink;
    for (link, target) in
        [("CLAUDE.md", "profile"), ("CLAUDE.md", "not_there_yet"), (".claude", "folder"), (".claude", "../folder")]
    {
        let sandbox = Sandbox::new();
        let outside = home(&sandbox);
        fs::write(outside.join("profile"), "mine\n").expect("a file");
        fs::create_dir(outside.join("folder")).expect("a folder");
        let target = if target.starts_with("..") { PathBuf::from(target) } else { outside.join(target) };
        symlink(target, sandbox.root().join(link)).expect("a link");
        let before = everything(&outside);
        for verb in ["install", "uninstall"] {
            let ran = project(&sandbox, verb, "claude-code");
            assert!(ran.status == 2 && ran.err.contains("outside of it; nothing was changed"), "{link}: {ran:?}");
            assert_eq!(everything(&outside), before, "{link} {verb}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let sandbox = Sandbox::new();
    let made = std::process::Command::new("mkfifo").arg(sandbox.root().join("CLAUDE.md")).status().expect("mkfifo");
    assert!(made.success());
    for verb in ["install", "uninstall"] {
        let ran = project(&sandbox, verb, "claude-code");
        assert!(ran.status == 2 && ran.err.contains("it is not a regular file"), "{verb}: {ran:?}");
    }
}

#[test]
fn programs_of_the_projects_own_are_told() {
    let sandbox = Sandbox::new();
    sandbox.write(
        ".cursor/hooks.json",
        r#"{"version": 1, "hooks": {"sessionStart": [{"command": "./colgrep hook cursor"}]}}"#,
    );
    sandbox.write(".cursor/mcp.json", r#"{"mcpServers": {"colgrep": {"command": "./colgrep", "args": ["mcp"]}}}"#);
    let before = everything(&sandbox.root());
    for _ in 0..2 {
        let ran = project(&sandbox, "install", "cursor");
        assert!(ran.status == 0 && ran.err.contains("runs `./colgrep hook cursor`"), "{ran:?}");
    }
    let hooks = read(&sandbox.root().join(".cursor/hooks.json"));
    assert!(hooks.contains("\"colgrep hook cursor\"") && hooks.contains("./colgrep hook cursor"), "{hooks}");
    assert!(
        !read(&sandbox.root().join(".cursor/mcp.json")).contains("./colgrep"),
        "colgrep's own server is in its place"
    );
    let ran = project(&sandbox, "uninstall", "cursor");
    assert!(ran.status == 0 && ran.err.contains("runs `./colgrep`, a program of the project's own"), "{ran:?}");
    assert_eq!(everything(&sandbox.root()), before);
}
