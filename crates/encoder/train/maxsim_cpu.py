"""The CPU's MaxSim of texts in a row: compiled loops over slices of the product, and the gradient through the winners."""

import numpy as np
import torch
from numba import njit

# Documents whose similarities are held at once.
SLICE = 32


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
    """`maxsim.max_sim` of products in bfloat16."""

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
