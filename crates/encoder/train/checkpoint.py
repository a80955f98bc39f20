"""Checkpoints, {"config", "state_dict"}; and one of a model's files, to go on from: checkpoint.py ASSETS --out WORK.

The latter is the reverse of `export.py` and writes WORK/start.pt and WORK/vocab.txt. Rows of the table have unit length
then, as they are normalised on use.
"""

import argparse
import dataclasses
import json
from pathlib import Path

import numpy as np
import torch

from files import whole
from model import Config, Model
from text import WordPiece


def save(model: Model, path: Path) -> None:
    with whole(path) as file:
        torch.save({"config": dataclasses.asdict(model.config), "state_dict": model.state_dict()}, file)


def load(path: Path) -> Model:
    saved = torch.load(path, map_location="cpu", weights_only=True)
    model = Model(Config(**saved["config"]))
    model.load_state_dict(saved["state_dict"])
    return model


def read_assets(folder: Path) -> Model:
    """The model of `config.json` and an 8-bit `model.safetensors`."""
    from safetensors.numpy import load_file  # not where there are only checkpoints to read

    sizes = {field.name for field in dataclasses.fields(Config)}
    config = json.loads((folder / "config.json").read_text())
    model = Model(Config(**{name: value for name, value in config.items() if name in sizes}))
    tensors = {name: value.astype(np.float32) for name, value in load_file(folder / "model.safetensors").items()}
    table, weights = tensors.pop("table"), tensors.pop("piece_weights")
    if table.shape[1] != model.config.dim:
        raise SystemExit(f"{folder}: the table has {table.shape[1]} columns, not {model.config.dim}; is it of 4 bits?")
    tensors["table"] = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-6)
    tensors |= dict(zip(["query_weight", "document_weight", "summary_weight"], weights.T))
    tensors["omega"] = 2 * np.log(tensors.pop("summary_scale")[0])
    model.load_state_dict({name: torch.tensor(np.array(value)) for name, value in tensors.items()})
    return model.eval()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assets", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    WordPiece.load(args.assets / "vocab.txt").save(args.out / "vocab.txt")
    save(read_assets(args.assets), args.out / "start.pt")


if __name__ == "__main__":
    main()
