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
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: Bytes of a request; seconds that one may take to arrive.
BODY_MAX, PATIENCE = 25 << 20, 10.0
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


def place(url: str) -> str:
    """Host and path of a repository's address, however it is written."""
    text = re.sub(r"^(\w+)://", "", url)
    text = re.sub(r"^[^/@]*@", "", text)
    host, separator, path = re.sub(r"^([^/:]+):(\d+/)?", r"\1/", text).partition("/")
    return f"{host.lower()}{separator}{path}".rstrip("/").removesuffix(".git")


def pushed(payload: Any, plan: Mapping[str, Any]) -> list[str] | None:
    """The names of the repositories that a push concerns; None where it is of a repository that is not in the plan."""
    about = [payload.get(key) for key in ("repository", "project")] if isinstance(payload, dict) else []
    urls = [value for one in about if isinstance(one, dict) for value in one.values() if isinstance(value, str)]
    places = {place(url) for url in urls if "://" in url or "@" in url}
    found = [one for shard in plan["repositories"] for one in shard if place(one["url"]) in places]
    if not found:
        return None
    ref = payload.get("ref")
    return [one["name"] for one in found if not one.get("branch") or ref in (None, f"refs/heads/{one['branch']}")]


class Builds:
    """Runs the command for repositories that were pushed; those that come meanwhile wait for the next run."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._due: set[str] = set()
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def add(self, names: Iterable[str]) -> None:
        """Has repositories built."""
        with self._changed:
            self._due |= set(names)
            self._changed.notify()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._due))
                names, self._due = sorted(self._due), set()
            done = subprocess.run([*self._command, *names], stdin=subprocess.DEVNULL, check=False)
            print(f"webhook: {' '.join(names)}: {'built' if done.returncode == 0 else f'status {done.returncode}'}", flush=True)


def server(listen: tuple[str, int], plan: Path, secret: Path, builds: Builds) -> ThreadingHTTPServer:
    """A server of the webhook. Both files are read for each request, so changes apply at once."""

    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE

        def do_GET(self) -> None:
            self._say(200 if self.path == "/healthz" else 404, "ok" if self.path == "/healthz" else "POST pushes here")

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not length.isdecimal() or int(length) > BODY_MAX:
                return self._say(413, "a push is a JSON text of known length")
            body = self.rfile.read(int(length))
            if not is_signed(self.headers, body, secret.read_text(encoding="utf-8").split()):
                return self._say(401, "the signature is missing or wrong")
            try:
                names = pushed(json.loads(body), json.loads(plan.read_text(encoding="utf-8")))
            except (ValueError, KeyError, TypeError):
                return self._say(400, "that is no push")
            if names is None:
                return self._say(404, "this repository is not served")
            if names:
                builds.add(names)
            self._say(202, f"builds {', '.join(names)}" if names else "another branch is served")

        def _say(self, status: int, text: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/plain")
            self.end_headers()
            self.wfile.write(f"{text}\n".encode())

    return ThreadingHTTPServer(listen, Handler)


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
    secrets = asked.secret_file.read_text(encoding="utf-8").split()
    if not secrets or min(map(len, secrets)) < SECRET_MIN:
        parser.error(f"{asked.secret_file} needs a secret of {SECRET_MIN} characters at least in each line")
    host, _, port = asked.listen.rpartition(":")
    listening = server((host, int(port)), asked.plan, asked.secret_file, Builds(arguments[split + 1 :]))
    print(f"webhook: http://{host}:{listening.server_address[1]}/", flush=True)
    listening.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
