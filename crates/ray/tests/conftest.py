"""What the tests share: repositories of their own, and the program."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import suppress
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


def listeners(parent: int) -> set[str]:
    """Where a process and its descendants listen, as the kernel writes addresses: hexadecimal, with the port."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    family = {parent}
    while more := {pid for pid, of in parents.items() if of in family} - family:
        family |= more
    sockets = set()
    for pid in family:
        with suppress(OSError):
            sockets |= {os.readlink(one) for one in Path(f"/proc/{pid}/fd").iterdir() if one.is_symlink()}
    found = set()
    for table in ("tcp", "tcp6"):
        for row in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, _, _, _, _, _, inode, *_ = row.split()
            if state == "0A" and f"socket:[{inode}]" in sockets:
                found.add(local)
    return found


def is_loopback(address: str) -> bool:
    """Whether other machines can't reach an address of :func:`listeners`."""
    host = address.partition(":")[0]
    # 127.0.0.1, the same in IPv6, and ::1; the kernel writes each word with its last byte first.
    return host.endswith("0100007F") or host == "0" * 24 + "01000000"


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
