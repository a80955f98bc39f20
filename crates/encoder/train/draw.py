"""Which pairs the batches hold, drawn ahead in processes, so that a device waits for none."""

import dataclasses
import os
from multiprocessing import Pool

import numpy as np
import torch

from pairs import NEAR_MOST, is_held_out, mistaken
from tables import Tables

# A repository is drawn by this power of its size, in which a mined pair counts less than a written one.
POWER, MINED = 0.8, 0.3
# With fewer written queries a repository has no hard negatives.
ASKED_MIN = 8
_source: list = []


@dataclasses.dataclass
class Drawing:
    """A batch: `groups` repositories (fewer where there are fewer), `share` pairs of each; of these `asked` are written at
    most, each with `near` hard negatives."""

    groups: int
    share: int
    asked: float
    near: int


class Source:
    """What is drawn from: each repository's written and mined pairs, and hard negatives."""

    def __init__(self, tables: Tables, near: np.ndarray | None):
        """near: pairs x NEAR_MOST, numbers of pairs, -1 where there is none."""
        self.near = near
        self.asked, self.mined = {}, {}
        for r, ids in tables.by_repository.items():
            if not is_held_out(tables.names[r]):
                asked = tables.asked(ids)
                self.asked[r], self.mined[r] = ids[asked], ids[~asked]

    def of_repository(self, repository: int, drawing: Drawing, rng: np.random.Generator) -> np.ndarray:
        """A repository's share of a batch: written pairs, then units that are mistaken for theirs, then mined ones."""
        asked, mined, share = self.asked[repository], self.mined[repository], drawing.share
        drawn = rng.choice(asked, min(len(asked), int(share * drawing.asked)), False) if len(asked) else asked
        if drawing.near and self.near is not None and len(drawn):
            column = rng.integers(0, self.near.shape[1], (len(drawn), drawing.near))
            near = np.unique(self.near[drawn][np.arange(len(drawn))[:, None], column])
            near = rng.permutation(np.setdiff1d(near[near >= 0], drawn))[: share - len(drawn)]
            drawn = np.concatenate([drawn, near])
        left = share - len(drawn)
        rest = np.setdiff1d(mined, drawn)
        if len(rest) < left:
            rest = np.setdiff1d(np.concatenate([mined, asked]), drawn)
        return np.concatenate([drawn, rng.choice(rest, left, False)]) if left else drawn

    def draw(self, drawing: Drawing, count: int, rng: np.random.Generator) -> np.ndarray:
        """count x (groups * share) numbers of pairs."""
        enough = [r for r in self.asked if len(self.asked[r]) + len(self.mined[r]) >= drawing.share]
        if not enough:
            raise ValueError(f"no repository that may be trained on has {drawing.share} pairs")
        size = np.array([len(self.asked[r]) + MINED * len(self.mined[r]) for r in enough]) ** POWER
        groups = min(drawing.groups, len(enough))
        out = np.zeros((count, groups * drawing.share), np.int64)
        for batch in out:
            found = rng.choice(enough, groups, False, size / size.sum())
            batch[:] = np.concatenate([self.of_repository(r, drawing, rng) for r in found])
        return out


def _draw(job: tuple[Drawing, int, list[int]]) -> np.ndarray:
    drawing, count, seed = job
    return _source[0].draw(drawing, count, np.random.default_rng(seed))


def batches(source: Source, drawing: Drawing, count: int, seed: int) -> np.ndarray:
    """`count` batches or a few more, as `Source.draw` gives them."""
    processes = min(16, os.cpu_count() or 1)
    each = -(-count // processes)
    jobs = [(drawing, each, [seed, k]) for k in range(processes)]
    with Pool(processes, _source.append, (source,)) as pool:
        return np.concatenate(pool.map(_draw, jobs, chunksize=1))


def nearest(tables: Tables, device: torch.device) -> np.ndarray:
    """The hard negatives of each written pair of what is not held out: pairs x NEAR_MOST, -1 where there is none."""
    near = np.full((len(tables.kind), NEAR_MOST), -1, np.int64)
    for r, ids in tables.by_repository.items():
        if is_held_out(tables.names[r]) or tables.asked(ids).sum() < ASKED_MIN:
            continue
        for pair, found in mistaken(tables, ids, device).items():
            near[pair, : len(found)] = found
    return near
