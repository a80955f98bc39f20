"""Tests of the training scripts: `python -m unittest discover crates/encoder/train`.

Those of mining need git and tar, but neither the teacher nor the built examples: a small script stands in for `corpus`.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import exclude
from files import whole, write_text
from looks import Looks
from pairs import Batches, Pairs, is_held_out
from text import unit_text

HERE = Path(__file__).parent
# Prints a file with documented functions for each file of a folder, as the example `corpus` does.
CORPUS = """#!{python}
import json, pathlib, sys
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.txt")):
    names = path.read_text().split()
    unit = lambda name: dict(kind="function", name=name, parent="", docstring=f"Counts the {{name}} of all open doors.",
                             body=f"fn {{name}}() {{{{ let total = doors.filter(open).count(); return total; }}}}")
    units = [unit(name) for name in names]
    page = dict(kind="section", name="All about doors", parent="", docstring="",
                body="x " * 120 + "\\n\\nIt is here that `" + "` and `".join(names[:2]) + "` say how many doors are open.\\n")
    print(json.dumps(dict(path=path.name, language="rust", generated=False, test=False, vendored=False, units=units)))
    if names:
        print(json.dumps(dict(path="doors.md", language="markdown", generated=False, test=False, vendored=False,
                              units=[page])))
{end}
"""


class Folder(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.root = Path(held.name)

    def git(self, *arguments: str) -> str:
        settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
        return subprocess.run(["git", *settings, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    def clone(self, name: str, text: str) -> str:
        """Makes a repository, and gives its commit."""
        folder = str(self.root / "clones" / name.replace("/", "+"))
        self.git("init", "-q", folder)
        (Path(folder) / "names.txt").write_text(text)
        self.git("-C", folder, "add", ".")
        self.git("-C", folder, "commit", "-q", "-m", f"Adds {text!r}")
        return self.git("-C", folder, "rev-parse", "HEAD")

    def mine(self, rows: list[str], excluded: str, end: str = "", seed: str = "0") -> subprocess.CompletedProcess:
        corpus = self.root / "corpus"
        corpus.write_text(CORPUS.format(python=sys.executable, end=end))
        corpus.chmod(0o755)
        (self.root / "list.tsv").write_text("".join(row + "\n" for row in rows))
        (self.root / "excluded.txt").write_text(excluded)
        command = [sys.executable, HERE / "mine.py", "--repositories", self.root / "list.tsv", "--exclude",
                   HERE / "peers.txt", self.root / "excluded.txt", "--clones", self.root / "clones", "--corpus", corpus,
                   "--out", self.root / "mined"]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, check=False,
                              env=os.environ | {"PYTHONHASHSEED": seed})  # fmt: skip

    def mined(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted((self.root / "mined").glob("*"))}


class Exclusion(Folder):
    def test_names_forks_and_peers_are_refused_before_anything_is_written(self):
        commit = self.clone("good/doors", "alpha beta gamma")
        for name, excluded, why in [
            ("good/doors", "good/doors", "it has the name of good/doors in excluded.txt"),
            ("good/doors", "someone/Doors  # a fork of it", "it has the name of someone/Doors"),
            ("good/doors", f"other/name {commit}", f"its history holds {commit} of other/name"),
            ("me/ripgrep", "other/name", "it has the name of BurntSushi/ripgrep in peers.txt"),
        ]:
            done = self.mine([f"{name}\t{commit}"], excluded)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(f"{name} is excluded: {why}", done.stderr)
            self.assertFalse((self.root / "mined").exists())

    def test_pairs_of_others_are_not_left_for_later_steps(self):
        commit = self.clone("good/doors", "alpha beta gamma")
        write_text(self.root / "other+pairs.jsonl", "")
        (self.root / "mined").mkdir()
        (self.root / "other+pairs.jsonl").rename(self.root / "mined/other+pairs.jsonl")
        done = self.mine([f"good/doors\t{commit}"], "other/name")
        self.assertEqual(done.returncode, 2)
        self.assertIn("other+pairs.jsonl is of no repository of the list", done.stderr)

    def test_lists(self):
        specs = [{"name": "short", "urls": ["https://example.org/Owner/Long.git"], "revision": "AB" * 20}]
        path = self.root / "specs.json"
        path.write_text(json.dumps(specs))
        found = exclude.read([path])
        self.assertEqual(found.commits, {"ab" * 20: "Owner/Long in specs.json"})
        for name, refused in [("x/long", True), ("x/Short", True), ("Owner/other", False)]:
            self.assertEqual(bool(found.named(name)), refused, name)
        for text in ["", "# nothing", "only-a-name", "a/b c d", "a/b abc", "[]", '[{"name": "x"}]', "[{"]:
            path.write_text(text)
            with self.assertRaises(ValueError, msg=text):
                exclude.read([path])

    def test_the_list_that_is_trained_on_holds_no_peer(self):
        peers = exclude.read([HERE / "peers.txt"])
        names = [line.split("\t")[0] for line in (HERE / "repositories.tsv").read_text().splitlines()]
        self.assertGreater(len(names), 300)
        self.assertEqual([name for name in names if peers.named(name)], [])
        self.assertEqual(len(names), len({name.lower() for name in names}))


class Mining(Folder):
    def test_the_same_pairs_in_every_process(self):
        rows = [f"good/doors\t{self.clone('good/doors', ' '.join(f'name{c}way' for c in 'abcdefgh'))}"]
        found = []
        for seed in ["1", "2", "3", "4"]:
            done = self.mine(rows, "other/name", seed=seed)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            found.append(self.mined())
            (self.root / "mined/good+doors.jsonl").unlink()
        kinds = {json.loads(line)["kind"] for line in found[0]["good+doors.jsonl"].splitlines()}
        self.assertLessEqual({"doc", "prose"}, kinds)
        self.assertEqual(found, found[:1] * len(found))

    def test_what_fails_leaves_no_file_and_a_status(self):
        good, bad = self.clone("good/doors", "alpha beta gamma"), self.clone("bad/doors2", "delta epsilon zeta")
        rows = [f"good/doors\t{good}", f"bad/doors2\t{bad}", f"bad/commit\t{'0' * 40}", f"no/clone\t{bad}"]
        self.clone("bad/commit", "eta theta iota")
        fails_for_bad = 'if "delta" in names: sys.exit("out of luck")'
        done = self.mine(rows, "other/name", end=fails_for_bad)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("3 of 4 repositories are not mined", done.stderr)
        for said in ["bad/doors2: FAILED: ", "out of luck", "bad/commit: FAILED: git ", "no/clone: FAILED: no clone"]:
            self.assertIn(said, done.stdout)
        self.assertEqual(list(self.mined()), ["good+doors.jsonl"])
        done = self.mine(rows[:2], "other/name")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("good/doors: there already", done.stdout)
        self.assertEqual(list(self.mined()), ["bad+doors2.jsonl", "good+doors.jsonl"])

    def test_no_pairs_are_a_failure(self):
        rows = [f"good/empty\t{self.clone('good/empty', ' ')}"]
        done = self.mine(rows, "other/name", end="")
        self.assertEqual((done.returncode, self.mined()), (1, {}))
        self.assertIn("good/empty: FAILED: no pairs", done.stdout)


class Stopping(unittest.TestCase):
    # Held-out figures of the shipped run, of MODEL_CARD.md.
    SHIPPED = ((700, 0.3675), (1400, 0.3737), (2100, 0.3808), (2800, 0.3905), (3487, 0.3880))

    def test_by_patience(self):
        for figures, patience, ends in [
            (self.SHIPPED, 1, 3487),
            (self.SHIPPED, 2, None),
            (((1, 0.5), (2, 0.4), (3, 0.6), (4, 0.5), (5, 0.6)), 2, 5),
            (((1, 0.5), (2, 0.5), (3, 0.5)), 2, 3),
            (((1, 0.1), (2, 0.2), (3, 0.3)), 1, None),
            ((), 1, None),
        ]:
            looks, ended = Looks(), None
            for step, figure in figures:
                looks.seen.append({"step": step, "held_out": figure})
                if looks.exhausted(patience) and ended is None:
                    ended = step
            self.assertEqual(ended, ends, (figures, patience))

    def test_best(self):
        looks = Looks({"step": step, "held_out": figure} for step, figure in self.SHIPPED)
        self.assertEqual(looks.best(3), [2800, 3487, 2100])
        self.assertEqual(Looks([{"step": 1, "held_out": 0.5}, {"step": 2, "held_out": 0.5}]).best(), [1])


class Files(Folder):
    def test_an_interrupted_write_leaves_what_was_there(self):
        path = self.root / "file"
        write_text(path, "before")
        with self.assertRaises(KeyboardInterrupt), whole(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt
        self.assertEqual(path.read_text(), "before")
        write_text(path, "after")
        self.assertEqual([p.name for p in self.root.iterdir()], ["file"])
        self.assertEqual(path.read_text(), "after")


class Sampling(unittest.TestCase):
    def test_batches_are_of_neighbours_and_copies_are_no_negatives(self):
        # Two repositories of 64 units, each about one of eight things (a piece of its own), beside pieces at random; the
        # last two units are copies.
        rng, pairs, things = np.random.default_rng(5), Pairs.__new__(Pairs), 8
        about = rng.integers(0, things, 128)
        pieces = [np.r_[[t] * 6, rng.integers(things, 100, 6)] for t in about]
        pieces[127] = pieces[126]
        for which in ["query", "document"]:
            setattr(pairs, which, np.concatenate(pieces).astype(np.uint16))
            setattr(pairs, which + "_at", np.arange(129) * 12)
        pairs.repository, pairs.unit, pairs.kind = np.arange(128) // 64, np.arange(128) % 64, np.zeros(128, int)
        pairs.names = ["a+b", "b+c"]
        pairs.by_repository = {r: np.flatnonzero(pairs.repository == r) for r in range(2)}
        self.assertFalse(any(is_held_out(name) for name in pairs.names))
        table, idf = np.eye(100, dtype=np.float32), np.ones(100, np.float32)
        alike, copies = {}, 0
        for near in [0, 4]:
            args = SimpleNamespace(batch=32, groups=2, near=near, near_of=64, taught=0, vocabulary=100, mask=0, drop=0,
                                   length=9)  # fmt: skip
            batches = Batches(pairs, args, np.random.default_rng(7), table, idf)
            alike[near] = []
            for _ in range(20):
                ids, queries, documents, same = batches.next()
                self.assertEqual((len(ids), len(queries), {len(d) for d in documents}), (32, 32, {9}))
                self.assertEqual(np.bincount(pairs.repository[ids]).tolist(), [16, 16])
                alike[near].append(np.mean(about[ids.reshape(-1, 4)] == about[ids[::4]][:, None]))
                if near and {126, 127} <= set(ids.tolist()):
                    a, b = ids.tolist().index(126), ids.tolist().index(127)
                    copies += 1
                    self.assertTrue(same[a, b] and same[b, a])
                self.assertLess(same.float().mean(), 0.2)
        self.assertGreater(copies, 0)
        self.assertLess(np.mean(alike[0]), 0.5)
        self.assertGreater(np.mean(alike[4]), 0.9)
        # A share of units that the teacher saw, as far as there are so many.
        pairs.document_teach = np.where(np.isin(np.arange(128) % 64, range(10)), 0, -1)
        args = SimpleNamespace(**vars(args) | {"near": 0, "taught": 0.5})
        ids = Batches(pairs, args, np.random.default_rng(7), table, idf).next()[0]
        self.assertEqual((len(set(ids.tolist())), int((pairs.document_teach[ids] >= 0).sum() >= 16)), (32, 1))


class Text(unittest.TestCase):
    def test_units_are_written_as_the_index_writes_them(self):
        cases = json.loads((HERE.parent / "tests/unit_text.json").read_text())
        self.assertGreater(len(cases), 20)
        for case in cases:
            self.assertEqual(unit_text(case["path"], case), case["text"])


if __name__ == "__main__":
    unittest.main()
