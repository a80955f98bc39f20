"""What is served, and how: one file in TOML, the same on one machine and on a cluster."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

#: What a repository may be called: it becomes a folder, and stands in front of the paths of answers.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


class ConfigError(ValueError):
    """A file that can't be used as it is; the message says what to change."""


@dataclass(frozen=True)
class Repository:
    """A repository that is served."""

    #: Stands in front of its paths in answers.
    name: str
    #: What git clones: an address, or a folder that every node sees.
    url: str
    #: The branch that is served; "" is the one that the repository's HEAD names.
    branch: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, which says nothing of what others call the repository."""
        return self.url.startswith(("/", "file://"))


@dataclass(frozen=True)
class Config:
    """What a file says. Times are seconds."""

    #: The repositories, by name.
    repositories: tuple[Repository, ...]
    #: Where indexes are shared, as `colgrep push` takes it; "" makes every replica build its own.
    bucket: str = ""
    #: What the corpus is called: several can share a cluster.
    name: str = "colgrep"
    #: A folder of each node: sources and indexes, all of which can be fetched again.
    data: str = "/var/tmp/colgrep-ray"
    #: How many parts the repositories are divided into. Answers do not depend on it.
    shards: int = 1
    #: How many processes hold each part, on different nodes where there are as many.
    replicas: int = 2
    #: Where searches are answered: address and port. Other machines reach it only with a token.
    listen: str = "127.0.0.1:8000"
    #: Names of that server beside localhost and addresses, as a proxy in front has them.
    hosts: tuple[str, ...] = ()
    #: A file with the token that searches have to bring; "" asks for none.
    token_file: str = ""
    #: Whether each search has to say which repositories its caller may see (header Colgrep-Repositories), as a gateway does.
    rights: bool = False
    #: Processes that put answers together. With one it runs on Ray's head node, else they are spread.
    coordinators: int = 1
    #: How often the repositories are asked for new commits.
    poll: float = 15.0
    #: How long a replaced process goes on, for the searches that it has begun.
    drain: float = 35.0
    #: Processors that Ray reserves for a replica, and for building a repository.
    replica_cpus: float = 0.0
    build_cpus: float = 1.0
    #: The program.
    program: str = "colgrep"

    def repository(self, name: str) -> Repository:
        """The repository of that name.

        Raises:
            ConfigError: There is none.
        """
        for one in self.repositories:
            if one.name == name:
                return one
        raise ConfigError(f"{self.name} has no repository {name!r}")


def read(path: Path | str) -> Config:
    """Reads and checks a file.

    Raises:
        ConfigError: It can't be read, or says something that can't be meant.
    """
    path = Path(path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    try:
        return parse(table)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse(table: Mapping[str, Any]) -> Config:
    """Checks what a file says."""
    known = {field.name: field for field in fields(Config)}
    for key in table:
        if key not in known:
            raise ConfigError(f"{key} is no setting; there are {', '.join(known)}")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key == "repositories":
            values[key] = _repositories(value)
        elif key == "hosts":
            values[key] = tuple(_texts(key, value))
        else:
            default = known[key].default
            values[key] = _checked(key, value, type(default))
    if "repositories" not in values:
        raise ConfigError('repositories = ["https://example.com/owner/name", …] is missing')
    config = Config(**values)
    for key, least in (
        ("shards", 1),
        ("replicas", 1),
        ("coordinators", 1),
        ("poll", 0.1),
        ("drain", 0),
        ("replica_cpus", 0),
        ("build_cpus", 0),
    ):
        if getattr(config, key) < least:
            raise ConfigError(f"{key} must be {least} or more")
    if config.shards > 1024 or config.replicas > 16:
        raise ConfigError("1,024 shards and 16 replicas of each may be, no more")
    if not NAME.fullmatch(config.name):
        raise ConfigError(f"name = {config.name!r} must be letters, digits, '.', '_' and '-'")
    if not Path(config.data).is_absolute():
        raise ConfigError("data must be a whole path: each node has the folder for itself")
    host, port = address(config.listen)
    if host not in ("127.0.0.1", "localhost", "::1") and not config.token_file:
        raise ConfigError(
            f"listen = {config.listen!r} can be reached by others: name a token_file, or listen on 127.0.0.1:{port}"
        )
    return config


def address(text: str) -> tuple[str, int]:
    """Host and port of `host:port`."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise ConfigError(f"listen = {text!r} is not an address with a port, such as 127.0.0.1:8000")
    return host.strip("[]"), int(port)


#: What a value of a type is called.
KINDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def _checked(key: str, value: Any, kind: type) -> Any:
    if kind is float and type(value) is int:
        value = float(value)
    if type(value) is not kind:
        raise ConfigError(f"{key} must be {KINDS[kind]}")
    return value


def _texts(key: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ConfigError(f"{key} must be a list of texts")
    return value


def _repositories(value: Any) -> tuple[Repository, ...]:
    if not isinstance(value, list) or not value:
        raise ConfigError("repositories must be a list with one at least")
    found = [_repository({"url": one} if isinstance(one, str) else one) for one in value]
    names: dict[str, Repository] = {}
    for one in found:
        # Folders of some systems do not tell case apart.
        other = names.setdefault(one.name.lower(), one)
        if other is not one and other.url == one.url:
            raise ConfigError(f"{one.url} is named twice")
        if other is not one:
            hint = f'{{ url = "{one.url}", name = "…" }} tells them apart'
            raise ConfigError(f"{other.url} and {one.url} are both called {one.name}: {hint}")
    return tuple(sorted(found, key=lambda one: one.name))


def _repository(table: Any) -> Repository:
    known = {field.name for field in fields(Repository)}
    if (
        not isinstance(table, dict)
        or not {"url"} <= set(table) <= known
        or not all(isinstance(one, str) for one in table.values())
    ):
        raise ConfigError('a repository is its address, or { url = "…", name = "…", branch = "…" }')
    url = table["url"].rstrip("/")
    if url.startswith("-") or "::" in url or any(ord(c) < 32 for c in url) or not url:
        raise ConfigError(f"{url!r} is not an address of a repository")
    if "://" not in url and not url.startswith("/") and not re.match(r"[^/]+:", url):
        raise ConfigError(f"{url!r} must be an address, or the whole path of a folder")
    name = table.get("name") or re.split(r"[/:]", url)[-1].removesuffix(".git")
    if not NAME.fullmatch(name):
        raise ConfigError(
            f'{name!r} is no name for {url}: {{ url = "…", name = "…" }} gives another (letters, digits, ".", "_", "-")'
        )
    branch = table.get("branch", "")
    if branch.startswith("-") or any(c.isspace() for c in branch):
        raise ConfigError(f"{branch!r} is no branch")
    return Repository(name, url, branch)
