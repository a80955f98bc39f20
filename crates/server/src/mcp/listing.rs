//! The tools as clients list them: few, with short schemas that every provider of models takes. All tools and all
//! parameters can be used, listed or not.

use rmcp::model::{Tool as ListedTool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::api::{Tool, schema};

/// Tools that a client finds in the list; `search` does what the others do.
pub const LISTED: [&str; 5] = ["search", "outline", "history", "impact", "status"];
/// Parameters that the list leaves out.
const UNLISTED: [&str; 8] = ["groups", "min_strength", "per_file", "code_only", "hints", "expand", "no_expand", "pack"];

pub fn listed(tools: &[Tool]) -> Vec<ListedTool> {
    let is_listed = |tool: &&Tool| LISTED.contains(&tool.name);
    tools.iter().filter(is_listed).map(shown).collect()
}

fn shown(tool: &Tool) -> ListedTool {
    let mut shown = ListedTool::new(tool.name, tool.doc, lean(&tool.input));
    shown.title = Some(tool.title.to_string());
    shown.annotations = Some(ToolAnnotations::from_raw(None, Some(true), Some(false), Some(true), Some(false)));
    shown
}

/// A schema of parameters with what a model needs: no dialect, no defaults of parameters that are left out.
fn lean(input: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema::in_plain_types(input);
    schema.retain(|key, _| key != "$schema" && key != "additionalProperties");
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return schema };
    properties.retain(|name, _| !UNLISTED.contains(&name.as_str()));
    for property in properties.values_mut().filter_map(Value::as_object_mut) {
        property.remove("default");
        // What is counted is not negative.
        if property.get("minimum") == Some(&json!(0)) {
            property.remove("minimum");
        }
    }
    schema
}
