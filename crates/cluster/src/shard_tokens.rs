//! The tokens of shards: one for all of them, or one for each address, so that a shard that is taken over can't speak for
//! another one.

use std::collections::HashMap;

/// The tokens that replicas expect.
#[derive(Clone, Default)]
pub struct ShardTokens {
    /// The token of all addresses without one of their own.
    all: Option<String>,
    own: HashMap<String, String>,
}

impl ShardTokens {
    /// Reads a text: a token, or lines of an address and its token. A line with a token alone is for all others.
    ///
    /// # Errors
    /// With what is wrong, without any token.
    pub fn parse(text: &str) -> Result<ShardTokens, String> {
        let mut tokens = ShardTokens::default();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let number = number + 1;
            let words: Vec<&str> = line.split_whitespace().collect();
            let replaced = match words[..] {
                [token] => tokens.all.replace(token.to_string()),
                [address, token] => tokens.own.insert(address.to_string(), token.to_string()),
                _ => return Err(format!("line {number} is neither a token nor an address and its token")),
            };
            if replaced.is_some() {
                return Err(format!("line {number} gives a second token for the same shards"));
            }
        }
        Ok(tokens)
    }

    /// The token of an address.
    pub fn of(&self, address: &str) -> Option<&str> {
        self.own.get(address).or(self.all.as_ref()).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_of_all_shards_or_of_an_address() {
        let tokens = |text: &str| ShardTokens::parse(text).expect("tokens");
        assert_eq!(tokens("").of("a:1"), None);
        assert_eq!(tokens("secret\n").of("a:1"), Some("secret"));
        let several = tokens("a:1 one\n\nb:2\ttwo\nrest\n");
        assert_eq!(["a:1", "b:2", "c:3"].map(|address| several.of(address)), [Some("one"), Some("two"), Some("rest")]);
        assert_eq!(tokens("a:1 one\n").of("b:2"), None, "no token goes to others");
        for wrong in ["a:1 one two", "one\ntwo", "a:1 one\na:1 two"] {
            let why = ShardTokens::parse(wrong).err().expect(wrong);
            assert!(why.starts_with("line ") && !why.contains("one") && !why.contains("two"), "{why}");
        }
    }
}
