//! Compares the ONNX path with the native one: the same model, exported by `train/export.py`, run by ONNX Runtime.
//! Tests that need the library run if TEST_ONNX_RUNTIME is set, and fail without a library then; else they report that
//! they are skipped.
#![cfg(feature = "onnx")]
#![expect(clippy::disallowed_methods, reason = "the caller's environment says where ONNX Runtime is")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::{Golden, TINY, check_rows};
use colgrep_encoder::{Encoder, Error, ModelSpec, Native, RuntimeEnv, open, runtime_report};
use ndarray::{Array1, Axis};

/// Minimum cosine between rows of both paths.
const COSINE_MIN: f32 = 0.999;

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny")
}

/// The environment of the program, which must lead to a library; `None` if these tests were not requested.
fn runtime() -> Option<RuntimeEnv> {
    if std::env::var_os("TEST_ONNX_RUNTIME").is_none() {
        eprintln!("skipped: TEST_ONNX_RUNTIME is not set");
        return None;
    }
    let path = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let env = RuntimeEnv {
        ort_dylib_path: path("ORT_DYLIB_PATH"),
        virtual_env: path("VIRTUAL_ENV"),
        conda_prefix: path("CONDA_PREFIX"),
        path: std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default(),
        home: path("HOME"),
        ..RuntimeEnv::default()
    };
    if let Err(error) = folder(&tiny(), &env) {
        panic!("{}", error.full());
    }
    assert!(runtime_report(&env).library.is_some());
    Some(env)
}

fn folder(path: &Path, env: &RuntimeEnv) -> Result<Arc<dyn Encoder>, Error> {
    open(&ModelSpec::Folder(path.to_path_buf()), env)
}

/// The tiny model's folder with changed files; an empty content removes one.
fn changed(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["model.onnx", "tokenizer.json", "onnx_config.json", "config_sentence_transformers.json"] {
        std::fs::copy(tiny().join(name), folder.path().join(name)).unwrap();
    }
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if content.is_empty() {
            std::fs::remove_file(path).unwrap();
        } else {
            std::fs::write(path, content).unwrap();
        }
    }
    folder
}

#[test]
fn the_same_vectors_as_the_native_path() {
    let Some(env) = runtime() else { return };
    let native = Native::new(TINY).unwrap();
    let onnx = folder(&tiny(), &env).unwrap();
    assert_eq!((onnx.dimension(), onnx.heads()), (native.dimension(), native.heads()));
    let golden = Golden::read(include_str!("../fixtures/tiny/golden.json"));
    for case in golden.cases.iter().filter(|case| case.side == "query") {
        let found = onnx.encode_query(&case.text).unwrap();
        check_rows(&found, native.encode_query(&case.text).unwrap().view(), COSINE_MIN, 1e-2, &case.text);
    }
    // More than a batch, of all lengths; only words of up to six pieces, for which the tokenizers agree.
    let mut texts: Vec<String> = (0..20).map(|n| "parseHttp retry_x9 語 ß ".repeat(n % 7) + &n.to_string()).collect();
    texts.push("def evict(self, key): return map[key]".into());
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (found, expected) = (onnx.encode_documents(&texts).unwrap(), native.encode_documents(&texts).unwrap());
    for ((found, expected), text) in found.iter().zip(&expected).zip(&texts) {
        check_rows(found, expected.view(), COSINE_MIN, 1e-2, text);
    }
}

#[test]
fn callers_side_by_side() {
    let Some(env) = runtime() else { return };
    let model = folder(&tiny(), &env).unwrap();
    let expected = model.encode_documents(&["parse request"]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(model.encode_documents(&["parse request"]).unwrap(), expected));
        }
    });
}

#[test]
fn sentence_encoders_give_one_vector() {
    let Some(env) = runtime() else { return };
    let native = Native::new(TINY).unwrap().encode_documents(&["parse http request"]).unwrap().remove(0);
    // Without a prefix, the graph returns the summary in place of the first pieces.
    let heads = native.heads();
    let given: Vec<usize> = (0..native.len()).filter(|row| !(heads..2 * heads).contains(row)).collect();
    let rows = native.view().select(Axis(0), &given);
    let unit = |row: Array1<f32>| {
        let length = row.dot(&row).sqrt();
        (row / length).insert_axis(Axis(0))
    };
    for (pooling, expected) in [
        (&br#"{"pooling_mode_mean_tokens": true}"#[..], unit(rows.sum_axis(Axis(0)))),
        (&br#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#[..], unit(rows.row(0).to_owned())),
    ] {
        let folder_of = changed(&[
            ("onnx_config.json", b""),
            ("config_sentence_transformers.json", br#"{"prompts": {"query": ""}}"#),
            ("1_Pooling/config.json", pooling),
        ]);
        let model = folder(folder_of.path(), &env).unwrap();
        let found = model.encode_documents(&["parse http request", "x"]).unwrap();
        assert_eq!((found[0].len(), found[1].len(), found[0].heads(), model.heads()), (1, 1, 1, 1));
        check_rows(&found[0], expected.view(), COSINE_MIN, 1e-3, "pooled");
        assert_eq!(model.encode_query("parse http request").unwrap(), found[0]);
    }
}

#[test]
fn folders_that_do_not_work_are_explained() {
    let Some(env) = runtime() else { return };
    let model = std::fs::read(tiny().join("model.onnx")).unwrap();
    let config = std::fs::read_to_string(tiny().join("onnx_config.json")).unwrap();
    let other_dimension = config.replace("\"embedding_dim\": 12", "\"embedding_dim\": 128");
    let tokenizer = std::fs::read_to_string(tiny().join("tokenizer.json")).unwrap();
    let more_tokens = tokenizer.replace("\"[PAD]\": 0", "\"[PAD]\": 0, \"more\": 9999");
    let other_tokens = tokenizer.replace("\"[D]\": 3", "\"[E]\": 3");
    assert!(more_tokens != tokenizer && other_tokens != tokenizer && other_dimension != config);
    let no_encoder = include_bytes!("../../src/onnx/identity.onnx");
    for (files, expected) in [
        ([("model.onnx", &b"this is no graph"[..])], "the file is damaged, or the runtime too old"),
        ([("model.onnx", &model[..model.len() / 2])], "the file is damaged, or the runtime too old"),
        ([("model.onnx", no_encoder)], "unknown input x; this is no text encoder"),
        ([("model.onnx", b"")], "has no model.onnx"),
        ([("onnx_config.json", other_dimension.as_bytes())], "gives 12 components, its configuration says 128"),
        ([("tokenizer.json", b"")], "has no tokenizer.json"),
        ([("tokenizer.json", &tokenizer.as_bytes()[..500])], "tokenizer.json is damaged"),
        ([("tokenizer.json", more_tokens.as_bytes())], "does not know the token 9999 of tokenizer.json"),
    ] {
        let error = folder(changed(&files).path(), &env).err().expect(expected).full();
        assert!(error.contains(expected), "{error}");
    }
    // A graph for exactly 6 tokens, which does not fit a query of 14: replaces the name by the size, and keeps 13
    // letters of the name as a comment so that no length in the file changes.
    let named = b"\x12\x0fsequence_length";
    let places: Vec<usize> = (0..model.len() - named.len()).filter(|at| model[*at..].starts_with(named)).collect();
    assert_eq!(places.len(), 3, "two inputs and an output");
    let mut fixed = model.clone();
    for at in places {
        fixed[at..at + 4].copy_from_slice(b"\x08\x06\x1a\x0d");
    }
    let long = config.replace("\"do_query_expansion\": false", "\"do_query_expansion\": true, \"mask_token_id\": 1");
    assert_ne!(long, config);
    let error = folder(changed(&[("model.onnx", &fixed), ("onnx_config.json", long.as_bytes())]).path(), &env)
        .err()
        .expect("an error")
        .full();
    assert!(error.contains("takes documents but no query of 14 tokens"), "{error}");
    let unknown = long.replace("\"mask_token_id\": 1", "\"mask_token_id\": 99999");
    let error =
        folder(changed(&[("onnx_config.json", unknown.as_bytes())]).path(), &env).err().expect("an error").full();
    assert!(error.contains("mask_token_id is 99999"), "{error}");

    // The configuration names the prefix's id, so it has to change for a tokenizer without it to fail.
    let no_id = config.replace("\"document_prefix_id\": 3,", "");
    let files = [("tokenizer.json", other_tokens.as_bytes()), ("onnx_config.json", no_id.as_bytes())];
    let plain: &[u8] = br#"{"model_type": "ColBERT"}"#;
    let error = folder(changed(&[files[0], files[1], ("config_sentence_transformers.json", plain)]).path(), &env)
        .err()
        .expect("an error")
        .full();
    assert!(error.contains("has no token \"[D]\", the configuration's document_prefix"), "{error}");
}

#[test]
fn a_named_library_that_does_not_load_is_an_error() {
    // Only for a process that has no library yet; another test may have loaded one here.
    let broken = tempfile::NamedTempFile::new().unwrap();
    let env = RuntimeEnv { ort_dylib_path: Some(broken.path().into()), ..RuntimeEnv::default() };
    let report = runtime_report(&env);
    assert!(report.compiled && report.providers.contains(&"CPU"));
    assert_eq!(report.candidates, [broken.path()], "it is named, and was not loaded for that");
    let opened = folder(&tiny(), &env);
    match runtime_report(&env).library {
        None => assert!(opened.err().expect("an error").full().contains("ORT_DYLIB_PATH=")),
        Some(library) => assert_ne!(library, broken.path()),
    }
}

#[test]
fn the_report_names_library_and_provider() {
    let Some(env) = runtime() else { return };
    let report = runtime_report(&env);
    assert_eq!(report.provider, Some("CPU"));
    assert!(report.library.is_some() && report.build.is_some() && report.problem.is_none(), "{report:?}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]

    /// Compares the exported tokenizer with the native one, on words of up to six pieces.
    #[test]
    fn the_same_pieces(text in "(([a-z]{1,6}|[A-Z][a-z]{0,4}|[A-Z0-9]{1,4}|[aÄßé語Ωω検0٣]{1,4}|[q]{41}|HTTPx|aB)[ _./-]){0,12}") {
        let model = Native::new(TINY).unwrap();
        let tokenizer = tokenizers::Tokenizer::from_file(tiny().join("tokenizer.json")).unwrap();
        let expected = tokenizer.encode(text.as_str(), false).unwrap().get_ids().to_vec();
        let found = model.pieces(&text, usize::MAX / 2);
        proptest::prop_assert_eq!(found, expected);
    }
}
