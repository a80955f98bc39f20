"""The wheel: the program on PATH, beside the Python module if its wheel is given."""

import base64
import hashlib
import re
import zipfile
from pathlib import Path

from dependencies import version
from files import ROOT, write, zipped
from targets import Target


def metadata() -> str:
    """The metadata of a wheel that carries the program alone."""
    head = [
        "Metadata-Version: 2.1",
        "Name: colgrep",
        f"Version: {version()}",
        "Summary: Ranked code search for the command line",
        "License: Apache-2.0",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(head) + "\n\n" + (ROOT / "packaging/python.md").read_text()


def module_entries(module: Path) -> tuple[dict[str, bytes], str]:
    """The files of a module's wheel without its record, and its Python and ABI tag."""
    with zipfile.ZipFile(module) as archive:
        entries = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}
    tag = re.fullmatch(r"colgrep-[^-]+-([^-]+-[^-]+)-[^-]+\.whl", module.name)
    assert tag, f"{module.name} is no wheel of colgrep"
    return entries, tag[1]


def wheel(target: Target, program: Path, module: Path | None, notices: str, level: int) -> tuple[str, bytes]:
    """The wheel's file name and content."""
    native = program.read_bytes()
    info = f"colgrep-{version()}.dist-info"
    if module:
        entries, tag = module_entries(module)
    else:
        entries, tag = {f"{info}/METADATA": metadata().encode()}, "py3-none"
    script = f"colgrep-{version()}.data/scripts/{target.program}"
    files = [native, *(content for name, content in entries.items() if name.endswith((".so", ".pyd")))]
    tag = f"{tag}-{target.wheel_platform(files)}"
    entries[script] = native
    entries[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    entries[f"{info}/licenses/THIRD_PARTY_LICENSES.txt"] = notices.encode()
    generated = f"Wheel-Version: 1.0\nGenerator: colgrep packaging\nRoot-Is-Purelib: false\nTag: {tag}\n"
    entries[f"{info}/WHEEL"] = generated.encode()
    entries[f"{info}/RECORD"] = record(entries, f"{info}/RECORD").encode()
    return f"colgrep-{version()}-{tag}.whl", zipped(entries, {script}, level)


def record(entries: dict[str, bytes], own: str) -> str:
    """The list of a wheel's files with their digests."""
    lines = []
    for name, content in entries.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join(lines) + f"{own},,\n"


def write_wheel(out: Path, target: Target, program: Path, module: Path | None, notices: str, level: int) -> Path:
    """Writes the wheel into a folder."""
    name, content = wheel(target, program, module, notices, level)
    return write(out / name, content)
