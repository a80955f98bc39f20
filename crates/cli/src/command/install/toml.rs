//! The server in Codex' settings, a TOML file whose comments, order and layout are preserved.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use toml_edit::{Array, Document, DocumentMut, Item, Table, TableLike};

use super::edit::{NAME, OwnedPart, is_own_server, server_of_folder};

const SERVERS: &str = "mcp_servers";

pub struct CodexServer {
    pub command: String,
}

impl CodexServer {
    fn is_own(&self, entry: &Item) -> bool {
        is_own_server(&as_json(entry), &self.wanted())
    }
}

impl OwnedPart for CodexServer {
    fn wanted(&self) -> Value {
        json!({"command": self.command, "args": ["mcp"]})
    }

    fn found(&self, text: &str) -> Result<Vec<Value>> {
        let document: DocumentMut = text.parse()?;
        Ok(entry(document.as_item()).filter(|e| self.is_own(e)).map(as_json).into_iter().collect())
    }

    fn taken(&self, text: &str) -> Result<Option<String>> {
        let document: DocumentMut = text.parse()?;
        let other = entry(document.as_item()).filter(|e| !self.is_own(e));
        Ok(other.map(|other| alone(other.clone())))
    }

    fn of_folder(&self, text: &str) -> Result<Vec<String>> {
        let document: DocumentMut = text.parse()?;
        Ok(entry(document.as_item()).map(as_json).as_ref().and_then(server_of_folder).into_iter().collect())
    }

    fn put(&self, text: &str) -> Result<String> {
        let mut document: DocumentMut = text.parse()?;
        let mut server = Table::new();
        server.insert("command", toml_edit::value(&self.command));
        server.insert("args", toml_edit::value(Array::from_iter(["mcp"])));
        let Some(servers) = document.get_mut(SERVERS) else { return Ok(behind(text, server)) };
        if servers.get(NAME).is_none() && servers.as_table().is_some_and(|s| !s.is_dotted()) {
            return Ok(behind(text, server));
        }
        insert(servers.as_table_like_mut().context("mcp_servers is not a table")?, server);
        Ok(ended_as(text, document.to_string()))
    }

    fn cut(&self, text: &str, taken: Option<&str>) -> Result<String> {
        let left = match taken {
            Some(taken) => restored(text, taken)?,
            None => match lines(text)? {
                Some(lines) => format!("{}{}", &text[..lines.start], &text[lines.end..]),
                None => removed(text)?,
            },
        };
        // A number sign may be part of the program's path; any other belongs to a comment.
        let signs = |text: &str| text.matches('#').count();
        let document: DocumentMut = text.parse()?;
        let own = entry(document.as_item()).map(as_json).unwrap_or_default();
        ensure!(
            signs(&left) + signs(own["command"].as_str().unwrap_or_default()) >= signs(text),
            "there is a comment in or beside colgrep's entry; remove the entry by hand"
        );
        Ok(left)
    }
}

fn alone(entry: Item) -> String {
    let mut servers = Table::new();
    servers.set_implicit(true);
    servers.insert(NAME, entry);
    let mut document = DocumentMut::new();
    document.insert(SERVERS, Item::Table(servers));
    document.to_string()
}

/// The text with the entry appended, ending as the text did.
fn behind(text: &str, server: Table) -> String {
    let server = alone(Item::Table(server));
    match text {
        "" => server,
        t if t.ends_with('\n') => format!("{t}\n{server}"),
        t => ended_as(t, format!("{t}\n\n{server}")),
    }
}

/// `written` without its last line end where `text` has none, so that text appended later begins on a line of its own.
fn ended_as(text: &str, written: String) -> String {
    if text.ends_with('\n') { written } else { written.trim_end_matches('\n').to_string() }
}

fn entry(document: &Item) -> Option<&Item> {
    document.get(SERVERS)?.get(NAME)
}

/// An entry as JSON; what colgrep never writes is null.
fn as_json(entry: &Item) -> Value {
    let Some(table) = entry.as_table_like() else { return Value::Null };
    let value = |item: &Item| match (item.as_str(), item.as_array()) {
        (Some(text), _) => json!(text),
        (_, Some(array)) => array.iter().map(|v| v.as_str().map_or(Value::Null, |text| json!(text))).collect(),
        _ => Value::Null,
    };
    table.iter().map(|(key, item)| (key.to_string(), value(item))).collect()
}

/// Puts the entry where one of its name stood, under the same comments.
fn insert(servers: &mut dyn TableLike, mut server: Table) {
    unplace(&mut server);
    if let Some(old) = servers.get(NAME).and_then(Item::as_table) {
        *server.decor_mut() = old.decor().clone();
        server.set_position(old.position());
    }
    servers.insert(NAME, Item::Table(server));
}

/// Lets the tables inside follow their table, wherever that is.
fn unplace(table: &mut Table) {
    for inner in table.iter_mut().filter_map(|(_, item)| item.as_table_mut()) {
        inner.set_position(None);
        unplace(inner);
    }
}

/// The lines of an entry with a heading of its own, from that to its last value.
fn lines(text: &str) -> Result<Option<std::ops::Range<usize>>> {
    let document = Document::parse(text)?;
    let Some(table) = entry(document.as_item()).and_then(Item::as_table).filter(|t| !t.is_dotted()) else {
        return Ok(None);
    };
    let Some(heading) = table.span() else { return Ok(None) };
    let last = table.iter().filter_map(|(_, item)| item.span()).map(|s| s.end).fold(heading.end, usize::max);
    let end = text[last..].find('\n').map_or(text.len(), |end| last + end + 1);
    Ok(Some(heading.start..end))
}

/// The text without an entry that has no heading of its own.
fn removed(text: &str) -> Result<String> {
    let mut document: DocumentMut = text.parse()?;
    let servers = document.get_mut(SERVERS).and_then(Item::as_table_like_mut);
    servers.and_then(|s| s.remove(NAME)).context("the entry of colgrep could not be told")?;
    Ok(document.to_string())
}

/// The text with the user's entry in colgrep's place.
fn restored(text: &str, taken: &str) -> Result<String> {
    let mut document: DocumentMut = text.parse()?;
    let mut kept: DocumentMut = taken.parse()?;
    let entry = kept.get_mut(SERVERS).and_then(Item::as_table_like_mut).and_then(|s| s.remove(NAME));
    let servers = document.get_mut(SERVERS).and_then(Item::as_table_like_mut);
    let (entry, servers) = entry.zip(servers).context("the entry that stood there could not be told")?;
    match entry {
        Item::Table(table) => insert(servers, table),
        value => drop(servers.insert(NAME, value)),
    }
    Ok(ended_as(text, document.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: &str = "[mcp_servers.colgrep]\ncommand = \"colgrep\"\nargs = [\"mcp\"]\n";

    fn part() -> CodexServer {
        CodexServer { command: "colgrep".into() }
    }

    #[test]
    fn what_stands_around_stays() {
        for text in [
            "",
            "model = \"o\" # mine\n\n[mcp_servers.x]\ncommand = \"y\"\n",
            "[mcp_servers]\n",
            "a = 1\n# mine\n",
            "mcp_servers = { x = { command = \"y\" } }\n",
            "mcp_servers.x.command = \"y\"\n",
        ] {
            let put = part().put(text).unwrap();
            assert_eq!(part().found(&put).unwrap(), [part().wanted()], "{put}");
            let cut = part().cut(&put, None).unwrap();
            assert!(!cut.contains("colgrep") && cut.starts_with(text.trim_end().trim_end_matches(" }")), "{cut}");
        }
        let own = format!("a = 1\n# mine\n{SERVER}# more\n\n[b]\n");
        assert_eq!(part().cut(&own, None).unwrap(), "a = 1\n# mine\n# more\n\n[b]\n");
    }

    #[test]
    fn what_is_taken_comes_back() {
        for own in [
            "[mcp_servers.colgrep]\nurl = \"x\" # mine\n",
            "[mcp_servers.colgrep]\ncommand = \"colgrep\"\nargs = [\"mcp\"]\n[mcp_servers.colgrep.env]\nA = \"b\"\n",
            "[mcp_servers]\ncolgrep = { url = \"x\" }\n",
        ] {
            let text = format!("a = 1\n\n{own}\n[c]\nd = 2\n");
            let taken = part().taken(&text).unwrap();
            assert!(taken.is_some(), "{text}");
            let put = part().put(&text).unwrap();
            assert_eq!(part().found(&put).unwrap(), [part().wanted()], "{put}");
            let back = part().cut(&put, taken.as_deref()).unwrap();
            assert_eq!(part().taken(&back).unwrap(), taken, "{back}");
            assert!(back.contains("d = 2") && back.contains("a = 1"), "{back}");
        }
    }

    #[test]
    fn what_can_not_be_edited_is_refused() {
        assert!(part().put("mcp_servers = 3\n").is_err());
        assert!(part().put("broken = \n").is_err());
        let inside = SERVER.replace("\nargs", "\n# mine\nargs");
        assert!(part().cut(&inside, None).is_err(), "a comment would be lost");
    }
}
