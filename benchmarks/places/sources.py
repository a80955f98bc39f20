"""Fetches the sources that the questions about places are about: `python3 sources.py DIR [OWNER/NAME...]`.

Each repository of repositories.json becomes a shallow clone DIR/OWNER+NAME of its listed commit. What is there already
is left as it is.
"""

import json
import subprocess
import sys
from pathlib import Path


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    wanted = set(sys.argv[2:])
    failed = []
    for source in json.loads((Path(__file__).parent / "repositories.json").read_text()):
        name, revision = source["name"], source["revision"]
        clone = folder / name.replace("/", "+")
        if clone.exists() or (wanted and name not in wanted):
            continue
        part = clone.with_name(clone.name + ".part")
        subprocess.run(["rm", "-rf", part], check=True)
        steps = [
            ["git", "init", "-q", part],
            ["git", "-C", part, "fetch", "-q", "--depth", "1", f"https://github.com/{name}.git", revision],
            ["git", "-C", part, "checkout", "-q", "FETCH_HEAD"],
        ]
        if all(subprocess.run(step, check=False).returncode == 0 for step in steps):
            part.rename(clone)
        else:
            failed.append(name)
    if failed:
        print("not fetched: " + ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
