//! Schemas and arguments of the tools in a form that every client understands: plain types, titles, one shape of
//! answers.

use colgrep_engine::settings::did_you_mean::nearest;
use colgrep_render::words::in_short;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Names that other tools have for what a parameter is here; of several rows, the first that a request takes.
const OTHERS: [(&str, &str); 24] = [
    ("cwd", "project"),
    ("filter", "include"),
    ("folder", "paths"),
    ("glob", "include"),
    ("globs", "include"),
    ("head_limit", "results"),
    ("ignore", "exclude"),
    ("limit", "results"),
    ("limit", "max_tokens"),
    ("max_results", "results"),
    ("path", "paths"),
    ("path", "file"),
    ("q", "query"),
    ("q", "pattern"),
    ("query", "pattern"),
    ("question", "query"),
    ("regex", "pattern"),
    ("regexp", "pattern"),
    ("repo", "project"),
    ("root", "project"),
    ("symbol", "name"),
    ("text", "query"),
    ("top_k", "results"),
    ("type", "languages"),
];

/// Lists of globs, which one text may hold.
const OF_GLOBS: [&str; 2] = ["include", "exclude"];

/// The schema of a request's parameters, as they are read.
pub fn of<P: JsonSchema>() -> Map<String, Value> {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<P>().to_value();
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    let required: Vec<Value> = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for name in required.iter().filter_map(Value::as_str) {
        // What is required has no default, though the type that reads it has one.
        let property = schema.get_mut("properties").and_then(|all| all.get_mut(name)?.as_object_mut());
        property.map(|property| property.remove("default"));
    }
    schema
}

/// The schema of what a type writes.
pub fn written<A: JsonSchema>() -> Map<String, Value> {
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<A>().to_value();
    schema.as_object().cloned().unwrap_or_default()
}

/// A schema of parameters in plain types, without what it says of the type around them.
pub fn in_plain_types(input: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = input.clone();
    let kinds = schema.remove("$defs").unwrap_or_default();
    schema.remove("title");
    schema.remove("description");
    let mut schema = Value::Object(schema);
    plain(&mut schema, &kinds);
    schema.as_object().cloned().unwrap_or_default()
}

/// The shape of every answer.
pub fn answers() -> Map<String, Value> {
    let root = json!({
        "type": "object",
        "properties": {
            "root": {"type": "string", "description": "The folder that is answered about."},
            "head": {"type": "string", "description": "Branch and commit that git has checked out there; empty outside a repository."},
            "index": {"type": "string", "description": "How current the index is that was asked."},
        },
        "required": ["root", "head", "index"],
    });
    let hit = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "The question that it answers, of a long one the beginning; there where several were asked."},
            "file": {"type": "string", "description": "Its path from the root; of several roots the name of its own stands in front."},
            "strength": {"type": "number", "description": "How likely it is right, 0 to 1, on one scale for all questions."},
            "id": {"type": "string", "description": "The id of its best unit, or of the unit in a list."},
            "kind": {"type": "string", "description": "What the unit is."},
            "name": {"type": "string", "description": "Its qualified name."},
            "line": {"type": "integer", "description": "Its first line, from 1."},
            "end_line": {"type": "integer", "description": "Its last line."},
            "line_shown": {"type": "integer", "description": "The line that answers."},
            "text": {"type": "string", "description": "That line."},
        },
        "required": ["file", "strength"],
    });
    let missing = json!({
        "type": "object",
        "properties": {
            "shard": {"type": "integer", "description": "Its number, from 1."},
            "replicas": {"type": "array", "description": "The addresses of its replicas.", "items": {"type": "string"}},
            "why": {"type": "string", "description": "Why it gives no answer."},
        },
        "required": ["shard", "replicas", "why"],
    });
    let unserved = json!({
        "type": "object",
        "properties": {
            "repository": {"type": "string", "description": "Its name."},
            "shard": {"type": "integer", "description": "The number of its shard, from 1."},
            "why": {"type": "string", "description": "Why it can't be searched now."},
        },
        "required": ["repository", "shard", "why"],
    });
    let partial = json!({
        "type": "object",
        "properties": {
            "repository": {"type": "string", "description": "Its name."},
            "shard": {"type": "integer", "description": "The number of its shard, from 1."},
            "files_known": {
                "type": "integer",
                "description": "Files that its index knows as they are now; none where it knows all of them.",
            },
            "files_in_tree": {"type": "integer", "description": "Of so many; none where that is not known."},
            "units": {"type": "integer", "description": "Its units."},
            "units_without_vectors": {"type": "integer", "description": "Those that are ranked by words alone so far."},
            "has_no_room": {"type": "boolean", "description": "True where the disk is full, so that it can't be updated."},
            "is_not_fetched": {"type": "boolean", "description": "True where its newest index could not be fetched."},
        },
        "required": ["repository", "shard", "units", "units_without_vectors"],
    });
    let repeated = json!({
        "type": "object",
        "properties": {
            "repository": {"type": "string", "description": "Its name."},
            "shard": {"type": "integer", "description": "The shard with the newest index, which is searched."},
            "others": {"type": "array", "description": "The other shards.", "items": {"type": "integer"}},
        },
        "required": ["repository", "shard", "others"],
    });
    let shards = json!({
        "type": "object",
        "description": "Over shards: how many were asked and answered, and those whose repositories are left out.",
        "properties": {
            "asked": {"type": "integer", "description": "Shards that were asked."},
            "answered": {"type": "integer", "description": "Shards that answered."},
            "missing": {"type": "array", "description": "The others.", "items": missing},
            "unserved": {
                "type": "array",
                "description": "Repositories that shards which answered can't serve; none where it is not there.",
                "items": unserved,
            },
            "partial": {
                "type": "array",
                "description": "Repositories whose indexes are being brought up to date; none where it is not there.",
                "items": partial,
            },
            "repeated": {
                "type": "array",
                "description": "Repositories that several shards serve; none where it is not there.",
                "items": repeated,
            },
        },
        "required": ["asked", "answered", "missing"],
    });
    let left_out = json!({
        "type": "object",
        "properties": {
            "root": {"type": "string", "description": "The folder."},
            "why": {"type": "string", "description": "Why it can't be searched now."},
        },
        "required": ["root", "why"],
    });
    let shape = json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "description": "The answer as text, with its remarks."},
            "hits": {
                "type": "array",
                "description": "What the text shows: files, best first; without a query, each unit.",
                "items": hit,
            },
            "shards": shards,
            "unserved": {"type": "array", "description": "Roots that the answer leaves out; not there where it leaves out none.", "items": left_out},
            "roots": {"type": "array", "description": "What was asked, and how current it is.", "items": root},
        },
        "required": ["answer", "roots"],
    });
    shape.as_object().cloned().unwrap_or_default()
}

/// Reduces a schema to what every client understands: one type for each value, no formats, no references.
fn plain(schema: &mut Value, kinds: &Value) {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/$defs/"))
        && let Some(kind) = kinds.get(name)
    {
        *schema = kind.clone();
    }
    match schema {
        Value::Array(all) => all.iter_mut().for_each(|one| plain(one, kinds)),
        Value::Object(object) => {
            object.remove("format");
            // It says that nothing is given, and may be less than what is accepted.
            if object.get("default").is_some_and(|value| value.is_null() || value == "") {
                object.remove("default");
            }
            if let Some(Value::Array(types)) = object.get("type") {
                let first = types.iter().find(|t| *t != "null").cloned().unwrap_or_default();
                object.insert("type".to_string(), first);
            }
            if let Some(Value::Array(any)) = object.get("anyOf")
                && let Some(Value::Object(one)) = any.iter().find(|one| one["type"] != "null").cloned()
            {
                object.remove("anyOf");
                for (key, value) in one {
                    object.entry(key).or_insert(value);
                }
            }
            object.values_mut().for_each(|one| plain(one, kinds));
        }
        _ => {}
    }
}

/// The globs of a list in one text, separated by commas; those inside brackets, or escaped, belong to a glob.
fn each_glob(list: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut is_escape) = (0_usize, false);
    let is_end = move |c: char| {
        let is_escaped = is_escape;
        is_escape = c == '\\' && !is_escaped;
        match c {
            '{' | '[' if !is_escaped => depth += 1,
            '}' | ']' if !is_escaped => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0 && !is_escaped
    };
    list.split(is_end).map(str::trim).filter(|glob| !glob.is_empty())
}

/// Makes arguments fit the schema where only their notation differs: numbers and switches in quotes, one text where a
/// list is wanted or the other way round, `null` or an empty text for absent ones: some agents fill in every parameter.
pub fn fit(arguments: &mut Map<String, Value>, schema: &Map<String, Value>) {
    let is_given = |value: &Value| !value.is_null() && value != "";
    arguments.retain(|_, value| is_given(value));
    arguments.values_mut().filter_map(Value::as_array_mut).for_each(|list| list.retain(is_given));
    let Some(Value::Object(properties)) = schema.get("properties") else { return };
    for (name, value) in arguments.iter_mut() {
        let wanted = properties.get(name).and_then(|property| property["type"].as_str());
        let fitting = match (wanted, &*value) {
            (Some("integer"), Value::Number(number)) => number
                .as_f64()
                .filter(|n| n.fract() == 0.0 && (0.0..2_f64.powi(64)).contains(n) && number.as_u64().is_none())
                .map(|n| json!(n as u64)),
            (Some("integer"), Value::String(text)) => {
                let (text, positive) = (text.trim(), text.trim().parse::<u64>().map(Value::from));
                positive.or_else(|_| text.parse::<i64>().map(Value::from)).ok()
            }
            (Some("number"), Value::String(text)) => {
                text.trim().parse::<f64>().ok().filter(|n| n.is_finite()).map(Value::from)
            }
            (Some("boolean"), Value::String(text)) => text.trim().to_lowercase().parse::<bool>().ok().map(Value::from),
            (Some("array"), Value::String(text)) => match serde_json::from_str(text) {
                Ok(list @ Value::Array(_)) => Some(list),
                _ if OF_GLOBS.contains(&name.as_str()) => Some(each_glob(text).collect()),
                _ => Some(json!([text])),
            },
            (Some("string"), Value::Array(list)) => match &**list {
                [one @ Value::String(_)] => Some(one.clone()),
                _ => None,
            },
            _ => None,
        };
        if let Some(fitting) = fitting {
            *value = fitting;
        }
    }
}

/// Refuses arguments that are not of the schema's names and types, in words of their own: the parser's are about types
/// of this program. `name` is the parameter that the value is of; none for all of them.
///
/// # Errors
/// What does not fit, and how it would.
pub fn check(value: &Value, schema: &Value, name: &str) -> Result<(), String> {
    let wanted = schema["type"].as_str().unwrap_or_default();
    let fits = match wanted {
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    };
    let bounds = [&schema["minimum"], &schema["maximum"]];
    let is_below = |(one, other): (&Value, &Value)| one.as_f64().zip(other.as_f64()).is_some_and(|(a, b)| a < b);
    if is_below((value, bounds[0])) || is_below((bounds[1], value)) {
        let range = match bounds {
            [least, Value::Null] => format!("from {least} on"),
            [least, most] => format!("from {least} to {most}"),
        };
        return Err(format!("{name} takes a number {range}, not {}", in_short(&value.to_string())));
    }
    if !fits {
        let what = match wanted {
            "integer" if value.as_f64().is_some_and(|number| number.fract() == 0.0) => "a whole number below 2^64",
            "integer" => "a whole number",
            "number" => "a number",
            "boolean" => "true or false",
            "string" => "a text",
            "array" => "a list",
            _ => "an object",
        };
        return Err(format!("{name} takes {what}, not {}", in_short(&value.to_string())));
    }
    if let (Value::Array(list), items @ Value::Object(_)) = (value, &schema["items"]) {
        return list.iter().enumerate().try_for_each(|(at, one)| check(one, items, &format!("{name}[{at}]")));
    }
    let (Value::Object(given), Value::Object(properties)) = (value, &schema["properties"]) else { return Ok(()) };
    let inside = |one: &str| if name.is_empty() { one.to_string() } else { format!("{name}.{one}") };
    for (one, value) in given {
        match properties.get(one) {
            Some(property) => check(value, property, &inside(one))?,
            None if schema["additionalProperties"] == false => {
                let mut others = OTHERS.iter().filter(|(other, _)| *other == one.as_str());
                let meant = others.find(|(_, name)| properties.contains_key(*name)).map(|(_, name)| *name);
                let near = meant.or_else(|| nearest(one, properties.keys().map(String::as_str)));
                let way = near.map_or("leave it out".to_string(), |near| format!("did you mean {near:?}?"));
                return Err(format!("there is no parameter {:?} here; {way}", in_short(&inside(one))));
            }
            None => {}
        }
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match required.into_iter().find(|one| !given.contains_key(*one)) {
        Some(lacking) => Err(format!("the parameter `{}` is missing", inside(lacking))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_told_in_plain_words() {
        let schema = in_plain_types(&of::<super::super::params::Search>()).into();
        for (given, expected) in [
            (json!({"path": ["src"]}), "there is no parameter \"path\" here; did you mean \"paths\"?"),
            (json!({"language": "go"}), "there is no parameter \"language\" here; did you mean \"languages\"?"),
            (json!({"glob": "*.go"}), "there is no parameter \"glob\" here; did you mean \"include\"?"),
            (json!({"limit": 3}), "there is no parameter \"limit\" here; did you mean \"results\"?"),
            (json!({"max_tokens": 1e20}), "max_tokens takes a number from 50 to 25000, not 1e"),
            (json!({"wxyz": 1}), "there is no parameter \"wxyz\" here; leave it out"),
            (json!({"results": "many"}), "results takes a whole number, not \"many\""),
            (json!({"results": -1}), "results takes a number from 1 on, not -1"),
            (json!({"offset": -1}), "offset takes a number from 0 on, not -1"),
            (json!({"results": 1.5}), "results takes a whole number, not 1.5"),
            (json!({"results": 1e20}), "results takes a whole number below 2^64, not 1e"),
            (json!({"results": 0}), "results takes a number from 1 on, not 0"),
            (json!({"max_tokens": 49}), "max_tokens takes a number from 50 to 25000, not 49"),
            (json!({"max_tokens": 25_001}), "max_tokens takes a number from 50 to 25000, not 25001"),
            (json!({"min_strength": 1.5}), "min_strength takes a number from 0 to 1, not 1.5"),
            (json!({"min_strength": "x"}), "min_strength takes a number, not \"x\""),
            (json!({"all": "maybe"}), "all takes true or false, not \"maybe\""),
            (json!({"query": ["a"]}), "query takes a text, not [\"a\"]"),
            (json!({"paths": [1]}), "paths[0] takes a text, not 1"),
            (json!({"hints": ["queue"]}), "hints[0] takes an object, not \"queue\""),
            (json!({"hints": [{"kind": "topic"}]}), "the parameter `hints[0].word` is missing"),
            (json!({"hints": [{"kind": "topic", "words": "a"}]}), "did you mean \"word\"?"),
        ] {
            let told = check(&given, &schema, "").expect_err("a misfit");
            assert!(told.contains(expected), "{given}: {told}");
        }
        let outline = in_plain_types(&of::<super::super::params::Outline>()).into();
        let told = check(&json!({"path": "a.rs"}), &outline, "").expect_err("a misfit");
        assert!(told.ends_with("did you mean \"file\"?"), "{told}");
        assert_eq!(check(&json!({"query": "a", "results": 3, "hints": [], "kind": ["class"]}), &schema, ""), Ok(()));
    }

    #[test]
    fn commas_separate_globs_but_inside_brackets() {
        for (list, expected) in [
            ("*.md,*.go", vec!["*.md", "*.go"]),
            ("src/**/*.{ts,tsx}, !a b/", vec!["src/**/*.{ts,tsx}", "!a b/"]),
            ("{a,{b,c}}/**,d", vec!["{a,{b,c}}/**", "d"]),
            ("a[,]b", vec!["a[,]b"]),
            ("a\\,b.js,c", vec!["a\\,b.js", "c"]),
            ("a\\\\,b", vec!["a\\\\", "b"]),
            (" , ", vec![]),
        ] {
            assert_eq!(each_glob(list).collect::<Vec<_>>(), expected, "{list}");
        }
    }

    #[test]
    fn what_differs_in_writing_alone_fits() {
        let schema = json!({"properties": {
            "n": {"type": "integer"}, "share": {"type": "number"}, "on": {"type": "boolean"}, "list": {"type": "array"}, "text": {"type": "string"},
            "include": {"type": "array"},
        }});
        let schema = schema.as_object().expect("an object");
        for (given, expected) in [
            (json!({"n": "12"}), json!({"n": 12})),
            (json!({"n": 12.0}), json!({"n": 12})),
            (json!({"share": "0.5"}), json!({"share": 0.5})),
            (json!({"n": "many"}), json!({"n": "many"})),
            (json!({"n": -1}), json!({"n": -1})),
            (json!({"n": "-1"}), json!({"n": -1})),
            (json!({"n": "1.5"}), json!({"n": "1.5"})),
            (json!({"n": 1e20}), json!({"n": 1e20})),
            (json!({"on": "true", "text": "true"}), json!({"on": true, "text": "true"})),
            (json!({"list": "src"}), json!({"list": ["src"]})),
            (json!({"list": "[\"a\", \"b\"]"}), json!({"list": ["a", "b"]})),
            (json!({"list": "a,b"}), json!({"list": ["a,b"]})),
            (json!({"include": "*.md,*.go"}), json!({"include": ["*.md", "*.go"]})),
            (json!({"include": ["a,b.js"]}), json!({"include": ["a,b.js"]})),
            (json!({"text": ["a"]}), json!({"text": "a"})),
            (json!({"text": ["a", "b"]}), json!({"text": ["a", "b"]})),
            (json!({"on": "True"}), json!({"on": true})),
            (json!({"n": null, "other": "1", "text": "", "share": ""}), json!({"other": "1"})),
            (json!({"list": ["", "a", null]}), json!({"list": ["a"]})),
        ] {
            let mut fitted = given.as_object().expect("an object").clone();
            fit(&mut fitted, schema);
            assert_eq!(Value::Object(fitted), expected, "{given}");
        }
    }
}
