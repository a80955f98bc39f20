"""What the package promises, on a small project of its own."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import colgrep
from colgrep._program import own_program

SERVER = '''"""Reads requests from sockets."""

import socket


class Request:
    """What a client asked for."""


def parse_request(text: str) -> Request:
    """Parses the first line of a request."""
    return read_header(text)


def read_header(text):
    return Request()
'''
CACHE = """//! Keeps answers for a while.

/// Forgets the entry that was used longest ago.
pub fn evict_oldest(entries: &mut Vec<Entry>) {
    entries.remove(0);
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "server.py").write_text(SERVER)
    (root / "src" / "cache.rs").write_text(CACHE)
    (root / "README.md").write_text("# Relay\n\nA server for small answers.\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "Requests are parsed by hand\n\nThe old parser was slow.")
    return root


@pytest.fixture
def project(folder: Path, tmp_path: Path) -> colgrep.Project:
    return colgrep.open(folder, data_dir=tmp_path / "data")


def git(root: Path, *args: str) -> None:
    names = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *names, *args], cwd=root, check=True)


def test_the_right_unit_on_the_right_line(project: colgrep.Project) -> None:
    answer = project.search("parse request", k=2)
    best = answer[0].best
    assert answer[0].path == "src/server.py"
    assert (best.name, best.kind, best.line, best.best_line) == ("parse_request", "function", 10, 10)
    assert best.code.splitlines() == SERVER.splitlines()[9:12]
    assert best.docstring == "Parses the first line of a request."
    assert (best.parameters, best.return_type, best.calls) == (("text: str",), "Request", ("read_header",))
    assert answer[0].full_path.read_text() == SERVER
    assert answer[0].imports == ("import socket",)
    assert 0 <= answer[0].strength <= 1
    assert len(answer) <= 2 and [file.path for file in answer] == [file.path for file in answer.files]


def test_answers_are_those_of_the_command_s_engine_whatever_half_ranks(project: colgrep.Project) -> None:
    for by in ("both", "words", "meaning"):
        assert project.search("forget the entry used longest ago", by=by)[0].path == "src/cache.rs"


def test_the_index_follows_the_files(project: colgrep.Project, folder: Path) -> None:
    assert project.status().indexed is False
    update = project.update()
    assert (update.files, update.changed, update.complete, update.without_vectors) == (3, 3, True, 0)
    (folder / "src" / "zebra.py").write_text("def count_zebras():\n    return 3\n")
    assert "src/zebra.py" not in [file.path for file in project.search("count zebras", update=False)]
    assert project.search("count zebras")[0].path == "src/zebra.py"
    (folder / "src" / "zebra.py").unlink()
    assert project.update().removed == 1
    status = project.status()
    assert (status.files, status.indexed, status.index_mode) == (3, True, "full")
    assert status.languages == {"python": 1, "rust": 1, "markdown": 1}
    assert status.root == folder.resolve()


def test_progress_is_told(project: colgrep.Project, folder: Path) -> None:
    for number in range(60):
        text = "".join(f"def worker_{number}_{i}(a, b):\n    return a * {i} + b\n\n" for i in range(5))
        (folder / f"worker_{number}.py").write_text(text)
    told: list[tuple[str, int, int]] = []
    update = project.update(lambda phase, done, every: told.append((phase, done, every)))
    assert update.files == 63
    assert told[-1][1] == told[-1][2] and {phase for phase, _, _ in told} <= {"files", "vectors"}
    assert all(0 <= done <= every for _, done, every in told)


def test_what_progress_raises_ends_the_update(project: colgrep.Project, folder: Path) -> None:
    for number in range(60):
        text = "".join(f"def worker_{number}_{i}(a, b):\n    return a * {i} + b\n\n" for i in range(5))
        (folder / f"worker_{number}.py").write_text(text)

    def fail(phase: str, done: int, every: int) -> None:
        raise LookupError(phase)

    with pytest.raises(LookupError):
        project.update(fail)
    assert project.update().complete


@pytest.mark.skipif(os.name == "nt", reason="signals are POSIX")
def test_ctrl_c_ends_an_update(folder: Path, tmp_path: Path) -> None:
    for number in range(1_500):
        text = "".join(f"def worker_{number}_{i}(a, b):\n    return a * {i} + b\n\n" for i in range(20))
        (folder / f"worker_{number}.py").write_text(text)
    # A shell gives what it runs in the background a SIGINT that is ignored, and children inherit that.
    script = (
        "import colgrep, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "project = colgrep.open(sys.argv[1], data_dir=sys.argv[2])\n"
        "try:\n"
        "    project.update(lambda *told: print(*told, flush=True))\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", script, str(folder), str(tmp_path / "data")], stdout=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert running.stdout.readline().startswith("files ")
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert out.splitlines()[-1] == "interrupted"


def test_filters(project: colgrep.Project) -> None:
    def paths(**asked: object) -> list[str]:
        return sorted(file.path for file in project.search("request answer entry", **asked))  # type: ignore[arg-type]

    assert paths(languages=["rust"]) == ["src/cache.rs"]
    assert paths(languages="rust") == ["src/cache.rs"]
    assert paths(include=["*.py"]) == ["src/server.py"]
    assert "README.md" not in paths(exclude=["*.md"])
    assert "README.md" not in paths(code_only=True)
    assert paths(paths=["src/cache.rs"]) == ["src/cache.rs"]
    assert paths(pattern=r"entries\.remove") == ["src/cache.rs"]
    assert paths(kinds=["class"]) == ["src/server.py"]
    assert paths(min_strength=1.0) == []
    lines = project.search("entry", pattern="ENTRIES", ignore_case=True)[0].matching_lines
    assert lines is not None and 5 in lines


def test_facts_and_likeness(project: colgrep.Project) -> None:
    callers = project.list(calls=["read_header"])
    assert [unit.name for file in callers for unit in file.units] == ["parse_request"]
    called = project.list(called_by=["parse_request"])
    assert "read_header" in [unit.name for file in called for unit in file.units]
    unit = callers[0].best
    assert [file.path for file in project.like(unit)] == [file.path for file in project.like(unit.id)]
    assert project.like(file="src/server.py", line=10).query
    with pytest.raises(TypeError):
        project.like(unit, line=3)


def test_a_history(project: colgrep.Project, folder: Path) -> None:
    history = project.history("slow parser", whole=True)
    assert len(history) == 1
    entry = history[0]
    assert (entry.source, entry.subject) == ("commit", "Requests are parsed by hand")
    assert entry.text == "Requests are parsed by hand\n\nThe old parser was slow."
    assert entry.files == ("README.md", "src/cache.rs", "src/server.py")
    assert entry.id.startswith(entry.short) and entry.date.startswith("20")
    (folder / "src" / "server.py").write_text(SERVER + "# new\n")
    assert list(project.history(paths=["src/server.py:1"]))[0].id == entry.id
    last = len(SERVER.splitlines()) + 1
    assert project.history(paths=[f"src/server.py:{last}"]).uncommitted == (f"src/server.py:{last}",)


def test_explanations(project: colgrep.Project) -> None:
    steps = project.search("parse request", explain=True)[0].best.steps
    assert steps is not None and {"bm25", "fused"} <= {step.step for step in steps}
    assert project.search("parse request")[0].best.steps is None


def test_results_are_plain_data(project: colgrep.Project) -> None:
    answer = project.search("<script> parse request")
    assert pickle.loads(pickle.dumps(answer)) == answer
    assert json.loads(json.dumps(answer.to_dict()))["files"][0]["units"][0]["name"] == answer[0].best.name
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.query = "other"  # type: ignore[misc]
    table = answer._repr_html_()
    assert "src/server.py" in table and "<script>" not in table


def test_failures_are_exceptions_that_say_what_is_wrong(project: colgrep.Project, tmp_path: Path) -> None:
    for asked, told in [
        ({"query": "  "}, "empty"),
        ({"query": "x", "tests": "maybe"}, "auto, only, exclude"),
        ({"query": "x", "pattern": "("}, "("),
        ({"query": "x", "paths": ["nowhere"]}, "nowhere"),
        ({"query": "x", "kinds": ["funktion"]}, "function"),
        ({"query": "x", "hints": [("colour", "red")]}, "subsystem"),
        ({"query": "x", "min_strength": 2.0}, "0 to 1"),
        ({"query": "x" * 70_000}, "65536 bytes"),
    ]:
        with pytest.raises(colgrep.RequestError, match=".") as failure:
            project.search(**asked)  # type: ignore[arg-type]
        assert told in str(failure.value), asked
        assert isinstance(failure.value, ValueError)
    with pytest.raises(colgrep.RequestError):
        colgrep.open(tmp_path / "nowhere")
    with pytest.raises(colgrep.RequestError):
        project.list()
    with pytest.raises(colgrep.ModelError):
        colgrep.open(project.root, model=str(tmp_path), data_dir=tmp_path / "other").search("x")
    (tmp_path / "file").write_text("")
    with pytest.raises(colgrep.ColgrepError):
        colgrep.open(project.root, data_dir=tmp_path / "file").search("x")


def test_arguments_are_checked_where_they_are_given(project: colgrep.Project, tmp_path: Path) -> None:
    assert [file.path for file in project.search("entry", paths="src/cache.rs")] == ["src/cache.rs"]
    assert [file.path for file in project.search("entry", paths=Path("src/cache.rs"))] == ["src/cache.rs"]
    for asked, told in [
        ({"k": -1}, "k: -1"),
        ({"min_strength": float("nan")}, "nan"),
        ({"include": ["\ud800"]}, "surrogate"),
    ]:
        with pytest.raises(colgrep.RequestError, match=told):
            project.search("entry", **asked)  # type: ignore[arg-type]
    with pytest.raises(colgrep.RequestError, match="data_dir"):
        colgrep.open(project.root, data_dir="")
    with pytest.raises(TypeError):
        project.search(None)  # type: ignore[arg-type]
    assert len(repr(project.search("parse request"))) < 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
def test_a_forked_process_is_told_that_it_can_not_search(project: colgrep.Project) -> None:
    project.search("parse request")
    told, tells = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            project.search("parse request")
        except colgrep.RequestError as error:
            os.write(tells, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert b"spawn" in os.read(told, 1_000)


def test_a_second_thread_searches_while_one_updates(project: colgrep.Project, folder: Path) -> None:
    project.update()
    for number in range(40):
        text = "".join(f"def worker_{number}_{i}(a, b):\n    return a * {i} + b\n\n" for i in range(20))
        (folder / f"worker_{number}.py").write_text(text)
    told: list[tuple[str, int, int]] = []
    updates = threading.Thread(target=lambda: project.update(lambda *at: told.append(at)))
    updates.start()
    assert project.search("parse request", update=False)[0].path == "src/server.py"
    assert project.status().indexed
    updates.join()
    assert told[-1][1] == told[-1][2], "another call leaves the progress of this one alone"


def test_threads_share_a_project_and_the_interpreter_goes_on(project: colgrep.Project) -> None:
    project.update()
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(project.search("parse request")[0].path)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["src/server.py"] * 8


def test_the_short_way(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLGREP_DATA_DIR", str(tmp_path / "data"))
    assert colgrep.search("evict the oldest", folder, k=1)[0].best.name == "evict_oldest"
    assert repr(colgrep.open(folder)) == f"colgrep.open({str(folder.resolve())!r})"
    assert colgrep.__version__


@pytest.mark.skipif(own_program() is None, reason="the package is here without its command")
def test_a_hostile_file_ends_a_worker_at_most(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    # The scanner of Ruby writes its state past the end of a buffer, and aborts.
    (root / "here.rb").write_text('<<"\n' + "0" * 255 + '"\n')
    (root / "ring.rb").write_text("class Ring\n  def rotate_left(by)\n    @at += by\n  end\nend\n")
    project = colgrep.open(root, index_mode="keyword", data_dir=tmp_path / "data")
    assert project.update().files == 2
    assert [file.path for file in project.search("rotate_left")] == ["ring.rb"]
