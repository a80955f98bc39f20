//! Errors that name a way out: a flag or a command for people, a tool or a parameter for agents.

use std::fmt;

use colgrep_core::expand::TermTable;
use colgrep_encoder::Error as ModelError;
use colgrep_engine::Refused;
use colgrep_index::{Error as IndexError, ErrorKind};

use crate::output::path::typed;

/// What went wrong, with the way out in the words of the command line and in those of the server's tools.
#[derive(Clone, Debug)]
pub struct Hinted {
    /// What went wrong.
    pub what: String,
    /// The way out on the command line.
    pub shell: String,
    /// The way out by a tool.
    pub tool: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.what, self.shell)
    }
}

impl std::error::Error for Hinted {}

/// The way out of what the engine refuses.
fn hinted(refused: &Refused) -> Hinted {
    let (shell, tool) = match refused {
        Refused::Type { known, .. } => {
            ("`colgrep --type-list` shows them".to_string(), format!("`languages` takes {}", known.join(", ")))
        }
        Refused::Pattern { .. } => (
            "use -F to search for it as plain text".to_string(),
            "`grep` with `fixed` searches for it as plain text".to_string(),
        ),
        Refused::Terms { .. } => {
            let names = TermTable::BUILT_IN.join(", ");
            (
                format!("--expand takes {names}, or a file of JSON: {{\"word\": [\"term\", \"another\"]}}"),
                format!("`expand` takes {names}, or a file of JSON: {{\"word\": [\"term\", \"another\"]}}"),
            )
        }
        Refused::NoUnitWith { .. } => {
            let gone = "ids change with a unit's lines";
            (format!("{gone}; --json gives those of now"), format!("{gone}; `search` gives those of now"))
        }
        Refused::NotIndexed { root, path } => {
            return Hinted {
                what: format!("{} is not indexed", typed(root, path)),
                shell: "`colgrep status` says what is skipped and why".to_string(),
                tool: "`outline` and `grep` read it all the same".to_string(),
            };
        }
        Refused::NoUnit { root, path, line } => {
            let path = typed(root, path);
            return Hinted {
                what: format!("{path} has no unit on line {line}"),
                shell: format!("`colgrep outline {path}` lists its units"),
                tool: "`outline` lists its units".to_string(),
            };
        }
        _ => (String::new(), String::new()),
    };
    Hinted { what: refused.to_string(), shell, tool }
}

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

/// What helps where an index can't be used.
const ANEW: &str = "`colgrep init` builds it anew, `colgrep clear` removes it";

/// An error of the index with its causes, and what helps.
pub fn of_index(error: &IndexError) -> String {
    match error.kind() {
        ErrorKind::Unusable => format!("{}; {ANEW}", error.full()),
        _ => error.full(),
    }
}

/// An error with its causes, and what helps, on the command line.
pub fn told(error: &anyhow::Error) -> String {
    in_words(error, |hinted| &hinted.shell)
}

/// An error with its causes, and the way out that `way` takes of a hint.
fn in_words(error: &anyhow::Error, way: impl Fn(&Hinted) -> &str) -> String {
    let unusable = |cause: &IndexError| (cause.kind() == ErrorKind::Unusable).then(|| ANEW.to_string());
    let advice = error.chain().find_map(|cause| match cause.downcast_ref::<IndexError>() {
        Some(cause) => unusable(cause),
        None => for_model(cause.downcast_ref::<ModelError>()?),
    });
    let advice = advice.map_or_else(String::new, |advice| format!("; {advice}"));
    let text = format!("{error:#}{advice}");
    let Some(refused) = error.downcast_ref::<Refused>() else { return text };
    let hinted = hinted(refused);
    text.replacen(&refused.to_string(), &format!("{}; {}", hinted.what, way(&hinted)), 1)
}

/// An error as a tool tells it; what is too long loses its middle.
pub fn for_tools(error: &anyhow::Error) -> String {
    let mut text = in_words(error, |hinted| &hinted.tool);
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
        let refused = || anyhow::Error::from(Refused::Pattern { pattern: "(".into() }).context("search");
        let what = "search: \"(\" is no valid pattern";
        assert_eq!(for_tools(&refused()), format!("{what}; `grep` with `fixed` searches for it as plain text"));
        assert_eq!(told(&refused()), format!("{what}; use -F to search for it as plain text"));
        let long = for_tools(&anyhow::anyhow!("begins {} ends", "é".repeat(TOOL_BYTES_MAX)));
        assert!(long.starts_with("begins éé") && long.ends_with("éé ends") && long.contains("é […] é"), "{long}");
        assert!(long.len() <= TOOL_BYTES_MAX + " […] ".len());
    }
}
