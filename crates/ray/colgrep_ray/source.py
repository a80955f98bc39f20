"""Sources: which commit a repository is at, and its files in a folder of their own, by git, which runs nothing for them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from .config import Repository
from .running import ProgramError, output

#: Nothing that a repository names is run. Other protocols than those of `_env` are refused.
OFF = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
]
#: Seconds that a look at a remote may take, and a fetch.
LOOK, FETCH = 30.0, 3600.0


@dataclass(frozen=True)
class Revision:
    """A commit of a repository, on a branch."""

    commit: str
    branch: str


def _env(*, own: bool) -> dict[str, str]:
    """Git's environment. With `own` the user's settings count, which credentials need; without, none do, filters included."""
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("GIT_") or key in ("GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_SSL_CAINFO")
    }
    env |= {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_ADVICE": "0",
        "LC_ALL": "C.UTF-8",
    }
    env.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
    if not own:
        env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}
    return env


def _git(arguments: list[str], timeout: float, folder: Path | None = None, own: bool = False) -> str:
    off = [word for setting in OFF for word in ("-c", setting)]
    try:
        return output(["git", *off, *arguments], timeout, _env(own=own), folder)[1]
    except ProgramError as error:
        raise ProgramError(without_secrets(str(error)), error.status) from None


def without_secrets(text: str) -> str:
    """A text whose addresses name no user and no password."""
    return re.sub(r"(\w+://)[^/@\s]+@", r"\1", text)


def revision(repository: Repository) -> Revision:
    """The commit that a repository's branch is at.

    Raises:
        ProgramError: It can't be reached, or has no such branch.
    """
    asked = f"refs/heads/{repository.branch}" if repository.branch else "HEAD"
    lines = _git(["ls-remote", "--symref", "--", repository.url, asked], LOOK, own=True).splitlines()
    branch, commit = repository.branch, ""
    for line in lines:
        value, _, name = line.partition("\t")
        if name == asked and value.startswith("ref: refs/heads/"):
            branch = value.removeprefix("ref: refs/heads/")
        elif name == asked and re.fullmatch(r"[0-9a-f]{40,64}", value):
            commit = value
    if not commit:
        raise ProgramError(f"{without_secrets(repository.url)} has no branch {repository.branch or 'HEAD'}", None)
    return Revision(commit, branch or "main")


class Sources:
    """Sources below a folder: a store of objects a repository, and a tree a commit, which never changes once it is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _place(self, repository: Repository) -> Path:
        # Another address is another repository, whatever it is called.
        mark = hashlib.blake2b(repository.url.encode(), digest_size=4).hexdigest()
        return self.folder / f"{repository.name}-{mark}"

    def tree(self, repository: Repository, revision: Revision) -> Path:
        """Where the files of a commit lie, or will. The folder is called as the repository is."""
        return self._place(repository) / revision.commit / repository.name

    def others(self, keep: set[Path]) -> list[Path]:
        """The trees that are not among those."""
        return [tree for tree in self.folder.glob("*-*/*/*") if (tree / ".git").is_dir() and tree not in keep]

    def take(self, repository: Repository, revision: Revision) -> Path:
        """Fetches a commit, and lays out its files.

        Raises:
            ProgramError: It can't be fetched.
        """
        tree = self.tree(repository, revision)
        if tree.exists():
            return tree
        place = self._place(repository)
        store = place / "objects.git"
        if not store.exists():
            _git(["init", "-q", "--bare", "--template=", str(store)], LOOK)
        self._fetch(store, repository, revision)
        partial = place / f"{revision.commit}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        _lay_out(partial / repository.name, store, repository, revision)
        shutil.rmtree(tree.parent, ignore_errors=True)
        partial.rename(tree.parent)
        return tree

    def _fetch(self, store: Path, repository: Repository, revision: Revision) -> None:
        fetch = ["fetch", "-q", "--depth=1", "--no-tags", "--no-write-fetch-head", "--force", "--", repository.url]
        kept = f"refs/kept/{revision.commit}"
        try:
            _git([*fetch, f"{revision.commit}:{kept}"], FETCH, store, own=True)
        except ProgramError:
            # Servers may refuse what is no tip of a branch by name; then the branch may be there still.
            _git([*fetch, f"refs/heads/{revision.branch}:{kept}"], FETCH, store, own=True)
            there = _git(["rev-parse", kept], LOOK, store).strip()
            if there != revision.commit:
                _git(["update-ref", "-d", kept], LOOK, store)
                raise ProgramError(f"{repository.name} has moved on from {revision.commit[:12]}", None) from None

    def drop(self, tree: Path) -> None:
        """Removes a tree; its commit's objects go with the next one that git packs."""
        shutil.rmtree(tree.parent, ignore_errors=True)


def _lay_out(tree: Path, store: Path, repository: Repository, revision: Revision) -> None:
    """A repository of its own around the files of a commit; its objects are those of the store."""
    tree.parent.mkdir(parents=True)
    _git(["init", "-q", "--template=", str(tree)], LOOK)
    (tree / ".git/objects/info").mkdir(parents=True, exist_ok=True)
    (tree / ".git/objects/info/alternates").write_text(f"{store}/objects\n", encoding="utf-8")
    if (store / "shallow").exists():
        shutil.copyfile(store / "shallow", tree / ".git/shallow")
    # By the address others know the repository, and its index in the bucket.
    _git(["config", "remote.origin.url", without_secrets(repository.url)], LOOK, tree)
    _git(["update-ref", f"refs/heads/{revision.branch}", revision.commit], LOOK, tree)
    _git(["symbolic-ref", "HEAD", f"refs/heads/{revision.branch}"], LOOK, tree)
    _git(["reset", "-q", "--hard"], FETCH, tree)
