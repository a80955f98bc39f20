//! What the tests of `install` share: the agents, and files that people have already.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Sandbox;

/// The agents that `install` knows.
pub const AGENTS: [&str; 12] = [
    "claude-code",
    "codex",
    "opencode",
    "cursor",
    "gemini",
    "copilot",
    "amp",
    "cline",
    "junie",
    "kiro",
    "windsurf",
    "zed",
];

/// Every file, folder and link below `folder`.
pub fn everything(folder: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.path().display().to_string();
        if let Ok(target) = fs::read_link(entry.path()) {
            all.insert(name, format!("a link to {}", target.display()));
        } else if entry.path().is_dir() {
            all.insert(name, "a folder".to_string());
            all.extend(everything(&entry.path()));
        } else {
            all.insert(name, fs::read_to_string(entry.path()).expect("a text"));
        }
    }
    all
}

pub fn home(sandbox: &Sandbox) -> PathBuf {
    sandbox.data().parent().expect("a folder").to_path_buf()
}

/// Files that people have already, in shapes that are easily spoilt, each as `shape` makes it.
pub fn lived_in(sandbox: &Sandbox, shape: impl Fn(&str) -> String) {
    let home = home(sandbox);
    for folder in [&home, &sandbox.root()] {
        for (path, text) in [
            (".claude/CLAUDE.md", "# Mine\r\nno line end"),
            (".claude.json", "{\n\t\"numStartups\": 7,\n\t\"mcpServers\": {}\n}"),
            ("CLAUDE.md", "mine\n\n\n"),
            ("AGENTS.md", ""),
            (".mcp.json", "{\"mcpServers\":{\"x\":{\"command\":\"y\"}}}"),
            (
                ".claude/settings.json",
                "{\n  // mine\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"date\"}]}\n    ]\n  },\n}",
            ),
            (".codex/hooks.json", "{\"hooks\":{}}"),
            (
                ".cursor/hooks.json",
                "{\n\t\"version\": 1,\n\t\"hooks\": {\n\t\t\"stop\": [ { \"command\": \"x\" } ]\n\t}\n}\n",
            ),
            (".codex/config.toml", "model = \"o\"   # mine\n[mcp_servers.x]\ncommand='y'\n[profiles.a]\nb = 1"),
            ("opencode.json", "{\n  // mine\n  \"theme\": \"x\",\n}\n"),
            (".config/opencode/opencode.jsonc", "{ \"mcp\": { /* none */ } }"),
            (".cursor/mcp.json", "{}\n"),
            (".gemini/settings.json", "{\n    \"mcpServers\": {\n        \"a\": { \"command\": \"b\" }\n    }\n}\n"),
            (".vscode/mcp.json", "{\n  \"inputs\": [],\n  \"servers\": {}\n}\n"),
            (".copilot/mcp-config.json", "{\"mcpServers\": {}}"),
            (".amp/settings.jsonc", "{\n  // mine\n  \"amp.mcpServers\": { \"x\": { \"command\": \"y\" } },\n}\n"),
            ("config/amp/settings.json", "{\"amp.showCosts\": true}"),
            (".cline/data/settings/cline_mcp_settings.json", "{\n  \"mcpServers\": {}\n}"),
            (".junie/mcp/mcp.json", "{ \"mcpServers\": { \"x\": { \"command\": \"y\" } } }\n"),
            (".kiro/settings/mcp.json", "{\n\t\"mcpServers\": {\n\t}\n}\n"),
            (".codeium/windsurf/mcp_config.json", "{}"),
            (".codeium/windsurf/memories/global_rules.md", "# Mine"),
            ("config/zed/settings.json", "// Zed settings\n{\n  \"theme\": \"One Dark\", // mine\n}\n"),
            (".zed/settings.json", "{\n  \"tab_size\": 2\n}"),
            (".rules", "mine\n"),
        ] {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, shape(text)).expect("a file");
        }
    }
}
