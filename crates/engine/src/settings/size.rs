//! Sizes as people write them.

use crate::error::SettingError;

/// Reads `10`, `10K`, `10M`, `10G` as bytes.
///
/// # Errors
/// When it is not a size, or too large for a number of bytes.
pub fn parse_size(text: &str) -> Result<u64, SettingError> {
    let upper = text.trim().to_uppercase();
    let upper = upper.trim_end_matches('B').trim_end_matches('I');
    let (number, shift) = match upper.chars().last() {
        Some('K') => (&upper[..upper.len() - 1], 10),
        Some('M') => (&upper[..upper.len() - 1], 20),
        Some('G') => (&upper[..upper.len() - 1], 30),
        _ => (upper, 0),
    };
    let text = || text.to_string();
    let value: u64 = number.parse().map_err(|_| SettingError::NoSize { text: text() })?;
    value.checked_shl(shift).filter(|v| v >> shift == value).ok_or_else(|| SettingError::LargeSize { text: text() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("10", Some(10)),
            ("2K", Some(2048)),
            ("1MiB", Some(1 << 20)),
            ("3gb", Some(3 << 30)),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(parse_size(text).ok(), expected, "{text}");
        }
    }
}
