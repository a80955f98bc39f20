//! The tokens of a server, or of a client: several may be valid at once, so that one can replace another without an
//! outage. A client may have a token for each address, so that a server that is taken over can't speak for another one. A
//! file of tokens is read again when it changes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use colgrep_index::disk::read_regular;
use colgrep_index::error::full;
use subtle::ConstantTimeEq as _;

use crate::error::{Error, Result};

/// Maximum size of a file of tokens, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 10;
/// Maximum number of tokens that are valid at once for the same server.
pub const TOKENS_MAX: usize = 8;

/// Checks one token, and the address that it is for. The error says what is wrong with it.
pub type TokenRule = fn(Option<&str>, &str) -> std::result::Result<(), String>;

/// Tokens, one a line, each after the address that it is for, if it is for one. A server accepts all of them; a client
/// uses the first one that the server knows.
#[derive(Debug)]
pub struct AccessTokens {
    file: Option<PathBuf>,
    rule: TokenRule,
    known: Mutex<KnownTokens>,
}

#[derive(Default)]
struct TokenList {
    /// The tokens of all addresses without one of their own.
    all: Arc<[String]>,
    /// Addresses and their tokens.
    own: Vec<(String, String)>,
}

struct KnownTokens {
    list: TokenList,
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
        let known = KnownTokens { list: parsed(text, place, rule)?, stamp: None, refused: None };
        Ok(Arc::new(AccessTokens { file: None, rule, known: Mutex::new(known) }))
    }

    /// Tokens of a file. Changes of the file apply from the next use on; an invalid file changes nothing.
    ///
    /// # Errors
    /// When the file can't be read, has no token, or one breaks the rule.
    pub fn of_file(file: &Path, rule: TokenRule) -> Result<Arc<AccessTokens>> {
        // A server enters the folder that it serves, which could have such a file too.
        let file = std::path::absolute(file).map_err(|source| Error::TokenFile { path: file.to_path_buf(), source })?;
        let stamp = stamp(&file);
        let known = KnownTokens { list: read(&file, rule)?, stamp, refused: None };
        Ok(Arc::new(AccessTokens { file: Some(file), rule, known: Mutex::new(known) }))
    }

    /// The current tokens of a server, or those of a client for all addresses without one of their own.
    pub fn all(&self) -> Arc<[String]> {
        Arc::clone(&self.known().list.all)
    }

    /// The tokens that a client may use for an address.
    pub fn of(&self, address: &str) -> Vec<String> {
        let known = self.known();
        let own: Vec<String> =
            known.list.own.iter().filter(|(of, _)| of == address).map(|(_, token)| token.clone()).collect();
        if own.is_empty() { known.list.all.to_vec() } else { own }
    }

    /// The file, if others on this machine can read the tokens in it.
    pub fn exposed(&self) -> Option<&Path> {
        self.file.as_deref().filter(|file| mode(file) & 0o044 != 0)
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
                    Ok(list) => (known.list, known.refused) = (list, None),
                    Err(error) => known.refused = Some(full(&error)),
                }
            }
        }
        known
    }
}

fn read(file: &Path, rule: TokenRule) -> Result<TokenList> {
    let place = file.display().to_string();
    // Anyone who can write to the file can choose the token.
    if file.is_file() && mode(file) & 0o022 != 0 {
        let why = format!("others can write to it, so the token in it may be theirs: chmod 600 {place}");
        return Err(Error::BadToken { place, why });
    }
    let unread = |source| Error::TokenFile { path: file.to_path_buf(), source };
    let bytes = read_regular(file, FILE_BYTES_MAX).map_err(unread)?;
    let text = String::from_utf8(bytes).map_err(|_| Error::NoToken { place: place.clone() })?;
    parsed(&text, &place, rule)
}

/// The permissions of a file; 0 where there are none of this kind.
fn mode(file: &Path) -> u32 {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.metadata().map_or(0, |metadata| metadata.permissions().mode())
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        0
    }
}

fn parsed(text: &str, place: &str, rule: TokenRule) -> Result<TokenList> {
    let bad = |why| Error::BadToken { place: place.to_string(), why };
    let (mut all, mut own) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            [token] => {
                rule(None, token).map_err(bad)?;
                all.push(token.to_string());
            }
            [address, token] => {
                rule(Some(address), token).map_err(bad)?;
                own.push((address.to_string(), token.to_string()));
            }
            _ => return Err(bad(format!("line {} is neither a token nor an address and its token", number + 1))),
        }
    }
    if all.is_empty() && own.is_empty() {
        return Err(Error::NoToken { place: place.to_string() });
    }
    let of = |address: &String| own.iter().filter(|(of, _)| of == address).count();
    let most = own.iter().map(|(address, _)| of(address)).max().unwrap_or_default().max(all.len());
    if most > TOKENS_MAX {
        return Err(bad(format!("{most} tokens for the same server are more than {TOKENS_MAX}")));
    }
    Ok(TokenList { all: all.into(), own })
}

/// The token in the value of an `Authorization` header, if it is one.
pub fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
}

/// When a file was changed, and its size; `None` if it can't be read.
pub(crate) fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(_: Option<&str>, token: &str) -> std::result::Result<(), String> {
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
        assert_eq!(
            (known("first"), known("second"), tokens.of("a:1")),
            (Some(1), Some(0), vec!["second".into(), "first".into()])
        );
        for (text, why) in [("", "holds no token"), ("abc", "is too short"), (&"long\n".repeat(9), "more than 8")] {
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

    #[test]
    fn a_token_is_of_all_shards_or_of_an_address() {
        let tokens = |text: &str| AccessTokens::new(text, "the test", |_, _| Ok(())).expect("tokens");
        assert_eq!(tokens("secret\n").of("a:1"), ["secret"]);
        let several = tokens("a:1 one\n\nb:2\ttwo\nb:2 new\nrest\n");
        assert_eq!(several.of("a:1"), ["one"]);
        assert_eq!(several.of("b:2"), ["two", "new"]);
        assert_eq!(several.of("c:3"), ["rest"]);
        assert!(tokens("a:1 one\n").of("b:2").is_empty(), "no token goes to others");
        let why = AccessTokens::new("a:1 one two", "the test", |_, _| Ok(())).expect_err("three words").to_string();
        assert!(why.contains("line 1 ") && !why.contains("one") && !why.contains("two"), "{why}");
    }

    #[cfg(unix)]
    #[test]
    fn a_token_that_others_can_write_is_none() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        std::fs::write(&file, "a-token-of-some-length").expect("a file");
        for (mode, is_taken, is_exposed) in [
            (0o600, true, false),
            (0o400, true, false),
            (0o644, true, true),
            (0o620, false, false),
            (0o666, false, true),
        ] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("a mode");
            let tokens = AccessTokens::of_file(&file, |_, _| Ok(()));
            assert_eq!(tokens.is_ok(), is_taken, "{mode:o}");
            assert!(tokens.is_ok_and(|tokens| tokens.exposed().is_some() == is_exposed) || !is_taken, "{mode:o}");
        }
    }
}
