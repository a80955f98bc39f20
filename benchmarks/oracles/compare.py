#!/usr/bin/env python3
"""Compares units with the definitions that independent parsers find, language by language.

    compare.py --program PATH --sources DIR [--tsc DIR] [--files 60] [--names 20] [--markdown FILE] [LANGUAGE …]

`fetch.py` fills DIR: one folder per language. Oracles: Python's `ast`, the TypeScript compiler (a folder where
`npm install typescript` ran), universal-ctags for everything else.

- recall: definitions of the oracle with a unit of that name around them, or at most 3 lines away
- wrong: functions and types among the units whose name the oracle does not have in that file, and has no part of
- keywords: units that are named like a keyword, as no definition is
- NAME: drawn names that are unique in their folder; `PROGRAM NAME -k 1` prints the defining line. `odd` are names with
  another character than letters, digits and `_`
"""

import argparse
import ast
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

# Language → the name that ctags has, and the kinds that count as definitions (all letters that ctags lists).
CTAGS = {
    "ada": ("Ada", "PpRrKtT"), "assembler": ("Asm", "lm"), "awk": ("Awk", "f"), "batchfile": ("DosBatch", "l"),
    "bash": ("Sh", "f"), "c": ("C", "fsugetd"), "clojure": ("Clojure", "f"), "cmake": ("CMake", "fmt"),
    "cobol": ("Cobol", "pPs"), "cpp": ("C++", "fcsuge"), "csharp": ("C#", "ceimpsg"),
    "dlang": ("D", "cfgistu"), "elixir": ("Elixir", "fmop"), "elm": ("Elm", "ftacp"), "emacslisp": ("EmacsLisp", "fmvcdugi"),
    "erlang": ("Erlang", "dfrt"), "fortran": ("Fortran", "fmpst"), "go": ("Go", "fstic"), "haskell": ("Haskell", "tcfm"),
    "haxe": ("Haxe", "mceit"), "ini": ("Iniconf", "sk"), "java": ("Java", "ceimg"), "javascript": ("JavaScript", "fcmg"),
    "julia": ("Julia", "fsmt"), "kconfig": ("Kconfig", "c"), "kotlin": ("Kotlin", "cimo"), "commonlisp": ("Lisp", "fmvc"),
    "lua": ("Lua", "f"), "m4": ("M4", "d"), "make": ("Make", "t"), "matlab": ("MatLab", "f"), "meson": ("Meson", "t"),
    "objc": ("ObjectiveC", "iPmcs"), "ocaml": ("OCaml", "tfcm"), "pascal": ("Pascal", "fp"), "perl": ("Perl", "sp"),
    "php": ("PHP", "cfit"), "powershell": ("PowerShell", "fc"), "proto": ("Protobuf", "mesr"),
    "puppet": ("PuppetManifest", "cd"), "r": ("R", "f"), "raku": ("Perl6", "cgmorst"), "robotframework": ("Robot", "tk"),
    "ruby": ("Ruby", "cfmS"), "rust": ("Rust", "sgtPfM"), "scheme": ("Scheme", "f"), "style": ("SCSS", "mfv"),
    "sql": ("SQL", "tpfvidT"), "systemverilog": ("SystemVerilog", "mftiCK"), "tcl": ("Tcl", "pn"),
    "vhdl": ("VHDL", "eaptfPT"), "vimscript": ("Vim", "f"), "visualbasic": ("Basic", "fcte"),
}
# Known causes of differences: definitions that units omit by design, and false positives of the oracle.
NOTES = {
    "ada": "nested subprograms; renamings", "c": "macros taken for names, `PREFIX(f)(…)`; flags without a value",
    "cmake": "words of documentation", "cpp": "macros taken for names", "emacslisp": "files that declare a package",
    "lua": "local functions", "ocaml": "`let () =` counts as a name",
    "scheme": "modules", "vhdl": "no operators", "rust": "what a macro's body would define",
}
KEYWORDS = {"if", "else", "for", "while", "switch", "return", "do", "case", "class", "function", "struct", "begin", "end"}
AROUND = 3

TSC = """
const ts = require(process.argv[2]);
const fs = require("fs");
for (const path of fs.readFileSync(0, "utf8").split("\\n").filter(Boolean)) {
  const kind = path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(path, fs.readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true, kind);
  const found = [];
  const visit = (node, inside) => {
    const is = (...names) => names.some((name) => node.kind === ts.SyntaxKind[name]);
    const callable = is("FunctionDeclaration", "MethodDeclaration", "GetAccessor", "SetAccessor", "Constructor",
      "FunctionExpression", "ArrowFunction");
    const defines = is("FunctionDeclaration", "ClassDeclaration", "InterfaceDeclaration", "EnumDeclaration",
      "TypeAliasDeclaration", "MethodDeclaration", "GetAccessor", "SetAccessor", "MethodSignature");
    if (!inside && defines && node.name && ts.isIdentifier(node.name)) {
      found.push([node.name.text, source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1]);
    }
    if (!inside && is("VariableDeclaration") && ts.isIdentifier(node.name)) {
      found.push([node.name.text, source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1]);
    }
    if (!inside && is("Constructor")) {
      found.push(["constructor", source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1]);
    }
    ts.forEachChild(node, (child) => visit(child, inside || callable));
  };
  visit(source, false);
  console.log(JSON.stringify([path, found]));
}
"""


def python_definitions(path):
    """Functions and types outside of functions."""
    found = []

    def visit(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                found.append((child.name, child.lineno))
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                visit(child)

    try:
        visit(ast.parse(path.read_bytes()))
    except (SyntaxError, ValueError):
        return None
    return found


def typescript_definitions(paths, compiler):
    with tempfile.NamedTemporaryFile("w", suffix=".js") as script:
        script.write(TSC)
        script.flush()
        module = str(pathlib.Path(compiler).resolve() / "node_modules/typescript")
        ran = subprocess.run(["node", script.name, module], input="\n".join(map(str, paths)), text=True,
                             capture_output=True, check=True)
    return {pathlib.Path(path): [tuple(row) for row in rows] for path, rows in map(json.loads, ran.stdout.splitlines())}


def ctags_definitions(paths, language):
    name, kinds = CTAGS[language]
    command = ["ctags", f"--language-force={name}", f"--kinds-{name}={kinds}", "--output-format=json", "--fields=+nKZ",
               "-f", "-", *map(str, paths)]
    ran = subprocess.run(command, capture_output=True, text=True, errors="replace")
    found = {path: [] for path in paths}
    for line in ran.stdout.splitlines():
        tag = json.loads(line)
        if tag.get("_type") != "tag":
            continue
        is_local = tag.get("scopeKind") in ("function", "method", "subroutine", "procedure", "subprogram")
        # ctags gives names to what has none.
        if not is_local and not re.match(r"__anon|anonymous|AnonymousFunction|\(\)$", tag["name"]):
            found[pathlib.Path(tag["path"])].append((tag["name"], tag["line"]))
    return found


def units(program, path):
    ran = subprocess.run([program, "outline", "--all", "--json", str(path)], capture_output=True, text=True)
    if ran.returncode:
        return []
    rows = [row for row in json.loads(ran.stdout) if row["name"]]
    return [(row["name"], row["line"], row["end_line"], row["unit_type"]) for row in rows]


def last(name):
    """The last part of a qualified name."""
    name = name.strip().strip("\"'").lstrip("$@%#.")
    return re.split(r"::|[.:]", name)[-1] or name


def compare(definitions, found):
    """Definitions that a unit has, and names of functions and types that no definition has."""
    missing, wrong, keywords = [], [], []
    lines = {}
    for name, line, end, _ in found:
        for key in {name, last(name)}:
            lines.setdefault(key, []).append((line, end))
    for name, line in definitions:
        near = lines.get(name, []) + lines.get(last(name), [])
        # Clauses of one function are one unit.
        if not any(first - AROUND <= line <= max(end, first + AROUND) for first, end in near):
            missing.append((name, line))
    known = {last(name) for name, _ in definitions} | {name for name, _ in definitions}
    for name, line, _, kind in found:
        if kind in ("function", "method", "class") and name not in known and last(name) not in known:
            wrong.append((name, line))
        if name in KEYWORDS and name not in known:
            keywords.append((name, line))
    return missing, wrong, keywords


def is_odd(name):
    return re.search(r"[^\w]", name) is not None


def first_place(program, folder, name, data):
    env = dict(os.environ, COLGREP_DATA_DIR=data)
    ran = subprocess.run([program, name, "-k", "1", str(folder)], capture_output=True, text=True, env=env, cwd=folder)
    found = re.match(r"(.+?):(\d+):", ran.stdout)
    return (found[1], int(found[2])) if found else None


def ask(program, folder, by_path, limit, rng):
    """Drawn names that one definition of the folder has: how many are found first, plain and odd ones."""
    places = {}
    for path, definitions in by_path.items():
        for name, line in definitions:
            places.setdefault(name, []).append((path, line))
    unique = {name: own[0] for name, own in places.items() if len(own) == 1 and len(name) > 3}
    counts = []
    with tempfile.TemporaryDirectory() as data:
        for odd in (False, True):
            names = sorted(name for name in unique if is_odd(name) == odd)
            drawn = rng.sample(names, min(limit, len(names)))
            right = 0
            for name in drawn:
                path, line = unique[name]
                place = first_place(program, folder, name, data)
                is_right = place and (folder / place[0]).resolve() == path.resolve() and abs(place[1] - line) <= AROUND
                right += bool(is_right)
                if not is_right:
                    print(f"  NAME {name}: {place}, not {path}:{line}", file=sys.stderr)
            counts.append(f"{right} of {len(drawn)}" if drawn else "–")
    return counts


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--program", required=True)
    args.add_argument("--sources", required=True, type=pathlib.Path)
    args.add_argument("--tsc")
    args.add_argument("--files", type=int, default=60)
    args.add_argument("--names", type=int, default=20)
    args.add_argument("--show", type=int, default=8)
    args.add_argument("--markdown", type=pathlib.Path)
    args.add_argument("languages", nargs="*")
    args = args.parse_args()
    rows = []
    for folder in sorted(path for path in args.sources.iterdir() if path.is_dir()):
        language = folder.name
        if args.languages and language not in args.languages:
            continue
        rng = random.Random(f"colgrep {language}")
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        paths = sorted(rng.sample(paths, min(args.files, len(paths))))
        if language == "python":
            by_path = {path: python_definitions(path) for path in paths}
        elif language in ("typescript", "tsx"):
            if not args.tsc:
                continue
            by_path = typescript_definitions(paths, args.tsc)
        elif language in CTAGS:
            by_path = ctags_definitions(paths, language)
        else:
            continue
        by_path = {path: found for path, found in by_path.items() if found}
        total, missing, wrong, keywords, named = 0, [], [], [], 0
        for path, definitions in by_path.items():
            found = units(args.program, path)
            own = compare(definitions, found)
            total += len(definitions)
            named += sum(kind in ("function", "method", "class") for *_, kind in found)
            for all_, some in zip((missing, wrong, keywords), own):
                all_.extend((name, f"{path}:{line}") for name, line in some)
        for what, list_ in (("missing", missing), ("wrong", wrong), ("keyword", keywords)):
            for name, place in rng.sample(list_, min(args.show, len(list_))):
                print(f"  {language} {what} {name} {place}", file=sys.stderr)
        plain, odd = ask(args.program, folder, by_path, args.names, rng) if args.names else ("", "")
        oracle = {"python": "ast", "typescript": "tsc", "tsx": "tsc"}.get(language, "ctags")
        recall = 100 * (1 - len(missing) / total) if total else 100.0
        rows.append(f"| {language} | {oracle}{': ' + NOTES[language] if language in NOTES else ''} | {len(by_path)} | {total} | {recall:.1f} | {len(wrong)} of {named} "
                    f"| {len(keywords)} |" + (f" {plain} | {odd} |" if args.names else ""))
        print(rows[-1], flush=True)
    if args.markdown:
        head = "| language | oracle | files | definitions | recall, % | wrong names | keywords |"
        rule = "|---|---|---:|---:|---:|---:|---:|"
        if args.names:
            head, rule = f"{head} NAME | odd NAME |", f"{rule}---:|---:|"
        args.markdown.write_text("\n".join([head, rule, *rows]) + "\n")


if __name__ == "__main__":
    main()
