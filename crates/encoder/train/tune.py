"""Teaches the teacher code: `tune.py --mined MINED --out TUNED.safetensors [options]`, resumable, seeded.

Contrastive training of all-MiniLM-L6-v2 on the mined pairs and the written questions (in-batch negatives of the same
repositories, van den Oord et al., CPC, 2018; Henderson et al. 2017), a share of them with the query's rarer words taken
out of the unit. Its table of words stays as it is, which keeps what it knows of language. The held-out repositories are in
no batch.
"""

import argparse
import collections
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save

from device import add_device_option
from files import whole
from pairs import WRITTEN, is_held_out
from teach import QUERY_TOKENS, UNIT_CHARS, UNIT_TOKENS
from teacher import Teacher
from text import read_jsonl, words

# How often a pair is drawn, by its kind; questions have a share of their own.
WEIGHTS = {"name": 0.25, "doc": 1, "inline": 1, "commit": 1.5, "prose": 2, "section": 1}
PAIRS_MAX = 3000
TEMPERATURE = 0.05
# Of the loss: how much a unit's own query, among all queries, counts beside a query's own unit.
BACKWARD = 0.3
# Words in more of the units than this are not taken out of them.
COMMON = 0.03


class Repository:
    """A repository's pairs as (query, words of the unit, unit), and how likely each is drawn."""

    def __init__(self, path: Path, rng: np.random.Generator):
        lines = list(read_jsonl(path))
        asked = [line for line in lines if line["kind"] in WRITTEN]
        mined = [line for line in lines if line["kind"] not in WRITTEN]
        mined = [mined[i] for i in rng.permutation(len(mined))[:PAIRS_MAX]]
        weights = np.array([WEIGHTS[line["kind"]] for line in mined])
        self.weights = weights / weights.sum()
        self.mined, self.asked = (
            [(p["query"], p["text"][:UNIT_CHARS], p["unit"]) for p in part] for part in (mined, asked)
        )

    def draw(self, count: int, asked: int, rng: np.random.Generator) -> list[tuple[str, str, int]]:
        asked = min(asked, len(self.asked))
        chosen = [self.asked[i] for i in rng.choice(len(self.asked), asked, replace=False)] if asked else []
        return chosen + [self.mined[i] for i in rng.choice(len(self.mined), count - asked, False, self.weights)]


def encode(teacher: Teacher, texts: list[str], tokens_max: int) -> torch.Tensor:
    """Vectors of texts with their gradients, B x 384; the longer half apart from the shorter, which saves padding."""
    ids = teacher.ids(texts, tokens_max)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    found = torch.cat([teacher.vectors([ids[i] for i in part]) for part in np.array_split(order, 2)])
    return found[torch.tensor(np.argsort(order))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mined", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="tuned weights; OUT.state beside it while training")
    parser.add_argument("--start", type=Path, metavar="WEIGHTS", help="of an earlier tuning to go on from")
    parser.add_argument("--steps", type=int, default=1600)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--groups", type=int, default=8, help="repositories of a batch, at most")
    parser.add_argument("--asked", type=float, default=0.7, help="share of a batch that are written questions, at most")
    parser.add_argument("--mask", type=float, default=0.3, help="share of pairs without the query's words in the unit")
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--save", type=int, default=200, help="steps after which an interrupted training goes on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    add_device_option(parser)
    args = parser.parse_args()
    if args.out.exists():
        return
    torch.set_num_threads(args.threads)
    rng = np.random.default_rng(args.seed)
    paths = [path for path in sorted(args.mined.glob("*.jsonl")) if not is_held_out(path.stem)]
    if not paths:
        parser.error(f"{args.mined} holds no pairs that may be trained on; run mine.py first")
    groups = min(args.groups, len(paths))
    share = args.batch // groups
    repositories = [r for r in (Repository(path, rng) for path in paths) if len(r.mined) >= share]
    if len(repositories) < groups:
        parser.error(f"{len(repositories)} repositories have {share} pairs, a batch takes {groups} such")
    odds = np.array([len(r.mined) for r in repositories]) ** 0.6
    odds /= odds.sum()
    sample = [set(words(text)) for r in repositories for _, text, _ in r.mined[:200]]
    common = {w for w, n in collections.Counter(w for s in sample for w in s).items() if n > COMMON * len(sample)}
    teacher = Teacher(args.device, args.start)
    masters = {name: value.float() for name, value in teacher.w.items()}
    learned = [value.requires_grad_() for name, value in masters.items() if "word_emb" not in name]
    optimizer = torch.optim.AdamW(learned, lr=args.lr, weight_decay=0.01, betas=(0.9, 0.98))
    state, step = args.out.with_suffix(".state"), 0
    if state.exists():
        saved = torch.load(state, map_location=args.device, weights_only=False)
        with torch.no_grad():
            for name, value in saved["weights"].items():
                masters[name].copy_(value)
        optimizer.load_state_dict(saved["optimizer"])
        step, rng.bit_generator.state = saved["step"], saved["rng"]
        print(f"goes on from step {step}", flush=True)
    started, seen = time.time(), []
    while step < args.steps:
        batch = []
        for number in rng.choice(len(repositories), groups, replace=False, p=odds):
            drawn = repositories[number].draw(share, int(share * args.asked), rng)
            batch += [(query, text, (number, unit)) for query, text, unit in drawn]
        units = []
        for query, text, _ in batch:
            kept = found = words(text)
            if rng.random() < args.mask:
                hidden = set(words(query)) - common
                kept = [word for word in found if word not in hidden]
            units.append(" ".join(kept if len(kept) >= 6 else found))
        for group in optimizer.param_groups:
            group["lr"] = args.lr * min(1, (step + 1) / 50) * (1 - step / args.steps)
        teacher.w = {name: value.bfloat16() for name, value in masters.items()}
        asked = encode(teacher, [query for query, _, _ in batch], QUERY_TOKENS)
        scores = asked @ encode(teacher, units, UNIT_TOKENS).T / TEMPERATURE
        keys = [key for _, _, key in batch]
        same = torch.tensor([[a == b for b in keys] for a in keys]) & ~torch.eye(len(keys), dtype=torch.bool)
        scores = scores.masked_fill(same.to(args.device), -1e4)
        truth = torch.arange(len(keys), device=args.device)
        loss = (1 - BACKWARD) * F.cross_entropy(scores, truth) + BACKWARD * F.cross_entropy(scores.T, truth)
        if not math.isfinite(loss.item()):
            raise SystemExit(f"the loss is {loss.item()} at step {step}")
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        seen.append((loss.item(), (scores.argmax(1) == truth).float().mean().item()))
        step += 1
        if step == 10 or step % 50 == 0:
            said = "loss {:.3f}, {:.3f} right".format(*np.mean(seen[-50:], axis=0))
            print(f"{step} {(time.time() - started) / 60:.1f} min {said}", flush=True)
        if step % args.save == 0 and step < args.steps:
            with whole(state) as file:
                torch.save({"weights": {name: value.detach() for name, value in masters.items()}, "step": step,
                            "optimizer": optimizer.state_dict(), "rng": rng.bit_generator.state}, file)  # fmt: skip
    with whole(args.out) as file:
        file.write(save({name: value.detach().half().cpu().contiguous() for name, value in masters.items()}))
    state.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
