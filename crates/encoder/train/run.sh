#!/bin/sh
# From clones to the embedded model's files: run.sh CLONES WORK LIST...
#
# CLONES is laid out as README.md says; each LIST names repositories that must not be trained on (exclude.py), beside
# peers.txt. The result lies in WORK/assets. A step whose output is there is not done again and an interrupted training
# goes on, so the same command resumes; a changed CLONES wants a new WORK.
#
# Settings from the environment, for other recipes and for tests: PYTHON, an interpreter with requirements.txt;
# BENCH, the program colgrep-bench, else it is built; DEVICE, what computes, else a CUDA
# GPU if there is one; START, a folder of a model's files to go on from, else it begins with the teacher's vectors of
# pieces; REPOSITORIES, QUESTIONS, REPORTS, TUNED (steps), TAUGHT, UNITS, PIECES, WORDS, STEPS, CHECK, PATIENCE, BATCH.
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
    --questions "${QUESTIONS:-$train/questions.tsv}" --reports "${REPORTS:-$train/reports.tsv}" --short "${SHORT:-$train/short.tsv}" \
    --clones "$clones" --bench "$bench" --out "$work/mined"
tuned=$work/teacher.safetensors
"$python" "$train/tune.py" --mined "$work/mined" --out "$tuned" --steps "${TUNED:-1600}" --batch "${BATCH:-64}" --device "$device"
"$python" "$train/teach.py" --mined "$work/mined" --tuned "$tuned" --limit "${TAUGHT:-900}" --documents "${UNITS:-500}" \
    --device "$device"
if [ -n "${START:-}" ]; then
    [ -e "$work/start.pt" ] || "$python" "$train/checkpoint.py" "$START" --out "$work"
elif [ ! -e "$work/start.npz" ]; then
    "$python" "$train/vocabulary.py" --mined "$work/mined" --out "$work" --tuned "$tuned" \
        --pieces "${PIECES:-26000}" --words "${WORDS:-10000}" --device "$device"
fi
for seed in 2 3; do
    "$python" "$train/train.py" --mined "$work/mined" --work "$work" --out "$work/run$seed" --batch "${BATCH:-192}" \
        ${START:+--start} ${START:+"$work/start.pt"} \
        --steps "${STEPS:-1500}" --check "${CHECK:-150}" --patience "${PATIENCE:-6}" --seed "$seed" --threads 1 \
        --asked 0.45 --near 2 --keep 0.5 --mined-weight 0.3 --lr 1e-3 --lr-weights 2e-3 --soft 0.7 --soft-units 1.5 --device "$device"
done
"$python" "$train/average.py" --out "$work/mean.pt" --run "$work/run2" --run "$work/run3" --last 5
"$python" "$train/export.py" "$work/mean.pt" "$work/vocab.txt" --name colgrep-mixer-3 --assets "$work/assets" \
    --golden "$work/golden.json" --onnx "$work/onnx"
"$bench" research codebook "$work/assets" "$work"/mined/*.jsonl
