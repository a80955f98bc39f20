"""The npm packages: one for each system with the program, and `colgrep`, which depends on all of them optionally."""

import json
from pathlib import Path

from dependencies import version
from files import ROOT, tar_gz, write
from targets import TARGETS, Target


def manifest(name: str, **more: object) -> bytes:
    """A `package.json`."""
    content = {
        "name": name,
        "version": version(),
        "description": "Ranked code search: ask in plain words or by name, get the few files that answer",
        "license": "Apache-2.0",
        **more,
    }
    return (json.dumps(content, indent=2) + "\n").encode()


def write_package(out: Path, name: str, entries: dict[str, bytes], executables: set[str], level: int) -> Path:
    """Writes a package as `npm pack` names and packs it."""
    inside = {f"package/{path}": content for path, content in entries.items()}
    packed = tar_gz(inside, {f"package/{path}" for path in executables}, level)
    return write(out / f"{name}-{version()}.tgz", packed)


def write_main(out: Path, level: int) -> Path:
    """Writes the package `colgrep`. npm installs those of its optional dependencies that fit the system."""
    programs = {target.npm: version() for target in TARGETS}
    entries = {
        "package.json": manifest(
            "colgrep", bin={"colgrep": "colgrep.js"}, engines={"node": ">=18"}, optionalDependencies=programs
        ),
        "colgrep.js": (ROOT / "crates/cli/packaging/npm/colgrep.js").read_bytes(),
        "README.md": (ROOT / "crates/cli/packaging/npm/README.md").read_bytes(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    return write_package(out, "colgrep", entries, {"colgrep.js"}, level)


def write_program(out: Path, target: Target, program: Path, notices: str, level: int) -> Path:
    """Writes the package with the program of one system."""
    system: dict[str, object] = {"os": [target.os], "cpu": [target.cpu]}
    if target.libc:
        system["libc"] = [target.libc]
    entries = {
        "package.json": manifest(target.npm, **system),
        target.program: program.read_bytes(),
        "README.md": f"The program of the package `colgrep` for {target.triple}.\n".encode(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "THIRD_PARTY_LICENSES.txt": notices.encode(),
    }
    return write_package(out, target.npm, entries, {target.program}, level)
