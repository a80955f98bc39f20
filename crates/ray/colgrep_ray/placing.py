"""Where things belong: repositories to shards, replicas to nodes. Plain functions of what is known."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def shard_of(repository: str, shards: int) -> int:
    """The shard of a repository, by its name alone: the highest of the hashes of the pairs (rendezvous hashing).

    Where a shard is added, each repository stays or moves to the new one; no other moves.
    """

    def weight(shard: int) -> bytes:
        return hashlib.blake2b(f"{shard}\0{repository}".encode(), digest_size=16).digest()

    return max(range(shards), key=weight)


def assigned(repositories: Iterable[str], shards: int) -> list[list[str]]:
    """The repositories of each shard, in order of their names. A shard may have none."""
    parts: list[list[str]] = [[] for _ in range(shards)]
    for name in sorted(repositories):
        parts[shard_of(name, shards)].append(name)
    return parts


def kept(
    assigned: Sequence[Collection[str]], serving: Iterable[tuple[int, Mapping[str, T]]], replicas: int
) -> dict[int, dict[str, T]]:
    """What shards go on serving of repositories that belong to another shard by now.

    A repository is let go of once as many replicas of its own shard serve it as there should be: the new one first, then
    the old one. Two shards serve it meanwhile, which coordinators allow.

    Args:
        assigned: The repositories of each shard.
        serving: For each replica that answers, its shard and what it serves.
        replicas: How many replicas a shard should have.
    """
    home = {name: shard for shard, names in enumerate(assigned) for name in names}
    states = list(serving)
    ready = Counter(name for shard, served in states for name in served if home.get(name) == shard)
    found: dict[int, dict[str, T]] = {}
    for shard, served in states:
        for name, at in served.items():
            if name in home and home[name] != shard and ready[name] < replicas:
                found.setdefault(shard, {}).setdefault(name, at)
    return found


def addresses(
    wanted: Mapping[int, Mapping[str, T]], serving: Iterable[tuple[int, str, Mapping[str, T]]]
) -> list[list[str]]:
    """The addresses of the replicas of each shard that coordinators should ask.

    A shard without a replica that answers is named without an address, so that answers report it as missing. It is left
    out while other shards serve all that it should serve: one that was just added, for instance.

    Args:
        wanted: What each shard should serve.
        serving: For each replica that answers, its shard, its address and what it serves.
    """
    states = list(serving)
    served = {name for _, _, names in states for name in names}
    of = {shard: sorted(address for own, address, _ in states if own == shard) for shard in sorted(wanted)}
    return [found for shard, found in of.items() if wanted[shard] and (found or not wanted[shard].keys() <= served)]


def node_for(nodes: Sequence[str], held: Collection[str], load: Counter[str]) -> str | None:
    """The node for another replica of a shard: one that has none of it, and of those the one with the fewest replicas.

    A node that holds one already is taken only where there is no other: it guards against the loss of a process.

    Args:
        nodes: The nodes that are there.
        held: Those that hold a replica of the shard.
        load: Replicas of all shards by node.
    """
    return min(nodes, key=lambda node: (node in held, load[node], node), default=None)


def to_move(nodes: Sequence[str], replicas: Sequence[tuple[str, int, str]]) -> str | None:
    """A replica that should move to another node, if one should.

    First one that shares its node with another of its shard while a node without one is there; then one of a node that
    holds at least two more than the emptiest.

    Args:
        nodes: The nodes that are there.
        replicas: Name, shard and node of each replica that stays.
    """
    load = Counter({node: 0 for node in nodes})
    load.update(node for _, _, node in replicas)
    holders: dict[int, Counter[str]] = {}
    for _, shard, node in replicas:
        holders.setdefault(shard, Counter())[node] += 1
    for name, shard, node in replicas:
        if holders[shard][node] > 1 and any(other not in holders[shard] for other in nodes):
            return name
    if not nodes:
        return None
    empty = min(nodes, key=lambda node: (load[node], node))
    movable = [one for one in replicas if load[one[2]] >= load[empty] + 2 and empty not in holders[one[1]]]
    return max(movable, key=lambda one: (load[one[2]], one), default=(None, 0, ""))[0]
