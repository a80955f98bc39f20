"""Builds the wheel for pip: program and module come from one build by cargo, so they share what they compile.

COLGREP_BUILD has other arguments for `cargo build`, such as another profile; they must build the same two.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "crates/cli/packaging"))

BUILD = "--release --locked -p colgrep -p colgrep-python --features colgrep-python/module"


def build() -> tuple[Path, Path]:
    """Builds program and module, and returns their paths."""
    arguments = shlex.split(os.environ.get("COLGREP_BUILD", BUILD))
    command = ["cargo", "build", "--message-format=json-render-diagnostics", *arguments]
    shown = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    program = module = None
    for line in shown.splitlines():
        message = json.loads(line)
        target = message.get("target", {})
        # With tests asked for, an executable of this name is there for the tests too.
        if message["reason"] != "compiler-artifact" or message["profile"]["test"]:
            continue
        if (target["name"], target["kind"]) == ("colgrep", ["bin"]):
            program = Path(message["executable"])
        if (target["name"], target["kind"]) == ("_colgrep", ["cdylib"]):
            module = next(Path(name) for name in message["filenames"] if name.endswith((".so", ".dylib", ".dll")))
    if not program or not module:
        raise RuntimeError(f"cargo build {shlex.join(arguments)} builds no program or no module")
    return program, module


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: object = None) -> str:
    """Writes the metadata alone, so that pip builds once (PEP 517)."""
    from files import write
    from wheel import dist_info, metadata

    write(Path(metadata_directory) / dist_info() / "METADATA", metadata(has_module=True).encode())
    return dist_info()


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    """Builds the wheel into a folder, and returns its name (PEP 517)."""
    import dependencies
    from targets import host
    from wheel import write_wheel

    program, module = build()
    notices = dependencies.licences(host().triple, module=True)
    # The wheel is unpacked at once, so it isn't worth more time.
    return write_wheel(Path(wheel_directory), host(), program, module, notices, level=1).name


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """Refuses: the sources of the module are the whole repository (PEP 517)."""
    raise NotImplementedError("colgrep has no source distribution; install it from a checkout")
