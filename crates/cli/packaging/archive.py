"""The archive: program, completions, manual pages and licences in one folder."""

import re
import subprocess
from pathlib import Path

from dependencies import version
from files import ROOT, tar_gz, write, zipped
from targets import Target

COMPLETIONS = {
    "bash": "completions/colgrep.bash",
    "elvish": "completions/colgrep.elv",
    "fish": "completions/colgrep.fish",
    "powershell": "completions/_colgrep.ps1",
    "zsh": "completions/_colgrep",
}


def printed(runnable: Path, *arguments: str) -> bytes:
    """What a command of the program prints."""
    return subprocess.run([runnable, *arguments], check=True, stdout=subprocess.PIPE).stdout


def generated(runnable: Path) -> dict[str, bytes]:
    """Completions and manual pages, made by a program that runs on this machine."""
    files = {path: printed(runnable, "completions", shell) for shell, path in COMPLETIONS.items()}
    files["man/colgrep.1"] = printed(runnable, "man")
    commands = re.findall(r"(?m)^colgrep\\-([a-z\\-]+)\(1\)$", files["man/colgrep.1"].decode())
    assert commands, "the manual page names no commands"
    for command in (name.replace("\\", "") for name in commands if name != "help"):
        files[f"man/colgrep-{command}.1"] = printed(runnable, "man", command)
    return files


def write_archive(out: Path, target: Target, program: Path, runnable: Path, notices: str, bill: str, level: int) -> Path:
    """Writes the archive into a folder: `.zip` for Windows, `.tar.gz` elsewhere."""
    name = f"colgrep-{version()}-{target.triple}"
    files = {
        target.program: program.read_bytes(),
        **generated(runnable),
        "README.md": (ROOT / "README.md").read_bytes(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "THIRD_PARTY_LICENSES.txt": notices.encode(),
        "colgrep.cdx.json": bill.encode(),
    }
    entries = {f"{name}/{path}": content for path, content in files.items()}
    executables = {f"{name}/{target.program}"}
    if target.is_windows:
        return write(out / f"{name}.zip", zipped(entries, executables, level))
    return write(out / f"{name}.tar.gz", tar_gz(entries, executables, level))
