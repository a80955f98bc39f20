//! What is put into a file, and how it is found again there.

use anyhow::{Context as _, Result, anyhow, bail};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstRootNode};
use serde_json::Value;
use toml_edit::{DocumentMut, Item, Table};

/// The line before the section.
const BEGIN: &str = "<!-- colgrep:begin (written by `colgrep install`; `colgrep uninstall` removes it) -->";
/// The line behind it.
const END: &str = "<!-- colgrep:end -->";
/// What any version's first line begins with.
const BEGIN_MARK: &str = "<!-- colgrep:begin";

/// The name of colgrep's entry.
const NAME: &str = "colgrep";

/// The subcommand that a hook runs.
pub const HOOK: &str = "hook";

/// A change of a file that can be made and taken back.
pub enum Edit {
    /// A section of a Markdown file, between two marks.
    Section(&'static str),
    /// An entry in an object of a JSON file (comments allowed).
    Json {
        /// The object's key in the file.
        table: &'static str,
        /// The entry.
        value: Value,
    },
    /// A hook in the list of an event of a JSON file's `hooks`.
    Hook {
        /// The event's key.
        event: &'static str,
        /// The entry.
        entry: Value,
        /// Whether the file says `"version": 1`.
        versioned: bool,
    },
    /// Several changes of one file.
    All(Vec<Edit>),
    /// A server in Codex' settings.
    CodexServer {
        /// The program.
        command: String,
    },
    /// A file of colgrep's own.
    Whole(String),
}

impl Edit {
    /// The text with colgrep's part in it. `text` holds none.
    ///
    /// # Errors
    /// When the text is not what such a file holds.
    pub fn put(&self, text: &str) -> Result<String> {
        match self {
            Edit::Section(section) => {
                let between = match text {
                    "" => "",
                    t if t.ends_with("\n\n") => "",
                    t if t.ends_with('\n') => "\n",
                    _ => "\n\n",
                };
                Ok(format!("{text}{between}{BEGIN}\n{section}{END}\n"))
            }
            Edit::Whole(whole) => Ok(whole.clone()),
            Edit::Json { table, value } => {
                let root = parsed(text)?;
                let object = root.object_value_or_create().context("no JSON object")?;
                let entries =
                    object.object_value_or_create(table).with_context(|| format!("{table:?} is no object"))?;
                entries.append(NAME, input(value));
                Ok(ended(root.to_string()))
            }
            Edit::Hook { event, entry, versioned } => {
                let root = parsed(text)?;
                let object = root.object_value_or_create().context("no JSON object")?;
                if *versioned && object.get("version").is_none() {
                    object.append("version", CstInputValue::Number("1".to_string()));
                }
                let hooks = object.object_value_or_create("hooks").context("\"hooks\" is no object")?;
                let list = hooks.array_value_or_create(event).with_context(|| format!("{event:?} is no list"))?;
                list.append(input(entry));
                Ok(ended(root.to_string()))
            }
            Edit::All(edits) => edits.iter().try_fold(text.to_string(), |text, edit| edit.put(&text)),
            Edit::CodexServer { command } => {
                let mut document: DocumentMut = text.parse()?;
                let mut implicit = Table::new();
                implicit.set_implicit(true);
                let servers = document.entry("mcp_servers").or_insert(Item::Table(implicit));
                let servers = servers.as_table_like_mut().context("mcp_servers is no table")?;
                let mut server = Table::new();
                server.insert("command", toml_edit::value(command));
                server.insert("args", toml_edit::value(toml_edit::Array::from_iter(["mcp"])));
                servers.insert(NAME, Item::Table(server));
                Ok(document.to_string())
            }
        }
    }

    /// The text without colgrep's part, where that is in it; `None` where nothing is left that was there before.
    ///
    /// # Errors
    /// When the text is not what such a file holds.
    pub fn cut(&self, text: &str) -> Result<Option<String>> {
        match self {
            Edit::Section(_) => cut_section(text),
            Edit::Whole(_) => Ok(None),
            Edit::Json { table, .. } => {
                let root = parsed(text)?;
                let entries = root.object_value().and_then(|o| o.object_value(table));
                match entries.and_then(|e| e.get(NAME)) {
                    Some(entry) => entry.remove(),
                    None => return Ok(Some(text.to_string())),
                }
                Ok(Some(root.to_string()))
            }
            Edit::Hook { event, .. } => {
                let root = parsed(text)?;
                let hooks = root.object_value().and_then(|o| o.object_value("hooks"));
                let Some(list) = hooks.and_then(|h| h.array_value(event)) else { return Ok(Some(text.to_string())) };
                let own = list.elements().into_iter().filter(|e| e.to_serde_value().is_some_and(|v| is_own_hook(&v)));
                let own: Vec<_> = own.collect();
                if own.is_empty() {
                    return Ok(Some(text.to_string()));
                }
                own.into_iter().for_each(CstNode::remove);
                Ok(Some(root.to_string()))
            }
            Edit::All(edits) => {
                let cut = |text: Option<String>, edit: &Edit| text.map_or(Ok(None), |t| edit.cut(&t));
                edits.iter().try_fold(Some(text.to_string()), cut)
            }
            Edit::CodexServer { .. } => {
                let mut document: DocumentMut = text.parse()?;
                let servers = document.get_mut("mcp_servers").and_then(Item::as_table_like_mut);
                match servers.and_then(|s| s.remove(NAME)) {
                    Some(_) => Ok(Some(document.to_string())),
                    None => Ok(Some(text.to_string())),
                }
            }
        }
    }
}

fn parsed(text: &str) -> Result<CstRootNode> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|e| anyhow!("no JSON: {e}"))
}

fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Whether an entry of an event runs `… hook AGENT`, wherever the program lay when it was written.
fn is_own_hook(entry: &Value) -> bool {
    let runs_hook = |command: &Value| {
        let words: Vec<&str> = command.as_str().unwrap_or_default().split_whitespace().collect();
        matches!(words.as_slice(), [.., program, HOOK, _agent] if program.contains(NAME))
    };
    runs_hook(&entry["command"])
        || entry["hooks"].as_array().is_some_and(|h| h.iter().any(|e| runs_hook(&e["command"])))
}

fn cut_section(text: &str) -> Result<Option<String>> {
    let Some(begin) = text.find(BEGIN_MARK) else { return Ok(Some(text.to_string())) };
    let Some(length) = text[begin..].find(END) else {
        bail!("the mark {BEGIN_MARK} … has no {END} behind it");
    };
    let mut rest = &text[begin + length + END.len()..];
    rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
    let before = &text[..begin];
    // The empty line that set it off goes with it.
    let before = before.strip_suffix('\n').filter(|b| b.ends_with('\n')).unwrap_or(before);
    let left = format!("{before}{rest}");
    Ok(Some(left).filter(|l| !l.trim().is_empty()))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(on) => CstInputValue::Bool(*on),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(entries) => CstInputValue::Object(entries.iter().map(|(k, v)| (k.clone(), input(v))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_around_stays() {
        let server = || Edit::Json { table: "mcpServers", value: json!({"command": "colgrep", "args": ["mcp"]}) };
        let codex = || Edit::CodexServer { command: "colgrep".into() };
        let entry = || json!({"command": "'/a b/colgrep' hook cursor"});
        let hook = || Edit::Hook { event: "sessionStart", entry: entry(), versioned: true };
        let both = || {
            Edit::All(vec![
                server(),
                Edit::Hook { event: "SessionStart", entry: json!({"hooks": [entry()]}), versioned: false },
            ])
        };
        for (edit, text, shown) in [
            (Edit::Section("text\n"), "# Mine\n", "# Mine\n\n<!-- colgrep:begin"),
            (Edit::Section("text\n"), "# Mine\n\nlast line", "last line\n\n<!-- colgrep:begin"),
            (server(), "", "\"mcpServers\""),
            (server(), "{\n  // mine\n  \"a\": 1,\n}\n", "// mine\n  \"a\": 1,"),
            (server(), "{\"mcpServers\": {\"x\": {\"command\": \"y\"}}}\n", "\"x\": {\"command\": \"y\"}"),
            (
                codex(),
                "model = \"o\" # mine\n\n[mcp_servers.x]\ncommand = \"y\"\n",
                "model = \"o\" # mine\n\n[mcp_servers.x]",
            ),
            (hook(), "", "\"version\": 1,\n  \"hooks\": {\n    \"sessionStart\": ["),
            (hook(), "{\"hooks\": {\"sessionStart\": [{\"command\": \"y hook z\"}]}}\n", "{\"command\": \"y hook z\"}"),
            (both(), "{\n  // mine\n  \"hooks\": {}\n}\n", "// mine\n  \"hooks\": {"),
            (codex(), "", "[mcp_servers.colgrep]\ncommand = \"colgrep\"\nargs = [\"mcp\"]\n"),
        ] {
            let put = edit.put(text).unwrap();
            assert!(put.contains(shown) && put.contains("colgrep"), "{put}");
            let cut = edit.cut(&put).unwrap().unwrap_or_default();
            assert!(!cut.contains("colgrep"), "{cut}");
            assert_eq!(edit.cut(&cut).unwrap().unwrap_or_default(), cut, "nothing more to cut");
        }
    }

    #[test]
    fn what_can_not_be_edited_is_refused() {
        let server = Edit::Json { table: "mcpServers", value: json!({}) };
        for text in ["[1]", "{\"mcpServers\": 3}", "{broken"] {
            assert!(server.put(text).is_err(), "{text}");
        }
        assert!(Edit::CodexServer { command: "c".into() }.put("mcp_servers = 3\n").is_err());
        assert!(Edit::Section("x\n").cut("a\n<!-- colgrep:begin -->\nno end\n").is_err());
    }
}
