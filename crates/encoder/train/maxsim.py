"""MaxSim: of each document the best row for every query row, on any device.

Of texts in a row, the rows of all documents lie in one matrix, those of document i from `bounds[i]` to `bounds[i + 1]`. On
a CPU the maxima are taken from slices of the product while they are warm, by compiled loops (`maxsim_cpu.py`, which needs
Numba); elsewhere from the padded product at once, which `autograd` knows how to go back through. Of padded texts, the
gradient goes through the winning rows alone, by two products.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence


def max_sim(query: torch.Tensor, document: torch.Tensor, bounds: np.ndarray) -> torch.Tensor:
    """B x M best products, of query rows M x o with the rows N x o of B documents, none of which is empty."""
    if query.device.type != "cpu":
        return padded(query, document, bounds)
    from maxsim_cpu import OnCpu

    return OnCpu.apply(query, document, bounds)


def padded(query: torch.Tensor, document: torch.Tensor, bounds: np.ndarray) -> torch.Tensor:
    """`max_sim` with operations that every device has; B x longest x M products are held at once."""
    lengths = np.diff(bounds).tolist()
    rows = pad_sequence(document.split(lengths), batch_first=True)
    beyond = torch.arange(rows.shape[1])[None] >= torch.tensor(lengths)[:, None]
    products = rows @ query.T
    return products.masked_fill(beyond[:, :, None].to(products.device), float("-inf")).amax(1)


class Winners(torch.autograd.Function):
    """The best products of query rows M x o with each of B documents of L rows, (B * L) x o: M x B."""

    @staticmethod
    def forward(ctx, query, document, documents):
        best, winner = (query @ document.T).view(len(query), documents, -1).max(-1)
        ctx.save_for_backward(query, document, winner)
        return best.float()

    @staticmethod
    def backward(ctx, gradient):
        query, document, winner = ctx.saved_tensors
        spread = query.new_zeros(*winner.shape, len(document) // winner.shape[1])
        spread = spread.scatter_(2, winner[..., None], gradient.to(query.dtype)[..., None]).view(len(query), -1)
        return spread @ document, spread.T @ query, None


def max_sim_padded(query: torch.Tensor, query_mask: torch.Tensor, document: torch.Tensor,
                   document_mask: torch.Tensor) -> torch.Tensor:  # fmt: skip
    """Scores A x B: of A queries, A x Lq x o, the sums over their rows of the best product with B documents, B x Ld x o.

    Products are in bfloat16, on a CPU of rows that were rounded so. One more component, 1 in a query and far below zero
    beyond a document's end, keeps what lies there from winning.
    """
    beyond = (~document_mask).float()[..., None] * -1e4
    query = torch.cat([query.float(), torch.ones_like(query[..., :1], dtype=torch.float32)], -1)
    document = torch.cat([document.float(), beyond], -1)
    # A GPU multiplies rows of a multiple of eight components fastest.
    query, document = (F.pad(x, (0, -x.shape[-1] % 8)).bfloat16() for x in (query, document))
    if query.device.type == "cpu":
        query, document = query.float(), document.float()
    best = Winners.apply(query.flatten(0, 1), document.flatten(0, 1), len(document))
    return (best.view(*query_mask.shape, -1) * query_mask[..., None]).sum(1)
