//! The page for people: what is embedded of it, and what it asks.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;
use axum::response::Response;
use colgrep_cluster::UnservedRepository;
use colgrep_core::strength::RULE;
use colgrep_engine::Pattern;
use colgrep_engine::answer::FileAnswer;
use colgrep_engine::answer::snippet::QueryWords;
use colgrep_engine::request::pattern::{matcher, places};
use flate2::Compression;
use flate2::write::GzEncoder;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::problem::Problem;
mod host;
pub mod view;

use super::{App, api, openapi};
use crate::api::state::ServerState;
use crate::api::{params, schema, text_and_units};
use colgrep_render::escape::json_text;
use colgrep_render::highlight::Syntaxes;
use colgrep_render::outline::{outline_of, shown};
use view::{LineMarks, RootNames};

/// The page's own files: route, media type, text.
pub const ASSETS: [(&str, &str, &str); 8] = [
    ("/", "text/html; charset=utf-8", include_str!("assets/index.html")),
    ("/page/style.css", "text/css; charset=utf-8", include_str!("assets/style.css")),
    ("/page/theme.js", "text/javascript; charset=utf-8", include_str!("assets/theme.js")),
    ("/page/app.js", "text/javascript; charset=utf-8", include_str!("assets/app.js")),
    ("/page/code.js", "text/javascript; charset=utf-8", include_str!("assets/code.js")),
    ("/page/keys.js", "text/javascript; charset=utf-8", include_str!("assets/keys.js")),
    ("/page/server.js", "text/javascript; charset=utf-8", include_str!("assets/server.js")),
    ("/page/icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
];
/// One of the page's own files, compressed.
pub fn packed(text: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    // Writing into memory does not fail.
    let _ = packer.write_all(text.as_bytes());
    packer.finish().unwrap_or_default()
}

/// Whether a client takes compressed answers.
pub fn takes_gzip(headers: &HeaderMap) -> bool {
    let given = headers.get(ACCEPT_ENCODING).and_then(|given| given.to_str().ok()).unwrap_or_default();
    given.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        is_gzip && !parts.any(|quality| matches!(quality, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

/// The largest file that the page shows, in bytes.
const FILE_BYTES_MAX: u64 = 2 << 20;
/// Results at once, at most.
const RESULTS_MAX: usize = 50;
/// Files that are counted for the filters.
const COUNTED_MAX: usize = 100;

/// The results of a search.
#[derive(Serialize, JsonSchema)]
pub struct PageResults {
    /// The files, best first.
    #[schemars(with = "Vec<view::PageHit>")]
    results: Vec<Box<RawValue>>,
    /// Remarks on all of them, a line each.
    remarks: Vec<String>,
    /// Whether further ones may follow.
    more: bool,
    /// Files of a lower strength are near at best.
    near_below: f32,
}

/// A file to show.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileView {
    /// The repository, by the name that `about` gives it.
    repository: String,
    /// The file's path from there.
    path: String,
    /// Its words are marked.
    #[serde(default)]
    query: String,
    /// What it matches is marked instead.
    #[serde(default)]
    pattern: String,
}

impl FileView {
    /// Finds what is marked in a line.
    fn marks(&self) -> Result<LineMarks> {
        if !self.pattern.is_empty() {
            let matcher = matcher(&Pattern::served(&self.pattern))?;
            return Ok(Box::new(move |line| places(&*matcher, line.as_bytes())));
        }
        let words = QueryWords::of_text(&self.query);
        Ok(Box::new(move |line| words.places(line)))
    }
}

/// How many of the best files are in each repository, by language.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct PageFacets {
    /// Numbers by repository, and there by language.
    repositories: BTreeMap<String, BTreeMap<String, usize>>,
    /// Files that were counted.
    files: usize,
    /// Whether there are more.
    more: bool,
}

/// A repository.
#[derive(Debug, Serialize, JsonSchema)]
struct PageRepository {
    /// Its name on the page, with which `paths` of the page's requests begin; no other has it.
    repository: String,
}

/// What is served.
#[derive(Debug, Serialize, JsonSchema)]
pub struct About {
    /// The server's version.
    version: &'static str,
    /// The repositories.
    repositories: Vec<PageRepository>,
    /// The languages of their files, as the parameter `languages` takes them.
    languages: Vec<String>,
    /// Whether that is all: every index is built and can be searched, and every shard answers.
    complete: bool,
    /// Repositories that can't be searched now.
    unserved: Vec<UnsearchedRepository>,
}

/// A repository that can't be searched now.
#[derive(Debug, Serialize, JsonSchema)]
struct UnsearchedRepository {
    /// Its name, or its folder.
    repository: String,
    /// Why not.
    why: String,
}

/// The paths that the page asks, for the description of the interface.
pub fn described(schemas: &mut Map<String, Value>) -> Vec<(String, Value)> {
    let schema = |schemas: &mut Map<String, Value>, name: &str, schema: Map<String, Value>| {
        let schema = openapi::root_schema(Value::Object(schema), schemas);
        schemas.insert(name.to_string(), schema);
    };
    schema(schemas, "FileView", schema::of::<FileView>());
    schema(schemas, "Results", schema::written::<PageResults>());
    schema(schemas, "WholeFile", schema::written::<view::WholeFile>());
    schema(schemas, "Facets", schema::written::<PageFacets>());
    schema(schemas, "About", schema::written::<About>());
    let described = |[path, id, title, asked, answered]: [&str; 5]| {
        let mut operation = openapi::operation(id, title, title, "page");
        let reference = format!("#/components/schemas/{answered}");
        let content = json!({"application/json": {"schema": {"$ref": reference}}});
        operation["responses"] = openapi::problems(content, !asked.is_empty());
        if asked.is_empty() {
            return (path.to_string(), json!({"get": operation}));
        }
        operation["requestBody"] = openapi::body(asked);
        (path.to_string(), json!({"post": operation}))
    };
    vec![
        described(["/page/about", "page_about", "What is served", "", "About"]),
        described(["/page/results", "page_results", "Results with coloured lines", "SearchRequest", "Results"]),
        described([
            "/page/facets",
            "page_facets",
            "Numbers of results by repository and language",
            "SearchRequest",
            "Facets",
        ]),
        described(["/page/file", "page_file", "A file with coloured lines", "FileView", "WholeFile"]),
    ]
}

impl App {
    fn syntaxes(&self) -> &Syntaxes {
        self.syntaxes.get_or_init(Syntaxes::load)
    }
}

/// What is served.
pub async fn about(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let about = app.work(&api::caller(&request), |_, state| told(state)).await?;
    api::json(&app, &about)
}

fn told(state: &ServerState) -> Result<About> {
    if let Some(shards) = state.shards() {
        let seen = shards.seen(state.allowed())?;
        let named = |name: &str| PageRepository { repository: name.to_string() };
        let repositories = seen.names().into_iter().map(named).collect();
        let languages = seen.languages().into_iter().map(str::to_string).collect();
        let complete = seen.coverage.is_whole() && seen.coverage.partial.iter().all(|one| one.files_known.is_none());
        let left_out = |one: &UnservedRepository| UnsearchedRepository {
            repository: one.repository.clone(),
            why: one.why.clone(),
        };
        let unserved = seen.coverage.unserved.iter().map(left_out).collect();
        return Ok(About { version: env!("CARGO_PKG_VERSION"), repositories, languages, complete, unserved });
    }
    let (mut languages, mut complete) = (Vec::new(), true);
    for root in state.roots() {
        if state.look(root).is_some() {
            continue;
        }
        let snapshot = root.as_it_is();
        complete &= snapshot.as_ref().is_some_and(|snapshot| snapshot.files.complete);
        for language in snapshot.iter().flat_map(|snapshot| snapshot.files.languages()) {
            if !languages.iter().any(|known| known == language) {
                languages.push(language.to_string());
            }
        }
    }
    languages.sort();
    let names = RootNames::of(state);
    let served = names.iter().filter(|(_, root)| root.trouble().is_none());
    let repositories = served.map(|(name, _)| PageRepository { repository: name.to_string() }).collect();
    let left_out = |one: crate::api::Unserved| UnsearchedRepository { repository: one.root, why: one.why };
    let unserved: Vec<UnsearchedRepository> = state.unserved().into_iter().map(left_out).collect();
    complete &= unserved.is_empty();
    Ok(About { version: env!("CARGO_PKG_VERSION"), repositories, languages, complete, unserved })
}

async fn asked<P: DeserializeOwned + JsonSchema>(app: &App, request: Request) -> Result<P, Problem> {
    let schema = schema::of::<P>();
    let parameters = api::parameters(app, request, &schema).await?;
    let read = crate::api::read(parameters, &schema::in_plain_types(&schema));
    read.map_err(|error| Problem::invalid(error.to_string()))
}

/// A search: the same request as the tool's.
pub async fn results(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let caller = api::caller(&request);
    let mut asked: params::Search = asked(&app, request).await?;
    asked.results = asked.results.map(|wanted| wanted.min(RESULTS_MAX));
    let lines = asked.lines.unwrap_or(view::AROUND).min(view::AROUND_MAX);
    asked.lines = Some(lines);
    let found = app.work(&caller, move |app, state| {
        let (names, syntaxes) = (RootNames::of(state), app.syntaxes());
        asked.paths = asked.paths.iter().map(|path| names.full(path)).collect();
        let show = |file: &_| json_text(&view::hit(file, &names, syntaxes, lines)).unwrap_or_default();
        let shown = crate::api::search_shown(state, &asked, &show)?;
        let results = shown.results.into_iter().map(RawValue::from_string).collect::<Result<_, _>>()?;
        let remarks = shown.remarks.lines().filter_map(remark).collect();
        let page = PageResults { results, remarks, more: shown.more, near_below: RULE };
        Ok((shown.is_partial, page))
    });
    let (is_partial, page) = found.await?;
    app.metrics.count_partial(is_partial);
    api::json(&app, &page)
}

/// Where the best files of a search are.
pub async fn facets(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let caller = api::caller(&request);
    let mut asked: params::Search = asked(&app, request).await?;
    asked.results = Some(COUNTED_MAX);
    let found = app.work(&caller, move |_, state| {
        let names = RootNames::of(state);
        asked.paths = asked.paths.iter().map(|path| names.full(path)).collect();
        let show = |file: &FileAnswer| {
            let (repository, _) = names.place(&file.root, &file.path);
            json_text(&(repository, &file.language)).unwrap_or_default()
        };
        let shown = crate::api::search_shown(state, &asked, &show)?;
        let mut facets = PageFacets { more: shown.more, files: shown.results.len(), ..PageFacets::default() };
        for result in &shown.results {
            let (repository, language): (String, String) = serde_json::from_str(result)?;
            *facets.repositories.entry(repository).or_default().entry(language).or_default() += 1;
        }
        Ok(facets)
    });
    api::json(&app, &found.await?)
}

/// The page's fields for parameters, as remarks name them.
const FIELDS: [(&str, &str); 4] =
    [("`include` ", "Path "), ("`exclude` ", "Path !"), ("`languages` ", "Language "), ("`tests` ", "Tests ")];

/// A remark for people: with the page's names of parameters, without those of tools, and without the strengths, which
/// the results show themselves.
fn remark(line: &str) -> Option<String> {
    let line = line.trim_start_matches('(').trim_end_matches(')');
    let end = ["; `pattern` ", "; `all` ", "; `offset` "]
        .iter()
        .filter_map(|tool| line.find(tool))
        .min()
        .unwrap_or(line.len());
    let told = FIELDS.iter().fold(line[..end].to_string(), |told, (name, field)| told.replace(name, field));
    (!line.starts_with("strength of each")).then_some(told)
}

/// A file.
pub async fn file(State(app): State<Arc<App>>, request: Request) -> Result<Response, Problem> {
    let caller = api::caller(&request);
    let asked: FileView = asked(&app, request).await?;
    let found = app.work(&caller, move |app, state| {
        let marks = asked.marks()?;
        let place = (asked.repository.as_str(), asked.path.as_str());
        if let Some(shards) = state.shards() {
            let path = Path::new(&asked.repository).join(&asked.path);
            let text = shards.cluster.read(state.allowed(), &path)?;
            let units = outline_of(&path, &text)?;
            return Ok(view::whole(place, &text, &shown(&units, false), &marks, app.syntaxes()));
        }
        let names = RootNames::of(state);
        let root = names
            .root(&asked.repository)
            .with_context(|| format!("there is no repository {:?} here", asked.repository))?;
        let folder = &root.folder;
        let (root, full, below) = state.locate(&folder.join(&asked.path).to_string_lossy())?;
        // Another root's file is not this repository's, though it is served.
        if !full.starts_with(folder) {
            bail!("{} is not a file of the repository {}", asked.path, asked.repository);
        }
        if !full.is_file() {
            bail!("{} is not a file", asked.path);
        }
        let limit = (FILE_BYTES_MAX, "which is too large to show");
        let (text, units) = text_and_units(root, &below, &asked.path, limit)?;
        let whole = view::whole(place, &text, &shown(&units, false), &marks, app.syntaxes());
        Ok(whole.hosted(host::address(&root.project, &below)))
    });
    api::json(&app, &found.await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_read_back_by_whoever_takes_it() {
        use std::io::Read as _;

        let mut text = String::new();
        let bytes = packed(ASSETS[3].2);
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("gzip");
        assert!(text == ASSETS[3].2 && bytes.len() < text.len() / 2);
        for (given, expected) in [
            ("gzip", true),
            ("deflate, GZIP;q=0.5, br", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0", false),
            ("br", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, given.parse().expect("a value"));
            assert_eq!(takes_gzip(&headers), expected, "{given}");
        }
    }

    #[test]
    fn people_are_told_no_parameters() {
        for (line, expected) in [
            ("(30 files hold \"parse\"; `offset` gives more)", "30 files hold \"parse\""),
            ("(nothing here is likely right; `all` shows what is near)", "nothing here is likely right"),
            ("(no file here passes `include` src/ `exclude` *.md)", "no file here passes Path src/ Path !*.md"),
            ("(2 files hold \"a\"; `pattern` \"a\" lists them)", "2 files hold \"a\""),
        ] {
            assert_eq!(remark(line).as_deref(), Some(expected));
        }
        assert_eq!(remark("(strength of each, 0 to 1: 0.90)"), None);
    }
}
