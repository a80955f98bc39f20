"""The command `colgrep-ray`: build."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from typing import Any

from .config import Config, ConfigError, read


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; its exit status: 0, 1 where something is missing, 2 for an error."""
    parser = argparse.ArgumentParser(
        prog="colgrep-ray",
        description="Ranked code search over an organisation's repositories: colgrep's shards on a Ray cluster.",
    )
    parser.add_argument(
        "--address",
        default=os.environ.get("RAY_ADDRESS", ""),
        help="a Ray cluster's address, or auto (default: RAY_ADDRESS; without one, Ray runs on this machine alone, until it ends)",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("build", "bring the index of every repository in the bucket up to date"),):
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.add_argument("config", help="the file that names the repositories")
    asked = parser.parse_args(arguments)
    try:
        config = read(asked.config)
        return _run(asked, config)
    except (ConfigError, OSError, ConnectionError) as error:
        print(f"colgrep-ray: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _run(asked: argparse.Namespace, config: Config) -> int:
    import ray  # It takes seconds; --help and errors of a file need none of it.

    connect(asked.address, is_local=not asked.address)
    try:
        return build(config)
    finally:
        ray.shutdown()


def connect(where: str, *, is_local: bool) -> None:
    """Connects to a cluster, or starts one in this process, on loopback."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if is_local:
        ray.init(
            include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, _node_ip_address="127.0.0.1"
        )
    else:
        ray.init(where or "auto", log_to_driver=False, logging_level=logging.ERROR)


def _bulk(config: Config) -> list[Any]:
    from .building import build_all

    done = []
    for built in build_all(config):
        done.append(built)
        said = (
            built.error or f"{built.commit[:12]} {'was there' if built.was_there else 'built'} in {built.seconds:.1f} s"
        )
        print(f"{built.name}: {said}", file=sys.stderr if built.error else sys.stdout, flush=True)
    return done


def build(config: Config) -> int:
    """Builds all, and says what came of each."""
    if not config.bucket:
        raise ConfigError('there is no bucket to build into: bucket = "s3://…"')
    return 1 if any(built.error for built in _bulk(config)) else 0


if __name__ == "__main__":
    sys.exit(main())
