"""The whole on a cluster of three nodes: answers are those of one index, whatever dies. The tests follow each other."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ray
from conftest import colgrep, commit, gone, is_alive
from organisation import Expected, Organisation, Run, is_spread, while_asking

from colgrep_ray import command
from colgrep_ray.config import Config, Repository
from colgrep_ray.indexes import environment
from colgrep_ray.placing import assigned

WORDS = ["request", "cache", "queue", "token", "retry", "index", "socket", "header"]
VERBS = ["parse", "evict", "push", "verify", "delay", "build", "close", "encode"]
NAMES = ["api", "billing", "gateway", "search", "tools", "web"]


def text(name: str, number: int) -> str:
    """A file of a repository: two functions whose words are everywhere, and one whose words are rare."""
    verb, word = VERBS[number % 8], WORDS[(number * 3 + len(name)) % 8]
    other = VERBS[(number + len(name)) % 8]
    return (
        f'def {verb}_{word}(limit):\n    """{verb.title()}s the {word} of the {name}."""\n    return {other}(limit)\n\n\n'
        f"def {other}_{word}_{number}(value):\n    return {verb}_{word}(value)\n"
    )


QUERIES = [f"{verb} {word}" for verb in VERBS for word in WORDS[:5]] + [
    f"who calls {VERBS[n]}_{WORDS[n]}" for n in range(8)
]


@pytest.fixture(scope="module")
def organisation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Organisation]:
    folder = tmp_path_factory.mktemp("organisation")
    for name in NAMES:
        commit(folder / "origin" / name, {f"src/{name}_{n}.py": text(name, n) for n in range(12)}, "One")
    repositories = tuple(Repository(name, str(folder / "origin" / name)) for name in NAMES)
    config = Config(
        repositories,
        bucket=str(folder / "bucket"),
        data=str(folder / "data"),
        name="organisation",
        shards=2,
        poll=1.0,
        drain=3.0,
        program=colgrep(),
    )
    one = Organisation(config)
    try:
        one.start()
        yield one
    finally:
        one.close()


@pytest.fixture(scope="module")
def expected(organisation: Organisation, tmp_path_factory: pytest.TempPathFactory) -> Expected:
    """The answers of one process over all repositories."""
    with organisation.single(tmp_path_factory.mktemp("single")) as address:
        return {query: organisation.results(query, address) for query in QUERIES}


def is_whole(run: Run) -> bool:
    """Whether nothing was lost, and every answer is that of one index of all."""
    assert not run.lost and not run.different and not run.partial, (
        run,
        run.lost[:3],
        run.different[:3],
        run.partial[:3],
    )
    return len(run.seconds) > 0


def processes(organisation: Organisation, shard: int) -> list[int]:
    """The processes of a shard's replicas."""
    found = next(one for one in organisation.status()["shards"] if one["shard"] == shard)
    return [replica["pid"] for replica in found["replicas"] if replica.get("pid")]


def settle(organisation: Organisation) -> None:
    """Waits until no process of a replica that moved, or of a generation before, is left."""
    config = organisation.config
    find = ["pgrep", "-f", f"^{re.escape(config.program)} serve --shard .*{re.escape(config.data)}"]
    until = time.monotonic() + 60
    while True:
        found = subprocess.run(find, capture_output=True, text=True, check=True).stdout.split()
        named = [pid for shard in (0, 1) for pid in processes(organisation, shard)]
        if sorted(map(int, found)) == sorted(named):
            return
        assert time.monotonic() < until, (found, named)
        time.sleep(0.1)


def test_answers_are_those_of_one_index(organisation: Organisation, expected: Expected) -> None:
    assert sum(len(answer) for answer in expected.values()) > 100
    assert is_whole(organisation.run(QUERIES, expected))
    shards = organisation.status()["shards"]
    assert [one["repositories"] for one in shards] == assigned(NAMES, 2)
    for shard in shards:
        assert len({replica["node"] for replica in shard["replicas"]}) == 2, "replicas of a shard are on two nodes"


def test_a_node_that_dies_costs_no_answer(organisation: Organisation, expected: Expected) -> None:
    node = organisation.nodes.pop()
    there = {
        replica["pid"]
        for shard in organisation.status()["shards"]
        for replica in shard["replicas"]
        if replica["node"] == node.node_id
    }
    with while_asking(organisation, QUERIES, expected) as run:
        time.sleep(1.0)
        organisation.kill_node(node)
        assert all(gone(pid) for pid in there), "a node's processes end with it"
        organisation.until(lambda status: status["lost"] > 0)
        organisation.until(lambda status: bool(status["is_complete"]))
    assert is_whole(run)
    assert is_whole(organisation.run(QUERIES, expected))


def test_a_node_that_comes_gets_its_share(organisation: Organisation, expected: Expected) -> None:
    organisation.nodes.append(organisation.add_node())

    with while_asking(organisation, QUERIES, expected) as run:
        organisation.until(is_spread)
    assert is_whole(run)


def test_a_controller_that_dies_finds_its_replicas(organisation: Organisation, expected: Expected) -> None:
    settle(organisation)
    before = [processes(organisation, shard) for shard in (0, 1)]
    with while_asking(organisation, QUERIES, expected) as run:
        controller = organisation.status()["pid"]
        ray.kill(organisation.controller, no_restart=False)
        organisation.until(lambda status: status["pid"] != controller and bool(status["is_complete"]))
    assert is_whole(run)
    # One that was slow to answer may have been replaced; one of each shard at least went on.
    assert all(set(processes(organisation, shard)) & set(before[shard]) for shard in (0, 1))


def test_a_changed_file_outlives_the_controller(organisation: Organisation, expected: Expected) -> None:
    rest = tuple(one for one in organisation.config.repositories if one.name != "tools")
    command.call(organisation.controller, "configure", replace(organisation.config, repositories=rest))
    organisation.until(lambda status: bool(status["is_complete"]))
    controller = organisation.status()["pid"]
    ray.kill(organisation.controller, no_restart=False)
    organisation.until(lambda status: status["pid"] != controller and bool(status["is_complete"]))
    found = organisation.status()
    assert sorted(found["repositories"]) == [one.name for one in rest]
    assert "tools" not in str([shard["repositories"] for shard in found["shards"]])

    command.call(organisation.controller, "configure", organisation.config)
    organisation.until(lambda status: "tools" in status["repositories"] and bool(status["is_complete"]))
    # The coordinator hears of the new processes a moment later.
    until = time.monotonic() + 60
    while organisation.run(QUERIES, expected).different and time.monotonic() < until:
        time.sleep(0.1)
    assert is_whole(organisation.run(QUERIES, expected))


def test_a_push_is_found_while_searches_go_on(organisation: Organisation, expected: Expected) -> None:
    origin = Path(organisation.config.repository("web").url)
    assert "src/zebra.py" not in str(organisation.ask("zebra crossing"))
    with while_asking(organisation, QUERIES, expected) as run:
        tip = commit(origin, {"src/zebra.py": "def zebra_crossing():\n    pass\n"}, "Two")
        organisation.until(lambda status: status["repositories"]["web"] == tip and bool(status["is_complete"]))
        # The coordinator hears of the new processes a moment later, so some answers are still the old ones.
        until, found = time.monotonic() + 60, 0
        while found < 5 and time.monotonic() < until:
            found = found + 1 if "src/zebra.py" in str(organisation.ask("zebra crossing")) else 0
    assert found == 5
    # Counts of all files moved, so an answer is the old one or the new one; none is lost, and none is partial.
    assert not run.lost and not run.partial and run.seconds
    git_back(origin)
    organisation.until(lambda status: status["repositories"]["web"] != tip and bool(status["is_complete"]))


def test_a_push_that_is_told_waits_for_no_poll(organisation: Organisation) -> None:
    origin = Path(organisation.config.repository("web").url)
    command.call(organisation.controller, "configure", replace(organisation.config, poll=3600.0))
    try:
        # What was asked for before may still be under way.
        time.sleep(2 * organisation.config.poll)
        tip = commit(origin, {"src/heron.py": "def heron_stands():\n    pass\n"}, "Told")
        command.call(organisation.controller, "look", ["web"])
        organisation.until(lambda status: status["repositories"]["web"] == tip)
        # One that is told while somebody else builds waits for that one only.
        command.call(organisation.controller, "hold", 5.0)
        tip = commit(origin, {"src/heron.py": "def heron_flies():\n    pass\n"}, "Told again")
        command.call(organisation.controller, "look", ["web"])
        organisation.until(lambda status: status["repositories"]["web"] == tip)
    finally:
        command.call(organisation.controller, "configure", organisation.config)
        (origin / "src/heron.py").unlink()
        tip = commit(origin, {}, "Back")
        command.call(organisation.controller, "look", [])
    organisation.until(lambda status: status["repositories"]["web"] == tip and bool(status["is_complete"]))


def git_back(origin: Path) -> None:
    """Takes the last commit's file away again, so that answers are what they were."""
    (origin / "src/zebra.py").unlink()
    commit(origin, {}, "Three")


def test_a_shard_without_replicas_is_told_and_comes_back(
    organisation: Organisation, expected: Expected, tmp_path: Path
) -> None:
    settle(organisation)
    shards = organisation.shards_file(tmp_path / "shards.json")
    token = organisation.token()
    search = [organisation.config.program, "parse request", "--shards", str(shards)]
    environ = environment(tmp_path / "data", COLGREP_SHARD_TOKEN=token)
    assert subprocess.run(search, env=environ, capture_output=True, check=False).returncode == 0

    lost = organisation.status()["lost"]
    for pid in processes(organisation, 0):
        os.kill(pid, signal.SIGKILL)
    done = subprocess.run(search, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "1 of 2 shards answered" in done.stderr, done
    told = organisation.ask("parse request")["shards"]
    assert (told["asked"], told["answered"]) == (2, 1) and len(told["missing"]) == 1

    organisation.until(lambda status: status["lost"] >= lost + 2 and bool(status["is_complete"]))
    until = time.monotonic() + 30
    while organisation.ask("parse request")["shards"]["answered"] < 2 and time.monotonic() < until:
        time.sleep(0.1)
    assert is_whole(organisation.run(QUERIES, expected))


def test_more_shards_and_fewer_lose_no_answer(organisation: Organisation, expected: Expected) -> None:
    settle(organisation)
    for shards in (3, 2):
        wanted = [names for names in assigned(NAMES, shards) if names]

        def is_done(status: dict[str, Any], wanted: list[list[str]] = wanted) -> bool:
            return bool(status["is_complete"]) and [one["repositories"] for one in status["shards"]] == wanted

        with while_asking(organisation, QUERIES, expected) as run:
            command.call(organisation.controller, "configure", replace(organisation.config, shards=shards))
            organisation.until(is_done)
        assert is_whole(run)
        assert is_whole(organisation.run(QUERIES, expected))


def test_nothing_is_left_behind(organisation: Organisation) -> None:
    pids = [pid for shard in (0, 1) for pid in processes(organisation, shard)]
    assert len(pids) >= 4 and all(is_alive(pid) for pid in pids)
    organisation.close()
    organisation.controller = None
    assert all(gone(pid) for pid in pids)
