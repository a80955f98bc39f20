"""A replica alone, without a cluster: what it serves, as orders and files change."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from pathlib import Path

import pytest

from colgrep_ray.config import Config
from colgrep_ray.replica import Replica, State
from colgrep_ray.source import revision


def carried_out(replica: Replica, order: int) -> State:
    """Its state once it has carried out an order."""
    until = time.monotonic() + 120
    while (state := replica.state()).order != order:
        assert time.monotonic() < until, state
        time.sleep(0.05)
    return state


@pytest.fixture
def local(config: Config, program: str, monkeypatch: pytest.MonkeyPatch) -> Config:
    """A configuration for replicas on loopback, without a bucket."""
    monkeypatch.setattr("ray.util.get_node_ip_address", lambda: "127.0.0.1")
    return replace(config, program=program, bucket="", drain=0.2)


def test_a_replica_serves_what_lies_on_its_disk_without_bucket_and_git(local: Config, tmp_path: Path) -> None:
    config = local
    both = {one.name: revision(one) for one in config.repositories}
    replica = Replica(config, 0, secrets.token_hex(32))
    replica.load(config, 1, both)
    carried_out(replica, 1)
    replica.stop()
    (tmp_path / "origin").rename(tmp_path / "gone")
    config = replace(config, bucket=str(tmp_path / "no-bucket"))
    replica = Replica(config, 0, secrets.token_hex(32))
    try:
        until = time.monotonic() + 60
        while not (state := replica.state()).address:
            assert time.monotonic() < until, state
            time.sleep(0.05)
        assert (state.serving, state.order, state.remarks) == (both, 0, ())
        # An order of the same commits needs neither of them.
        replica.load(config, 2, both)
        state = carried_out(replica, 2)
        assert (state.serving, state.remarks) == (both, ())
    finally:
        replica.stop()


def test_what_the_file_does_not_name_any_more_ends_no_replica(local: Config, tmp_path: Path) -> None:
    config = local
    both = {one.name: revision(one) for one in config.repositories}
    replica = Replica(config, 0, secrets.token_hex(32))
    try:
        replica.load(config, 1, both)
        state = carried_out(replica, 1)
        assert (state.serving, state.remarks, state.is_loading) == (both, (), False) and state.address

        # The order of a controller that knew another file: what is served stays.
        fewer = replace(config, repositories=(config.repository("relay"),))
        replica.load(fewer, 2, both)
        state = carried_out(replica, 2)
        assert state.serving == both and not state.is_loading
        assert ["no repository 'cache'" in remark for remark in state.remarks] == [True]

        replica.load(fewer, 3, {"relay": both["relay"]})
        state = carried_out(replica, 3)
        assert (state.serving, state.remarks) == ({"relay": both["relay"]}, ())
        until = time.monotonic() + 60
        while trees := [one for one in tmp_path.glob("data/test/shard-0/0/sources/cache-*/*/cache")]:
            assert time.monotonic() < until, f"{trees} stay"
            time.sleep(0.05)
        assert replica.state().address == state.address
    finally:
        replica.stop()
