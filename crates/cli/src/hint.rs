//! Errors with what helps, in the words of the command line or of the server's tools.

use colgrep_encoder::Error as ModelError;
use colgrep_engine::hint::Hinted;

/// Bytes of an error for tools, at most: it may repeat a pattern or a path as long as anybody likes.
const TOOL_BYTES_MAX: usize = 1_600;

/// What helps where a model can't be opened: commands and variables, of which the library knows nothing.
fn for_model(error: &ModelError) -> Option<String> {
    match error {
        ModelError::NoFolder(_) => Some("`colgrep set-model default` goes back".into()),
        ModelError::NotFetched { id, .. } => Some(format!(
            "where a network is, HTTPS_PROXY names a proxy, HF_ENDPOINT a mirror and HF_TOKEN a key. Without one, put \
             model.onnx, tokenizer.json and onnx_config.json (or config_sentence_transformers.json) of \
             https://huggingface.co/{id}/tree/main into a folder and run `colgrep set-model FOLDER`"
        )),
        _ => None,
    }
}

/// An error with its causes, and what helps.
pub fn told(error: &anyhow::Error) -> String {
    let advice = error.chain().find_map(|cause| for_model(cause.downcast_ref::<ModelError>()?));
    let advice = advice.map_or_else(String::new, |advice| format!("; {advice}"));
    format!("{error:#}{advice}")
}

/// An error as a tool tells it; what is too long loses its middle.
pub fn for_tools(error: &anyhow::Error) -> String {
    let mut text = told(error);
    if let Some(hinted) = error.downcast_ref::<Hinted>() {
        text = text.replacen(&hinted.to_string(), &format!("{}; {}", hinted.what, hinted.tool), 1);
    }
    if text.len() > TOOL_BYTES_MAX {
        let begin = text.floor_char_boundary(TOOL_BYTES_MAX / 2);
        let end = text.ceil_char_boundary(text.len() - TOOL_BYTES_MAX / 2);
        text.replace_range(begin..end, " […] ");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_not_there_says_what_to_put_where() {
        let told = |error: ModelError| told(&anyhow::Error::from(error).context("search"));
        assert_eq!(
            told(ModelError::NoFolder("m".into())),
            "search: there is no model folder m; `colgrep set-model default` goes back"
        );
        let (id, cache, endpoint) = ("owner/name".to_string(), "cache".into(), "http://127.0.0.1:1".to_string());
        let text = told(ModelError::NotFetched { id, cache, endpoint, source: "HF_HUB_OFFLINE is set".into() });
        for part in [
            "can't be fetched from http://127.0.0.1:1: HF_HUB_OFFLINE is set; where a network is",
            "huggingface.co/owner/name/tree/main",
            "`colgrep set-model FOLDER`",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(told(ModelError::NoCache), format!("search: {}", ModelError::NoCache));
    }

    #[test]
    fn tools_are_told_in_their_words_and_in_few() {
        let hinted = || Hinted { what: "no such file".into(), shell: "see --hidden".into(), tool: "see hidden".into() };
        let told = for_tools(&anyhow::Error::from(hinted()).context("search"));
        assert_eq!(told, "search: no such file; see hidden");
        assert_eq!(hinted().to_string(), "no such file; see --hidden");
        let long = for_tools(&anyhow::anyhow!("begins {} ends", "é".repeat(TOOL_BYTES_MAX)));
        assert!(long.starts_with("begins éé") && long.ends_with("éé ends") && long.contains("é […] é"), "{long}");
        assert!(long.len() <= TOOL_BYTES_MAX + " […] ".len());
    }
}
