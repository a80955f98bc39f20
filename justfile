# Recipes of the project; `just --list` shows them.

# Show the recipes
default:
    @just --list

# Build the program
build:
    cargo build --release -p colgrep

# Run all tests
test:
    cargo test --workspace

# Check formatting and lints
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Everything that a change must pass
ci:
    bash .ci/run

# Make the generated documents anew
docs:
    mkdir -p docs/generated
    cargo run -q --release -p colgrep -- knobs --markdown > docs/generated/knobs.md
    cargo run -q --release -p colgrep -- man --markdown > docs/generated/cli.md

# Record the README's demo anew
demo:
    cargo build --release -p colgrep
    python3 docs/demo.py target/release/colgrep

# Put `colgrep` into cargo's bin folder
install:
    cargo install --path crates/cli
