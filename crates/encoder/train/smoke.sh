#!/bin/sh
# Tries every step on a small input: smoke.sh FOLDER
#
# The input is this project, cloned under three names at three of its commits. run.sh goes over it twice: once killed
# (SIGKILL) while mining and while training and called again, once without. Both must make the same files, bit for bit.
# The result is no model to use. Settings as for run.sh (PYTHON, BENCH); everything is computed by the CPU, since a GPU
# adds in another order every time.
set -eu

train=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
mkdir -p "$1/clones"
folder=$(cd "$1" && pwd)
root=$(git -C "$train" rev-parse --show-toplevel)

say() { echo "smoke: $*"; }
fail() { say "FAILED: $*"; exit 1; }

# made/held22 is held out, by the hash of its name.
list=$folder/repositories.tsv
: > "$list"
place=0
for name in made/one made/two made/held22; do
    clone=$folder/clones/made+${name#made/}
    [ -d "$clone" ] || git clone -q --bare "$root" "$clone"
    commit=$(git --git-dir "$clone" rev-list --first-parent HEAD | sed -n "$((1 + place))p")
    printf '%s\t%s\tApache-2.0\trust\n' "$name" "${commit:-$(git --git-dir "$clone" rev-parse HEAD)}" >> "$list"
    place=$((place + 3))
done
echo "excluded/repository" > "$folder/excluded.txt"
: > "$folder/questions.tsv"
: > "$folder/reports.tsv"
: > "$folder/short.tsv"

export PYTHON="$python" REPOSITORIES="$list" QUESTIONS="$folder/questions.tsv" REPORTS="$folder/reports.tsv" SHORT="$folder/short.tsv" DEVICE=cpu TUNED=6 TAUGHT=60 UNITS=40 PIECES=3000 WORDS=500 STEPS=60 CHECK=15 PATIENCE=2
export BATCH=24
run() { sh "$train/run.sh" "$folder/clones" "$folder/$1" "$folder/excluded.txt"; }

# Starts run.sh in a process group of its own, and kills that once a file is there that $2 matches.
run_and_kill() {
    setsid sh "$train/run.sh" "$folder/clones" "$folder/$1" "$folder/excluded.txt" >> "$folder/$1.log" 2>&1 &
    group=$!
    until ls "$folder/$1"/$2 > /dev/null 2>&1; do
        kill -0 "$group" 2> /dev/null || fail "run.sh ended before it could be killed; see $folder/$1.log"
        sleep 0.1
    done
    kill -KILL "-$group"
    wait "$group" || true
    say "killed at $2"
}

run_and_kill killed 'mined/*.jsonl'
run_and_kill killed 'run2/log.jsonl'
[ ! -e "$folder/killed/run2/done.json" ] || fail "the first training had ended already"
run_and_kill killed 'run3/log.jsonl'
[ ! -e "$folder/killed/run3/done.json" ] || fail "the second training had ended already"
run killed >> "$folder/killed.log" 2>&1 || fail "the fourth run; see $folder/killed.log"
[ "$(grep -c "goes on from step" "$folder/killed.log")" = 2 ] || fail "training began anew; see $folder/killed.log"
run killed > "$folder/again.log" 2>&1 || fail "a run over a finished one; see $folder/again.log"
run whole > "$folder/whole.log" 2>&1 || fail "the run without a kill; see $folder/whole.log"

cd "$folder/whole"
for file in mined/*.jsonl mined/*.npz teacher.safetensors vocab.txt start.npz run?/*0.pt run?/*5.pt mean.pt golden.json assets/* onnx/*; do
    [ -e "$file" ] || continue
    cmp -s "$file" "../killed/$file" || fail "$file differs between the runs"
    same=$((${same:-0} + 1))
done
say "$same files are the same, bit for bit; training: $(cat run?/done.json)"

mkdir -p eval annotations
"${BENCH:-$root/target/release/colgrep-bench}" research corpus "$root/crates/encoder" > eval/encoder.jsonl
echo '[{"query": "why is training stopped early", "relevant": ["train/looks.py"]}]' > annotations/encoder.json
"$python" "$train/evaluate.py" --checkpoint mean.pt --vocabulary vocab.txt --corpora eval --annotations \
    made=annotations --threads 1 --device cpu || fail "evaluate.py"
say "passed"
