"""The mean of several checkpoints' weights, as a checkpoint (Wortsman et al., Model soups, ICML 2022).

    average.py --out mean.pt RUN/1400.pt RUN/2100.pt RUN/2800.pt

Checkpoints are those of `train.py`, of one run: {"config", "state_dict"}.
"""

import argparse
from pathlib import Path

import torch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    found = [torch.load(path, map_location="cpu", weights_only=True) for path in args.checkpoints]
    config, states = found[0]["config"], [saved["state_dict"] for saved in found]
    for path, saved, state in zip(args.checkpoints, found, states):
        if saved["config"] != config or state.keys() != states[0].keys():
            parser.error(f"{path} is another model than {args.checkpoints[0]}")
    mean = {name: sum(state[name].float() for state in states) / len(states) for name in states[0]}
    torch.save({"config": config, "state_dict": mean}, args.out)


if __name__ == "__main__":
    main()
