"""The mined pairs for a device that holds all of them: read and encoded in processes, as pieces and for the teacher."""

import os
import zlib
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch

from padded import Padded, table
from pairs import DOCUMENT_PIECES, KINDS, QUERY_PIECES, WRITTEN, is_held_out, written
from teach import QUERY_TOKENS, UNIT_CHARS
from teacher import read_tokenizer, shortened
from text import WordPiece, read_jsonl, words
from variants import varied

# Mined pairs of a repository, by their kind, at most; all that were written are taken.
CAPS = {"name": 160, "doc": 380, "inline": 240, "commit": 260, "prose": 130, "section": 70}
# Of one that is held out, where queries of the kind `name` tell little.
HELD_OUT_CAP = 150
# Words that the teacher reads at most, and tokens of a unit.
QUERY_WORDS, UNIT_WORDS, UNIT_TOKENS = 44, 132, 128
_held: dict = {}


def _prepare(vocabulary: Path, teacher: Path, seed: int) -> None:
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _held.update(pieces=WordPiece.load(vocabulary), tokenizer=read_tokenizer(teacher), seed=seed)


def chosen(path: Path, seed: int) -> list[dict]:
    """The pairs that are taken of a repository's, drawn by kind, and variants of them."""
    rng = np.random.default_rng([seed, zlib.crc32(path.stem.encode())])
    by_kind: dict[str, list[dict]] = {kind: [] for kind in KINDS}
    for line in read_jsonl(path):
        by_kind[line["kind"]].append(line)
    found = []
    for kind, lines in by_kind.items():
        cap = len(lines) if kind in WRITTEN else CAPS[kind]
        if is_held_out(path.stem) and kind not in WRITTEN:
            cap = 0 if kind == "name" else HELD_OUT_CAP
        found += [lines[i] for i in sorted(rng.permutation(len(lines))[:cap])]
    return found if is_held_out(path.stem) else varied(found, rng)


def _tokens(texts: list[str], tokens_max: int) -> list[list[int]]:
    return [shortened(e.ids, tokens_max) for e in _held["tokenizer"].encode_batch(texts)]


def _spoken(query: str) -> str:
    return " ".join(words(query)[:QUERY_WORDS]) or "x"


def _encoded(path: Path) -> dict[str, np.ndarray]:
    """A repository's pairs: each text once, as pieces and tokens; of each pair what it is."""
    pieces, lines = _held["pieces"], chosen(path, _held["seed"])
    texts = list(dict.fromkeys(line["text"] for line in lines))
    number, files = {text: i for i, text in enumerate(texts)}, {}
    place = [files.setdefault(line["text"].split("\n", 1)[0], len(files)) for line in lines]
    spoken = [_spoken(line["query"]) for line in lines]
    right = [_spoken(line.get("right", line["query"])) for line in lines]
    read = [" ".join(words(text[:UNIT_CHARS])[:UNIT_WORDS]) or "x" for text in texts]
    found = {
        "query": table([pieces.encode(text, QUERY_PIECES) or [1] for text in spoken], QUERY_PIECES),
        "document": table([pieces.encode(text, DOCUMENT_PIECES) or [1] for text in read], DOCUMENT_PIECES),
        "query_tokens": table(_tokens(right, QUERY_TOKENS), QUERY_TOKENS),
        "document_tokens": table(_tokens(read, UNIT_TOKENS), UNIT_TOKENS),
    }
    return found | {
        "kind": np.array([KINDS.index(line["kind"]) for line in lines], np.int64),
        "unit": np.array([line["unit"] for line in lines], np.int64),
        "place": np.array(place, np.int64),
        "document_teach": np.array([number[line["text"]] for line in lines], np.int64),
    }


class Tables:
    """All pairs, with the names of `Pairs` for what is the same.

    `query`, `document`, `query_tokens` and `document_tokens` are tables on the device, the first and third with a row for
    each pair, the others with one for each text; `document_teach` says which is a pair's. `vectors` and
    `document_vectors` are the teacher's of the rows, once it was asked (`set_vectors`), on the host.
    """

    def __init__(self, mined: Path, vocabulary: Path, teacher: Path, seed: int, device: torch.device):
        """`teacher`: the folder of its files."""
        # The largest first, so that no process waits long for another.
        paths = sorted(mined.glob("*.jsonl"), key=lambda path: -path.stat().st_size)
        processes = max(1, min(os.cpu_count() or 1, len(paths)))
        with Pool(processes, _prepare, (vocabulary, teacher, seed)) as pool:
            found = dict(zip(paths, pool.map(_encoded, paths, chunksize=1)))
        paths = [path for path in sorted(paths) if len(found[path]["kind"])]
        if not paths:
            raise ValueError(f"{mined} holds no pairs; run mine.py first")
        parts = [found[path] for path in paths]
        self.names = [path.stem for path in paths]
        self.repository = np.repeat(np.arange(len(parts)), [len(part["kind"]) for part in parts])
        self.kind, self.unit, self.place = (
            np.concatenate([p[name] for p in parts]) for name in ("kind", "unit", "place")
        )
        before = np.cumsum([0] + [len(part["document"][0]) for part in parts])
        self.document_teach = np.concatenate([part["document_teach"] + n for part, n in zip(parts, before)])
        self.teach = np.arange(len(self.kind))
        self.by_repository = {r: np.flatnonzero(self.repository == r) for r in range(len(parts))}
        pieces = len(WordPiece.load(vocabulary).vocabulary)
        tokens = read_tokenizer(teacher)
        self.special = tokens.encode("").ids
        for name, size in (("query", pieces), ("document", pieces), ("query_tokens", tokens.get_vocab_size()),
                           ("document_tokens", tokens.get_vocab_size())):  # fmt: skip
            ids, lengths = (np.concatenate([part[name][k] for part in parts]) for k in (0, 1))
            setattr(self, name, Padded(ids, lengths, size, device))
        self.device = device
        of_pairs = {name: getattr(self, name) for name in ("repository", "unit", "document_teach")}
        of_pairs["written"] = written(self.kind)
        self.on_device = {name: torch.from_numpy(values).to(device) for name, values in of_pairs.items()}
        self.vectors = self.document_vectors = None

    def set_vectors(self, vectors: torch.Tensor, document_vectors: torch.Tensor) -> None:
        self.vectors, self.document_vectors = vectors.cpu().numpy(), document_vectors.cpu().numpy()

    def asked(self, ids: np.ndarray) -> np.ndarray:
        """Which of the pairs are written."""
        return written(self.kind[ids])

    def text(self, which: str, i: int) -> np.ndarray:
        """The pieces of a pair's `query` or `document`."""
        return self.query.text(i) if which == "query" else self.document.text(self.document_teach[i])

    def documents_of(self, ids: torch.Tensor) -> torch.Tensor:
        """The rows of the pairs' texts."""
        return self.on_device["document_teach"][ids]

    def others_of_the_unit(self, ids: torch.Tensor) -> torch.Tensor:
        """Which of B pairs are of one unit, but not the same: B x B."""
        repository, unit = self.on_device["repository"][ids], self.on_device["unit"][ids]
        same = (repository[:, None] == repository) & (unit[:, None] == unit)
        return same & ~torch.eye(len(ids), dtype=torch.bool, device=ids.device)

    def weights(self, ids: torch.Tensor, mined: float) -> torch.Tensor:
        """What each pair of a batch counts, with a sum of 1: a mined one `mined` where a written one counts 1."""
        weight = torch.where(self.on_device["written"][ids], 1.0, mined)
        return weight / weight.sum()
