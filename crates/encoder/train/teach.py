"""The teacher's vectors of queries: `teach.py --mined MINED` writes NAME.npz beside NAME.jsonl.

`lines` says which lines of the file were taken (sentences first, at random), `vectors` are theirs, n x 384.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from files import whole
from teacher import Teacher
from text import read_jsonl


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mined", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=1000, help="queries a repository")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    mined = sorted(args.mined.glob("*.jsonl"))
    if not mined:
        parser.error(f"{args.mined} holds no pairs; run mine.py first")
    untaught = [path for path in mined if not path.with_suffix(".npz").exists()]
    if not untaught:
        return
    teacher = Teacher()
    for path in untaught:
        out = path.with_suffix(".npz")
        started = time.time()
        queries = [(line["kind"] in ("name", "section"), line["query"]) for line in read_jsonl(path)]
        order = np.random.default_rng(len(queries)).permutation(len(queries))
        lines = np.array(sorted(order, key=lambda i: queries[i][0])[: args.limit], np.int64)
        vectors = teacher.encode([queries[i][1] for i in lines], tokens_max=40)
        with whole(out) as file:
            np.savez(file, lines=lines, vectors=vectors)
        print(f"{path.stem}: {len(lines)} queries, {time.time() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
