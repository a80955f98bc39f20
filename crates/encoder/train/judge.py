"""The teacher that judges every batch as training goes: all-MiniLM-L6-v2 with a vector for a text, and late interaction.

Tuned like `tune.py`'s, with one more projection of each token's state to a row for MaxSim (Khattab and Zaharia, ColBERT,
2020), and a third loss over both scores together. In training it computes in mixed precision on a GPU, else in float32.
"""

import math
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from bert import Bert, pooled
from clock import Clock
from heldout import Asked
from maxsim import max_sim_padded
from padded import Padded, hidden
from rates import set_rates
from tables import Tables
from teach import QUERY_TOKENS

# Components of a row; dropout while training; tokens of a unit that are read while training and judging.
ROW_DIM, DROPOUT, TOKENS = 128, 0.1, 112
LR, LR_LATE, LR_SCALES, WARMING = 1.2e-4, 3.6e-4, 5e-3, 80
# Of the loss: a unit's own query among all queries, the scores of rows alone, a mined pair, and what words are hidden of.
BACKWARD, LATE, MINED, HIDDEN = 0.3, 0.5, 0.4, 0.25
SCALE_MAX = 25.0


class Judge(nn.Module):
    def __init__(self, folder: Path, special: list[int]):
        """`folder`: of the teacher's files; `special`: ids of the tokens that are of no word."""
        super().__init__()
        self.network = Bert.read(folder, dropout=DROPOUT)
        self.late = nn.Linear(self.network.embeddings["LayerNorm"].weight.shape[0], ROW_DIM, bias=False)
        nn.init.orthogonal_(self.late.weight)
        # Logarithms of what is before a score of vectors alone, of rows alone, and of both together.
        self.scales = nn.Parameter(torch.tensor([20.0, 1.0, 15.0, 0.7]).log())
        self.register_buffer("special", torch.tensor(special))

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Of token ids B x T: vectors B x 384, rows B x T x ROW_DIM, both of unit length, and which rows are words'."""
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=ids.device.type == "cuda"):
            states = self.network(ids, mask).float()
            rows = F.normalize(self.late(states), dim=-1).float()
        inner = mask & ~torch.isin(ids, self.special)
        first = torch.zeros_like(inner)
        first[:, 0] = ~inner.any(1)
        return pooled(states, mask), rows, inner | first

    def of_tables(self, tables: Tables, queries: torch.Tensor, documents: torch.Tensor, tokens: int = TOKENS):
        """The vectors of A queries and B texts, and the scores of their vectors and of their rows, A x B."""
        q, q_rows, q_mask = self(*tables.query_tokens.take(queries, QUERY_TOKENS))
        d, d_rows, d_mask = self(*tables.document_tokens.take(documents, tokens))
        return q, d, q @ d.T, max_sim_padded(q_rows, q_mask, d_rows, d_mask)

    def both(self, one: torch.Tensor, late: torch.Tensor) -> torch.Tensor:
        scales = self.scales.exp()
        return scales[2] * one + scales[3] * late

    @torch.inference_mode()
    def encode(self, texts: Padded) -> torch.Tensor:
        """The vectors of all texts of a table, n x 384 in half precision."""
        order, out = torch.argsort(texts.lengths), None
        for rows in order.split(2048):
            vectors = self(*texts.take(rows, texts.ids.shape[1]))[0]
            out = vectors.new_zeros(len(texts), vectors.shape[1], dtype=torch.float16) if out is None else out
            out[rows] = vectors.half()
        return out


def loss_of(judge: Judge, tables: Tables, ids: torch.Tensor) -> torch.Tensor:
    """Of a batch of pairs: of the vectors' scores, both ways, of the rows', and of both together."""
    q_ids, q_mask = tables.query_tokens.take(ids, QUERY_TOKENS)
    d_ids, d_mask = tables.document_tokens.take(tables.documents_of(ids), TOKENS)
    d_ids, d_mask = hidden(q_ids, q_mask, d_ids, d_mask, tables.document_tokens.common, HIDDEN)
    q, q_rows, q_inner = judge(q_ids, q_mask)
    d, d_rows, d_inner = judge(d_ids, d_mask)
    one, late = q @ d.T, max_sim_padded(q_rows, q_inner, d_rows, d_inner)
    off, weight = tables.others_of_the_unit(ids), tables.weights(ids, MINED)
    truth, scales = torch.arange(len(ids), device=ids.device), judge.scales.exp()

    def cross_entropy(scores):
        return (F.cross_entropy(scores.masked_fill(off, -1e4), truth, reduction="none") * weight).sum()

    vectors = scales[0].clamp(max=SCALE_MAX) * one
    rows = cross_entropy(scales[1] * late)
    both = cross_entropy(judge.both(one, late))
    return cross_entropy(vectors) + BACKWARD * cross_entropy(vectors.T) + LATE * rows + both


def figures(judge: Judge, tables: Tables, asked: Asked) -> dict[str, dict[str, float]]:
    """Held-out figures of the vectors, of the rows, and of both."""

    def by(which):
        def scores(queries, pairs):
            tokens = tables.document_tokens.ids.shape[1]
            _, _, one, late = judge.of_tables(tables, queries, tables.documents_of(pairs), tokens)
            return {"vectors": one, "rows": late, "both": judge.both(one, late)}[which]

        return asked.figures(scores)

    judge.eval()
    return {which: by(which) for which in ("vectors", "rows", "both")}


def tune(judge: Judge, tables: Tables, batches: np.ndarray, clock: Clock, say) -> None:
    """Goes over the batches until the clock ends; `say` is told a step's loss now and then."""
    judge.network.embeddings["word_embeddings"].weight.requires_grad_(False)
    network = [weight for weight in judge.network.parameters() if weight.requires_grad]
    groups = [{"params": network, "lr": LR, "weight_decay": 0.01},
              {"params": [judge.late.weight], "lr": LR_LATE, "weight_decay": 0.0},
              {"params": [judge.scales], "lr": LR_SCALES, "weight_decay": 0.0}]  # fmt: skip
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=tables.device.type == "cuda")
    base, step = [group["lr"] for group in groups], 0
    judge.train()
    clock.start()
    while (progress := clock.progress(step)) < 1:
        set_rates(optimizer, base, min(1, (step + 1) / WARMING) * (1 - progress) + 0.005)
        loss = loss_of(judge, tables, torch.from_numpy(batches[step % len(batches)]).to(tables.device))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(network, 1.0)
        optimizer.step()
        step += 1
        if step in (1, 20) or step % 250 == 0:
            if not math.isfinite(loss.item()):
                raise SystemExit(f"the teacher's loss is {loss.item()} at step {step}")
            say(teacher=step, loss=round(loss.item(), 3), scales=[round(s, 3) for s in judge.scales.exp().tolist()])
    say(teacher=step, ended=True)
    judge.eval()
