"""What the tests share: repositories of their own, and the program."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from colgrep_ray.config import Config, Repository

# Ray takes the machine's outer address for its own even where it is told another; so it takes loopback. Whatever imports
# Ray comes later.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


def git(folder: Path, *arguments: str) -> str:
    """Runs git as somebody whose settings are nobody's."""
    env = dict(os.environ) | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *who, *arguments], cwd=folder, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path, files: dict[str, str], message: str) -> str:
    """Writes files of a repository, which is made where there is none, and commits them."""
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "-q", "-b", "main")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def colgrep() -> str:
    """The program `colgrep`: TEST_COLGREP names it, else it is on the PATH."""
    found = shutil.which(os.environ.get("TEST_COLGREP", "colgrep"))
    if found is None:
        pytest.fail("TEST_COLGREP names no program `colgrep`, and the PATH has none")
    return os.path.abspath(found)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    """Waits until a process has ended."""
    until = time.monotonic() + 20
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not is_alive(pid)


@pytest.fixture
def program() -> str:
    """The program."""
    return colgrep()


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Two small repositories, a bucket and a folder for what a node keeps."""
    commit(
        tmp_path / "origin/relay", {"src/server.py": "def parse_request(text):\n    return read_header(text)\n"}, "One"
    )
    commit(tmp_path / "origin/cache", {"src/lib.rs": "pub fn evict_oldest(entries: &mut Vec<u8>) {}\n"}, "One")
    repositories = tuple(Repository(name, str(tmp_path / "origin" / name)) for name in ("cache", "relay"))
    return Config(repositories, bucket=str(tmp_path / "bucket"), data=str(tmp_path / "data"), name="test")
