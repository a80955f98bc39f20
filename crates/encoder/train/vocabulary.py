"""The vocabulary, and the table it begins with.

    vocabulary.py --mined MINED --out WORK [--pieces 26000] [--words 10000]

WordPiece on the mined texts with damped counts, so that no repository and no word outweighs the rest; then the
teacher's own whole words that code never taught it, for the questions people ask. Every piece starts from the
teacher's vector of it, in the principal components of the teacher's vectors of queries (cf. Tulkens and van Dongen,
Model2Vec, 2024; Arora et al. 2017 for weights by frequency).
"""

import argparse
import collections
import re
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from device import add_device_option
from files import whole
from principal import principal_components
from teacher import Teacher
from text import SPECIAL, WordPiece, read_jsonl, words

DIM_MAX = 256


def count(mined: Path) -> collections.Counter:
    total: collections.Counter = collections.Counter()
    for path in sorted(mined.glob("*.jsonl")):
        own: collections.Counter = collections.Counter()
        for i, line in enumerate(read_jsonl(path)):
            own.update(words(line["query"]))
            if i % 3 == 0:
                own.update(words(line["text"][:1000]))
        mass = sum(own.values())
        for word, n in own.items():
            total[word] += n * min(1.0, 2e5 / mass)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mined", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pieces", type=int, default=26_000)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--tuned", type=Path, metavar="WEIGHTS", help="of tune.py, if teach.py had them")
    parser.add_argument("--threads", type=int, default=1)
    add_device_option(parser)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    taught = sorted(args.mined.glob("*.npz"))
    if not taught:
        parser.error(f"{args.mined} holds no vectors of the teacher; run teach.py first")
    counts = {word: n for word, n in sorted(count(args.mined).items()) if n > 1}
    # The trainer numbers pieces inside words in the order of a hash map that differs from run to run, and breaks ties by
    # these numbers. Named as special they have fixed ones.
    inside = sorted({"##" + letter for word in counts for letter in word[1:]})
    trainer = trainers.WordPieceTrainer(vocab_size=args.pieces, special_tokens=SPECIAL + inside, min_frequency=3,
                                        show_progress=False)  # fmt: skip
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    damped = ((word, min(round(n**0.75), 20_000)) for word, n in counts.items())
    tokenizer.train_from_iterator((" ".join([w] * n) for w, n in damped if n), trainer)
    ordered = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    vocabulary = [piece for piece, _ in ordered]
    known = set(vocabulary)
    teacher = Teacher(args.device, args.tuned)
    own = sorted(teacher.tokenizer.get_vocab().items(), key=lambda item: item[1])  # by frequency in its training text
    vocabulary += [w for w, _ in own if re.fullmatch("[a-z]{3,}", w) and w not in known][: args.words]
    WordPiece(vocabulary).save(args.out / "vocab.txt")
    torch.set_num_threads(args.threads)
    vectors = teacher.encode([p.removeprefix("##") for p in vocabulary]).astype(np.float32)
    sentences = np.concatenate([np.load(path)["vectors"][::2] for path in taught]).astype(np.float32)
    mean, components = principal_components(sentences)
    basis = components[:, :DIM_MAX]
    kept = ((sentences - mean) @ basis[:, :128]) ** 2
    share = kept.sum() / ((sentences - mean) ** 2).sum()
    print(f"{len(vocabulary)} pieces; 128 components keep {share:.3f} of variance")
    table = (vectors - vectors.mean(0)) @ basis
    # Last, since its presence tells that this step is done.
    with whole(args.out / "start.npz") as file:
        np.savez(file, table=table.astype(np.float32), basis=basis.astype(np.float32), mean=mean)


if __name__ == "__main__":
    main()
