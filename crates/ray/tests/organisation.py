"""An organisation in small: repositories, a bucket, and a cluster of a head and three nodes on this machine.

Nodes are killed as a machine dies: every process at once, by SIGKILL. `measure.py` runs the same with larger repositories.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import ray
from ray.cluster_utils import Cluster
from ray.exceptions import RayError

from colgrep_ray import command
from colgrep_ray.config import Config
from colgrep_ray.indexes import Built, environment
from colgrep_ray.running import Child

#: The results of each query.
Expected = dict[str, list[dict[str, Any]]]
#: What each node of the tests gets for Ray's objects, in bytes: nothing large goes through them.
STORE = 80 << 20
LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.socket() as one:
        one.bind((LOOPBACK, 0))
        return int(one.getsockname()[1])


def descendants(pid: int) -> list[int]:
    """A process, and all that it began, directly or not."""
    parents: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(int(folder.name))
    found = [pid]
    for one in found:
        found.extend(parents.get(one, []))
    return found


@dataclass
class Run:
    """What came of some queries."""

    lost: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)
    #: Queries whose answer says that a shard is missing.
    partial: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def at(self, share: float) -> float:
        """The time within which this share of the queries was answered."""
        times = sorted(self.seconds)
        return times[min(len(times) - 1, int(len(times) * share))] if times else 0.0

    def __str__(self) -> str:
        return (
            f"{len(self.seconds)} queries, {len(self.lost)} lost, {len(self.different)} different, "
            f"{len(self.partial)} partial, p50 {self.at(0.5) * 1e3:.0f} ms, p95 {self.at(0.95) * 1e3:.0f} ms, "
            f"max {max(self.seconds, default=0.0) * 1e3:.0f} ms"
        )


#: Where the clones of the single server lie; a folder of that name stands in front of each repository.
CLONES = "clones-of-all"


def facts(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of an answer, with all that is said of each: bits of the strength, lines, names, and its text.

    Over shards as over several roots of one server, the repository's name stands in front of a path.
    """
    hits: list[dict[str, Any]] = answer["hits"]
    return hits


class Organisation:
    """A cluster that serves a file's repositories."""

    def __init__(self, config: Config, nodes: int = 3) -> None:
        self.config = replace(config, listen=f"{LOOPBACK}:{free_port()}")
        head = {"num_cpus": 0, "include_dashboard": False}
        self.cluster = Cluster(initialize_head=True, head_node_args=head | self._node())
        self.nodes = [self.add_node() for _ in range(nodes)]
        self.cluster.wait_for_nodes()
        ray.init(self.cluster.address, logging_level=logging.ERROR, log_to_driver=bool(os.environ.get("SHOW")))
        self.built: list[Built] = []
        self.controller: Any = None

    def _node(self) -> dict[str, Any]:
        return {"object_store_memory": STORE, "node_ip_address": LOOPBACK}

    def add_node(self) -> Any:
        """Another node."""
        return self.cluster.add_node(num_cpus=1, **self._node())

    def kill_node(self, node: Any, number: int = signal.SIGKILL) -> None:
        """A node's end without grace: all its processes at once.

        With SIGSTOP they are silent, as those of a machine whose network is gone: no connection is closed.
        """
        for pid in descendants(node.all_processes["raylet"][0].process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        if number == signal.SIGKILL:
            self.cluster.remove_node(node, allow_graceful=False)

    def start(self) -> None:
        """Builds and serves all, as the command does on a cluster."""
        assert command.start(self.config, is_local=False, builds=True, wait=120.0) == 0
        self.controller = command.find(self.config)

    def status(self) -> dict[str, Any]:
        """What the controller says."""
        found: dict[str, Any] = command.call(self.controller, "status")
        return found

    def token(self) -> str:
        """What the shards ask of a coordinator."""
        return str(command.call(self.controller, "token"))

    def until(self, what: Callable[[dict[str, Any]], bool], limit: float = 90.0) -> float:
        """Waits until the status is so; the seconds that it took."""
        began = time.monotonic()
        found: dict[str, Any] = {}
        while True:
            with suppress(RayError):  # The controller may be on its way back.
                found = self.status()
                if what(found):
                    break
            assert time.monotonic() - began < limit, json.dumps(found, indent=1, default=str)
            time.sleep(0.1)
        return time.monotonic() - began

    def ask(self, query: str, where: str = "", results: int = 10) -> dict[str, Any]:
        """One search."""
        body = json.dumps({"query": query, "results": results, "pack": 0}).encode()
        url = f"http://{where or self.config.listen}/api/v1/search"
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def results(self, query: str, where: str = "") -> list[dict[str, Any]]:
        """The results of one search."""
        return facts(self.ask(query, where))

    def run(self, queries: list[str], expected: Expected, where: str = "") -> Run:
        """Asks all queries, one after the other."""
        run = Run()
        for query in queries:
            began = time.monotonic()
            try:
                answer = self.ask(query, where)
            except OSError as error:
                said = error.read().decode(errors="replace") if isinstance(error, urllib.error.HTTPError) else ""
                run.lost.append(f"{query}: {error} {said}")
                continue
            run.seconds.append(time.monotonic() - began)
            if answer.get("shards", {}).get("missing"):
                run.partial.append(query)
            elif facts(answer) != expected[query]:
                run.different.append(query)
        return run

    @contextmanager
    def single(self, folder: Path) -> Iterator[str]:
        """A server of one process over clones of all repositories, with indexes of its own: its address."""
        roots = []
        for one in self.config.repositories:
            clone = folder / CLONES / one.name
            subprocess.run(["git", "clone", "-q", one.url, str(clone)], check=True, env=dict(os.environ))
            roots.append(str(clone))
            init = [self.config.program, "init", "--quiet", str(clone)]
            subprocess.run(init, check=True, env=environment(folder / "data"), stdout=subprocess.DEVNULL)
        arguments = [self.config.program, "serve", "--listen", f"{LOOPBACK}:0", *roots]
        server = Child(arguments, environment(folder / "data"))
        try:
            address = server.wait_for_address(120)
            server.wait_until_ready(120)
            yield address
        finally:
            server.stop()

    def shards_file(self, path: Path) -> Path:
        """A file of the shards as they are now, for `colgrep --shards`."""
        path.write_text(json.dumps({"shards": command.call(self.controller, "places")}), encoding="utf-8")
        return path

    def close(self) -> None:
        """Ends everything."""
        try:
            if self.controller is not None:
                command.stop(self.config)
        finally:
            ray.shutdown()
            self.cluster.shutdown()  # type: ignore[no-untyped-call]


def is_spread(status: dict[str, Any]) -> bool:
    """Whether all nodes hold replicas, and none is to move."""
    replicas = [replica for shard in status["shards"] for replica in shard["replicas"]]
    return (
        bool(status["is_complete"])
        and len({one["node"] for one in replicas}) == 3
        and not any(one["leaving"] for one in replicas)
    )


@contextmanager
def while_asking(organisation: Organisation, queries: list[str], expected: Expected) -> Iterator[Run]:
    """Asks queries over and over in a thread as long as the block lasts; the run is filled when it ends."""
    done, total = threading.Event(), Run()

    def ask() -> None:
        while not done.is_set():
            for query in queries:
                one = organisation.run([query], expected)
                for name in ("lost", "different", "partial", "seconds"):
                    getattr(total, name).extend(getattr(one, name))
                if done.is_set():
                    break

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield total
    finally:
        done.set()
        thread.join()
