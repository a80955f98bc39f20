"""An ingress alone, without a cluster."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from colgrep_ray import ingress
from colgrep_ray.config import Config


def until(holds: Callable[[], bool]) -> None:
    """Waits until something holds."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_full_disk_ends_no_ingress(config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "serves"
    program.write_text("#!/bin/sh\necho 127.0.0.1:4321\nexec sleep 600\n")
    program.chmod(0o755)
    places = SimpleNamespace(remote=lambda: [["127.0.0.1:1"]])
    cluster = SimpleNamespace(get_actor=lambda *_, **__: SimpleNamespace(places=places), get=lambda value, **_: value)
    monkeypatch.setattr(ingress, "ray", cluster)
    monkeypatch.setattr(ingress, "kept", lambda config, _: config)
    refused: list[Path] = []
    is_full, write = True, Path.write_text

    def write_text(path: Path, *arguments: Any, **more: Any) -> int:
        if is_full and path.suffix == ".partial":
            refused.append(path)
            raise OSError(errno.ENOSPC, "no room")
        return write(path, *arguments, **more)

    monkeypatch.setattr(Path, "write_text", write_text)
    one = ingress.Ingress(replace(config, program=str(program)), "token")
    try:
        until(lambda: len(refused) > 1)
        is_full = False
        until(lambda: one.pid() is not None)
    finally:
        one.stop()
    assert one.pid() is None
