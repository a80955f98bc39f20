#!/usr/bin/env python3
"""Writes systemd units or Kubernetes manifests for shards, from the file that names them.

Usage: python3 crates/cluster/deploy/manifests.py systemd|kubernetes SHARDS.json FOLDER

The file is the one that `colgrep serve --shards` reads, with what else a deployment needs; colgrep ignores that:

    {"shards": [["10.0.0.1:4001", "10.0.0.2:4001"]],
     "repositories": [[{"name": "api", "url": "https://git.example.com/acme/api"}]],
     "bucket": "s3://acme-search/colgrep",
     "image": "registry.example.com/colgrep:0.1.0"}

`repositories` has a list for each shard. On Kubernetes the addresses of `shards` only say how many replicas each shard has.
docs/operations.md says what to do with the result.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
#: Ports of shards and of coordinators; where they keep tokens, sources and indexes.
SHARD, SEARCH = 4001, 7345
TOKENS, DATA = "/etc/colgrep/tokens", "/var/lib/colgrep"


class ManifestError(ValueError):
    """A file from which nothing can be made; the message says what to change."""


def read(path: Path) -> dict[str, Any]:
    """Reads and checks the file."""
    try:
        plan: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        shards, repositories = plan["shards"], plan["repositories"]
        names = [one["name"] for shard in repositories for one in shard]
        urls = [one["url"] for shard in repositories for one in shard]
        plan["bucket"], plan["image"] = str(plan.get("bucket", "")), str(plan.get("image", ""))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ManifestError(f"{path}: {error!r}") from error
    if len(shards) != len(repositories):
        raise ManifestError(f"{path}: {len(shards)} shards, and repositories of {len(repositories)}")
    if bad := [name for name in names if not NAME.fullmatch(name)]:
        raise ManifestError(f"{path}: {bad[0]!r} is no name: letters, digits, '.', '_' and '-'")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ManifestError(f"{path}: {twice[0]} belongs to two shards; move it by the steps of docs/operations.md")
    if bad := [url for url in urls if url.startswith("-") or any(ord(c) < 32 for c in url)]:
        raise ManifestError(f"{path}: {bad[0]!r} is no address of a repository")
    if not all(shards) or not all(repositories):
        raise ManifestError(f"{path}: each shard needs a replica and a repository")
    return plan


def update(plan: dict[str, Any], shard: int, data: str) -> str:
    """The script that brings the sources and indexes of a shard to what the bucket has, before the shard starts.

    What can't be fetched stays as it is, so a shard starts from its disk while git or the bucket is away.
    """
    lines = ["#!/bin/sh", "# Brings a shard's sources and indexes up to date; what can't be fetched stays as it is.", "set -u"]
    for one in plan["repositories"][shard]:
        tree, url, name = shlex.quote(f"{data}/src/{one['name']}"), shlex.quote(one["url"]), one["name"]
        fetch = [
            f"[ -d {tree}/.git ] || git init -q {tree}",
            f"git -C {tree} fetch -q --depth=1 {url} HEAD",
            f"git -C {tree} reset -q --hard FETCH_HEAD",
        ]
        lines += [f"{{ {' && '.join(fetch)}; }} || echo {shlex.quote(f'{name}: not fetched; its sources stay as they are')} >&2"]
        if plan["bucket"]:
            pull = f"colgrep pull --quiet --name {shlex.quote(name)} -- {shlex.quote(plan['bucket'])} {tree}"
            lines += [f"{pull} || echo {shlex.quote(f'{name}: not pulled; its index stays as it is')} >&2"]
    return "\n".join([*lines, "exit 0", ""])


def push(plan: dict[str, Any], data: str) -> str:
    """The script that builds the indexes of all repositories and pushes them."""
    lines = ["#!/bin/sh", "# Builds and pushes the index of each repository; fails if one fails.", "set -u", "failed=0"]
    for one in [one for shard in plan["repositories"] for one in shard]:
        tree, url, name = shlex.quote(f"{data}/src/{one['name']}"), shlex.quote(one["url"]), shlex.quote(one["name"])
        bucket = shlex.quote(plan["bucket"])
        steps = [
            f"{{ [ -d {tree}/.git ] || git init -q {tree}; }}",
            f"git -C {tree} fetch -q --depth=1 {url} HEAD",
            f"git -C {tree} reset -q --hard FETCH_HEAD",
            f"{{ colgrep pull --quiet --name {name} -- {bucket} {tree} || true; }}",
            f"colgrep push --quiet --name {name} -- {bucket} {tree}",
        ]
        lines += [" && ".join(steps) + " || failed=1"]
    return "\n".join([*lines, "exit $failed", ""])


def roots(plan: dict[str, Any], shard: int, data: str) -> list[str]:
    """The arguments that name a shard's repositories."""
    return [f"{one['name']}={data}/src/{one['name']}" for one in plan["repositories"][shard]]


# systemd


def unit(description: str, service: dict[str, str], before: list[str]) -> str:
    """A unit of a service that is restarted where it ends."""
    head = ["[Unit]", f"Description={description}", "After=network-online.target", "Wants=network-online.target", ""]
    fixed = {"DynamicUser": "yes", "StateDirectory": "colgrep", "Restart": "always", "RestartSec": "1"}
    rows = [f"{key}={value}" for key, value in (fixed | service).items()]
    return "\n".join([*head, "[Service]", *before, *rows, "", "[Install]", "WantedBy=multi-user.target", ""])


def systemd(plan: dict[str, Any]) -> dict[str, str]:
    """Files by path; each host has a folder."""
    files = {"coordinator/shards.json": json.dumps({"shards": plan["shards"]}, indent=2) + "\n"}
    search = f"/usr/local/bin/colgrep serve --shards /etc/colgrep/shards.json --listen 127.0.0.1:{SEARCH} --log json"
    files["coordinator/colgrep.service"] = unit(
        "colgrep: searches over shards",
        {"ExecStart": f"{search} --token-file {TOKENS}/search --shard-token-file {TOKENS}/shard"},
        ["SupplementaryGroups=colgrep"],
    )
    for shard, replicas in enumerate(plan["shards"]):
        data = f"{DATA}/shard-{shard}"
        names = " ".join(shlex.quote(root) for root in roots(plan, shard, data))
        for address in replicas:
            host, _, port = address.rpartition(":")
            folder = host.strip("[]").replace(":", "_")
            files[f"{folder}/colgrep-update-{shard}"] = update(plan, shard, data)
            files[f"{folder}/colgrep-shard-{shard}.service"] = unit(
                f"colgrep: shard {shard}",
                {
                    "Environment": f"COLGREP_DATA_DIR={data}/index HOME={data}",
                    "ExecStartPre": f"/usr/local/bin/colgrep-update-{shard}",
                    "ExecStart": f"/usr/local/bin/colgrep serve --shard --listen {host}:{port} --log json "
                    f"--token-file {TOKENS}/shard {names}",
                    "TimeoutStartSec": "infinity",
                },
                ["SupplementaryGroups=colgrep"],
            )
    return files


# Kubernetes


def container(name: str, image: str, command: list[str], **rest: Any) -> dict[str, Any]:
    """A container without rights."""
    security = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    return {"name": name, "image": image, "command": command, "securityContext": security} | rest


def probes(port: int) -> dict[str, Any]:
    """Ready once all indexes are open; alive while it answers."""
    at = {"port": port}
    return {
        "readinessProbe": {"httpGet": {"path": "/readyz"} | at, "periodSeconds": 5},
        "livenessProbe": {"httpGet": {"path": "/healthz"} | at, "periodSeconds": 10, "failureThreshold": 6},
        "ports": [{"containerPort": port, "name": "colgrep"}],
    }


def thing(kind: str, version: str, name: str, body: dict[str, Any]) -> dict[str, Any]:
    """An object of Kubernetes."""
    labels = {"app.kubernetes.io/name": "colgrep", "app.kubernetes.io/instance": name}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": labels}} | body


def kubernetes(plan: dict[str, Any]) -> dict[str, str]:
    """One file with a list of objects; YAML is a superset of JSON."""
    if not plan["image"] or not plan["bucket"]:
        raise ManifestError('on Kubernetes, "image" and "bucket" are needed')
    data, image = "/data", plan["image"]
    tokens = {"name": "tokens", "secret": {"secretName": "colgrep-tokens"}}
    scripts = {"name": "scripts", "configMap": {"name": "colgrep-scripts", "defaultMode": 0o555}}
    temporary = {"name": "tmp", "emptyDir": {}}
    mounts = [{"name": "tmp", "mountPath": "/tmp"}, {"name": "data", "mountPath": data}]
    env = [{"name": "COLGREP_DATA_DIR", "value": f"{data}/index"}, {"name": "HOME", "value": data}]
    user = {"runAsNonRoot": True, "runAsUser": 10001, "fsGroup": 10001}
    token = {"name": "tokens", "mountPath": TOKENS, "readOnly": True}
    script = {"name": "scripts", "mountPath": "/scripts"}
    texts = {f"update-{shard}": update(plan, shard, data) for shard in range(len(plan["shards"]))}
    objects = [thing("ConfigMap", "v1", "colgrep-scripts", {"data": texts | {"push": push(plan, data)}})]
    addresses = []
    for shard, replicas in enumerate(plan["shards"]):
        name = f"colgrep-shard-{shard}"
        addresses.append([f"{name}-{at}.{name}:{SHARD}" for at in range(len(replicas))])
        selector = {"app.kubernetes.io/name": "colgrep", "app.kubernetes.io/instance": name}
        serve = ["colgrep", "serve", "--shard", "--listen", f"0.0.0.0:{SHARD}", "--log", "json"]
        serve += ["--token-file", f"{TOKENS}/shard", "--", *roots(plan, shard, data)]
        spread = {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": selector},
        }
        pod = {
            "serviceAccountName": "colgrep",
            "automountServiceAccountToken": True,
            "securityContext": user,
            "topologySpreadConstraints": [spread],
            "initContainers": [
                container("update", image, [f"/scripts/update-{shard}"], env=env, volumeMounts=[*mounts, script])
            ],
            "containers": [container("shard", image, serve, env=env, volumeMounts=[*mounts, token], **probes(SHARD))],
            "volumes": [tokens, scripts, temporary],
        }
        claim = {
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "20Gi"}}},
        }
        stateful = {
            "replicas": len(replicas),
            "serviceName": name,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": selector},
            "template": {"metadata": {"labels": selector}, "spec": pod},
            "volumeClaimTemplates": [claim],
        }
        # Coordinators find out themselves which replica answers; a full disk must not hide its name.
        service = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
        objects += [
            thing("Service", "v1", name, {"spec": service | {"ports": [{"port": SHARD, "name": "colgrep"}]}}),
            thing("StatefulSet", "apps/v1", name, {"spec": stateful}),
            thing(
                "PodDisruptionBudget",
                "policy/v1",
                name,
                {"spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector}}},
            ),
        ]
    shards = json.dumps({"shards": addresses}, indent=2)
    objects.append(thing("ConfigMap", "v1", "colgrep-shards", {"data": {"shards.json": shards}}))
    selector = {"app.kubernetes.io/name": "colgrep", "app.kubernetes.io/instance": "colgrep"}
    serve = ["colgrep", "serve", "--shards", "/config/shards.json", "--listen", f"0.0.0.0:{SEARCH}", "--log", "json"]
    serve += ["--token-file", f"{TOKENS}/search", "--shard-token-file", f"{TOKENS}/shard", "--host", "colgrep"]
    config = {"name": "config", "configMap": {"name": "colgrep-shards"}}
    pod = {
        "automountServiceAccountToken": False,
        "securityContext": user,
        "containers": [
            container(
                "coordinator",
                image,
                serve,
                env=[{"name": "COLGREP_DATA_DIR", "value": "/tmp"}, {"name": "HOME", "value": "/tmp"}],
                volumeMounts=[mounts[0], token, {"name": "config", "mountPath": "/config"}],
                **probes(SEARCH),
            )
        ],
        "volumes": [tokens, config, temporary],
    }
    template = {"metadata": {"labels": selector}, "spec": pod}
    deployment = {"replicas": 2, "selector": {"matchLabels": selector}, "template": template}
    service = {"selector": selector, "ports": [{"port": SEARCH, "name": "colgrep"}]}
    job = {
        "serviceAccountName": "colgrep",
        "restartPolicy": "Never",
        "securityContext": user,
        "containers": [container("push", image, ["/scripts/push"], env=env, volumeMounts=[*mounts, script])],
        "volumes": [scripts, temporary, {"name": "data", "emptyDir": {}}],
    }
    cron = {
        "schedule": "*/15 * * * *",
        "concurrencyPolicy": "Forbid",
        "jobTemplate": {"spec": {"backoffLimit": 0, "template": {"spec": job}}},
    }
    objects += [
        thing("Deployment", "apps/v1", "colgrep", {"spec": deployment}),
        thing("Service", "v1", "colgrep", {"spec": service}),
        thing("CronJob", "batch/v1", "colgrep-push", {"spec": cron}),
    ]
    return {"colgrep.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=2) + "\n"}


KINDS = {"systemd": systemd, "kubernetes": kubernetes}


def main(arguments: list[str]) -> int:
    """Writes the files; 2 where the arguments or the file are wrong."""
    if len(arguments) != 3 or arguments[0] not in KINDS:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        files = KINDS[arguments[0]](read(Path(arguments[1])))
    except ManifestError as error:
        print(f"manifests: {error}", file=sys.stderr)
        return 2
    for name, text in files.items():
        path = Path(arguments[2]) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
