"""The command on one machine: one file, one command, and nothing left when it ends."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
import ray
from conftest import gone, is_loopback, listeners
from organisation import free_port

from colgrep_ray.command import main
from colgrep_ray.config import Config


def test_one_command_builds_and_serves_until_it_is_told_to_end(config: Config, program: str, tmp_path: Path) -> None:
    listen = f"127.0.0.1:{free_port()}"
    config = replace(config, program=program, listen=listen)
    file = tmp_path / "colgrep.toml"
    urls = json.dumps([one.url for one in config.repositories])
    file.write_text(
        f'repositories = {urls}\nbucket = "{config.bucket}"\ndata = "{config.data}"\nprogram = "{program}"\n'
        f'listen = "{listen}"\nreplicas = 1\n'
    )
    env = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")}
    # A cluster of another run is remembered there, and is dead. Paths of sockets must be short.
    folder = tempfile.mkdtemp(prefix="r", dir="/tmp")
    (Path(folder) / "ray").mkdir()
    (Path(folder) / "ray/ray_current_cluster").write_text(f"127.0.0.1:{free_port()}")
    env["RAY_TMPDIR"] = folder
    command = [sys.executable, "-m", "colgrep_ray.command", "start", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as started:
        assert started.stdout is not None
        said = []
        try:
            for line in started.stdout:
                said.append(line)
                if "serving at" in line:
                    break
            assert any("serving at" in line for line in said), said
            body = json.dumps({"query": "evict oldest", "all": True}).encode()
            request = urllib.request.Request(
                f"http://{listen}/api/v1/search", body, {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=30) as answer:
                found = json.load(answer)
            assert "cache/src/lib.rs" in str(found["hits"])
            assert found["shards"] == {"asked": 1, "answered": 1, "missing": []}
            with urllib.request.urlopen(f"http://{listen}/", timeout=30) as page:
                assert page.status == 200 and "text/html" in page.headers["content-type"]
            if sys.platform == "linux":
                found = listeners(started.pid)
                assert len(found) > 5 and [one for one in found if not is_loopback(one)] == []
            children = [
                int(one)
                for one in subprocess.run(
                    ["pgrep", "-f", f"{program} serve.*{tmp_path}"], capture_output=True, text=True, check=True
                ).stdout.split()
            ]
        finally:
            started.terminate()
            try:
                started.communicate(timeout=60)
            finally:
                started.kill()
            shutil.rmtree(folder, ignore_errors=True)
    assert started.returncode == 0
    assert children and all(gone(pid) for pid in children)


def test_a_cluster_that_is_not_there_is_told(
    config: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "colgrep.toml"
    urls = json.dumps([one.url for one in config.repositories])
    file.write_text(f'repositories = {urls}\nbucket = "{config.bucket}"\n')
    nobody = f"127.0.0.1:{free_port()}"
    for where in (nobody, f"ray://{nobody}"):
        assert main(["--address", where, "status", str(file)]) == 2
        said = capsys.readouterr().err
        assert f"no Ray cluster answers at {where}" in said and "colgrep-ray start CONFIG" in said

    def none_found(*_: object, **__: object) -> None:
        raise ConnectionError("Could not find any running Ray instance.")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "init", none_found)
    assert main(["status", str(file)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("colgrep-ray: no Ray cluster runs on this machine; colgrep-ray start CONFIG"), said
