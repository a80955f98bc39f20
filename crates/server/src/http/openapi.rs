//! The description of the interface (OpenAPI 3.1), made of the table of requests.

use serde_json::{Map, Value, json};

use super::api::{PATH, has_parameters};
use super::guard::REPOSITORIES;
use super::problem::{PROBLEM, Problem};
use crate::api::state::ServerState;
use crate::api::{Tool, offered, schema};

/// Describes paths, with schemas that go into the document's own.
type DescribePaths = fn(&mut Map<String, Value>) -> Vec<(String, Value)>;

/// The document of what a server answers; `page` describes the paths of the page.
pub fn document(state: &ServerState, page: DescribePaths) -> Value {
    let shards = state.shards();
    let mut schemas = Map::new();
    let answer = Value::Object(schema::answers());
    schemas.insert("Answer".into(), answer);
    schemas.insert("Problem".into(), root_schema(Value::Object(schema::written::<Problem>()), &mut Map::new()));
    let mut paths = Map::new();
    for tool in offered(state) {
        let tool = &tool;
        let name = format!("{}Request", camel(tool.name));
        let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}});
        let mut methods = Map::new();
        let mut get = operation(&format!("get_{}", tool.name), tool.title, tool.doc, "requests");
        get["parameters"] = in_address(tool, &mut schemas);
        get["responses"] = problems(content.clone(), true);
        methods.insert("get".into(), get);
        if has_parameters(tool) {
            let schema = root_schema(Value::Object(tool.input.clone()), &mut schemas);
            schemas.insert(name.clone(), schema);
            let mut post = operation(tool.name, tool.title, tool.doc, "requests");
            post["requestBody"] = body(&name);
            post["responses"] = problems(content, true);
            methods.insert("post".into(), post);
        }
        paths.insert(format!("{PATH}{}", tool.name), Value::Object(methods));
    }
    for (path, value) in page(&mut schemas) {
        paths.insert(path, value);
    }
    if let Some(shards) = shards {
        let header = caller(shards.needs_rights);
        for operation in paths.values_mut().filter_map(Value::as_object_mut).flat_map(|path| path.values_mut()) {
            match operation["parameters"].as_array_mut() {
                Some(parameters) => parameters.push(header.clone()),
                None => operation["parameters"] = json!([header]),
            }
        }
    }
    paths.extend(plain(shards.is_some()));
    let what = match shards {
        None => "What lies outside the folders that are served is not read.",
        Some(_) => {
            "It answers over shards: paths begin with the name of a repository, and what needs files of one machine is not here."
        }
    };
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "colgrep",
            "version": env!("CARGO_PKG_VERSION"),
            "description": format!("Ranked code search: the requests of the MCP server over HTTP. {what}"),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{}, {"token": []}],
        "tags": [
            {"name": "requests", "description": "What agents and programs ask."},
            {"name": "page", "description": "What the page asks; may change with it."},
            {"name": "state", "description": "Health, metrics, this description."},
        ],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "Where the server has a token."}},
        },
    })
}

/// The parameters of a request as those of an address; lists repeat theirs.
fn in_address(tool: &Tool, schemas: &mut Map<String, Value>) -> Value {
    let schema = root_schema(Value::Object(tool.input.clone()), schemas);
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let parameter = |(name, mut schema): (String, Value)| {
        let is_required = required.contains(&json!(name));
        let doc = schema.as_object_mut().and_then(|schema| schema.remove("description")).unwrap_or_default();
        json!({"name": name, "in": "query", "required": is_required, "description": doc, "schema": schema})
    };
    properties.into_iter().map(parameter).collect()
}

/// The header that says what a request's caller may see.
fn caller(is_required: bool) -> Value {
    json!({
        "name": REPOSITORIES,
        "in": "header",
        "required": is_required,
        "description": "The repositories that the caller may see: a list of names in JSON.",
        "content": {"application/json": {"schema": {"type": "array", "items": {"type": "string"}}}},
    })
}

/// A request's name as a type's.
fn camel(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(word).collect()
}

/// A schema of a type, whose definitions go to the shared ones.
pub fn root_schema(mut schema: Value, shared: &mut Map<String, Value>) -> Value {
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        if let Some(Value::Object(definitions)) = object.remove("$defs") {
            shared.extend(definitions.into_iter().map(|(name, one)| (name, referring(one))));
        }
    }
    referring(schema)
}

/// The schema with references into the document, and `null` among the values of what may be absent.
fn referring(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", "#/components/schemas/");
            }
            let may_be_null =
                object.get("type").and_then(Value::as_array).is_some_and(|types| types.contains(&json!("null")));
            if let Some(Value::Array(values)) = object.get_mut("enum").filter(|_| may_be_null)
                && !values.contains(&Value::Null)
            {
                values.push(Value::Null);
            }
            for value in object.values_mut() {
                *value = referring(value.take());
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|one| *one = referring(one.take())),
        _ => {}
    }
    schema
}

/// An operation without body and answers.
pub fn operation(id: &str, title: &str, doc: &str, tag: &str) -> Value {
    json!({"operationId": id, "summary": title, "description": doc, "tags": [tag]})
}

pub fn body(schema: &str) -> Value {
    json!({"required": true, "content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/{schema}")}}}})
}

/// A good answer with these contents, and what else an operation may answer.
pub fn problems(content: Value, has_body: bool) -> Value {
    let problem = |description: &str| json!({"description": description, "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}});
    let mut responses = json!({"200": {"description": "The answer.", "content": content}});
    let mut all = vec![
        ("400", "The request can't be read."),
        ("401", "The token is missing or wrong."),
        (
            "403",
            "The server was called by another name, by another site's page, or without saying what the caller may see.",
        ),
        ("422", "The request can't be answered as it is."),
        ("431", "The head is too long."),
        ("500", "Something failed in the server."),
    ];
    if has_body {
        all.extend([("413", "The body or the query is too long."), ("415", "The body is not JSON.")]);
    }
    for (status, description) in all {
        responses[status] = problem(description);
    }
    responses["503"] =
        problem("There is no room for now, it took too long, or what is asked is away: shards, or folders.");
    responses["503"]["headers"] =
        json!({"Retry-After": {"description": "Seconds after which to try again.", "schema": {"type": "integer"}}});
    responses
}

/// The GET endpoints other than the requests.
fn plain(over_shards: bool) -> Map<String, Value> {
    let ready = if over_shards { "Whether a shard answers" } else { "Whether every index that can be was opened" };
    let text = |kind: &str| json!({kind: {"schema": {"type": "string"}}});
    let all = [
        ("/healthz", "healthz", "Whether the server lives", text("text/plain")),
        ("/readyz", "readyz", ready, text("text/plain")),
        ("/metrics", "metrics", "Metrics in the text format of OpenMetrics", text("application/openmetrics-text")),
        ("/openapi.json", "openapi", "This description", json!({"application/json": {"schema": {"type": "object"}}})),
    ];
    let described = |(path, id, title, content): (&str, &str, &str, Value)| {
        let mut operation = operation(id, title, title, "state");
        operation["responses"] = problems(content, false);
        (path.to_string(), json!({"get": operation}))
    };
    all.into_iter().map(described).collect()
}
