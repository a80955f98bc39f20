"""NDCG@10 of a model alone on annotated repositories: files by their best unit, no other signal.

    evaluate.py --checkpoint model.pt --vocabulary vocab.txt --corpora EVAL --annotations NAME=DIR ...

EVAL holds NAME.jsonl of `colgrep-bench research corpus` a repository. Annotations are read as the benchmark harness reads them.
"""

import argparse
import collections
import hashlib
import json
import math
import pickle
import time
from pathlib import Path

import numpy as np
import torch

from checkpoint import load
from device import add_device_option
from files import stamp, whole
from maxsim import max_sim
from model import DOCUMENT, QUERY, Model, vectors_of
from text import WordPiece, read_jsonl, unit_text


class Repository:
    """One repository's units as pieces, its queries, and which files answer them."""

    def __init__(self, name: str, corpora: Path, annotations: dict[str, Path], pieces: WordPiece, length: int):
        self.name, self.paths, self.files, self.units = name, [], [], []
        for file in read_jsonl(corpora / f"{name}.jsonl"):
            for unit in file["units"]:
                ids = pieces.encode(unit_text(file["path"], unit), length)
                if ids:
                    self.units.append(np.array(ids))
                    self.files.append(len(self.paths))
            self.paths.append(file["path"])
        self.queries = []
        for kind, folder in annotations.items():
            path = folder / f"{name}.json"
            for task in json.loads(path.read_text()) if path.exists() else ():
                targets = [t if isinstance(t, str) else t["path"] for t in task["relevant"] + task.get("secondary", [])]
                found = [[i for i, p in enumerate(self.paths) if p == t or p.endswith("/" + t) or t.endswith("/" + p)]
                         for t in targets]  # fmt: skip
                self.queries.append((kind, task.get("category", "?"), task["query"], found))

    def ndcg(self, scores: np.ndarray, query: int) -> float:
        """NDCG@10 of units' scores for one of the queries."""
        best = np.full(len(self.paths), -1e30, np.float32)
        np.maximum.at(best, self.files, scores)
        ranks = {f: r for r, f in enumerate(np.argsort(-best, kind="stable")[:10], 1)}
        targets = self.queries[query][3]
        hit = {min((ranks[f] for f in files if f in ranks), default=None) for files in targets} - {None}
        ideal = sum(1 / math.log2(i + 1) for i in range(1, min(10, len(targets)) + 1))
        return sum(1 / math.log2(r + 1) for r in hit) / ideal if ideal else 0.0


def load_repositories(corpora: Path, annotations: dict[str, Path], pieces: WordPiece, length: int, cache: Path,
                      only: set[str] | None = None) -> list[Repository]:  # fmt: skip
    """The annotated repositories, all or those of `only`; raises ValueError where there are none to measure on."""
    files = sorted(corpora.glob("*.jsonl"))
    tasks = {kind: sorted(folder.glob("*.json")) for kind, folder in annotations.items()}
    for kind, found in [(str(corpora), files), *((str(annotations[kind]), found) for kind, found in tasks.items())]:
        if not found:
            raise ValueError(f"{kind} holds no files to evaluate on")
    vocabulary = hashlib.md5("\n".join(pieces.vocabulary).encode()).hexdigest()
    key = [vocabulary, length, stamp(files), {kind: stamp(found) for kind, found in tasks.items()}]
    cached = cache.with_suffix(f".{length}.pickle")
    held = pickle.loads(cached.read_bytes()) if cached.exists() else None
    if not isinstance(held, tuple) or held[0] != key:
        held = (key, [Repository(path.stem, corpora, annotations, pieces, length) for path in files])
        with whole(cached) as file:
            pickle.dump(held, file)
    repositories = [r for r in held[1] if r.queries and (not only or r.name in only)]
    missing = (only or set()) - {r.name for r in repositories}
    if missing or not repositories:
        raise ValueError(f"no annotated corpus: {', '.join(sorted(missing)) or corpora}")
    return repositories


@torch.inference_mode()
def unit_scores(model: Model, units: list[np.ndarray], queries: list[np.ndarray]) -> np.ndarray:
    """The model's scores, queries x units."""
    q, bounds, asked = vectors_of(model, queries, QUERY)
    scores = np.zeros((len(queries), len(units)), np.float32)
    order = sorted(range(len(units)), key=lambda i: len(units[i]))
    for start in range(0, len(units), 256):
        part = order[start : start + 256]
        rows, spans, summaries = vectors_of(model, [units[i] for i in part], DOCUMENT)
        best = max_sim(q, rows, spans).cpu().numpy()
        scores[:, part] = np.add.reduceat(best, bounds[:-1], axis=1).T
        scores[:, part] += (asked @ summaries.T * model.omega.exp()).cpu().numpy()
    return scores


def evaluate(model: Model, repositories, pieces: WordPiece) -> dict:
    model.eval()
    found = collections.defaultdict(list)
    for repository in repositories:
        ids = [np.array(pieces.encode(q[2], model.config.query_pieces_max) or [1]) for q in repository.queries]
        scores = unit_scores(model, repository.units, ids)
        for i, (kind, category, _, _) in enumerate(repository.queries):
            value = repository.ndcg(scores[i], i)
            found[kind].append(value)
            if category != kind:
                found[f"{kind}/{category}"].append(value)
    model.train()
    return {k: (float(np.mean(v)), len(v)) for k, v in sorted(found.items())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--annotations", nargs="+", required=True, metavar="NAME=DIR")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--length", type=int, help="pieces of a document (default: the model's)")
    add_device_option(parser)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    pieces = WordPiece.load(args.vocabulary)
    model = load(args.checkpoint).to(args.device)
    annotations = {k: Path(v) for k, v in (a.split("=", 1) for a in args.annotations)}
    length = args.length or model.config.document_pieces_max
    repositories = load_repositories(args.corpora, annotations, pieces, length, args.vocabulary, set(args.only))
    started = time.process_time()
    for name, (value, n) in evaluate(model, repositories, pieces).items():
        print(f"{name:28} {n:4}  {value:.4f}")
    total = sum(len(u) for r in repositories for u in r.units)
    print(f"{total} pieces, {total / (time.process_time() - started):.0f} a CPU-second with scoring")


if __name__ == "__main__":
    main()
