//! Errors in the words of the server's tools.

use colgrep_engine::hint::Hinted;

/// Bytes of an error for tools, at most: it may repeat a pattern or a path as long as anybody likes.
const TOOL_BYTES_MAX: usize = 1_600;

/// An error with its causes, as a tool tells it; what is too long loses its middle.
pub fn for_tools(error: &anyhow::Error) -> String {
    let mut text = format!("{error:#}");
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
