"""What training makes small: the loss of a batch, and what the teacher has to say of it."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from maxsim import max_sim
from model import DOCUMENT, QUERY, Model, vectors_of
from pairs import Pairs

# Of the teacher's soft labels.
TEMPERATURE = 0.06


class Teaching:
    """What the teacher says of a batch: soft labels (cross-entropy) and targets (1 - cosine) of the summaries."""

    def __init__(self, pairs: Pairs, mean: np.ndarray, basis: np.ndarray, device: torch.device):
        """`mean` 384 and `basis` 384 x d take the teacher's vectors to the summaries' space."""
        self.pairs, self.device = pairs, device
        both = (pairs.vectors, pairs.document_vectors)
        self.queries, self.units = (torch.from_numpy(v).to(device) for v in both)
        self.query_targets, self.unit_targets = (
            F.normalize(torch.from_numpy((v.astype(np.float32) - mean) @ basis), dim=1).half().to(device) for v in both
        )

    def _on(self, numbers: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(numbers).to(self.device)

    def _nothing(self) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.zeros((), device=self.device), torch.zeros((), device=self.device)

    def of_queries(self, ids, q_summary, summaries):
        """By the queries that it saw."""
        known = np.flatnonzero(self.pairs.teach[ids] >= 0)
        if not len(known):
            return self._nothing()
        teach, known = self._on(self.pairs.teach[ids][known]), self._on(known)
        t, target = self.queries[teach].float(), self.query_targets[teach].float()
        soft = F.cross_entropy(summaries[known][:, known], F.softmax(t @ t.T / TEMPERATURE, dim=1))
        return soft, (1 - (q_summary[known] * target).sum(1)).mean()

    def of_units(self, ids, d_summary, similarities):
        """By the pairs of which it saw query and unit; `similarities` are (queries x units, weight, what else the labels
        follow: another judge's queries x units and its share beside the teacher's 1, or None)."""
        teach, units = self.pairs.teach[ids], self.pairs.document_teach[ids]
        known = np.flatnonzero((teach >= 0) & (units >= 0))
        if not len(known):
            return self._nothing()
        t, u, known = self.queries[self._on(teach[known])].float(), self._on(units[known]), self._on(known)
        said, soft = t @ self.units[u].float().T / TEMPERATURE, 0.0
        for similarity, weight, beside in similarities:
            label = said
            if beside:
                other, share = beside[0][known][:, known], beside[1]
                label = said + share * said.std(1, keepdim=True) * other / other.std(1, keepdim=True)
            soft += weight * F.cross_entropy(similarity[known][:, known], F.softmax(label, dim=1))
        return soft, (1 - (d_summary[known] * self.unit_targets[u].float()).sum(1)).mean()


def judged(model: Model, queries, documents) -> tuple[torch.Tensor, ...]:
    """The summaries of queries and documents, their products, and the model's scores, both queries x documents."""
    q, q_bounds, q_summary = vectors_of(model, queries, QUERY)
    d, d_bounds, d_summary = vectors_of(model, documents, DOCUMENT)
    best = max_sim(q, d, d_bounds)
    owner = torch.from_numpy(np.repeat(np.arange(len(queries)), np.diff(q_bounds))).to(best.device)
    best = torch.zeros(len(documents), len(queries), device=best.device).index_add(1, owner, best).T
    product = q_summary @ d_summary.T
    return q_summary, d_summary, product, best + model.omega.exp() * product


class Objective:
    """The loss of a batch, with the two scales that it learns beside the model: of scores, and of summaries alone."""

    def __init__(self, model: Model, teaching: Teaching, args):
        """`args` holds the weights of the terms (soft, soft_units, distil, anchor), of mined pairs (mined_weight) and of
        what the model itself said at first (keep)."""
        self.model, self.teaching, self.args = model, teaching, args
        self.device = model.table.device
        self.first = None
        if args.keep:
            with self.device:
                self.first = Model(model.config).requires_grad_(False)
            self.first.load_state_dict(model.state_dict())
        self.origin = model.table.detach().clone()
        self.scales = [torch.nn.Parameter(torch.tensor(at, device=self.device)) for at in (0.0, math.log(15.0))]

    def set_scales(self, values: list[float]) -> None:
        for scale, value in zip(self.scales, values):
            scale.data.fill_(value)

    def __call__(self, ids, queries, documents, same) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss of a batch of `Batches`, and of what it consists: hard, of summaries, soft, distil, anchor; and the
        share of the queries whose own unit is first."""
        model, args = self.model, self.args
        scale, summary_scale = (scale.exp() for scale in self.scales)
        q_summary, d_summary, product, scores = judged(model, queries, documents)
        scores = scores * scale
        before = None
        if self.first:
            with torch.no_grad():
                *_, scores_before = judged(self.first, queries, documents)
            before = scores_before, args.keep
        off = (same & ~torch.eye(len(queries), dtype=torch.bool)).to(self.device)
        truth = torch.arange(len(queries), device=self.device)
        # Written questions are what will be asked; what was mined is only near to it.
        asked = torch.from_numpy(self.teaching.pairs.asked(ids)).to(self.device)
        weight = torch.where(asked, 1.0, args.mined_weight)
        weight = weight / weight.sum()
        hard = (F.cross_entropy(scores.masked_fill(off, -1e4), truth, reduction="none") * weight).sum()
        summaries = product * summary_scale.clamp(max=50)
        hard_summary = (F.cross_entropy(summaries.masked_fill(off, -1e4), truth, reduction="none") * weight).sum()
        soft, distil = self.teaching.of_queries(ids, q_summary, summaries)
        soft_units, distil_units = self.teaching.of_units(ids, d_summary, ((summaries, 1, None), (scores, 0.5, before)))
        soft, distil = args.soft * soft + args.soft_units * soft_units, distil + distil_units
        touched = torch.from_numpy(np.unique(np.concatenate(queries + documents))).to(self.device)
        anchor = (1 - F.cosine_similarity(model.table[touched], self.origin[touched])).mean()
        loss = hard + 0.3 * hard_summary + soft + args.distil * distil + args.anchor * anchor
        right = (scores.argmax(1) == truth).float().mean()
        return loss, torch.stack([hard, hard_summary, soft, distil, anchor, right]).detach()
