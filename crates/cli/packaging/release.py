#!/usr/bin/env python3
"""Packs a built program for one system: archive, wheel, npm packages and bill of materials. Python's library suffices.

    python3 crates/cli/packaging/release.py --program target/release/colgrep --out target/release-files
    python3 crates/cli/packaging/release.py --program … --out … --module target/release/lib_colgrep.so   # with the Python module
    python3 crates/cli/packaging/release.py --out … --checksums                                          # of all systems, at the end

`just release` builds the program first.
"""

import argparse
from pathlib import Path

import dependencies
from archive import write_archive
from files import checksums, write
from npm import write_main, write_program
from targets import host, target
from wheel import write_wheel


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Pack a built program for one system.")
    parser.add_argument("--out", type=Path, required=True, help="folder of the packages")
    parser.add_argument("--program", type=Path, help="the built program")
    parser.add_argument("--target", help="the triple it was built for [default: the host's]")
    parser.add_argument("--runnable", type=Path, help="a build for this machine, if --program is for another one")
    parser.add_argument("--module", type=Path, help="the shared library that cargo builds of crates/python")
    parser.add_argument("--level", type=int, default=9, choices=range(1, 10), help="compression [default: 9]")
    parser.add_argument("--checksums", action="store_true", help="write SHA256SUMS of all files in --out")
    given = parser.parse_args()
    if not given.program and not given.checksums:
        parser.error("--program or --checksums is required")
    return given


def pack(given: argparse.Namespace) -> list[Path]:
    """Packs the program, and returns the files."""
    system = target(given.target) if given.target else host()
    notices = dependencies.licences(system.triple)
    wheel_notices = dependencies.licences(system.triple, True) if given.module else notices
    bill = dependencies.bill_of_materials(system.triple)
    common = (given.out, system, given.program)
    return [
        write_archive(*common, given.runnable or given.program, notices, bill, given.level),
        write_wheel(*common, given.module, wheel_notices, given.level),
        write_program(*common, notices, given.level),
        write_main(given.out, given.level),
        write(given.out / f"colgrep-{dependencies.version()}-{system.triple}.cdx.json", bill.encode()),
    ]


def main() -> None:
    given = arguments()
    written = pack(given) if given.program else []
    if given.checksums:
        written.append(checksums(given.out))
    for path in written:
        print(f"{path.stat().st_size:>12,}  {path}")


if __name__ == "__main__":
    main()
