"""What a file may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from colgrep_ray.config import Config, ConfigError, Repository, parse, read

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_a_repository_is_an_address_or_a_table() -> None:
    config = parse(
        {
            "repositories": [
                "https://example.com/acme/web.git",
                "git@example.com:acme/api.git/",
                {"url": "/srv/git/tools", "name": "our-tools", "branch": "next"},
            ],
            "shards": 3,
            "poll": 5,
        }
    )
    assert config.repositories == (
        Repository("api", "git@example.com:acme/api.git"),
        Repository("our-tools", "/srv/git/tools", "next"),
        Repository("web", "https://example.com/acme/web.git"),
    )
    assert (config.shards, config.poll, config.replicas) == (3, 5.0, 2)
    assert [one.is_folder for one in config.repositories] == [False, True, False]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({}, "is missing"),
        ({"repositories": []}, "one at least"),
        ({"repositories": ["--upload-pack=sh"]}, "not an address"),
        ({"repositories": ["ext::sh -c id"]}, "not an address"),
        ({"repositories": ["relative/folder"]}, "whole path"),
        ({"repositories": ["https://a.example/x/api", "https://b.example/y/API"]}, "both called"),
        ({"repositories": ["/srv/api", "/srv/api"]}, "named twice"),
        ({"repositories": [{"url": "/srv/api", "name": "../up"}]}, "no name"),
        ({"repositories": [{"url": "/srv/api", "branch": "--all"}]}, "no branch"),
        ({"repositories": [{"name": "api"}]}, "its address, or"),
        ({"repositories": ["/srv/api"], "shard": 2}, "no setting"),
        ({"repositories": ["/srv/api"], "shards": 0}, "1 or more"),
        ({"repositories": ["/srv/api"], "shards": True}, "a whole number"),
        ({"repositories": ["/srv/api"], "rights": "yes"}, "true or false"),
        ({"repositories": ["/srv/api"], "replicas": 17}, "16 replicas"),
        ({"repositories": ["/srv/api"], "data": "here"}, "whole path"),
        ({"repositories": ["/srv/api"], "name": "a b"}, "letters"),
        ({"repositories": ["/srv/api"], "listen": "8000"}, "not an address with a port"),
        ({"repositories": ["/srv/api"], "listen": "0.0.0.0:8000"}, "token_file"),
        ({"repositories": ["/srv/api"], "hosts": "search"}, "list of texts"),
    ],
)
def test_what_can_not_be_meant_is_refused(table: dict[str, object], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        parse(table)


def test_an_error_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "colgrep.toml").write_text("shards = ")
    for name in ("colgrep.toml", "missing.toml"):
        with pytest.raises(ConfigError, match=name):
            read(tmp_path / name)


def test_the_example_says_what_can_be_said() -> None:
    config = read(EXAMPLES / "colgrep.toml")
    assert isinstance(config, Config) and len(config.repositories) > 1 and config.bucket
