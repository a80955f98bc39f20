"""Building: into the bucket, by a task a repository, and from there onto a node."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import ray
from conftest import commit

from colgrep_ray.building import build_all
from colgrep_ray.command import connect, main
from colgrep_ray.config import Config, Repository
from colgrep_ray.indexes import Indexes, build, environment
from colgrep_ray.source import revision


@pytest.fixture
def config(config: Config, program: str) -> Config:
    return replace(config, program=program)


def search(config: Config, indexes: Indexes, tree: Path, query: str) -> str:
    """The answer of one index, as it is, without an update."""
    arguments = [config.program, "--no-update", "--keyword-only", query, str(tree)]
    done = subprocess.run(arguments, env=environment(indexes.data), capture_output=True, text=True, check=False)
    return done.stdout


def test_an_index_is_built_once_and_taken_from_the_bucket(config: Config, tmp_path: Path) -> None:
    relay = config.repository("relay")
    built = build(config, relay)
    assert not built.error and not built.continued and built.branch == "main"
    assert build(config, relay).continued

    indexes = Indexes(config, tmp_path / "node")
    tree, remark = indexes.take(relay, revision(relay))
    assert remark == "" and "parse_request" in search(config, indexes, tree, "parse request")
    assert list(tree.parents[1].glob("*.partial")) == []
    indexes.drop(tree)
    assert not tree.exists()


def test_without_an_index_in_the_bucket_a_node_builds_its_own(config: Config, tmp_path: Path) -> None:
    cache = config.repository("cache")
    for bucket in (config.bucket, ""):
        indexes = Indexes(replace(config, bucket=bucket), tmp_path / f"node{len(bucket)}")
        tree, remark = indexes.take(cache, revision(cache))
        assert ("built here" in remark) == bool(bucket)
        assert "evict_oldest" in search(config, indexes, tree, "evict oldest")


def test_a_commit_is_built_from_the_index_of_the_one_before(config: Config, tmp_path: Path) -> None:
    relay = config.repository("relay")
    first = build(config, relay)
    commit(tmp_path / "origin/relay", {"src/retry.py": "def retry_with_backoff():\n    pass\n"}, "Two")
    second = build(config, relay)
    assert not second.error and second.commit != first.commit
    indexes = Indexes(config, tmp_path / "node")
    tree, remark = indexes.take(relay, revision(relay))
    assert remark == "" and "retry_with_backoff" in search(config, indexes, tree, "retry with backoff")


@pytest.fixture
def cluster() -> Iterator[None]:
    connect("", is_local=True)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_ray_data_builds_every_repository_and_tells_what_failed(config: Config, tmp_path: Path) -> None:
    gone = Repository("gone", str(tmp_path / "origin/gone"))
    all_of_them = replace(config, repositories=(*config.repositories, gone))
    done = {one.name: one for one in build_all(all_of_them)}
    assert sorted(done) == ["cache", "gone", "relay"]
    assert "gone" in done["gone"].error
    assert not done["cache"].error and not done["relay"].error
    assert all(one.continued for one in build_all(config))


def test_the_command_says_what_is_wrong_with_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "colgrep.toml").write_text('repositories = ["/srv/api"]\nshard = 3\n')
    assert main(["build", os.fspath(tmp_path / "colgrep.toml")]) == 2
    assert "shard is no setting" in capsys.readouterr().err
