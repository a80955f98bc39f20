//! Tokenization for ONNX models: ids, attention mask, and which rows of the output are kept. The steps follow PyLate:
//! truncate to the length less the prefix, insert the prefix, fill queries with [MASK].

use tokenizers::{Tokenizer, TruncationParams};

use super::folder::{Colbert, OnnxKind};
use crate::Error;

/// Side of the late interaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenSide {
    Query,
    Document,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TokenizedText {
    pub(crate) ids: Vec<u32>,
    pub(crate) attention: Vec<bool>,
    /// Rows of the output that are kept.
    pub(crate) keep: Vec<bool>,
}

/// Tokenization of one side.
struct Recipe {
    tokenizer: Tokenizer,
    /// Prompt text at the beginning.
    prompt: String,
    lower: bool,
    /// Prefix token, its position and its count.
    prefix: Option<(u32, usize, usize)>,
    /// Query expansion: padding token, target length, whether other tokens attend to it.
    fill: Option<(u32, usize, bool)>,
    /// Tokens whose rows are dropped.
    skip: Vec<u32>,
}

/// Tokenizers of both sides.
pub(crate) struct Inputs {
    query: Recipe,
    document: Recipe,
    /// Padding token of a batch.
    pub(crate) pad: u32,
    /// Largest id of the vocabulary.
    pub(crate) largest: u32,
}

impl Inputs {
    /// Configures the tokenizers for `kind`.
    ///
    /// # Errors
    /// When the file is damaged, or lacks tokens that the configuration names.
    pub(crate) fn new(bytes: &[u8], kind: &OnnxKind) -> Result<Inputs, Error> {
        let mut tokenizer = Tokenizer::from_bytes(bytes)
            .map_err(|error| Error::damaged("tokenizer.json is damaged or of another version", error))?;
        tokenizer.with_padding(None);
        let largest = tokenizer.get_vocab(true).values().copied().max().unwrap_or_default();
        if let OnnxKind::Colbert(config) = kind {
            check_ids(config, largest)?;
        }
        let named = |names: &[&str]| names.iter().find_map(|name| tokenizer.token_to_id(name));
        let pad = |configured: Option<u32>| configured.or_else(|| named(&["[PAD]", "<pad>"])).unwrap_or_default();
        let cut = |length: usize| {
            let mut tokenizer = tokenizer.clone();
            tokenizer
                .with_truncation(Some(TruncationParams { max_length: length, ..TruncationParams::default() }))
                .map_err(|error| Error::damaged(format!("tokenizer.json can't cut texts at {length} tokens"), error))?;
            Ok(tokenizer)
        };
        match kind {
            OnnxKind::Colbert(config) => {
                let fill = if config.do_query_expansion {
                    let mask = config.mask_token_id.or_else(|| named(&["[MASK]", "<mask>"])).ok_or_else(|| {
                        Error::Unfit(
                            "tokenizer.json has no [MASK], with which the configuration fills queries; it is another \
                             model's, or do_query_expansion should be false"
                                .into(),
                        )
                    })?;
                    Some((mask, config.query_length, config.attend_to_expansion_tokens))
                } else {
                    None
                };
                let prefix = |side| prefix(&tokenizer, config, side);
                let recipe = |prefix: Option<(u32, usize, usize)>, length: usize, fill, skip| {
                    Ok(Recipe {
                        tokenizer: cut(length - prefix.map_or(0, |(_, _, count)| count))?,
                        prompt: String::new(),
                        lower: config.do_lower_case,
                        prefix,
                        fill,
                        skip,
                    })
                };
                let skip = config.skiplist_words.iter().filter_map(|word| tokenizer.token_to_id(word)).collect();
                Ok(Inputs {
                    query: recipe(prefix(TokenSide::Query)?, config.query_length, fill, Vec::new())?,
                    document: recipe(prefix(TokenSide::Document)?, config.document_length, None, skip)?,
                    pad: pad(config.pad_token_id),
                    largest,
                })
            }
            OnnxKind::Sentence(config) => {
                let recipe = |prompt: &str| {
                    Ok(Recipe {
                        tokenizer: cut(config.length)?,
                        prompt: prompt.to_string(),
                        lower: config.do_lower_case,
                        prefix: None,
                        fill: None,
                        skip: Vec::new(),
                    })
                };
                Ok(Inputs {
                    query: recipe(&config.query_prompt)?,
                    document: recipe(&config.document_prompt)?,
                    pad: pad(None),
                    largest,
                })
            }
        }
    }

    /// Tokenizes a text.
    ///
    /// # Errors
    /// When the tokenizer can't read it.
    pub(crate) fn input(&self, text: &str, side: TokenSide) -> Result<TokenizedText, Error> {
        let recipe = match side {
            TokenSide::Query => &self.query,
            TokenSide::Document => &self.document,
        };
        let mut text = recipe.prompt.clone() + text;
        if recipe.lower {
            text = text.to_lowercase();
        }
        let encoding = recipe
            .tokenizer
            .encode_fast(text, true)
            .map_err(|error| Error::damaged("tokenizer.json can't be applied", error))?;
        let mut ids = encoding.get_ids().to_vec();
        let mut keep: Vec<bool> = ids.iter().map(|id| !recipe.skip.contains(id)).collect();
        if let Some((id, position, count)) = recipe.prefix {
            let position = position.min(ids.len());
            ids.splice(position..position, std::iter::repeat_n(id, count));
            keep.splice(position..position, std::iter::repeat_n(true, count));
        }
        let mut input = TokenizedText { attention: vec![true; ids.len()], keep, ids };
        if let Some((id, length, attend)) = recipe.fill.filter(|(_, length, _)| *length > input.ids.len()) {
            input.ids.resize(length, id);
            input.attention.resize(length, attend);
            input.keep.resize(length, true);
        }
        Ok(input)
    }
}

/// Refuses configured ids without a token in the tokenizer.
fn check_ids(config: &Colbert, largest: u32) -> Result<(), Error> {
    for (name, id) in [
        ("query_prefix_id", config.query_prefix_id),
        ("document_prefix_id", config.document_prefix_id),
        ("mask_token_id", config.mask_token_id),
        ("pad_token_id", config.pad_token_id),
    ] {
        if let Some(id) = id.filter(|id| *id > largest) {
            return Err(Error::Unfit(format!(
                "the configuration's {name} is {id}, the last token of tokenizer.json is {largest}; they are of \
                 different models"
            )));
        }
    }
    Ok(())
}

/// The token before a side's texts, with its position and repetitions; `None` if the configured one is empty.
fn prefix(tokenizer: &Tokenizer, config: &Colbert, side: TokenSide) -> Result<Option<(u32, usize, usize)>, Error> {
    let (name, text, id) = match side {
        TokenSide::Query => ("query_prefix", &config.query_prefix, config.query_prefix_id),
        TokenSide::Document => ("document_prefix", &config.document_prefix, config.document_prefix_id),
    };
    if text.is_empty() {
        return Ok(None);
    }
    let found = tokenizer.token_to_id(text).or_else(|| tokenizer.token_to_id(text.trim()));
    match (found, id) {
        (Some(found), Some(id)) if found != id => Err(Error::Unfit(format!(
            "tokenizer.json gives {name} {text:?} the id {found}, the configuration says {id}; they are of different models"
        ))),
        (None, None) => Err(Error::Unfit(format!(
            "tokenizer.json has no token {text:?}, the configuration's {name}; it is another model's, or was saved \
             before PyLate added the token"
        ))),
        (found, id) => Ok(id.or(found).map(|id| (id, config.prefix_position, config.heads.max(1)))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::folder::Sentence;
    use super::*;

    /// BERT's form: [CLS] … [SEP] around whole words.
    const TOKENIZER: &str = r#"{
        "version": "1.0", "truncation": null, "padding": null, "normalizer": null,
        "added_tokens": [], "decoder": null,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {
            "[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "[Q] ": 5, "[D] ": 6,
            "a": 7, "b": 8, "c": 9, ",": 10}}
    }"#;

    fn colbert() -> Colbert {
        Colbert { query_length: 8, document_length: 7, skiplist_words: vec![",".into()], ..Colbert::default() }
    }

    #[test]
    fn as_pylate_does() {
        let yes = |n: usize| vec![true; n];
        for (config, side, text, ids, attention, keep) in [
            (
                colbert(),
                TokenSide::Query,
                "a , b",
                &[2, 5, 7, 10, 8, 3, 4, 4][..],
                [yes(6), vec![false; 2]].concat(),
                yes(8),
            ),
            (
                Colbert { attend_to_expansion_tokens: true, ..colbert() },
                TokenSide::Query,
                "a",
                &[2, 5, 7, 3, 4, 4, 4, 4],
                yes(8),
                yes(8),
            ),
            (
                Colbert { do_query_expansion: false, do_lower_case: true, ..colbert() },
                TokenSide::Query,
                "A B",
                &[2, 5, 7, 8, 3],
                yes(5),
                yes(5),
            ),
            (
                colbert(),
                TokenSide::Document,
                "a , b x a b c",
                &[2, 6, 7, 10, 8, 1, 3],
                yes(7),
                vec![true, true, true, false, true, true, true],
            ),
            (
                Colbert { document_prefix: String::new(), ..colbert() },
                TokenSide::Document,
                "a b c a b c",
                &[2, 7, 8, 9, 7, 8, 3],
                yes(7),
                yes(7),
            ),
            (Colbert { prefix_position: 0, ..colbert() }, TokenSide::Document, "a", &[6, 2, 7, 3], yes(4), yes(4)),
            (
                Colbert { prefix_position: 0, heads: 2, skiplist_words: vec!["[D] ".into()], ..colbert() },
                TokenSide::Document,
                "a b c a b c",
                &[6, 6, 2, 7, 8, 9, 3],
                yes(7),
                yes(7),
            ),
        ] {
            let inputs = Inputs::new(TOKENIZER.as_bytes(), &OnnxKind::Colbert(config)).unwrap();
            let expected = TokenizedText { ids: ids.to_vec(), attention, keep };
            assert_eq!(inputs.input(text, side).unwrap(), expected, "{side:?} {text}");
            assert_eq!((inputs.pad, inputs.largest), (0, 10));
        }
    }

    #[test]
    fn sentences() {
        let kind = OnnxKind::Sentence(Sentence {
            length: 5,
            query_prompt: "a ".into(),
            do_lower_case: true,
            ..Sentence::default()
        });
        let inputs = Inputs::new(TOKENIZER.as_bytes(), &kind).unwrap();
        assert_eq!(inputs.input("B", TokenSide::Query).unwrap().ids, [2, 7, 8, 3]);
        assert_eq!(inputs.input("a b c a b c", TokenSide::Document).unwrap().ids, [2, 7, 8, 9, 3]);
    }

    #[test]
    fn tokenizers_of_other_models() {
        let without = |token: &str| TOKENIZER.replace(token, "other");
        for (tokenizer, config, expected) in [
            ("{}".to_string(), colbert(), "tokenizer.json is damaged"),
            (TOKENIZER[..300].to_string(), colbert(), "tokenizer.json is damaged"),
            (without("[MASK]"), colbert(), "has no [MASK]"),
            (without("[D] "), colbert(), "has no token \"[D] \", the configuration's document_prefix"),
            (
                TOKENIZER.into(),
                Colbert { query_prefix_id: Some(9), ..colbert() },
                "gives query_prefix \"[Q] \" the id 5",
            ),
            (
                TOKENIZER.into(),
                Colbert { mask_token_id: Some(99_999), ..colbert() },
                "mask_token_id is 99999, the last token of tokenizer.json is 10",
            ),
            (TOKENIZER.into(), Colbert { pad_token_id: Some(11), ..colbert() }, "pad_token_id is 11"),
            (TOKENIZER.into(), Colbert { document_prefix_id: Some(11), ..colbert() }, "document_prefix_id is 11"),
            (TOKENIZER.into(), Colbert { query_prefix_id: Some(11), ..colbert() }, "query_prefix_id is 11"),
        ] {
            let error = Inputs::new(tokenizer.as_bytes(), &OnnxKind::Colbert(config)).err().expect(expected).full();
            assert!(error.contains(expected), "{error}");
        }
    }
}
