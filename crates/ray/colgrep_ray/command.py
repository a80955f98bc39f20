"""The command `colgrep-ray`: build, start, status, stop."""

from __future__ import annotations

import argparse
import http.client
import json
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .config import Config, ConfigError, address, read

#: Seconds that the controller has to answer.
PATIENCE = 30.0
#: Seconds within which a cluster takes a connection.
REACHED = 10.0
#: Seconds for which the controller builds nothing while this command does; asked again three times as often.
HOLD = 30.0
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
        ("look", "look for new commits at once, as after a push"),
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
        if name == "look":
            command.add_argument("names", nargs="*", help="repositories that were pushed (default: all)")
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
    is_local = not asked.address and asked.command in ("build", "start")
    connect(asked.address, is_local=is_local)
    import ray  # It takes seconds; --help and errors of a file need none of it.

    try:
        if asked.command == "build":
            return build(config)
        if asked.command == "start":
            return start(config, is_local=is_local, builds=not asked.no_build, wait=asked.wait)
        if asked.command == "look":
            call(find(config), "look", asked.names)
            return 0
        if asked.command == "status":
            return status(config, as_json=asked.json)
        return stop(config)
    finally:
        ray.shutdown()


def connect(where: str, *, is_local: bool) -> None:
    """Connects to a cluster, or starts one in this process, on loopback."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if is_local:
        # Ray takes the machine's outer address for its own, whatever address it is given, and listens there; without
        # this it does not. It has to be set before Ray is imported.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", "86400")
    import ray
    from ray.exceptions import AuthenticationError

    if is_local:
        # "local": a cluster of another run, which may be dead, is neither joined nor waited for.
        ray.init(
            "local",
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _node_ip_address="127.0.0.1",
        )
        return
    _check_reachable(where)
    try:
        ray.init(where or "auto", log_to_driver=False, logging_level=logging.ERROR)
    except ConnectionError:
        at = f"answers at {where}" if where and where != "auto" else "runs on this machine"
        raise ConnectionError(f"no Ray cluster {at}; {_HOW}") from None
    except AuthenticationError:
        raise ConnectionError(
            "the Ray cluster wants another token: copy ~/.ray/auth_token of its head here, or name it in "
            "RAY_AUTH_TOKEN_PATH, and set RAY_AUTH_MODE=token"
        ) from None


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
    """Starts the controller and the coordinators, or gives a running controller the file as it is now."""
    controller = begin(config)
    # What lies on the machines is served at once, whether or not the bucket and git can be asked.
    listen(config, call(controller, "token"))
    if builds and config.bucket:
        with holding(controller):
            built = _bulk(config)
        call(controller, "take", built)
    until = time.monotonic() + wait
    found = call(controller, "status")
    # What can't be built is told; the rest is served all the same.
    while not (found["is_complete"] or found["is_settled"]) and time.monotonic() < until:
        time.sleep(0.5)
        found = call(controller, "status")
    # The coordinator hears of new processes a moment later.
    while any(shard["replicas"] for shard in found["shards"]) and not _is_ready(config) and time.monotonic() < until:
        time.sleep(0.2)
    print(f"serving at http://{config.listen}/", flush=True)
    show(found)
    if is_local:
        ended = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: ended.set())
        ended.wait()
        return stop(config)
    return 0 if found["is_complete"] else 1


def _is_ready(config: Config) -> bool:
    """Whether the coordinator answers searches."""
    host, port = address(config.listen)
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    connection = http.client.HTTPConnection(reached, port, timeout=5.0)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


@contextmanager
def holding(controller: Any) -> Iterator[None]:
    """Keeps the controller from building, for as long as this command does it and lives."""
    is_over = threading.Event()

    def hold() -> None:
        while not is_over.is_set():
            is_over.wait(HOLD / 3)
            controller.hold.remote(HOLD)

    call(controller, "hold", HOLD)
    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def begin(config: Config) -> Any:
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
    controller = ray.remote(Controller).options(**options).remote(config, secrets.token_hex(32))
    call(controller, "configure", config)
    return controller


def listen(config: Config, token: str) -> None:
    """Starts the coordinators at the file's address, or gives running ones the file as it is now."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    from .controller import namespace
    from .ingress import Ingress

    found: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    nodes = sorted(node["NodeID"] for node in found if node["Alive"])
    for number in range(config.coordinators):
        options: dict[str, Any] = {
            "name": f"ingress-{number}",
            "namespace": namespace(config),
            "lifetime": "detached",
            "get_if_exists": True,
            "num_cpus": 0,
            "max_restarts": -1,
            "max_concurrency": 4,
        }
        # A single one stays on the head node, without which Ray goes no further either.
        if config.coordinators == 1:
            options["resources"] = {"node:__internal_head__": 0.001}
        else:
            at = nodes[number % len(nodes)]
            options["scheduling_strategy"] = NodeAffinitySchedulingStrategy(at, soft=True)
        call(ray.remote(Ingress).options(**options).remote(config, token), "configure", config)
    end(config, config.coordinators)


def end(config: Config, first: int = 0) -> None:
    """Ends the coordinators from this number on."""
    import ray
    from ray.exceptions import RayError

    from .controller import namespace

    for row in ray.util.list_named_actors(all_namespaces=True):
        name, _, number = row["name"].partition("-")
        if row["namespace"] == namespace(config) and name == "ingress" and int(number) >= first:
            actor = ray.get_actor(row["name"], namespace=row["namespace"])
            with suppress(RayError):
                call(actor, "stop")
            ray.kill(actor)


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
    for warning in found["warnings"]:
        print(f"warning: {warning}", file=sys.stderr)
    for name, why in found["errors"].items():
        print(f"{name} is not current: {why}", file=sys.stderr)


def stop(config: Config) -> int:
    """Ends the coordinators, the replicas and the controller."""
    import ray

    controller = find(config)
    end(config)
    call(controller, "stop")
    ray.kill(controller)
    return 0


if __name__ == "__main__":
    sys.exit(main())
