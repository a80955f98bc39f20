"""MaxSim of texts in a row: of each document the best row for every query row, on any device.

The rows of all documents lie in one matrix, those of document i from `bounds[i]` to `bounds[i + 1]`. On a CPU the maxima
are taken from slices of the product while they are warm, by compiled loops; elsewhere from the padded product at once,
which `autograd` knows how to go back through.
"""

import numpy as np
import torch
from numba import njit
from torch.nn.utils.rnn import pad_sequence

# Documents whose similarities are held at once on a CPU.
SLICE = 32


def max_sim(query: torch.Tensor, document: torch.Tensor, bounds: np.ndarray) -> torch.Tensor:
    """B x M best products, of query rows M x o with the rows N x o of B documents, none of which is empty."""
    return (OnCpu.apply if query.device.type == "cpu" else padded)(query, document, bounds)


def padded(query: torch.Tensor, document: torch.Tensor, bounds: np.ndarray) -> torch.Tensor:
    """`max_sim` with operations that every device has; B x longest x M products are held at once."""
    lengths = np.diff(bounds).tolist()
    rows = pad_sequence(document.split(lengths), batch_first=True)
    beyond = torch.arange(rows.shape[1])[None] >= torch.tensor(lengths)[:, None]
    products = rows @ query.T
    return products.masked_fill(beyond[:, :, None].to(products.device), float("-inf")).amax(1)


@njit(cache=True, nogil=True)
def max_rows(similarity, bounds, out, arg):
    """similarity: N x M; out[i, m] = max over rows bounds[i]..bounds[i+1]; arg: which row."""
    for i in range(len(bounds) - 1):
        best, which = out[i], arg[i]
        for m in range(similarity.shape[1]):
            best[m] = -1e30
        for n in range(bounds[i], bounds[i + 1]):
            row, number = similarity[n], np.int32(n)
            for m in range(similarity.shape[1]):
                better = row[m] > best[m]
                best[m] = row[m] if better else best[m]
                which[m] = number if better else which[m]


@njit(cache=True, nogil=True)
def scatter_pairs(gradient, arg, query, document, to_query, to_document):
    """Backward of MaxSim: each (document, query row) pair sends its gradient to the one row that won."""
    for i in range(gradient.shape[0]):
        for m in range(gradient.shape[1]):
            g = gradient[i, m]
            if abs(g) > 1e-7:
                n = arg[i, m]
                for c in range(query.shape[1]):
                    to_query[m, c] += g * document[n, c]
                    to_document[n, c] += g * query[m, c]


class OnCpu(torch.autograd.Function):
    """`max_sim` of products in bfloat16."""

    @staticmethod
    def forward(ctx, query, document, bounds):
        out = np.empty((len(bounds) - 1, len(query)), np.float32)
        arg = np.empty(out.shape, np.int32)
        q16 = query.detach().T.bfloat16()
        for start in range(0, len(out), SLICE):
            span = bounds[start : start + SLICE + 1]
            part = (document.detach()[span[0] : span[-1]].bfloat16() @ q16).float().numpy()
            max_rows(part, span - span[0], out[start : start + SLICE], arg[start : start + SLICE])
            arg[start : start + SLICE] += np.int32(span[0])
        ctx.kept = (arg, query.detach().numpy(), document.detach().numpy())
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx, gradient):
        arg, query, document = ctx.kept
        to_query, to_document = np.zeros_like(query), np.zeros_like(document)
        scatter_pairs(np.ascontiguousarray(gradient.numpy()), arg, query, document, to_query, to_document)
        return torch.from_numpy(to_query), torch.from_numpy(to_document), None
