"""What goes wrong, as exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from . import _colgrep


class ColgrepError(Exception):
    """Any failure of colgrep."""


class RequestError(ColgrepError, ValueError):
    """The request can't be answered as it is: a path that is not there, an unknown name, a setting that does not fit."""


class IndexUnavailableError(ColgrepError, OSError):
    """An index can't be read, built or written."""


class ModelError(ColgrepError):
    """A model can't be opened or run."""


class GitError(ColgrepError):
    """Git has no answer."""


_KINDS: dict[str, type[ColgrepError]] = {
    "request": RequestError,
    "index": IndexUnavailableError,
    "model": ModelError,
    "git": GitError,
}


@contextmanager
def raised() -> Iterator[None]:
    """Turns failures of the native half into exceptions of this module."""
    try:
        yield
    except _colgrep.Failure as failure:
        kind, text = failure.args
        raise _KINDS.get(kind, ColgrepError)(text) from None
