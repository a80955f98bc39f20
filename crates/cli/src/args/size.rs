//! Numbers as people write them.

use std::num::IntErrorKind;

use colgrep_engine::settings::share;

/// Reads a number from 1 on.
pub(crate) fn positive(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("it takes a number from 1 on".to_string()),
        Ok(number) => Ok(number),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err("it is too large".to_string()),
        Err(_) => Err("it takes a number from 1 on".to_string()),
    }
}

/// Reads a number from 0 to 1.
pub(crate) fn parse_share(text: &str) -> Result<f32, String> {
    share(text).map_err(|error| format!("it {error}"))
}

/// Reads what `-n` takes; in grep it takes nothing.
pub(crate) fn parse_lines(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        "-n takes how many lines to print; line numbers are always printed. As grep does it: colgrep -e PATTERN [PATH]..."
            .to_string()
    })
}
