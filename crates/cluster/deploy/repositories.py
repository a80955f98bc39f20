#!/usr/bin/env python3
"""Lists the repositories of an organization, and gives each a shard in the file of manifests.py.

Usage: CODE_HOST_TOKEN=... python3 repositories.py github|gitlab|gitea ORGANIZATION SHARDS.json [API]

A repository that the file names already stays in its shard with what the file says of it; a new one goes to the shard with
the least to index; one that is gone, archived or a fork is removed. A shard with none left gets one of the fullest. API is
the address of an own host:
https://github.example.com/api/v3, https://gitlab.example.com/api/v4 or https://gitea.example.com/api/v1.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import sys
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from manifests import NAME

#: Seconds that a page may take; pages at most.
PATIENCE, PAGES_MAX = 30.0, 1_000
#: For each kind of host: its public API, where an organization's repositories are, and who says how the token is sent.
HOSTS: dict[str, tuple[str, str, Callable[[str], tuple[str, str]]]] = {
    "github": ("https://api.github.com", "orgs/{}/repos?per_page=100", lambda token: ("Authorization", f"Bearer {token}")),
    "gitlab": (
        "https://gitlab.com/api/v4",
        "groups/{}/projects?per_page=100&include_subgroups=true&archived=false&statistics=true",
        lambda token: ("PRIVATE-TOKEN", token),
    ),
    "gitea": ("https://gitea.com/api/v1", "orgs/{}/repos?limit=50", lambda token: ("Authorization", f"token {token}")),
}


class Within(urllib.request.HTTPRedirectHandler):
    """Follows redirects below an address only: the token goes with them."""

    def __init__(self, base: str) -> None:
        self._base = base

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """The request that follows."""
        if not newurl.startswith(self._base + "/"):
            raise ValueError(f"the host redirects elsewhere: {newurl}; if that is right, name it as API")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def pages(kind: str, organization: str, api: str, token: str) -> Iterator[dict[str, Any]]:
    """What the host says of each repository."""
    public, path, header = HOSTS[kind]
    base = (api or public).rstrip("/")
    opener = urllib.request.build_opener(Within(base))
    url = f"{base}/{path.format(urllib.parse.quote(organization, safe=''))}"
    for _ in range(PAGES_MAX):
        # The token goes to the host that was named, wherever a page says that the next one is.
        if not url.startswith(base + "/"):
            raise ValueError(f"the next page is elsewhere: {url}")
        request = urllib.request.Request(url, headers={"Accept": "application/json"})
        if token:
            request.add_header(*header(token))
        with opener.open(request, timeout=PATIENCE) as answer:
            yield from json.load(answer)
            following = re.search(r'<([^>]*)>;\s*rel="next"', answer.headers.get("Link") or "")
        if not following:
            return
        url = following[1]
    raise ValueError(f"more than {PAGES_MAX} pages")


def found(kind: str, organization: str, api: str = "", token: str = "") -> dict[str, tuple[str, int]]:
    """The address and the size of each repository that is worth a search, by name."""
    rows: dict[str, tuple[str, int]] = {}
    for one in pages(kind, organization, api, token):
        # A project of a subgroup is called by its path below the group.
        path = one.get("path_with_namespace") or one["name"]
        name = path.removeprefix(f"{organization}/").replace("/", ".")
        url = one.get("clone_url") or one["http_url_to_repo"]
        reasons = {
            "archived": one.get("archived"),
            "a fork": one.get("fork") or one.get("forked_from_project"),
            "empty": one.get("empty") or one.get("empty_repo"),
            "no name for a shard": not NAME.fullmatch(name),
            "no address": url.startswith("-"),
        }
        if reason := next((reason for reason, holds in reasons.items() if holds), ""):
            say(f"{name} is skipped: {reason}")
            continue
        if name in rows and rows[name][0] != url:
            raise ValueError(f"{rows[name][0]} and {url} would both be called {name}")
        size = one.get("size") or (one.get("statistics") or {}).get("repository_size") or 1
        rows[name] = (url, int(size))
    return rows


def spread(before: list[list[dict[str, Any]]], rows: dict[str, tuple[str, int]], count: int) -> list[list[dict[str, Any]]]:
    """The repositories of so many shards: those that are there stay, new ones go where there is least."""
    if len(before) > count:
        raise ValueError(f"{count} shards, and repositories of {len(before)}")
    if len(rows) < count:
        raise ValueError(f"{count} shards, and {len(rows)} repositories: a shard would have none")
    shards = [[one for one in shard if one["name"] in rows] for shard in before] + [[] for _ in range(count - len(before))]
    known = {one["name"] for shard in shards for one in shard}
    load = [sum(rows[one["name"]][1] for one in shard) for shard in shards]
    for name, (url, size) in sorted(rows.items(), key=lambda row: (-row[1][1], row[0])):
        if name not in known:
            at = load.index(min(load))
            shards[at].append({"name": name, "url": url})
            load[at] += size
    # A shard without repositories has nothing to serve. As little as possible moves.
    for at, shard in enumerate(shards):
        if not shard:
            fullest = max((one for one in range(count) if len(shards[one]) > 1), key=lambda one: load[one])
            moved = min(shards[fullest], key=lambda one: rows[one["name"]][1])
            size = rows[moved["name"]][1]
            shards[fullest].remove(moved)
            shard.append(moved)
            load[fullest], load[at] = load[fullest] - size, load[at] + size
            say(f"{moved['name']} moves from shard {fullest} to {at}, which had none; docs/operations.md has the steps")
    return shards


def say(text: str) -> None:
    """Tells the operator."""
    print(f"repositories: {text}", file=sys.stderr)


def main(arguments: list[str]) -> int:
    """Rewrites the file; 2 where the arguments or the file are wrong."""
    if len(arguments) not in (3, 4) or arguments[0] not in HOSTS:
        print(__doc__, file=sys.stderr)
        return 2
    kind, organization, path, *api = arguments
    try:
        plan = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = found(kind, organization, *api, token=os.environ.get("CODE_HOST_TOKEN", ""))
        if not rows:
            raise ValueError(f"{organization} has no repository that is worth a search; nothing is changed")
        plan["repositories"] = spread(plan.get("repositories") or [], rows, len(plan["shards"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, http.client.HTTPException) as error:
        say(str(error) or repr(error))
        return 2
    partial = Path(f"{path}.partial")
    partial.write_text(json.dumps(plan, indent=2) + "\n", encoding="utf-8")
    partial.replace(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
