#!/usr/bin/env python3
"""Fuzzes the C scanners of the grammars with libFuzzer and AddressSanitizer. Needs clang with its runtime libraries.

    python3 benchmarks/fuzz/scanners.py --seconds 60 --out /tmp/fuzz [ruby kotlin ...]

Each grammar with a scanner is linked with the runtime of tree-sitter into a fuzzer of its own, which starts from the
grammar's samples. Coverage counts in the scanner alone, since the rest is generated tables. What a scanner does wrong
ends a worker of colgrep at most (docs/reliability.md); the inputs are kept in the folder, to report them upstream.
"""

import argparse
import json
import os
import re
import subprocess
from pathlib import Path

HARNESS = """
#include <stdint.h>
#include <tree_sitter/api.h>

const TSLanguage *%(function)s(void);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  static TSParser *parser;
  if (!parser) {
    parser = ts_parser_new();
    ts_parser_set_language(parser, %(function)s());
  }
  ts_tree_delete(ts_parser_parse_string(parser, 0, (const char *)bytes, length));
  ts_parser_reset(parser);
  return 0;
}
"""
# Compiled without instrumentation: generated tables and the runtime.
PLAIN = ["clang", "-c", "-O1", "-w", "-g0", "-D_GNU_SOURCE"]
FUZZED = ["clang", "-O1", "-w", "-g", "-fsanitize=address", "-fno-omit-frame-pointer"]
# What libFuzzer says at the end of a run with workers.
RESULT = re.compile(r"#(\d+): cov: (\d+) .*oom/timeout/crash: (\d+)/(\d+)/(\d+)")


def crates() -> dict[str, Path]:
    """The folders of all packages that cargo resolves, by name."""
    shown = subprocess.run(["cargo", "metadata", "--format-version", "1"], check=True, stdout=subprocess.PIPE)
    return {package["name"]: Path(package["manifest_path"]).parent for package in json.loads(shown.stdout)["packages"]}


def grammars(found: dict[str, Path]) -> dict[str, tuple[Path, Path, Path]]:
    """Scanner, generated parser and samples of each grammar that has a scanner."""
    all_of = {}
    for name, folder in found.items():
        for scanner in (folder / "grammar/scanner.c", folder / "php/src/scanner.c"):
            parsers = [scanner.parent / "src/parser.c", scanner.parent / "parser.c"]
            parser = next((path for path in parsers if path.exists()), None)
            if scanner.exists() and parser:
                samples = folder / "samples"
                all_of[name.removeprefix("arborium-").removeprefix("tree-sitter-")] = (scanner, parser, samples)
    return all_of


def build(out: Path, runtime: Path, scanner: Path, parser: Path) -> Path:
    """Builds the fuzzer of one grammar."""
    function = re.search(r"TSLanguage \*\s*(tree_sitter_\w+)\(void\)", parser.read_text(errors="replace")[-20_000:])
    assert function, f"{parser} has no function that returns its language"
    out.mkdir(parents=True, exist_ok=True)
    harness = out / "harness.c"
    harness.write_text(HARNESS % {"function": function[1]})
    headers = [f"-I{folder}" for folder in (parser.parent, scanner.parent, scanner.parent.parent)]
    objects = {"parser.o": [parser], "runtime.o": [runtime / "src/lib.c"]}
    for name, sources in objects.items():
        own = [f"-I{runtime}/include", f"-I{runtime}/src"] if name == "runtime.o" else headers
        subprocess.run([*PLAIN, *own, *sources, "-o", out / name], check=True)
    traced = [*FUZZED, "-fsanitize=fuzzer-no-link", "-c", *headers, scanner, "-o", out / "scanner.o"]
    subprocess.run(traced, check=True)
    linked = [harness, *(out / name for name in objects), out / "scanner.o"]
    subprocess.run([*FUZZED, "-fsanitize=fuzzer", f"-I{runtime}/include", *linked, "-o", out / "fuzzer"], check=True)
    for name in objects:
        (out / name).unlink()
    return out / "fuzzer"


def fuzz(fuzzer: Path, samples: Path, seconds: int, length: int) -> tuple[int, ...] | None:
    """Runs a fuzzer. Returns inputs, edges of the scanner, inputs out of memory, out of time and that crash."""
    corpus, found = fuzzer.parent / "corpus", fuzzer.parent / "found"
    for folder in (corpus, found):
        folder.mkdir(exist_ok=True)
    limits = [f"-max_total_time={seconds}", f"-max_len={length}", "-timeout=5", "-rss_limit_mb=512"]
    goes_on = ["-fork=1", "-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1"]
    seeds = [samples] if samples.is_dir() else []
    command = [fuzzer, *limits, *goes_on, f"-artifact_prefix={found}/", corpus, *seeds]
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    shown = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace").stdout
    (fuzzer.parent / "log").write_text(shown)
    last = RESULT.findall(shown)
    return tuple(map(int, last[-1])) if last else None


def main() -> None:
    """Builds and runs the fuzzers, and prints a table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("languages", nargs="*", help="grammars (default: all with a scanner)")
    arguments.add_argument("--seconds", type=int, default=60, help="time for each grammar")
    arguments.add_argument("--length", type=int, default=4096, help="longest input in bytes")
    arguments.add_argument("--out", type=Path, required=True, help="folder for fuzzers and what they find")
    given = arguments.parse_args()
    found = crates()
    chosen = {name: paths for name, paths in grammars(found).items() if not given.languages or name in given.languages}
    print("| grammar | inputs | edges | out of memory | out of time | crashes |\n|---|---|---|---|---|---|", flush=True)
    for name, (scanner, parser, samples) in sorted(chosen.items()):
        fuzzer = build(given.out.absolute() / name, found["tree-sitter"], scanner, parser)
        result = fuzz(fuzzer, samples, given.seconds, given.length)
        print(f"| {name} | {' | '.join(map(str, result)) if result else 'did not run' + ' |' * 4} |", flush=True)


if __name__ == "__main__":
    main()
