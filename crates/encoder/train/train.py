"""Trains the embedded model: `train.py --mined MINED --work WORK --out RUN [options]`, resumable, seeded.

Late-interaction contrastive loss over pairs of the same repositories, plus terms that keep the teacher's general
language: its vectors of query and unit as the targets of their summaries, soft labels from its similarities of queries,
and of queries and units, and an anchor on the table. A share of the pairs has the query's words taken out of the unit, so
that meaning and not spelling has to carry them. Whole repositories are held out. Training ends with its schedule, or
early: when the held-out queries were answered no better at `--patience` looks in a row. `RUN/done.json` says which it was.
"""

import argparse
import dataclasses
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numba import njit

from evaluate import evaluate, load_repositories, max_rows, unit_scores
from files import whole, write_text
from looks import Looks
from model import DOCUMENT, QUERY, Config, Model, vectors_of
from pairs import DOCUMENT_PIECES, KINDS, Batches, Pairs, is_held_out
from text import WordPiece

# A held-out repository is looked at if it has more pairs, at most so many, each with so many queries over so many units.
HELD_OUT_PAIRS, HELD_OUT_REPOSITORIES, HELD_OUT_QUERIES, HELD_OUT_UNITS = 150, 12, 150, 1200
# Of the teacher's soft labels.
TEMPERATURE = 0.06
# All trainings begin with the same weights; `--seed` is that of the batches.
FIRST_WEIGHTS_SEED = 1
# Options that may differ when an interrupted training goes on.
FREE = {"mined", "work", "out", "threads", "tuning", "only"}


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


class Teaching:
    """What the teacher says of a batch: soft labels (cross-entropy) and targets (1 - cosine) of the summaries."""

    def __init__(self, pairs: Pairs, mean: np.ndarray, basis: np.ndarray):
        """`mean` 384 and `basis` 384 x d take the teacher's vectors to the summaries' space."""
        self.pairs = pairs
        self.queries, self.units = torch.from_numpy(pairs.vectors), torch.from_numpy(pairs.document_vectors)
        self.query_targets, self.unit_targets = (
            F.normalize(torch.from_numpy((v.astype(np.float32) - mean) @ basis), dim=1).half()
            for v in (pairs.vectors, pairs.document_vectors)
        )

    def of_queries(self, ids, q_summary, summaries):
        """By the queries that it saw."""
        known = torch.from_numpy(np.flatnonzero(self.pairs.teach[ids] >= 0))
        if not len(known):
            return torch.zeros(()), torch.zeros(())
        teach = torch.from_numpy(self.pairs.teach[ids])[known]
        t, target = self.queries[teach].float(), self.query_targets[teach].float()
        soft = F.cross_entropy(summaries[known][:, known], F.softmax(t @ t.T / TEMPERATURE, dim=1))
        return soft, (1 - (q_summary[known] * target).sum(1)).mean()

    def of_units(self, ids, d_summary, similarities):
        """By the pairs of which it saw query and unit; `similarities` are (queries x units, weight)."""
        teach, units = self.pairs.teach[ids], self.pairs.document_teach[ids]
        known = torch.from_numpy(np.flatnonzero((teach >= 0) & (units >= 0)))
        if not len(known):
            return torch.zeros(()), torch.zeros(())
        t, u = self.queries[torch.from_numpy(teach)[known]].float(), torch.from_numpy(units)[known]
        label = F.softmax(t @ self.units[u].float().T / TEMPERATURE, dim=1)
        soft = sum(weight * F.cross_entropy(s[known][:, known], label) for s, weight in similarities)
        return soft, (1 - (d_summary[known] * self.unit_targets[u].float()).sum(1)).mean()


class HeldOut:
    """The held-out repositories that training looks at."""

    def __init__(self, pairs: Pairs):
        self.pairs = pairs
        # Queries of the kind `name` are the unit's own words, and tell little.
        asked = pairs.kind != KINDS.index("name")
        found = [r for r, n in enumerate(pairs.names) if is_held_out(n)]
        found = [
            r for r in found if len(pairs.by_repository[r]) > HELD_OUT_PAIRS and asked[pairs.by_repository[r]].any()
        ]
        if not found:
            raise ValueError(f"no held-out repository has more than {HELD_OUT_PAIRS} pairs; their queries decide when "
                             "training stops")  # fmt: skip
        self.repositories = found[:HELD_OUT_REPOSITORIES]

    def score(self, model: Model) -> float:
        """Mean reciprocal rank of the repositories' queries over their own units."""
        model.eval()
        pairs, rng, found = self.pairs, np.random.default_rng(3), []
        for r in self.repositories:
            ids = pairs.by_repository[r]
            ids = rng.permutation(ids[pairs.kind[ids] != KINDS.index("name")])[:HELD_OUT_UNITS]
            asked = ids[:HELD_OUT_QUERIES]
            documents = [pairs.text("document", i) for i in ids]
            scores = unit_scores(model, documents, [pairs.text("query", i) for i in asked])
            for row, i in enumerate(asked):
                other = pairs.unit[ids] != pairs.unit[i]
                found.append(1 / (1 + int((scores[row][other] > scores[row][row]).sum())))
        model.train()
        return float(np.mean(found))


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
    parser.add_argument("--patience", type=int, default=2,
                        help="looks in a row without a better held-out figure after which training stops, at least 1")  # fmt: skip
    parser.add_argument("--lr", type=float, default=1.5e-3)
    parser.add_argument("--lr-table", type=float, default=5e-4)
    parser.add_argument("--lr-weights", type=float, default=3e-3)
    parser.add_argument("--mask", type=float, default=0.3, help="share of pairs without the query's words in the unit")
    parser.add_argument("--drop", type=float, default=0.1, help="share of query pieces left out")
    parser.add_argument("--soft", type=float, default=0.5, help="weight of the teacher's soft labels")
    parser.add_argument("--distil", type=float, default=1.0, help="weight of the teacher's vectors")
    parser.add_argument("--taught", type=float, default=0.6, help="share of a batch whose units the teacher saw")
    parser.add_argument("--soft-units", type=float, default=0.7, help="weight of the teacher's soft labels of units")
    parser.add_argument("--anchor", type=float, default=0.3, help="weight of the table's anchor")
    parser.add_argument("--seed", type=int, default=1, help="of the batches")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--check", type=int, default=500, help="steps between looks at the held-out repositories")
    parser.add_argument("--tuning", nargs="*", default=[], metavar="CORPORA NAME=DIR",
                        help="also report NDCG@10 on annotated corpora at each look")  # fmt: skip
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    if min(args.patience, args.steps, args.check) < 1:
        parser.error("--patience, --steps and --check are at least 1")
    done = args.out / "done.json"
    if done.exists():
        print(f"{done} is there: {done.read_text().strip()}", flush=True)
        return
    torch.manual_seed(FIRST_WEIGHTS_SEED)
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    pieces = WordPiece.load(args.work / "vocab.txt")
    args.vocabulary = len(pieces.vocabulary)
    pairs = Pairs(args.mined, pieces, args.work / "pairs.npz")
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
    teacher = Teaching(pairs, start["mean"], start["basis"][:, : args.dim])
    rng = np.random.default_rng(args.seed)
    try:
        batches, held_out = Batches(pairs, args, rng), HeldOut(pairs)
        tuning = None
        if args.tuning:
            annotations = {k: Path(v) for k, v in (a.split("=", 1) for a in args.tuning[1:])}
            tuning = load_repositories(Path(args.tuning[0]), annotations, pieces, DOCUMENT_PIECES, args.work / "eval",
                                       set(args.only))  # fmt: skip
    except ValueError as error:
        parser.error(str(error))
    print(f"{len(pairs.kind)} pairs of {len(pairs.names)} repositories, kinds {np.bincount(pairs.kind).tolist()}, "
          f"{len(pairs.vectors)} taught; held out: {[n for n in pairs.names if is_held_out(n)]}, "
          f"of which {len(held_out.repositories)} are looked at", flush=True)  # fmt: skip
    state = args.out / "state.pt"
    settings = {k: v for k, v in vars(args).items() if k not in FREE}
    step, spent, looks = 0, 0.0, Looks()
    if state.exists():
        saved = torch.load(state, weights_only=False)
        other = [k for k in settings if settings[k] != saved["settings"].get(k)]
        if other:
            parser.error(f"{state} was begun with another {', '.join(other)}; give the same options or another --out")
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scale.data, summary_scale.data = saved["scales"]
        step, spent, rng.bit_generator.state = saved["step"], saved["spent"], saved["rng"]
        looks = Looks(saved["looks"])
        looks.write(args.out)
        print(f"goes on from step {step}", flush=True)
    started, losses = time.time() - spent, []
    cpu_before = looks.seen[-1]["cpu_s"] if looks.seen else 0.0
    while True:
        progress = min(1.0, max(step / args.steps, (time.time() - started) / 60 / args.minutes))
        looked = bool(looks.seen) and looks.seen[-1]["step"] == step
        if step and not looked and (progress >= 1 or step % args.check == 0):
            seen = {"step": step, "minutes": (time.time() - started) / 60, "cpu_s": cpu_before + time.process_time(),
                    "loss": np.mean(losses[-args.check :], axis=0).round(4).tolist(),
                    "held_out": held_out.score(model)}  # fmt: skip
            if tuning:
                seen |= {k: round(v[0], 4) for k, v in evaluate(model, tuning, pieces).items()}
            print(json.dumps(seen), flush=True)
            looks.seen.append(seen)
            with whole(args.out / f"{step}.pt") as file:
                torch.save({"config": dataclasses.asdict(config), "state_dict": model.state_dict()}, file)
            # From here on a training that is interrupted goes on from this look.
            with whole(state) as file:
                torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step,
                            "scales": (scale.data, summary_scale.data), "spent": time.time() - started,
                            "rng": rng.bit_generator.state, "looks": looks.seen, "settings": settings}, file)  # fmt: skip
            looks.write(args.out)
        if progress >= 1 or looks.exhausted(args.patience):
            why = "the schedule" if progress >= 1 else f"{args.patience} looks without a better held-out figure"
            write_text(done, json.dumps({"step": step, "ended_by": why, "best": looks.best()}) + "\n")
            print(f"ended at step {step} by {why}; best held out: step {looks.best()}", flush=True)
            return
        factor = min(1.0, (step + 1) / 100) * (1 - progress) + 0.01
        for group, lr in zip(optimizer.param_groups, base):
            group["lr"] = lr * factor
        ids, queries, documents, same = batches.next()
        q, q_bounds, q_summary = vectors_of(model, queries, QUERY)
        d, d_bounds, d_summary = vectors_of(model, documents, DOCUMENT)
        best = MaxSim.apply(q, d, d_bounds)
        owner = torch.from_numpy(np.repeat(np.arange(len(queries)), np.diff(q_bounds)))
        product = q_summary @ d_summary.T
        scores = torch.zeros(len(documents), len(queries)).index_add(1, owner, best).T
        scores = (scores + model.omega.exp() * product) * scale.exp()
        off = same & ~torch.eye(len(queries), dtype=torch.bool)
        truth = torch.arange(len(queries))
        hard = F.cross_entropy(scores.masked_fill(off, -1e4), truth)
        summaries = product * summary_scale.exp().clamp(max=50)
        hard_summary = F.cross_entropy(summaries.masked_fill(off, -1e4), truth)
        soft, distil = teacher.of_queries(ids, q_summary, summaries)
        soft_units, distil_units = teacher.of_units(ids, d_summary, ((summaries, 1), (scores, 0.5)))
        soft, distil = args.soft * soft + args.soft_units * soft_units, distil + distil_units
        touched = torch.from_numpy(np.unique(np.concatenate(queries + documents)))
        anchor = (1 - F.cosine_similarity(model.table[touched], origin[touched])).mean()
        loss = hard + 0.3 * hard_summary + soft + args.distil * distil + args.anchor * anchor
        if not math.isfinite(loss.item()):
            raise SystemExit(f"the loss is {loss.item()} at step {step}; nothing is written since the last look")
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
            print(
                f"{step} {(time.time() - started) / 60:.1f} min {mean} omega {model.omega.exp().item():.2f}", flush=True
            )


if __name__ == "__main__":
    main()
