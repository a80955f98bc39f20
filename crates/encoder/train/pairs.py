"""The mined pairs as pieces, batches of them, and which repositories are held out."""

import hashlib
import json
from pathlib import Path

import numpy as np
import torch

from files import stamp, whole
from text import WordPiece, read_jsonl

KINDS = ["doc", "inline", "name", "commit", "prose", "section", "question", "report", "short"]
# The kinds that somebody wrote who had read the unit.
WRITTEN = ("question", "report", "short")
HELD_OUT_SHARE = 0.04
# Pieces kept of a query and of a document; batches may take fewer.
QUERY_PIECES, DOCUMENT_PIECES = 40, 128
# Units that a question may be held against as easily mistaken for its own.
NEAR_MOST = 16


def is_held_out(name: str) -> bool:
    """Whether no batch holds pairs of a repository (`owner+name`)."""
    return hashlib.md5(name.encode()).digest()[0] < 256 * HELD_OUT_SHARE


def written(kinds: np.ndarray) -> np.ndarray:
    """Which of kinds, numbers of `KINDS`, are of `WRITTEN`."""
    return np.isin(kinds, [KINDS.index(kind) for kind in WRITTEN])


class Pairs:
    """All pairs as pieces, by repository.

    `teach` says for each pair which of `vectors` is the teacher's of its query, -1 where there is none;
    `document_teach` and `document_vectors` say it of its unit. `place` is the same number for the units of one file.
    """

    def __init__(self, mined: Path, pieces: WordPiece, cache: Path):
        """`cache` is made anew where the mined files or the vocabulary are others than when it was made."""
        vocabulary = hashlib.md5("\n".join(pieces.vocabulary).encode()).hexdigest()
        key = json.dumps([vocabulary, stamp(mined.glob("*.jsonl")), stamp(mined.glob("*.npz"))])
        if not cache.exists() or str(np.load(cache).get("key")) != key:
            self._encode(mined, pieces, cache, key)
        held = np.load(cache, allow_pickle=False)
        self.__dict__ |= {k: held[k] for k in held.files}
        self.names = [str(n) for n in self.names]
        self.by_repository = {}
        for r in range(len(self.names)):
            self.by_repository[r] = np.flatnonzero(self.repository == r)

    def _encode(self, mined: Path, pieces: WordPiece, cache: Path, key: str):
        query, document, repository, kind, unit, place, names = [], [], [], [], [], [], []
        taught = {"lines": [], "vectors": [], "documents": [], "document_vectors": []}
        for path in sorted(mined.glob("*.jsonl")):
            first, files = len(query), {}
            for line in read_jsonl(path):
                query.append(np.array(pieces.encode(line["query"], QUERY_PIECES) or [1], np.uint16))
                document.append(np.array(pieces.encode(line["text"][:1200], DOCUMENT_PIECES) or [1], np.uint16))
                repository.append(len(names))
                kind.append(KINDS.index(line["kind"]))
                unit.append(line["unit"])
                # A unit's text begins with the place of its file.
                place.append(files.setdefault(line["text"].split("\n", 1)[0], len(files)))
            teacher = np.load(path.with_suffix(".npz"))
            taught["lines"].append(first + teacher["lines"])
            taught["vectors"].append(teacher["vectors"])
            taught["documents"].append(first + teacher["documents"])
            taught["document_vectors"].append(teacher["document_vectors"])
            names.append(path.stem)
        taught = {which: np.concatenate(found) for which, found in taught.items()}
        teach, document_teach = (np.full(len(query), -1, np.int64) for _ in range(2))
        teach[taught["lines"]] = np.arange(len(taught["lines"]))
        document_teach[taught["documents"]] = np.arange(len(taught["documents"]))
        with whole(cache) as file:
            np.savez(file, query=np.concatenate(query), query_at=np.cumsum([0] + [len(q) for q in query]),
                     document=np.concatenate(document), document_at=np.cumsum([0] + [len(d) for d in document]),
                     repository=np.array(repository), kind=np.array(kind), unit=np.array(unit), place=np.array(place),
                     names=np.array(names), teach=teach, vectors=taught["vectors"], document_teach=document_teach,
                     document_vectors=taught["document_vectors"], key=np.array(key))  # fmt: skip

    def asked(self, ids: np.ndarray) -> np.ndarray:
        """Which of the pairs are written."""
        return written(self.kind[ids])

    def text(self, which: str, i: int) -> np.ndarray:
        at = getattr(self, which + "_at")
        return getattr(self, which)[at[i] : at[i + 1]].astype(np.int64)


class Batches:
    """Batches of a few repositories each, so that most negatives come from the same code base."""

    def __init__(self, pairs: Pairs, args, rng):
        self.pairs, self.args, self.rng = pairs, args, rng
        self.share = args.batch // args.groups
        asked = pairs.asked(np.arange(len(pairs.kind)))
        self.asked, self.mined, kept = {}, {}, {}
        for r, v in pairs.by_repository.items():
            mined = v[~asked[v]]
            if len(mined) >= self.share and not is_held_out(pairs.names[r]):
                self.asked[r], self.mined[r], kept[r] = v[asked[v]], mined, v
        if len(kept) < args.groups:
            raise ValueError(f"{len(kept)} repositories have {self.share} pairs, a batch takes {args.groups} such")
        self.repositories = sorted(kept)
        weight = np.array([len(kept[r]) for r in self.repositories], float) ** 0.7
        self.odds = weight / weight.sum()
        frequency = np.bincount(pairs.document, minlength=args.vocabulary)
        self.common = frequency > 0.002 * frequency.sum()
        self.near = {}

    def next(self):
        """Numbers of the pairs, their queries and documents as pieces, and which pairs are of one unit."""
        rng, pairs, args = self.rng, self.pairs, self.args
        chosen = rng.choice(self.repositories, args.groups, replace=False, p=self.odds)
        ids = np.concatenate([self._of_repository(r) for r in chosen])
        queries, documents = [], []
        for i in ids:
            q, d = pairs.text("query", i), pairs.text("document", i)[: args.length]
            if rng.random() < args.mask:
                hidden = q[~self.common[q]]
                rest = d[~np.isin(d, hidden)]
                d = rest if len(rest) >= 6 else d
            if len(q) > 3 and args.drop:
                kept = q[rng.random(len(q)) > args.drop]
                q = kept if len(kept) else q
            queries.append(q[:24])
            documents.append(d)
        same = (pairs.repository[ids][:, None] == pairs.repository[ids]) & (pairs.unit[ids][:, None] == pairs.unit[ids])
        return ids, queries, documents, torch.from_numpy(same)

    def _of_repository(self, repository: int) -> np.ndarray:
        """A repository's share of a batch: written questions first, then units that are mistaken for theirs, then units
        that the teacher saw (it judges a query against all of them), then the rest."""
        asked, mined = self.asked[repository], self.mined[repository]
        asked = self.rng.choice(asked, min(len(asked), int(self.share * self.args.asked)), False)
        near = self._near_of(repository, asked)[: self.share - len(asked)]
        mined = np.setdiff1d(mined, near)
        left = self.share - len(asked) - len(near)
        known = mined[self.pairs.document_teach[mined] >= 0]
        known = self.rng.choice(known, min(len(known), left, int(self.share * self.args.taught)), False)
        rest = np.setdiff1d(mined, known, assume_unique=True)
        return np.concatenate([asked, near, known, self.rng.choice(rest, left - len(known), False)])

    def _near_of(self, repository: int, asked: np.ndarray) -> np.ndarray:
        """Of each of the questions `asked` some `args.near` pairs whose units are mistaken for its own, at random."""
        if not self.args.near:
            return asked[:0]
        if repository not in self.near:
            self.near[repository] = mistaken(self.pairs, self.pairs.by_repository[repository])
        near = self.near[repository]
        found = [self.rng.permutation(near[i])[: self.args.near] for i in asked if i in near]
        return self.rng.permutation(np.setdiff1d(np.concatenate([asked[:0], *found]), asked))


def mistaken(pairs: Pairs, ids: np.ndarray, device: torch.device | str = "cpu") -> dict[int, np.ndarray]:
    """Hard negatives: for each written question among the pairs `ids` those whose units the teacher finds nearest to it
    but less near than its own, in other files, at most `NEAR_MOST` (what it finds nearer may be as right; Qu et al.,
    RocketQA, NAACL 2021, leave out what a better model finds relevant)."""
    ids = ids[pairs.document_teach[ids] >= 0]
    asked = ids[pairs.asked(ids) & (pairs.teach[ids] >= 0)]
    units = ids[np.unique(pairs.unit[ids], return_index=True)[1]]
    questions, own_units, all_units = (
        torch.from_numpy(v).to(device).float()
        for v in (
            pairs.vectors[pairs.teach[asked]],
            pairs.document_vectors[pairs.document_teach[asked]],
            pairs.document_vectors[pairs.document_teach[units]],
        )
    )
    scores, own = questions @ all_units.T, (questions * own_units).sum(1, keepdim=True)
    same_file = torch.from_numpy(pairs.place[units] == pairs.place[asked][:, None]).to(device)
    scores[(scores >= own) | same_file] = float("-inf")
    best = scores.topk(min(NEAR_MOST, len(units)), dim=1)
    found, count = best.indices.cpu().numpy(), best.values.isfinite().sum(1).tolist()
    return {int(i): units[found[row, : count[row]]] for row, i in enumerate(asked)}
