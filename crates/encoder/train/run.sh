#!/bin/sh
# From clones to the embedded model's files: run.sh CLONES WORK LIST...
#
# CLONES is laid out as README.md says; each LIST names repositories that must not be trained on (exclude.py), beside
# peers.txt. The result lies in WORK/assets. A step whose output is there is not done again and an interrupted training
# goes on, so the same command resumes; a changed CLONES wants a new WORK.
#
# Settings from the environment, for other recipes and for tests: PYTHON, an interpreter with requirements.txt;
# BENCH, the program colgrep-bench, else it is built; DEVICE, what computes, else a CUDA
# GPU if there is one; REPOSITORIES, TAUGHT, PIECES, WORDS, STEPS, CHECK, PATIENCE, BATCH.
set -eu

if [ $# -lt 3 ]; then
    echo "usage: run.sh CLONES WORK LIST..., with lists of the repositories that must not be trained on" >&2
    exit 2
fi
mkdir -p "$2"
clones=$(cd "$1" && pwd)
work=$(cd "$2" && pwd)
shift 2
train=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$train/../../.." && pwd)
python=${PYTHON:-python3}
bench=${BENCH:-}
device=${DEVICE:-auto}

if [ -z "$bench" ]; then
    (cd "$root" && cargo build --release -p colgrep-bench)
    bench=${CARGO_TARGET_DIR:-$root/target}/release/colgrep-bench
fi

"$python" "$train/mine.py" --repositories "${REPOSITORIES:-$train/repositories.tsv}" --exclude "$train/peers.txt" "$@" \
    --clones "$clones" --bench "$bench" --out "$work/mined"
"$python" "$train/teach.py" --mined "$work/mined" --limit "${TAUGHT:-600}" --device "$device"
if [ ! -e "$work/start.npz" ]; then
    "$python" "$train/vocabulary.py" --mined "$work/mined" --out "$work" \
        --pieces "${PIECES:-26000}" --words "${WORDS:-10000}" --device "$device"
fi
for seed in 2 3; do
    "$python" "$train/train.py" --mined "$work/mined" --work "$work" --out "$work/run$seed" --batch "${BATCH:-192}" \
        --steps "${STEPS:-4200}" --check "${CHECK:-700}" --patience "${PATIENCE:-2}" --seed "$seed" --threads 1 \
        --device "$device"
done
"$python" "$train/average.py" --out "$work/mean.pt" --run "$work/run2" --run "$work/run3" --last 3
"$python" "$train/export.py" "$work/mean.pt" "$work/vocab.txt" --name colgrep-mixer-2 --assets "$work/assets" \
    --golden "$work/golden.json" --onnx "$work/onnx"
"$bench" research codebook "$work/assets" "$work"/mined/*.jsonl
