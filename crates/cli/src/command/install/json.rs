//! Entries of JSON files, whose comments, order and layout stay.

use anyhow::{Context as _, Result, anyhow, ensure};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::edit::{HOOK, NAME, OwnedPart, is_colgrep, is_of_folder, is_own_server, runs_hook_inside, server_of_folder};

/// An entry in an object of a JSON file.
pub struct JsonServerEntry {
    /// The object's key in the file.
    pub table: &'static str,
    pub value: Value,
}

impl JsonServerEntry {
    fn entry(&self, root: &CstRootNode) -> Option<CstObjectProp> {
        root.object_value()?.object_value(self.table)?.get(NAME)
    }

    fn is_own(&self, entry: &CstObjectProp) -> bool {
        entry.value().and_then(|v| v.to_serde_value()).is_some_and(|v| is_own_server(&v, &self.value))
    }
}

impl OwnedPart for JsonServerEntry {
    fn wanted(&self) -> Value {
        self.value.clone()
    }

    fn found(&self, text: &str) -> Result<Vec<Value>> {
        let own = self.entry(&parsed(text)?).filter(|e| self.is_own(e));
        Ok(own.and_then(|e| e.value()).and_then(|v| v.to_serde_value()).into_iter().collect())
    }

    fn taken(&self, text: &str) -> Result<Option<String>> {
        let other = self.entry(&parsed(text)?).filter(|e| !self.is_own(e));
        Ok(other.and_then(|e| e.value()).map(|v| v.to_string()))
    }

    fn of_folder(&self, text: &str) -> Result<Vec<String>> {
        let entry = self.entry(&parsed(text)?).and_then(|e| e.value()).and_then(|value| value.to_serde_value());
        Ok(entry.as_ref().and_then(server_of_folder).into_iter().collect())
    }

    fn put(&self, text: &str) -> Result<String> {
        let root = parsed(text)?;
        let object = root.object_value_or_create().context("it is not a JSON object")?;
        let table = self.table;
        let entries = object.object_value_or_create(table).with_context(|| format!("{table:?} is not an object"))?;
        match entries.get(NAME) {
            Some(entry) => entry.set_value(input(&self.value)),
            None => drop(entries.append(NAME, input(&self.value))),
        }
        Ok(written(&root, text))
    }

    fn cut(&self, text: &str, taken: Option<&str>) -> Result<String> {
        let root = parsed(text)?;
        let Some(entry) = self.entry(&root) else { return Ok(text.to_string()) };
        let comments = comments(&root.clone().into());
        match taken {
            None => entry.remove(),
            Some(taken) => {
                entry.set_value(CstInputValue::String(String::new()));
                let value = entry.value().and_then(|v| v.as_string_lit()).context("no value")?;
                value.set_raw_value(taken.to_string());
            }
        }
        keeping(comments, &root)
    }

    fn missing(&self, text: &str) -> Result<Vec<String>> {
        missing(text, &[self.table])
    }

    fn cleared(&self, text: &str, made: &[String]) -> Result<String> {
        cleared(text, made, &[self.table])
    }

    fn is_bare(&self, text: &str) -> bool {
        is_bare(text)
    }

    fn is_strict(&self, text: &str) -> bool {
        is_strict(text)
    }
}

/// A hook in the list of an event of a JSON file's `hooks`.
pub struct Hook {
    /// The event's key.
    pub event: &'static str,
    pub entry: Value,
    /// Whether the file says `"version": 1`.
    pub versioned: bool,
}

impl Hook {
    /// The hooks that are colgrep's: entries of the event, or single ones of an entry that runs others too.
    fn own(&self, root: &CstRootNode) -> Vec<CstNode> {
        self.entries(root).into_iter().flat_map(|entry| self.own_of(entry)).collect()
    }

    fn entries(&self, root: &CstRootNode) -> Vec<CstNode> {
        let hooks = root.object_value().and_then(|o| o.object_value("hooks"));
        let list = hooks.and_then(|h| h.array_value(self.event));
        list.map(|l| l.elements()).unwrap_or_default()
    }

    /// The hooks of an entry that runs several.
    fn inner(entry: &CstNode) -> Vec<CstNode> {
        let inner = entry.as_object().and_then(|o| o.array_value("hooks"));
        inner.map(|i| i.elements()).unwrap_or_default()
    }

    /// The commands of the event's hooks.
    fn commands(&self, text: &str) -> Result<Vec<String>> {
        let all = self.entries(&parsed(text)?).into_iter().flat_map(|entry| {
            let inner = Hook::inner(&entry);
            std::iter::once(entry).chain(inner)
        });
        let command = |hook: CstNode| Some(hook.to_serde_value()?["command"].as_str()?.to_string());
        Ok(all.filter_map(command).collect())
    }

    fn own_of(&self, entry: CstNode) -> Vec<CstNode> {
        if self.runs_hook(&entry) {
            return vec![entry];
        }
        let all = Hook::inner(&entry);
        let own: Vec<CstNode> = all.iter().filter(|h| self.runs_hook(h)).cloned().collect();
        if !own.is_empty() && own.len() == all.len() { vec![entry] } else { own }
    }

    /// Whether a hook runs `colgrep hook AGENT`, wherever the program lay when it was written.
    fn runs_hook(&self, hook: &CstNode) -> bool {
        let Some(value) = hook.to_serde_value() else { return false };
        let Some(command) = value["command"].as_str() else { return false };
        let own = self.entry["command"].as_str().or(self.entry["hooks"][0]["command"].as_str());
        let program = command.rsplit_once(' ').and_then(|(rest, _agent)| rest.strip_suffix(HOOK)?.strip_suffix(' '));
        own == Some(command) || program.is_some_and(|program| is_colgrep(unquoted(program)))
    }
}

impl OwnedPart for Hook {
    fn wanted(&self) -> Value {
        self.entry.clone()
    }

    fn found(&self, text: &str) -> Result<Vec<Value>> {
        Ok(self.own(&parsed(text)?).iter().filter_map(CstNode::to_serde_value).collect())
    }

    fn of_folder(&self, text: &str) -> Result<Vec<String>> {
        let is_of_it = |command: &String| {
            let program = command.split_whitespace().next().unwrap_or_default();
            is_of_folder(program.trim_matches(['"', '\'']))
        };
        Ok(self.commands(text)?.into_iter().filter(is_of_it).collect())
    }

    fn is_changed(&self, text: &str) -> Result<bool> {
        Ok(self.found(text)?.is_empty() && self.commands(text)?.iter().any(|command| runs_hook_inside(command)))
    }

    fn put(&self, text: &str) -> Result<String> {
        let root = parsed(text)?;
        let object = root.object_value_or_create().context("it is not a JSON object")?;
        if self.versioned && object.get("version").is_none() {
            object.append("version", CstInputValue::Number("1".to_string()));
        }
        let hooks = object.object_value_or_create("hooks").context("\"hooks\" is not an object")?;
        let event = self.event;
        let list = hooks.array_value_or_create(event).with_context(|| format!("{event:?} is not a list"))?;
        list.append(input(&self.entry));
        Ok(written(&root, text))
    }

    fn cut(&self, text: &str, _: Option<&str>) -> Result<String> {
        let root = parsed(text)?;
        let comments = comments(&root.clone().into());
        self.own(&root).into_iter().for_each(CstNode::remove);
        keeping(comments, &root)
    }

    fn missing(&self, text: &str) -> Result<Vec<String>> {
        let mut missing = missing(text, &["hooks", self.event])?;
        if self.versioned {
            missing.extend(self::missing(text, &["version"])?);
        }
        Ok(missing)
    }

    fn cleared(&self, text: &str, made: &[String]) -> Result<String> {
        let text = cleared(text, made, &["hooks", self.event])?;
        let root = parsed(&text)?;
        // The version belongs to the hooks.
        let hooked = at(&root, &["hooks"]).and_then(|h| h.value()).is_some_and(|hooks| !is_empty(&hooks));
        let version = at(&root, &["version"]).filter(|_| !hooked);
        let own = version.filter(|v| made.iter().any(|m| m == "version") && v.to_serde_value() == Some(1.into()));
        Ok(own.map_or(text, |own| without(own, &root)))
    }

    fn is_bare(&self, text: &str) -> bool {
        is_bare(text)
    }

    fn is_strict(&self, text: &str) -> bool {
        is_strict(text)
    }
}

/// A program as a shell reads it; empty for a command of several words.
fn unquoted(word: &str) -> &str {
    let quoted = |quote| word.strip_prefix(quote)?.strip_suffix(quote);
    match quoted('\'').or_else(|| quoted('"')) {
        Some(inner) => inner,
        None if word.contains(char::is_whitespace) => "",
        None => word,
    }
}

fn parsed(text: &str) -> Result<CstRootNode> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|e| anyhow!("it is not JSON: {e}"))
}

/// The value at a path of keys; none where the text is no JSON or has no such keys.
pub fn value_at(text: &str, path: &[&str]) -> Option<Value> {
    at(&parsed(text).ok()?, path)?.value()?.to_serde_value()
}

/// The keys of a path into the file's object, from the first that is not there.
fn missing(text: &str, path: &[&str]) -> Result<Vec<String>> {
    let root = parsed(text)?;
    let there = (1..=path.len()).take_while(|&depth| at(&root, &path[..depth]).is_some()).count();
    Ok(path[there..].iter().map(|key| (*key).to_string()).collect())
}

/// The text without the objects and lists of a path that were made for colgrep and are empty, innermost first.
fn cleared(text: &str, made: &[String], path: &[&str]) -> Result<String> {
    let mut text = text.to_string();
    for depth in (1..=path.len()).rev().take_while(|&depth| made.iter().any(|m| m == path[depth - 1])) {
        let root = parsed(&text)?;
        let Some(entry) = at(&root, &path[..depth]) else { continue };
        if !entry.value().is_some_and(|value| is_empty(&value)) {
            break;
        }
        text = without(entry, &root);
    }
    Ok(text)
}

/// The entry at a path of keys.
fn at(root: &CstRootNode, path: &[&str]) -> Option<CstObjectProp> {
    let (last, above) = path.split_last()?;
    above.iter().try_fold(root.object_value()?, |object, key| object.object_value(key))?.get(last)
}

/// Whether an object or a list is empty, without comments.
fn is_empty(value: &CstNode) -> bool {
    let entries = value.as_object().map(|o| o.properties().len()).or(value.as_array().map(|a| a.elements().len()));
    entries == Some(0) && comments(value) == 0
}

/// Whether the file is an empty object at most.
fn is_bare(text: &str) -> bool {
    let value = parsed(text).ok().filter(|root| comments(&root.clone().into()) == 0).map(|root| root.value());
    value.is_some_and(|value| value.is_none_or(|value| value.as_object().is_some() && is_empty(&value)))
}

/// The text without an entry, unless a comment would go with it.
fn without(entry: CstObjectProp, root: &CstRootNode) -> String {
    let (before, text) = (comments(&root.clone().into()), root.to_string());
    entry.remove();
    keeping(before, root).unwrap_or(text)
}

fn is_strict(text: &str) -> bool {
    let options = ParseOptions { allow_trailing_commas: false, allow_missing_commas: false, ..ParseOptions::default() };
    CstRootNode::parse(text, &options).is_ok()
}

/// A new file ends in a line end; others end as they did.
fn written(root: &CstRootNode, before: &str) -> String {
    let text = root.to_string();
    if before.is_empty() && !text.ends_with('\n') { format!("{text}\n") } else { text }
}

/// Comments below a node.
fn comments(node: &CstNode) -> usize {
    usize::from(node.is_comment()) + node.children().iter().map(comments).sum::<usize>()
}

/// The text, if no comment was lost: all of them are the user's.
fn keeping(before: usize, root: &CstRootNode) -> Result<String> {
    ensure!(
        comments(&root.clone().into()) == before,
        "there is a comment in or beside colgrep's entry; remove the entry by hand"
    );
    Ok(root.to_string())
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

    fn server() -> JsonServerEntry {
        JsonServerEntry { table: "mcpServers", value: json!({"command": "/new place/colgrep", "args": ["mcp"]}) }
    }

    fn hook() -> Hook {
        let entry = json!({"hooks": [{"command": "'/a b/colgrep' hook cursor"}]});
        Hook { event: "sessionStart", entry, versioned: true }
    }

    #[test]
    fn what_stands_around_stays() {
        let parts: [(Box<dyn OwnedPart>, &str, &str); 6] = [
            (Box::new(server()), "", "\"mcpServers\""),
            (Box::new(server()), "{\n  // mine\n  \"a\": 1,\n}\n", "// mine\n  \"a\": 1,"),
            (Box::new(server()), "{\"mcpServers\": {\"x\": {\"command\": \"y\"}}}\n", "\"x\": {\"command\": \"y\"}"),
            (Box::new(hook()), "", "\"version\": 1,\n  \"hooks\": {\n    \"sessionStart\": ["),
            (
                Box::new(hook()),
                "{\"hooks\": {\"sessionStart\": [{\"command\": \"y hook z\"}]}}\n",
                "{\"command\": \"y hook z\"}",
            ),
            (Box::new(hook()), "{\n  // mine\n  \"hooks\": {}\n}\n", "// mine\n  \"hooks\": {"),
        ];
        for (part, text, shown) in parts {
            let put = part.put(text).unwrap();
            assert!(put.contains(shown) && part.found(&put).unwrap() == [part.wanted()], "{put}");
            let cut = part.cut(&put, None).unwrap();
            assert!(!cut.contains("colgrep") && part.found(&cut).unwrap().is_empty(), "{cut}");
        }
    }

    #[test]
    fn the_own_is_told_from_the_users() {
        for (entry, own) in [
            (json!({"command": "/old/colgrep", "args": ["mcp"]}), true),
            (json!({"args": ["mcp"], "command": "C:\\old\\colgrep.exe"}), true),
            (json!({"command": "/old/colgrep", "args": ["mcp", "--x"]}), false),
            (json!({"command": "/old/colgrep", "args": ["mcp"], "env": {}}), false),
            (json!({"command": "/colgrep/other", "args": ["mcp"]}), false),
            (json!("mine"), false),
            (json!({"command": "./colgrep", "args": ["mcp"]}), false),
            (json!({"command": "tools/colgrep", "args": ["mcp"]}), false),
        ] {
            let text = json!({"mcpServers": {"colgrep": entry}}).to_string();
            assert_eq!(!server().found(&text).unwrap().is_empty(), own, "{text}");
            assert_eq!(server().taken(&text).unwrap().is_none(), own, "{text}");
        }
        for (command, own) in [
            ("/old/colgrep hook cursor", true),
            ("\"/a b/colgrep.exe\" hook cursor", true),
            ("/my/colgrep-notes hook cursor", false),
            ("cd /x && colgrep hook cursor", false),
            ("colgrep hook cursor; date", false),
            ("./colgrep hook cursor", false),
            ("'tools/colgrep' hook cursor", false),
        ] {
            let text = json!({"hooks": {"sessionStart": [{"command": command}]}}).to_string();
            assert_eq!(!hook().found(&text).unwrap().is_empty(), own, "{text}");
            let is_changed = command.starts_with("cd ") || command.ends_with("; date");
            assert_eq!(hook().is_changed(&text).unwrap(), is_changed, "{text}");
        }
    }

    #[test]
    fn what_is_taken_comes_back_as_it_was() {
        let text = "{\"mcpServers\": {\"colgrep\": {\"url\": \"x\" /* mine */}, \"z\": 1}}";
        let taken = server().taken(text).unwrap();
        let put = server().put(text).unwrap();
        assert_eq!(server().found(&put).unwrap(), [server().wanted()]);
        let edited = put.replace("\"z\": 1", "\"z\": 2");
        assert_eq!(server().cut(&edited, taken.as_deref()).unwrap(), text.replace("\"z\": 1", "\"z\": 2"));
    }

    #[test]
    fn what_was_made_around_an_entry_goes_when_it_is_empty() {
        for (part, before, cut, left) in [
            (&server() as &dyn OwnedPart, "", "{\"mcpServers\": {}}", "{}"),
            (&server(), "{\"mcpServers\":{}}", "{\"mcpServers\": {}}", "{\"mcpServers\": {}}"),
            (&server(), "{}", "{\"mcpServers\": { /* mine */ }}", "{\"mcpServers\": { /* mine */ }}"),
            (&server(), "{}", "{\"mcpServers\": {\"x\": {}}}", "{\"mcpServers\": {\"x\": {}}}"),
            (&hook(), "{}", "{\"version\": 1, \"hooks\": {\"sessionStart\": []}}", "{}"),
            (
                &hook(),
                "{}",
                "{\"version\": 1, \"hooks\": {\"stop\": []}}",
                "{\"version\": 1, \"hooks\": {\"stop\": []}}",
            ),
            (&hook(), "{\"hooks\":{}}", "{\"hooks\": {\"sessionStart\": []}, \"version\": 1}", "{\"hooks\": {}}"),
        ] {
            let made = part.missing(before).unwrap();
            assert_eq!(part.cleared(cut, &made).unwrap(), left, "{before} {made:?}");
            assert_eq!(part.is_bare(left), left == "{}", "{left}");
        }
    }

    #[test]
    fn hooks_of_others_in_an_entry_stay() {
        let text = "{\"hooks\": {\"sessionStart\": [{\"hooks\": [{\"command\": \"colgrep hook cursor\"}, {\"command\": \"date\"}]}]}}";
        let cut = hook().cut(text, None).unwrap();
        assert!(hook().found(&cut).unwrap().is_empty() && cut.contains("{\"command\": \"date\"}"), "{cut}");
    }

    #[test]
    fn what_can_not_be_edited_is_refused() {
        for text in ["[1]", "{\"mcpServers\": 3}", "{broken"] {
            assert!(server().put(text).is_err(), "{text}");
        }
        for text in ["{\"hooks\": []}", "{\"hooks\": {\"sessionStart\": {}}}"] {
            assert!(hook().put(text).is_err(), "{text}");
        }
        let beside = "{\n\"mcpServers\": {\n\"colgrep\": {\"command\": \"colgrep\", \"args\": [\"mcp\"]} // mine\n}\n}";
        assert!(server().cut(beside, None).is_err(), "a comment would be lost");
    }
}
