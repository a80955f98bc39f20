"""Files that are there as a whole or not at all, so that an interrupted step can be done again."""

import contextlib
import os
from pathlib import Path


@contextlib.contextmanager
def whole(path: Path):
    """A binary file to write to; it takes the name `path` once it is complete and on the disk."""
    part = path.with_name(path.name + ".part")
    with open(part, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def write_text(path: Path, text: str) -> None:
    with whole(path) as file:
        file.write(text.encode())


def stamp(paths) -> list[tuple[str, int, int]]:
    """What tells whether files have changed: name, size and time of change of each."""
    return [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(paths)]
