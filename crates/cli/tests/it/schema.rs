//! The JSON Schema of the output describes what is printed.

use serde_json::Value;

use crate::common::{Sandbox, git};

/// Why a value is not what a schema describes; properties that it does not name are refused too.
fn refused(schema: &Value, root: &Value, value: &Value) -> Option<String> {
    if let Some(path) = schema["$ref"].as_str() {
        return refused(root.pointer(&path[1..]).expect("a definition"), root, value);
    }
    if let Some(shapes) = schema["anyOf"].as_array() {
        let reasons: Vec<Option<String>> = shapes.iter().map(|shape| refused(shape, root, value)).collect();
        return match reasons.iter().any(Option::is_none) {
            true => None,
            false => Some(format!("none of {reasons:?}")),
        };
    }
    let is_of = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        _ => value.is_null(),
    };
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is_of(kind)) {
        return Some(format!("{value} is not of {kinds:?}"));
    }
    if let Some(items) = value.as_array() {
        return items.iter().find_map(|item| refused(&schema["items"], root, item));
    }
    let object = value.as_object()?;
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !object.contains_key(*name)) {
        return Some(format!("no {missing} in {value}"));
    }
    object.iter().find_map(|(name, value)| {
        let of_all = &schema["additionalProperties"];
        match schema["properties"].get(name) {
            Some(known) => refused(known, root, value),
            None if of_all.is_object() => refused(of_all, root, value),
            None => Some(format!("{name} is not described")),
        }
    })
}

#[test]
fn every_row_is_as_the_schema_says() {
    let sandbox = Sandbox::of("relay");
    git(&sandbox, &["init", "-q"]);
    git(&sandbox, &["add", "."]);
    git(&sandbox, &["commit", "-qm", "Add a ring buffer"]);
    sandbox.write("queries.txt", "ring buffer\n\n  \nparse request\n");
    let schema: Value = serde_json::from_str(&sandbox.run(&["--json-schema"]).out).expect("JSON");
    let row = &schema["items"];
    let of = |name: &str| &schema["$defs"][name];
    for (args, row) in [
        (&["parse request", "-k", "3"][..], row),
        (&["parse request", "-k", "3", "--explain"], row),
        (&["parse request", "-l"], row),
        (&["parse request", "--count"], row),
        (&["parse request", "--pack", "400"], row),
        (&["--kind", "function"], row),
        (&["-e", "parse"], row),
        (&["-e", "parse", "--column"], row),
        (&["-e", "parse", "-l"], row),
        (&["--calls", "parse_request", "--depth", "2"], row),
        (&["--called-by", "main", "--depth", "2"], row),
        (&["--calls", "parse_request", "--depth", "2", "-l"], row),
        (&["impact", "src/queue/ring.rs"], of("Affected")),
        (&["log"], of("Entry")),
        (&["log", "ring", "-c", "--explain"], of("Entry")),
    ] {
        let ran = sandbox.run(&[args, &["--json"]].concat());
        let rows: Vec<Value> = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{args:?}: {ran:?}"));
        assert!(!rows.is_empty(), "{args:?}: {ran:?}");
        let ran = sandbox.run(&[args, &["--jsonl"]].concat());
        let lines = ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        for found in rows.into_iter().chain(lines) {
            assert_eq!(refused(row, &schema, &found), None, "{args:?}: {found}");
        }
    }
    let outline: Value = serde_json::from_str(&sandbox.run(&["outline", "src/main.rs", "--json"]).out).expect("JSON");
    for unit in outline.as_array().expect("units") {
        assert_eq!(refused(of("Outlined"), &schema, unit), None);
    }
    let answers = sandbox.run(&["--queries-from", "queries.txt", "--jsonl"]).out;
    for line in answers.lines() {
        let answer: Value = serde_json::from_str(line).expect("JSON");
        let shape = if answer.get("error").is_some() { "RefusedQuery" } else { "Answers" };
        assert_eq!(refused(of(shape), &schema, &answer), None, "{line}");
    }
    // What no row has is refused.
    assert!(refused(row, &schema, &serde_json::json!({"file": "a", "level": "1"})).is_some());
}
