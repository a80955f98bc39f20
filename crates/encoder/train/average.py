"""The mean of several checkpoints' weights, as a checkpoint (Wortsman et al., Model soups, ICML 2022).

    average.py --out mean.pt RUN/1400.pt RUN/2100.pt RUN/2800.pt
    average.py --out mean.pt --run RUN --run RUN --last 3

Checkpoints are those of `train.py` and `distil.py`: {"config", "state_dict"}. Their runs begin with the same weights, so
that those of several can be averaged too. `--last` takes those of each run's last looks; of one with fewer, all.
"""

import argparse
from pathlib import Path

import torch

from files import whole
from looks import Looks


def mean(states: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """The mean of weights that have the same names."""
    return {name: sum(state[name].float() for state in states) / len(states) for name in states[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", type=Path, nargs="*")
    parser.add_argument("--run", type=Path, action="append", default=[])
    parser.add_argument("--last", type=int)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if bool(args.checkpoints) == bool(args.run and args.last):
        parser.error("give checkpoints, or --run and --last")
    for run in args.run:
        args.checkpoints += [run / f"{look['step']}.pt" for look in Looks.read(run).seen[-args.last :]]
    found = [torch.load(path, map_location="cpu", weights_only=True) for path in args.checkpoints]
    config, states = found[0]["config"], [saved["state_dict"] for saved in found]
    for path, saved, state in zip(args.checkpoints, found, states):
        if saved["config"] != config or state.keys() != states[0].keys():
            parser.error(f"{path} is another model than {args.checkpoints[0]}")
    with whole(args.out) as file:
        torch.save({"config": config, "state_dict": mean(states)}, file)
    print(f"{args.out}: the mean of {', '.join(map(str, args.checkpoints))}")


if __name__ == "__main__":
    main()
