//! The English queries of the benchmarks are read as typed.

use std::path::Path;

use colgrep_core::query::languages::translated;

#[test]
fn english_queries_are_read_as_typed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut read = 0;
    for folder in ["annotations", "fixtures/annotations", "paraphrases/annotations"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder of annotations") {
            let text = std::fs::read_to_string(entry.expect("an entry").path()).expect("a file of annotations");
            let queries: serde_json::Value = serde_json::from_str(&text).expect("annotations");
            for query in queries.as_array().expect("a list").iter().filter_map(|query| query["query"].as_str()) {
                assert_eq!(translated(query, |_| false), None, "{query}");
                read += 1;
            }
        }
    }
    assert!(read > 500, "{read}");
}
