#!/bin/sh
# From clones to the embedded model's files: run.sh CLONES WORK
#
# CLONES is laid out as README.md says. The result lies in WORK/assets. A step whose output is there is not done again
# and an interrupted training goes on, so the same command resumes; a changed CLONES wants a new WORK. PYTHON names the
# interpreter that has requirements.txt (default: python3).
set -eu

if [ $# -ne 2 ]; then
    echo "usage: run.sh CLONES WORK" >&2
    exit 2
fi
mkdir -p "$2"
clones=$(cd "$1" && pwd)
work=$(cd "$2" && pwd)
train=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$train/../../.." && pwd)
python=${PYTHON:-python3}

cd "$root"
cargo build --release -p colgrep-index --example corpus --example codebook
examples=${CARGO_TARGET_DIR:-$root/target}/release/examples

"$python" "$train/mine.py" --repositories "$train/repositories.tsv" --clones "$clones" --corpus "$examples/corpus" \
    --out "$work/mined"
"$python" "$train/teach.py" --mined "$work/mined" --limit 600
if [ ! -e "$work/start.npz" ]; then
    "$python" "$train/vocabulary.py" --mined "$work/mined" --out "$work"
fi

# The schedule ends with the steps here, so that every machine makes the three checkpoints; README.md has more on that.
if [ ! -e "$work/run/3487.pt" ]; then
    "$python" "$train/train.py" --mined "$work/mined" --work "$work" --out "$work/run" --steps 3487 --check 700 \
        --batch 192 --groups 2 --length 96 --mask 0.3 --drop 0.1 --seed 1 --threads 1
fi
"$python" "$train/average.py" --out "$work/mean.pt" "$work/run/1400.pt" "$work/run/2100.pt" "$work/run/2800.pt"
"$python" "$train/export.py" "$work/mean.pt" "$work/vocab.txt" --name colgrep-mixer-1 --assets "$work/assets" \
    --golden "$work/golden.json"
"$examples/codebook" "$work/assets" "$work"/mined/*.jsonl
