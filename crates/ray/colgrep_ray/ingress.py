"""The ingress: an actor that runs a coordinator, which answers searches at the file's address itself.

The coordinator reads where the shards are from a file, which is written anew as the controller tells. Where the controller
does not answer, the last file holds, so searches go on. No request goes through Python.
"""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import ray
from ray.exceptions import RayError

from .config import Config, address
from .controller import kept, namespace
from .indexes import claimed, environment
from .running import Child, ProgramError

#: Seconds between two questions to the controller, and until one is given up.
PAUSE, PATIENCE = 0.5, 2.0
#: Seconds in which the coordinator has to listen.
OPEN = 60.0


def arguments(config: Config, file: Path) -> list[str]:
    """The command of a coordinator."""
    host, port = address(config.listen)
    hosts = [word for name in config.hosts for word in ("--host", name)]
    token = ["--token-file", config.token_file] if config.token_file else []
    rights = ["--rights"] if config.rights else []
    listen = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return [config.program, "serve", "--shards", str(file), "--listen", listen, *hosts, *token, *rights]


class Ingress:
    """Keeps a coordinator running on this machine, and tells it where the shards are."""

    def __init__(self, config: Config, token: str) -> None:
        # Ray starts an actor again with what it was first given. Whatever came since is kept beside it.
        self._config, self._token = kept(config, token), token
        self._held = ExitStack()
        self._folder = claimed(Path(config.data) / config.name / "ingress", self._held)
        self._file = self._folder / "shards.json"
        self._file.unlink(missing_ok=True)
        self._child: Child | None = None
        self._is_stopped = threading.Event()
        # In the one thread that begins the coordinator: its end is bound to that.
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def configure(self, config: Config) -> None:
        """Takes a changed file. The coordinator begins anew only where what it was begun with has changed."""
        self._config = config

    def pid(self) -> int | None:
        """The number of the coordinator's process; None where it does not run."""
        child = self._child
        return child.pid if child and child.is_running else None

    def stop(self) -> None:
        """Ends the coordinator."""
        self._is_stopped.set()
        self._thread.join(20.0)

    def _follow(self) -> None:
        """Keeps the file of shards and the coordinator's process."""
        begun: list[str] = []
        while not self._is_stopped.is_set():
            try:
                controller = ray.get_actor("controller", namespace=namespace(self._config))
                self._write(ray.get(controller.places.remote(), timeout=PATIENCE))
            except (RayError, ValueError, OSError):
                pass  # No controller, or no room on the disk: the last file holds.
            wanted = arguments(self._config, self._file)
            if self._child and (begun != wanted or not self._child.is_running):
                # Searches that it has begun are answered first.
                self._child.stop(grace=12.0)
                self._child = None
            if self._child is None and self._file.exists():
                self._child, begun = self._begin(wanted), wanted
            self._is_stopped.wait(PAUSE)
        if self._child:
            self._child.stop(grace=12.0)
        self._held.close()

    def _write(self, shards: list[list[str]]) -> None:
        text = json.dumps({"shards": shards})
        if any(shards) and (not self._file.exists() or self._file.read_text(encoding="utf-8") != text):
            partial = self._file.with_suffix(".partial")
            partial.write_text(text, encoding="utf-8")
            os.replace(partial, self._file)

    def _begin(self, wanted: list[str]) -> Child | None:
        child = Child(wanted, environment(self._folder / "indexes", COLGREP_SHARD_TOKEN=self._token))
        try:
            child.wait_for_address(OPEN)
            return child
        except ProgramError as error:
            print(f"ingress: the coordinator does not start: {error}", flush=True)
            time.sleep(PAUSE)
            return None
