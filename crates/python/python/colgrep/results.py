"""Results, as frozen data classes: they compare, print, pickle, and become dictionaries by `dataclasses.asdict`."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

_Json = dict[str, Any]
_T = TypeVar("_T")


class _Several(Sequence[_T]):
    """A result that is a sequence of smaller ones."""

    @property
    def _all(self) -> tuple[_T, ...]:
        raise NotImplementedError

    @overload
    def __getitem__(self, at: int) -> _T: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[_T, ...]: ...
    def __getitem__(self, at: int | slice) -> _T | tuple[_T, ...]:
        return self._all[at]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[_T]:
        return iter(self._all)


@dataclass(frozen=True)
class Step:
    """One step of a ranking, for one unit."""

    step: str
    """Retriever or stage; ``query`` for what was read of the question, ``expand`` for the terms of a table."""
    change: float
    """The retriever's score, or the change that the stage made."""
    score: float
    """The score after it."""
    factor: float | None = None
    """By how much the stage multiplied the score, where it is one that does."""
    terms: tuple[str, ...] = ()
    """The terms that a table gave the question, with ``expand``."""
    clues: tuple[str, ...] = ()
    """What the question tells beside its words, with ``query``."""

    @classmethod
    def _read(cls, raw: _Json) -> Step:
        return cls(**{**raw, "terms": tuple(raw["terms"]), "clues": tuple(raw["clues"])})


@dataclass(frozen=True)
class Unit:
    """A piece of a file: a function, a class, a section."""

    id: str
    """Its name from one build of the index to the next, for ``Project.like``."""
    kind: str
    """function, method, class, constant, document, section or rawcode."""
    name: str
    """Its name as written; empty for raw code."""
    qualified_name: str
    """The name with what encloses it: ``Queue.push``."""
    signature: str
    """From the beginning of the definition to its body, white space folded."""
    docstring: str
    """The comment or string that documents it."""
    parameters: tuple[str, ...]
    """Parameters, as written."""
    return_type: str
    """The declared return type, as written."""
    extends: tuple[str, ...]
    """Bases, interfaces, the type that an extension extends."""
    calls: tuple[str, ...]
    """Names called inside, in order of appearance."""
    called_by: tuple[str, ...]
    """Qualified names of units that call it; of the first unit of a file alone."""
    first_line: int
    """First line that belongs to it, its comment included, from 1."""
    line: int
    """Line on which the definition begins."""
    last_line: int
    """Last line."""
    code: str
    """Its lines as the file has them now; empty where the file is gone."""
    score: float
    """Its score. Comparable within one answer and one project only."""
    best_line: int
    """Number of the line that shows best why it answers."""
    best_line_text: str
    """That line."""
    best_line_column: int
    """Column of the first match in it, in bytes from 1."""
    steps: tuple[Step, ...] | None = None
    """How its score came about, where that was asked for."""

    @classmethod
    def _read(cls, raw: _Json) -> Unit:
        lists = {name: tuple(raw[name]) for name in ("parameters", "extends", "calls", "called_by")}
        steps = None if raw["steps"] is None else tuple(Step._read(step) for step in raw["steps"])
        return cls(**{**raw, **lists, "steps": steps})


@dataclass(frozen=True)
class File:
    """One file of an answer, with its units, best first."""

    root: Path
    """The root of its project."""
    path: str
    """Its path from there, ``/`` between components."""
    language: str
    """Its language."""
    score: float
    """The best unit's score. Comparable within one answer and one project only."""
    strength: float
    """How likely it is right, 0 to 1, on one scale for all questions and projects."""
    units: tuple[Unit, ...]
    """Its units, best first; never empty."""
    also_here: int
    """How many of its other units match too."""
    imports: tuple[str, ...]
    """What it imports."""
    matching_lines: tuple[int, ...] | None = None
    """The lines that match the pattern, from 1, where one was given."""

    @property
    def full_path(self) -> Path:
        """The file's absolute path."""
        return self.root / self.path

    @property
    def best(self) -> Unit:
        """The best unit."""
        return self.units[0]

    @classmethod
    def _read(cls, raw: _Json) -> File:
        lines = raw["matching_lines"]
        return cls(
            **{
                **raw,
                "root": Path(raw["root"]),
                "units": tuple(Unit._read(unit) for unit in raw["units"]),
                "imports": tuple(raw["imports"]),
                "matching_lines": None if lines is None else tuple(lines),
            }
        )


@dataclass(frozen=True, repr=False)
class Answer(_Several[File]):
    """The files that answer a question, best first. It is a sequence of them."""

    query: str
    """The question in words, as it was ranked by."""
    files: tuple[File, ...]
    """The files, best first."""
    notices: tuple[str, ...] = ()
    """What is worth knowing of the index: what it lacks, who writes it."""

    @property
    def _all(self) -> tuple[File, ...]:
        return self.files

    def __repr__(self) -> str:
        return f"<Answer {self.query!r}: {', '.join(file.path for file in self.files) or 'nothing'}>"

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, lists and numbers, for JSON."""
        raw = dataclasses.asdict(self)
        for file in raw["files"]:
            file["root"] = str(file["root"])
        return raw

    def _repr_html_(self) -> str:
        """A table, for notebooks."""
        cells = (
            (f"{file.path}:{file.best.best_line}", file.best.qualified_name, file.best.best_line_text.strip())
            for file in self.files
        )
        rows = "".join(
            f"<tr><td><code>{html.escape(place)}</code></td><td>{html.escape(name)}</td>"
            f"<td style='text-align:left'><code>{html.escape(text)}</code></td></tr>"
            for place, name, text in cells
        )
        head = "<tr><th>place</th><th>unit</th><th>line</th></tr>"
        return f"<table><caption>{html.escape(self.query)}</caption>{head}{rows}</table>"

    @classmethod
    def _read(cls, raw: _Json) -> Answer:
        return cls(raw["query"], tuple(File._read(file) for file in raw["files"]), tuple(raw["notices"]))


@dataclass(frozen=True)
class Entry:
    """A commit, or a turn of an agent's session."""

    source: str
    """commit or session."""
    id: str
    """The commit's full name, or the transcript's path and line, with a colon between."""
    short: str
    """A commit's short name; empty for a turn."""
    transcript: Path | None
    """The transcript of a turn."""
    line: int | None
    """The line of a turn in it."""
    subject: str
    """The commit's subject, or the first line of what was asked."""
    files: tuple[str, ...]
    """The files that it mentions, from the project's root, sorted."""
    date: str
    """The day: ``2026-01-31``."""
    score: float
    """Its score; 0 where nothing was looked for."""
    text: str | None = None
    """The whole message or turn, where that was asked for."""
    steps: tuple[Step, ...] | None = None
    """How its score came about, where that was asked for."""

    @classmethod
    def _read(cls, raw: _Json) -> Entry:
        transcript = None if raw["transcript"] is None else Path(raw["transcript"])
        steps = None if raw["steps"] is None else tuple(Step._read(step) for step in raw["steps"])
        return cls(**{**raw, "transcript": transcript, "files": tuple(raw["files"]), "steps": steps})


@dataclass(frozen=True)
class History(_Several[Entry]):
    """What a history answers: entries, the best first, or the newest. It is a sequence of them."""

    entries: tuple[Entry, ...]
    """The entries."""
    uncommitted: tuple[str, ...] = ()
    """Lines of the question that are not committed yet."""
    notices: tuple[str, ...] = ()
    """What is worth knowing of the index."""

    @property
    def _all(self) -> tuple[Entry, ...]:
        return self.entries

    @classmethod
    def _read(cls, raw: _Json) -> History:
        entries = tuple(Entry._read(entry) for entry in raw["entries"])
        return cls(entries, tuple(raw["uncommitted"]), tuple(raw["notices"]))


@dataclass(frozen=True)
class Update:
    """What an update did."""

    files: int
    """Files in the index."""
    changed: int
    """Files read and indexed."""
    removed: int
    """Files removed."""
    units: int
    """Units written."""
    bytes: int
    """Bytes of source read."""
    encoded: int
    """Texts turned into vectors."""
    without_vectors: int
    """Units that have no vectors though they should."""
    complete: bool
    """Whether it went to its end."""
    notices: tuple[str, ...] = ()
    """What is worth knowing."""

    @classmethod
    def _read(cls, raw: _Json) -> Update:
        return cls(**{**raw, "notices": tuple(raw["notices"])})


@dataclass(frozen=True)
class Status:
    """What an index holds."""

    root: Path
    """The project's root."""
    index: Path
    """The index's folder."""
    indexed: bool
    """Whether there is one."""
    complete: bool
    """Whether its last build went to its end."""
    files: int
    """Indexed files."""
    units: int
    """Their units."""
    skipped: int
    """Files that were left out: binary, too large, generated."""
    source_bytes: int
    """Bytes of the indexed files."""
    index_bytes: int
    """Bytes of the index."""
    index_mode: str | None
    """full, lite or keyword; None without an index."""
    model: str | None
    """The model of its vectors; None without any."""
    languages: dict[str, int]
    """Indexed files of each language."""

    @classmethod
    def _read(cls, raw: _Json) -> Status:
        return cls(**{**raw, "root": Path(raw["root"]), "index": Path(raw["index"])})
