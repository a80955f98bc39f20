"""Texts as tables of ids on a device, a row each, padded with zeros; and what training takes out of them there."""

import numpy as np
import torch

# What makes more of all ids than this is never taken out of a unit.
COMMON = 0.002
# A unit keeps its own text where less than this would be left of it.
LEFT_MIN = 6


def table(texts: list[list[int]], width: int) -> tuple[np.ndarray, np.ndarray]:
    """Of n texts that are no longer than `width` the ids, n x width, and the lengths."""
    ids, lengths = np.zeros((len(texts), width), np.uint16), np.zeros(len(texts), np.uint16)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
        lengths[row] = len(text)
    return ids, lengths


class Padded:
    def __init__(self, ids: np.ndarray, lengths: np.ndarray, vocabulary: int, device: torch.device):
        """ids: n x L, zeros beyond the ends; lengths: n."""
        self.host = ids, lengths
        self.ids = torch.from_numpy(ids.astype(np.int32)).to(device)
        self.lengths = torch.from_numpy(lengths.astype(np.int64)).to(device)
        often = np.bincount(ids.ravel(), minlength=vocabulary)
        often[0] = 0
        self.common = torch.from_numpy(often > COMMON * often.sum()).to(device)

    def __len__(self) -> int:
        return len(self.ids)

    def text(self, row: int) -> np.ndarray:
        ids, lengths = self.host
        return ids[row, : lengths[row]].astype(np.int64)

    def take(self, rows: torch.Tensor, limit: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The ids of B texts, cut at `limit`, and which of them are of the text: both B x T."""
        lengths = self.lengths[rows]
        width = min(limit, self.ids.shape[1], (int(lengths.max()) + 7) // 8 * 8)
        return self.ids[rows, :width].long(), torch.arange(width, device=rows.device)[None] < lengths[:, None]


def compact(ids: torch.Tensor, keep: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """ids, keep: B x T; what is kept of each text first, in its order, and which that is."""
    order = torch.argsort((~keep).to(torch.uint8), dim=1, stable=True)
    return ids.gather(1, order), keep.gather(1, order)


def hidden(query: torch.Tensor, query_mask: torch.Tensor, unit: torch.Tensor, unit_mask: torch.Tensor,
           common: torch.Tensor, share: float) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The units, B x T, without the rarer ids of their own queries, B x Q, for a share of the pairs at random."""
    rare = query_mask & ~common[query]
    hit = ((unit[:, :, None] == query[:, None, :]) & rare[:, None, :]).any(-1)
    keep = unit_mask & ~hit
    use = (torch.rand(len(query), device=query.device) < share) & (keep.sum(1) >= LEFT_MIN)
    return compact(unit, torch.where(use[:, None], keep, unit_mask))


def dropped(query: torch.Tensor, mask: torch.Tensor, share: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The queries, B x Q, without a share of their ids at random, but for those of three or fewer."""
    keep = mask & ((torch.rand(query.shape, device=query.device) > share) | (mask.sum(1, keepdim=True) <= 3))
    keep[:, 0] |= ~keep.any(1)
    return compact(query, keep)
