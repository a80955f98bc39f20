"""Sources: a commit's files in a folder of their own, and nothing run for them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import commit, git

from colgrep_ray.config import Repository
from colgrep_ray.running import ProgramError
from colgrep_ray.source import Revision, Sources, revision, without_secrets


@pytest.fixture
def origin(tmp_path: Path) -> Repository:
    commit(tmp_path / "origin", {"a.py": "first = 1\n", "b.py": "kept = 1\n"}, "One")
    return Repository("api", f"file://{tmp_path}/origin")


def test_each_commit_has_a_tree_of_its_own(origin: Repository, tmp_path: Path) -> None:
    sources = Sources(tmp_path / "sources")
    first = revision(origin)
    before = sources.take(origin, first)
    commit(tmp_path / "origin", {"a.py": "second = 2\n"}, "Two")
    second = revision(origin)
    after = sources.take(origin, second)

    assert first.branch == second.branch == "main" and first.commit != second.commit
    assert (before / "a.py").read_text() == "first = 1\n"
    assert (after / "a.py").read_text() == "second = 2\n" and (after / "b.py").exists()
    assert before.name == after.name == "api"
    assert git(after, "rev-parse", "HEAD") == second.commit and git(after, "status", "--porcelain") == ""
    assert git(after, "log", "--format=%s") == "Two", "no history is fetched"
    assert git(after, "symbolic-ref", "--short", "HEAD") == "main"
    assert sources.take(origin, second) == after
    assert sources.others({after}) == [before]
    sources.drop(before)
    assert sources.others({after}) == [] and (after / "b.py").exists()


def test_a_branch_may_be_named(origin: Repository, tmp_path: Path) -> None:
    git(tmp_path / "origin", "checkout", "-q", "-b", "next")
    tip = commit(tmp_path / "origin", {"a.py": "other = 3\n"}, "On another branch")
    git(tmp_path / "origin", "checkout", "-q", "main")
    other = Repository("api", origin.url, "next")
    assert revision(other) == Revision(tip, "next")
    assert (Sources(tmp_path / "sources").take(other, revision(other)) / "a.py").read_text() == "other = 3\n"
    with pytest.raises(ProgramError, match="no branch gone"):
        revision(Repository("api", origin.url, "gone"))


def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str) -> None:
    """Gives git a user with settings of his own."""
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home/.gitconfig").write_text(settings)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def test_nothing_that_a_repository_or_a_user_names_is_run(
    origin: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-receive"):
        (tmp_path / "origin/.git/hooks" / hook).parent.mkdir(exist_ok=True)
        (tmp_path / "origin/.git/hooks" / hook).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (tmp_path / "origin/.git/hooks" / hook).chmod(0o755)
    git(tmp_path / "origin", "config", "uploadpack.packObjectsHook", f"touch {ran}; false")
    commit(tmp_path / "origin", {".gitattributes": "*.py filter=odd\n", "c.py": "c = 1\n"}, "A filter")
    # The user's own settings would run something too: each alone, so that a plain clone shows that it does.
    hooks = f"{tmp_path}/origin/.git/hooks"
    (tmp_path / "template/hooks").mkdir(parents=True)
    shutil.copy(f"{hooks}/post-checkout", tmp_path / "template/hooks")
    for at, (section, setting) in enumerate(
        [
            ("core", f"hooksPath = {hooks}"),
            ("init", f"templateDir = {tmp_path}/template"),
            ("core", f"fsmonitor = {hooks}/post-checkout"),
            ('filter "odd"', f"smudge = touch {ran} && cat"),
        ]
    ):
        home(tmp_path, monkeypatch, f"[{section}]\n{setting}\n")
        clone = tmp_path / f"clone{at}"
        subprocess.run(["git", "clone", "-q", origin.url, str(clone)], check=True, stdin=subprocess.DEVNULL)
        subprocess.run(["git", "status", "-s"], cwd=clone, check=True, stdout=subprocess.DEVNULL)
        assert ran.exists(), f"{setting} is one that git follows"
        ran.unlink()
        tree = Sources(tmp_path / f"sources{at}").take(origin, revision(origin))
        assert (tree / "c.py").exists() and not ran.exists(), setting
        assert list((tree / ".git").glob("hooks/*")) == []


def test_a_commit_that_is_gone_is_an_error(origin: Repository, tmp_path: Path) -> None:
    with pytest.raises(ProgramError):
        Sources(tmp_path / "sources").take(origin, Revision("0" * 39 + "1", "main"))
    with pytest.raises(ProgramError):
        revision(Repository("api", str(tmp_path / "nothing")))


def test_messages_and_trees_hold_no_password(
    origin: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "https://ada:secret@example.com/acme/api"
    home(tmp_path, monkeypatch, f'[url "{origin.url}"]\ninsteadOf = {address}\n')
    hidden = Repository("api", address)
    tree = Sources(tmp_path / "sources").take(hidden, revision(hidden))
    assert git(tree, "config", "remote.origin.url") == "https://example.com/acme/api"
    files = [one for one in (tmp_path / "sources").rglob("*") if one.is_file()]
    assert files and not any(b"secret" in one.read_bytes() for one in files)
    with pytest.raises(ProgramError) as failed:
        revision(Repository("api", "https://ada:secret@127.0.0.1:1/acme/api"))
    assert "secret" not in str(failed.value)
    said = "fatal: unable to access 'https://ada:secret@example.com/acme/api/': refused"
    assert without_secrets(said) == "fatal: unable to access 'https://example.com/acme/api/': refused"
