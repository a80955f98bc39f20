"""The ingress: a replica of Ray Serve that runs the coordinator beside itself and hands every request on to it.

The coordinator reads where the shards are from a file, which is written anew as the controller tells. Where the controller
does not answer, the last file holds, so searches go on.
"""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import ray
from ray import serve
from ray.exceptions import RayError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from .config import Config
from .controller import namespace
from .indexes import claimed, environment
from .running import Child, ProgramError

#: Headers that belong to a connection and not to what is sent over it (RFC 9110, 7.6.1), and those made anew.
HOP = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
}
#: Seconds between two questions to the controller, and until one is given up.
PAUSE, PATIENCE = 0.5, 2.0
#: Seconds in which the coordinator has to listen; seconds that a request may take.
OPEN, ANSWER = 60.0, 60.0


class Ingress:
    """Hands requests on to a coordinator on this machine."""

    def __init__(self, config: Config, token: str) -> None:
        self._config, self._token = config, token
        self._held = ExitStack()
        self._folder = claimed(Path(config.data) / config.name / "ingress", self._held)
        self._file = self._folder / "shards.json"
        self._file.unlink(missing_ok=True)
        self._address = ""
        self._session: aiohttp.ClientSession | None = None
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    async def __call__(self, request: Request) -> Response:
        """Answers one request with what the coordinator answers."""
        if not self._address:
            return _unready("no shard is up yet")
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=ANSWER), auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()
            )
        url = f"http://{self._address}{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")
        headers = [(key, value) for key, value in request.headers.items() if key.lower() not in HOP]
        try:
            async with self._session.request(
                request.method, url, headers=headers, data=await request.body(), allow_redirects=False
            ) as answer:
                body = await answer.read()
                response = Response(body, answer.status)
                response.raw_headers = [
                    (key, value) for key, value in answer.raw_headers if key.decode("latin-1").lower() not in HOP
                ]
                response.headers["content-length"] = str(len(body))
                return response
        except (aiohttp.ClientError, TimeoutError) as error:
            return _unready(f"the coordinator does not answer: {type(error).__name__}")

    def check_health(self) -> None:
        """Ray Serve asks it, and starts another one where it fails."""
        if not self._thread.is_alive():
            raise RuntimeError("nothing follows the shards any more")

    def _follow(self) -> None:
        """Keeps the file of shards and the coordinator's process, in the one thread that begins it."""
        child: Child | None = None
        while True:
            try:
                controller = ray.get_actor("controller", namespace=namespace(self._config))
                self._write(ray.get(controller.places.remote(), timeout=PATIENCE))
            except (RayError, ValueError, TimeoutError):
                pass  # The last file holds.
            if self._file.exists() and (child is None or not child.is_running):
                self._address = ""
                child = self._begin()
            time.sleep(PAUSE)

    def _write(self, shards: list[list[str]]) -> None:
        text = json.dumps({"shards": shards})
        if any(shards) and (not self._file.exists() or self._file.read_text(encoding="utf-8") != text):
            partial = self._file.with_suffix(".partial")
            partial.write_text(text, encoding="utf-8")
            os.replace(partial, self._file)

    def _begin(self) -> Child | None:
        hosts = [word for host in self._config.hosts for word in ("--host", host)]
        token = ["--token-file", self._config.token_file] if self._config.token_file else []
        arguments = [
            self._config.program,
            "serve",
            "--shards",
            str(self._file),
            "--listen",
            "127.0.0.1:0",
            *hosts,
            *token,
        ]
        if self._config.rights:
            arguments.append("--rights")
        child = Child(arguments, environment(self._folder / "indexes", COLGREP_SHARD_TOKEN=self._token))
        try:
            self._address = child.wait_for_address(OPEN)
            return child
        except ProgramError as error:
            print(f"ingress: the coordinator does not start: {error}", flush=True)
            return None


def _unready(why: str) -> Response:
    problem = {"title": "Service Unavailable", "status": 503, "detail": why, "code": "no_coordinator"}
    return JSONResponse(problem, 503, {"Retry-After": "1"}, "application/problem+json")


def application(config: Config, token: str) -> Any:
    """What Ray Serve runs. A single coordinator stays on the head node, without which Ray goes no further either."""
    options: dict[str, Any] = {"num_cpus": 0}
    if config.coordinators == 1:
        options["resources"] = {"node:__internal_head__": 0.001}
    deployment = serve.deployment(
        name="ingress",
        num_replicas=config.coordinators,
        max_ongoing_requests=128,
        ray_actor_options=options,
        logging_config={"enable_access_log": False},
        health_check_period_s=5,
    )(Ingress)
    # Without what does not concern it: a change of that starts no other ingress.
    return deployment.bind(replace(config, repositories=(), bucket="", shards=1, replicas=1), token)
