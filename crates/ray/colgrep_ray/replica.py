"""A replica of a shard: fetches sources and indexes, and keeps a process that answers for them.

It is told which commits to serve. A new set of commits is opened by a new process beside the old one; only when that one
listens does the replica name its address, and the old one goes on for the searches that it has begun.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import ray

from .config import Config, ConfigError
from .indexes import Indexes, claimed, environment
from .running import Child, ProgramError
from .source import Revision

#: Seconds that a process has to open its indexes.
OPEN = 600.0
#: How long Ray's processes on a node outlive the cluster's head. They end after 60 s otherwise, and all search with them.
HEAD_LOST, HEAD_LOST_SECONDS = "RAY_gcs_rpc_server_reconnect_timeout_s", "86400"
#: Repositories that are fetched at once.
FETCHES = 2


@dataclass(frozen=True)
class State:
    """What a replica says of itself."""

    #: The address where it answers; "" before it does.
    address: str = ""
    #: The commit of each repository that is served.
    serving: Mapping[str, Revision] = field(default_factory=dict)
    #: The number of the last order that was carried out, as well as it could be, and whether one is being carried out.
    order: int = 0
    is_loading: bool = False
    #: What went wrong with the last one, or is worth knowing.
    remarks: tuple[str, ...] = ()
    #: The number of the process.
    pid: int | None = None
    #: Whether Ray lets its node go on for ten minutes at least after the head is lost.
    outlives_head: bool = True


def outlives_head(environ: Mapping[str, str]) -> bool:
    """Whether processes of a node with this environment go on for ten minutes at least after the head is lost."""
    seconds = environ.get(HEAD_LOST, "")
    return seconds.isdecimal() and int(seconds) >= 600


class Replica:
    """One of a shard's processes, and what it serves."""

    def __init__(self, config: Config, shard: int, token: str) -> None:
        """Begins with nothing to serve."""
        self._config, self._token = config, token
        #: Where its process listens: the node's address in the cluster.
        self._host = str(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call]
        self._lock = threading.Condition()
        self._state = State(outlives_head=outlives_head(os.environ))
        #: The trees that are served, whatever the file says of their repositories by now.
        self._trees: dict[str, Path] = {}
        self._asked: tuple[Config, int, dict[str, Revision]] | None = None
        self._child: Child | None = None
        self._old: list[tuple[float, Child]] = []
        self._asked_again, self._silences = 0.0, 0
        self._is_stopped = False
        self._held = ExitStack()
        folder = claimed(Path(config.data) / config.name / f"shard-{shard}", self._held)
        self._indexes, self._kept = Indexes(config, folder), folder / "serving.json"
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def load(self, config: Config, order: int, wanted: Mapping[str, Revision]) -> None:
        """Orders the commits to serve, of a file's repositories. It returns at once; :meth:`state` tells when they are."""
        with self._lock:
            self._asked = (config, order, dict(wanted))
            self._lock.notify()

    def state(self) -> State:
        """What it serves. It never waits for work."""
        with self._lock:
            return self._state

    def stop(self) -> None:
        """Ends its processes."""
        with self._lock:
            self._is_stopped = True
            self._lock.notify()
        self._thread.join(10.0)

    def _tell(self, **changes: Any) -> None:
        with self._lock:
            self._state = replace(self._state, **changes)

    def _work(self) -> None:
        self._remember()
        while True:
            with self._lock:
                if self._asked is None and not self._is_stopped:
                    self._lock.wait(0.5)
                if self._is_stopped:
                    break
                asked, self._asked = self._asked, None
            if asked:
                self._carry_out(*asked)
            self._look_after()
        for child in [self._child, *(old for _, old in self._old)]:
            if child:
                child.stop()
        self._held.close()

    def _look_after(self) -> None:
        """Ends replaced processes once their time is over; says so where the one that answers has ended."""
        over = [child for until, child in self._old if until <= time.monotonic()]
        self._old = [one for one in self._old if one[1] not in over]
        for child in over:
            child.stop()
        if over and not self._old:
            self._drop_others()
        if self._child and not self._is_well(self._child):
            # Who watches it replaces the whole replica.
            self._child.stop()
            self._tell(address="", pid=None, remarks=(f"the process has ended: {self._child.said}",))
            self._child = None

    def _is_well(self, child: Child) -> bool:
        """Whether a process lives, and answers whether it does: three questions in a row without an answer are an end."""
        if not child.is_running:
            return False
        if time.monotonic() >= self._asked_again:
            self._asked_again = time.monotonic() + 2.0
            self._silences = 0 if child.answers("/healthz") else self._silences + 1
        return self._silences < 3

    def _carry_out(self, config: Config, order: int, wanted: dict[str, Revision]) -> None:
        self._config = self._indexes.config = config
        self._tell(is_loading=True)
        found, remarks = self._fetch(wanted)
        serving = {name: at for name, (at, _) in found.items()}
        trees = {name: tree for name, (_, tree) in found.items()}
        try:
            if trees and (trees != self._trees or not self._child):
                self._swap(trees)
            self._trees = trees
        except ProgramError as error:
            serving = dict(self._state.serving)
            remarks.append(f"the new generation does not open: {error}")
        self._keep(serving)
        address, pid = (self._child.address, self._child.pid) if self._child else (None, None)
        self._tell(
            address=address or "", pid=pid, serving=serving, order=order, is_loading=False, remarks=tuple(remarks)
        )

    def _remember(self) -> None:
        """Serves what lies on this machine from the last time, at once: neither the bucket nor git is asked."""
        try:
            rows = json.loads(self._kept.read_text(encoding="utf-8"))
            known = {name: Revision(str(row["commit"]), str(row["branch"])) for name, row in rows.items()}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return
        trees: dict[str, Path] = {}
        for one in self._config.repositories:
            tree = self._indexes.ready(one, known[one.name]) if one.name in known else None
            if tree:
                trees[one.name] = tree
        if not trees:
            return
        try:
            self._swap(trees)
        except ProgramError as error:
            self._tell(remarks=(f"what lies on this machine does not open: {error}",))
            return
        self._trees = trees
        if self._child:
            serving = {name: known[name] for name in trees}
            self._tell(address=self._child.address or "", pid=self._child.pid, serving=serving)

    def _keep(self, serving: Mapping[str, Revision]) -> None:
        """Keeps what is served for the next start."""
        rows = {name: {"commit": at.commit, "branch": at.branch} for name, at in serving.items()}
        partial = self._kept.with_suffix(".partial")
        try:
            partial.write_text(json.dumps(rows), encoding="utf-8")
            os.replace(partial, self._kept)
        except OSError:
            pass  # A full disk: the next start asks the bucket.

    def _fetch(self, wanted: dict[str, Revision]) -> tuple[dict[str, tuple[Revision, Path]], list[str]]:
        """The tree of each repository; where one can't be had, the tree that is served already, if there is one."""
        remarks: list[str] = []

        def fetch(item: tuple[str, Revision]) -> tuple[Revision, Path] | None:
            name, at = item
            try:
                tree, remark = self._indexes.take(self._config.repository(name), at)
                remarks.extend([remark] if remark else [])
                return at, tree
            except (ConfigError, ProgramError, OSError) as error:
                remarks.append(f"{name} at {at.commit[:12]}: {error}")
            return (self._state.serving[name], self._trees[name]) if name in self._trees else None

        names = sorted(wanted)
        with ThreadPoolExecutor(FETCHES) as threads:
            found = zip(names, threads.map(fetch, [(name, wanted[name]) for name in names]), strict=True)
            return {name: one for name, one in found if one}, remarks

    def _swap(self, trees: dict[str, Path]) -> None:
        roots = [f"{name}={tree}" for name, tree in trees.items()]
        arguments = [self._config.program, "serve", "--shard", "--listen", f"{self._host}:0", "--", *roots]
        child = Child(arguments, environment(self._indexes.data, COLGREP_TOKEN=self._token))
        child.wait_for_address(OPEN)
        child.wait_until_ready(OPEN)
        if self._child:
            self._old.append((time.monotonic() + self._config.drain, self._child))
        self._child = child

    def _drop_others(self) -> None:
        for tree in self._indexes.sources.others(set(self._trees.values())):
            self._indexes.drop(tree)
