//! A model's folder: its files and its configuration.
//!
//! Reads `config_sentence_transformers.json` (PyLate and Sentence Transformers), `onnx_config.json` (the exporter of
//! next-plaid; it wins), `sentence_bert_config.json` and `1_Pooling/config.json` (Sentence Transformers).

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use xxhash_rust::xxh3::Xxh3;

use crate::Error;

/// Model files in a folder, the preferred first: exact weights before quantised ones.
pub(crate) const MODEL_FILES: [&str; 4] =
    ["model.onnx", "onnx/model.onnx", "model_int8.onnx", "onnx/model_quantized.onnx"];
/// Configurations that are merged, later ones over earlier ones.
const CONFIG_FILES: [&str; 2] = ["config_sentence_transformers.json", "onnx_config.json"];
/// Maximum length of a query, in tokens: several times what models are trained on. A padded query costs this much work
/// even if it is one word.
const QUERY_LENGTH_MAX: usize = 1024;
/// Maximum size of a tokenizer or configuration: several times the largest vocabularies.
const TEXT_BYTES_MAX: u64 = 128 << 20;
/// Git LFS's placeholder of a file that was not fetched.
const LFS_POINTER: &[u8] = b"version https://git-lfs";

/// One token vector per row, or one vector per text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OnnxKind {
    /// Late interaction.
    Colbert(Colbert),
    Sentence(Sentence),
}

/// How to call a ColBERT model. Defaults are PyLate's.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default)]
pub(crate) struct Colbert {
    /// Token before a query; empty for none.
    pub(crate) query_prefix: String,
    /// Token before a document.
    pub(crate) document_prefix: String,
    /// Its id, if not to be looked up.
    pub(crate) query_prefix_id: Option<u32>,
    /// Its id, if not to be looked up.
    pub(crate) document_prefix_id: Option<u32>,
    /// Where the prefix goes: 1, after [CLS], or 0 (our own models, which have no [CLS]).
    pub(crate) prefix_position: usize,
    /// Number of first rows that are heads (our own models: the rows of the prefix, which is repeated once for each).
    pub(crate) heads: usize,
    /// Tokens of a query, with prefix and special tokens.
    pub(crate) query_length: usize,
    /// Tokens of a document, with prefix and special tokens.
    pub(crate) document_length: usize,
    /// Whether queries are padded with [MASK] to their length, and these rows count.
    pub(crate) do_query_expansion: bool,
    /// Whether tokens attend to that padding.
    pub(crate) attend_to_expansion_tokens: bool,
    /// Id of [MASK], if not to be looked up.
    pub(crate) mask_token_id: Option<u32>,
    /// Id of the padding in a batch.
    pub(crate) pad_token_id: Option<u32>,
    /// Tokens whose rows are dropped from documents.
    pub(crate) skiplist_words: Vec<String>,
    /// Whether texts are lower-cased first.
    pub(crate) do_lower_case: bool,
    /// Components of a row; checked against the model if given.
    pub(crate) embedding_dim: Option<usize>,
    /// Whether rows are scaled to length 1 (our own models put learned weights into the lengths).
    pub(crate) normalize: bool,
}

impl Default for Colbert {
    fn default() -> Self {
        Colbert {
            query_prefix: "[Q] ".into(),
            document_prefix: "[D] ".into(),
            query_prefix_id: None,
            document_prefix_id: None,
            prefix_position: 1,
            heads: 0,
            query_length: 32,
            document_length: 180,
            do_query_expansion: true,
            attend_to_expansion_tokens: false,
            mask_token_id: None,
            pad_token_id: None,
            skiplist_words: Vec::new(),
            do_lower_case: false,
            embedding_dim: None,
            normalize: true,
        }
    }
}

/// How to call a sentence encoder.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sentence {
    /// Whether the vector is the first token's instead of the mean.
    pub(crate) first: bool,
    /// Tokens of a text.
    pub(crate) length: usize,
    /// Whether texts are lower-cased first.
    pub(crate) do_lower_case: bool,
    /// Text before a query.
    pub(crate) query_prompt: String,
    /// Text before a document.
    pub(crate) document_prompt: String,
}

/// `sentence_bert_config.json`.
#[derive(Deserialize)]
#[serde(default)]
struct SentenceBert {
    max_seq_length: Option<usize>,
    do_lower_case: bool,
}

impl Default for SentenceBert {
    fn default() -> Self {
        // Models without a configured length have BERT's size.
        SentenceBert { max_seq_length: Some(512), do_lower_case: false }
    }
}

/// `1_Pooling/config.json`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Pooling {
    pooling_mode_mean_tokens: bool,
    pooling_mode_cls_token: bool,
}

/// `1_Dense/config.json`, PyLate's projection, which must be part of the graph.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Dense {
    out_features: Option<usize>,
}

/// A folder whose files were read.
#[derive(Debug)]
pub(crate) struct Folder {
    /// The model's file.
    pub(crate) model: PathBuf,
    /// Content of `tokenizer.json`.
    pub(crate) tokenizer: Vec<u8>,
    /// How to call the model.
    pub(crate) kind: OnnxKind,
    /// Hash of all files that shape vectors.
    pub(crate) fingerprint: u64,
}

impl Folder {
    /// Reads a folder, or the folder of the model file that `path` names.
    ///
    /// # Errors
    /// When a file is missing or not understood.
    pub(crate) fn read(path: &Path) -> Result<Folder, Error> {
        let (folder, model) = find(path)?;
        let tokenizer = read_at_most(&folder.join("tokenizer.json"), TEXT_BYTES_MAX)?.ok_or_else(|| {
            Error::Missing(format!(
                "{} has no tokenizer.json; copy it from where the model comes from (Python: \
                 tokenizer.backend_tokenizer.save)",
                folder.display()
            ))
        })?;
        let bytes = read(&model)?.unwrap_or_default();
        if bytes.is_empty() {
            return Err(Error::Missing(format!("{} is empty; fetch it again", model.display())));
        }
        let mut hash = Xxh3::new();
        let mut part = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(&bytes);
        part(&tokenizer);
        for file in outside_data(&model)? {
            part(&read(&file)?.unwrap_or_default());
        }
        for file in CONFIG_FILES.iter().chain(&["sentence_bert_config.json", "1_Pooling/config.json"]) {
            part(&read(&folder.join(file))?.unwrap_or_default());
        }
        let kind = kind(&folder)?;
        Ok(Folder { model, tokenizer, kind, fingerprint: hash.digest() })
    }
}

/// Whether the file `name` has weights of the model file `model` next to it. Large models keep them outside the graph:
/// PyTorch's exporter calls the file `model.onnx.data`, Optimum `model.onnx_data`, numbered if there are several.
pub(crate) fn is_outside_data(model: &str, name: &str) -> bool {
    let is = |end: &str| (end.starts_with(".data") || end.starts_with("_data")) && !end.contains(['/', '\\']);
    name.strip_prefix(model).is_some_and(is)
}

/// The files with weights outside the graph, by name.
fn outside_data(model: &Path) -> Result<Vec<PathBuf>, Error> {
    let folder = model.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = model.file_name().unwrap_or_default().to_string_lossy();
    let failed = |source: std::io::Error| Error::Read { path: folder.to_path_buf(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if is_outside_data(&name, &entry.file_name().to_string_lossy()) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// The folder and the model file in it that a path names.
fn find(path: &Path) -> Result<(PathBuf, PathBuf), Error> {
    if path.is_file() && path.extension().is_some_and(|end| end == "onnx") {
        let parent = path.parent().unwrap_or(Path::new(""));
        let folder = if parent.ends_with("onnx") { parent.parent().unwrap_or(parent) } else { parent };
        return Ok((folder.to_path_buf(), path.to_path_buf()));
    }
    if !path.is_dir() {
        return Err(Error::NoFolder(path.to_path_buf()));
    }
    match MODEL_FILES.iter().map(|name| path.join(name)).find(|file| file.is_file()) {
        Some(model) => Ok((path.to_path_buf(), model)),
        None => Err(Error::Missing(format!(
            "{} has no model.onnx (or model_int8.onnx); export the model to ONNX, for a PyLate model with \
             `pylate-onnx-export`",
            path.display()
        ))),
    }
}

/// Content of a file; `None` if there is no such file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    read_at_most(path, u64::MAX)
}

/// The same for a file of at most `bytes_max` bytes.
fn read_at_most(path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, Error> {
    let read = || -> std::io::Result<Vec<u8>> {
        // A device or a pipe may never end. Links are followed, since the hub's cache consists of them.
        let metadata = std::fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(std::io::Error::other("it is not a regular file"));
        }
        if metadata.len() > bytes_max {
            return Err(std::io::Error::other(format!("it is larger than {} MiB", bytes_max >> 20)));
        }
        let mut bytes = Vec::with_capacity(metadata.len().min(bytes_max) as usize);
        std::fs::File::open(path)?.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) if bytes.starts_with(LFS_POINTER) => {
            Err(Error::Missing(format!("{} is a pointer of Git LFS; `git lfs pull` fetches the file", path.display())))
        }
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Read { path: path.to_path_buf(), source }),
    }
}

/// Content of a JSON file; `None` if there is no such file.
fn json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>, Error> {
    match read_at_most(path, TEXT_BYTES_MAX)? {
        Some(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| Error::damaged(format!("{} is not understood", path.display()), error)),
        None => Ok(None),
    }
}

/// How to call the model of a folder.
fn kind(folder: &Path) -> Result<OnnxKind, Error> {
    let mut config: Map<String, Value> = Map::new();
    for file in CONFIG_FILES {
        if let Some(part) = json::<Map<String, Value>>(&folder.join(file))? {
            // A null is not a value, so the default applies.
            config.extend(part.into_iter().filter(|(_, value)| !value.is_null()));
        }
    }
    let says_colbert = config.get("model_type").is_some_and(|kind| kind == "ColBERT");
    if says_colbert || ["query_prefix", "query_length", "document_length"].iter().any(|key| config.contains_key(*key)) {
        let mut colbert: Colbert = serde_json::from_value(Value::Object(config)).map_err(|error| {
            let files = CONFIG_FILES.join(" and ");
            Error::damaged(format!("{files} of {} are not understood", folder.display()), error)
        })?;
        for (name, length) in [("query_length", colbert.query_length), ("document_length", colbert.document_length)] {
            // Two special tokens, prefixes and a token.
            if length < colbert.heads.max(1).saturating_add(3) {
                return Err(Error::Unfit(format!("{}: {name} is {length}, too short for a text", folder.display())));
            }
        }
        let no_prefix = colbert.query_prefix.is_empty() || colbert.document_prefix.is_empty();
        if colbert.heads > 0 && (no_prefix || colbert.prefix_position != 0) {
            return Err(Error::Unfit(format!(
                "{}: heads are the rows of prefixes that stand first, and one of these is empty or elsewhere; correct it \
                 in {}",
                folder.display(),
                CONFIG_FILES.join(" or ")
            )));
        }
        if colbert.query_length > QUERY_LENGTH_MAX {
            return Err(Error::Unfit(format!(
                "{}: query_length is {}, more than {QUERY_LENGTH_MAX}; correct it in {}",
                folder.display(),
                colbert.query_length,
                CONFIG_FILES.join(" or ")
            )));
        }
        if colbert.embedding_dim.is_none() {
            colbert.embedding_dim =
                json::<Dense>(&folder.join("1_Dense/config.json"))?.and_then(|dense| dense.out_features);
        }
        return Ok(OnnxKind::Colbert(colbert));
    }
    let Some(pooling) = json::<Pooling>(&folder.join("1_Pooling/config.json"))? else {
        return Err(Error::Unfit(format!(
            "{} says neither how a ColBERT is called (onnx_config.json or config_sentence_transformers.json with \
             query_prefix and lengths) nor how a sentence encoder pools (1_Pooling/config.json); copy these files from \
             where the model comes from",
            folder.display()
        )));
    };
    if !pooling.pooling_mode_mean_tokens && !pooling.pooling_mode_cls_token {
        return Err(Error::Unfit(format!("{}: only mean and CLS pooling are supported", folder.display())));
    }
    let bert: SentenceBert = json(&folder.join("sentence_bert_config.json"))?.unwrap_or_default();
    let prompt = |name: &str| {
        config.get("prompts").and_then(|prompts| prompts.get(name)?.as_str()).unwrap_or_default().to_string()
    };
    Ok(OnnxKind::Sentence(Sentence {
        first: pooling.pooling_mode_cls_token,
        length: bert.max_seq_length.unwrap_or(512).max(3),
        do_lower_case: bert.do_lower_case,
        query_prompt: prompt("query"),
        document_prompt: prompt("document"),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        folder
    }

    const MODEL: (&str, &str) = ("model.onnx", "graph");
    const TOKENIZER: (&str, &str) = ("tokenizer.json", "{}");

    #[test]
    fn configurations() {
        let both = write(&[
            MODEL,
            TOKENIZER,
            ("config_sentence_transformers.json", r#"{"query_prefix": "[Q]", "query_length": 48, "prompts": {}}"#),
            ("onnx_config.json", r#"{"query_length": 64, "mask_token_id": null, "skiplist_words": [","]}"#),
        ]);
        let expected = Colbert {
            query_prefix: "[Q]".into(),
            query_length: 64,
            skiplist_words: vec![",".into()],
            ..Colbert::default()
        };
        assert_eq!(Folder::read(both.path()).unwrap().kind, OnnxKind::Colbert(expected));

        let sentence = write(&[
            ("onnx/model.onnx", "graph"),
            TOKENIZER,
            ("1_Pooling/config.json", r#"{"pooling_mode_mean_tokens": true, "word_embedding_dimension": 384}"#),
            ("sentence_bert_config.json", r#"{"max_seq_length": 256, "do_lower_case": false}"#),
            ("config_sentence_transformers.json", r#"{"prompts": {"query": "query: "}, "similarity_fn_name": null}"#),
        ]);
        let expected = Sentence { length: 256, query_prompt: "query: ".into(), ..Sentence::default() };
        let by_folder = Folder::read(sentence.path()).unwrap();
        assert_eq!(by_folder.kind, OnnxKind::Sentence(expected));
        let by_file = Folder::read(&sentence.path().join("onnx/model.onnx")).unwrap();
        assert_eq!((by_file.kind, by_file.fingerprint), (by_folder.kind, by_folder.fingerprint));
    }

    #[cfg(unix)]
    #[test]
    fn what_never_ends_is_not_read() {
        for name in ["tokenizer.json", "onnx_config.json", "model.onnx_data"] {
            let folder = write(&[MODEL, TOKENIZER]);
            let path = folder.path().join(name);
            let _ = std::fs::remove_file(&path);
            std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
            let error = Folder::read(folder.path()).unwrap_err();
            let Error::Read { path: named, source } = &error else { panic!("{name}: {error:?}") };
            assert_eq!((named, source.to_string().as_str()), (&path, "it is not a regular file"));
        }
    }

    #[test]
    fn any_file_changes_the_fingerprint() {
        let config = ("onnx_config.json", r#"{"query_length": 32}"#);
        let print = |files: &[(&str, &str)]| Folder::read(write(files).path()).unwrap().fingerprint;
        let prints = [
            print(&[MODEL, TOKENIZER, config]),
            print(&[("model.onnx", "other"), TOKENIZER, config]),
            print(&[MODEL, ("tokenizer.json", "{ }"), config]),
            print(&[MODEL, TOKENIZER, ("onnx_config.json", r#"{"query_length": 33}"#)]),
            print(&[MODEL, TOKENIZER, config, ("model.onnx_data", "weights")]),
            print(&[MODEL, TOKENIZER, config, ("model.onnx.data", "others")]),
            print(&[MODEL, TOKENIZER, config, ("model.onnx_data", "weights"), ("model.onnx_data_1", "more")]),
        ];
        for (i, print) in prints.iter().enumerate() {
            assert!(!prints[..i].contains(print), "{i}");
        }
        assert_eq!(prints[0], print(&[MODEL, TOKENIZER, config]));
        let of_another = ("model_int8.onnx_data", "weights of another");
        assert_eq!(prints[0], print(&[MODEL, TOKENIZER, config, of_another]));
    }

    #[test]
    fn broken_folders_are_explained() {
        for (files, expected) in [
            (&[][..], "has no model.onnx (or model_int8.onnx)"),
            (&[MODEL], "has no tokenizer.json"),
            (&[("model_int8.onnx", ""), TOKENIZER], "model_int8.onnx is empty"),
            (&[MODEL, TOKENIZER], "says neither how a ColBERT is called"),
            (&[("model.onnx", "version https://git-lfs.github.com/spec/v1"), TOKENIZER], "`git lfs pull` fetches"),
            (&[MODEL, TOKENIZER, ("onnx_config.json", "{")], "onnx_config.json is not understood"),
            (&[MODEL, TOKENIZER, ("onnx_config.json", r#"{"query_length": "x"}"#)], "are not understood: invalid type"),
            (&[MODEL, TOKENIZER, ("onnx_config.json", r#"{"document_length": 2}"#)], "document_length is 2, too short"),
            (
                &[MODEL, TOKENIZER, ("onnx_config.json", r#"{"query_length": 9, "heads": 7}"#)],
                "query_length is 9, too short",
            ),
            (
                &[
                    MODEL,
                    TOKENIZER,
                    (
                        "onnx_config.json",
                        r#"{"prefix_position": 0, "document_prefix": "", "query_length": 9, "heads": 2}"#,
                    ),
                ],
                "heads are the rows of prefixes",
            ),
            (
                &[MODEL, TOKENIZER, ("onnx_config.json", r#"{"query_length": 9, "heads": 2}"#)],
                "heads are the rows of prefixes",
            ),
            (&[MODEL, TOKENIZER, ("onnx_config.json", r#"{"query_length": 100000000}"#)], "more than 1024; correct it"),
            (
                &[MODEL, ("model.onnx.data", "version https://git-lfs"), TOKENIZER],
                "model.onnx.data is a pointer of Git",
            ),
            (&[MODEL, TOKENIZER, ("1_Pooling/config.json", "{}")], "only mean and CLS pooling"),
        ] {
            let folder = write(files);
            let error = Folder::read(folder.path()).expect_err(expected).full();
            assert!(error.contains(expected), "{error}");
        }
        assert!(
            Folder::read(Path::new("/nowhere/at/all")).unwrap_err().full().contains("no model folder /nowhere/at/all")
        );
    }
}
