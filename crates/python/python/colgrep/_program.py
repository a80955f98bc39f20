"""The command that this package's wheel put on PATH."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path


def own_program() -> Path | None:
    """The path of the command, if it is there and still the one of this package's build."""
    try:
        listed = importlib.metadata.files("colgrep") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    for entry in listed:
        if entry.name in ("colgrep", "colgrep.exe") and entry.parent.name in ("bin", "Scripts"):
            path = Path(str(entry.locate()))
            # Another build of the command may have taken its place.
            if path.is_file() and path.stat().st_size == entry.size:
                return path
    return None
