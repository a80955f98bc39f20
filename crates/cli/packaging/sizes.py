#!/usr/bin/env python3
"""Says what a built program consists of, and what each part adds to a package, which is compressed.

    python3 crates/cli/packaging/sizes.py target/release/colgrep target/release/build

The second argument is the folder in which cargo builds the grammars. Reads ELF files, those of Linux, alone.
"""

import re
import struct
import sys
import zlib
from collections import defaultdict
from pathlib import Path

NO_BITS = 8
# Smaller sections and grammars, in bytes, are added up.
LEAST = 300_000


def sections(elf: bytes) -> dict[str, bytes]:
    """The contents of an ELF file's sections by name; those of one name are joined."""
    (table,) = struct.unpack_from("<Q", elf, 40)
    entry, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + entry * at) for at in range(count)]
    strings = headers[names][4]
    found: dict[str, bytes] = defaultdict(bytes)
    for name, kind, _, _, offset, size in headers:
        if kind != NO_BITS:
            start = strings + name
            found[elf[start : elf.index(b"\0", start)].decode()] += elf[offset : offset + size]
    return found


def members(archive: bytes) -> list[bytes]:
    """The files of a static library."""
    found, at = [], 8
    while at < len(archive):
        size = int(archive[at + 48 : at + 58])
        found.append(archive[at + 60 : at + 60 + size])
        at += 60 + size + size % 2
    return [member for member in found if member.startswith(b"\x7fELF")]


def tables(library: Path) -> bytes:
    """The read-only data of a static library."""
    parts = [sections(member) for member in members(library.read_bytes())]
    return b"".join(
        content for part in parts for name, content in part.items() if name.startswith((".rodata", ".data.rel.ro"))
    )


def table(title: str, parts: dict[str, bytes]) -> None:
    """Prints a table, the largest first."""
    print(f"| {title} | MB | MB compressed |\n|---|---:|---:|")
    measured = [(len(content), len(zlib.compress(content, 9)), name) for name, content in parts.items()]
    rows = sorted(measured, reverse=True)
    shown = [row for row in rows if row[0] >= LEAST]
    rest = [row for row in rows if row[0] < LEAST]
    others = (sum(row[0] for row in rest), sum(row[1] for row in rest), f"{len(rest)} others")
    for size, packed, name in [*shown, others]:
        print(f"| {name} | {size / 1e6:.2f} | {packed / 1e6:.2f} |")
    print(f"| together | {sum(row[0] for row in rows) / 1e6:.2f} | {sum(row[1] for row in rows) / 1e6:.2f} |\n")


def main() -> None:
    program, *folders = map(Path, sys.argv[1:])
    table("section", sections(program.read_bytes()))
    for folder in folders:
        # Of a grammar that was built more than once, the last one.
        libraries = sorted(folder.glob("*/out/libtree*.a"), key=lambda library: library.stat().st_mtime)
        named = {re.sub("^libtree.sitter.", "", library.stem): library for library in libraries}
        table("tables of the grammar", {name: tables(library) for name, library in named.items()})


if __name__ == "__main__":
    main()
