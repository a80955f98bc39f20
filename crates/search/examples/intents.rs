//! Prints `docs/generated/intents.md`.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(colgrep_search::intents_markdown().as_bytes())
}
