"""What training by a teacher that judges every batch makes small: the loss of a batch over padded texts.

The terms are those of `objective.py`, but for the soft labels: the teacher's single vectors and late interaction together
score every query of the batch against every unit of it, none of them left out.
"""

import dataclasses
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from draw import Drawing
from judge import Judge
from maxsim import max_sim_padded
from model import DOCUMENT, QUERY, Model, of_padded
from objective import TEMPERATURE
from padded import dropped, hidden
from tables import Tables

# Pieces while training; shares of the pairs whose words are hidden, and of the queries' pieces that are left out.
QUERY_LENGTH, LENGTH, HIDDEN, DROPPED = 32, 112, 0.3, 0.1
# Weights of the terms; what a mined pair counts beside a written one; by what the teacher's scores are divided.
SUMMARY, SOFT, SOFT_UNITS, DISTIL, MINED, UNITS_TEMPERATURE = 0.3, 0.7, 1.5, 1.0, 0.3, 1.5
# The anchor is the mean over the whole table, of which a batch touches some part.
WHOLE_TABLE = 4
PARTS = ("hard", "hard_summary", "soft", "soft_units", "distil", "anchor", "right")


@dataclasses.dataclass
class Setting:
    """In what one run differs from another."""

    name: str
    drawing: Drawing
    lr_table: float
    lr_weights: float
    lr: float
    anchor: float
    # How much the soft labels of units follow the model at the start, beside the teacher's 1.
    keep: float


def scores_of(model: Model, query, document) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Of padded queries and documents, (ids, mask) each, the summaries, their products, and the model's scores."""
    q_rows, q = of_padded(model, *query, QUERY)
    d_rows, d = of_padded(model, *document, DOCUMENT)
    product = q @ d.T
    return q, d, product, max_sim_padded(q_rows, query[1], d_rows, document[1]) + model.omega.exp() * product


class Online:
    """The loss of a batch, with the two scales that it learns beside the model: of scores, and of summaries alone."""

    def __init__(
        self, model: Model, judge: Judge, tables: Tables, setting: Setting, mean: np.ndarray, basis: np.ndarray
    ):
        """`mean` 384 and `basis` 384 x d take the teacher's vectors to the summaries' space."""
        self.model, self.judge, self.tables, self.setting = model, judge, tables, setting
        device = tables.device
        self.mean, self.basis = (torch.from_numpy(a.astype(np.float32)).to(device) for a in (mean, basis))
        self.origin, self.first = model.table.detach().clone(), None
        if setting.keep:
            self.first = Model(model.config).to(device).requires_grad_(False)
            self.first.load_state_dict(model.state_dict())
        self.scales = nn.Parameter(torch.tensor([0.0, math.log(15.0)], device=device))

    def target(self, vectors: torch.Tensor) -> torch.Tensor:
        return F.normalize((vectors - self.mean) @ self.basis, dim=1)

    def texts(self, ids: torch.Tensor):
        """A batch's queries and units as it is trained on them: (ids, mask) each."""
        tables = self.tables
        query = tables.query.take(ids, QUERY_LENGTH)
        document = tables.document.take(tables.documents_of(ids), LENGTH)
        document = hidden(*query, *document, tables.document.common, HIDDEN)
        return dropped(*query, DROPPED), document

    @torch.no_grad()
    def labels(self, ids: torch.Tensor, off: torch.Tensor, query, document) -> dict[str, torch.Tensor]:
        """What the teacher says of a batch: soft labels of queries, of units (for summaries and for scores), targets."""
        q, d, one, late = self.judge.of_tables(self.tables, ids, self.tables.documents_of(ids))
        said = self.judge.both(one, late) / UNITS_TEMPERATURE
        of_scores = said
        if self.first:
            *_, before = scores_of(self.first, query, document)
            share = self.setting.keep * said.std(1, keepdim=True) / before.std(1, keepdim=True)
            of_scores = said + share * before
        summaries, scores = (F.softmax(label.masked_fill(off, -1e4), 1) for label in (said, of_scores))
        return {"queries": F.softmax(q @ q.T / TEMPERATURE, 1), "summaries": summaries, "scores": scores,
                "query": self.target(q), "document": self.target(d)}  # fmt: skip

    def __call__(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss of a batch of pairs, and of what it consists: `PARTS`."""
        query, document = self.texts(ids)
        off, weight = self.tables.others_of_the_unit(ids), self.tables.weights(ids, MINED)
        label = self.labels(ids, off, query, document)
        q, d, product, scores = scores_of(self.model, query, document)
        scale, summary_scale = self.scales.exp()[0], self.scales.exp()[1].clamp(max=50)
        scores, summaries = ((s * by).masked_fill(off, -1e4) for s, by in ((scores, scale), (product, summary_scale)))
        truth = torch.arange(len(ids), device=ids.device)
        hard, hard_summary = ((F.cross_entropy(s, truth, reduction="none") * weight).sum() for s in (scores, summaries))
        soft = F.cross_entropy(q @ q.T * summary_scale, label["queries"])
        soft_units = F.cross_entropy(summaries, label["summaries"]) + 0.5 * F.cross_entropy(scores, label["scores"])
        distil = (1 - (q * label["query"]).sum(1)).mean() + (1 - (d * label["document"]).sum(1)).mean()
        anchor = (1 - F.cosine_similarity(self.model.table, self.origin)).mean()
        loss = hard + SUMMARY * hard_summary + SOFT * soft + SOFT_UNITS * soft_units + DISTIL * distil
        loss = loss + self.setting.anchor * WHOLE_TABLE * anchor
        right = (scores.argmax(1) == truth).float().mean()
        return loss, torch.stack([hard, hard_summary, soft, soft_units, distil, anchor, right]).detach()
