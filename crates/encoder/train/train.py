"""Trains the embedded model: `train.py --mined MINED --work WORK --out RUN [options]`, resumable, seeded.

Late-interaction contrastive loss over pairs of the same repositories, plus three terms that keep the teacher's general
language: soft labels from the teacher's similarity of queries, its vector of the query as the target of both sides'
summaries, and an anchor on the table. A share of the pairs has the query's words taken out of the unit, so that
meaning and not spelling has to carry them. Whole repositories are held out; their queries decide when to stop.
"""

import argparse
import dataclasses
import hashlib
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from evaluate import evaluate, load_repositories, max_rows, unit_scores
from model import DOCUMENT, QUERY, Config, Model, rows_of
from numba import njit
from text import WordPiece, read_jsonl

KINDS = ["doc", "inline", "name", "commit", "prose", "section"]
HELD_OUT_SHARE = 0.04


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


class MaxSim(torch.autograd.Function):
    """Best row of every document for every query row: B x M from N x o and M x o."""

    @staticmethod
    def forward(ctx, query, document, bounds):
        out = np.empty((len(bounds) - 1, len(query)), np.float32)
        arg = np.empty(out.shape, np.int32)
        q16 = query.detach().T.bfloat16()
        for start in range(0, len(bounds) - 1, 32):
            span = bounds[start : start + 33]
            part = (document.detach()[span[0] : span[-1]].bfloat16() @ q16).float().numpy()
            max_rows(part, span - span[0], out[start : start + 32], arg[start : start + 32])
            arg[start : start + 32] += np.int32(span[0])
        ctx.kept = (arg, query.detach().numpy(), document.detach().numpy())
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx, gradient):
        arg, query, document = ctx.kept
        to_query, to_document = np.zeros_like(query), np.zeros_like(document)
        scatter_pairs(np.ascontiguousarray(gradient.numpy()), arg, query, document, to_query, to_document)
        return torch.from_numpy(to_query), torch.from_numpy(to_document), None


class Pairs:
    """All pairs as pieces, by repository."""

    def __init__(self, mined: Path, pieces: WordPiece, length: int, cache: Path):
        if not cache.exists():
            self._encode(mined, pieces, length, cache)
        held = np.load(cache, allow_pickle=False)
        self.__dict__ |= {k: held[k] for k in held.files}
        self.names = [str(n) for n in self.names]
        self.by_repository = {}
        for r in range(len(self.names)):
            self.by_repository[r] = np.flatnonzero(self.repository == r)

    def _encode(self, mined, pieces, length, cache):
        query, document, repository, kind, unit, names, taught, vectors = [], [], [], [], [], [], [], []
        for path in sorted(mined.glob("*.jsonl")):
            first = len(query)
            for line in read_jsonl(path):
                query.append(np.array(pieces.encode(line["query"], 40) or [1], np.uint16))
                document.append(np.array(pieces.encode(line["text"][:1200], length) or [1], np.uint16))
                repository.append(len(names))
                kind.append(KINDS.index(line["kind"]))
                unit.append(line["unit"])
            teacher = path.with_suffix(".npz")
            known = np.load(teacher) if teacher.exists() else {"lines": ()}
            if len(known["lines"]):
                taught.append(first + known["lines"])
                vectors.append(known["vectors"])
            names.append(path.stem)
        teach = np.full(len(query), -1, np.int64)
        teach[np.concatenate(taught)] = np.arange(sum(map(len, taught)))
        with open(cache, "wb") as file:
            np.savez(file, query=np.concatenate(query), query_at=np.cumsum([0] + [len(q) for q in query]),
                     document=np.concatenate(document), document_at=np.cumsum([0] + [len(d) for d in document]),
                     repository=np.array(repository), kind=np.array(kind), unit=np.array(unit), names=np.array(names),
                     teach=teach, vectors=np.concatenate(vectors))  # fmt: skip

    def text(self, which: str, i: int) -> np.ndarray:
        at = getattr(self, which + "_at")
        return getattr(self, which)[at[i] : at[i + 1]].astype(np.int64)


def is_held_out(name: str) -> bool:
    return hashlib.md5(name.encode()).digest()[0] < 256 * HELD_OUT_SHARE


class Batches:
    """Batches of a few repositories each, so that most negatives come from the same code base."""

    def __init__(self, pairs: Pairs, args, rng):
        self.pairs, self.args, self.rng = pairs, args, rng
        share = args.batch // args.groups
        kept = {r: v for r, v in pairs.by_repository.items() if len(v) >= share and not is_held_out(pairs.names[r])}
        self.repositories = sorted(kept)
        weight = np.array([len(kept[r]) for r in self.repositories], float) ** 0.7
        self.odds = weight / weight.sum()
        frequency = np.bincount(pairs.document, minlength=args.vocabulary)
        self.common = frequency > 0.002 * frequency.sum()

    def next(self):
        rng, pairs, args = self.rng, self.pairs, self.args
        chosen = rng.choice(self.repositories, args.groups, replace=False, p=self.odds)
        ids = np.concatenate([rng.choice(pairs.by_repository[r], args.batch // args.groups, False) for r in chosen])
        queries, documents = [], []
        for i in ids:
            q, d = pairs.text("query", i), pairs.text("document", i)[: args.length]
            if rng.random() < args.mask:
                hidden = q[~self.common[q]]
                rest = d[~np.isin(d, hidden)]
                d = rest if len(rest) >= 6 else d
            if len(q) > 3 and args.drop:
                kept = q[rng.random(len(q)) > args.drop]
                q = kept if len(kept) else q
            queries.append(q[:24])
            documents.append(d)
        same = (pairs.repository[ids][:, None] == pairs.repository[ids]) & (pairs.unit[ids][:, None] == pairs.unit[ids])
        return ids, queries, documents, torch.from_numpy(same)


def held_out_score(model: Model, pairs: Pairs, repositories_max: int = 12) -> float:
    """Mean reciprocal rank of held-out repositories' queries over their own units."""
    model.eval()
    rng, found = np.random.default_rng(3), []
    chosen = [r for r, n in enumerate(pairs.names) if is_held_out(n) and len(pairs.by_repository[r]) > 150]
    for r in chosen[:repositories_max]:
        ids = pairs.by_repository[r]
        ids = rng.permutation(ids[pairs.kind[ids] != KINDS.index("name")])[:1200]
        asked = ids[:150]
        scores = unit_scores(model, [pairs.text("document", i) for i in ids], [pairs.text("query", i) for i in asked])
        for row, i in enumerate(asked):
            other = pairs.unit[ids] != pairs.unit[i]
            found.append(1 / (1 + int((scores[row][other] > scores[row][row]).sum())))
    model.train()
    return float(np.mean(found)) if found else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mined", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="vocab.txt and start.npz of vocabulary.py")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--output-dim", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--batch", type=int, default=192)
    parser.add_argument("--groups", type=int, default=2)
    parser.add_argument("--length", type=int, default=96, help="pieces of a document while training")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--minutes", type=float, default=1e9, help="of wall clock; the schedule ends with them")
    parser.add_argument("--lr", type=float, default=1.5e-3)
    parser.add_argument("--lr-table", type=float, default=5e-4)
    parser.add_argument("--lr-weights", type=float, default=3e-3)
    parser.add_argument("--mask", type=float, default=0.3, help="share of pairs without the query's words in the unit")
    parser.add_argument("--drop", type=float, default=0.1, help="share of query pieces left out")
    parser.add_argument("--soft", type=float, default=0.5, help="weight of the teacher's soft labels")
    parser.add_argument("--distil", type=float, default=1.0, help="weight of the teacher's vectors")
    parser.add_argument("--anchor", type=float, default=0.3, help="weight of the table's anchor")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--check", type=int, default=500, help="steps between looks at the held-out repositories")
    parser.add_argument("--tuning", nargs="*", default=[], metavar="CORPORA NAME=DIR",
                        help="also report NDCG@10 on annotated corpora at each look")  # fmt: skip
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    pieces = WordPiece.load(args.work / "vocab.txt")
    args.vocabulary = len(pieces.vocabulary)
    pairs = Pairs(args.mined, pieces, 128, args.work / "pairs.npz")
    start = np.load(args.work / "start.npz")
    table = start["table"][:, : args.dim]
    table = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-6)
    present = np.bincount(pairs.document, minlength=args.vocabulary) + 1
    idf = np.log(1 + len(pairs.kind) / present).astype(np.float32)
    idf[:4] = 0.02
    principal = np.linalg.svd(table[: args.vocabulary], full_matrices=False)[2][: args.output_dim]
    config = Config(args.vocabulary, args.dim, args.layers, 7, args.hidden, args.output_dim)
    model = Model(config, table, idf, principal.astype(np.float32))
    origin = model.table.detach().clone()
    scale = torch.nn.Parameter(torch.tensor(0.0))
    summary_scale = torch.nn.Parameter(torch.tensor(math.log(15.0)))
    weights = [model.query_weight, model.document_weight, model.summary_weight, model.omega, scale, summary_scale]
    small = {id(p) for p in weights + [model.table]}
    rest = [p for p in model.parameters() if id(p) not in small]
    groups = [{"params": [model.table], "lr": args.lr_table, "weight_decay": 0.0},
              {"params": weights, "lr": args.lr_weights, "weight_decay": 0.0},
              {"params": rest, "lr": args.lr, "weight_decay": 0.01}]  # fmt: skip
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    base = [g["lr"] for g in optimizer.param_groups]
    targets = torch.from_numpy((pairs.vectors.astype(np.float32) - start["mean"]) @ start["basis"][:, : args.dim])
    targets = F.normalize(targets, dim=1)
    taught = torch.from_numpy(pairs.vectors)
    rng = np.random.default_rng(args.seed)
    batches = Batches(pairs, args, rng)
    tuning = None
    if args.tuning:
        annotations = {k: Path(v) for k, v in (a.split("=", 1) for a in args.tuning[1:])}
        tuning = load_repositories(Path(args.tuning[0]), annotations, pieces, 128, args.work / "eval", set(args.only))
    print(f"{len(pairs.kind)} pairs of {len(pairs.names)} repositories, kinds {np.bincount(pairs.kind).tolist()}, "
          f"{len(pairs.vectors)} taught; held out: {[n for n in pairs.names if is_held_out(n)]}", flush=True)  # fmt: skip
    state = args.out / "state.pt"
    step, spent = 0, 0.0
    if state.exists():
        saved = torch.load(state, weights_only=False)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scale.data, summary_scale.data = saved["scales"]
        step, spent, rng.bit_generator.state = saved["step"], saved["spent"], saved["rng"]
    log = open(args.out / "log.jsonl", "a")
    started, losses = time.time() - spent, []
    ended = False
    while not ended:
        progress = min(1.0, max(step / args.steps, (time.time() - started) / 60 / args.minutes))
        ended = progress >= 1.0
        if ended or (step % args.check == 0 and step):
            seen = {"step": step, "minutes": (time.time() - started) / 60, "cpu_s": time.process_time(),
                    "loss": np.mean(losses[-args.check :], axis=0).round(4).tolist(),
                    "held_out": held_out_score(model, pairs)}  # fmt: skip
            if tuning:
                seen |= {k: round(v[0], 4) for k, v in evaluate(model, tuning, pieces).items()}
            print(json.dumps(seen), flush=True)
            log.write(json.dumps(seen) + "\n")
            log.flush()
            torch.save({"config": dataclasses.asdict(config), "state_dict": model.state_dict()}, args.out / f"{step}.pt")
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step,
                        "scales": (scale.data, summary_scale.data), "spent": time.time() - started,
                        "rng": rng.bit_generator.state}, state)  # fmt: skip
            if ended:
                break
        factor = min(1.0, (step + 1) / 100) * (1 - progress) + 0.01
        for group, lr in zip(optimizer.param_groups, base):
            group["lr"] = lr * factor
        ids, queries, documents, same = batches.next()
        q, q_bounds, q_summary = rows_of(model, queries, QUERY)
        d, d_bounds, d_summary = rows_of(model, documents, DOCUMENT)
        best = MaxSim.apply(q, d, d_bounds)
        owner = torch.from_numpy(np.repeat(np.arange(len(queries)), np.diff(q_bounds)))
        scores = torch.zeros(len(documents), len(queries)).index_add(1, owner, best).T * scale.exp()
        off = same & ~torch.eye(len(queries), dtype=torch.bool)
        truth = torch.arange(len(queries))
        hard = F.cross_entropy(scores.masked_fill(off, -1e4), truth)
        summaries = (q_summary @ d_summary.T) * summary_scale.exp().clamp(max=50)
        hard_summary = F.cross_entropy(summaries.masked_fill(off, -1e4), truth)
        known = torch.from_numpy(np.flatnonzero(pairs.teach[ids] >= 0))
        teach = torch.from_numpy(pairs.teach[ids])[known]
        t = taught[teach].float()
        label = F.softmax(t @ t.T / 0.06, dim=1)
        soft = F.cross_entropy(summaries[known][:, known], label)
        target = targets[teach]
        distil = (2 - (q_summary[known] * target).sum(1) - 0.5 * (d_summary[known] * target).sum(1)).mean()
        touched = torch.from_numpy(np.unique(np.concatenate(queries + documents)))
        anchor = (1 - F.cosine_similarity(model.table[touched], origin[touched])).mean()
        loss = hard + 0.3 * hard_summary + args.soft * soft + args.distil * distil + args.anchor * anchor
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(rest, 1.0)
        optimizer.step()
        with torch.no_grad():
            right = (scores.argmax(1) == truth).float().mean().item()
        losses.append([hard.item(), hard_summary.item(), soft.item(), distil.item(), anchor.item(), right])
        step += 1
        if step in (5, 20, 100) or step % 250 == 0:
            mean = np.mean(losses[-250:], axis=0).round(3).tolist()
            print(f"{step} {(time.time() - started) / 60:.1f} min {mean} omega {model.omega.exp().tolist()}", flush=True)


if __name__ == "__main__":
    main()
