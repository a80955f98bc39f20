"""Held-out figures over the tables of a device: the mean reciprocal rank of what is asked, by its kind."""

import numpy as np
import torch

from pairs import KINDS, WRITTEN, is_held_out
from tables import Tables

# A held-out repository is looked at if it has so many pairs; with so many units, and queries of each kind, at most.
PAIRS_MIN, UNITS, QUERIES = 150, 1300, 150


class Asked:
    """What is asked of each held-out repository, over the units of its pairs."""

    def __init__(self, tables: Tables):
        self.tables, self.repositories = tables, []
        for r, ids in tables.by_repository.items():
            ids = ids[tables.kind[ids] != KINDS.index("name")]
            if is_held_out(tables.names[r]) and len(ids) >= PAIRS_MIN:
                ids = np.random.default_rng(3).permutation(ids)
                ids = ids[np.argsort(~tables.asked(ids), kind="stable")][:UNITS]
                self.repositories.append(ids)
        if not any(tables.asked(ids).any() for ids in self.repositories):
            raise ValueError(f"no held-out repository of {PAIRS_MIN} pairs or more has a written question")

    @torch.inference_mode()
    def figures(self, scores) -> dict[str, float]:
        """`scores` gives for numbers of pairs A and B how well the queries of A fit the units of B: A x B."""
        found: dict[str, list[float]] = {kind: [] for kind in WRITTEN}
        tables = self.tables
        for ids in self.repositories:
            all_ids = torch.from_numpy(ids).to(tables.device)
            unit = tables.on_device["unit"][all_ids]
            for kind, ranks in found.items():
                own = np.flatnonzero(tables.kind[ids] == KINDS.index(kind))[:QUERIES]
                if len(own):
                    own = torch.from_numpy(own).to(tables.device)
                    given = scores(all_ids[own], all_ids)
                    better = (given > given.gather(1, own[:, None])) & (unit[None] != unit[own][:, None])
                    ranks += (1 / (1 + better.sum(1))).tolist()
        return {kind: round(float(np.mean(ranks)), 4) for kind, ranks in found.items() if ranks}
