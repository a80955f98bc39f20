"""Trains the embedded model: `train.py --mined MINED --work WORK --out RUN [options]`, resumable, seeded.

Late-interaction contrastive loss over pairs of the same repositories, plus terms that keep the teacher's general
language: its vectors of query and unit as the targets of their summaries, soft labels from its similarities of queries,
and of queries and units, and an anchor on the table. A share of the pairs has the query's words taken out of the unit, so
that meaning and not spelling has to carry them. Whole repositories are held out. Training ends with its schedule, or
early: when the held-out queries were answered no better at `--patience` looks in a row. `RUN/done.json` says which it was.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch

from checkpoint import load, save
from device import add_device_option
from evaluate import evaluate, load_repositories, unit_scores
from files import whole, write_text
from looks import Looks
from model import Config, Model
from objective import Objective, Teaching
from pairs import DOCUMENT_PIECES, KINDS, Batches, Pairs, is_held_out
from principal import turned
from rates import groups_of, set_rates
from text import WordPiece

# A held-out repository is looked at if it has more pairs, at most so many, each with so many queries over so many units.
HELD_OUT_PAIRS, HELD_OUT_REPOSITORIES, HELD_OUT_QUERIES, HELD_OUT_UNITS = 150, 12, 150, 1200
# All trainings begin with the same weights; `--seed` is that of the batches.
FIRST_WEIGHTS_SEED = 1
# Options that may differ when an interrupted training goes on.
FREE = {"mined", "work", "out", "threads", "tuning", "only", "device"}


class HeldOut:
    """The held-out repositories that training looks at, and what is asked there: written questions where there are any,
    else mined queries."""

    def __init__(self, pairs: Pairs):
        self.pairs = pairs
        # Queries of the kind `name` are the unit's own words, and tell little.
        told = pairs.kind != KINDS.index("name")
        found = [r for r, n in enumerate(pairs.names) if is_held_out(n)]
        found = [
            r for r in found if len(pairs.by_repository[r]) > HELD_OUT_PAIRS and told[pairs.by_repository[r]].any()
        ]
        if not found:
            raise ValueError(f"no held-out repository has more than {HELD_OUT_PAIRS} pairs; their queries decide when "
                             "training stops")  # fmt: skip
        found.sort(key=lambda r: not pairs.asked(pairs.by_repository[r]).any())
        self.repositories = found[:HELD_OUT_REPOSITORIES]

    def score(self, model: Model) -> float:
        """Mean reciprocal rank of the repositories' queries over their own units."""
        model.eval()
        pairs, rng, found = self.pairs, np.random.default_rng(3), []
        for r in self.repositories:
            ids = pairs.by_repository[r]
            ids = rng.permutation(ids[pairs.kind[ids] != KINDS.index("name")])
            ids = ids[np.argsort(~pairs.asked(ids), kind="stable")][:HELD_OUT_UNITS]
            asked = ids[: min(HELD_OUT_QUERIES, int(pairs.asked(ids).sum()) or len(ids))]
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
    parser.add_argument("--start", type=Path, metavar="CHECKPOINT",
                        help="weights to go on from, in place of start.npz; the sizes are theirs")  # fmt: skip
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
    parser.add_argument("--asked", type=float, default=0.08, help="share of a batch that are written questions")
    parser.add_argument("--near", type=int, default=0, help="hard negatives of a written question")
    parser.add_argument("--mined-weight", type=float, default=1.0,
                        help="weight of a mined pair where a written question has 1")  # fmt: skip
    parser.add_argument("--soft-units", type=float, default=0.7, help="weight of the teacher's soft labels of units")
    parser.add_argument("--keep", type=float, default=0.0,
                        help="how much the soft labels of units follow the model at the start, beside the teacher's 1")  # fmt: skip
    parser.add_argument("--anchor", type=float, default=0.3, help="weight of the table's anchor")
    parser.add_argument("--seed", type=int, default=1, help="of the batches")
    parser.add_argument("--threads", type=int, default=1)
    add_device_option(parser)
    parser.add_argument("--check", type=int, default=500, help="steps between looks at the held-out repositories")
    parser.add_argument("--tuning", nargs="*", default=[], metavar="CORPORA NAME=DIR",
                        help="also report NDCG@10 on annotated corpora at each look")  # fmt: skip
    parser.add_argument("--only", nargs="*", default=[])
    args = parser.parse_args()
    if min(args.patience, args.steps, args.check) < 1 or args.near < 0:
        parser.error("--patience, --steps and --check are at least 1, --near at least 0")
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
    if args.start:
        model = load(args.start).to(args.device)
        if model.config.vocabulary != args.vocabulary:
            parser.error(f"{args.start} has {model.config.vocabulary} pieces, vocab.txt {args.vocabulary}")
        mean, basis = turned(model, pairs)
    else:
        start = np.load(args.work / "start.npz")
        table = start["table"][:, : args.dim]
        table = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-6)
        present = np.bincount(pairs.document, minlength=args.vocabulary) + 1
        idf = np.log(1 + len(pairs.kind) / present).astype(np.float32)
        idf[:4] = 0.02
        principal = np.linalg.svd(table[: args.vocabulary], full_matrices=False)[2][: args.output_dim]
        config = Config(args.vocabulary, args.dim, args.layers, 7, args.hidden, args.output_dim)
        model = Model(config, table, idf, principal.astype(np.float32)).to(args.device)
        mean, basis = start["mean"], start["basis"][:, : args.dim]
    teaching = Teaching(pairs, mean, basis, args.device)
    objective = Objective(model, teaching, args)
    groups, rest = groups_of(model, objective.scales, args.lr_table, args.lr_weights, args.lr)
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    base = [g["lr"] for g in optimizer.param_groups]
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
          f"of which {len(held_out.repositories)} are looked at; computed by {args.device}", flush=True)  # fmt: skip
    state = args.out / "state.pt"
    settings = {k: v for k, v in vars(args).items() if k not in FREE}
    step, spent, looks = 0, 0.0, Looks()
    if state.exists():
        saved = torch.load(state, map_location="cpu", weights_only=False)
        other = [k for k in settings if settings[k] != saved["settings"].get(k)]
        if other:
            parser.error(f"{state} was begun with another {', '.join(other)}; give the same options or another --out")
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        objective.set_scales(saved["scales"])
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
            save(model, args.out / f"{step}.pt")
            # From here on a training that is interrupted goes on from this look.
            with whole(state) as file:
                torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step,
                            "scales": [scale.item() for scale in objective.scales], "spent": time.time() - started,
                            "rng": rng.bit_generator.state, "looks": looks.seen, "settings": settings}, file)  # fmt: skip
            looks.write(args.out)
        if progress >= 1 or looks.exhausted(args.patience):
            why = "the schedule" if progress >= 1 else f"{args.patience} looks without a better held-out figure"
            write_text(done, json.dumps({"step": step, "ended_by": why, "best": looks.best()}) + "\n")
            print(f"ended at step {step} by {why}; best held out: step {looks.best()}", flush=True)
            return
        set_rates(optimizer, base, min(1.0, (step + 1) / 100) * (1 - progress) + 0.01)
        ids, queries, documents, same = batches.next()
        loss, parts = objective(ids, queries, documents, same)
        if not math.isfinite(loss.item()):
            raise SystemExit(f"the loss is {loss.item()} at step {step}; nothing is written since the last look")
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(rest, 1.0)
        optimizer.step()
        losses.append(parts.tolist())
        step += 1
        if step in (5, 20, 100) or step % 250 == 0:
            mean = np.mean(losses[-250:], axis=0).round(3).tolist()
            print(
                f"{step} {(time.time() - started) / 60:.1f} min {mean} omega {model.omega.exp().item():.2f}", flush=True
            )


if __name__ == "__main__":
    main()
