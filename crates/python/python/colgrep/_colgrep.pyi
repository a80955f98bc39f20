"""The native half: requests and answers as JSON."""

import os
from collections.abc import Callable

__version__: str

def parse_with(program: str | os.PathLike[str]) -> None: ...

class Failure(Exception):
    """A failure: its kind and a sentence."""

    args: tuple[str, str]

class Session:
    """A project that is open."""

    def __new__(cls, path: str | os.PathLike[str], options: str, data_folder: str | os.PathLike[str] | None) -> Session: ...
    @property
    def root(self) -> os.PathLike[str]: ...
    def update(self, progress: Callable[[str, int, int], object] | None) -> str: ...
    def search(self, request: str, compare: bool) -> str: ...
    def history(self, request: str) -> str: ...
    def status(self) -> str: ...
