//! How much is printed: up to `--max-tokens`, of which each counts as four bytes of output, and up to the terminal's rows.

use colgrep_engine::answer::pack::BYTES_A_TOKEN;

use crate::Look;
use crate::line::screen_rows;

/// Columns that a remark takes at most, as a rule.
const REMARK_COLUMNS: usize = 80;

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

/// Rows left on the terminal, if there is one that results are to fit.
#[derive(Clone, Copy, Debug)]
pub struct RowBudget {
    rows_left: Option<usize>,
    width: usize,
}

impl RowBudget {
    /// The terminal's rows, less one for the prompt and those of a remark: one of `remarks` or that on the results left
    /// out.
    pub fn new(look: &Look, remarks: &[String]) -> RowBudget {
        let width = look.width.unwrap_or(usize::MAX);
        let of_remarks = remarks.iter().map(|remark| screen_rows(remark, width));
        let of_remark = of_remarks.chain([REMARK_COLUMNS.div_ceil(width)]).max().unwrap_or(0);
        RowBudget { rows_left: look.height.map(|height| height.saturating_sub(1 + of_remark)), width }
    }

    /// Spends the rows of a block, as many as there are; returns whether it fits.
    pub fn take(&mut self, block: &[u8]) -> bool {
        let Some(left) = &mut self.rows_left else { return true };
        let taken = screen_rows(&String::from_utf8_lossy(block), self.width);
        let is_fit = taken <= *left;
        *left = left.saturating_sub(taken);
        is_fit
    }

    /// The whole lines of `block` that fit; their rows are spent, and all of them if a line does not fit.
    pub fn take_lines<'b>(&mut self, block: &'b [u8]) -> &'b [u8] {
        let Some(left) = &mut self.rows_left else { return block };
        let mut end = 0;
        for line in block.split_inclusive(|b| *b == b'\n') {
            let taken = screen_rows(&String::from_utf8_lossy(line), self.width);
            if taken > *left {
                *left = 0;
                break;
            }
            *left -= taken;
            end += line.len();
        }
        &block[..end]
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
        for (height, expected) in [(None, "one\ntwo two\n3\n"), (Some(5), "one\ntwo two\n"), (Some(4), "one\n")] {
            let mut budget = RowBudget { rows_left: height.map(|height| height - 2), width: 4 };
            assert_eq!(budget.take_lines(b"one\ntwo two\n3\n"), expected.as_bytes(), "{height:?}");
            assert_eq!(budget.take(b"4\n"), height.is_none(), "{height:?}");
        }
        let mut budget = TokenBudget::new(Some(2));
        assert!(budget.take(5) && !budget.take(4) && budget.take(3) && budget.bytes_left() == Some(0));
    }
}
