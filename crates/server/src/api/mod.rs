//! What the servers answer, whatever they speak: one table of requests for `mcp` and `serve`, with their parameters, the
//! state between calls, and the code that answers.

mod about;
mod block;
mod changes;
pub mod ended;
mod ends;
mod field;
mod files;
mod find;
mod forms;
mod heard;
mod history;
mod impact;
mod levels;
mod local;
mod locate;
mod opened;
mod page;
pub mod params;
mod project;
mod ranking;
mod read;
mod root;
pub mod schema;
mod shards;
pub mod state;
mod token;
mod tools;
mod units;
mod unserved;

use anyhow::Result;
use ends::ToolAnswer;
pub use page::bounded;
pub use read::text_and_units;
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Map, Value, json};
pub use shards::Shards;
use state::ServerState;
pub use token::warn_of_readers;
pub use tools::search_shown;
use unserved::is_partial;
pub use unserved::{NotServed, Unserved, told as left_out};

/// Requests that are worked on at once, for each core. The others wait their turn.
pub const AT_WORK_A_CORE_MAX: usize = 2;

/// The kinds of requests that a server over shards answers.
const OVER_SHARDS: [&str; 3] = ["search", "grep", "status"];
/// Parameters that name what is on this machine, so that a server over shards refuses them.
const HERE_ALONE: [&str; 8] = ["near", "groups", "name", "file", "like", "context", "project", "depth"];

/// Parameters that name files and folders.
const PLACES: [&str; 5] = ["file", "like", "near", "paths", "change"];

/// What answers a request.
type Answering = Box<dyn FnOnce(&ServerState) -> Result<ToolAnswer> + Send>;

/// A request whose parameters are read.
pub struct Call {
    /// The folder that it is limited to.
    project: Option<String>,
    /// The files and folders that it names.
    places: Vec<String>,
    /// Whether it is about the server itself.
    is_status: bool,
    /// The length of its answer in tokens, where it names one.
    pub max_tokens: Option<usize>,
    answer: Answering,
}

/// A kind of request.
pub struct Tool {
    /// Its name in the protocol.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// The schema of its parameters.
    pub input: Map<String, Value>,
    read: Box<dyn Fn(Map<String, Value>) -> serde_json::Result<Call> + Send + Sync>,
}

impl Tool {
    fn new<P: DeserializeOwned + JsonSchema + Send + 'static>(
        [name, title, doc]: [&'static str; 3],
        work: fn(&ServerState, &P) -> Result<ToolAnswer>,
    ) -> Tool {
        let input = schema::of::<P>();
        let plain = schema::in_plain_types(&input);
        let read = move |mut parameters| {
            schema::fit(&mut parameters, &plain);
            let text = |name: &str| Some(parameters.get(name)?.as_str()?.trim().to_string());
            let project = text("project").filter(|project| !project.is_empty());
            let given = PLACES.iter().filter_map(|name| parameters.get(*name));
            let texts = given.flat_map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
            let globs = parameters.get("include").and_then(Value::as_array).into_iter().flatten();
            let folders = globs.filter_map(Value::as_str).filter_map(project::folder_of);
            let places = texts.filter_map(Value::as_str).map(str::trim).chain(folders).map(str::to_string).collect();
            let max_tokens = parameters.get("max_tokens").and_then(Value::as_u64);
            let max_tokens = max_tokens.map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
            let asked: P = read(parameters, &plain)?;
            let is_status = name == "status";
            Ok(Call { project, places, is_status, max_tokens, answer: Box::new(move |state| work(state, &asked)) })
        };
        Tool { name, title, doc, input, read: Box::new(read) }
    }

    /// Reads the parameters of a request, whatever their notation.
    ///
    /// # Errors
    /// When they are not those of this kind.
    pub fn call(&self, parameters: Map<String, Value>) -> serde_json::Result<Call> {
        (self.read)(parameters)
    }
}

/// Reads parameters of a schema in plain types; an error names the one that does not fit.
///
/// # Errors
/// When they are not those of `P`.
pub fn read<P: DeserializeOwned>(parameters: Map<String, Value>, plain: &Map<String, Value>) -> serde_json::Result<P> {
    let parameters = Value::Object(parameters);
    schema::check(&parameters, &Value::Object(plain.clone()), "").map_err(serde_json::Error::custom)?;
    serde_path_to_error::deserialize(parameters).map_err(|error| {
        let (path, why) = (error.path().to_string(), error.inner().to_string());
        serde_json::Error::custom(if path == "." { why } else { format!("{path}: {why}") })
    })
}

/// All kinds of requests.
pub fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            [
                "search",
                "Search code",
                "Ranks units of code and text by a query in words or names. Without a query, a pattern lists matching lines, and name or file with a line reads one unit.",
            ],
            find::search,
        ),
        Tool::new(
            ["grep", "Find lines", "Gives every line that matches a regular expression, as path:line:text."],
            files::grep,
        ),
        Tool::new(
            ["outline", "Outline a file", "Lists the units of a file in order: lines, kind, signature."],
            |state, asked| Ok(files::outline(state, asked)?.into()),
        ),
        Tool::new(
            [
                "read_unit",
                "Read a unit",
                "Gives the numbered lines of one unit: the one around a line, or the one of a name.",
            ],
            read::read_unit,
        ),
        Tool::new(
            ["find_related", "Find similar units", "Ranks units that are like the unit on a line of a file."],
            tools::find_related,
        ),
        Tool::new(
            [
                "history",
                "Search commits and sessions",
                "Ranks commits, and agents' sessions where the user's settings name them, by a question; or gives the newest.",
            ],
            history::history,
        ),
        Tool::new(
            [
                "impact",
                "What a change affects",
                "Ranks the other files that a change affects, with reasons: callers, tests, files that changed together.",
            ],
            impact::impact,
        ),
        Tool::new(
            [
                "status",
                "State of the index",
                "Tells the roots, what is indexed, and whether changes are noticed as they happen.",
            ],
            files::status,
        ),
    ]
}

/// The kinds of requests that a server offers, each with the parameters that it takes there.
pub fn offered(state: &ServerState) -> Vec<Tool> {
    let mut all = tools();
    if state.shards().is_some() {
        all.retain(|tool| OVER_SHARDS.contains(&tool.name));
        for properties in all.iter_mut().filter_map(|tool| tool.input.get_mut("properties")?.as_object_mut()) {
            properties.retain(|name, _| !HERE_ALONE.contains(&name.as_str()));
        }
    }
    all
}

/// An answer with the state of the roots that it is about.
#[derive(Debug)]
pub struct ApiAnswer {
    answered: ToolAnswer,
    roots: Vec<Value>,
    /// Its length in tokens, at most.
    tokens: usize,
}

/// Answers a request.
///
/// # Errors
/// When there is no root, or the request can't be answered.
pub fn answer(state: &ServerState, call: Call) -> Result<ApiAnswer> {
    let project = call.project.or_else(|| state.project_of(&call.places));
    let in_project = project.map(|project| state.in_project(&project)).transpose()?;
    if in_project.is_none() && (!call.is_status || state.areas.is_empty()) {
        state.check_roots()?;
    }
    let state = in_project.as_ref().unwrap_or(state);
    // It doubts all of the answer, and a refusal too.
    let on_roots = || state.on_roots().map(str::to_string);
    let mut answered = (call.answer)(state).map_err(|error| match on_roots() {
        Some(told) => error.context(told),
        None => error,
    })?;
    answered.remarks.insert_str(0, &ends::remark(on_roots()));
    let tokens = page::tokens_wanted(call.max_tokens.or(answered.tokens));
    Ok(ApiAnswer { answered, roots: about::rows(state), tokens })
}

impl ApiAnswer {
    /// The answer as text: the page, its remarks, and the state of the roots.
    pub fn text(&self) -> String {
        let ToolAnswer { text, remarks, .. } = &self.answered;
        page::whole_answer(text, remarks, &about::text(&self.roots), self.tokens)
    }

    /// Whether shards or repositories are left out.
    pub fn is_partial(&self) -> bool {
        is_partial(self.answered.standing.as_ref(), &self.answered.unserved)
    }

    /// The answer as [`schema::answers`] describes it.
    pub fn content(self) -> Value {
        let ToolAnswer { text, remarks, hits, standing, unserved, .. } = self.answered;
        let text = page::whole_answer(&text, &remarks, "", self.tokens);
        let mut content = json!({"answer": text, "roots": self.roots});
        if let Some(hits) = hits {
            content["hits"] = hits.into();
        }
        if let Some(standing) = standing {
            content["shards"] = json!(standing);
        }
        if !unserved.is_empty() {
            content["unserved"] = json!(unserved);
        }
        content
    }
}
