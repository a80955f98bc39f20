#!/usr/bin/env python3
"""Builds a repository's index as soon as its code host tells of a push.

Usage: python3 webhook.py [--listen ADDRESS:PORT] --secret-file FILE SHARDS.json -- COMMAND...

SHARDS.json is the file of manifests.py. COMMAND is run with the names of the repositories that were pushed, one run at a
time: colgrep-push, or `colgrep-ray --address auto look corpus.toml`. The code host signs each request with the secret
(GitHub, Gitea, Forgejo, Bitbucket: a signature; GitLab: the secret itself, so use TLS). The secret file has a secret a line;
with two, one can replace the other. Run it behind a proxy with TLS, and keep a timer beside it: a lost request is not sent
again.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: Bytes of a request; seconds in which something of it must arrive, and all of it; requests at once.
BODY_MAX, PATIENCE, DEADLINE, AT_ONCE = 25 << 20, 10.0, 30.0, 16
#: Seconds after which a command that could not be started is tried again.
AGAIN = 30.0
#: How deep addresses are in the links of a repository.
DEPTH = 4
#: Characters of a secret at least.
SECRET_MIN = 16


def is_signed(headers: Mapping[str, str] | Message, body: bytes, secrets: Iterable[str]) -> bool:
    """Whether a request comes from who knows one of the secrets."""
    given = headers.get("X-Hub-Signature-256") or headers.get("X-Hub-Signature") or ""
    token = (headers.get("X-Gitlab-Token") or "").encode()
    for secret in secrets:
        wanted = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        if hmac.compare_digest(wanted.encode(), given.encode()) or hmac.compare_digest(secret.encode(), token):
            return True
    return False


def secrets_of(path: Path) -> list[str]:
    """The secrets of a file.

    Raises:
        ValueError: There is none, or one is so short that it can be guessed.
        OSError: The file can't be read.
    """
    secrets = path.read_text(encoding="utf-8").split()
    if not secrets or min(map(len, secrets)) < SECRET_MIN:
        raise ValueError(f"{path} needs a secret of {SECRET_MIN} characters at least in each line")
    return secrets


def place(url: str) -> str:
    """Host and path of a repository's address, however it is written."""
    text, is_url = re.subn(r"^[\w+.-]+://", "", url)
    text = re.sub(r"^[^/@]*@", "", text)
    # Digits after the host are a port in a URL only: git@host:2024/api is a repository of the group 2024.
    text = re.sub(r"^([^/:]+|\[[^]]*\]):\d*(?=/|$)", r"\1", text) if is_url else re.sub(r"^([^/:]+):/?", r"\1/", text)
    host, separator, path = text.partition("/")
    return f"{host.lower()}{separator}{path}".rstrip("/").removesuffix(".git")


def texts(value: Any, depth: int) -> Iterator[str]:
    """The texts in a value, and in what it holds down to a depth."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, (dict, list)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts(one, depth - 1)


def pushed(payload: Any, plan: Mapping[str, Any]) -> list[str] | None:
    """The names of the repositories that a push concerns; None where it is of a repository that is not in the plan."""
    about = [payload.get(key) for key in ("repository", "project")] if isinstance(payload, dict) else []
    # Bitbucket has addresses below `links`. Elsewhere below may be those of another repository, such as a fork's origin.
    objects = [one for one in about if isinstance(one, dict)]
    urls = [url for one in objects for url in (*texts(one, 1), *texts(one.get("links"), DEPTH))]
    places = {place(url) for url in urls if "://" in url or "@" in url}
    found = [one for shard in plan["repositories"] for one in shard if place(one["url"]) in places]
    if not found:
        return None
    ref = payload.get("ref")
    return [one["name"] for one in found if not one.get("branch") or ref in (None, f"refs/heads/{one['branch']}")]


def say(text: str) -> None:
    """Prints a line; what reads it may be gone."""
    with suppress(OSError):
        print(f"webhook: {text}", flush=True)


class Builds:
    """Runs the command for repositories that were pushed; those that come meanwhile wait for the next run."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._due: set[str] = set()
        self._is_running = False
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def add(self, names: Iterable[str]) -> None:
        """Has repositories built."""
        with self._changed:
            self._due |= set(names)
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Whether nothing is left to build, at the latest after some seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._due and not self._is_running, seconds)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._is_running = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: bool(self._due))
                names, self._due, self._is_running = sorted(self._due), set(), True
            try:
                done = subprocess.run([*self._command, *names], stdin=subprocess.DEVNULL, check=False)
            except OSError as error:
                # No memory, no processes, or the command is being replaced: what was pushed is still to be built.
                say(f"{' '.join(names)}: {error}; tried again")
                self.add(names)
                time.sleep(AGAIN)
            else:
                say(f"{' '.join(names)}: {'built' if done.returncode == 0 else f'status {done.returncode}'}")


class Server(ThreadingHTTPServer):
    """A server with a limit of requests at once: whoever has no secret can open connections too."""

    request_queue_size = 64

    def __init__(self, *arguments: Any) -> None:
        self._free = threading.BoundedSemaphore(AT_ONCE)
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Has a thread answer, if there is one."""
        if not self._free.acquire(blocking=False):
            with suppress(OSError):
                request.setblocking(False)
                request.sendall(b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 10\r\n\r\ntoo many requests at once\n")
                # Closed with something unread, the connection would lose the answer.
                request.recv(1 << 16)
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except RuntimeError:
            # No thread began.
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answers, in a thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()


def server(listen: tuple[str, int], plan: Path, secret: Path, builds: Builds) -> ThreadingHTTPServer:
    """A server of the webhook. Both files are read for each request, so changes apply at once."""

    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE

        def setup(self) -> None:
            super().setup()
            # Whoever sends a byte now and then keeps no thread: what is there by then is all.
            self._deadline = threading.Timer(DEADLINE, self._end)
            self._deadline.start()

        def finish(self) -> None:
            self._deadline.cancel()
            super().finish()

        def _end(self) -> None:
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RD)

        def do_GET(self) -> None:
            self._say(200 if self.path == "/healthz" else 404, "ok" if self.path == "/healthz" else "POST pushes here")

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > BODY_MAX:
                return self._say(413, "a push is a JSON text of known length")
            body = self.rfile.read(int(length))
            if len(body) < int(length):
                return self._say(408, "the request did not arrive in time")
            try:
                secrets = secrets_of(secret)
                repositories = plan.read_text(encoding="utf-8")
            except (OSError, ValueError) as error:
                say(str(error))
                return self._say(503, "the secret or the plan can't be read")
            if not is_signed(self.headers, body, secrets):
                return self._say(401, "the signature is missing or wrong")
            try:
                names = pushed(json.loads(body), json.loads(repositories))
            except (ValueError, KeyError, TypeError, RecursionError):
                return self._say(400, "that is no push")
            if names is None:
                return self._say(404, "this repository is not served")
            if names:
                builds.add(names)
            self._say(202, f"builds {', '.join(names)}" if names else "another branch is served")

        def _say(self, status: int, text: str) -> None:
            # Who asked may be gone.
            with suppress(ConnectionError):
                self.send_response(status)
                self.send_header("Content-Type", "text/plain")
                self.end_headers()
                self.wfile.write(f"{text}\n".encode())

    return Server(listen, Handler)


def main(arguments: list[str]) -> int:
    """Serves until it is ended."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(usage=(__doc__ or "").split("\n\n")[1].removeprefix("Usage: "))
    parser.add_argument("--listen", default="127.0.0.1:7346")
    parser.add_argument("--secret-file", type=Path, required=True)
    parser.add_argument("plan", type=Path)
    asked = parser.parse_args(arguments[:split])
    if not arguments[split + 1 :]:
        parser.error("name the command that builds: -- colgrep-push")
    try:
        secrets_of(asked.secret_file)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    host, _, port = asked.listen.rpartition(":")
    listening = server((host, int(port)), asked.plan, asked.secret_file, Builds(arguments[split + 1 :]))
    say(f"http://{host}:{listening.server_address[1]}/")
    listening.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
