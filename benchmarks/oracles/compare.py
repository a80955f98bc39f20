#!/usr/bin/env python3
"""Compares units with the definitions that independent parsers find, language by language.

    compare.py --program PATH --sources DIR [--tsc DIR] [--syn PROGRAM] [--files 60] [--names 20] [--markdown FILE] [LANGUAGE …]

`fetch.py` fills DIR: one folder per language. Oracles: Python's `ast`; the TypeScript compiler, for JavaScript too (a
folder where `npm install typescript` ran); syn (`cargo build -p colgrep-bench --example rust_definitions`, or ctags without it);
universal-ctags for everything else.

- recall: definitions of the oracle with a unit of that name around them, or at most 3 lines away. Locals of functions do
  not count, nor does what a rule of `LEFT_OUT` names. Each selector of a rule of CSS counts.
- wrong: functions and types among the units whose name no definition of the oracle has in that file, locals included
- keywords: units that are named like a keyword, as no definition is
- locals: constants among the units that are variables of a function
- NAME: drawn names of counted definitions that only one definition of the folder has; `PROGRAM NAME -k 1` prints the
  defining line. `odd` are names with another character than letters, digits and `_`

Files are drawn among those with definitions that colgrep indexes by default: 1 MiB at most.
"""

import argparse
import ast
import collections
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
    "asciidoc": ("Asciidoc", "csStTu"), "bash": ("Sh", "f"), "c": ("C", "fsugetd"), "clojure": ("Clojure", "f"),
    "cmake": ("CMake", "fmt"), "css": ("CSS", "csi"),
    "cobol": ("Cobol", "pPs"), "cpp": ("C++", "fcsuge"), "csharp": ("C#", "ceimpsg"),
    "dlang": ("D", "cfgistu"), "elixir": ("Elixir", "fmop"), "elm": ("Elm", "ftacp"), "emacslisp": ("EmacsLisp", "fmvcdugi"),
    "erlang": ("Erlang", "dfrt"), "fortran": ("Fortran", "fmpst"), "go": ("Go", "fstic"), "haskell": ("Haskell", "tcfm"),
    "haxe": ("Haxe", "mceit"), "ini": ("Iniconf", "sk"), "java": ("Java", "ceimg"), "javascript": ("JavaScript", "fcmg"),
    "julia": ("Julia", "fsmt"), "kconfig": ("Kconfig", "c"), "kotlin": ("Kotlin", "cimo"), "commonlisp": ("Lisp", "fmvc"),
    "lua": ("Lua", "f"), "m4": ("M4", "d"), "make": ("Make", "t"), "markdown": ("Markdown", "csStTu"), "matlab": ("MatLab", "f"), "meson": ("Meson", "t"),
    "objc": ("ObjectiveC", "iPmcs"), "ocaml": ("OCaml", "tfcm"), "pascal": ("Pascal", "fp"), "perl": ("Perl", "sp"),
    "php": ("PHP", "cfit"), "powershell": ("PowerShell", "fc"), "proto": ("Protobuf", "mesr"),
    "puppet": ("PuppetManifest", "cd"), "r": ("R", "f"), "raku": ("Perl6", "cgmorst"),
    "restructuredtext": ("ReStructuredText", "csSt"), "robotframework": ("Robot", "tk"),
    "ruby": ("Ruby", "cfmS"), "rust": ("Rust", "sgtPfM"), "scheme": ("Scheme", "f"), "style": ("SCSS", "mfv"),
    "sql": ("SQL", "tpfvidT"), "systemverilog": ("SystemVerilog", "mftCKI"), "tcl": ("Tcl", "pn"),
    "vhdl": ("VHDL", "eaptfPT"), "vimscript": ("Vim", "f"), "visualbasic": ("Basic", "fcte"),
}
# What an oracle takes for a definition and units leave out, by language: a pattern of the line (NAME: the name) and why.
LEFT_OUT = {
    "c": [(r"#\s*define\s+NAME\s*(?:/[*/].*)?$", "macros without a value"),
          (r"[{,]\s*NAME\s*\(", "macros in a list of constants")],
    "cmake": [(r"^(?!\s*\w+\s*\()", "words of documentation")],
    "css": [(r"\[[^\]]*NAME['\"]?\s*[\]=~|^$*]", "attributes"), (r"\]\s*NAME", "parts behind an attribute"),
            (r"\([^()]*,\s*NAME|NAME,[^()]*\)", "parts of a function's selectors"),
            (r"NAME\\|\\NAME", "parts of names with a backslash")],
    "javascript": [(r"\bmodule\.exports\s*=", "`module.exports`")],
    "kotlin": [(r"\bcompanion\s+object\s*(?:[:{]|$)", "companion objects without a name")],
    "make": [(r":\s*NAME\s*:", "patterns of targets"), (r"(?=\$[({][\w-]+\s)NAME", "targets that a function computes")],
    "pascal": [(r"[=:]\s*(?:procedure|function)\b", "types of procedures"),
               (r"^\s*(?:strict|public|protected|private|published|const|var)\b", "words of sections"),
               (r"^\s*//", "words of comments")],
    "scheme": [(r"^(?!.*\(def(?:ine|macro|-))", "words of documentation")],
    # As in C++ and C#, whose namespaces are not among the kinds.
    "tcl": [(r"\bnamespace\s+eval\b", "blocks of namespaces")],
    "style": [(r"^\s*['\"]?NAME['\"]?\s*:", "keys of maps"), (r"@(?:each|for)\b", "variables of loops")],
}
# Where an oracle takes another word for the name: a pattern whose group is the name.
CORRECTED = {
    # `PREFIX(open)(…)`, `TEST(Suite, name) {`
    "c": r"^(?!\s*#).*\b[A-Z][A-Z0-9_]+(?<=NAME)\s*\(\s*(?!void\b)(?:\w+\s*,\s*)?(\w+)\s*[,)]",
    "cpp": r"^(?!\s*#).*\b[A-Z][A-Z0-9_]+(?<=NAME)\s*\(\s*(?!void\b)(?:\w+\s*,\s*)?(\w+)\s*[,)]",
    # `struct Property<U> where U : Base`
    "csharp": r"(\w+)<[^<>]*>.*\bwhere\s.*\bNAME\b",
    # `function TList<T>.Add(`
    "pascal": r"\b(?:procedure|function|constructor|destructor)\s+(?:\w+(?:<[^<>]*>)?\.)+(\w+)",
    # `function [7:0] weigh;`
    "systemverilog": r"^\s*function\s+(?:automatic\s+)?\[.*\]\s*(\w+)\s*[;(]",
    # `codes["base64"] = function`
    "lua": r"\[['\"]([^'\"]+)['\"]\]\s*=",
    # `function set.Position (this, vector)`
    "matlab": r"function\s+(?:[^=(]*=\s*)?(\w+\.\w+)",
    # `(define-module (container queue))`
    "scheme": r"\(define-module\s+\((?:[^()]*\s)?([^\s()]+)\)",
}
# Lines whose names an oracle never has: operators, quoted atoms, callbacks, constructors, types of an `impl` or of
# Pascal, what C has in Objective-C; ctags often loses its way in D, behind types with brackets, and in SQL.
UNKNOWN_TO_ORACLE = {
    "csharp": r"\boperator\b|\)\s*=>",
    "dlang": r"[\w\])*]\s+[*&]*\w+\s*\(|\bthis\s*\(", "erlang": r"^'|^-callback\b", "kotlin": r"\bconstructor\b",
    "objc": r"^\s*#\s*define\b|^[\w<][\w<>* ]*\w\(|\bNS_ENUM\(|^[-+]\s*\(.*<",
    "pascal": r"=\s*(?:packed\s+)?(?:class|record|object|interface)\b|=\s*\(",
    "sql": r"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:type|schema|function)\s",
    "rust": r"^\s*(?:unsafe\s+)?impl\b", "tcl": r"^\s*(?:constructor|destructor)\b",
}
# Kinds of scopes whose definitions are locals, and a pattern of a line that begins one, for oracles that tell no scopes.
CALLABLE = ("function", "method", "singletonMethod", "subroutine", "procedure", "subprogram", "anon")
BEGINS_CALLABLE = {
    "ada": r"^\s*(?:(?:not\s+)?overriding\s+)?(?:procedure|function|task|entry)\b",
    "javascript": r"\bfunction\b|=>|^\s*\w+\(.*\{$", "lua": r"\bfunction\b",
    "pascal": r"^\s*(?:class\s+)?(?:procedure|function|constructor|destructor)\b", "scheme": r"\((?:define|let|lambda)", "ruby": r"^\s*def\b", "style": r"@(?:mixin|function)\b",
}
# Lines between a function's first and one of its own that are indented like the first.
PARTS_OF_CALLABLE = {"ada": r"^\s*(?:begin|is|return)\b", "pascal": r"^\s*(?:var|const|label)\b|^\{"}
# What makes the word after it a name, whatever an oracle says that loses its way in a file.
DEFINES = (
    r"(?:\b(?:proc|def|fn|fun|func|function|procedure|sub|class|struct|enum|interface|trait|module|type|typedef|abstract"
    r"|subtype|package)"
    r"|\b(?:namespace eval|method|alias|alias_method)|\(\S*def\S*)\s+[(':]*(?:[\w:.]+(?:::|[.:]))?"
)
KEYWORDS = {"if", "else", "for", "while", "switch", "return", "do", "case", "class", "function", "struct", "begin", "end"}
AROUND = 3
# The largest file that colgrep indexes by default.
BYTES_MAX = 1 << 20

TSC = """
const ts = require(process.argv[2]);
const fs = require("fs");
for (const path of fs.readFileSync(0, "utf8").split("\\n").filter(Boolean)) {
  const kind = ts.ScriptKind[path.match(/\.m?(\w+)$/)[1].toUpperCase()];
  const source = ts.createSourceFile(path, fs.readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true, kind);
  const found = [];
  const visit = (node, inside) => {
    const is = (...names) => names.some((name) => node.kind === ts.SyntaxKind[name]);
    const callable = is("FunctionDeclaration", "MethodDeclaration", "GetAccessor", "SetAccessor", "Constructor",
      "FunctionExpression", "ArrowFunction");
    const defines = is("FunctionDeclaration", "ClassDeclaration", "InterfaceDeclaration", "EnumDeclaration",
      "TypeAliasDeclaration", "MethodDeclaration", "GetAccessor", "SetAccessor", "MethodSignature");
    const isVariable = is("VariableDeclaration") && inside;
    const value = node.initializer && node.initializer.getText(source);
    // `const name = require(…)`
    const isImport = value !== undefined && /^require\(/.test(value);
    const add = (name, isLocal) =>
      found.push([name, source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1, isLocal, isVariable]);
    const { left, right } = is("BinaryExpression") ? node : {};
    if (left && left.name && [ts.SyntaxKind.FunctionExpression, ts.SyntaxKind.ArrowFunction].includes(right.kind)) {
      // `exports.name = function …`
      add(left.name.text, inside || left.getText(source) === "module.exports");
    } else if ((defines || is("VariableDeclaration")) && node.name && ts.isIdentifier(node.name)) {
      add(node.name.text, inside || isImport);
    } else if (defines && node.name) {
      add(node.name.getText(source), inside);
    } else if (is("Constructor")) {
      add("constructor", inside);
    } else if (node.name && ts.isIdentifier(node.name)) {
      // Parameters, and members that hold a function.
      add(node.name.text, true);
    }
    ts.forEachChild(node, (child) => visit(child, inside || callable));
  };
  visit(source, false);
  console.log(JSON.stringify([path, found]));
}
"""


class Definitions:
    """What an oracle found in one file."""

    def __init__(self):
        self.counted = []
        self.known = set()
        self.left_out = []
        self.variables = set()

    def add(self, name, line, is_local=False):
        name = normal(name)
        self.known |= {name, last(name)}
        if not is_local:
            self.counted.append((name, line))


def normal(name):
    """A name as units have it: `operator !=` is `operator!=`, and headings have no markup."""
    name = re.sub(r"^operator\s+(?=\W)", "operator", name)
    if re.fullmatch(r'"?\W+"?', name):
        return name.strip('"')
    name = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", name)
    return re.sub(r"<\/?\w[^>]*>|`+|\*\*|:\w+:(?=`)|\\(?=\W)", "", name).strip() or name


def python_definitions(path):
    """Functions and types; those of functions are locals, as are their variables."""
    found = Definitions()

    def visit(node, is_local):
        for child in ast.iter_child_nodes(node):
            is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            if is_function or isinstance(child, ast.ClassDef):
                found.add(child.name, child.lineno, is_local)
            if is_local and isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                found.variables.add((child.id, child.lineno))
            visit(child, is_local or is_function)

    try:
        visit(ast.parse(path.read_bytes()), False)
    except (SyntaxError, ValueError):
        pass
    return found


def definitions_of_program(command, paths):
    """What a program finds that reads paths from its input and prints `[path, [[name, line, is local], …]]` for each,
    of variables with `true` behind it."""
    ran = subprocess.run(command, input="\n".join(map(str, paths)), text=True, capture_output=True, check=True)
    by_path = {}
    for path, rows in map(json.loads, filter(None, ran.stdout.split("\n"))):
        found = by_path.setdefault(pathlib.Path(path), Definitions())
        for name, line, is_local, *is_variable in rows:
            found.add(name, line, is_local)
            if any(is_variable):
                found.variables.add((name, line))
    return by_path


def typescript_definitions(paths, compiler):
    with tempfile.NamedTemporaryFile("w", suffix=".js") as script:
        script.write(TSC)
        script.flush()
        module = str(pathlib.Path(compiler).resolve() / "node_modules/typescript")
        return definitions_of_program(["node", script.name, module], paths)


def ctags_definitions(paths, language):
    name, kinds = CTAGS[language]
    command = ["ctags", f"--language-force={name}", "--output-format=json", "--fields=+nKZeF", "-f", "-"]
    ran = subprocess.run([*command, f"--kinds-{name}={kinds}", *map(str, paths)], capture_output=True, text=True,
                         errors="replace")
    everything = subprocess.run([*command, f"--kinds-{name}=*", *map(str, paths)], capture_output=True, text=True,
                                errors="replace")
    by_path = {path: Definitions() for path in paths}
    lines = {path: path.read_text(errors="replace").split("\n") for path in paths}
    for tag in tags_of(everything.stdout):
        path = pathlib.Path(tag["path"])
        by_path[path].add(corrected(language, tag["name"], ""), tag["line"], is_local=True)
        is_variable = tag.get("kind") in ("local", "parameter") or tag.get("scopeKind") in CALLABLE
        # A function without `end`, `function f return Integer is (1);`, takes what follows in ctags.
        if is_variable and (language != "ada" or is_nested(language, lines[path], tag["line"])):
            by_path[path].variables.add((tag["name"], tag["line"]))
    tags = list(tags_of(ran.stdout))
    bodies = {}
    for tag in tags:
        if tag.get("kind") in CALLABLE and tag.get("end", 0) > tag["line"]:
            bodies.setdefault(tag["path"], []).append((tag["line"], tag["end"]))
    for tag in tags:
        found, line = by_path[pathlib.Path(tag["path"])], tag["line"]
        text = lines[pathlib.Path(tag["path"])]
        name = corrected(language, tag["name"], text[line - 1])
        reason = reason_to_leave_out(language, tag["name"], text[line - 1])
        is_local = tag.get("scopeKind") in CALLABLE or is_nested(language, text, line)
        is_local |= any(first < line < end for first, end in bodies.get(tag["path"], ()))
        if reason and not is_local:
            found.left_out.append(reason)
        found.add(name, line, is_local or reason is not None)
    return by_path


def tags_of(output):
    # Names may contain other line breaks than this one.
    for line in filter(None, output.split("\n")):
        tag = json.loads(line)
        # ctags gives names to what has none.
        if tag.get("_type") == "tag" and not re.match(r"__anon|anonymous|AnonymousFunction|\(\)$", tag["name"]):
            yield tag


def corrected(language, name, line):
    if language == "objc":
        # Units have the first word of `initWithPath:mode:`.
        return name.split(":")[0]
    pattern = CORRECTED.get(language)
    found = pattern and re.search(pattern.replace("NAME", re.escape(name)), line)
    return found[1] if found else name


def reason_to_leave_out(language, name, line):
    for pattern, reason in LEFT_OUT.get(language, ()):
        if re.search(pattern.replace("NAME", re.escape(name)), line):
            return reason
    return None


def is_nested(language, lines, number):
    """Whether a line is indented below one that begins a function."""
    pattern = BEGINS_CALLABLE.get(language)
    if not pattern:
        return False

    def indentation(line):
        return len(line) - len(line.lstrip())

    left = indentation(lines[number - 1])
    for line in reversed(lines[:number - 1]):
        if left == 0:
            return False
        is_part = language in PARTS_OF_CALLABLE and re.search(PARTS_OF_CALLABLE[language], line)
        if line.strip() and indentation(line) < left and not is_part:
            if re.search(pattern, line):
                return True
            left = indentation(line)
    return False


def oracle(language, paths, args):
    """The name of the language's oracle, and what it finds in each file; `None` without one."""
    if language == "python":
        return "ast", {path: python_definitions(path) for path in paths}
    if language in ("typescript", "tsx", "javascript") and (args.tsc or language != "javascript"):
        return ("tsc", typescript_definitions(paths, args.tsc)) if args.tsc else None
    if language == "rust" and args.syn:
        return "syn", definitions_of_program([args.syn], paths)
    return ("ctags", ctags_definitions(paths, language)) if language in CTAGS else None


def units(program, path):
    ran = subprocess.run([program, "outline", "--all", "--json", str(path)], capture_output=True, text=True)
    if ran.returncode:
        return []
    rows = [row for row in json.loads(ran.stdout) if row["name"]]
    return [(row["name"], row["line"], row["end_line"], row["unit_type"]) for row in rows]


def last(name):
    """The last part of a qualified name."""
    name = normal(name).strip().strip("\"'").lstrip("$@%#.")
    return re.split(r"::|[.:]", name)[-1].lstrip("$@%#") or name


def compare(language, path, definitions, found):
    """Definitions that no unit has, names of functions and types that no definition has, names like a keyword, locals."""
    missing, wrong, keywords, local = [], [], [], []
    lines = {}
    text = path.read_text(errors="replace").split("\n")
    for name, line, end, _ in found:
        parts = selectors("\n".join(text[line - 1:end])) if language == "css" else [last(name)]
        for key in {normal(name), *parts}:
            lines.setdefault(key, []).append((line, end))
    for name, line in definitions.counted:
        near = lines.get(name, []) + lines.get(last(name), []) + lines.get(without_blanks(name), [])
        # Clauses of one function are one unit.
        if not any(first - AROUND <= line <= max(end, first + AROUND) for first, end in near):
            missing.append((name, line))
    known = definitions.known
    exempt = UNKNOWN_TO_ORACLE.get(language)
    for name, line, _, kind in found:
        is_known = normal(name) in known or last(name) in known or (exempt and re.search(exempt, text[line - 1]))
        is_known = is_known or any(re.search(DEFINES + re.escape(part), text[line - 1]) for part in (name, last(name)))
        if kind in ("function", "method", "class") and not is_known:
            wrong.append((name, line))
        if name in KEYWORDS and not is_known:
            keywords.append((name, line))
        if kind == "constant" and (name, line) in definitions.variables:
            local.append((name, line))
    return missing, wrong, keywords, local


def selectors(rule):
    """The selectors before the block of a rule of CSS, also without the blanks that ctags adds and drops."""
    head = re.sub(r"/\*.*?\*/", " ", rule, flags=re.DOTALL).split("{")[0]
    written = [" ".join(part.split()) for part in re.split(r",(?![^(]*\))", head)]
    return written + list(map(without_blanks, written))


def without_blanks(selector):
    """A selector of CSS without blanks around square brackets."""
    return re.sub(r"\s*([\[\]])\s*", r"\1", selector)


def is_odd(name):
    return re.search(r"[^\w]", name) is not None


def first_place(program, folder, name, data):
    env = dict(os.environ, COLGREP_DATA_DIR=data)
    ran = subprocess.run([program, name, "-k", "1", str(folder)], capture_output=True, text=True, env=env, cwd=folder)
    found = re.match(r"(.+?):(\d+):", ran.stdout)
    return (found[1], int(found[2])) if found else None


def ask(program, folder, by_path, everywhere, limit, rng):
    """Drawn names that one definition of the folder has: how many are found first, plain and odd ones."""
    times = collections.Counter(name.lower() for found in everywhere.values() for name in found.known)
    places = {}
    for path, found in by_path.items():
        for name, line in found.counted:
            places.setdefault(name, []).append((path, line))
    # A name in one file, which defines it once.
    unique = {name: own[0] for name, own in places.items() if len(own) == times[name.lower()] == 1 and len(name) > 3}
    counts = []
    with tempfile.TemporaryDirectory() as data:
        env = dict(os.environ, COLGREP_DATA_DIR=data)
        subprocess.run([program, "init", str(folder)], capture_output=True, env=env, check=True)
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
    args.add_argument("--syn")
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
        every_path = (path for path in folder.rglob("*") if path.is_file() and path.stat().st_size <= BYTES_MAX)
        found = oracle(language, sorted(every_path), args)
        if not found:
            continue
        counted = [path for path, found in found[1].items() if found.counted]
        by_path = {path: found[1][path] for path in sorted(rng.sample(counted, min(args.files, len(counted))))}
        total, missing, wrong, keywords, local, named = 0, [], [], [], [], 0
        for path, definitions in by_path.items():
            own_units = units(args.program, path)
            own = compare(language, path, definitions, own_units)
            total += len(definitions.counted)
            named += sum(kind in ("function", "method", "class") for *_, kind in own_units)
            for all_, some in zip((missing, wrong, keywords, local), own):
                all_.extend((name, f"{path}:{line}") for name, line in some)
        for what, list_ in (("missing", missing), ("wrong", wrong), ("keyword", keywords), ("local", local)):
            for name, place in rng.sample(list_, min(args.show, len(list_))):
                print(f"  {language} {what} {name} {place}", file=sys.stderr)
        plain, odd = "", ""
        if args.names:
            plain, odd = ask(args.program, folder, by_path, found[1], args.names, rng)
        left_out = collections.Counter(reason for definitions in by_path.values() for reason in definitions.left_out)
        left_out = "; ".join(f"{count} {reason}" for reason, count in left_out.most_common()) or "–"
        recall = 100 * (1 - len(missing) / total) if total else 100.0
        rows.append(f"| {language} | {found[0]} | {len(by_path)} | {total} | {recall:.1f} | {len(wrong)} of {named} "
                    f"| {len(keywords)} | {len(local)} | {left_out} |" + (f" {plain} | {odd} |" if args.names else ""))
        print(rows[-1], flush=True)
    if args.markdown:
        head = "| language | oracle | files | definitions | recall, % | wrong names | keywords | locals | left out |"
        rule = "|---|---|---:|---:|---:|---:|---:|---:|---|"
        if args.names:
            head, rule = f"{head} NAME | odd NAME |", f"{rule}---:|---:|"
        args.markdown.write_text("\n".join([head, rule, *rows]) + "\n")


if __name__ == "__main__":
    main()
