//! Models of the Hugging Face hub: from its local cache, else over the network.

use std::path::{Path, PathBuf};

use hf_hub::api::sync::{ApiBuilder, ApiError};
use hf_hub::{Cache, Repo, RepoType};

use crate::onnx::{MODEL_FILES, is_outside_data};
use crate::{Error, RuntimeEnv, Source};

/// Files that are fetched, if a model has them, before its weights, so that weights in the cache imply a complete
/// model.
const SMALL_FILES: [&str; 6] = [
    "tokenizer.json",
    "onnx_config.json",
    "config_sentence_transformers.json",
    "sentence_bert_config.json",
    "1_Pooling/config.json",
    "1_Dense/config.json",
];
/// The hub, if no mirror is named.
const ENDPOINT: &str = "https://huggingface.co";

/// The folder of a model, fetched if it is missing.
///
/// # Errors
/// When it is missing and can't be fetched, with the files to provide instead.
pub(crate) fn fetch(id: &str, env: &RuntimeEnv) -> Result<PathBuf, Error> {
    let Some(root) = env.hf_home.clone().or_else(|| Some(env.home.as_ref()?.join(".cache").join("huggingface"))) else {
        return Err(Error::NoCache);
    };
    let cache = Cache::new(root.join("hub"));
    let repo = Repo::new(id.to_string(), RepoType::Model);
    if let Some(folder) = cached(&cache, &repo) {
        return Ok(folder);
    }
    let endpoint = env.hf_endpoint.as_deref().unwrap_or(ENDPOINT).trim_end_matches('/');
    let failed = |source: Source| Error::NotFetched {
        id: id.to_string(),
        cache: cache.path().clone(),
        endpoint: endpoint.to_string(),
        source,
    };
    if env.offline {
        return Err(failed("HF_HUB_OFFLINE is set".into()));
    }
    download(&cache, &repo, endpoint, env.hf_token.clone()).map_err(|error| match error {
        FetchFailure::Network(error) => failed(error.into()),
        FetchFailure::NoModel => Error::NoOnnx { id: id.to_string(), files: MODEL_FILES.join(", ") },
    })
}

/// The folder in the cache, if it has the model's weights and tokenizer.
fn cached(cache: &Cache, repo: &Repo) -> Option<PathBuf> {
    let files = cache.repo(repo.clone());
    MODEL_FILES.iter().find_map(|name| files.get(name))?;
    files.get("tokenizer.json")?.parent().map(Path::to_path_buf)
}

/// Why a model could not be fetched.
enum FetchFailure {
    Network(ApiError),
    NoModel,
}

impl From<ApiError> for FetchFailure {
    fn from(error: ApiError) -> FetchFailure {
        FetchFailure::Network(error)
    }
}

fn download(cache: &Cache, repo: &Repo, endpoint: &str, token: Option<String>) -> Result<PathBuf, FetchFailure> {
    let mut builder = ApiBuilder::from_cache(cache.clone()).with_endpoint(endpoint.to_string()).with_progress(false);
    if token.is_some() {
        builder = builder.with_token(token);
    }
    let files = builder.build()?.repo(repo.clone());
    let there: Vec<String> = files.info()?.siblings.into_iter().map(|file| file.rfilename).collect();
    let has = |name: &str| there.iter().any(|file| file == name);
    let Some(model) = MODEL_FILES.iter().find(|name| has(name)) else { return Err(FetchFailure::NoModel) };
    let weights = there.iter().map(String::as_str).filter(|name| is_outside_data(model, name));
    let mut folder = PathBuf::new();
    for name in SMALL_FILES.into_iter().filter(|name| has(name)).chain(weights).chain([*model]) {
        let file = files.get(name)?;
        // The folder is as many levels up as the name has parts.
        folder = file.ancestors().nth(name.split('/').count()).unwrap_or(&file).to_path_buf();
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_needs_no_network() {
        let home = tempfile::tempdir().unwrap();
        let model = home.path().join("hub/models--owner--name");
        let snapshot = model.join("snapshots/abc");
        std::fs::create_dir_all(snapshot.join("onnx")).unwrap();
        std::fs::create_dir_all(model.join("refs")).unwrap();
        std::fs::write(model.join("refs/main"), "abc").unwrap();
        let env = RuntimeEnv { hf_home: Some(home.path().into()), offline: true, ..RuntimeEnv::default() };
        std::fs::write(snapshot.join("tokenizer.json"), "{}").unwrap();
        assert!(fetch("owner/name", &env).is_err(), "an interrupted download does not count");
        std::fs::write(snapshot.join("onnx/model.onnx"), "graph").unwrap();
        assert_eq!(fetch("owner/name", &env).unwrap(), snapshot);
    }

    #[test]
    fn without_a_network_it_says_where_it_looked() {
        let home = tempfile::tempdir().unwrap();
        let unreachable = Some("http://127.0.0.1:1".to_string());
        let env = RuntimeEnv { home: Some(home.path().into()), hf_endpoint: unreachable, ..RuntimeEnv::default() };
        for (env, why) in [
            (RuntimeEnv { offline: true, ..env.clone() }, "HF_HUB_OFFLINE is set"),
            (env, "can't be fetched from http://127.0.0.1:1: "),
        ] {
            let error = fetch("owner/name", &env).unwrap_err();
            assert!(matches!(&error, Error::NotFetched { id, .. } if id == "owner/name"), "{error:?}");
            let error = error.full();
            for part in [why, "the model owner/name is not in ", ".cache/huggingface/hub"] {
                assert!(error.contains(part), "{error}");
            }
        }
        assert!(fetch("owner/name", &RuntimeEnv::default()).unwrap_err().full().contains("set HF_HOME"));
    }

    /// Serves one model of these files from this machine; returns the hub's address.
    fn serve(files: &'static [(&str, &str)]) -> String {
        use std::io::{BufRead as _, BufReader, Write as _};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                let path = request[0].split(' ').nth(1).unwrap();
                let range =
                    request.iter().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(String::from));
                let (status, headers, body) = if path.starts_with("/api/models/owner/name") {
                    let names: Vec<String> = files.iter().map(|(n, _)| format!(r#"{{"rfilename": "{n}"}}"#)).collect();
                    ("200 OK", String::new(), format!(r#"{{"siblings": [{}], "sha": "abc"}}"#, names.join(",")))
                } else {
                    let name = path.strip_prefix("/owner/name/resolve/main/").unwrap();
                    let (_, content) = files.iter().find(|(known, _)| *known == name).unwrap();
                    let one = range.as_deref() == Some("0-0");
                    let headers = format!(
                        "x-repo-commit: abc\r\netag: \"{}\"\r\ncontent-range: bytes 0-0/{}\r\n",
                        name.replace('/', "-"),
                        content.len()
                    );
                    ("206 Partial Content", headers, content[..if one { 1 } else { content.len() }].to_string())
                };
                let length = body.len();
                write!(
                    stream,
                    "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
                )
                .unwrap();
            }
        });
        address
    }

    #[test]
    fn downloads_what_a_model_needs_and_no_more() {
        let home = tempfile::tempdir().unwrap();
        let env = |files| RuntimeEnv {
            hf_home: Some(home.path().into()),
            hf_endpoint: Some(serve(files)),
            ..RuntimeEnv::default()
        };
        let error =
            fetch("owner/name", &env(&[("model.safetensors", "weights"), ("tokenizer.json", "{}")])).unwrap_err();
        let error = error.full();
        assert!(error.contains("has no ONNX model") && error.contains("pylate-onnx-export owner/name"), "{error}");

        let files = env(&[
            ("tokenizer.json", "{}"),
            ("1_Pooling/config.json", "{ }"),
            ("onnx/model.onnx", "graph"),
            ("onnx/model.onnx.data", "half"),
            ("onnx/model.onnx_data", "other half"),
            ("onnx/model_int8.onnx_data", "of another"),
            ("onnx/model.onnx_data/../elsewhere", "no file of a folder"),
            ("model.safetensors", "weights"),
        ]);
        let folder = fetch("owner/name", &files).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert_eq!(
            [read("tokenizer.json"), read("1_Pooling/config.json"), read("onnx/model.onnx")],
            ["{}", "{ }", "graph"]
        );
        assert_eq!([read("onnx/model.onnx.data"), read("onnx/model.onnx_data")], ["half", "other half"]);
        assert!(!folder.join("model.safetensors").exists() && !folder.join("onnx/model_int8.onnx_data").exists());
        let offline = RuntimeEnv { offline: true, ..files };
        assert_eq!(fetch("owner/name", &offline).unwrap(), folder, "and keeps it");
    }
}
