//! `--queries-from`: an answer for each line of a file.

use colgrep_render::remark;
use std::io::{BufRead, Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use colgrep_engine::request::{QUERY_BYTES_MAX, Question, SearchRequest, check_length};
use colgrep_engine::session::Session;

use crate::{FAILED, FOUND, NOTHING};
use colgrep_engine::request::has_no_word;
use colgrep_render::json::{self, RefusedQuery};
use colgrep_render::words::in_short;
use colgrep_render::{OutputOptions, tell_cut};

/// Bytes shown of a line that is not a query.
const SHOWN_BYTES_MAX: usize = 200;

/// Longest line that is skipped; longer ones are taken for binary data.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// Answers every line of `file` with a row; an invalid one gets a row with the reason.
pub(super) fn run(file: &Path, request: &SearchRequest, options: &OutputOptions, session: &mut Session) -> Result<u8> {
    let unreadable = || format!("could not read {}", file.display());
    let mut lines: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::io::BufReader::new(std::fs::File::open(file).with_context(unreadable)?))
    };
    let mut request = request.clone();
    session.open(&request)?;
    let mut out = std::io::stdout().lock();
    let (mut answered, mut refused) = (false, false);
    for number in 1.. {
        let Some(line) = next_line(&mut lines).with_context(unreadable)? else { break };
        let query = match query_of(&line) {
            Ok("") => continue,
            Ok(query) => query,
            Err(error) => {
                refused = true;
                remark!("colgrep: {}, line {number}: {error}", file.display());
                let start = String::from_utf8_lossy(&line[..line.len().min(SHOWN_BYTES_MAX)]);
                json::print_refused(&mut out, &RefusedQuery::new(start.trim(), number, error.to_string()))?;
                continue;
            }
        };
        request.question = Question::Text(query.to_string());
        let results = session.rank(&request)?;
        answered |= !results.is_empty();
        let shown = json::print_answers(&mut out, &results, options.wish.max_tokens)?;
        tell_cut(&options.wish, Some(query), shown, results.len());
        if results.is_empty() && has_no_word(query) && !options.wish.quiet {
            let (file, query) = (file.display(), in_short(query));
            let alone = "asked alone, it lists the lines that hold it";
            remark!("colgrep: {file}, line {number}: {query:?} holds no word, so nothing is ranked; {alone}");
        }
        out.flush()?;
    }
    Ok(match (refused, answered) {
        (true, _) => FAILED,
        (false, true) => FOUND,
        (false, false) => NOTHING,
    })
}

/// Reads the next line, at most one byte more than a query may have; `None` at the end.
///
/// # Errors
/// When the input refuses, or a line does not end ([`LINE_BYTES_MAX`]).
fn next_line(lines: &mut dyn BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    // One byte more than a query has, and the line's end.
    lines.take(QUERY_BYTES_MAX as u64 + 2).read_until(b'\n', &mut line)?;
    if line.len() > QUERY_BYTES_MAX + 1 && !line.ends_with(b"\n") {
        let mut rest = lines.take(LINE_BYTES_MAX);
        rest.skip_until(b'\n')?;
        if rest.limit() == 0 {
            let mebibytes = LINE_BYTES_MAX >> 20;
            return Err(std::io::Error::other(format!(
                "a line of more than {mebibytes} MiB; what follows was not read"
            )));
        }
    }
    Ok(Some(line).filter(|l| !l.is_empty()))
}

fn query_of(line: &[u8]) -> Result<&str> {
    check_length(line.trim_ascii())?;
    Ok(std::str::from_utf8(line).context("it is not UTF-8")?.trim())
}
