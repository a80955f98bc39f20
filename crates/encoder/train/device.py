"""Where the scripts compute."""

import argparse

import torch


def device(name: str) -> torch.device:
    """`auto` is a CUDA GPU if PyTorch finds one; raises ArgumentTypeError for one that it does not have."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(name)
        torch.zeros(1, device=found)
    except (RuntimeError, AssertionError, ImportError, NotImplementedError) as error:
        raise argparse.ArgumentTypeError(f"{name}: {str(error).splitlines()[0]}") from error
    return found


def add_device_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", type=device, default="auto",
                        help="cpu, cuda, cuda:1, mps, … (default: auto, a CUDA GPU if there is one)")  # fmt: skip
