#!/usr/bin/env python3
"""Writes systemd units or Kubernetes manifests for shards, from the file that names them.

Usage: python3 crates/cluster/deploy/manifests.py systemd|kubernetes SHARDS.json FOLDER

The file is the one that `colgrep serve --shards` reads, with what else a deployment needs; colgrep ignores that:

    {"shards": [["10.0.0.1:4001", "10.0.0.2:4001"]],
     "repositories": [[{"name": "api", "url": "https://git.example.com/acme/api"}]],
     "bucket": "s3://acme-search/colgrep",
     "image": "registry.example.com/colgrep:0.1.0"}

`repositories` has a list for each shard. A repository may name a `branch`; else its HEAD is built, and replicas take the
newest index of any branch. On Kubernetes the addresses of `shards` only say how many replicas each shard has.
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
BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+-]*")
#: Ports of shards and of coordinators; where they keep tokens, sources and indexes.
SHARD, SEARCH = 4001, 7345
TOKENS, DATA = "/etc/colgrep/tokens", "/var/lib/colgrep"
#: Seconds between two looks of a replica at its repositories. Whether the bucket answers is asked every second.
LOOK = 15


class ManifestError(ValueError):
    """A file from which nothing can be made; the message says what to change."""


def read(path: Path) -> dict[str, Any]:
    """Reads and checks the file."""
    try:
        plan: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        shards, repositories = plan["shards"], plan["repositories"]
        names = [one["name"] for shard in repositories for one in shard]
        urls = [one["url"] for shard in repositories for one in shard]
        branches = [one.get("branch", "") for shard in repositories for one in shard]
        plan["bucket"], plan["image"] = str(plan.get("bucket", "")), str(plan.get("image", ""))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ManifestError(f"{path}: {error!r}") from error
    if len(shards) != len(repositories):
        raise ManifestError(f"{path}: {len(shards)} shards, and repositories of {len(repositories)}")
    if bad := [name for name in names if not NAME.fullmatch(name)]:
        raise ManifestError(f"{path}: {bad[0]!r} is no name: letters, digits, '.', '_' and '-'")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ManifestError(f"{path}: {twice[0]} belongs to two shards; move it by the steps of docs/operations.md")
    if bad := [branch for branch in branches if branch and not BRANCH.fullmatch(branch)]:
        raise ManifestError(f"{path}: {bad[0]!r} is no branch")
    if bad := [url for url in urls if url.startswith("-") or any(ord(c) < 32 for c in url)]:
        raise ManifestError(f"{path}: {bad[0]!r} is no address of a repository")
    if not all(shards) or not all(repositories):
        raise ManifestError(f"{path}: each shard needs a replica and a repository")
    return plan


GIT = """# Nothing that a repository names is run, and a host that hangs is given up.
limit="timeout 3600"
command -v timeout > /dev/null || limit=command
export GIT_TERMINAL_PROMPT=0 GIT_LFS_SKIP_SMUDGE=1 GIT_ALLOW_PROTOCOL=file:git:http:https:ssh
# GIT_SSH_COMMAND overrides GIT_SSH and core.sshCommand: set it only if the user sets none of them.
if [ -z "${GIT_SSH_COMMAND:-}${GIT_SSH:-}$(git config core.sshCommand)" ]; then
  export GIT_SSH_COMMAND="ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o ControlMaster=no"
fi
# A process that git leaves running must not hold the lock of the script.
git() {
  $limit git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c submodule.recurse=false \\
    -c fetch.recurseSubmodules=false -c gc.autoDetach=false -c maintenance.autoDetach=false \\
    -c http.lowSpeedLimit=1000 -c http.lowSpeedTime=30 "$@" 9>&-
}

# A repository without files.
begin() {
  [ -d "$1/.git" ] || git init -q --template= "$1" || return 1
  mkdir -p "$1/.git/info" && echo "* -filter" > "$1/.git/info/attributes"
}

"""

UPDATE = """#!/bin/sh
# Brings a replica to the newest indexes of the bucket. Each repository has two folders, a and b: the one that is not
# served is brought to the commit of the newest index, and then takes the other one's place in the list that the shard
# follows. So all replicas serve the same generation. What can't be fetched stays as it is. With `start`, as before a shard
# starts, it does nothing if there is something to serve: git or the bucket may hang. With `follow` it
# never ends.
set -u
export COLGREP_BACKGROUND=0 COLGREP_WAIT=1
data=@data@
bucket=@bucket@
list=$data/repositories
if [ "${1:-}" = start ] && grep -qs "^[^#]" "$list"; then exit 0; fi
mkdir -p "$data/src"
@git@# A folder that is not there is a bucket that is away: colgrep takes it for one without indexes. An update asks no bucket
# that is away.
pull() {
  [ -e "$data/away" ] && [ -z "${soon:-}" ] && return 2
  case $bucket in /*) [ -d "$bucket" ] || return 2 ;; esac
  ${soon:-} colgrep pull --quiet "$@"
}

# Whether the bucket answers soon, asked about the first repository that is served.
answers() {
  row=$(grep -m 1 -s "^[^#]" "$list")
  [ -n "$bucket" ] && [ -n "$row" ] || return 0
  pull --list --name "${row%%=*}" -- "$bucket" "${row#*=}" > /dev/null 2>&1
  [ $? -le 1 ]
}

# Asks every two seconds whether the bucket answers. If not, creates the file `away` for running updates, and writes the
# reason into the list again whenever an update has replaced that. A bucket that has not answered in two seconds gets ten,
# so that a slow one is not lost for good.
watch() {
  lost="the bucket does not answer" patience=2
  while sleep 2; do
    soon="timeout $patience" begun=$(date +%s)
    command -v timeout > /dev/null || soon=command
    if answers; then
      [ $(($(date +%s) - begun)) -gt 1 ] || patience=2
      rm -f "$data/away"
    else
      patience=10
      : > "$data/away"
      grep -q "^#! .*: $lost" "$list" || {
        rows=$(awk -F= -v why="$lost" '/^[^#]/ { print "#! " $1 ": " why }' "$list")
        echo "$rows" >> "$list"
      }
    fi
  done
}

if [ "${1:-}" = follow ]; then
  watcher=
  trap 'kill $watcher; exit 0' TERM
  while :; do
    kill -0 $watcher 2> /dev/null || { rm -f "$data/away"; watch & watcher=$!; }
    sh "$0"
    # A signal ends a wait, not a sleep.
    sleep @look@ & wait $!
  done
fi

# A follower and a start may run this at once.
if command -v flock > /dev/null; then exec 9> "$data/lock" && $limit flock 9 || exit 1; fi
touch "$list"
: > "$list.new"

say() { echo "$name: $1" >&2; }

# What stays as it is; the shard tells it in its log and metrics.
late() {
  say "$1; it stays as it is"
  echo "#! $name: $1" >> "$list.new"
}

# The first row's commit, of a branch or of any. Whoever writes to the bucket must not give git an option: it may be one
# that runs a command.
first() {
  awk -v branch="$1" '(length($1) == 40 || length($1) == 64) && $1 !~ /[^0123456789abcdef]/ &&
    (branch == "" || $2 == branch) { print $1; exit }'
}

# The commit to serve: that of the newest index, or the branch's where there is no index yet. A replica that serves
# nothing does not wait for a bucket that is away.
wanted() {
  found=
  if [ -n "$bucket" ]; then
    rows=$(pull --list --name "$name" -- "$bucket" "$next")
    case $? in 0) ;; 1) rows= ;; *) [ -z "$served" ] || return 1; rows= ;; esac
    found=$(printf '%s\n' "$rows" | first "$branch")
  fi
  [ -n "$found" ] || found=$(git ls-remote -- "$url" "${branch:-HEAD}" | first "")
  [ -n "$found" ] && echo "$found"
}

fetch() {
  # What a killed git left: nobody else writes here.
  rm -f "$next"/.git/*.lock
  git -C "$next" fetch -q --depth=1 -- "$url" "$commit" 2>/dev/null ||
    git -C "$next" fetch -q --depth=1 -- "$url" "${branch:-HEAD}" || return 1
  git -C "$next" reset -q --hard "$commit" && git -C "$next" clean -qfdx
}

index() {
  if [ -n "$bucket" ]; then
    pull --name "$name" -- "$bucket" "$next"
    case $? in
      0) return 0 ;;
      1) say "the bucket has no index; it is built here" ;;
      *) [ -z "$served" ] || return 1
        say "not pulled, and nothing is served yet; it is built here" ;;
    esac
  fi
  colgrep init --quiet -- "$next"
  [ $? -le 1 ]
}

repository() {
  name=$1 url=$2 branch=$3
  served=$(awk -v start="$name=" 'index($0, start) == 1 { print substr($0, length(start) + 1) }' "$list")
  case $served in */a) next=$data/src/$name/b ;; *) next=$data/src/$name/a ;; esac
  if [ -e "$data/away" ] && [ -n "$served" ]; then
    late "the bucket does not answer"
  elif ! begin "$next" || ! commit=$(wanted); then
    late "not fetched"
  elif [ -n "$served" ] && [ "$(git -C "$served" rev-parse -q --verify HEAD)" = "$commit" ]; then
    :
  elif ! fetch; then
    late "not fetched"
  elif ! index; then
    late "not pulled"
  else
    served=$next
  fi
  [ -z "$served" ] || echo "$name=$served" >> "$list.new"
}

"""


def quoted(one: dict[str, Any]) -> str:
    """A repository's name, address and branch for a shell."""
    return " ".join(shlex.quote(word) for word in (one["name"], one["url"], one.get("branch", "")))


def filled(script: str, plan: dict[str, Any], data: str) -> str:
    """The beginning of a script."""
    words = {"@git@": GIT, "@data@": shlex.quote(data), "@bucket@": shlex.quote(plan["bucket"]), "@look@": str(LOOK)}
    return re.sub("@[a-z]+@", lambda word: words[word[0]], script)


def update(plan: dict[str, Any], shard: int, data: str) -> str:
    """The script that brings a replica to the newest indexes of the bucket, before its shard starts and while it runs."""
    head = filled(UPDATE, plan, data)
    calls = [f"repository {quoted(one)}" for one in plan["repositories"][shard]]
    tail = 'if cmp -s "$list" "$list.new"; then rm "$list.new"; else mv "$list.new" "$list"; fi'
    return head + "\n".join([*calls, tail, "exit 0", ""])


PUSH = """#!/bin/sh
# Builds and pushes the indexes of repositories, all or those that the arguments name; fails if one fails.
set -u
export COLGREP_BACKGROUND=0 COLGREP_WAIT=1
data=@data@
bucket=@bucket@
wanted=" $* "
failed=0
mkdir -p "$data"
@git@# A timer and a webhook may both start it.
if command -v flock > /dev/null; then exec 9> "$data/lock" && $limit flock 9 || exit 1; fi

repository() {
  name=$1 url=$2 branch=$3
  case $wanted in "  " | *" $name "*) ;; *) return ;; esac
  tree=$data/src/$name
  begin "$tree" &&
    rm -f "$tree"/.git/*.lock &&
    { [ -z "$branch" ] || git -C "$tree" symbolic-ref HEAD "refs/heads/$branch"; } &&
    git -C "$tree" fetch -q --depth=1 -- "$url" "${branch:-HEAD}" &&
    git -C "$tree" reset -q --hard FETCH_HEAD &&
    { colgrep pull --quiet --name "$name" -- "$bucket" "$tree" || true; } &&
    colgrep push --quiet --name "$name" -- "$bucket" "$tree" || failed=1
}

"""


def push(plan: dict[str, Any], data: str) -> str:
    """The script that builds the indexes of repositories and pushes them."""
    head = filled(PUSH, plan, data)
    calls = [f"repository {quoted(one)}" for shard in plan["repositories"] for one in shard]
    return head + "\n".join([*calls, "exit $failed", ""])


# systemd


#: A service that may write its own data and little else.
CONFINED = {
    "User": "colgrep",
    "StateDirectory": "colgrep",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "NoNewPrivileges": "yes",
}
#: A service that is restarted where it ends, however often: a full disk or a lost network may last.
KEPT = {"Restart": "always", "RestartSec": "1"}


def unit(description: str, service: dict[str, str], wanted_by: str = "multi-user.target") -> str:
    """A unit of a service."""
    limit = ["StartLimitIntervalSec=0"] if "Restart" in service else []
    network = ["After=network-online.target", "Wants=network-online.target"]
    head = ["[Unit]", f"Description={description}", *network, *limit, "", "[Service]"]
    install = ["", "[Install]", f"WantedBy={wanted_by}"] if wanted_by else []
    return "\n".join([*head, *(f"{key}={value}" for key, value in (CONFINED | service).items()), *install, ""])


def timer(description: str, seconds: int) -> str:
    """A unit that starts the service of its name again and again."""
    head = ["[Unit]", f"Description={description}", "", "[Timer]", "OnActiveSec=0"]
    return "\n".join([*head, f"OnUnitInactiveSec={seconds}", "AccuracySec=1", "", "[Install]", "WantedBy=timers.target", ""])


def systemd(plan: dict[str, Any]) -> dict[str, str]:
    """Files by path; each host has a folder."""
    files = {"coordinator/shards.json": json.dumps({"shards": plan["shards"]}, indent=2) + "\n"}
    search = f"/usr/local/bin/colgrep serve --shards /etc/colgrep/shards.json --listen 127.0.0.1:{SEARCH} --log json"
    run = f"{search} --token-file {TOKENS}/search --shard-token-file {TOKENS}/shard"
    environment = f"COLGREP_DATA_DIR={DATA}/coordinator HOME={DATA}"
    files["coordinator/colgrep.service"] = unit(
        "colgrep: searches over shards", KEPT | {"Environment": environment, "ExecStart": run}
    )
    if plan["bucket"]:
        data = f"{DATA}/push"
        oneshot = {"Type": "oneshot", "Environment": f"COLGREP_DATA_DIR={data}/index HOME={data}"}
        files["build/colgrep-push"] = push(plan, data)
        files["build/colgrep-push.service"] = unit(
            "colgrep: builds and pushes indexes", oneshot | {"ExecStart": "/usr/local/bin/colgrep-push"}, wanted_by=""
        )
        files["build/colgrep-push.timer"] = timer("colgrep: builds and pushes indexes", 900)
        files["build/colgrep-webhook"] = Path(__file__).with_name("webhook.py").read_text(encoding="utf-8")
        files["build/colgrep-plan.json"] = json.dumps(plan, indent=2) + "\n"
        secret = f"--secret-file {TOKENS}/webhook /etc/colgrep/colgrep-plan.json"
        run = f"/usr/local/bin/colgrep-webhook {secret} -- /usr/local/bin/colgrep-push"
        environment = {"Environment": f"COLGREP_DATA_DIR={data}/index HOME={data}"}
        files["build/colgrep-webhook.service"] = unit(
            "colgrep: builds an index as soon as its code host tells of a push", KEPT | environment | {"ExecStart": run}
        )
    for shard, replicas in enumerate(plan["shards"]):
        data, updates = f"{DATA}/shard-{shard}", f"colgrep-update-{shard}"
        environment = {"Environment": f"COLGREP_DATA_DIR={data}/index HOME={data}"}
        run = f"/usr/local/bin/colgrep serve --shard --log json --token-file {TOKENS}/shard --repositories {data}/repositories"
        for address in replicas:
            host, _, port = address.rpartition(":")
            folder = host.strip("[]").replace(":", "_")
            files[f"{folder}/{updates}"] = update(plan, shard, data)
            files[f"{folder}/{updates}.service"] = unit(
                f"colgrep: brings shard {shard} to the newest indexes",
                KEPT | environment | {"ExecStart": f"/usr/local/bin/{updates} follow"},
            )
            files[f"{folder}/colgrep-shard-{shard}.service"] = unit(
                f"colgrep: shard {shard}",
                # The first start builds or pulls all indexes.
                KEPT
                | environment
                | {"TimeoutStartSec": "infinity", "ExecStartPre": f"/usr/local/bin/{updates} start"}
                | {"ExecStart": f"{run} --listen {host}:{port}"},
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
        serve += ["--token-file", f"{TOKENS}/shard", "--repositories", f"{data}/repositories"]
        script_at = f"/scripts/update-{shard}"
        updates = {"env": env, "volumeMounts": [*mounts, script]}
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
            "initContainers": [container("first-update", image, [script_at, "start"], **updates)],
            "containers": [
                container("shard", image, serve, env=env, volumeMounts=[*mounts, token], **probes(SHARD)),
                container("update", image, [script_at, "follow"], **updates),
            ],
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
