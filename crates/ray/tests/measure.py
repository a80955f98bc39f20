"""Measures a cluster of three nodes on this machine, with repositories of a folder:

    python tests/measure.py --repositories DIR --work NEW_DIR [--take 12] [--shards 3] [--queries 200]

Each folder of DIR becomes a repository of one commit. Asked are names of its definitions, as words, one query after the
other. Every answer is compared with that of one process over all repositories.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

from conftest import colgrep, commit
from organisation import Expected, Organisation, is_spread, while_asking

from colgrep_ray.config import Config, Repository
from colgrep_ray.indexes import environment

DEFINED = re.compile(
    r"\b(?:def|fn|func|function|class|struct|trait|interface)\s+([A-Za-z][A-Za-z0-9]*_?[A-Za-z0-9_]{4,})"
)


def questions(folder: Path, count: int) -> list[str]:
    """Names of definitions as words, drawn from all repositories alike."""
    draw, found = random.Random(3), []
    for repository in sorted(folder.iterdir()):
        names: set[str] = set()
        for file in sorted(repository.rglob("*")):
            if file.is_file() and file.suffix in (
                ".py",
                ".rs",
                ".go",
                ".js",
                ".ts",
                ".java",
                ".rb",
                ".c",
                ".cpp",
                ".php",
            ):
                names.update(DEFINED.findall(file.read_text(encoding="utf-8", errors="replace")))
        words = {" ".join(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)).lower() for name in names}
        some = sorted(one for one in words if " " in one)
        found += draw.sample(some, min(len(some), count))
    return draw.sample(found, count)


def say(*words: object) -> None:
    """Prints a line at once."""
    print(*words, flush=True)


def main() -> None:
    """Lays out, starts, measures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--take", type=int, default=12)
    parser.add_argument("--shards", type=int, default=3)
    parser.add_argument("--queries", type=int, default=200)
    asked = parser.parse_args()
    names = sorted(one.name for one in asked.repositories.iterdir() if one.is_dir())[: asked.take]
    for name in names:
        shutil.copytree(asked.repositories / name, asked.work / "origin" / name, symlinks=True)
        commit(asked.work / "origin" / name, {}, "All")
    config = Config(
        tuple(Repository(name, str(asked.work / "origin" / name)) for name in names),
        bucket=str(asked.work / "bucket"),
        data=str(asked.work / "data"),
        name="measured",
        shards=asked.shards,
        program=colgrep(),
    )
    queries = questions(asked.work / "origin", asked.queries)
    began = time.monotonic()
    organisation = Organisation(config)
    try:
        say(f"cluster of 3 nodes: {time.monotonic() - began:.1f} s")
        began = time.monotonic()
        organisation.start()
        say(f"{len(names)} repositories built and served: {time.monotonic() - began:.1f} s")
        with organisation.single(asked.work / "single") as address:
            expected = {query: organisation.results(query, address) for query in queries}
            one = organisation.run(queries, expected, address)
            say(f"one process: {one}")
        measure(organisation, queries, expected)
    finally:
        organisation.close()


def measure(organisation: Organisation, queries: list[str], expected: Expected) -> None:
    """What happens when nodes and processes die, and how soon a push is found."""
    say(f"three nodes: {organisation.run(queries, expected)}")

    killed: list[float] = []

    def kill() -> None:
        organisation.kill_node(organisation.nodes.pop())
        killed.append(time.monotonic())

    killer = threading.Timer(1.0, kill)
    killer.start()
    say(f"a node killed after a second: {organisation.run(queries, expected)}")
    killer.join()
    say(f"two nodes: {organisation.run(queries, expected)}")
    organisation.until(lambda status: status["lost"] > 0 and bool(status["is_complete"]))
    say(f"all replicas back, within {time.monotonic() - killed[0]:.1f} s of the kill (the run before included)")

    organisation.nodes.append(organisation.add_node())
    with while_asking(organisation, queries, expected) as run:
        took = organisation.until(is_spread)
    say(f"a node added, replicas on all three after {took:.1f} s; meanwhile {run}")
    say(f"three nodes again: {organisation.run(queries, expected)}")

    silent(organisation, queries, expected)
    gone_and_back(organisation)
    pushed(organisation)


def silent(organisation: Organisation, queries: list[str], expected: Expected) -> None:
    """A node whose processes stand still: its connections stay open, and nothing answers."""
    node = organisation.nodes.pop()
    freezer = threading.Timer(1.0, organisation.kill_node, (node, signal.SIGSTOP))
    freezer.start()
    before = organisation.status()["lost"]
    say(f"a node silent after a second: {organisation.run(queries, expected)}")
    freezer.join()
    organisation.until(lambda status: status["lost"] > before and bool(status["is_complete"]))
    say(f"without it: {organisation.run(queries, expected)}")
    organisation.kill_node(node)
    organisation.nodes.append(organisation.add_node())
    organisation.until(is_spread)


def gone_and_back(organisation: Organisation) -> None:
    """Both replicas of the first shard killed."""
    file = organisation.shards_file(Path(organisation.config.data) / "shards.json")
    first = organisation.status()["shards"][0]
    for replica in first["replicas"]:
        os.kill(replica["pid"], signal.SIGKILL)
    began = time.monotonic()
    search = [organisation.config.program, "parse request", "--shards", str(file)]
    env = environment(Path(organisation.config.data) / "asking", COLGREP_SHARD_TOKEN=organisation.token())
    done = subprocess.run(search, env=env, capture_output=True, text=True, check=False)
    said = organisation.ask("parse request")["shards"]
    say(
        f"both replicas of a shard killed: exit status {done.returncode}, {done.stderr.strip()!r}; the server says {said}"
    )
    while organisation.ask("parse request")["shards"]["missing"]:
        time.sleep(0.1)
    say(f"the shard answers again after {time.monotonic() - began:.1f} s")
    organisation.until(lambda status: bool(status["is_complete"]))
    say(f"both replicas are back after {time.monotonic() - began:.1f} s")


def pushed(organisation: Organisation) -> None:
    """A commit, until a search finds it."""
    origin = Path(organisation.config.repositories[0].url)
    commit(origin, {"zebra_crossing.py": "def zebra_crossing_at_noon():\n    pass\n"}, "Two")
    began = time.monotonic()
    while "zebra_crossing.py" not in str(organisation.ask("zebra crossing at noon")):
        time.sleep(0.1)
    say(
        f"a commit, built, pushed and found after {time.monotonic() - began:.1f} s (looked for every {organisation.config.poll:.0f} s)"
    )


if __name__ == "__main__":
    main()
