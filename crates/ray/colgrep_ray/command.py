"""The command `colgrep-ray`: build, start, status, stop."""

from __future__ import annotations

import argparse
import json
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
from typing import Any

from .config import Config, ConfigError, address, read

#: Seconds that the controller has to answer.
PATIENCE = 30.0
#: Seconds within which a cluster takes a connection.
REACHED = 10.0
#: What to do where there is no cluster to ask.
_HOW = (
    "colgrep-ray start CONFIG serves on this machine until it ends, and colgrep-ray --address HOST:PORT (or RAY_ADDRESS) "
    "takes the cluster there"
)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; its exit status: 0, 1 where something is missing, 2 for an error."""
    parser = argparse.ArgumentParser(
        prog="colgrep-ray",
        description="Ranked code search over an organisation's repositories: colgrep's shards on a Ray cluster.",
    )
    parser.add_argument(
        "--address",
        default=os.environ.get("RAY_ADDRESS", ""),
        help="a Ray cluster's address, or auto (default: RAY_ADDRESS; without one, start and build run Ray on this machine alone, until they end)",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("build", "bring the index of every repository in the bucket up to date"),
        ("start", "build, then serve; again with a changed file, change what is served"),
        ("status", "tell what is served, and what is missing"),
        ("stop", "end what start began on a cluster"),
    ):
        command = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        command.add_argument("config", help="the file that names the repositories")
        if name == "start":
            command.add_argument(
                "--no-build", action="store_true", help="serve at once; what lacks an index is built meanwhile"
            )
            command.add_argument(
                "--wait",
                type=float,
                default=600.0,
                metavar="SECONDS",
                help="how long to wait until every shard answers (default: 600)",
            )
        if name == "status":
            command.add_argument("--json", action="store_true", help="as JSON")
    asked = parser.parse_args(arguments)
    try:
        config = read(asked.config)
        return _run(asked, config)
    except (ConfigError, OSError, ConnectionError) as error:
        print(f"colgrep-ray: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _run(asked: argparse.Namespace, config: Config) -> int:
    import ray  # It takes seconds; --help and errors of a file need none of it.

    is_local = not asked.address and asked.command in ("build", "start")
    connect(asked.address, is_local=is_local)
    try:
        if asked.command == "build":
            return build(config)
        if asked.command == "start":
            return start(config, is_local=is_local, builds=not asked.no_build, wait=asked.wait)
        if asked.command == "status":
            return status(config, as_json=asked.json)
        return stop(config)
    finally:
        ray.shutdown()


def connect(where: str, *, is_local: bool) -> None:
    """Connects to a cluster, or starts one in this process, on loopback."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if is_local:
        ray.init(
            include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, _node_ip_address="127.0.0.1"
        )
        return
    _check_reachable(where)
    try:
        ray.init(where or "auto", log_to_driver=False, logging_level=logging.ERROR)
    except ConnectionError:
        at = f"answers at {where}" if where and where != "auto" else "runs on this machine"
        raise ConnectionError(f"no Ray cluster {at}; {_HOW}") from None


def _check_reachable(where: str) -> None:
    """Fails at once where nobody listens at an address: Ray itself tries for minutes."""
    host, separator, port = where.removeprefix("ray://").rpartition(":")
    if not separator or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACHED).close()
    except (OSError, OverflowError) as error:
        raise ConnectionError(f"no Ray cluster answers at {where} ({error}); {_HOW}") from None


def _bulk(config: Config) -> list[Any]:
    from .building import build_all

    done = []
    for built in build_all(config):
        done.append(built)
        said = built.error or f"{built.commit[:12]} built in {built.seconds:.1f} s"
        print(f"{built.name}: {said}", file=sys.stderr if built.error else sys.stdout, flush=True)
    return done


def build(config: Config) -> int:
    """Builds all, and says what came of each."""
    if not config.bucket:
        raise ConfigError('there is no bucket to build into: bucket = "s3://…"')
    return 1 if any(built.error for built in _bulk(config)) else 0


def start(config: Config, *, is_local: bool, builds: bool, wait: float) -> int:
    """Starts the controller and the ingress, or gives a running controller the file as it is now."""
    built = _bulk(config) if builds and config.bucket else []
    controller = begin(config, built)
    until = time.monotonic() + wait
    found = call(controller, "status")
    while not found["is_complete"] and time.monotonic() < until:
        time.sleep(0.5)
        found = call(controller, "status")
    listen(config, call(controller, "token"))
    print(f"serving at http://{config.listen}/", flush=True)
    show(found)
    if is_local:
        ended = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        ended.wait()
        return stop(config)
    return 0 if found["is_complete"] else 1


def begin(config: Config, built: list[Any]) -> Any:
    """The controller, which is started where there is none and else takes the file as it is."""
    import ray

    from .controller import Controller, namespace

    options = {
        "name": "controller",
        "namespace": namespace(config),
        "lifetime": "detached",
        "get_if_exists": True,
        "num_cpus": 0,
        "max_restarts": -1,
        "max_concurrency": 16,
        # Where Ray's head is: without that nothing is placed anyway, and no other node's end concerns it.
        "resources": {"node:__internal_head__": 0.001},
    }
    controller = ray.remote(Controller).options(**options).remote(config, secrets.token_hex(32), built)
    call(controller, "configure", config)
    return controller


def listen(config: Config, token: str) -> None:
    """Starts the ingress at the file's address."""
    from ray import serve

    from .ingress import application

    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    host, port = address(config.listen)
    serve.start(
        proxy_location="HeadOnly" if config.coordinators == 1 else "EveryNode",
        http_options={"host": host, "port": port},
    )
    serve.run(application(config, token), name=config.name, route_prefix="/")


def call(controller: Any, name: str, *arguments: Any) -> Any:
    """Asks the controller, and waits no longer than it should take."""
    import ray

    return ray.get(getattr(controller, name).remote(*arguments), timeout=PATIENCE)


def find(config: Config) -> Any:
    """The controller of a corpus that was started."""
    import ray

    from .controller import namespace

    try:
        return ray.get_actor("controller", namespace=namespace(config))
    except ValueError:
        raise ConfigError(f"{config.name} is not started on this cluster: colgrep-ray start CONFIG") from None


def status(config: Config, *, as_json: bool) -> int:
    """Tells what is served."""
    found = call(find(config), "status")
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        show(found)
    return 0 if found["is_complete"] else 1


def show(found: dict[str, Any]) -> None:
    """Prints a status for people."""
    for shard in found["shards"]:
        up = [one for one in shard["replicas"] if one.get("address") and not one["leaving"]]
        print(
            f"shard {shard['shard']}: {len(shard['repositories'])} repositories, {len(up)} of {found['wanted_replicas']} replicas"
        )
        for one in shard["replicas"]:
            said = ", ".join([*one.get("remarks", ())][:3])
            print(
                f"  {one.get('address') or 'starting'} on node {one['node'][:8]}{' (leaving)' if one['leaving'] else ''}{': ' + said if said else ''}"
            )
    for name, why in found["errors"].items():
        print(f"{name} is not current: {why}", file=sys.stderr)


def stop(config: Config) -> int:
    """Ends the ingress, the replicas and the controller."""
    import ray
    from ray import serve

    controller = find(config)
    serve.delete(config.name)
    call(controller, "stop")
    ray.kill(controller)
    return 0


if __name__ == "__main__":
    sys.exit(main())
