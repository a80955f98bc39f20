"""The controller: which shards there are, where their replicas are, and which commits they serve.

One actor, started again by Ray where it dies. It asks the replicas twice a second and waits for none of them: a silent one is
lost after a few seconds, whatever Ray knows of its node, and another is placed elsewhere at once. No search goes through it.
"""

from __future__ import annotations

import os
import pickle
import threading
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import ActorUnavailableError, RayError
from ray.experimental import internal_kv
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .config import Config, Repository
from .indexes import Built, build
from .placing import addresses, assigned, kept as kept_elsewhere, node_for, to_move
from .replica import HEAD_LOST, HEAD_LOST_SECONDS, Replica, State
from .running import ProgramError
from .source import Revision, revision

#: Seconds between two looks at the replicas; silence after which one is lost, before and after its first word; the time
#: for which a node with a lost replica gets no other.
TICK, PATIENCE, PATIENCE_FIRST, AVOIDED = 0.5, 4.0, 60.0, 30.0
#: Seconds after which what failed is tried again.
AGAIN = 30.0
#: Repositories that are asked for new commits at once, and built at once.
LOOKS, BUILDS = 16, 64
#: Seconds for which a new controller builds nothing.
FIRST = 3.0
#: The name under which the file is kept.
KEPT = "config"


@dataclass
class Held:
    """A replica as the controller knows it."""

    name: str
    shard: int
    node: str
    actor: Any
    asked: Any = None
    #: Since when it has not answered; 0 where it has.
    silent_since: float = 0.0
    has_died: bool = False
    was_up: bool = False
    state: State | None = None
    #: The order that it was given last, and when.
    order: int = 0
    ordered_at: float = 0.0
    #: Whether it goes as soon as others can stand for it.
    is_leaving: bool = False

    @property
    def is_up(self) -> bool:
        """Whether it answers searches."""
        return self.state is not None and bool(self.state.address)


@dataclass
class Order:
    """The commits that a shard is to serve."""

    number: int = 0
    wanted: dict[str, Revision] = field(default_factory=dict)


def namespace(config: Config) -> str:
    """Ray's namespace of a corpus."""
    return f"colgrep-{config.name}"


def keep(config: Config, token: str) -> None:
    """Keeps a file where actors are known (Ray's GCS), for the controller that comes after this one."""
    internal_kv._internal_kv_put(KEPT, pickle.dumps((token, config)), namespace=namespace(config))


def kept(first: Config, token: str) -> Config:
    """The file that the controller before this one had last, else the first. Another token is that of another start."""
    found = internal_kv._internal_kv_get(KEPT, namespace=namespace(first))
    if found:
        last: tuple[str, Config] = pickle.loads(found)
        return last[1] if last[0] == token else first
    return first


def plain(state: State) -> dict[str, Any]:
    """A replica's state as plain data."""
    return vars(state) | {"serving": {name: at.commit for name, at in state.serving.items()}}


class Controller:
    """Keeps the replicas of every shard alive, and what they serve current."""

    def __init__(self, config: Config, token: str) -> None:
        # Ray starts an actor again with what it was first given. Whatever came since is kept beside it.
        self._config, self._token = kept(config, token), token
        self._lock = threading.RLock()
        self._held: dict[str, Held] = {}
        self._going: dict[str, Any] = {}
        self._orders: dict[int, Order] = {}
        self._revisions: dict[str, Revision] = {}
        self._errors: dict[str, str] = {}
        self._failed_at: dict[str, float] = {}
        self._building: dict[Any, str] = {}
        # Repositories whose pushes were heard of, until they are looked at.
        self._told: set[str] = set()
        self._avoided: dict[str, float] = {}
        # Whoever starts it may build first.
        self._lost, self._held_until = 0, time.monotonic() + FIRST
        self._is_stopped, self._is_due = threading.Event(), threading.Event()
        self._adopt()
        self._leave_out()
        self._threads = [
            threading.Thread(target=self._loop, args=one, daemon=True)
            for one in ((self._tick, self._is_stopped, lambda: TICK), (self._look, self._is_due, self._pause))
        ]
        for thread in self._threads:
            thread.start()

    def configure(self, config: Config) -> None:
        """Takes a changed file: repositories, shards and replicas follow."""
        keep(config, self._token)
        with self._lock:
            self._config = config
            self._leave_out()

    def _names(self) -> set[str]:
        return {one.name for one in self._config.repositories}

    def _leave_out(self) -> None:
        """Forgets what is known of repositories that the file does not name."""
        names = self._names()
        self._revisions = {name: at for name, at in self._revisions.items() if name in names}
        self._errors = {name: why for name, why in self._errors.items() if name in names}
        self._told &= names

    def token(self) -> str:
        """What the shards ask of a coordinator."""
        return self._token

    def places(self) -> list[list[str]]:
        """The addresses of each shard that has repositories, for the coordinator."""
        with self._lock:
            up = [(one.shard, one.state.address, one.state.serving) for one in self._held.values() if one.state]
            return addresses(self._wanted(), [one for one in up if one[1]])

    def status(self) -> dict[str, Any]:
        """All that is known, as plain data."""
        with self._lock:
            wanted = self._wanted()
            shards = [
                {
                    "shard": shard,
                    "repositories": sorted(wanted[shard]),
                    "replicas": [
                        {"node": held.node, "leaving": held.is_leaving} | (plain(held.state) if held.state else {})
                        for held in self._of(shard)
                    ],
                }
                for shard in sorted(wanted)
                if wanted[shard]
            ]
            known = {name: at.commit for name, at in self._revisions.items()}
            errors = dict(self._errors)
            for one in self._config.repositories:
                if one.name not in known:
                    errors.setdefault(one.name, "not built yet")
            return {
                "name": self._config.name,
                "shards": shards,
                "repositories": known,
                "errors": errors,
                "wanted_replicas": self._config.replicas,
                "lost": self._lost,
                "pid": os.getpid(),
                "is_complete": self._is_complete(wanted) and not errors,
                "is_settled": self._is_settled(wanted),
                "warnings": self._warnings(),
            }

    def look(self, names: list[str]) -> None:
        """Looks for new commits at once: a push was heard of. Of these repositories, or all, those that failed are tried
        again too. One that is being built, or that somebody else builds, is looked at as soon as that is over."""
        with self._lock:
            self._told |= (set(names) & self._names()) if names else self._names()
            self._failed_at = {name: at for name, at in self._failed_at.items() if names and name not in names}
        self._is_due.set()

    def hold(self, seconds: float) -> None:
        """Looks for no new commits for a while: somebody else builds."""
        with self._lock:
            self._held_until = time.monotonic() + seconds

    def take(self, built: list[Built]) -> None:
        """Takes over what somebody else has built."""
        with self._lock:
            self._held_until = 0.0
            self._revisions |= {one.name: Revision(one.commit, one.branch) for one in built if not one.error}
            self._errors |= {one.name: one.error for one in built if one.error}
            self._leave_out()
            if self._told:
                self._is_due.set()

    def stop(self) -> None:
        """Ends all replicas."""
        self._is_stopped.set()
        self._is_due.set()
        for thread in self._threads:
            thread.join(5.0)
        with self._lock:
            actors = [*(held.actor for held in self._held.values()), *self._going.values()]
            self._held.clear()
        ending = [actor.stop.remote() for actor in actors]
        if ending:
            ray.wait(ending, num_returns=len(ending), timeout=15.0)
        for actor in actors:
            ray.kill(actor)
        internal_kv._internal_kv_del(KEPT, namespace=namespace(self._config))

    # What follows runs in the controller's own threads.

    def _loop(self, step: Any, is_due: threading.Event, pause: Any) -> None:
        while not self._is_stopped.is_set():
            try:
                step()
            except Exception as error:
                # The cluster's head may be away for a while, or the node have no memory or processes left. Without this loop,
                # nothing lost would be replaced any more.
                print(f"controller: {error!r}", flush=True)
            if is_due.wait(pause()) and not self._is_stopped.is_set():
                is_due.clear()

    def _pause(self) -> float:
        """Seconds until the next look."""
        with self._lock:
            left = self._held_until - time.monotonic()
            return min(left, self._config.poll) if self._told and left > 0 else self._config.poll

    def _of(self, shard: int) -> list[Held]:
        return [held for held in self._held.values() if held.shard == shard]

    def _wanted(self) -> dict[int, dict[str, Revision]]:
        """What each shard is to serve, as far as commits are known. A shard whose commits are not known yet has replicas
        too: they may have served some before."""
        parts = assigned(self._names() | set(self._revisions), self._config.shards)
        wanted = {
            shard: {name: self._revisions[name] for name in names if name in self._revisions}
            for shard, names in enumerate(parts)
            if names
        }
        up = [(one.shard, one.state.serving) for one in self._held.values() if one.is_up and one.state]
        for shard, served in kept_elsewhere(parts, up, self._config.replicas).items():
            wanted[shard] = served | wanted.get(shard, {})
        return wanted

    def _is_complete(self, wanted: dict[int, dict[str, Revision]]) -> bool:
        def count(shard: int) -> int:
            return sum(
                held.is_up and held.state is not None and dict(held.state.serving) == wanted[shard]
                for held in self._of(shard)
                if not held.is_leaving
            )

        return any(wanted.values()) and all(count(shard) >= self._config.replicas for shard in wanted if wanted[shard])

    def _is_settled(self, wanted: dict[int, dict[str, Revision]]) -> bool:
        """Whether every repository is served, or it is known why not."""
        is_known = all(name in self._revisions or name in self._errors for name in self._names())
        is_served = all(any(held.is_up for held in self._of(shard)) for shard in wanted if wanted[shard])
        return is_known and is_served and (bool(self._errors) or self._is_complete(wanted))

    def _warnings(self) -> list[str]:
        """What would end search, though nothing has happened yet."""
        short = {held.node for held in self._held.values() if held.state and not held.state.outlives_head}
        return [
            f"node {node[:8]} ends all its processes a minute after the head is lost: start Ray there with "
            f"{HEAD_LOST}={HEAD_LOST_SECONDS}"
            for node in sorted(short)
        ]

    def _adopt(self) -> None:
        """Replicas of a controller that died before: they went on, with commits that may be newer than what it began with."""
        for row in ray.util.list_named_actors(all_namespaces=True):
            if row["namespace"] == namespace(self._config) and row["name"].startswith("shard-"):
                _, shard, node, _ = row["name"].split("-")
                actor: Any = ray.get_actor(row["name"], namespace=row["namespace"])
                held = self._held[row["name"]] = Held(row["name"], int(shard), node, actor)
                with suppress(RayError):
                    state: State = ray.get(actor.state.remote(), timeout=PATIENCE)
                    held.state, held.order, held.was_up = state, state.order, bool(state.address)
                    self._revisions |= state.serving

    def _tick(self) -> None:
        self._ask()
        nodes = self._nodes()
        with self._lock:
            now = time.monotonic()
            self._learn()
            wanted = self._wanted()
            self._bury(nodes, wanted, now)
            self._gather_builds(now)
            self._order(wanted)
            self._place([node for node in nodes if self._avoided.get(node, 0.0) < now] or nodes, wanted)
            self._tell(wanted, now)

    def _nodes(self) -> list[str]:
        """The living nodes that work: a head without processors is left to Ray."""
        cpus = max(self._config.replica_cpus, 0.001)
        found: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
        return [node["NodeID"] for node in found if node["Alive"] and node["Resources"].get("CPU", 0) >= cpus]

    def _ask(self) -> None:
        """Asks every replica how it is, and takes what answers have come, without waiting for any."""
        with self._lock:
            held = list(self._held.values())
        for one in held:
            if one.asked is None:
                one.asked = one.actor.state.remote()
                one.silent_since = one.silent_since or time.monotonic()
        waiting = [one.asked for one in held]
        done = set(ray.wait(waiting, num_returns=len(waiting), timeout=0.5)[0]) if waiting else set()
        for one in held:
            if one.asked in done:
                try:
                    state: State | None = ray.get(one.asked, timeout=1.0)
                    one.state, one.silent_since = state, 0.0
                except ActorUnavailableError:
                    pass  # Perhaps it comes back: it is silent.
                except RayError as error:
                    print(f"controller: {one.name}: {error}", flush=True)
                    one.has_died = True
                one.asked = None

    def _learn(self) -> None:
        """Takes the commits that replicas serve from their disks for those of repositories that could not be asked yet."""
        names = self._names() - set(self._revisions)
        for held in self._held.values():
            if held.state:
                self._revisions |= {name: at for name, at in held.state.serving.items() if name in names}

    def _bury(self, nodes: list[str], wanted: dict[int, dict[str, Revision]], now: float) -> None:
        """Lets go of replicas that are lost, that have ended, and that are not needed any more."""
        for held in list(self._held.values()):
            patience = PATIENCE if held.state else PATIENCE_FIRST
            is_silent = held.silent_since > 0 and now - held.silent_since > patience
            has_ended = held.was_up and held.state is not None and not held.state.address
            held.was_up = held.was_up or held.is_up
            stay = [one for one in self._of(held.shard) if one.is_up and not one.is_leaving]
            if is_silent or has_ended or held.has_died or held.node not in nodes:
                self._lost += 1
                print(f"controller: {held.name} is lost", flush=True)
                if is_silent:
                    self._avoided[held.node] = now + AVOIDED
                self._forget(held, 0.0)
            elif held.shard not in wanted or (held.is_leaving and len(stay) >= self._config.replicas):
                self._forget(held, self._config.drain)

    def _forget(self, held: Held, drain: float) -> None:
        """Names a replica no more, and ends it once the searches that it has begun are over."""
        del self._held[held.name]
        self._going[held.name] = held.actor

        def end() -> None:
            if drain and not self._is_stopped.wait(drain):
                ray.wait([held.actor.stop.remote()], timeout=15.0)
            ray.kill(held.actor)
            self._going.pop(held.name, None)

        # In a thread: nothing that concerns a lost node may hold up the others.
        threading.Thread(target=end, daemon=True).start()

    def _order(self, wanted: dict[int, dict[str, Revision]]) -> None:
        for shard, revisions in wanted.items():
            if not revisions:
                continue  # Nothing is known yet: what replicas find on their disks stays.
            order = self._orders.setdefault(shard, Order())
            if order.wanted != revisions:
                self._orders[shard] = Order(int(time.time() * 1000), revisions)

    def _place(self, nodes: list[str], wanted: dict[int, dict[str, Revision]]) -> None:
        for shard in wanted:
            # More than there should be: a file asks for fewer, or a controller died while some were leaving.
            staying = [held for held in self._of(shard) if held.is_up and not held.is_leaving]
            for held in staying[self._config.replicas :]:
                held.is_leaving = True
            for _ in range(self._config.replicas - sum(not held.is_leaving for held in self._of(shard))):
                load = Counter(held.node for held in self._held.values())
                node = node_for(nodes, {held.node for held in self._of(shard)}, load)
                if node is not None:
                    self._begin(shard, node)
        if all(held.is_up and not held.is_leaving for held in self._held.values()):
            name = to_move(nodes, [(held.name, held.shard, held.node) for held in self._held.values()])
            if name is not None:
                self._held[name].is_leaving = True

    def _begin(self, shard: int, node: str) -> None:
        name = f"shard-{shard}-{node}-{uuid.uuid4().hex[:8]}"
        options = {
            "name": name,
            "namespace": namespace(self._config),
            "lifetime": "detached",
            "num_cpus": self._config.replica_cpus,
            "max_concurrency": 4,
            "scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=False),
        }
        actor = ray.remote(Replica).options(**options).remote(self._config, shard, self._token)
        self._held[name] = Held(name, shard, node, actor)

    def _tell(self, wanted: dict[int, dict[str, Revision]], now: float) -> None:
        """Gives new orders: one replica of a shard after the other, so that one of them always answers."""
        for shard in wanted:
            if shard not in self._orders:
                continue
            order = self._orders[shard]
            several = self._of(shard)
            for held in several:
                if held.state is None:
                    continue
                again = held.state.remarks and not held.state.is_loading and now - held.ordered_at > AGAIN
                if held.order == order.number and not again:
                    continue
                others_load = any(
                    one is not held and one.is_up and one.order != one.state.order for one in several if one.state
                )
                if held.is_up and others_load:
                    continue
                held.actor.load.remote(self._config, order.number, order.wanted)
                held.order, held.ordered_at = order.number, now

    def _look(self) -> None:
        """Asks all repositories for new commits, and has those built that moved."""
        with self._lock:
            if time.monotonic() < self._held_until:
                return
            repositories = self._config.repositories
            busy = set(self._building.values())
            now = time.monotonic()
            due = [
                one
                for one in repositories
                if one.name not in busy and now - self._failed_at.get(one.name, -AGAIN) >= AGAIN
            ]
            told = self._told & {one.name for one in due}
            self._told -= told

        def look(one: Repository) -> tuple[Repository, Revision | None, str]:
            try:
                return one, revision(one), ""
            except ProgramError as error:
                return one, None, str(error)

        with ThreadPoolExecutor(LOOKS) as threads:
            found = list(threads.map(look, due))
        with self._lock:
            for one, at, error in found:
                if one not in self._config.repositories:
                    continue  # The file changed meanwhile.
                if at is None:
                    self._errors[one.name] = error
                    self._failed_at[one.name] = time.monotonic()
                elif one.name in self._revisions and self._revisions[one.name].commit == at.commit:
                    self._errors.pop(one.name, None)
                elif not self._config.bucket:
                    self._revisions[one.name] = at
                elif len(self._building) < BUILDS:
                    task = ray.remote(build).options(num_cpus=self._config.build_cpus, max_retries=2)
                    self._building[task.remote(self._config, one)] = one.name
                elif one.name in told:
                    self._told.add(one.name)

    def _gather_builds(self, now: float) -> None:
        if not self._building:
            return
        for task in ray.wait(list(self._building), num_returns=len(self._building), timeout=0)[0]:
            name = self._building.pop(task)
            if name not in self._names():
                continue  # The file changed meanwhile.
            try:
                built: Built = ray.get(task, timeout=1.0)
            except RayError as error:
                built = Built(name, error=str(error))
            if built.error:
                self._errors[name], self._failed_at[name] = built.error, now
            else:
                self._revisions[name] = Revision(built.commit, built.branch)
                self._errors.pop(name, None)
            if name in self._told:
                self._failed_at.pop(name, None)
            if self._told - set(self._building.values()):
                self._is_due.set()
