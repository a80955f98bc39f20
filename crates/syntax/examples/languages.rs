//! Prints `docs/generated/languages.md`.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(colgrep_syntax::language::markdown().as_bytes())
}
