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
    cargo run -q --release -p colgrep-search --example intents > docs/generated/intents.md
    cargo run -q --release -p colgrep-syntax --example languages > docs/generated/languages.md

# Record the README's demo anew
demo:
    cargo build --release -p colgrep
    python3 docs/demo.py target/release/colgrep

# Put `colgrep` into cargo's bin folder
install:
    cargo install --path crates/cli

# Build and pack a release for this system: archive, wheel, npm packages, licences, bill of materials, checksums
release out="target/packages":
    cargo build --release --locked -p colgrep -p colgrep-python --features colgrep-python/module
    rm -rf {{out}}
    python3 crates/cli/packaging/release.py --program target/release/colgrep --module `ls target/release/lib_colgrep.so target/release/lib_colgrep.dylib 2>/dev/null` --out {{out}} --checksums
    python3 crates/cli/packaging/trial.py {{out}}

# All torture, for hours; folders="DIR …" names trees whose identifiers `held` draws
nightly folders="": bench-build
    {{bench}} torture
    for folder in {{folders}}; do {{bench}} torture held --folder "$folder"; done

# What the recipes of the benchmark need: `corpus="--annotations DIR --annotations DIR --specs FILE --repos DIR"`
corpus := ""
# Where they keep what is not committed
bench-out := "target/bench"
bench := "target/release/colgrep-bench"

[private]
bench-corpus:
    @test -n '{{corpus}}' || { echo 'say what is measured: just corpus="--annotations DIR --specs FILE --repos DIR" …' >&2; exit 2; }

[private]
bench-build:
    cargo build --release -p colgrep-bench
    mkdir -p {{bench-out}} benchmarks/plots

# Measure the shipped defaults, the published pipeline and the bare rankings, and write dated records of them
record: bench-corpus bench-build
    {{bench}} run {{corpus}} --out {{bench-out}}/hybrid.json --markdown benchmarks/records/`date +%F`-hybrid.md
    {{bench}} run {{corpus}} --keyword-only --out {{bench-out}}/keyword-only.json --markdown benchmarks/records/`date +%F`-keyword-only.md
    {{bench}} run {{corpus}} --semantic-only --out {{bench-out}}/semantic-only.json --markdown benchmarks/records/`date +%F`-semantic-only.md
    {{bench}} run {{corpus}} --profile classic --out {{bench-out}}/classic.json --markdown benchmarks/records/`date +%F`-classic.md
    {{bench}} run {{corpus}} --profile classic --keyword-only --no-stages --out {{bench-out}}/raw-bm25.json --markdown benchmarks/records/`date +%F`-raw-bm25.md
    {{bench}} run {{corpus}} --profile classic --semantic-only --no-stages --out {{bench-out}}/raw-semantic.json --markdown benchmarks/records/`date +%F`-raw-semantic.md

# Ask for sections of documentations, a folder of them for each project that the needles name, and write a dated record
needles documents: bench-build
    {{bench}} needles --needles benchmarks/needles/documentation.json --repos {{documents}} --floor own=0.95 --floor all=0.85 --out {{bench-out}}/needles.json --markdown benchmarks/records/`date +%F`-needles.md

# Tune every knob of fusion and stages on the benchmark, k-fold over repositories; stopped, it goes on where it was
tune: bench-corpus bench-build
    {{bench}} sweep {{corpus}} --ranking --mode coordinate --keep {{bench-out}}/tune.jsonl --out {{bench-out}}/tune.json

# Make the tables of docs/research/ablation.md anew
ablation: bench-corpus bench-build
    {{bench}} ablate {{corpus}} --into docs/research/ablation.md

# Measure speed on the folder of sources, with the peers that are on PATH
speed repos: bench-build
    {{bench}} speed --repos {{repos}} --out {{bench-out}}/speed.json --markdown {{bench-out}}/speed.md

# Draw the pictures of benchmarks/README.md from what `record` and `speed` measured
plots: bench-corpus bench-build
    {{bench}} run {{corpus}} --profile classic --out {{bench-out}}/classic.json
    {{bench}} sweep {{corpus}} --knob COLGREP_ALPHA=0..1:0.1 --out {{bench-out}}/fusion.json
    {{bench}} plot --sweep {{bench-out}}/fusion.json --record {{bench-out}}/hybrid.json --record {{bench-out}}/keyword-only.json --record {{bench-out}}/semantic-only.json --record {{bench-out}}/classic.json --speed {{bench-out}}/speed.json --out benchmarks/plots
