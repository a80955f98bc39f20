//! House rules: which crate may use which, dependencies' licences and toolchains, generated documents that are current.

use std::path::{Path, PathBuf};
use std::process::Command;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The output of `cargo metadata` with these arguments, without a network.
fn metadata(arguments: &[&str]) -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1"])
        .args(arguments)
        .current_dir(workspace())
        .output()
        .expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("metadata")
}

/// The graph of packages that a build on this machine takes in. Those of other systems may not be downloaded.
fn graph() -> serde_json::Value {
    let about = Command::new(env!("CARGO")).arg("-vV").output().expect("cargo");
    let about = String::from_utf8(about.stdout).expect("text");
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names its host");
    metadata(&["--locked", "--filter-platform", host])
}

/// The packages of the graph that come from registries.
fn dependencies() -> Vec<serde_json::Value> {
    let metadata = graph();
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let found: Vec<_> = packages.filter(|p| !p["source"].is_null()).cloned().collect();
    assert!(found.len() > 100, "only {} dependencies: the test sees too little", found.len());
    found
}

#[test]
fn crates_depend_in_one_direction_only() {
    let metadata = metadata(&["--no-deps"]);
    // Each may use those of the lines above its own.
    let layers: [&[&str]; 8] = [
        &["colgrep-core"],
        &["colgrep-encoder", "colgrep-syntax"],
        &["colgrep-index"],
        &["colgrep-search"],
        &["colgrep-engine"],
        &["colgrep-cluster", "colgrep-share", "colgrep-python"],
        &["colgrep-render"],
        &["colgrep-server"],
    ];
    let programs: [&[&str]; 2] = [&["colgrep"], &["colgrep-bench"]];
    let layers: Vec<&[&str]> = layers.into_iter().chain(programs).collect();
    for (at, package) in layers.iter().enumerate().flat_map(|(at, layer)| layer.iter().map(move |name| (at, *name))) {
        let allowed: Vec<&str> = layers[..at].concat();
        let found =
            metadata["packages"].as_array().expect("packages").iter().find(|p| p["name"] == package).expect(package);
        for dependency in found["dependencies"].as_array().expect("dependencies") {
            let name = dependency["name"].as_str().expect("a name");
            assert!(
                !name.starts_with("colgrep") || allowed.contains(&name),
                "{package} must not use {name}: see the layers of this test and docs/architecture.md"
            );
        }
    }
}

/// Licences that a dependency may have: they ask for a notice, and nothing of the code that uses them. The last two are
/// of single packages: `option-ext` (unchanged, so its file-wise copyleft asks nothing more) and data of `webpki-roots`.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "MPL-2.0",
    "CDLA-Permissive-2.0",
];

/// Whether `allowed` satisfies an SPDX expression. `/` is how older packages write OR.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let expression = expression.trim();
    let mut depth = 0;
    for joint in [" AND ", " OR ", "/"] {
        for (at, c) in expression.char_indices() {
            depth += i32::from(c == '(') - i32::from(c == ')');
            if depth == 0 && expression[at..].starts_with(joint) {
                let sides = [&expression[..at], &expression[at + joint.len()..]].map(|s| is_allowed(s, allowed));
                return if joint == " AND " { sides[0] && sides[1] } else { sides[0] || sides[1] };
            }
        }
    }
    match expression.strip_prefix('(').and_then(|e| e.strip_suffix(')')) {
        Some(inside) => is_allowed(inside, allowed),
        None => allowed.contains(&expression),
    }
}

#[test]
fn licence_expressions_are_read() {
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("MIT OR GPL-3.0-only", true),
        ("GPL-3.0-only/MIT", true),
        ("MIT AND GPL-3.0-only", false),
        ("(GPL-3.0-only OR MIT) AND ISC", true),
        ("ISC AND (GPL-3.0-only OR AGPL-3.0-only)", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(expression, &["MIT", "ISC"]), expected, "{expression}");
    }
}

#[test]
fn dependencies_have_licences_that_ask_for_no_more_than_a_notice() {
    for package in dependencies() {
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(
            is_allowed(licence, LICENCES),
            "{} has the licence {licence:?}: take another package, or say in LICENCES why it is fit",
            package["name"]
        );
    }
}

/// Packages that would keep the index in a database or ask a server, or a language model, for it.
const NOT_TAKEN: [&str; 20] = [
    "async-openai",
    "candle-core",
    "diesel",
    "faiss",
    "fred",
    "lancedb",
    "libsqlite3-sys",
    "llama-cpp-2",
    "memcache",
    "milvus",
    "mongodb",
    "ollama-rs",
    "postgres",
    "qdrant-client",
    "redis",
    "rocksdb",
    "rusqlite",
    "sled",
    "sqlx",
    "usearch",
];

#[test]
fn no_database_no_cache_server_and_no_language_model_is_built_in() {
    for package in dependencies() {
        let name = package["name"].as_str().expect("a name");
        assert!(!NOT_TAKEN.contains(&name) && !name.starts_with("sqlite"), "{name}");
    }
}

#[test]
fn the_oldest_toolchain_is_the_one_that_dependencies_ask_for() {
    let number = |version: &str| {
        let mut parts = version.split('.').map(|part| part.parse::<u32>().expect("a number"));
        (parts.next().expect("a version"), parts.next().unwrap_or(0))
    };
    let ours = metadata(&["--no-deps"])["packages"][0]["rust_version"].as_str().expect("a rust-version").to_string();
    let (version, package) = dependencies()
        .iter()
        .filter_map(|p| Some((number(p["rust_version"].as_str()?), p["name"].to_string())))
        .max()
        .expect("a package with a rust-version");
    assert_eq!(number(&ours), version, "Cargo.toml says {ours}, {package} asks for {version:?}");
    let readme = std::fs::read_to_string(workspace().join("README.md")).expect("README.md");
    assert!(readme.contains(&format!("Rust {ours} or later")), "README.md names another toolchain than Cargo.toml");
}

#[test]
fn the_readme_is_short() {
    let words =
        |file: &str| std::fs::read_to_string(workspace().join(file)).expect("a document").split_whitespace().count();
    assert!(words("README.md") <= 1_200, "README.md has {} words; docs/guide.md is for the rest", words("README.md"));
}

/// Where a Markdown page links to: `[text](target)`, pictures included.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()).collect()
}

/// The anchors of a page, as the usual renderers make them of its headings.
fn anchors(text: &str) -> Vec<String> {
    let anchor = |heading: &str| {
        let kept = heading.trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
    };
    text.lines().filter(|line| line.starts_with('#')).map(|line| anchor(line.trim_start_matches('#'))).collect()
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut pages = vec![PathBuf::from("README.md"), PathBuf::from("benchmarks/README.md")];
    let crates = std::fs::read_dir(workspace().join("crates")).expect("crates").flatten();
    let readmes = crates.map(|entry| Path::new("crates").join(entry.file_name()).join("README.md"));
    pages.extend(readmes.filter(|page| workspace().join(page).exists()));
    for folder in ["docs", "docs/research", "docs/generated", "crates/encoder/assets", "crates/encoder/train"] {
        let entries = std::fs::read_dir(workspace().join(folder)).expect(folder).flatten();
        pages.extend(
            entries.map(|e| Path::new(folder).join(e.file_name())).filter(|p| p.extension().is_some_and(|e| e == "md")),
        );
    }
    assert!(pages.len() > 10, "{pages:?}");
    for page in pages {
        let text = std::fs::read_to_string(workspace().join(&page)).expect("a page");
        for link in links(&text).into_iter().filter(|l| !l.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => workspace().join(&page),
                _ => workspace().join(page.parent().expect("a folder")).join(file),
            };
            assert!(target.exists(), "{}: there is no {link}", page.display());
            if !anchor.is_empty() {
                let there = std::fs::read_to_string(&target).expect("a page");
                assert!(anchors(&there).contains(&anchor.to_string()), "{}: {link} has no heading", page.display());
            }
        }
    }
}

#[test]
fn the_knob_table_is_current() {
    let path = workspace().join("docs/generated/knobs.md");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == colgrep::knobs_markdown(), "docs/generated/knobs.md is old; run `just docs`");
}

#[test]
fn the_reference_of_the_command_line_is_current() {
    let path = workspace().join("docs/generated/cli.md");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == colgrep::cli_markdown(), "docs/generated/cli.md is old; run `just docs`");
}

#[test]
fn every_stage_has_its_row_in_the_documentation() {
    let page = std::fs::read_to_string(workspace().join("docs/ranking.md")).expect("the page");
    let stages = page.split("\n## Stages\n").nth(1).expect("the chapter").split("\n### ").next().expect("its table");
    let rows: Vec<&str> = stages.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let names: Vec<&str> = colgrep_core::rank::STAGES.iter().map(|stage| stage.name).collect();
    assert_eq!(rows, names, "the table of docs/ranking.md against STAGES, in order");
}

#[test]
fn no_document_counts_languages_by_hand() {
    let is_counted = |words: &[&str]| {
        let is_number = words[0].len() > 1 && words[0].bytes().all(|b| b.is_ascii_digit());
        is_number && ["grammars", "languages"].iter().any(|word| words[1].trim_end_matches([',', '.', ';']) == *word)
    };
    for page in ["README.md", "docs/guide.md", "docs/reliability.md", "docs/changelog.md", "crates/syntax/README.md"] {
        let text = std::fs::read_to_string(workspace().join(page)).expect("the page");
        // The table of other tools counts what these say of themselves.
        let lines = text.lines().filter(|line| !line.starts_with("| gives |"));
        for line in lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            let counted = words.windows(2).find(|words| is_counted(words));
            assert!(counted.is_none(), "{page}: link docs/generated/languages.md instead of a number: {line}");
        }
    }
}

/// The source files below a folder with their texts. Samples of languages and stand-in projects are left out.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            let is_ours = !["target", "fixtures", "languages"].iter().any(|name| path.ends_with(name));
            found.extend(is_ours.then(|| sources(&path)).into_iter().flatten());
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file");
            found.push((path, text));
        }
    }
    found
}

/// The source files of the workspace.
fn all_sources() -> Vec<(PathBuf, String)> {
    ["crates", "benchmarks"].iter().flat_map(|folder| sources(&workspace().join(folder))).collect()
}

#[test]
fn source_files_have_at_most_800_lines() {
    let lines = all_sources().into_iter().map(|(path, text)| (path, text.lines().count()));
    let long: Vec<_> = lines.filter(|(_, lines)| *lines > 800).collect();
    assert!(long.is_empty(), "split these: {long:?}");
}

/// Names of types that several files declare, each with its reason.
const SHARED_NAMES: [(&str, &str); 4] = [
    ("Error", "each library crate has one, used by its path"),
    ("Session", "the Python class wraps the engine's, under the same name for users"),
    ("Step", "the JSON of a step is made from the engine's"),
    ("Unit", "a row of Python's answers is made from core's"),
];

#[test]
fn names_of_types_are_unique() {
    let mut declared: std::collections::BTreeMap<String, Vec<String>> = std::collections::BTreeMap::new();
    for (path, text) in
        all_sources().into_iter().filter(|(path, _)| !path.components().any(|part| part.as_os_str() == "tests"))
    {
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let at = words.iter().position(|word| ["struct", "enum", "trait"].contains(word));
            let is_declared = |at: &usize| words[..*at].iter().all(|word| word.starts_with("pub"));
            let Some(name) = at.filter(is_declared).and_then(|at| words.get(at + 1)) else { continue };
            let name: String = name.chars().take_while(|c| c.is_alphanumeric()).collect();
            declared.entry(name).or_default().push(path.display().to_string());
        }
    }
    assert!(declared.len() > 500, "only {} names: the test sees too little", declared.len());
    for (name, files) in declared {
        let is_shared = SHARED_NAMES.iter().any(|(shared, _)| *shared == name);
        assert!(files.len() == 1 || is_shared, "{name} is declared in {files:?}; give each type a name of its own");
    }
}

#[test]
fn every_source_file_says_what_lives_there() {
    for (path, text) in all_sources() {
        assert!(text.starts_with("//! "), "{} begins with no `//!` line", path.display());
    }
}

/// Whether a source file is the one that a document names by the end of its path, `src` left out or not.
fn is_named(path: &Path, name: &str) -> bool {
    let without: PathBuf = path.components().filter(|part| part.as_os_str() != "src").collect();
    path.ends_with(name) || without.ends_with(name)
}

/// Whether a text is of lower letters, digits, underscores and these characters.
fn is_of(text: &str, others: &str) -> bool {
    text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || others.contains(c))
}

#[test]
fn files_that_documents_name_are_there() {
    let sources = all_sources();
    for page in ["architecture", "contributing", "index-format", "ranking", "reliability", "scale"] {
        let text = std::fs::read_to_string(workspace().join(format!("docs/{page}.md"))).expect("a page");
        let codes = text.split('`').skip(1).step_by(2);
        for code in codes.filter(|code| code.contains('/') && code.ends_with(".rs") && is_of(code, "/.")) {
            assert!(sources.iter().any(|(path, _)| is_named(path, code)), "docs/{page}.md: there is no {code}");
        }
    }
}

#[test]
fn tests_that_promises_name_are_there() {
    let sources = all_sources();
    let page = std::fs::read_to_string(workspace().join("docs/reliability.md")).expect("the page");
    let codes = page.split('`').skip(1).step_by(2);
    let named: Vec<&str> = codes.filter(|code| code.contains('_') && is_of(code, "")).collect();
    for name in &named {
        let function = format!("fn {name}(");
        assert!(
            sources.iter().any(|(_, text)| text.contains(&function)),
            "docs/reliability.md: there is no test {name}"
        );
    }
    assert!(named.len() > 50, "docs/reliability.md names only {} tests", named.len());
}

#[test]
fn a_term_is_defined_once() {
    let page = std::fs::read_to_string(workspace().join("docs/glossary.md")).expect("the page");
    let mut terms: Vec<&str> = Vec::new();
    for cell in page.lines().filter_map(|line| line.strip_prefix("| **")?.split(" | ").next()) {
        // Parentheses after a term distinguish it from another meaning.
        match cell.contains(" (") {
            true => terms.push(cell),
            false => terms.extend(cell.trim_end_matches('*').split("**, **")),
        }
    }
    let count = terms.len();
    terms.sort_unstable();
    let twice: Vec<&str> = terms.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    assert!(count > 40 && twice.is_empty(), "{count} terms; defined twice: {twice:?}");
}

/// Crates that speak to a network, by themselves or for others.
const NETWORK: [&str; 19] = [
    "async-tungstenite",
    "attohttpc",
    "axum",
    "curl",
    "h2",
    "hf-hub",
    "hickory-resolver",
    "hyper",
    "hyper-util",
    "isahc",
    "minreq",
    "native-tls",
    "object_store",
    "quinn",
    "reqwest",
    "rustls",
    "tonic",
    "tungstenite",
    "ureq",
];

#[test]
fn three_crates_alone_speak_to_a_network() {
    let metadata = graph();
    let name_of = |id: &serde_json::Value| {
        let mut packages = metadata["packages"].as_array().expect("packages").iter();
        packages.find(|p| p["id"] == *id).and_then(|p| p["name"].as_str()).expect("a package").to_string()
    };
    let nodes = metadata["resolve"]["nodes"].as_array().expect("a graph");
    let is_used = |dependency: &serde_json::Value| {
        dependency["dep_kinds"].as_array().expect("kinds").iter().any(|kind| kind["kind"].is_null())
    };
    let (mut users, mut reached) = (std::collections::BTreeSet::new(), vec!["colgrep".to_string()]);
    let mut next = 0;
    while let Some(name) = reached.get(next).cloned() {
        next += 1;
        let node = nodes.iter().find(|node| name_of(&node["id"]) == name).expect("a node");
        for dependency in node["deps"].as_array().expect("dependencies").iter().filter(|d| is_used(d)) {
            let used = name_of(&dependency["pkg"]);
            if NETWORK.contains(&used.as_str()) {
                users.insert(name.clone());
            } else if !reached.contains(&used) {
                reached.push(used);
            }
        }
    }
    assert!(reached.len() > 100, "{reached:?}");
    // A model that the user names, an index that the user pushes or pulls, a server that the user starts.
    let users: Vec<_> = users.into_iter().collect();
    assert_eq!(users, ["colgrep-encoder", "colgrep-server", "colgrep-share"], "who uses what speaks to a network");
}

#[test]
fn two_files_alone_speak_to_a_network() {
    let words = ["hf_hub::", "ureq::", "std::net::", "tokio::net", "TcpStream", "UdpSocket", "rustix::net"];
    let mut found = Vec::new();
    for name in ["core", "syntax", "encoder", "index", "search", "engine", "render", "server", "cli"] {
        let files = sources(&workspace().join("crates").join(name).join("src")).into_iter();
        let speaking = files.filter(|(_, text)| words.iter().any(|word| text.contains(word)));
        found.extend(speaking.map(|(path, _)| path.file_name().expect("a name").to_string_lossy().into_owned()));
    }
    // One fetches a model that the user names; the other listens, and opens no connection.
    assert_eq!(found, ["hub.rs", "listen.rs"]);
}
