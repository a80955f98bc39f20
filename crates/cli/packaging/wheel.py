"""The wheel: the program on PATH, and the Python module if there is one for the system."""

import base64
import hashlib
import sys
from pathlib import Path

from dependencies import version
from files import ROOT, write, zipped
from targets import Target

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PYTHON = ROOT / "crates/python"


def metadata(has_module: bool) -> str:
    """The metadata, from `pyproject.toml`."""
    project = tomllib.loads((PYTHON / "pyproject.toml").read_text())["project"]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {version()}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Classifier: {classifier}" for classifier in project["classifiers"] if has_module),
    ]
    for extra, requirements in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {requirement}; extra == "{extra}"' for requirement in requirements]
    lines.append("Description-Content-Type: text/markdown")
    readme = PYTHON / project["readme"] if has_module else ROOT / "crates/cli/packaging/python.md"
    return "\n".join(lines) + "\n\n" + readme.read_text()


def dist_info() -> str:
    """The name of the folder with the wheel's metadata."""
    return f"colgrep-{version()}.dist-info"


def module_entries(library: bytes, target: Target) -> dict[str, bytes]:
    """The Python package with its native half."""
    package = PYTHON / "python/colgrep"
    sources = [package / "py.typed", *package.glob("*.py"), *package.glob("*.pyi")]
    entries = {f"colgrep/{path.name}": path.read_bytes() for path in sorted(sources)}
    entries["colgrep/_colgrep.pyd" if target.is_windows else "colgrep/_colgrep.abi3.so"] = library
    return entries


def record(entries: dict[str, bytes], own: str) -> str:
    """The list of a wheel's files with their digests."""
    lines = []
    for name, content in entries.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join(lines) + f"{own},,\n"


def write_wheel(out: Path, target: Target, program: Path, module: Path | None, notices: str, level: int) -> Path:
    """Writes the wheel into a folder. `module` is the shared library that cargo builds of `crates/python`."""
    natives = [path.read_bytes() for path in (program, module) if path]
    entries = module_entries(natives[1], target) if module else {}
    tag = f"{'cp310-abi3' if module else 'py3-none'}-{target.wheel_platform(natives)}"
    info = dist_info()
    script = f"colgrep-{version()}.data/scripts/{target.program}"
    generated = f"Wheel-Version: 1.0\nGenerator: colgrep packaging\nRoot-Is-Purelib: false\nTag: {tag}\n"
    entries |= {
        script: natives[0],
        f"{info}/METADATA": metadata(module is not None).encode(),
        f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
        f"{info}/licenses/THIRD_PARTY_LICENSES.txt": notices.encode(),
        f"{info}/WHEEL": generated.encode(),
    }
    entries[f"{info}/RECORD"] = record(entries, f"{info}/RECORD").encode()
    return write(out / f"colgrep-{version()}-{tag}.whl", zipped(entries, {script}, level))
