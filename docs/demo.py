#!/usr/bin/env python3
"""Records the README's demo: runs colgrep on the fixture project `relay` and writes what it prints.

    python3 docs/demo.py path/to/colgrep     (or `just demo`)

docs/generated/demo.txt is the plain text (a test runs its commands again), docs/generated/demo.svg the picture.
"""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = [
    'colgrep "take the oldest message" -k 3',
    "colgrep parse_request -k 1 -c",
    "colgrep -e 'ParseError::' \"what is missing\" -k 2",
    "colgrep --like src/queue/ring.rs:14 -k 2",
    "colgrep outline src/http/server.rs",
]
# SGR numbers as the picture shows them.
COLOURS = {30: "#484f58", 31: "#ff7b72", 32: "#7ee787", 33: "#d29922", 34: "#79c0ff", 35: "#d2a8ff", 36: "#56d4dd", 37: "#c9d1d9"}
WIDTH, LINE, CHAR, PAD = 900, 19, 8.43, 16


def run(binary, folder, command, color):
    program, rest = command.split(" ", 1)
    assert program == "colgrep"
    color = "" if "outline" in rest else f" --color={color}"
    heading = " --heading" if color.endswith("always") else ""
    env = {"PATH": "/usr/bin:/bin", "HOME": str(folder.parent), "COLGREP_DATA_DIR": str(folder.parent / "data")}
    done = subprocess.run(f"'{binary}' {rest}{color}{heading}", shell=True, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stderr)
    return done.stdout


def picture_line(text):
    """One line of terminal output as SVG spans."""
    spans, style, at = [], {}, 0
    for match in re.finditer(r"\x1b\[([0-9;]*)m", text + "\x1b[0m"):
        piece = text[at : match.start()]
        if piece:
            look = "".join(f' {k}="{v}"' for k, v in style.items())
            spans.append(f"<tspan{look}>{html.escape(piece)}</tspan>")
        at = match.end()
        for number in (int(n or 0) for n in match.group(1).split(";")):
            if number == 0:
                style = {}
            elif number == 1:
                style["font-weight"] = "bold"
            elif number == 4:
                style["text-decoration"] = "underline"
            elif number in COLOURS:
                style["fill"] = COLOURS[number]
    return "".join(spans)


def main():
    binary = Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/colgrep").resolve()
    root = Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "relay"
        shutil.copytree(root / "crates/cli/tests/fixtures/relay", folder)
        os.rename(folder / ".gitignore.fixture", folder / ".gitignore")
        plain = "".join(f"$ {c}\n{run(binary, folder, c, 'never')}\n" for c in COMMANDS)
        lines = []
        for command in COMMANDS:
            lines.append(f'<tspan fill="#7ee787">$</tspan> <tspan font-weight="bold">{html.escape(command)}</tspan>')
            lines += [picture_line(line) for line in run(binary, folder, command, "always").splitlines()] + [""]
    rows = "\n".join(
        f'<text x="{PAD}" y="{PAD + LINE * (i + 1)}" xml:space="preserve">{line}</text>' for i, line in enumerate(lines[:-1]) if line
    )
    height = 2 * PAD + LINE * len(lines)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#0d1117"/>\n'
        f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" fill="#c9d1d9">\n{rows}\n</g>\n</svg>\n'
    )
    generated = root / "docs/generated"
    (generated / "demo.txt").write_text(plain)
    (generated / "demo.svg").write_text(svg)


if __name__ == "__main__":
    main()
