//! The tokens of a server, or of a client: several may be valid at once, so that one can replace another without an
//! outage. A file of tokens is read again when it changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use colgrep_index::disk::read_regular;
use subtle::ConstantTimeEq as _;

use crate::error::{Error, Result};

/// Maximum size of a file of tokens, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 10;
/// Maximum number of tokens.
const TOKENS_MAX: usize = 8;

/// Checks one token. The error says what is wrong with it.
pub type TokenRule = fn(&str) -> std::result::Result<(), String>;

/// Tokens, separated by whitespace. A server accepts all of them, a client sends the first.
#[derive(Debug)]
pub struct AccessTokens {
    /// The file that they are from, if it is one.
    file: Option<PathBuf>,
    rule: TokenRule,
    known: Mutex<KnownTokens>,
}

/// What is known of tokens.
struct KnownTokens {
    all: Arc<[String]>,
    /// The state of the file that was read.
    stamp: Option<(SystemTime, u64)>,
    /// Why the current file was rejected.
    refused: Option<String>,
}

impl std::fmt::Debug for KnownTokens {
    /// Shows no token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KnownTokens").field("refused", &self.refused).finish_non_exhaustive()
    }
}

impl AccessTokens {
    /// Tokens of a text that doesn't change. `place` is where they are from, for messages.
    ///
    /// # Errors
    /// When there is none, or one breaks the rule.
    pub fn new(text: &str, place: &str, rule: TokenRule) -> Result<Arc<AccessTokens>> {
        let known = KnownTokens { all: parsed(text, place, rule)?, stamp: None, refused: None };
        Ok(Arc::new(AccessTokens { file: None, rule, known: Mutex::new(known) }))
    }

    /// Tokens of a file. Changes of the file apply from the next use on; an invalid file changes nothing.
    ///
    /// # Errors
    /// When the file can't be read, has no token, or one breaks the rule.
    pub fn of_file(file: &Path, rule: TokenRule) -> Result<Arc<AccessTokens>> {
        let stamp = stamp(file);
        let known = KnownTokens { all: read(file, rule)?, stamp, refused: None };
        Ok(Arc::new(AccessTokens { file: Some(file.to_path_buf()), rule, known: Mutex::new(known) }))
    }

    /// The current tokens.
    pub fn all(&self) -> Arc<[String]> {
        Arc::clone(&self.known().all)
    }

    /// The token that a client sends.
    pub fn first(&self) -> Option<String> {
        self.known().all.first().cloned()
    }

    /// The position of a token among the current ones; `None` if it isn't one. Takes the same time wherever it differs.
    pub fn position(&self, given: &[u8]) -> Option<usize> {
        self.all().iter().position(|token| given.ct_eq(token.as_bytes()).into())
    }

    /// Why the current file was rejected, if it was.
    pub fn refused(&self) -> Option<String> {
        self.known().refused.clone()
    }

    /// What is known now, after a look at the file.
    fn known(&self) -> MutexGuard<'_, KnownTokens> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &self.file {
            let now = stamp(file);
            if now != known.stamp {
                known.stamp = now;
                match read(file, self.rule) {
                    Ok(all) => (known.all, known.refused) = (all, None),
                    Err(error) => known.refused = Some(crate::error::full(&error)),
                }
            }
        }
        known
    }
}

fn read(file: &Path, rule: TokenRule) -> Result<Arc<[String]>> {
    let place = file.display().to_string();
    let unread = |source| Error::TokenFile { path: file.to_path_buf(), source };
    let bytes = read_regular(file, FILE_BYTES_MAX).map_err(unread)?;
    let text = String::from_utf8(bytes).map_err(|_| Error::NoToken { place: place.clone() })?;
    parsed(&text, &place, rule)
}

fn parsed(text: &str, place: &str, rule: TokenRule) -> Result<Arc<[String]>> {
    let all: Arc<[String]> = text.split_whitespace().map(str::to_string).collect();
    if all.is_empty() {
        return Err(Error::NoToken { place: place.to_string() });
    }
    let bad = |why| Error::BadToken { place: place.to_string(), why };
    if all.len() > TOKENS_MAX {
        return Err(bad(format!("{} tokens are more than {TOKENS_MAX}", all.len())));
    }
    all.iter().try_for_each(|token| rule(token)).map_err(bad)?;
    Ok(all)
}

fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(token: &str) -> std::result::Result<(), String> {
        if token.len() < 4 { Err(format!("{token} is too short")) } else { Ok(()) }
    }

    #[test]
    fn a_file_of_tokens_is_read_again_and_an_invalid_one_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        let write = |text: &str| std::fs::write(&file, text).expect("a file");
        write("first\n");
        let tokens = AccessTokens::of_file(&file, rule).expect("a token");
        let known = |given: &str| tokens.position(given.as_bytes());
        assert_eq!((known("first"), known("second"), known("firs"), known("")), (Some(0), None, None, None));
        write("second\nfirst\n");
        assert_eq!((known("first"), known("second"), tokens.first().as_deref()), (Some(1), Some(0), Some("second")));
        for (text, why) in [("", "holds no token"), ("abc", "is too short"), (&"long ".repeat(9), "more than 8")] {
            write(text);
            assert_eq!((known("first"), known("second")), (Some(1), Some(0)), "{text:?}");
            assert!(tokens.refused().is_some_and(|refused| refused.contains(why)), "{:?}", tokens.refused());
        }
        std::fs::remove_file(&file).expect("no file");
        assert_eq!(known("first"), Some(1));
        assert!(tokens.refused().is_some_and(|refused| refused.contains("could not be read")));
        write("second");
        assert_eq!((known("first"), known("second"), tokens.refused()), (None, Some(0), None));
    }
}
