r"""Pairs (text, unit) from clones: one JSON lines file a repository.

    mine.py --repositories repositories.tsv --exclude peers.txt LIST... --clones CLONES \
        --bench target/release/colgrep-bench --out MINED

With --questions FILE, written questions are joined to their units too (lines of owner/name, and the first two lines of
the unit's text: path and name; then the question). With --reports FILE so are reports of faults (then title and
paragraph, which are two queries), with --short FILE short queries (then as many as there are).

Each line of the output is {"kind", "query", "text", "unit", "language"}: `text` is the unit's text without what the
query was taken from, `unit` its number within the repository. Kinds: doc (first sentence of a doc comment), inline
(a comment inside the body), name (its own name, masked in the body), commit (subject of a commit that touched it),
prose (a sentence of the documentation that names it, the name left out), section (a heading and the text below it),
question, report and short (written by somebody who read the unit).

Repositories of the lists behind --exclude are refused before anything is read (see `exclude.py`): exit status 2. A
repository that can't be mined leaves no file, the others are mined, and the exit status is 1.
"""

import argparse
import collections
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from multiprocessing import Pool
from pathlib import Path

import exclude
from files import whole
from text import unit_text, words

CAPS = {"doc": 4000, "inline": 2500, "name": 1200, "commit": 1500, "prose": 1200, "section": 500, "question": 1000,
        "report": 1000, "short": 2000}  # fmt: skip
FILES_MAX, COMMITS_MAX, LOG_BYTES_MAX = 1500, 1500, 100 << 20
PROSE = ("markdown", "text", "rst", "asciidoc")
SENTENCE_END = r"(?<=[a-z)`])[.:!?]\s+|\n\s*\n|\n\s*[-*]\s"
DEFINITIONS = ("function", "method", "class", "constant")

VENDORED = re.compile(
    r"(^|/)(vendor|third_?party|3rd-?party|node_modules|dist|deps|extern(al)?|generated|gen|testdata|fixtures?"
    r"|__snapshots__|locales?|i18n|translations?)(/|$)|\.min\.|\.pb\.|_pb2|\.g\.cs$|\.designer\.cs$|bundle\.js$",
    re.IGNORECASE,
)
NOISE = re.compile(
    r"inheritdoc|eslint|noqa|pylint|rubocop:|nolint|clang-format|istanbul|@ts-|prettier|licen[sc]e|copyright|todo"
    r"|fixme|xxx|generated|deprecated|https?://|spdx",
    re.IGNORECASE,
)
TAG = re.compile(r"^\s*(@\w+|\\\w+|:param|:return|:rtype|<\w+|-{3,}|={3,}|\*{3,}|\.\.|>>>|```|#\[)", re.IGNORECASE)
MARKUP = re.compile(r"\{@\w+\s+([^}]*)\}|`{1,2}([^`]*)`{1,2}|\[([^\]]*)\]\([^)]*\)")
HTML = re.compile(r"</?\w+[^>]{0,80}>")
PYTHON_DOC = re.compile(r'^\s*[rRuUbB]{0,2}("""|\'\'\')(.*?)\1', re.DOTALL | re.MULTILINE)
SUBJECT_TAG = re.compile(r"^\s*(\[[^\]]*\]\s*|[\w./-]+(\([^)]*\))?!?:\s+|\(?#\d+\)?:?\s*|[A-Z]+-\d+:?\s*)+")
CHORE = re.compile(
    r"\b(bump|release|version|changelog|typos?|lint|format(ting)?|merge|revert|readme|docs?|wip|clean-?up|clean up"
    r"|clippy|fmt|ci|nit|copyright|renam\w+|refactor(ing)?|warnings?|tests?|review|minor|misc|tidy|whitespace"
    r"|upgrade|deps?|dependenc\w+)\b",
    re.IGNORECASE,
)
COMMENT = re.compile(r"^\s*(?://+!?|#+|--+|;+|\*|%+)\s+(.*\S)\s*$")
QUESTIONS = [
    "how {}",
    "how does {} work",
    "where is {} implemented",
    "code that handles {}",
    "where {} is handled",
    "logic for {}",
    "function that {}",
    "which part of the code {}",
    "{} implementation",
    "where do we {}",
]


def plain(text: str) -> str:
    """Text without markup."""
    text = MARKUP.sub(lambda m: next(g for g in m.groups() if g is not None), text)
    return re.sub(r"\s+", " ", HTML.sub(" ", text)).strip()


def first_sentence(comment: str) -> tuple[str, str]:
    """The first sentence of a doc comment, and the rest of its first paragraph."""
    lines: list[str] = []
    for line in comment.split("\n"):
        line = line.strip().strip("\"'").lstrip("*/#-;!|^ ").strip()
        if TAG.match(line) and not line.startswith(("<summary", "<p")):
            if lines:
                break
            continue
        line = HTML.sub(" ", line).strip()
        if not line:
            if lines:
                break
            continue
        lines.append(line)
        if sum(map(len, lines)) > 400:
            break
    text = plain(" ".join(lines))
    end = re.search(r"(?<=[a-z0-9)\]])[.!?](\s|$)", text)
    return (text[: end.start()].strip(), text[end.end() :]) if end else (text.strip(), "")


def is_language(text: str, words_min: int = 3) -> bool:
    """Whether a text reads like a sentence, not like code or a notice."""
    if NOISE.search(text) or not 8 < len(text) < 300:
        return False
    found = words(text)
    letters = sum(c.isalpha() or c == " " for c in text)
    return words_min <= len(found) <= 40 and len(set(found)) >= words_min and letters > 0.82 * len(text)


def last_name(name: str) -> str:
    return re.split(r"[.:#/]", name)[-1]


def comments_of(body: str) -> list[tuple[str, str]]:
    """Comments inside a body, joined over lines, each with the body that lacks it."""
    lines = body.split("\n")
    found, start = [], None
    for i in range(1, len(lines) + 1):
        match = COMMENT.match(lines[i]) if i < len(lines) else None
        if match and start is None:
            start = i
        elif not match and start is not None:
            text = " ".join(COMMENT.match(line).group(1) for line in lines[start:i])
            if i - start <= 4 and text.count(";") == 0 and "=" not in text:
                found.append((plain(text), "\n".join(lines[:start] + lines[i:])))
            start = None
    return found


def commits(git_dir: str, known: dict[str, list[int]], units: list[dict]):
    """(message, unit) of commits that touched few files: the unit is named in a hunk's heading."""
    command = ["git", "-c", "diff.renames=false", "--git-dir", git_dir, "log", "--no-merges", f"-n{COMMITS_MAX}", "-p",
               "-U0", "--format=%x01%s%x02%b%x03"]  # fmt: skip
    complaints = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
    log = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints)
    read, message, in_message, touched, files, path = 0, "", False, {}, 0, None

    def flush():
        if 0 < files <= 5:
            for name, headings in touched.items():
                text = "\n".join(headings)
                found = [u for u in known[name] if len(units[u]["name"]) > 2 and re.search(
                    r"(?<!\w)" + re.escape(last_name(units[u]["name"])) + r"(?!\w)", text)]  # fmt: skip
                functions = [u for u in found if units[u]["kind"] in ("function", "method")] or found
                for unit in functions[:2]:
                    yield message, unit

    for raw in log.stdout:
        read += len(raw)
        if raw.startswith(b"\x01"):
            yield from flush()
            message, in_message, touched, files, path = "", True, {}, 0, None
            if read > LOG_BYTES_MAX:
                log.kill()
                break
        line = raw.decode("utf-8", "replace")
        if in_message:
            message += line.strip("\x01").replace("\x03", "")
            in_message = "\x03" not in line
        elif line.startswith("diff --git "):
            files, path = files + 1, None
        elif line.startswith("+++ b/") and files <= 5:
            path = line[6:].strip()
            path = path if path in known else None
        elif path and line.startswith("@@ "):
            heading = line.split("@@", 2)[-1].strip()[:200]
            if heading:
                touched.setdefault(path, []).append(heading)
    yield from flush()
    log.stdout.close()
    if log.wait() and read <= LOG_BYTES_MAX:
        complaints.seek(0)
        said = complaints.read().decode("utf-8", "replace").strip()
        # A clone without its largest files: the history up to the first that is missing has been read.
        if "unable to read" not in said or not read:
            raise RuntimeError(f"git log: {said}")


def run(*command: str, given: bytes | None = None) -> bytes:
    """What a command prints, given something to read; raises RuntimeError with its complaint where it fails."""
    done = subprocess.run(command, input=given, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[-500:]
        raise RuntimeError(f"{' '.join(command[:4])} ...: exit status {done.returncode}: {said}")
    return done.stdout


def missing(git_dir: str, commit: str) -> list[str]:
    """Paths of a commit whose contents a clone lacks; some are made without their largest files."""
    listed = run("git", "--git-dir", git_dir, "ls-tree", "-r", "-z", commit).split(b"\0")
    entries = [line.split(b"\t", 1) for line in listed if b" blob " in line]
    asked = b"".join(head.split()[2] + b"\n" for head, _ in entries)
    told = run("git", "--git-dir", git_dir, "cat-file", "--batch-check", given=asked).splitlines()
    return [os.fsdecode(path) for (_, path), line in zip(entries, told, strict=True) if line.endswith(b" missing")]


def target_of(out: Path, name: str) -> Path:
    return out / (name.replace("/", "+") + ".jsonl")


def mine(job: tuple[str, str, str, str, Path, list]) -> tuple[bool, str]:
    """Mines a repository: whether its file is there now, and what to say."""
    try:
        return True, f"{job[0]}: {mined(*job)}"
    except Exception as error:  # noqa: BLE001 (whatever it is, the others shall be mined)
        return False, f"{job[0]}: FAILED: {error or repr(error)}"


def mined(name: str, commit: str, git_dir: str, bench: str, out: Path, questions: list[tuple[str, ...]]) -> str:
    target = target_of(out, name)
    if target.exists():
        return "there already"
    started = time.time()
    rng = random.Random(name)
    with tempfile.TemporaryDirectory() as folder:
        archive, tree = f"{folder}/tree.tar", f"{folder}/tree"
        Path(tree).mkdir()
        lacks = [f":(exclude,literal,top){path}" for path in missing(git_dir, commit)]
        run("git", "--git-dir", git_dir, "archive", "--output", archive, commit, "--", *(lacks and [".", *lacks]))
        run("tar", "-x", "-f", archive, "-C", tree)
        printed = run(bench, "research", "corpus", tree).decode("utf-8", "replace")
    files = [json.loads(line) for line in printed.split("\n") if line]
    files = [f for f in files if not (f["vendored"] or f["generated"] or VENDORED.search(f["path"]))]
    rng.shuffle(files)
    tests = [f for f in files if f["test"]]
    files = [f for f in files if not f["test"]][:FILES_MAX]
    files += tests[: max(30, len(files) // 8)]
    units: list[dict] = []
    known: dict[str, list[int]] = {}
    defined: dict[str, list[int]] = collections.defaultdict(list)
    for file in files:
        for unit in file["units"][:300]:
            unit |= {"path": file["path"], "language": file["language"], "test": file["test"]}
            known.setdefault(file["path"], []).append(len(units))
            if unit["kind"] in DEFINITIONS and len(unit["name"]) > 3 and not file["test"]:
                defined[last_name(unit["name"])].append(len(units))
            units.append(unit)
    pairs: dict[str, list] = collections.defaultdict(list)

    def add(kind: str, query: str, unit: int, **masked):
        pairs[kind].append((query, unit_text(units[unit]["path"], units[unit], **masked), unit))

    for number, unit in enumerate(units):
        kind, body = unit["kind"], unit["body"]
        if kind in ("document", "section"):
            title = plain(unit["name"])
            is_prose = unit["language"] in PROSE
            if is_prose and len(body) > 200 and 2 <= len(words(title)) <= 12 and not NOISE.search(title):
                sentence, _ = first_sentence(re.sub(r"^#.*$", "", body, flags=re.MULTILINE))
                query = f"{title}: {sentence}" if is_language(sentence) and rng.random() < 0.5 else title
                add("section", query, number, body=body.replace(unit["name"], "").replace(sentence or "\0", ""))
            for sentence in re.split(SENTENCE_END, body[:6000]) if is_prose else ():
                named = {last_name(n.strip("()")) for n in re.findall(r"`([\w.:#/]+(?:\(\))?)`", sentence)}
                owners = [d for n in sorted(named) for d in defined.get(n, [])]
                if 1 <= len(owners) <= 2 and len(named) <= 3:
                    query = re.sub(r"\s+", " ", re.sub(r"`[^`]*`", "", sentence)).strip(" -*#|\t:,")
                    if is_language(query, 5):
                        add("prose", query, owners[0])
            continue
        if kind not in DEFINITIONS or len(body) < 40:
            continue
        stripped = PYTHON_DOC.sub("", body, count=1) if unit["language"] == "python" else body
        if unit["docstring"].strip() and (kind != "constant" or rng.random() < 0.3):
            sentence, rest = first_sentence(unit["docstring"])
            # Go's comments begin with the name of what they explain.
            if sentence.startswith(last_name(unit["name"]) + " "):
                sentence = sentence.split(" ", 1)[1]
            if is_language(sentence):
                add("doc", sentence, number, docstring=rest if rng.random() < 0.5 else "", body=stripped)
        if kind in ("function", "method") and len(stripped) > 150:
            for comment, without in comments_of(stripped)[:4]:
                if is_language(comment, 4):
                    add("inline", comment, number, body=without, docstring="" if rng.random() < 0.5 else None)
        short = words(last_name(unit["name"]))
        if kind != "constant" and 2 <= len(short) <= 8 and len(stripped) > 120 and "test" not in short:
            query = " ".join(short)
            parent = words(last_name(unit["parent"]))[:4]
            if parent and rng.random() < 0.4:
                query = " ".join(parent) + " " + query
            masked = unit | {"name": ""}
            text = unit_text(unit["path"], masked, docstring="" if rng.random() < 0.6 else None,
                             body=stripped.replace(last_name(unit["name"]), " "))  # fmt: skip
            pairs["name"].append((query, text, number))
    for message, number in commits(git_dir, known, units):
        subject, _, rest = message.partition("\x02")
        if CHORE.search(subject) or len(units[number]["body"]) < 80 or units[number]["test"]:
            continue
        query = re.sub(r"\(?(fixes|closes|refs?|see)?\s*#\d+\)?", "", SUBJECT_TAG.sub("", subject), flags=re.IGNORECASE)
        sentence, _ = first_sentence(rest)
        if is_language(sentence, 5) and rng.random() < 0.4:
            query = sentence
        query = query.strip(" .")
        if is_language(query):
            add("commit", query, number)
    texts: dict[tuple[str, ...], tuple[str, int]] = {}
    for number, unit in enumerate(units if questions else ()):
        text = unit_text(unit["path"], unit)
        texts.setdefault(tuple(text.split("\n")[:2]), (text, number))
    for kind, path, title, *queries in questions:
        if (path, title) in texts:
            pairs[kind] += [(query, *texts[path, title]) for query in queries]
    counts = collections.Counter()
    seen, often = set(), collections.Counter()
    kept = []
    for kind, found in pairs.items():
        rng.shuffle(found)
        for query, text, unit in found:
            key = hashlib.md5(f"{query.lower()}\0{unit}".encode()).digest()
            often[query.lower()] += 1
            if key in seen or often[query.lower()] > 2 or len(words(text)) < 8:
                continue
            seen.add(key)
            if kind in ("doc", "name", "inline") and rng.random() < 0.15:
                query = rng.choice(QUESTIONS).format(query[:1].lower() + query[1:])
            kept.append({"kind": kind, "query": query, "text": text, "unit": unit, "language": units[unit]["language"]})
            counts[kind] += 1
            if counts[kind] >= CAPS[kind]:
                break
    if not kept:
        raise RuntimeError(f"no pairs in {len(files)} files; is {commit} the right commit?")
    with whole(target) as lines:
        lines.writelines(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in kept)
    return f"{len(files)} files, {len(units)} units, {dict(counts)}, {time.time() - started:.0f} s"


def git_dir_of(clones: Path, name: str) -> Path | None:
    """The git directory of a clone: bare or with a work tree, itself or in a folder."""
    folder = clones / name.replace("/", "+")
    inside = (p.parent for pattern in ("*/HEAD", "*/.git/HEAD") for p in folder.glob(pattern))
    places = [folder, *sorted(inside), folder / ".git"]
    return next((place for place in places if (place / "HEAD").exists() or place.is_file()), None)


def refused(repositories: list[tuple[str, str]], clones: Path, out: Path, excluded: exclude.Excluded) -> list[str]:
    """What must not be trained on, with why: of the list, by name and by history, and left over in `out`."""
    found = []
    for name, _ in repositories:
        git_dir = git_dir_of(clones, name)
        why = excluded.named(name) or (git_dir and excluded.inside(str(git_dir)))
        if why:
            found.append(f"{name} is excluded: {why}; take it out of the list")
    listed = {target_of(out, name) for name, _ in repositories}
    for path in sorted(out.glob("*.jsonl")):
        if path not in listed:
            found.append(f"{path} is of no repository of the list, and later steps would read it; remove it")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, required=True, help="owner/name, commit, licence, language")
    parser.add_argument("--exclude", type=Path, nargs="+", required=True, metavar="LIST",
                        help="repositories that must not be trained on: peers.txt, and the lists of the benchmarks")  # fmt: skip
    parser.add_argument("--questions", type=Path, help="written questions: owner/name, path, name, question")
    parser.add_argument("--reports", type=Path, help="reports of faults: owner/name, path, name, title, paragraph")
    parser.add_argument("--short", type=Path, help="short queries: owner/name, path, name, then the queries")
    parser.add_argument("--clones", type=Path, required=True, help="folder of clones: owner+name/**/ (git directories)")
    parser.add_argument("--bench", required=True, help="the program colgrep-bench, built")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    repositories = [tuple(line.split("\t")[:2]) for line in args.repositories.read_text().splitlines()]
    try:
        found = refused(repositories, args.clones, args.out, exclude.read(args.exclude))
    except (OSError, ValueError, RuntimeError) as error:
        found = [str(error)]
    if found:
        print("\n".join(found), file=sys.stderr)
        sys.exit(2)
    args.out.mkdir(parents=True, exist_ok=True)
    jobs, failures = [], 0
    questions = collections.defaultdict(list)
    for kind, path in (("question", args.questions), ("report", args.reports), ("short", args.short)):
        for line in path.read_text().splitlines() if path else ():
            owner, *rest = line.split("\t")
            questions[owner].append((kind, *rest))
    for name, commit in repositories:
        git_dir = git_dir_of(args.clones, name)
        if git_dir:
            jobs.append((name, commit, str(git_dir), args.bench, args.out, questions[name]))
        else:
            failures += 1
            print(f"{name}: FAILED: no clone below {args.clones}", flush=True)
    with Pool(args.jobs) as pool:
        for done, said in pool.imap_unordered(mine, jobs):
            failures += not done
            print(said, flush=True)
    if failures:
        sys.exit(f"{failures} of {len(repositories)} repositories are not mined; mend the clones or shorten the list, "
                 "and run this again")  # fmt: skip


if __name__ == "__main__":
    main()
