//! Prints `docs/generated/intents.md`.

fn main() {
    print!("{}", colgrep_search::intents_markdown());
}
