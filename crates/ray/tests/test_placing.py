"""Repositories to shards, replicas to nodes."""

from __future__ import annotations

from collections import Counter

from colgrep_ray.placing import addresses, assigned, kept, node_for, shard_of, to_move

NAMES = [f"repository-{n}" for n in range(2000)]


def test_another_shard_takes_its_share_and_moves_nothing_else() -> None:
    before, after = ({name: shard_of(name, shards) for name in NAMES} for shards in (9, 10))
    moved = [name for name in NAMES if before[name] != after[name]]
    assert all(after[name] == 9 for name in moved)
    assert 120 < len(moved) < 280


def test_every_repository_is_in_one_shard() -> None:
    parts = assigned(reversed(NAMES), 8)
    assert sorted(name for part in parts for name in part) == sorted(NAMES)
    assert all(part == sorted(part) and 180 < len(part) < 320 for part in parts)
    assert assigned(["only"], 3).count([]) == 2


def test_a_shard_lets_go_of_a_repository_only_when_its_new_shard_serves_it() -> None:
    before, after = [["a", "b"], []], [["a"], ["b"]]
    old = [(0, {"a": 1, "b": 1}), (0, {"a": 1, "b": 1})]
    assert kept(before, old, 2) == {}
    # The new shard starts, one of its replicas is up, both are up.
    assert kept(after, old, 2) == {0: {"b": 1}}
    assert kept(after, [*old, (1, {})], 2) == {0: {"b": 1}}
    assert kept(after, [*old, (1, {"b": 2})], 2) == {0: {"b": 1}}
    assert kept(after, [*old, (1, {"b": 2}), (1, {"b": 1})], 2) == {}
    # A shard that is not wanted any more goes on until then, too.
    assert kept([["a", "b"]], [(0, {"a": 1}), (1, {"b": 1})], 1) == {1: {"b": 1}}
    # What the file names no more is let go of at once.
    assert kept([["a"], []], [(0, {"a": 1, "gone": 1})], 1) == {}


def test_a_new_shard_is_missing_only_for_what_no_other_shard_serves() -> None:
    wanted = {0: {"a": 1, "b": 1}, 1: {"b": 1}}
    old = [(0, "x:1", {"a": 1, "b": 1}), (0, "w:1", {"a": 1, "b": 1})]
    # The new shard has no replica yet, but nothing is missing: the old one still serves all that it will serve.
    assert addresses(wanted, old) == [["w:1", "x:1"]]
    assert addresses(wanted, [*old, (1, "y:1", {"b": 1})]) == [["w:1", "x:1"], ["y:1"]]
    # The old shard has let go, and the new one is lost.
    assert addresses({0: {"a": 1}, 1: {"b": 1}}, [(0, "x:1", {"a": 1})]) == [["x:1"], []]
    # A shard that should serve nothing is not asked, whatever its replicas still serve.
    assert addresses({0: {}}, []) == addresses({0: {}}, [(0, "x:1", {"gone": 1})]) == []


def test_a_replica_goes_to_a_node_without_its_shard_and_with_few_others() -> None:
    load = Counter({"a": 1, "b": 5, "c": 3})
    assert node_for(["a", "b", "c"], {"a"}, load) == "c"
    assert node_for(["a", "b", "c"], set(), load) == "a"
    assert node_for(["a"], {"a"}, load) == "a"
    assert node_for([], set(), load) is None


def test_replicas_move_where_a_node_is_shared_or_full() -> None:
    assert to_move(["a", "b"], [("x", 0, "a"), ("y", 0, "b")]) is None
    assert to_move(["a"], [("x", 0, "a"), ("y", 0, "a")]) is None
    assert to_move(["a", "b"], [("x", 0, "a"), ("y", 0, "a")]) == "x"
    both = [(f"{shard}{node}", shard, node) for shard in range(3) for node in "ab"]
    assert to_move(["a", "b"], both) is None
    assert to_move(["a", "b", "c"], both) in {name for name, _, _ in both}
    assert to_move([], both) is None


def test_moving_comes_to_an_end() -> None:
    nodes = ["a", "b", "c", "d"]
    places = {f"{shard}{copy}": (shard, "ab"[copy]) for shard in range(7) for copy in range(2)}
    for moves in range(20):
        name = to_move(nodes, [(name, *place) for name, place in places.items()])
        if name is None:
            break
        shard = places.pop(name)[0]
        load = Counter(node for _, node in places.values())
        node = node_for(nodes, {node for one, node in places.values() if one == shard}, load)
        assert node is not None
        places[name] = (shard, node)
    assert moves < 15
    assert set(Counter(node for _, node in places.values()).values()) <= {3, 4}
    assert all(len({node for one, node in places.values() if one == shard}) == 2 for shard in range(7))
