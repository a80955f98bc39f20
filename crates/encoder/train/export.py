"""From a checkpoint to the files that colgrep reads: the embedded model, its ONNX twin, and golden vectors.

    python export.py CHECKPOINT VOCAB --assets ../assets [--table-bits 8|4] [--onnx FOLDER] [--golden FILE]
    python export.py --random SEED [--tiny] --assets FOLDER ...

A checkpoint is `torch.save({"config": dict, "state_dict": dict})` of `model.py`. `--random` makes an untrained model
over a small vocabulary, for tests. All three outputs hold the same, quantised weights; golden vectors are given for
the weights before quantisation too, and the loss between them is printed.
"""

import argparse
import dataclasses
import json
import random
import string
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save

from files import whole, write_text
from model import DOCUMENT, QUERY, Config, Model, rows_of
from text import SPECIAL, WordPiece

FORMAT = 2
GOLDEN = [
    (QUERY, "how are http requests retried after a timeout"),
    (QUERY, "parseHTTPRequest2"),
    (QUERY, "where's the LRU cache evicted?"),
    (QUERY, "x"),
    (QUERY, "ΑΒΓδ straße 検索 ÜberGröße"),
    (DOCUMENT, "src/net/retry\nRetryPolicy backoff\nDoubles the delay after each failure.\nfn backoff(&self, n: u32)"),
    (DOCUMENT, "def evict(self, key): del self._map[key]"),
    (DOCUMENT, "SELECT user_id, COUNT(*) FROM sessions WHERE expires_at < NOW() GROUP BY 1"),
    (DOCUMENT, "a"),
    (DOCUMENT, "0123456789abcdef0123456789abcdef01234567 0xDEADBEEF " + "q" * 41),
    (DOCUMENT, "int main(int argc, char **argv) { return run(argc, argv); }\n" * 2),
    (DOCUMENT, "日本語のコメント // İstanbul ǅ e\u0301 ٣٤ ⅷ"),
]


def quantise_table(table: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows as small integers (their scale is free, rows are normalised on use), and what they decode to.

    Of several steps a row, the one with the best cosine is taken: clipping the largest components pays at 4 bits.
    """
    top = 2 ** (bits - 1) - 1
    largest = np.abs(table).max(1, keepdims=True).clip(1e-12)
    best, best_cosine = np.zeros(table.shape, np.int8), np.full(len(table), -1.0)
    for share in np.linspace(0.6, 1.0, 17) if bits < 8 else [1.0]:
        found = np.clip(np.round(table / (largest * share) * top), -top, top)
        norms = np.linalg.norm(found, axis=1) * np.linalg.norm(table, axis=1)
        cosine = (found * table).sum(1) / norms.clip(1e-12)
        better = cosine > best_cosine
        best[better], best_cosine[better] = found[better], cosine[better]
    print(f"table, {bits} bits: cosine to floats mean {best_cosine.mean():.5f}, least {best_cosine.min():.5f}")
    return best, best.astype(np.float32)


def quantised(model: Model, bits: int) -> tuple[dict[str, np.ndarray], Model]:
    """The tensors of `model.safetensors`, and the model that they decode to."""
    state = {name: value.detach().float().numpy() for name, value in model.state_dict().items()}
    table, decoded = quantise_table(state["table"], bits)
    if bits == 4:
        shifted = (table + 8).astype(np.uint8)
        table = shifted[:, 0::2] | (shifted[:, 1::2] << 4)
    half = lambda value: value.astype(np.float16)
    tensors = {"table": table}
    tensors["piece_weights"] = half(
        np.stack([state["query_weight"], state["document_weight"], state["summary_weight"]], 1)
    )
    # Both sides' summaries have this length, so that their product has the weight.
    tensors["summary_scale"] = half(np.exp(state["omega"] / 2)).reshape(1)
    folded = {"table", "query_weight", "document_weight", "summary_weight", "omega"}
    tensors |= {name: half(value) for name, value in state.items() if name not in folded}
    twin = Model(model.config)
    restored = {name: tensors[name].astype(np.float32) for name in state if name not in folded}
    columns = tensors["piece_weights"].astype(np.float32).T
    restored |= dict(zip(["query_weight", "document_weight", "summary_weight"], columns))
    restored |= {"table": decoded, "omega": 2 * np.log(tensors["summary_scale"].astype(np.float32)[0])}
    twin.load_state_dict({name: torch.tensor(np.array(value)) for name, value in restored.items()})
    return tensors, twin.eval()


def write_assets(folder: Path, name: str, model: Model, pieces: WordPiece, tensors: dict[str, np.ndarray]) -> None:
    """The three files that the native engine reads."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"format": FORMAT, "name": name} | dataclasses.asdict(model.config)
    write_text(folder / "config.json", json.dumps(config, indent=2) + "\n")
    pieces.save(folder / "vocab.txt")
    with whole(folder / "model.safetensors") as file:
        file.write(save({k: np.ascontiguousarray(v) for k, v in tensors.items()}))
    size = sum((folder / file).stat().st_size for file in ["config.json", "vocab.txt", "model.safetensors"])
    print(f"{folder}: {size / 1e6:.2f} MB")


def write_onnx(folder: Path, name: str, model: Model, pieces: WordPiece) -> None:
    """The same model as a ColBERT folder: graph, tokenizer, and how to call them."""
    import onnx

    from onnx_graph import graph
    from onnx_tokenizer import tokenizer

    folder.mkdir(parents=True, exist_ok=True)
    built = graph(model)
    onnx.checker.check_model(built, full_check=True)
    check_graph(built.SerializeToString(), model, pieces)
    with whole(folder / "model.onnx") as file:
        file.write(built.SerializeToString())
    write_text(folder / "tokenizer.json", tokenizer(pieces).to_str(pretty=True))
    config = {
        "model_type": "ColBERT",
        "model_name": name,
        "uses_token_type_ids": False,
        "query_prefix": "[Q]",
        "document_prefix": "[D]",
        "query_prefix_id": 2,
        "document_prefix_id": 3,
        # More than the pieces: the prefix once for each head, whose rows are the summary.
        "query_length": model.config.query_pieces_max + model.config.heads,
        "document_length": model.config.document_pieces_max + model.config.heads,
        "do_query_expansion": False,
        "attend_to_expansion_tokens": False,
        "skiplist_words": [],
        "embedding_dim": model.config.output_dim,
        "pad_token_id": 0,
        # Beyond PyLate's keys: the prefix is the first token instead of the second (there is no [CLS]), as often as there
        # are heads, and selects the side; the rows' lengths are the learned weights, so they must not be normalised.
        "prefix_position": 0,
        "heads": model.config.heads,
        "normalize": False,
    }
    for file in ["onnx_config.json", "config_sentence_transformers.json"]:
        write_text(folder / file, json.dumps(config, indent=2) + "\n")


def pieces_of(side: int, text: str, model: Model, pieces: WordPiece) -> list[int]:
    ids = pieces.encode(text, model.config.query_pieces_max if side == QUERY else model.config.document_pieces_max)
    if not ids:
        raise SystemExit(f"the vocabulary has no piece of {text!r}; is it of another model?")
    return ids


def check_graph(graph: bytes, model: Model, pieces: WordPiece) -> None:
    """Ends the export where ONNX Runtime gives other rows than the model."""
    import onnxruntime

    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    least = 1.0
    for side, text in GOLDEN:
        ids = pieces_of(side, text, model, pieces)
        prefixed = np.array([[SPECIAL.index(["[Q]", "[D]"][side])] * model.config.heads + ids])
        found = session.run(None, {"input_ids": prefixed, "attention_mask": np.ones_like(prefixed)})[0][0]
        with torch.no_grad():
            expected = rows_of(model, np.array(ids), side).numpy()
        lengths = np.linalg.norm(found, axis=1), np.linalg.norm(expected, axis=1)
        least = min(least, ((found * expected).sum(1) / (lengths[0] * lengths[1])).min())
        if least < 0.999 or not np.allclose(*lengths, rtol=1e-2):
            raise SystemExit(f"the graph and the model differ on {text!r}: cosine {least:.5f}, lengths {lengths}")
    print(f"graph against model: cosine least {least:.5f}")


def golden(model: Model, twin: Model, pieces: WordPiece) -> dict:
    """Texts with ids and rows, by the floats and by the quantised weights."""
    cases, cosines = [], []
    for side, text in GOLDEN:
        ids = pieces_of(side, text, model, pieces)
        with torch.no_grad():
            exact, close = (rows_of(m, np.array(ids), side).numpy() for m in (model, twin))
        norms = np.linalg.norm(exact, axis=1) * np.linalg.norm(close, axis=1)
        cosines += list((exact * close).sum(1) / norms)
        rounded = lambda rows: [[float(f"{x:.5g}") for x in row] for row in rows]
        cases.append({"side": ["query", "document"][side], "text": text, "ids": ids,
                      "float": rounded(exact), "quantised": rounded(close)})  # fmt: skip
    print(f"rows, quantised against floats: cosine mean {np.mean(cosines):.5f}, least {np.min(cosines):.5f}")
    return {"cosine_mean": round(float(np.mean(cosines)), 6), "cosine_min": round(float(np.min(cosines)), 6),
            "cases": cases}  # fmt: skip


def random_model(seed: int, tiny: bool) -> tuple[Model, WordPiece]:
    """An untrained model with every parameter at work, over single characters and some words."""
    torch.manual_seed(seed)
    random.seed(seed)
    letters = string.ascii_lowercase + string.digits + "äöüßαβγδ語索検日本"
    words = "http request retry timeout cache evict parse user session main return self int def fn key map src".split()
    inside = ["##" + c for c in letters] + ["##" + c for c in ["er", "ing", "s", "ed", "tion", "ify"] if len(c) > 1]
    pieces = WordPiece(SPECIAL + list(letters) + words + inside)
    sizes = {"dim": 24, "hidden": 16, "kernel": 5, "output_dim": 12} if tiny else {}
    limits = {"query_pieces_max": 12, "document_pieces_max": 40} if tiny else {}
    model = Model(Config(vocabulary=len(pieces.vocabulary), **sizes, **limits))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            spread = {"table": 1.0, "depthwise": 0.5, "project": 0.3}.get(name.split(".")[-1], 0.2)
            noise = spread * torch.randn_like(parameter)
            parameter.copy_(1 + noise if name.endswith("norm.weight") else noise)
    return model.eval(), pieces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path, nargs="?")
    parser.add_argument("vocab", type=Path, nargs="?")
    parser.add_argument("--random", type=int, metavar="SEED")
    parser.add_argument("--tiny", action="store_true", help="with --random: a model of a few kB")
    parser.add_argument("--name", help="the model's name, for people")
    parser.add_argument("--table-bits", type=int, choices=[4, 8], default=8)
    parser.add_argument("--assets", type=Path, required=True)
    parser.add_argument("--onnx", type=Path)
    parser.add_argument("--golden", type=Path)
    args = parser.parse_args()
    if args.random is not None:
        model, pieces = random_model(args.random, args.tiny)
        name = args.name or f"untrained-{args.random}"
    elif args.checkpoint and args.vocab:
        pieces = WordPiece.load(args.vocab)
        checkpoint = torch.load(args.checkpoint, map_location="cpu", weights_only=True)
        fields = {field.name for field in dataclasses.fields(Config)}
        model = Model(Config(**{k: v for k, v in checkpoint["config"].items() if k in fields}))
        model.load_state_dict(checkpoint["state_dict"])
        model.eval()
        name = args.name or args.checkpoint.stem
    else:
        parser.error("give CHECKPOINT and VOCAB, or --random SEED")
    if len(pieces.vocabulary) != model.config.vocabulary:
        parser.error("vocabulary and checkpoint do not belong together")
    tensors, twin = quantised(model, args.table_bits)
    write_assets(args.assets, name, model, pieces, tensors)
    if args.golden:
        args.golden.parent.mkdir(parents=True, exist_ok=True)
        write_text(args.golden, json.dumps(golden(model, twin, pieces), ensure_ascii=False) + "\n")
    if args.onnx:
        write_onnx(args.onnx, name, twin, pieces)


if __name__ == "__main__":
    main()
