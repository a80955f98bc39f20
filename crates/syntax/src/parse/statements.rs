//! Definitions of SQL by the heads of its statements: `CREATE … name`. Its grammar reads one dialect, and after a
//! statement of another it joins what follows; from it come only facts about these definitions.
//!
//! PostgreSQL, MySQL with `DELIMITER`, T-SQL with `GO`, and Oracle with `/` and packages.

use std::collections::HashMap;

use colgrep_core::{UnitKind, UnitRole};

use super::collect::{Definition, FileCaptures, What};
use super::lines::Bytes;

/// Words between `CREATE` and the kind of what is created, with their operands (`DEFINER = root@localhost`).
const MODIFIERS_MAX: usize = 16;

const MODIFIERS: [&str; 36] = [
    "OR",
    "REPLACE",
    "ALTER",
    "TEMP",
    "TEMPORARY",
    "GLOBAL",
    "LOCAL",
    "UNLOGGED",
    "UNIQUE",
    "CLUSTERED",
    "NONCLUSTERED",
    "COLUMNSTORE",
    "BITMAP",
    "FULLTEXT",
    "SPATIAL",
    "MATERIALIZED",
    "RECURSIVE",
    "FORCE",
    "NO",
    "NOFORCE",
    "EDITIONABLE",
    "NONEDITIONABLE",
    "CONSTRAINT",
    "EXTERNAL",
    "FOREIGN",
    "VIRTUAL",
    "TRANSIENT",
    "PUBLIC",
    "DEFINER",
    "ALGORITHM",
    "SQL",
    "SECURITY",
    "INVOKER",
    "SECURE",
    "DEFAULT",
    "TRUSTED",
];
/// Words that begin another statement on a line of their own, after one without `;`.
const STATEMENTS: [&str; 13] = [
    "ALTER", "COMMENT", "DECLARE", "DELETE", "DROP", "EXEC", "EXECUTE", "GRANT", "INSERT", "PRINT", "SET", "UPDATE",
    "USE",
];
/// Tokens of `END name ;`.
const END_TOKENS: usize = 4;

/// What a word after `CREATE` creates.
#[derive(Clone, Copy, Debug, PartialEq)]
enum CreatedObject {
    /// A table, a view, a type: what has columns or members.
    Type,
    /// What has a body of statements.
    Routine,
    Package,
    Schema,
    /// What has only a name: a role, an index.
    Object,
}

impl CreatedObject {
    fn from_word(word: &str) -> Option<CreatedObject> {
        Some(match word {
            "TABLE" | "VIEW" | "TYPE" | "DOMAIN" => CreatedObject::Type,
            "FUNCTION" | "PROCEDURE" | "PROC" | "TRIGGER" | "AGGREGATE" | "EVENT" | "RULE" => CreatedObject::Routine,
            "PACKAGE" => CreatedObject::Package,
            "SCHEMA" => CreatedObject::Schema,
            "INDEX" | "SEQUENCE" | "ROLE" | "USER" | "POLICY" | "EXTENSION" | "SERVER" | "PUBLICATION"
            | "SUBSCRIPTION" | "SYNONYM" | "DATABASE" | "COLLATION" => CreatedObject::Object,
            _ => return None,
        })
    }

    fn kind(self) -> UnitKind {
        match self {
            CreatedObject::Type | CreatedObject::Package | CreatedObject::Schema => UnitKind::Class,
            CreatedObject::Routine => UnitKind::Function,
            CreatedObject::Object => UnitKind::Constant,
        }
    }
}

/// A token that is neither white space nor a comment.
#[derive(Debug)]
struct SqlToken {
    kind: SqlTokenKind,
    bytes: Bytes,
    /// Whether it is the first of its line, and whether white space precedes it there.
    begins_line: bool,
    is_indented: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SqlTokenKind {
    Word,
    /// `"name"`, `[name]`, with backquotes.
    Quoted,
    /// `'text'`, `$$text$$`.
    Text,
    Sign(u8),
}

/// Replaces the definitions of the grammar by those of the statements' heads; types of results come from the grammar.
pub(super) fn add(found: &mut FileCaptures, text: &str) {
    let mut reader =
        StatementReader { text, tokens: tokens(text), is_batched: false, delimiter: None, found: Vec::new() };
    reader.is_batched = (0..reader.tokens.len()).any(|at| reader.ends_batch(at));
    let read = std::mem::replace(&mut found.definitions, reader.read());
    let routines = found.definitions.iter_mut().filter(|d| d.what.is_callable());
    let mut by_name: HashMap<usize, &mut Definition> = routines.map(|d| (d.name.start, d)).collect();
    for other in read {
        if let Some(routine) = by_name.get_mut(&other.name.start)
            && let Some(result) = other.return_type
            && routine.bytes.end >= result.end
        {
            routine.return_type.get_or_insert(result);
        }
    }
}

struct StatementReader<'a> {
    text: &'a str,
    tokens: Vec<SqlToken>,
    /// Whether `GO` or `/` ends batches, and with them the bodies of routines.
    is_batched: bool,
    /// The end of statements that MySQL's client was told, instead of `;`.
    delimiter: Option<&'a str>,
    found: Vec<Definition>,
}

impl<'a> StatementReader<'a> {
    fn read(mut self) -> Vec<Definition> {
        let mut at = 0;
        let mut begins = true;
        while at < self.tokens.len() {
            let token = &self.tokens[at];
            if token.begins_line && self.is_word(at, "DELIMITER") {
                at = self.read_delimiter(at);
                begins = true;
                continue;
            }
            let next = if begins || token.begins_line { self.statement(at) } else { None };
            begins = next.is_some() || self.tokens[at].kind == SqlTokenKind::Sign(b';');
            at = next.unwrap_or(at + 1).max(at + 1);
        }
        self.found
    }

    /// `DELIMITER //`: the token after its line.
    fn read_delimiter(&mut self, at: usize) -> usize {
        let rest = &self.text[self.tokens[at].bytes.end..];
        let line = rest.lines().next().unwrap_or_default();
        let end = self.tokens[at].bytes.end + line.len();
        self.delimiter = Some(line.trim()).filter(|mark| !mark.is_empty() && *mark != ";");
        at + self.tokens[at..].iter().take_while(|token| token.bytes.start < end).count()
    }

    fn word(&self, at: usize) -> String {
        let token = self.tokens.get(at).filter(|token| token.kind == SqlTokenKind::Word);
        token.map(|token| self.text[token.bytes.clone()].to_ascii_uppercase()).unwrap_or_default()
    }

    fn is_word(&self, at: usize, word: &str) -> bool {
        let token = self.tokens.get(at).filter(|token| token.kind == SqlTokenKind::Word);
        token.is_some_and(|token| self.text[token.bytes.clone()].eq_ignore_ascii_case(word))
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == SqlTokenKind::Sign(sign))
    }

    /// Reads a statement that defines something; returns the token after it.
    fn statement(&mut self, at: usize) -> Option<usize> {
        let is_create = self.is_word(at, "CREATE");
        if !is_create && !self.is_word(at, "ALTER") {
            return None;
        }
        let mut kind = at + 1;
        while kind < at + MODIFIERS_MAX && self.is_modifier(kind) {
            kind += 1;
        }
        let created = CreatedObject::from_word(&self.word(kind))?;
        let mut name = kind;
        if !is_create && (name != at + 1 || !matches!(self.word(name).as_str(), "TABLE" | "PROCEDURE" | "PROC")) {
            return None;
        }
        name += 1;
        let is_package_body = created == CreatedObject::Package && self.is_word(name, "BODY");
        if self.is_word(name, "MAPPING") {
            return None;
        }
        while matches!(
            self.word(name).as_str(),
            "IF" | "NOT" | "EXISTS" | "CONCURRENTLY" | "BODY" | "ONLY" | "AUTHORIZATION" | "FUNCTION" | "TRIGGER"
        ) && self.is_name(name + 1)
        {
            name += 1;
        }
        // An index without a name.
        if !self.is_name(name) || self.is_word(name, "ON") {
            return None;
        }
        let (schema, name) = self.qualified(name);
        let schema = schema.or_else(|| self.schema_of_target(created, name));
        let (end, next) = match created {
            CreatedObject::Package => self.package(name, is_package_body),
            _ => self.end(name, created),
        };
        let role = match (is_create, created) {
            (false, _) => UnitRole::Extension,
            (_, CreatedObject::Package) if !is_package_body => UnitRole::Declaration,
            _ => UnitRole::Definition,
        };
        let start = self.tokens[at].bytes.start;
        let definition = self.definition(What::Unit(created.kind(), role), start, name, end, created);
        if let Some(schema) = schema {
            // Wider than the definition, so that it encloses it.
            let mut ends = self.tokens[next - 1..].iter().take(2).map(|token| token.bytes.end);
            let behind = ends.find(|behind| *behind > end).unwrap_or(end);
            self.found.push(Definition::new(What::Namespace, 0, start..behind, self.name(schema)));
        }
        self.found.push(definition);
        Some(next)
    }

    /// Whether a token may be between `CREATE` and the kind.
    fn is_modifier(&self, at: usize) -> bool {
        let is_operand = |at: usize| self.is_sign(at, b'=') || self.word(at).starts_with('@');
        is_operand(at)
            || is_operand(at - 1)
            || self.tokens.get(at).is_some_and(|token| token.kind == SqlTokenKind::Quoted)
            || MODIFIERS.contains(&self.word(at).as_str())
    }

    fn definition(&self, what: What, start: usize, name: usize, end: usize, created: CreatedObject) -> Definition {
        let opens = self.is_sign(name + 1, b'(');
        // The first token outside of brackets for which `is` holds.
        let first = |is: &dyn Fn(usize) -> bool| {
            let mut brackets = 0;
            let mut tokens = (name + 1..self.tokens.len()).take_while(|at| self.tokens[*at].bytes.start < end);
            tokens.find(|at| {
                brackets += i32::from(self.is_sign(*at, b'(')) - i32::from(self.is_sign(*at, b')'));
                brackets <= 0 && is(*at)
            })
        };
        let body = match created {
            CreatedObject::Type if opens => Some(name + 1),
            CreatedObject::Type => {
                first(&|at| self.is_word(at, "SELECT") || self.is_word(at, "WITH")).map(|select| select - 1)
            }
            CreatedObject::Routine => first(&|at| {
                self.opens_body(at) && !self.is_word(at + 1, "ON") || self.is_word(at, "BEGIN") || self.is_dollar(at)
            }),
            _ => None,
        };
        let body_start = body.map_or(end, |body| self.tokens[body].bytes.start);
        let close = first(&|at| self.is_sign(at, b')'));
        let rest = self.tokens.get(name + 1).map_or(end, |token| token.bytes.start);
        let parameters = match created {
            CreatedObject::Routine if opens => close.map(|close| rest..self.tokens[close].bytes.end),
            // `@id INT, @name TEXT AS`
            CreatedObject::Routine if self.text[rest..].starts_with('@') => Some(rest..body_start),
            _ => None,
        };
        Definition {
            body: body.map(|_| body_start..end),
            parameters: parameters.into_iter().collect(),
            ..Definition::new(what, 1, start..end, self.name(name))
        }
    }

    /// The bytes of a name, without its quotes; a text may end before the second one.
    fn name(&self, at: usize) -> Bytes {
        let bytes = self.tokens[at].bytes.clone();
        if self.tokens[at].kind != SqlTokenKind::Quoted || bytes.len() <= 2 {
            return bytes;
        }
        let is_closed = self.text[bytes.clone()].ends_with(['"', '`', ']']);
        bytes.start + 1..bytes.end - usize::from(is_closed)
    }

    fn is_name(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| matches!(token.kind, SqlTokenKind::Word | SqlTokenKind::Quoted))
    }

    /// The last part of a name with dots, and the part before it.
    fn qualified(&self, mut at: usize) -> (Option<usize>, usize) {
        let mut schema = None;
        while self.is_sign(at + 1, b'.') && self.is_name(at + 2) {
            schema = Some(at);
            at += 2;
        }
        (schema, at)
    }

    /// The schema of what an index, a trigger or a policy is for.
    fn schema_of_target(&self, created: CreatedObject, name: usize) -> Option<usize> {
        if !matches!(created, CreatedObject::Object | CreatedObject::Routine) {
            return None;
        }
        let mut head =
            (name + 1..name + MODIFIERS_MAX).take_while(|at| !self.is_sign(*at, b';') && !self.is_sign(*at, b'('));
        head.find(|at| self.is_word(*at, "ON")).and_then(|on| self.qualified(on + 1).0)
    }

    /// The end of a statement after its name, without the mark that ends it, and the token after that.
    fn end(&self, name: usize, created: CreatedObject) -> (usize, usize) {
        let is_routine = created == CreatedObject::Routine;
        // The open blocks and brackets; whether the statements of a body follow without a block of their own.
        let (mut depth, mut brackets, mut is_open) = (0usize, 0i32, false);
        let mut at = name + 1;
        while at < self.tokens.len() {
            if self.ends_batch(at) || self.delimits(at) {
                return (self.tokens[at - 1].bytes.end, at + 1);
            }
            let token = &self.tokens[at];
            let begins = token.begins_line && !token.is_indented;
            let begins_other = || !is_routine && brackets <= 0 && STATEMENTS.contains(&self.word(at).as_str());
            if begins && (self.is_word(at, "CREATE") || self.is_word(at, "DELIMITER") || begins_other()) {
                return (self.tokens[at - 1].bytes.end, at);
            }
            if self.is_sign(at, b';') && self.delimiter.is_none() && depth == 0 && !is_open {
                return (self.tokens[at - 1].bytes.end, at + 1);
            }
            brackets += i32::from(self.is_sign(at, b'(')) - i32::from(self.is_sign(at, b')'));
            if is_routine {
                let before = depth;
                at = self.count(at, &mut depth);
                is_open = is_open && (self.is_batched || before == 0 || depth > 0)
                    || depth == 0 && brackets <= 0 && self.opens_statements(at);
            }
            at += 1;
        }
        (self.tokens[self.tokens.len() - 1].bytes.end, at)
    }

    /// Counts what opens and closes a block; returns the last token of it.
    fn count(&self, at: usize, depth: &mut usize) -> usize {
        let is_block = |at: usize| {
            let word = self.word(at);
            matches!(word.as_str(), "IF" | "LOOP" | "WHILE" | "REPEAT" | "FOR" | "CASE")
        };
        if self.is_word(at, "BEGIN") {
            let word = self.word(at + 1);
            *depth += usize::from(!matches!(word.as_str(), "TRAN" | "TRANSACTION"));
        } else if self.is_word(at, "CASE") {
            *depth += 1;
        } else if self.is_word(at, "END") {
            let is_other = is_block(at + 1) && !self.is_word(at + 1, "CASE");
            *depth = depth.saturating_sub(usize::from(!is_other));
            return at + usize::from(is_block(at + 1));
        }
        at
    }

    fn is_dollar(&self, at: usize) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.kind == SqlTokenKind::Text && self.text[token.bytes.clone()].starts_with('$'))
    }

    fn opens_body(&self, at: usize) -> bool {
        self.is_word(at, "AS") || self.is_word(at, "IS")
    }

    /// Whether declarations or statements follow `AS`, rather than a text or a block.
    fn opens_statements(&self, at: usize) -> bool {
        let is_text = self.tokens.get(at + 1).is_none_or(|token| token.kind == SqlTokenKind::Text);
        let is_other = self.is_word(at + 1, "ON") || self.is_word(at + 1, "BEGIN") && !self.is_batched;
        self.opens_body(at) && !is_text && !is_other
    }

    /// `GO` or `/` alone on a line.
    fn ends_batch(&self, at: usize) -> bool {
        let is_last = self.tokens.get(at + 1).is_none_or(|next| next.begins_line);
        is_last && self.tokens[at].begins_line && (self.is_word(at, "GO") || self.is_sign(at, b'/'))
    }

    fn delimits(&self, at: usize) -> bool {
        self.delimiter.is_some_and(|mark| self.text[self.tokens[at].bytes.start..].starts_with(mark))
    }

    /// The end of a package, and of its body the routines: `PROCEDURE name … END name;`.
    fn package(&mut self, name: usize, is_body: bool) -> (usize, usize) {
        let (mut depth, mut at) = (0, name + 1);
        // The routine that is read, by its first token and its name; whether its body began.
        let (mut routine, mut has_body): (Option<(usize, usize)>, bool) = (None, false);
        while at < self.tokens.len() && !self.ends_batch(at) {
            let is_routine = self.is_word(at, "PROCEDURE") || self.is_word(at, "FUNCTION");
            if depth == 0 && routine.is_none() && is_routine && self.is_name(at + 1) {
                (routine, has_body) = (Some((at, at + 1)), false);
            }
            has_body |= routine.is_some() && self.opens_body(at);
            let is_end = depth == 0 && routine.is_none() && self.is_word(at, "END");
            let before = depth;
            at = self.count(at, &mut depth);
            let is_closed =
                |has_body: bool| !has_body && self.is_sign(at, b';') || has_body && before == 1 && depth == 0;
            if let Some((start, name)) = routine.filter(|_| is_closed(has_body)) {
                routine = None;
                if is_body && has_body {
                    let end = (at..at + END_TOKENS).find(|at| self.is_sign(*at, b';')).unwrap_or(at);
                    let (what, start) =
                        (What::Unit(UnitKind::Function, UnitRole::Definition), self.tokens[start].bytes.start);
                    let end = self.tokens[end].bytes.end;
                    let definition = self.definition(what, start, name, end, CreatedObject::Routine);
                    self.found.push(definition);
                }
            }
            at += 1;
            if is_end {
                at = (at..at + END_TOKENS).find(|at| self.is_sign(*at, b';')).map_or(at, |end| end + 1);
                break;
            }
        }
        (self.tokens[at.min(self.tokens.len()) - 1].bytes.end, at)
    }
}

/// Cuts a text into tokens.
fn tokens(text: &str) -> Vec<SqlToken> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut line_start, mut begins_line) = (0, 0, true);
    while at < bytes.len() {
        let start = at;
        let next = bytes.get(at + 1).copied().unwrap_or_default();
        let kind = match bytes[at] {
            b'\n' => {
                (at, line_start, begins_line) = (at + 1, at + 1, true);
                continue;
            }
            b if b.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'-' if next == b'-' => {
                at = text[at..].find('\n').map_or(bytes.len(), |end| at + end);
                continue;
            }
            b'/' if next == b'*' => {
                at = text[at + 2..].find("*/").map_or(bytes.len(), |end| at + end + 4);
                continue;
            }
            b'\'' => {
                at = behind_quote(bytes, at, b'\'');
                SqlTokenKind::Text
            }
            quote @ (b'"' | b'`') => {
                at = behind_quote(bytes, at, quote);
                SqlTokenKind::Quoted
            }
            b'[' if bracketed(text, at).is_some() => {
                at = bracketed(text, at).unwrap_or(at + 1);
                SqlTokenKind::Quoted
            }
            b'$' => match dollar_tag(text, at) {
                Some(tag) => {
                    let from = at + tag.len();
                    at = text[from..].find(tag).map_or(bytes.len(), |end| from + end + tag.len());
                    SqlTokenKind::Text
                }
                None => {
                    at += 1;
                    SqlTokenKind::Sign(b'$')
                }
            },
            b if is_name_byte(b) => {
                at += bytes[at..].iter().take_while(|b| is_name_byte(**b) || **b == b'$').count();
                SqlTokenKind::Word
            }
            b => {
                at += 1;
                SqlTokenKind::Sign(b)
            }
        };
        found.push(SqlToken { kind, bytes: start..at, begins_line, is_indented: start > line_start });
        begins_line = false;
    }
    found
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'#') || byte >= 0x80
}

/// The end of `[name]`.
fn bracketed(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at + 1..];
    let length = rest.bytes().take_while(|b| is_name_byte(*b) || matches!(b, b' ' | b'-' | b'.')).count();
    let is_name = rest.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (is_name && rest.as_bytes().get(length) == Some(&b']')).then_some(at + length + 2)
}

/// The end of a quoted text; a doubled quote belongs to it.
fn behind_quote(bytes: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from + 1;
    while at < bytes.len() {
        if bytes[at] == quote {
            if bytes.get(at + 1) != Some(&quote) {
                return at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    bytes.len()
}

/// `$tag$` at a place.
fn dollar_tag(text: &str, at: usize) -> Option<&str> {
    let rest = &text[at + 1..];
    let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    (rest.as_bytes().get(length) == Some(&b'$')).then(|| &text[at..at + length + 2])
}
