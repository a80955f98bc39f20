//! Compares the native engine with PyTorch: vectors that `train/export.py` computed with `train/model.py`.

use crate::common::{Golden, check_rows};
use colgrep_encoder::{EMBEDDED, Encoder, Hashed, ModelFiles, Multivector, Native};

/// Minimum cosine of rows with PyTorch's on the same quantised weights.
const COSINE_MIN: f32 = 0.999;

fn check(model: &Native<'_>, golden: &Golden) {
    assert_eq!(model.heads(), 2);
    for case in &golden.cases {
        let name = &case.text;
        assert_eq!(model.pieces(name, case.ids.len()), case.ids, "pieces of {name}");
        let rows = if case.side == "query" {
            model.encode_query(name).unwrap()
        } else {
            model.encode_documents(&[name]).unwrap().remove(0)
        };
        assert_eq!(rows.heads(), model.heads(), "{name}");
        check_rows(&rows, case.quantised.view(), COSINE_MIN, 1e-2, name);
        // The loss of quantisation, as measured by the export.
        check_rows(&rows, case.float.view(), golden.cosine_min - 1e-3, 0.1, name);
    }
    // Together in one pass, with a text without any piece between.
    let mut texts: Vec<&str> = golden.documents().map(|case| case.text.as_str()).collect();
    texts.insert(1, "+-*/");
    let mut rows = model.encode_documents(&texts).unwrap();
    assert!(rows.remove(1).is_empty(), "no piece, no row");
    for (rows, case) in rows.iter().zip(golden.documents()) {
        check_rows(rows, case.quantised.view(), COSINE_MIN, 1e-2, &case.text);
    }
}

#[test]
fn the_embedded_model() {
    let model = Native::new(EMBEDDED).unwrap();
    check(&model, &Golden::read(include_str!("../golden.json")));
    assert!(model.encode_query("").unwrap().is_empty());
    assert!(model.encode_documents(&[]).unwrap().is_empty());
}

#[test]
fn what_was_laid_out_when_the_program_was_built_is_what_its_files_say() {
    let (built, read) = (Native::embedded().unwrap(), Native::new(EMBEDDED).unwrap());
    assert_eq!(built.fingerprint(), read.fingerprint());
    for piece in EMBEDDED.vocabulary.lines() {
        for text in [piece, &piece.repeat(2), &format!("x{piece}")] {
            assert_eq!(built.pieces(text, 100), read.pieces(text, 100), "{text}");
        }
    }
}

#[test]
fn a_text_is_as_like_itself_as_a_text_can_be() {
    let model = Native::new(EMBEDDED).unwrap();
    let texts = ["retry a failed request with a pause", "draw a red circle on the canvas"];
    let documents = model.encode_documents(&texts).unwrap();
    // The heads are the two parts of the summary, with the same length for every text: their product is its cosine
    // times that length.
    let product = |a: usize, b: usize| -> f32 {
        let heads = documents[a].rows().zip(documents[b].rows()).take(model.heads());
        heads.flat_map(|(a, b)| a.iter().zip(b)).map(|(a, b)| a * b).sum()
    };
    let cosine = |a, b| product(a, b) / (product(a, a) * product(b, b)).sqrt();
    assert!((product(0, 0) - product(1, 1)).abs() < 1e-2 * product(0, 0), "one length for every text");
    assert!((cosine(0, 0) - 1.0).abs() < 1e-5 && cosine(0, 1) < 0.6, "{}", cosine(0, 1));
}

#[test]
fn words_that_the_model_knows() {
    let model = Native::new(EMBEDDED).unwrap();
    for (text, known) in [
        ("parse the request", true),
        ("ѫѫѫѫ retry", true),
        ("parseRequest", true),
        ("", false),
        ("+-*/ 語", false),
        ("of x", false),
        // Its pieces are known, but the word is not.
        ("zzqqxv", false),
        // No piece covers it, so it is read as one unknown piece.
        ("ѫѫѫѫ", false),
        ("ქართული", false),
        ("żółćqq", false),
    ] {
        assert_eq!(model.knows(text), known, "{text}");
    }
}

#[test]
fn sizes_that_fill_no_vector() {
    check(&Native::new(crate::common::TINY).unwrap(), &Golden::read(include_str!("../fixtures/tiny/golden.json")));
}

#[test]
fn texts_do_not_depend_on_their_neighbours() {
    let model = Native::new(crate::common::TINY).unwrap();
    let texts: Vec<String> = (0..90).map(|i| "parse request ".repeat(i % 13) + &i.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = model.encode_documents(&texts).unwrap();
    for (text, rows) in texts.iter().zip(&together) {
        let alone = model.encode_documents(&[text]).unwrap().remove(0);
        assert_eq!(alone.len(), rows.len());
        assert!((&alone.view() - &rows.view()).iter().all(|difference| difference.abs() < 1e-5), "{text}");
    }
}

#[test]
fn heads_alone_are_those_of_the_documents() {
    let long = "parse request ".repeat(90);
    let texts = ["parse http request", "", "x", &long, "é"];
    let tiny = Native::new(crate::common::TINY).unwrap();
    for model in [&tiny as &dyn Encoder, &Native::embedded().unwrap(), &Hashed::default()] {
        let documents = model.encode_documents(&texts).unwrap();
        let heads = model.encode_heads(&texts).unwrap();
        assert_eq!(heads, documents.into_iter().map(Multivector::into_heads).collect::<Vec<_>>(), "{}", model.name());
        assert!(heads.iter().all(|rows| rows.len() == rows.heads()));
    }
}

#[test]
fn damaged_files_are_named() {
    let ModelFiles { config, vocabulary, weights } = crate::common::TINY;
    let [other_size, uneven] = [8, 13].map(|o| config.replace("\"output_dim\": 12", &format!("\"output_dim\": {o}")));
    let other_layout = config.replace("\"format\": 2", "\"format\": 9");
    let no_width = config.replace("\"dim\": 24", "\"dim\": 0");
    let (shorter, _) = vocabulary.trim_end().rsplit_once('\n').unwrap();
    for (files, expected) in [
        (ModelFiles { config: "{", vocabulary, weights }, "config.json of the model is not understood"),
        (ModelFiles { config: &other_layout, vocabulary, weights }, "layout 9, this program reads 2"),
        (ModelFiles { config: &no_width, vocabulary, weights }, "dim is 0"),
        (ModelFiles { config: &uneven, vocabulary, weights }, "a summary of 24 components does not fill rows of 13"),
        (
            ModelFiles { config: &other_size, vocabulary, weights },
            "tensor project of model.safetensors is F16 [12, 24]",
        ),
        (ModelFiles { config, vocabulary: shorter, weights }, "config.json says"),
        (ModelFiles { config, vocabulary, weights: &weights[..weights.len() - 1] }, "model.safetensors is damaged"),
        (ModelFiles { config, vocabulary, weights: b"" }, "model.safetensors is damaged"),
    ] {
        let found = Native::new(files).expect_err(expected).full();
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn the_fingerprint_is_of_the_content() {
    let model = |files| Native::new(files).unwrap().fingerprint();
    let renamed = crate::common::TINY.config.replace("untrained", "other");
    assert_eq!(model(crate::common::TINY), model(crate::common::TINY));
    assert_ne!(model(crate::common::TINY), model(ModelFiles { config: &renamed, ..crate::common::TINY }));
    assert_ne!(model(crate::common::TINY), model(EMBEDDED));
}
