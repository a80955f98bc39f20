"""The teacher's vectors of queries and units: `teach.py --mined MINED` writes NAME.npz beside NAME.jsonl.

`lines` says of which lines of the file the query was taken (written questions first, then other sentences, at random),
`vectors` are theirs, n x 384. `documents` says of which of these lines the unit was taken too, `document_vectors` are
theirs, m x 384. A unit is given to the teacher as its words, identifiers split: its tokenizer would take a name apart
anywhere.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from device import add_device_option
from files import whole
from pairs import WRITTEN
from teacher import Teacher
from text import read_jsonl, words

# The teacher's tokens of a query; of a unit, characters that are read and tokens.
QUERY_TOKENS, UNIT_CHARS, UNIT_TOKENS = 40, 1200, 96


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mined", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=1000, help="queries a repository")
    parser.add_argument(
        "--documents", type=int, default=300, help="units a repository, of those with a sentence as query"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tuned", type=Path, metavar="WEIGHTS", help="of tune.py, in place of the package's")
    add_device_option(parser)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    mined = sorted(args.mined.glob("*.jsonl"))
    if not mined:
        parser.error(f"{args.mined} holds no pairs; run mine.py first")
    untaught = [path for path in mined if not path.with_suffix(".npz").exists()]
    if not untaught:
        return
    teacher = Teacher(args.device, args.tuned)
    for path in untaught:
        out = path.with_suffix(".npz")
        started = time.time()
        pairs = list(read_jsonl(path))
        # What is written first, then other sentences, each at random.
        rank = [0 if line["kind"] in WRITTEN else 2 if line["kind"] in ("name", "section") else 1 for line in pairs]
        order = np.random.default_rng(len(pairs)).permutation(len(pairs))
        lines = np.array(sorted(order, key=lambda i: rank[i])[: args.limit], np.int64)
        vectors = teacher.encode([pairs[i]["query"] for i in lines], tokens_max=QUERY_TOKENS)
        # Several queries may be of one text, which is read once. (Mined queries were taken out of theirs.)
        texts = list(dict.fromkeys(pairs[i]["text"] for i in lines if rank[i] < 2))[: args.documents]
        place = {text: n for n, text in enumerate(texts)}
        documents = np.array([i for i in lines if rank[i] < 2 and pairs[i]["text"] in place], dtype=np.int64)
        read = teacher.encode([" ".join(words(text[:UNIT_CHARS])) for text in texts], tokens_max=UNIT_TOKENS)
        document_vectors = read[[place[pairs[i]["text"]] for i in documents]]
        with whole(out) as file:
            np.savez(file, lines=lines, vectors=vectors, documents=documents, document_vectors=document_vectors)
        taught = f"{len(lines)} queries, {len(texts)} units"
        print(f"{path.stem}: {taught}, {time.time() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
