"""Projects: opening, searching, asking the history."""

from __future__ import annotations

import builtins
import functools
import json
import operator
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from . import _colgrep
from ._program import own_program
from .errors import RequestError, raised
from .results import Answer, History, Status, Unit, Update

StrPath = str | os.PathLike[str]
Tests = Literal["auto", "only", "exclude"]
By = Literal["both", "words", "meaning"]
IndexMode = Literal["full", "lite", "keyword"]
Progress = Callable[[str, int, int], object]


@functools.cache
def _parse_in_workers() -> None:
    """Lets processes of the command parse files, so that no file can end this process."""
    program = own_program()
    if program is not None:
        _colgrep.parse_with(program)


class Project:
    """The project around a path: the nearest folder with an index, else the git root, else the folder itself.

    Nothing is built yet: the first search does it, or :meth:`Project.update`. Paths in requests count from the root. The
    environment is read once, when the project is opened. Several threads may use one project; its searches then take
    turns. A process that is forked off behind a search can't search: use the start methods ``spawn`` or ``forkserver``.

    :param path: a file or folder of the project.
    :param model: the model that ranks by meaning: ``default``, a folder with an ONNX ColBERT, or a hub's name.
    :param index_mode: which vectors the index keeps: full, lite (none; the best are encoded by each search), keyword.
    :param hidden: index hidden files too.
    :param no_ignore: index ignored files too.
    :param filesize_max: the largest file that is indexed, in bytes.
    :param any_root: allow a home folder or a folder of the system as a project.
    :param data_dir: where indexes are kept, if not where the command ``colgrep`` keeps them.
    :raises RequestError: when there is no such path, or it is neither a file nor a folder.
    """

    def __init__(
        self,
        path: StrPath = ".",
        *,
        model: str | None = None,
        index_mode: IndexMode | None = None,
        hidden: bool | None = None,
        no_ignore: bool = False,
        filesize_max: int | None = None,
        any_root: bool = False,
        data_dir: StrPath | None = None,
    ) -> None:
        options = {
            "model": model,
            "index_mode": index_mode,
            "hidden": hidden,
            "no_ignore": no_ignore,
            "filesize_max": _count("filesize_max", filesize_max),
            "any_root": any_root,
        }
        if data_dir is not None:
            if not os.fspath(data_dir):
                raise RequestError("data_dir is empty; leave it out for the usual place")
            data_dir = os.path.abspath(os.path.expanduser(data_dir))
        _parse_in_workers()
        with raised():
            self._session = _colgrep.Session(path, _json(options), data_dir)

    def __repr__(self) -> str:
        return f"colgrep.open({str(self.root)!r})"

    @property
    def root(self) -> Path:
        """The project's root, absolute."""
        return Path(self._session.root)

    def update(self, progress: Progress | None = None) -> Update:
        """Brings the index up to date, all vectors included, and waits for another process that writes it.

        Ctrl-C ends it; what was done until then is kept.

        :param progress: called with a phase (``files``, then ``vectors``), how much is done, and how much there is.
        :raises IndexUnavailableError: when the index can't be written.
        """
        with raised():
            return Update._read(json.loads(self._session.update(progress)))

    def search(
        self,
        query: str,
        *,
        k: int | None = None,
        per_file: int | None = None,
        paths: StrPath | Iterable[StrPath] = (),
        include: str | Iterable[str] = (),
        exclude: str | Iterable[str] = (),
        languages: str | Iterable[str] = (),
        code_only: bool | None = None,
        tests: Tests | None = None,
        changed: bool = False,
        since: str | None = None,
        pattern: str | None = None,
        fixed: bool = False,
        ignore_case: bool = False,
        word: bool = False,
        calls: str | Iterable[str] = (),
        called_by: str | Iterable[str] = (),
        kinds: str | Iterable[str] = (),
        by: By | None = None,
        min_strength: float | None = None,
        near: StrPath | None = None,
        hints: Iterable[tuple[str, str]] = (),
        explain: bool = False,
        update: bool = True,
    ) -> Answer:
        """Ranks the files that answer a question, best first.

        :param query: words ("parse request") or names (parseRequest).
        :param k: number of files, 15 if not given.
        :param per_file: units of each file, 1 if not given.
        :param paths: files and folders to look in, from the root.
        :param include: only files that match one of these globs.
        :param exclude: no files that match one of these globs.
        :param languages: only files of these languages.
        :param code_only: no prose, configuration or data.
        :param tests: auto (ranked lower), only, or exclude.
        :param changed: only files that git says are changed since the last commit.
        :param since: only files that git says are changed since this commit, branch or tag.
        :param pattern: only units with a match of this regular expression on a line.
        :param fixed: the pattern is plain text.
        :param ignore_case: upper and lower case match alike in the pattern.
        :param word: the pattern matches whole words.
        :param calls: only units that call one of these names.
        :param called_by: only definitions of what the units of one of these names call.
        :param kinds: only units of these kinds: function, method, class, constant, document, section, rawcode.
        :param by: both, words or meaning.
        :param min_strength: leave out files whose strength (0 to 1) is below this.
        :param near: the file that is worked on, ``FILE`` or ``FILE:LINE``: what belongs to it comes earlier.
        :param hints: tags expected of what is wanted, as ``("purpose", "parsing")``; they leave out nothing.
        :param explain: tell how each score came about.
        :param update: compare the index with the files first, and bring it up to date.
        :raises RequestError: when the request can't be answered as it is.
        """
        if not isinstance(query, str):
            raise TypeError("the query is a text")
        return self._search(
            update,
            query=query,
            k=_count("k", k),
            per_file=_count("per_file", per_file),
            paths=_paths(paths),
            include=_list(include),
            exclude=_list(exclude),
            languages=_list(languages),
            code_only=code_only,
            tests=tests,
            changed=changed,
            since=since,
            pattern=pattern,
            fixed=fixed,
            ignore_case=ignore_case,
            word=word,
            calls=_list(calls),
            called_by=_list(called_by),
            kinds=_list(kinds),
            by=by,
            min_strength=min_strength,
            near=None if near is None else os.fspath(near),
            hints=[list(hint) for hint in hints],
            explain=explain,
        )

    def like(
        self,
        unit: Unit | str | None = None,
        *,
        file: StrPath | None = None,
        line: int | None = None,
        k: int | None = None,
        update: bool = True,
    ) -> Answer:
        """Ranks what is like a unit: one of an answer, one by its id, or the one on a line of a file.

        :raises RequestError: when there is no such unit.
        """
        if unit is not None and file is None and line is None:
            like: Any = unit.id if isinstance(unit, Unit) else unit
        elif unit is None and file is not None and line is not None:
            like = [os.fspath(file), _count("line", line)]
        else:
            raise TypeError("like() takes a unit, or a file and a line")
        return self._search(update, like=like, k=_count("k", k))

    def list(
        self,
        *,
        calls: str | Iterable[str] = (),
        called_by: str | Iterable[str] = (),
        kinds: str | Iterable[str] = (),
        paths: StrPath | Iterable[StrPath] = (),
        languages: str | Iterable[str] = (),
        k: int | None = None,
        update: bool = True,
    ) -> Answer:
        """Lists the units with these facts by path and line, unranked.

        :param calls: units that call one of these names.
        :param called_by: definitions of what the units of one of these names call.
        :param kinds: units of these kinds.
        """
        return self._search(
            update,
            calls=_list(calls),
            called_by=_list(called_by),
            kinds=_list(kinds),
            paths=_paths(paths),
            languages=_list(languages),
            k=_count("k", k),
        )

    def history(
        self,
        query: str | None = None,
        *,
        k: int | None = None,
        paths: StrPath | Iterable[StrPath] = (),
        sources: Iterable[Literal["commit", "session"]] = (),
        since: str | None = None,
        until: str | None = None,
        by: By | None = None,
        whole: bool = False,
        explain: bool = False,
    ) -> History:
        """Ranks commits, and agents' sessions where the user's settings name folders of them.

        :param query: what to look for; the newest entries come first where nothing is.
        :param k: number of entries, 15 if not given.
        :param paths: only what mentions one of these; with ``:LINE`` or ``:FROM-TO``, the commits that last
            changed the lines.
        :param sources: commit, session; both where empty.
        :param since: nothing before this: ``2026-01-31``, ``yesterday``, ``2 weeks ago``.
        :param until: nothing behind this.
        :param whole: give whole messages and turns.
        :raises RequestError: outside a repository, or for a path of which the history has nothing.
        """
        asked = {
            "query": query,
            "k": _count("k", k),
            "paths": _paths(paths),
            "sources": _list(sources),
            "since": since,
            "until": until,
            "by": by,
            "whole": whole,
            "explain": explain,
        }
        with raised():
            return History._read(json.loads(self._session.history(_json(asked))))

    def status(self) -> Status:
        """What the index holds. Nothing is built."""
        with raised():
            return Status._read(json.loads(self._session.status()))

    def _search(self, compare: bool, **asked: Any) -> Answer:
        with raised():
            return Answer._read(json.loads(self._session.search(_json(asked), compare)))


open = Project
"""Opens a project: another name of the class."""


def search(query: str, path: StrPath = ".", **asked: Any) -> Answer:
    """Searches the project around a path; parameters are those of :meth:`Project.search`."""
    return Project(path).search(query, **asked)


def _list(values: str | Iterable[str] | None) -> builtins.list[str]:
    """A list of texts; a single text is meant as one."""
    return [values] if isinstance(values, str) else [*(values or ())]


def _paths(values: StrPath | Iterable[StrPath] | None) -> builtins.list[str]:
    """A list of paths; a single path is meant as one."""
    if isinstance(values, (str, os.PathLike)):
        return [os.fspath(values)]
    return [os.fspath(value) for value in values or ()]


def _count(name: str, value: int | None) -> int | None:
    """A number from 0, whatever kind of integer it is."""
    if value is None:
        return None
    number = operator.index(value)
    if not 0 <= number < 1 << 63:
        raise RequestError(f"{name}: {number} is not a number from 0")
    return number


def _json(asked: dict[str, Any]) -> str:
    """A request; what is not given is left out."""
    try:
        given = {name: value for name, value in asked.items() if value is not None}
        text = json.dumps(given, allow_nan=False, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        raise RequestError("a text of the request is no Unicode: it holds half a surrogate pair") from None
    except ValueError:
        raise RequestError("a number of the request is none: nan or infinite") from None
    return text
