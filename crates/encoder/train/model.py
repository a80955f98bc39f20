"""The embedded model: a token table, a light convolutional mixer, and late interaction with a summary.

Every text is a run of piece ids. Each piece gives one row of `output_dim` components, and the text as a whole its
summary, one vector of `dim`. The score of a document for a query is MaxSim over the rows of both (Khattab and Zaharia,
ColBERT, SIGIR 2020) plus the product of their summaries; learned weights are folded into the lengths. In what is stored
the summary stands first, as `heads` rows that together hold its components. The mixer is a stack of LayerNorm,
depthwise convolution and gated linear unit (Dauphin et al. 2017) with a residual path.
"""

import dataclasses
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

QUERY, DOCUMENT = 0, 1
# What the product of two summaries counts against MaxSim at the start: about what served tuning queries best.
SUMMARY_WEIGHT = 12.0


@dataclasses.dataclass
class Config:
    vocabulary: int
    dim: int = 128
    layers: int = 2
    kernel: int = 7
    hidden: int = 128
    output_dim: int = 64
    query_pieces_max: int = 48
    document_pieces_max: int = 128

    @property
    def heads(self) -> int:
        """Rows that a summary takes."""
        return self.dim // self.output_dim


class Block(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        d, h = config.dim, config.hidden
        self.norm = nn.LayerNorm(d)
        self.depthwise = nn.Parameter(torch.randn(config.kernel, d) / math.sqrt(config.kernel))
        self.up = nn.Linear(d, 2 * h)
        self.down = nn.Linear(h, d)
        with torch.no_grad():
            self.down.weight.mul_(0.5)
            self.down.bias.zero_()

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """x: T x d, texts in a row, or B x T x d, padded ones; mask: the same with 1 component, zero between and beyond."""
        y = self.norm(x) * mask
        kernel, length = self.depthwise.shape[0], x.shape[-2]
        y = F.pad(y, (0, 0, kernel // 2, kernel // 2))
        z = y[..., :length, :] * self.depthwise[0]
        for i in range(1, kernel):
            z = torch.addcmul(z, y[..., i : i + length, :], self.depthwise[i])
        a, b = self.up(z).chunk(2, -1)
        return x + self.down(a * torch.sigmoid(b))


class Model(nn.Module):
    def __init__(self, config: Config, table: np.ndarray | None = None, idf: np.ndarray | None = None,
                 basis: np.ndarray | None = None):  # fmt: skip
        """table: V x d initial embeddings; idf: V; basis: o x d initial projection."""
        super().__init__()
        self.config = config
        v, d, o = config.vocabulary, config.dim, config.output_dim
        if d % o:
            raise ValueError(f"a summary of {d} components does not fill rows of {o}")
        self.table = nn.Parameter(torch.tensor(table) if table is not None else torch.randn(v, d))
        log_idf = torch.tensor(idf).clamp(min=0.02).log() if idf is not None else torch.zeros(v)
        self.query_weight = nn.Parameter(log_idf.clone())
        self.document_weight = nn.Parameter(torch.zeros(v))
        self.summary_weight = nn.Parameter(log_idf.clone())
        self.side = nn.Parameter(torch.zeros(2, d))
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(d)
        self.gate = nn.Linear(d, 3)
        self.out = nn.Linear(d, d)
        self.summary = nn.Linear(d, d, bias=False)
        for layer in (self.gate, self.out, self.summary):
            nn.init.zeros_(layer.weight)
        nn.init.zeros_(self.gate.bias)
        nn.init.zeros_(self.out.bias)
        self.project = nn.Parameter(torch.tensor(basis) if basis is not None else torch.eye(o, d))
        self.omega = nn.Parameter(torch.tensor(SUMMARY_WEIGHT).log())

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor, text: torch.Tensor,
                texts: int, side: int):  # fmt: skip
        """ids, mask: T, texts in a row with separators; positions: of the N real pieces; text: N, whose each is.

        Gives token rows N x o and summaries B x d of unit length.
        """
        e, h = self.mixed(ids, mask, side)
        rows, parts = self.outputs(e[positions], h[positions], ids[positions], side)
        pooled = e.new_zeros(texts, e.shape[1]).index_add(0, text, parts)
        return rows, F.normalize(pooled, dim=1)

    def mixed(self, ids: torch.Tensor, mask: torch.Tensor, side: int) -> tuple[torch.Tensor, torch.Tensor]:
        """ids, mask: … x T; the pieces' embeddings before and after the mixer, … x T x d."""
        # Not an index: the gradient of one is many times slower on a GPU.
        e = F.normalize(F.embedding(ids, self.table), dim=-1)
        x = e * math.sqrt(e.shape[-1]) + self.side[side]
        for block in self.blocks:
            x = block(x, mask[..., None])
        return e, self.norm(x)

    def outputs(
        self, e: torch.Tensor, h: torch.Tensor, ids: torch.Tensor, side: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Of what `mixed` gave the rows … x T x o, and what each piece adds to its text's summary, … x T x d."""

        def of_piece(weights):
            return F.embedding(ids, weights[:, None])[..., 0]

        gate = self.gate(h).clamp(-2, 2)
        if side == QUERY:
            weight = of_piece(self.query_weight) + gate[..., 0]
        else:
            weight = (of_piece(self.document_weight) + gate[..., 1]).clamp(-3, 0.7)
        rows = F.normalize(e + self.out(h), dim=-1) @ self.project.T * weight.exp()[..., None]
        return rows, (of_piece(self.summary_weight) + gate[..., 2]).exp()[..., None] * (e + self.summary(h))


def of_padded(model: Model, ids: torch.Tensor, mask: torch.Tensor, side: int) -> tuple[torch.Tensor, torch.Tensor]:
    """ids, mask: B x T, texts that end where their mask does; their rows B x T x o, zero beyond, and summaries B x d."""
    m = mask[..., None].float()
    rows, parts = model.outputs(*model.mixed(ids, m[..., 0], side), ids, side)
    return rows * m, F.normalize((parts * m).sum(1), dim=-1)


def pack(texts: list[np.ndarray], kernel: int):
    """Texts in a row with kernel // 2 separators between: ids, mask, positions of the pieces, whose each is."""
    gap = kernel // 2
    lengths = np.array([len(t) for t in texts])
    starts = gap + np.concatenate([[0], np.cumsum(lengths + gap)[:-1]])
    ids = np.zeros(int(lengths.sum()) + gap * (len(texts) + 1), np.int64)
    text = np.repeat(np.arange(len(texts)), lengths)
    first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    positions = np.arange(len(text)) - first[text] + starts[text]
    ids[positions] = np.concatenate(texts)
    mask = np.zeros(len(ids), np.float32)
    mask[positions] = 1
    return tuple(map(torch.from_numpy, (ids, mask, positions, text)))


def vectors_of(model: Model, texts: list[np.ndarray], side: int):
    """Of texts the token rows N x o, where each text's begin and end (B + 1 bounds), and the summaries B x d."""
    ids, mask, positions, text = (t.to(model.table.device) for t in pack(texts, model.config.kernel))
    rows, summaries = model(ids, mask, positions, text, len(texts), side)
    return rows, np.concatenate([[0], np.cumsum([len(t) for t in texts])]), summaries


def rows_of(model: Model, text: np.ndarray, side: int) -> torch.Tensor:
    """All rows of a text as they are stored, (heads + T) x o: the summary's, then the tokens'."""
    rows, _, summaries = vectors_of(model, [text], side)
    return torch.cat([((model.omega / 2).exp() * summaries).reshape(model.config.heads, -1), rows])
