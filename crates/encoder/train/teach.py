"""The teacher's vectors of queries and units: `teach.py --mined MINED` writes NAME.npz beside NAME.jsonl.

`lines` says of which lines of the file the query was taken (sentences first, at random), `vectors` are theirs, n x 384.
`documents` says of which of these lines the unit was taken too, `document_vectors` are theirs, m x 384. A unit is given
to the teacher as its words, identifiers split: its tokenizer would take a name apart anywhere.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from device import add_device_option
from files import whole
from teacher import Teacher
from text import read_jsonl, words

# Of a unit: characters that are read, and the teacher's tokens.
UNIT_CHARS, UNIT_TOKENS = 1200, 96


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mined", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=1000, help="queries a repository")
    parser.add_argument(
        "--documents", type=int, default=300, help="units a repository, of those with a sentence as query"
    )
    parser.add_argument("--threads", type=int, default=1)
    add_device_option(parser)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    mined = sorted(args.mined.glob("*.jsonl"))
    if not mined:
        parser.error(f"{args.mined} holds no pairs; run mine.py first")
    untaught = [path for path in mined if not path.with_suffix(".npz").exists()]
    if not untaught:
        return
    teacher = Teacher(args.device)
    for path in untaught:
        out = path.with_suffix(".npz")
        started = time.time()
        pairs = list(read_jsonl(path))
        queries = [(line["kind"] in ("name", "section"), line["query"]) for line in pairs]
        order = np.random.default_rng(len(queries)).permutation(len(queries))
        lines = np.array(sorted(order, key=lambda i: queries[i][0])[: args.limit], np.int64)
        vectors = teacher.encode([queries[i][1] for i in lines], tokens_max=40)
        documents = np.array([i for i in lines if not queries[i][0]][: args.documents], dtype=np.int64)
        texts = [" ".join(words(pairs[i]["text"][:UNIT_CHARS])) for i in documents]
        document_vectors = teacher.encode(texts, tokens_max=UNIT_TOKENS)
        with whole(out) as file:
            np.savez(file, lines=lines, vectors=vectors, documents=documents, document_vectors=document_vectors)
        taught = f"{len(lines)} queries, {len(documents)} units"
        print(f"{path.stem}: {taught}, {time.time() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
