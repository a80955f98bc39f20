//! `colgrep lsp`: a language server on standard input and output, for every editor that speaks the protocol.
//!
//! It offers the symbols of the workspace (ranked), the symbols of a document (its units) and the call hierarchy, and
//! nothing else. Each request opens the index anew, so it answers from the files as they are now.

mod files;
mod symbols;
mod text;

use std::path::{Path, PathBuf};

use anyhow::Result;
use colgrep_core::Unit;
use colgrep_core::code_line::calling_lines;
use colgrep_engine::request::has_no_word;
use colgrep_engine::session::related::CallRow;
use colgrep_engine::{
    CallDirection, CallLevelsRequest, CallStart, Engine, Env, NameMatch, OpenOptions, Scope, SearchRequest, Session,
    Weakest,
};
use colgrep_index::lexical::split_callee;
use colgrep_render::advice::told_by;
use colgrep_syntax::language;
use files::EditorFiles;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use symbols::{CallItem, document_symbols, kind_of, ranges_of};
use text::{TextPosition, TextRange, occurrences, path_of, uri_of, word_around};

use super::limit_threads;
use crate::args::LspArgs;
use crate::{FOUND, NOTHING};

/// Symbols of one answer about the workspace.
const SYMBOLS_MAX: usize = 50;
/// Definitions of a name at which a call hierarchy begins.
const ITEMS_MAX: usize = 20;

/// Parameters that name a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct DocumentParams {
    text_document: DocumentName,
}

/// Parameters that name a place in a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct PlaceParams {
    text_document: DocumentName,
    position: TextPosition,
}

/// A document, with its text and language where it is opened.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a document with `uri`")]
struct DocumentName {
    uri: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    language_id: String,
}

/// Parameters of a change of a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangeParams {
    text_document: DocumentName,
    content_changes: Vec<WholeText>,
}

/// The whole text of a document.
#[derive(Deserialize)]
struct WholeText {
    text: String,
}

/// Parameters of a question about the workspace.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct QueryParams {
    #[serde(default, deserialize_with = "text::text_or_null")]
    query: String,
}

/// Parameters of a question about a unit.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct ItemParams {
    item: CallItem,
}

/// What the client says at the start.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClientHello {
    root_path: Option<PathBuf>,
    root_uri: Option<String>,
    workspace_folders: Option<Vec<DocumentName>>,
}

/// How far client and server are.
enum Phase {
    /// The client has not begun.
    New,
    Running(Box<LspServer>),
    /// The client asked for the end.
    Closed,
}

pub(super) fn run(_: &LspArgs, env: &Env) -> Result<u8> {
    limit_threads(None);
    let (connection, threads) = Connection::stdio();
    let mut phase = Phase::New;
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                let answer = phase.answer(request, env);
                if connection.sender.send(answer.into()).is_err() {
                    break;
                }
            }
            Message::Notification(notification) if notification.method == "exit" => break,
            Message::Notification(notification) => {
                if let Phase::Running(server) = &mut phase {
                    server.note(notification);
                }
            }
            Message::Response(_) => {}
        }
    }
    drop(connection);
    threads.join()?;
    // Whoever ends without `shutdown` gets the other status, as the protocol says.
    Ok(if matches!(phase, Phase::Closed) { FOUND } else { NOTHING })
}

impl Phase {
    /// Answers a request, or refuses it where its time is not come or over.
    fn answer(&mut self, request: Request, env: &Env) -> Response {
        let refused = |id, code: ErrorCode, why: &str| Response::new_err(id, code as i32, why.to_string());
        let Request { id, method, params } = request;
        match (&mut *self, method.as_str()) {
            (Phase::New, "initialize") => {
                *self = Phase::Running(Box::new(LspServer::new(&params, env)));
                Response::new_ok(id, offered())
            }
            (Phase::New, _) => {
                refused(id, ErrorCode::ServerNotInitialized, "the client has to begin with `initialize`")
            }
            (Phase::Running(_), "initialize") => {
                refused(id, ErrorCode::InvalidRequest, "the server is initialized already")
            }
            (Phase::Running(_), "shutdown") => {
                *self = Phase::Closed;
                Response::new_ok(id, Value::Null)
            }
            (Phase::Running(server), _) => server.answer(Request { id, method, params }),
            (Phase::Closed, _) => {
                refused(id, ErrorCode::InvalidRequest, "the server is shut down; only `exit` follows")
            }
        }
    }
}

/// What the server offers.
fn offered() -> Value {
    let capabilities = json!({
        // Whole texts, since documents may have changes that are not saved.
        "textDocumentSync": {"openClose": true, "change": 1},
        "workspaceSymbolProvider": true,
        "documentSymbolProvider": true,
        "callHierarchyProvider": true,
    });
    json!({"capabilities": capabilities, "serverInfo": {"name": "colgrep", "version": env!("CARGO_PKG_VERSION")}})
}

struct LspServer {
    engine: Engine,
    roots: Vec<PathBuf>,
    files: EditorFiles,
}

impl LspServer {
    fn new(hello: &Value, env: &Env) -> LspServer {
        let hello = ClientHello::deserialize(hello).unwrap_or_default();
        let folders = hello.workspace_folders.unwrap_or_default().into_iter().map(|folder| folder.uri);
        let mut roots: Vec<PathBuf> = folders.filter_map(|uri| path_of(&uri).ok()).collect();
        if roots.is_empty() {
            roots.extend(hello.root_uri.and_then(|uri| path_of(&uri).ok()).or(hello.root_path));
        }
        if roots.is_empty() {
            roots.push(PathBuf::from("."));
        }
        let engine = Engine::new(env.clone()).options(OpenOptions::default());
        LspServer { engine, roots, files: EditorFiles::default() }
    }

    fn note(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => {
                if let Ok(DocumentParams { text_document }) = serde_json::from_value(params) {
                    self.files.put(&text_document.uri, text_document.text, text_document.language_id);
                }
            }
            "textDocument/didChange" => {
                if let Ok(ChangeParams { text_document, mut content_changes }) = serde_json::from_value(params)
                    && let Some(last) = content_changes.pop()
                {
                    self.files.put(&text_document.uri, last.text, String::new());
                }
            }
            "textDocument/didClose" => {
                if let Ok(DocumentParams { text_document }) = serde_json::from_value(params) {
                    self.files.close(&text_document.uri);
                }
            }
            _ => {}
        }
    }

    fn answer(&self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let answered = match method.as_str() {
            "workspace/symbol" => read(params).and_then(|params| self.workspace_symbols(&params)),
            "textDocument/documentSymbol" => read(params).and_then(|params| self.document_symbols(&params)),
            "textDocument/prepareCallHierarchy" => read(params).and_then(|params| self.call_items(&params)),
            "callHierarchy/incomingCalls" => read(params).and_then(|params| self.incoming(&params)),
            "callHierarchy/outgoingCalls" => read(params).and_then(|params| self.outgoing(&params)),
            _ => {
                let why = format!("colgrep does not answer {method}");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, why);
            }
        };
        match answered {
            Ok(answer) => Response::new_ok(id, answer),
            Err(error) => {
                let is_invalid = error.downcast_ref::<serde_json::Error>().is_some();
                let code = if is_invalid { ErrorCode::InvalidParams } else { ErrorCode::RequestFailed };
                // An editor passes no flags.
                Response::new_err(id, code as i32, told_by(&error, false))
            }
        }
    }

    fn session(&self) -> Result<Session> {
        Ok(self.engine.session(&self.roots[0])?)
    }

    fn scope(&self) -> Scope {
        let mut scope = Scope::default();
        scope.paths.clone_from(&self.roots);
        scope
    }

    /// Symbols whose names have the letters of the query, as editors expect them, then what a search finds. Among equal
    /// names, the order is that of the search.
    fn workspace_symbols(&self, params: &QueryParams) -> Result<Value> {
        let query = params.query.trim();
        if !query.is_empty() && has_no_word(query) {
            return Ok(json!([]));
        }
        let mut session = self.session()?;
        let mut symbols = Vec::new();
        if !query.is_empty() {
            let mut request = SearchRequest::new(query).files(SYMBOLS_MAX);
            request.scope = self.scope();
            (request.shape.single_units, request.shape.weakest) = (true, Weakest::Floor);
            for file in session.search(&request)?.files {
                let path = file.root.join(&file.path);
                let named = file.units.iter().filter(|answered| !answered.unit.name.is_empty());
                for answered in named {
                    symbols.extend(self.symbol((&path, &file.path), &answered.unit, answered.name_line));
                }
            }
        }
        for row in session.definitions_like(query, &self.scope(), SYMBOLS_MAX)? {
            let path = row.file.root.join(&row.file.path);
            let symbol = self.symbol((&path, &row.file.path), &row.unit, row.name_line as usize);
            symbols.extend(symbol.filter(|symbol| !symbols.contains(symbol)));
        }
        // What has not all letters of a sentence comes last, in the order of the search.
        let name = |symbol: &Value| NameMatch::of(symbol["name"].as_str().unwrap_or_default(), query);
        symbols.sort_by_cached_key(|symbol| name(symbol).map_or((1, None), |found| (0, Some(found))));
        symbols.truncate(SYMBOLS_MAX);
        Ok(symbols.into())
    }

    /// A unit of the index as a symbol of the workspace, unless its file is gone; `path` also as it lies in its project.
    fn symbol(&self, (path, in_project): (&Path, &str), unit: &Unit, name_line: usize) -> Option<Value> {
        let uri = uri_of(path);
        let text = self.files.text(&uri).ok()?;
        let lines: Vec<&str> = text.lines().collect();
        let range = match self.files.in_editor(path, unit) {
            Some(unit) => ranges_of(&unit, &lines).1,
            None => TextRange::of_name(&lines, name_line, &unit.name),
        };
        let container = if unit.parent.is_empty() { in_project } else { &unit.parent };
        Some(json!({
            "name": unit.name,
            "kind": kind_of(unit.kind),
            "containerName": container,
            "location": {"uri": uri, "range": range},
        }))
    }

    fn document_symbols(&self, params: &DocumentParams) -> Result<Value> {
        let uri = &params.text_document.uri;
        let text = self.files.text(uri)?;
        Ok(serde_json::to_value(document_symbols(self.files.units(uri, &text), &text))?)
    }

    /// The unit whose name is at a place, else the definitions of that name.
    fn call_items(&self, params: &PlaceParams) -> Result<Value> {
        let (uri, at) = (&params.text_document.uri, params.position);
        let text = self.files.text(uri)?;
        let lines: Vec<&str> = text.lines().collect();
        let word = word_around(lines.get(at.line as usize).copied().unwrap_or_default(), at.character);
        if word.is_empty() {
            return Ok(Value::Null);
        }
        for unit in self.files.units(uri, &text) {
            let (range, selection_range) = ranges_of(&unit, &lines);
            let is_on_name = selection_range.start.line == at.line
                && (selection_range.start.character..=selection_range.end.character).contains(&at.character);
            if is_on_name && unit.kind.is_definition() {
                let (kind, uri) = (kind_of(unit.kind), uri.clone());
                let item = CallItem { name: unit.name, kind, detail: unit.parent, uri, range, selection_range };
                return Ok(json!([item]));
            }
        }
        let rows = self.session()?.definitions(word, &self.scope())?;
        let items: Vec<CallItem> =
            rows.iter().take(ITEMS_MAX).map(|row| Ok(self.item(row)?.item)).collect::<Result<_>>()?;
        Ok(if items.is_empty() { Value::Null } else { json!(items) })
    }

    fn incoming(&self, params: &ItemParams) -> Result<Value> {
        let mut calls = Vec::new();
        for row in self.called(&params.item, CallDirection::Callers)? {
            let FoundItem { item, text, span } = self.item(&row)?;
            let ranges = call_ranges(&item, &text, span, &row);
            calls.push(json!({"from": item, "fromRanges": ranges}));
        }
        Ok(calls.into())
    }

    fn outgoing(&self, params: &ItemParams) -> Result<Value> {
        let own = &params.item;
        let text = self.files.text(&own.uri)?;
        let span = (own.range.start.line as usize + 1, own.range.end.line as usize + 1);
        let mut calls = Vec::new();
        for row in self.called(own, CallDirection::Callees)? {
            let ranges = call_ranges(own, &text, span, &row);
            calls.push(json!({"to": self.item(&row)?.item, "fromRanges": ranges}));
        }
        Ok(calls.into())
    }

    /// The units that call a unit, or that it calls.
    fn called(&self, item: &CallItem, direction: CallDirection) -> Result<Vec<CallRow>> {
        // A document without a file is in no index.
        let Ok(file) = path_of(&item.uri) else { return Ok(Vec::new()) };
        let line = item.selection_range.start.line.saturating_add(1);
        let Some(line) = self.files.on_disk(&file, line) else { return Ok(Vec::new()) };
        let start = CallStart::Unit { file, line };
        let request = CallLevelsRequest { start, direction, depth: 1, scope: self.scope() };
        Ok(self.session()?.call_levels(&request)?.rows)
    }

    /// A unit of the index as an item.
    fn item(&self, row: &CallRow) -> Result<FoundItem> {
        let path = row.file.root.join(Path::new(&row.file.path));
        let uri = uri_of(&path);
        let text = self.files.text(&uri)?;
        let unit = self.files.in_editor(&path, &row.unit).unwrap_or_else(|| row.unit.clone());
        let (range, selection_range) = ranges_of(&unit, &text.lines().collect::<Vec<_>>());
        let span = (unit.span.line as usize, unit.span.end as usize);
        let (detail, kind) = (row.file.path.clone(), kind_of(unit.kind));
        let item = CallItem { name: unit.name, kind, detail, uri, range, selection_range };
        Ok(FoundItem { item, text, span })
    }
}

/// A unit of the index as the editor has it.
struct FoundItem {
    item: CallItem,
    /// The text of its file.
    text: String,
    /// Its first and last line.
    span: (usize, usize),
}

/// Where a caller calls: the names of the callee on lines `span` that call it. Languages whose calls need no parentheses
/// may have no such line; then all its names there, and without any, the caller's own name.
fn call_ranges(caller: &CallItem, text: &str, span: (usize, usize), row: &CallRow) -> Vec<TextRange> {
    let callee = split_callee(&row.callee).1;
    let mut ranges = occurrences(&text.lines().collect::<Vec<_>>(), span, callee, caller.selection_range);
    let language = language::of_file(&caller.uri, text.as_bytes());
    let lines = calling_lines(text, callee, language.comments, language::facts());
    let is_call = |range: &TextRange| lines.contains(&(range.start.line + 1));
    if ranges.iter().any(is_call) {
        ranges.retain(is_call);
    }
    if ranges.is_empty() {
        ranges.push(caller.selection_range);
    }
    ranges
}

/// The parameters of a request; an error names the one that does not fit.
fn read<T: for<'de> Deserialize<'de>>(params: Value) -> Result<T> {
    let params = if params.is_null() { json!({}) } else { params };
    let told = |error: serde_path_to_error::Error<serde_json::Error>| {
        let (path, why) = (error.path().to_string(), error.into_inner());
        anyhow::Error::from(why).context(if path == "." { "the parameters".to_string() } else { path })
    };
    serde_path_to_error::deserialize(params).map_err(told)
}
