"""Indexes, by the program: making one and sending it to the bucket, taking one from there."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from .config import Config, Repository
from .running import ProgramError, output
from .source import Revision, Sources, revision

#: Seconds that building or fetching one index may take.
BUILD = 6 * 3600.0


def environment(data: Path, **tokens: str) -> dict[str, str]:
    """The program's environment: its own folder of indexes, nothing behind the back, perhaps tokens."""
    env = dict(os.environ) | {"COLGREP_DATA_DIR": str(data), "COLGREP_BACKGROUND": "0", "COLGREP_WAIT": "1"}
    for name in ("COLGREP_TOKEN", "COLGREP_SHARD_TOKEN"):
        env.pop(name, None)
    return env | tokens


@contextmanager
def locked(path: Path, *, wait: bool) -> Iterator[IO[str] | None]:
    """Holds a lock of the operating system, which ends with the process; None where another holds it and `wait` is not set."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield None
            return
        yield file


def claimed(folder: Path, held: ExitStack) -> Path:
    """The first numbered folder in it that no other process of this machine holds: what lies there is used again."""
    for number in range(1000):
        if held.enter_context(locked(folder / str(number) / "lock", wait=False)):
            return folder / str(number)
    raise RuntimeError(f"1,000 folders in {folder} are in use")


class Indexes:
    """Sources and their indexes below a folder of this node."""

    def __init__(self, config: Config, folder: Path) -> None:
        self.config = config
        self.sources = Sources(folder / "sources")
        #: The program's own folder.
        self.data = folder / "indexes"

    def _run(self, *arguments: str, codes: tuple[int, ...] = (0,)) -> int:
        return output([self.config.program, *arguments], BUILD, environment(self.data), codes=codes)[0]

    def _shared(self, verb: str, repository: Repository, tree: Path, codes: tuple[int, ...] = (0,)) -> int:
        # A folder's address says nothing elsewhere, so it is called by its name.
        name = ["--name", repository.name] if repository.is_folder else []
        return self._run(verb, "--quiet", *name, "--", self.config.bucket, str(tree), codes=codes)

    def send(self, repository: Repository, at: Revision) -> bool:
        """Makes the index of a commit and sends it, beginning with the last one that is there. Whether there was one.

        Raises:
            ProgramError: Git or the program failed.
        """
        tree = self.sources.take(repository, at)
        # 1: nobody has pushed yet. A damaged one is built anew as well, so no failure ends it here.
        taken = self._shared("pull", repository, tree, codes=(0, 1, 2)) == 0
        self._shared("push", repository, tree)
        return taken

    def take(self, repository: Repository, at: Revision) -> tuple[Path, str]:
        """The files of a commit and its index, from the bucket where it is there, else built here: the tree, and a remark.

        Raises:
            ProgramError: Git failed, or no index can be made.
        """
        if (there := self.ready(repository, at)) is not None:
            return there, ""
        tree = self.sources.take(repository, at)
        ready, remark = tree.parent / "ready", ""
        taken = False
        if self.config.bucket:
            try:
                taken = self._shared("pull", repository, tree, codes=(0, 1)) == 0
                remark = "" if taken else f"{repository.name}: the bucket has no index; it was built here"
            except ProgramError as error:
                remark = f"{repository.name}: {error}; its index was built here"
        if not taken:
            # 1: no file that is indexed. It is served all the same, and answers with nothing.
            self._run("init", "--quiet", "--", str(tree), codes=(0, 1))
        ready.touch()
        return tree, remark

    def ready(self, repository: Repository, at: Revision) -> Path | None:
        """The files of a commit, if they and their index lie here."""
        tree = self.sources.tree(repository, at)
        return tree if tree.exists() and (tree.parent / "ready").exists() else None

    def drop(self, tree: Path) -> None:
        """Removes a tree and its index."""
        try:
            self._run("clear", "--", str(tree), codes=(0, 1))
        except ProgramError:
            pass  # What can't be cleared is overwritten or stays; it is a cache.
        self.sources.drop(tree)


@dataclass(frozen=True)
class Built:
    """What came of building a repository."""

    name: str
    commit: str = ""
    branch: str = ""
    #: Whether it began with an index that the bucket had, of this commit or another.
    continued: bool = False
    seconds: float = 0.0
    #: Why there is none; "" where there is one.
    error: str = ""


def build(config: Config, repository: Repository) -> Built:
    """Brings the index of a repository in the bucket to the commit that its branch is at. Errors are part of the answer."""
    began, built = time.monotonic(), Built(repository.name)
    folder = Path(config.data) / config.name / "build" / repository.name
    try:
        with locked(folder.with_suffix(".lock"), wait=True):
            at = revision(repository)
            built = replace(built, commit=at.commit, branch=at.branch)
            indexes = Indexes(config, folder)
            try:
                built = replace(built, continued=indexes.send(repository, at))
            finally:
                # Objects stay for the next fetch; the tree and the index are in the bucket.
                shutil.rmtree(indexes.data, ignore_errors=True)
                for tree in indexes.sources.others(set()):
                    indexes.sources.drop(tree)
    except (ProgramError, OSError) as error:
        built = replace(built, error=str(error))
    return replace(built, seconds=time.monotonic() - began)
