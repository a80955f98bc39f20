"""What the program is made of: the licences of its dependencies, and its bill of materials."""

import dataclasses
import functools
import hashlib
import json
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from files import ROOT, build_time

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LICENCE_FILE = re.compile(r"(?i)^(licen[cs]e|copying|copyright|notice|unlicense)([._-].*)?$")
# Code of the build, tests and examples may be named like a licence.
SOURCE_SUFFIXES = {".rs", ".c", ".h", ".py", ".js", ".json", ".toml", ".html"}


@dataclasses.dataclass(frozen=True)
class Package:
    """A package of the dependency graph."""

    name: str
    version: str
    licence: str
    authors: tuple[str, ...]
    repository: str
    folder: Path
    checksum: str | None
    # Names and versions of what it depends on.
    uses: tuple[tuple[str, str], ...]

    @property
    def purl(self) -> str:
        return f"pkg:cargo/{self.name}@{self.version}"


def cargo(*arguments: str) -> str:
    """What a command of cargo prints."""
    return subprocess.run(["cargo", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


@functools.cache
def metadata() -> dict[str, Any]:
    """The graph of all packages."""
    return dict(json.loads(cargo("metadata", "--format-version", "1", "--locked", "--all-features")))


@functools.cache
def version() -> str:
    """The version of the workspace."""
    return str(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"])


@functools.cache
def packages(triple: str, module: bool = False) -> list[Package]:
    """The program and what is compiled into it or runs in its build, by name; the same of the Python module if asked."""
    roots = ["-p", "colgrep"]
    if module:
        roots += ["-p", "colgrep-python", "--features", "colgrep-python/module"]
    tree = cargo("tree", *roots, "-e", "normal,build", "--target", triple, "--locked", "--prefix", "none")
    built = {(name, number) for name, number in re.findall(r"(?m)^(\S+) v(\S+)", tree)}
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    sums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in locked}
    known = {package["id"]: (package["name"], package["version"]) for package in metadata()["packages"]}
    uses = {node["id"]: sorted({known[dep["pkg"]] for dep in node["deps"]} & built) for node in metadata()["resolve"]["nodes"]}
    found = [
        Package(
            name=package["name"],
            version=package["version"],
            licence=" ".join(package["license"].replace("/", " OR ").split()),
            authors=tuple(package["authors"]),
            repository=package["repository"] or "",
            folder=Path(package["manifest_path"]).parent,
            checksum=sums.get((package["name"], package["version"])),
            uses=tuple(uses[package["id"]]),
        )
        for package in metadata()["packages"]
        if (package["name"], package["version"]) in built
    ]
    missing = built - {(package.name, package.version) for package in found}
    assert not missing, missing
    return sorted(found, key=lambda package: (package.name, package.version))


def is_own(package: Package) -> bool:
    """Whether a package belongs to this project."""
    return package.folder.is_relative_to(ROOT)


def licence_files(package: Package) -> list[str]:
    """The texts of a package's licence files, those of bundled C libraries included."""
    named = [path for path in package.folder.rglob("*") if LICENCE_FILE.match(path.name) and path.is_file()]
    read = sorted(path for path in named if path.suffix.lower() not in SOURCE_SUFFIXES)
    texts = [path.read_text(errors="replace").strip() for path in read]
    return list(dict.fromkeys(text for text in texts if text))


def standard_text(package: Package) -> str:
    """The text of the licence that a package without a licence file names."""
    for name, path in [("MIT", "crates/cli/packaging/MIT.txt"), ("Apache-2.0", "LICENSE")]:
        if name in package.licence.split():
            return (ROOT / path).read_text().strip()
    raise SystemExit(f"{package.name} {package.version}: no licence file, and no standard text of {package.licence}")


def licences(triple: str, module: bool = False) -> str:
    """The notices of all dependencies: what each is licensed under, then every text once."""
    foreign = [package for package in packages(triple, module) if not is_own(package)]
    texts: dict[str, str] = {}
    lines = [
        "Third-party licences of colgrep",
        "",
        "colgrep contains the packages below, or they run in its build. Behind each is its licence, and the numbers of the",
        "texts that its files carry. For a package without such files it is the standard text, with the authors it names.",
        "",
    ]
    for package in foreign:
        files = licence_files(package)
        numbers = []
        for text in files or [standard_text(package)]:
            # Texts that differ in line breaks and indentation alone are the same.
            key = " ".join(text.split())
            texts.setdefault(key, text)
            numbers.append(f"[{list(texts).index(key) + 1}]")
        holders = "" if files else ", ".join(package.authors) or f"the authors of {package.name}"
        parts = [f"{package.name} {package.version}: {package.licence}", "".join(numbers), package.repository]
        lines.append(" ".join(part for part in [*parts, holders and f"Copyright (c) {holders}"] if part))
    for number, text in enumerate(texts.values(), 1):
        lines += ["", "=" * 78, f"[{number}]", "", text]
    return "\n".join(lines) + "\n"


def bill_of_materials(triple: str) -> str:
    """The program's dependencies as CycloneDX 1.5."""
    everything = packages(triple, False)
    root = next(package for package in everything if package.name == "colgrep")

    def component(package: Package) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "type": "application" if package is root else "library",
            "bom-ref": package.purl,
            "name": package.name,
            "version": package.version,
            "purl": package.purl,
            "licenses": [{"expression": package.licence}],
        }
        if package.checksum:
            entry["hashes"] = [{"alg": "SHA-256", "content": package.checksum}]
        if package.repository:
            entry["externalReferences"] = [{"type": "vcs", "url": package.repository}]
        return entry

    uses = [
        {"ref": package.purl, "dependsOn": [f"pkg:cargo/{name}@{number}" for name, number in package.uses]}
        for package in everything
    ]
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(build_time())),
            "component": component(root),
            "properties": [{"name": "target", "value": triple}],
        },
        "components": [component(package) for package in everything if package is not root],
        "dependencies": uses,
    }
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    content["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}"
    return json.dumps(content, indent=1) + "\n"
