"""Repositories that no model is trained on: those of benchmarks, their forks, and tools that colgrep is compared with.

A list is text, `owner/name [commit]` a line, from `#` on a remark; or JSON as benchmarks describe their repositories,
`[{"name": ..., "urls": [...], "revision": ...}]`. A repository is refused for its owner and name, for its name alone
(a fork that kept it), and for a commit of the list in its history (a fork under another name).
"""

import dataclasses
import json
import os
import re
import subprocess
from pathlib import Path


@dataclasses.dataclass
class Excluded:
    """Lower-case names of repositories without their owners, and commits; both with who they are and in which list."""

    names: dict[str, str] = dataclasses.field(default_factory=dict)
    commits: dict[str, str] = dataclasses.field(default_factory=dict)

    def add(self, names: list[str], commit: str | None, where: str) -> None:
        for name in names:
            self.names.setdefault(name.rsplit("/", 1)[-1].lower(), where)
        if commit:
            if not re.fullmatch("[0-9a-fA-F]{40}", commit):
                raise ValueError(f"{where}: {commit!r} is no full commit hash")
            self.commits[commit.lower()] = where

    def named(self, name: str) -> str | None:
        """Why a repository `owner/name` is refused, if it is."""
        where = self.names.get(name.rsplit("/", 1)[-1].lower())
        return where and f"it has the name of {where}"

    def inside(self, git_dir: str) -> str | None:
        """Why a clone is refused for what its history holds, if it is."""
        asked = "".join(f"{commit}^{{commit}}\n" for commit in self.commits)
        run = subprocess.run(["git", "--git-dir", git_dir, "cat-file", "--batch-check"], input=asked, text=True,
                             capture_output=True, check=False, env=os.environ | {"GIT_NO_LAZY_FETCH": "1"})  # fmt: skip
        if run.returncode:
            raise RuntimeError(f"git cat-file in {git_dir}: {run.stderr.strip()}")
        for commit, line in zip(self.commits, run.stdout.splitlines(), strict=True):
            if not line.endswith(" missing"):
                return f"its history holds {commit} of {self.commits[commit]}"
        return None


def owner_and_name(url: str) -> str:
    parts = url.removesuffix("/").removesuffix(".git").replace(":", "/").split("/")
    return "/".join(parts[-2:])


def read(paths: list[Path]) -> Excluded:
    """What the lists exclude; raises ValueError for one that is not understood or names nothing."""
    excluded = Excluded()
    for path in paths:
        text, found = path.read_text(encoding="utf-8"), 0
        if text.lstrip().startswith("["):
            try:
                for entry in json.loads(text):
                    names = [owner_and_name(url) for url in entry["urls"]]
                    where = f"{names[0]} in {path.name}"
                    excluded.add([*names, entry["name"]], entry.get("revision"), where)
                    found += 1
            except (LookupError, TypeError, ValueError) as error:
                raise ValueError(f"{path} is no list of repositories with `name` and `urls`: {error!r}") from error
        else:
            for number, line in enumerate(text.splitlines(), 1):
                words = line.split("#", 1)[0].split()
                if not words:
                    continue
                if words[0].count("/") != 1 or len(words) > 2:
                    raise ValueError(f"{path}, line {number}: {line!r} is not `owner/name [commit]`")
                excluded.add(words[:1], words[1] if len(words) > 1 else None, f"{words[0]} in {path.name}")
                found += 1
        if not found:
            raise ValueError(f"{path} excludes no repository")
    return excluded
