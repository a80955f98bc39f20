"""Tunes a teacher and trains the embedded model by it, all on one device and by the clock.

    distil.py --mined WORK/mined --start WORK/start.pt --vocabulary WORK/vocab.txt --out RUN [--seconds 130 180 180]

The teacher judges every batch as training goes, by its vectors and by late interaction (`judge.py`). Two runs follow each
other, A and B, which begin with the same weights and differ in their settings. RUN/A and RUN/B get a checkpoint and a line
of `log.jsonl` at each look at the held-out repositories, `late.pt` and `middle.pt`, the means of looks 4 to 8 and 3 to 5;
RUN/mean.pt is the mean of these four, RUN/log.jsonl tells of everything.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch

from average import mean
from bert import package_folder
from checkpoint import load, save
from clock import Clock
from device import add_device_option
from draw import Drawing, Source, batches, nearest
from heldout import Asked
from judge import Judge, figures, tune
from looks import Looks
from model import Model
from online import PARTS, Online, Setting, scores_of
from principal import turned
from rates import groups_of, set_rates
from tables import Tables
from text import WordPiece

TEACHER = Drawing(groups=8, share=96, asked=0.65, near=0)
SETTINGS = (
    Setting("A", Drawing(4, 128, asked=0.5, near=2), lr_table=4e-4, lr_weights=1.5e-3, lr=1e-3, anchor=0.3, keep=0.3),
    Setting("B", Drawing(4, 128, asked=0.62, near=1), lr_table=7e-4, lr_weights=2e-3, lr=1.4e-3, anchor=0.1, keep=0.0),
)
LOOKS, WARMING = 8, 150
# Which looks are averaged, of LOOKS.
MEANS = {"late": slice(3, 8), "middle": slice(2, 5)}


class Log:
    """Lines of JSON, in a file and said."""

    def __init__(self, path: Path):
        self.path, self.started = path, time.time()
        path.write_text("")

    def __call__(self, **said) -> None:
        line = json.dumps({"seconds": round(time.time() - self.started, 1)} | said)
        print(line, flush=True)
        with open(self.path, "a") as file:
            file.write(line + "\n")


def look(model: Model, tables: Tables, asked: Asked) -> dict[str, float]:
    """The model's held-out figures."""
    sizes = model.config.query_pieces_max, model.config.document_pieces_max

    def scores(queries, pairs):
        query = tables.query.take(queries, sizes[0])
        parts = (tables.document.take(tables.documents_of(part), sizes[1]) for part in pairs.split(256))
        return torch.cat([scores_of(model, query, part)[3] for part in parts], 1)

    return asked.figures(scores)


def train(setting: Setting, model: Model, judge: Judge, tables: Tables, source: Source, asked: Asked, clock: Clock, seed: int,
          out: Path, say) -> list[dict[str, torch.Tensor]]:  # fmt: skip
    """A run, whose checkpoints are written to `out`; gives the weights of `MEANS`."""
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    objective = Online(model, judge, tables, setting, *turned(model, tables))
    groups, rest = groups_of(model, [objective.scales], setting.lr_table, setting.lr_weights, setting.lr)
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=tables.device.type == "cuda")
    base = [group["lr"] for group in optimizer.param_groups]
    ahead = batches(source, setting.drawing, clock.batches, seed)
    say(run=setting.name, begins=True, held_out=look(model, tables, asked))
    looks, states, sums, step = Looks(), [], [], 0
    clock.start()
    while True:
        progress = min(1.0, clock.progress(step))
        if step and progress >= (len(states) + 1) / LOOKS:
            parts = torch.stack(sums).mean(0).tolist() if sums else [math.nan] * len(PARTS)
            found = look(model, tables, asked)
            looks.seen.append({"step": step, "minutes": clock.spent() / 60, "held_out": found["question"]} | found
                              | {name: round(part, 4) for name, part in zip(PARTS, parts)})  # fmt: skip
            if not math.isfinite(parts[0]) and sums:
                raise SystemExit(f"the loss is {parts[0]} before step {step}")
            say(run=setting.name, **looks.seen[-1])
            save(model, out / f"{step}.pt")
            looks.write(out)
            states.append({name: value.detach().cpu().clone() for name, value in model.state_dict().items()})
            sums = []
        if step and progress >= 1:
            break
        set_rates(optimizer, base, min(1, (step + 1) / WARMING) * (1 - progress) + 0.01)
        loss, parts = objective(torch.from_numpy(ahead[step % len(ahead)]).to(tables.device))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(rest, 1.0)
        optimizer.step()
        sums.append(parts)
        step += 1
    found = []
    for name, which in MEANS.items():
        # A run of fewer steps than looks has fewer of them.
        found.append(mean(states[which] or states[-1:]))
        model.load_state_dict(found[-1])
        save(model, out / f"{name}.pt")
        say(run=setting.name, mean=name, **look(model, tables, asked))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mined", type=Path, required=True)
    parser.add_argument("--start", type=Path, required=True, help="checkpoint to go on from")
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--teacher", type=Path, metavar="FOLDER", help="of the teacher's files, if not in its package")
    parser.add_argument(
        "--seconds", type=float, nargs=3, default=[130, 180, 180], metavar=("TEACHER", "FIRST", "SECOND")
    )
    parser.add_argument("--steps", type=int, help="of each training, at most, for tests")
    parser.add_argument("--share", type=int, help="pairs of a repository in a batch, for tests (default: as set)")
    parser.add_argument("--seed", type=int, default=1)
    add_device_option(parser)
    args = parser.parse_args()
    if min(args.seconds) <= 0 or (args.steps is not None and args.steps < 1):
        parser.error("--seconds are more than 0, --steps at least 1")
    if args.share:
        for drawing in (TEACHER, *(setting.drawing for setting in SETTINGS)):
            drawing.share = args.share
    done = args.out / "mean.pt"
    if done.exists():
        print(f"{done} is there", flush=True)
        return
    args.out.mkdir(parents=True, exist_ok=True)
    say = Log(args.out / "log.jsonl")
    torch.manual_seed(args.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    vocabulary, start = len(WordPiece.load(args.vocabulary).vocabulary), load(args.start)
    if start.config.vocabulary != vocabulary:
        parser.error(f"{args.start} has {start.config.vocabulary} pieces, {args.vocabulary} {vocabulary}")
    folder = args.teacher or package_folder()
    try:
        tables = Tables(args.mined, args.vocabulary, folder, args.seed, args.device)
        asked = Asked(tables)
        clock = Clock(args.seconds[0], args.steps)
        ahead = batches(Source(tables, None), TEACHER, clock.batches, args.seed)
    except ValueError as error:
        parser.error(str(error))
    say(pairs=np.bincount(tables.kind).tolist(), texts=len(tables.document), repositories=len(tables.names),
        looked_at=len(asked.repositories), device=str(args.device))  # fmt: skip
    judge = Judge(folder, tables.special).to(args.device)
    tune(judge, tables, ahead, clock, say)
    say(teacher_held_out=figures(judge, tables, asked))
    tables.set_vectors(judge.encode(tables.query_tokens), judge.encode(tables.document_tokens))
    source = Source(tables, nearest(tables, args.device))
    say(hard_negatives=int((source.near >= 0).sum()))
    judge.requires_grad_(False)
    found = []
    for number, setting in enumerate(SETTINGS):
        model, clock = load(args.start).to(args.device).train(), Clock(args.seconds[1 + number], args.steps)
        found += train(setting, model, judge, tables, source, asked, clock, args.seed + 1 + number,
                       args.out / setting.name, say)  # fmt: skip
    start.load_state_dict(mean(found))
    save(start, done)
    start.to(args.device)
    say(mean=True, **look(start, tables, asked))


if __name__ == "__main__":
    main()
