//! `--max-tokens`: how much is printed. A token counts as four bytes of output.

use colgrep_engine::answer::pack::BYTES_A_TOKEN;

#[derive(Clone, Copy, Debug)]
pub struct TokenBudget {
    bytes_left: Option<usize>,
}

impl TokenBudget {
    /// A budget of this many tokens, or without a limit.
    pub fn new(tokens: Option<usize>) -> TokenBudget {
        TokenBudget { bytes_left: tokens.map(|t| t.saturating_mul(BYTES_A_TOKEN)) }
    }

    /// Spends the bytes if they fit; returns whether they did.
    pub fn take(&mut self, bytes: usize) -> bool {
        match &mut self.bytes_left {
            None => true,
            Some(left) if bytes <= *left => {
                *left -= bytes;
                true
            }
            Some(_) => false,
        }
    }

    /// The whole lines of `block` that fit; they are spent.
    pub fn take_lines<'b>(&mut self, block: &'b [u8]) -> &'b [u8] {
        let Some(left) = self.bytes_left else { return block };
        if self.take(block.len()) {
            return block;
        }
        let end = block[..left].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        self.take(end);
        &block[..end]
    }

    /// Bytes left, where there is a limit.
    pub fn bytes_left(&self) -> Option<usize> {
        self.bytes_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_spent() {
        for (tokens, expected) in [(None, "one\ntwo\n"), (Some(2), "one\ntwo\n"), (Some(1), "one\n"), (Some(0), "")] {
            let mut budget = TokenBudget::new(tokens);
            assert_eq!(budget.take_lines(b"one\ntwo\n"), expected.as_bytes(), "{tokens:?}");
        }
        let mut budget = TokenBudget::new(Some(2));
        assert!(budget.take(5) && !budget.take(4) && budget.take(3) && budget.bytes_left() == Some(0));
    }
}
