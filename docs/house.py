#!/usr/bin/env python3
"""Prints how the source is laid out: crates and modules with their lines and what they import, circles, sizes.

Usage: python3 docs/house.py [CHECKOUT]     (docs/research/house.md compares figures of two commits)
"""

import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
FUNCTION = re.compile(r"^(\s*)(?:pub(?:\([a-z: ]+\))? )?(?:const |async |unsafe )*fn \w+")
PUBLIC = re.compile(r"^\s*pub (?:const fn|async fn|unsafe fn|fn|struct|enum|trait|const|static|type|mod|use) ", re.M)


def sources(folder):
    tracked = subprocess.check_output(["git", "-C", ROOT, "ls-files", folder], text=True).split()
    return [ROOT / f for f in tracked if f.endswith(".rs") and "fixtures" not in f]


def lines(path):
    return len(path.read_text().splitlines())


def tests_cut(text):
    """The text without the module of tests at its end, and without comments."""
    text = text.split("#[cfg(test)]\nmod tests {")[0]
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))


def named(text):
    """The names that stand directly behind each `crate::`."""
    names = set()
    for found in re.finditer(r"crate::", text):
        rest = text[found.end() :]
        if not rest.startswith("{"):
            names.add(re.match(r"\w*", rest)[0])
            continue
        depth, start = 0, 1
        for at, c in enumerate(rest):
            depth += (c == "{") - (c == "}")
            if c == "," and depth == 1 or depth == 0:
                names.add(re.match(r"\s*(\w*)", rest[start:at])[1])
                start = at + 1
            if depth == 0:
                break
    return names


def modules(crate):
    """Top-level modules of a crate: name -> (files, lines, what of the crate it uses)."""
    found = {}
    for path in sources(f"{crate}/src"):
        inside = path.relative_to(ROOT / crate / "src")
        name = pathlib.Path(inside.parts[0]).stem
        if name in ("lib", "main"):
            continue
        files, total, uses = found.get(name, (0, 0, set()))
        found[name] = (files + 1, total + lines(path), uses | named(tests_cut(path.read_text())))
    return {m: (f, n, sorted(u for u in uses if u in found and u != m)) for m, (f, n, uses) in found.items()}


def circles(found):
    """The modules that reach themselves."""

    def reaches(module):
        seen, todo = set(), list(found[module][2])
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo.extend(found[at][2])
        return module in seen

    return [module for module in sorted(found) if reaches(module)]


def functions(path):
    """Lengths of a file's functions, signatures included."""
    text, lengths = path.read_text().splitlines(), []
    for at, line in enumerate(text):
        head = FUNCTION.match(line)
        if not head:
            continue
        for end in range(at, len(text)):
            if text[end] == head[1] + "}" or (end == at and line.endswith("}")):
                lengths.append((end - at + 1, path.relative_to(ROOT), line.strip()))
                break
            if text[end].endswith(";") and not any("{" in part for part in text[at : end + 1]):
                break
    return lengths


def main():
    manifests = sorted(ROOT.glob("crates/*/Cargo.toml")) + [ROOT / "benchmarks/Cargo.toml"]
    crates = {m.parent.relative_to(ROOT).as_posix(): m.read_text() for m in manifests}
    print("| crate | files | lines | tests' lines | uses | public items | modules in circles |\n|---|---:|---:|---:|---|---:|---:|")
    for crate, manifest in crates.items():
        own, tests = sources(f"{crate}/src"), sources(f"{crate}/tests")
        uses = sorted(set(re.findall(r"^colgrep(?:-(\w+))?[ .]", manifest.split("[dev-dependencies]")[0], re.M)))
        public = sum(len(PUBLIC.findall(tests_cut(p.read_text()))) for p in own)
        circle = circles(modules(crate))
        print(f"| {crate} | {len(own)} | {sum(map(lines, own)):,} | {sum(map(lines, tests)):,} | "
              f"{', '.join(u or 'colgrep' for u in uses) or '–'} | {public} | {len(circle)} |")
    for crate in crates:
        print(f"\n**{crate}**\n\n| module | files | lines | uses |\n|---|---:|---:|---|")
        for module, (files, total, uses) in sorted(modules(crate).items()):
            print(f"| {module} | {files} | {total:,} | {', '.join(uses) or '–'} |")
    every = sources("crates") + sources("benchmarks")
    sizes, lengths = sorted((lines(p), p.relative_to(ROOT)) for p in every), [f for p in every for f in functions(p)]
    over = sum(n > 50 for n, *_ in lengths)
    print(f"\n- Files: {len(every)}; median {statistics.median(n for n, _ in sizes):.0f} lines, longest {sizes[-1][0]} ({sizes[-1][1]}).")
    print(f"- Functions: {len(lengths)}; median {statistics.median(n for n, *_ in lengths):.0f} lines, longest {max(lengths, key=lambda f: f[0])[0]} "
          f"({max(lengths, key=lambda f: f[0])[1]}); {over} ({over / len(lengths):.1%}) have more than 50.")
    print(f"- Words of README.md: {len((ROOT / 'README.md').read_text().split()):,}.")


main()
