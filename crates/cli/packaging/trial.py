#!/usr/bin/env python3
"""Tries the packages of a folder as a newcomer would: install, ask for the version, search, uninstall.

    python3 crates/cli/packaging/trial.py target/release-files

The wheel goes into a fresh virtual environment, the npm packages into an empty folder. Without npm, that part is skipped.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

SOURCE = "def rate_limit(requests):\n    '''Stop a client that asks too often.'''\n    return requests > 10\n"


class Trial:
    """A folder with a small project, an index folder and nothing of the user's."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir()
        (self.project / "limits.py").write_text(SOURCE)
        (self.project / "other.py").write_text("def unrelated():\n    return 'weather'\n")
        # As in a new session: the program is found in the environment or package alone.
        self.env = {**os.environ, "COLGREP_DATA_DIR": str(folder / "data"), "HOME": str(folder), "npm_config_update_notifier": "false"}
        self.env.pop("PYTHONPATH", None)

    def run(self, *command: object, path: Path | None = None, status: int = 0) -> str:
        """What a command prints, run in the project. It must end with this exit status."""
        env = dict(self.env, PATH=f"{path}{os.pathsep}{self.env['PATH']}") if path else self.env
        program, *arguments = map(str, command)
        # Windows finds scripts such as npm.cmd by their whole name alone.
        program = shutil.which(program, path=env["PATH"]) or program
        done = subprocess.run([program, *arguments], cwd=self.project, env=env, capture_output=True, text=True)
        if done.returncode != status:
            sys.exit(f"{command}: exit status {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
        return done.stdout

    def check(self, *program: object, version: str, path: Path | None = None) -> None:
        """Checks that the program names this project's version and finds the function."""
        told = self.run(*program, "--version", path=path)
        assert version in told.split(), f"{program} says {told!r}, not {version}"
        found = self.run(*program, "stop clients that ask too often", "-k", "1", path=path)
        assert found.startswith("limits.py:1:"), f"{program} finds {found!r}"


def files(folder: Path) -> set[Path]:
    """All files below a folder, without what Python compiles."""
    return {path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def try_wheel(packages: Path, trial: Trial) -> None:
    wheels = list(packages.glob("colgrep-*.whl"))
    assert len(wheels) == 1, f"one wheel expected in {packages}: {wheels}"
    name, version, _, abi, _ = wheels[0].stem.split("-")
    where = trial.folder / "python"
    venv.create(where, with_pip=True)
    scripts = where / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    before = files(where)
    trial.run(python, "-m", "pip", "install", "--quiet", "--no-index", wheels[0].resolve())
    trial.check(scripts / "colgrep", version=version)
    trial.check("colgrep", version=version, path=scripts)
    if abi != "none":
        search = "import colgrep; print(colgrep.open('.').search('stop clients that ask too often', k=1)[0].path)"
        assert trial.run(python, "-c", search).strip() == "limits.py"
    trial.run(python, "-m", "pip", "uninstall", "--quiet", "--yes", name)
    left = files(where) - before
    assert not left, f"uninstalling leaves {sorted(left)}"
    print(f"wheel: works ({wheels[0].stat().st_size / 1e6:.1f} MB)")


def try_npm(packages: Path, trial: Trial) -> None:
    archives = [path.resolve() for path in sorted(packages.glob("colgrep*.tgz"))]
    version = re.fullmatch(r"colgrep-(\d.*)\.tgz", archives[0].name)
    assert version, f"{archives[0]} is not the main package"
    # Nothing is asked of the registry, and of the systems only the one packed here is there: the rest is optional.
    trial.run("npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", "--cache", trial.folder / "npm", *archives)
    npx = ["npx", "--no", "--offline", "--cache", trial.folder / "npm", "--", "colgrep"]
    trial.check(*npx, version=version[1])
    trial.run(*npx, "-e", "no such text", "limits.py", status=1)
    size = max(path.stat().st_size for path in archives)
    print(f"npm: works ({size / 1e6:.1f} MB)")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: trial.py FOLDER")
    packages = Path(sys.argv[1])
    for attempt in [try_wheel, try_npm]:
        if attempt is try_npm and not shutil.which("npm"):
            print("npm: skipped, since there is no npm")
            continue
        with tempfile.TemporaryDirectory() as folder:
            attempt(packages, Trial(Path(folder)))


if __name__ == "__main__":
    main()
