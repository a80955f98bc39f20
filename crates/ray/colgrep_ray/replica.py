"""A replica of a shard: fetches sources and indexes, and keeps a process that answers for them.

It is told which commits to serve. A new set of commits is opened by a new process beside the old one; only when that one
listens does the replica name its address, and the old one goes on for the searches that it has begun.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import ray

from .config import Config
from .indexes import Indexes, claimed, environment
from .running import Child, ProgramError
from .source import Revision

#: Seconds that a process has to open its indexes.
OPEN = 600.0
#: Repositories that are fetched at once.
FETCHES = 2


@dataclass(frozen=True)
class State:
    """What a replica says of itself."""

    #: Its node, and the address where it answers; "" before it does.
    node: str
    address: str = ""
    #: The commit of each repository that is served.
    serving: Mapping[str, str] = field(default_factory=dict)
    #: The number of the last order that was carried out, as well as it could be, and whether one is being carried out.
    order: int = 0
    is_loading: bool = False
    #: What went wrong with the last one, or is worth knowing.
    remarks: tuple[str, ...] = ()
    #: The number of the process.
    pid: int | None = None


class Replica:
    """One of a shard's processes, and what it serves."""

    def __init__(self, config: Config, shard: int, token: str, node: str, host: str = "") -> None:
        """Begins with nothing to serve. `host` is where its process listens: else at the node's address in the cluster."""
        self._config, self._shard, self._token = config, shard, token
        self._host = host or str(ray.util.get_node_ip_address())  # type: ignore[no-untyped-call]
        self._lock = threading.Condition()
        self._state = State(node)
        self._asked: tuple[Config, int, dict[str, Revision]] | None = None
        self._child: Child | None = None
        self._old: list[tuple[float, Child]] = []
        self._asked_again, self._silences = 0.0, 0
        self._is_stopped = False
        self._held = ExitStack()
        folder = Path(config.data) / config.name / f"shard-{shard}"
        self._indexes = Indexes(config, claimed(folder, self._held))
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

    def _tell(self, **changes: object) -> None:
        with self._lock:
            self._state = State(**(vars(self._state) | changes))

    def _work(self) -> None:
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
        trees, remarks = self._fetch(wanted)
        serving = {name: tree.parent.name for name, tree in trees.items()}
        try:
            if trees and (serving != self._state.serving or not self._child):
                self._swap(trees)
        except ProgramError as error:
            serving = dict(self._state.serving)
            remarks.append(f"the new generation does not open: {error}")
        address, pid = (self._child.address, self._child.pid) if self._child else (None, None)
        self._tell(
            address=address or "", pid=pid, serving=serving, order=order, is_loading=False, remarks=tuple(remarks)
        )

    def _fetch(self, wanted: dict[str, Revision]) -> tuple[dict[str, Path], list[str]]:
        """The tree of each repository; where one can't be had, the tree that is served already, if there is one."""
        remarks: list[str] = []

        def fetch(item: tuple[str, Revision]) -> tuple[str, Path | None]:
            repository = self._config.repository(item[0])
            try:
                tree, remark = self._indexes.take(repository, item[1])
                remarks.extend([remark] if remark else [])
                return repository.name, tree
            except (ProgramError, OSError) as error:
                remarks.append(f"{repository.name} at {item[1].commit[:12]}: {error}")
            before = self._state.serving.get(repository.name)
            return repository.name, self._indexes.sources.tree(repository, Revision(before, "")) if before else None

        with ThreadPoolExecutor(FETCHES) as threads:
            found = dict(threads.map(fetch, sorted(wanted.items())))
        return {name: tree for name, tree in found.items() if tree}, remarks

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
        serving = {
            self._indexes.sources.tree(self._config.repository(name), Revision(commit, ""))
            for name, commit in self._state.serving.items()
        }
        for tree in self._indexes.sources.others(serving):
            self._indexes.drop(tree)
