//! What is said of files of tokens.

use colgrep_cluster::AccessTokens;
use tracing::warn;

/// Says so if others on this machine can read a file of tokens.
pub fn warn_of_readers(tokens: Option<&AccessTokens>) {
    if let Some(file) = tokens.and_then(AccessTokens::exposed) {
        let file = file.display();
        warn!("others on this machine can read the token in {file}: chmod 600 {file}");
    }
}
