//! The handshake of a connection: both ends prove that they know the token, which itself never goes over the wire. A
//! process that merely listens at a shard's address learns nothing that another shard accepts.

use std::io;

use ring::hmac::{self, HMAC_SHA256, Key};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::tokens::TOKENS_MAX;

/// A random number that one end chooses for one connection.
pub type Nonce = [u8; 32];
/// A proof that an end knows the token: HMAC-SHA-256 over both random numbers.
pub type Proof = [u8; 32];

/// An end of a connection. Each has proofs of its own, so that none can be sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// The server.
    Shard,
    /// The client.
    Coordinator,
}

impl ConnectionEnd {
    fn label(self) -> &'static [u8] {
        match self {
            ConnectionEnd::Shard => b"colgrep shard",
            ConnectionEnd::Coordinator => b"colgrep coordinator",
        }
    }
}

/// The random numbers of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Nonces {
    /// The client's.
    pub hello: Nonce,
    /// The server's.
    pub challenge: Nonce,
}

impl Nonces {
    fn signed(&self, end: ConnectionEnd) -> Vec<u8> {
        [end.label(), &self.hello, &self.challenge].concat()
    }

    /// The proof of an end that knows the token.
    pub fn proof(&self, token: &str, end: ConnectionEnd) -> Proof {
        let tag = hmac::sign(&Key::new(HMAC_SHA256, token.as_bytes()), &self.signed(end));
        let mut proof = Proof::default();
        proof.copy_from_slice(tag.as_ref());
        proof
    }

    /// Whether a proof is that of an end that knows the token. Takes the same time wherever a wrong one differs.
    pub fn is_proved(&self, token: &str, end: ConnectionEnd, proof: Option<&Proof>) -> bool {
        let key = Key::new(HMAC_SHA256, token.as_bytes());
        proof.is_some_and(|proof| hmac::verify(&key, &self.signed(end), proof).is_ok())
    }

    /// The same of an end with several tokens, which proves each of them.
    pub fn is_proved_by_one(&self, token: &str, end: ConnectionEnd, proofs: &[Proof]) -> bool {
        proofs.iter().take(TOKENS_MAX).any(|proof| self.is_proved(token, end, Some(proof)))
    }
}

/// A random number.
///
/// # Errors
/// When the system has none.
pub fn nonce() -> io::Result<Nonce> {
    let mut nonce = Nonce::default();
    SystemRandom::new().fill(&mut nonce).map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_of_one_token_one_end_and_one_connection() {
        let nonces = Nonces { hello: nonce().expect("a nonce"), challenge: nonce().expect("a nonce") };
        assert_ne!(nonces.hello, nonces.challenge);
        let (token, shard, coordinator) = ("a-token-of-some-length", ConnectionEnd::Shard, ConnectionEnd::Coordinator);
        let proof = nonces.proof(token, shard);
        assert!(nonces.is_proved(token, shard, Some(&proof)));
        assert!(!nonces.is_proved(token, coordinator, Some(&proof)), "sent back");
        assert!(!nonces.is_proved("another-token-of-length", shard, Some(&proof)));
        assert!(!nonces.is_proved(token, shard, None));
        let other = Nonces { challenge: nonce().expect("a nonce"), ..nonces };
        assert!(!other.is_proved(token, shard, Some(&proof)), "sent again");
    }
}
