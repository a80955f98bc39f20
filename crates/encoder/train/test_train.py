"""Tests of the training scripts: `python -m unittest discover crates/encoder/train`.

Those of mining need git and tar, but neither the teacher nor a built program: a small script stands in for `research corpus`.
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
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import checkpoint
import exclude
import export
import maxsim
import maxsim_cpu
from files import whole, write_text
from looks import Looks
from model import DOCUMENT, QUERY, Config, Model, rows_of, vectors_of
from objective import Objective, Teaching
from pairs import KINDS, NEAR_MOST, WRITTEN, Batches, Pairs, is_held_out, mistaken
from principal import turned
from text import unit_text

HERE = Path(__file__).parent
# Prints a file with documented functions for each file of a folder, as `colgrep-bench research corpus` does.
CORPUS = """#!{python}
import json, pathlib, sys
for path in sorted(pathlib.Path(sys.argv[3]).rglob("*.txt")):
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

    def mine(self, rows: list[str], excluded: str, end: str = "", seed: str = "0",
             questions: str = "", reports: str = "", short: str = "") -> subprocess.CompletedProcess:  # fmt: skip
        bench = self.root / "bench"
        bench.write_text(CORPUS.format(python=sys.executable, end=end))
        bench.chmod(0o755)
        (self.root / "list.tsv").write_text("".join(row + "\n" for row in rows))
        (self.root / "excluded.txt").write_text(excluded)
        (self.root / "questions.tsv").write_text(questions)
        (self.root / "reports.tsv").write_text(reports)
        (self.root / "short.tsv").write_text(short)
        command = [sys.executable, HERE / "mine.py", "--repositories", self.root / "list.tsv", "--exclude",
                   HERE / "peers.txt", self.root / "excluded.txt", "--clones", self.root / "clones", "--bench", bench,
                   "--questions", self.root / "questions.tsv", "--reports", self.root / "reports.tsv",
                   "--short", self.root / "short.tsv", "--out", self.root / "mined"]  # fmt: skip
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

    def test_what_is_written_is_joined_to_its_units(self):
        rows = [f"good/doors\t{self.clone('good/doors', 'alphaway betaway gammaway')}"]
        asked = "good/doors\tnames\tbetaway\twho goes through?\ngood/doors\tnames\tnoway\twhere?\n"
        reported = "good/doors\tnames\tgammaway\tDoors stay open\tWe closed one and it was counted.\n"
        other = "bad/doors\tnames\talphaway\twhat?\n"
        short = "good/doors\tnames\talphaway\tfirst door\talpha way in\tshut the first one\n"
        done = self.mine(rows, "other/name", questions=asked + other, reports=reported, short=short)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = [json.loads(line) for line in self.mined()["good+doors.jsonl"].splitlines()]
        found = [(pair["query"], pair["text"].split("\n")[1]) for pair in found if pair["kind"] in WRITTEN]
        self.assertEqual(found[0], ("who goes through?", "betaway"))
        reports = [("Doors stay open", "gammaway"), ("We closed one and it was counted.", "gammaway")]
        self.assertEqual(sorted(found[1:3]), reports)
        self.assertEqual(sorted(query for query, name in found[3:] if name == "alphaway"),
                         ["alpha way in", "first door", "shut the first one"])  # fmt: skip

    def test_a_clone_without_a_file_and_in_a_folder_is_read(self):
        commit = self.clone("good/doors", "alpha beta gamma")
        folder = self.root / "clones/good+doors"
        (folder / "large.bin").write_text("too large for the clone")
        self.git("-C", str(folder), "add", ".")
        self.git("-C", str(folder), "commit", "-q", "-m", "Adds a large file")
        blob = self.git("-C", str(folder), "rev-parse", "HEAD:large.bin")
        commit = self.git("-C", str(folder), "rev-parse", "HEAD")
        (folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
        folder.rename(self.root / "clone")
        folder.mkdir()
        (self.root / "clone").rename(folder / "repo")
        done = self.mine([f"good/doors\t{commit}"], "other/name")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(b"alpha", self.mined()["good+doors.jsonl"])

    def test_no_pairs_are_a_failure(self):
        rows = [f"good/empty\t{self.clone('good/empty', ' ')}"]
        done = self.mine(rows, "other/name", end="")
        self.assertEqual((done.returncode, self.mined()), (1, {}))
        self.assertIn("good/empty: FAILED: no pairs", done.stdout)


class Stopping(unittest.TestCase):
    # Held-out figures of a run of colgrep-mixer-2.
    SHIPPED = ((700, 0.3682), (1400, 0.3695), (2100, 0.3799), (2800, 0.3810), (3500, 0.3782), (4200, 0.3808))

    def test_by_patience(self):
        for figures, patience, ends in [
            (self.SHIPPED, 1, 3500),
            (self.SHIPPED, 2, 4200),
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
        self.assertEqual(Looks({"step": step, "held_out": figure} for step, figure in self.SHIPPED).best(), 2800)
        self.assertEqual(Looks([{"step": 1, "held_out": 0.5}, {"step": 2, "held_out": 0.5}]).best(), 1)


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
    def test_batches_are_of_few_repositories_and_of_units_that_the_teacher_saw(self):
        # Three repositories of 64 pairs, two a unit; the teacher saw the first 20 pairs of each.
        rng, pairs = np.random.default_rng(5), Pairs.__new__(Pairs)
        for which in ["query", "document"]:
            setattr(pairs, which, rng.integers(0, 100, 192 * 12).astype(np.uint16))
            setattr(pairs, which + "_at", np.arange(193) * 12)
        place = np.arange(192) % 64
        pairs.repository, pairs.unit, pairs.kind = np.arange(192) // 64, place // 2, np.zeros(192, int)
        pairs.document_teach = np.where(place < 20, 0, -1)
        pairs.names = ["a+b", "b+c", "c+d"]
        pairs.by_repository = {r: np.flatnonzero(pairs.repository == r) for r in range(3)}
        self.assertFalse(any(is_held_out(name) for name in pairs.names))
        for taught, seen in [(0.5, 16), (1.0, 32)]:
            args = SimpleNamespace(
                batch=32, groups=2, taught=taught, asked=0, near=0, vocabulary=100, mask=0, drop=0, length=9
            )
            batches = Batches(pairs, args, np.random.default_rng(7))
            for _ in range(20):
                ids, queries, documents, same = batches.next()
                self.assertEqual((len(set(ids.tolist())), len(queries), {len(d) for d in documents}), (32, 32, {9}))
                self.assertEqual(sorted(np.bincount(pairs.repository[ids], minlength=3).tolist()), [0, 16, 16])
                self.assertGreaterEqual(int((pairs.document_teach[ids] >= 0).sum()), seen)
                of_one = [[pairs.repository[i] == pairs.repository[j] and i // 2 == j // 2 for j in ids] for i in ids]
                self.assertEqual(same.tolist(), of_one)
        # The last eight pairs of each are written questions, which come a quarter of the time.
        pairs.kind[place >= 56] = KINDS.index("question")
        args.asked, args.taught = 0.25, 0.5
        ids, *_ = Batches(pairs, args, np.random.default_rng(8)).next()
        self.assertEqual(int((pairs.kind[ids] == KINDS.index("question")).sum()), 8)

    def test_questions_come_with_units_that_are_mistaken_for_theirs(self):
        # Twenty units, each its own pair; the last two pairs are questions. The teacher's vectors are angles.
        pairs = Pairs.__new__(Pairs)
        pairs.names, pairs.by_repository = ["a+b"], {0: np.arange(22)}
        pairs.unit = np.append(np.arange(20), [10, 3])
        pairs.place = np.append(np.arange(20) // 2, [5, 1])
        pairs.repository, pairs.kind = np.zeros(22, int), np.repeat([0, KINDS.index("question")], [20, 2])
        pairs.teach, pairs.document_teach = np.arange(22), np.append(np.arange(20), [10, 3])
        pairs.document_teach[6] = -1

        def turned_by(degrees):
            return np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], axis=1).astype(np.float16)

        pairs.document_vectors = turned_by(5 * np.arange(20))
        pairs.vectors = turned_by(np.append(5 * np.arange(20), [52, 1]))
        found = mistaken(pairs, np.arange(22))
        # The first is nearest to its own (10) and then to 9, 12, 8: 11 is of the same file. The second is nearer to 0 and
        # 1 than to its own (3), which may be as right; 2 is of the same file, 6 the teacher did not see.
        self.assertEqual([found[20][:3].tolist(), found[21][:4].tolist()], [[9, 12, 8], [4, 5, 7, 8]])
        self.assertEqual([len(found[20]), len(found[21])], [NEAR_MOST, 15])
        pairs.query = pairs.document = np.arange(22 * 4).astype(np.uint16)
        pairs.query_at = pairs.document_at = np.arange(23) * 4
        args = SimpleNamespace(
            batch=12, groups=1, taught=0.5, asked=0.2, near=3, vocabulary=100, mask=0, drop=0, length=9
        )
        batches = Batches(pairs, args, np.random.default_rng(9))
        for _ in range(10):
            ids, *_ = batches.next()
            self.assertEqual(len(set(ids.tolist())), 12)
            own = {i: set(found[i].tolist()) for i in (20, 21)}
            for i in set(own) & set(ids.tolist()):
                self.assertGreaterEqual(len(own[i] & set(ids.tolist())), 3)


class Continuing(Folder):
    def test_a_model_is_read_back_from_its_files(self):
        model, pieces = export.random_model(3, tiny=True)
        tensors, quantised = export.quantised(model, 8)
        export.write_assets(self.root / "assets", "made", model, pieces, tensors)
        read = checkpoint.read_assets(self.root / "assets")
        self.assertEqual(read.config, model.config)
        for side in (QUERY, DOCUMENT):
            with torch.no_grad():
                made, again = (rows_of(m, np.array([5, 9, 7]), side) for m in (quantised, read))
            self.assertLess(float((made - again).abs().max()), 1e-4)

    def test_components_are_turned_towards_the_summaries(self):
        model, _ = export.random_model(4, tiny=True)
        rng, pairs = np.random.default_rng(2), Pairs.__new__(Pairs)
        pairs.query, pairs.query_at = rng.integers(4, 40, 600 * 4).astype(np.uint16), np.arange(601) * 4
        pairs.teach = np.arange(600)
        with torch.no_grad():
            summaries = vectors_of(model, [pairs.text("query", i) for i in range(600)], QUERY)[2].numpy()
        # The teacher knows the summaries under another turn, among much smaller things.
        turn = np.linalg.qr(rng.normal(size=(60, 60)))[0].astype(np.float32)
        pairs.vectors = np.concatenate([summaries, 1e-3 * rng.normal(size=(600, 36))], axis=1).astype(np.float32) @ turn
        mean, basis = turned(model, pairs)
        self.assertLess(float(np.abs(basis.T @ basis - np.eye(24)).max()), 1e-4)
        targets = (pairs.vectors - mean) @ basis
        targets /= np.linalg.norm(targets, axis=1, keepdims=True)
        centred = summaries - summaries.mean(0)
        centred /= np.linalg.norm(centred, axis=1, keepdims=True)
        self.assertGreater(float((targets * centred).sum(1).mean()), 0.9)


class Computing(unittest.TestCase):
    def test_the_cpu_and_other_devices_agree(self):
        made = torch.Generator().manual_seed(4)
        bounds = np.concatenate([[0], np.cumsum([1, 7, 3, *[5] * 40, 2])])
        query, document = (torch.randn(n, 16, generator=made, requires_grad=True) for n in (9, int(bounds[-1])))
        # Which row is the best is asked only where it is so by more than the CPU's rounding of products.
        weight = torch.linspace(-1, 1, 9).repeat(len(bounds) - 1, 1)
        for i, rows in enumerate((document @ query.T).detach().split(np.diff(bounds).tolist())):
            if len(rows) > 1:
                first, second = rows.topk(2, dim=0).values
                weight[i] *= first - second > 0.1
        found = []
        for way in (maxsim_cpu.OnCpu.apply, maxsim.padded):
            best = way(query, document, bounds)
            found.append((best.detach(), *torch.autograd.grad((best * weight).sum(), (query, document))))
        for name, rounding, cpu, other in zip(["best", "query", "document"], [0.05, 1e-5, 1e-5], *found):
            self.assertLess(float((cpu - other).abs().max()), rounding, name)
            self.assertGreater(float(other.abs().max()), 1, name)

    def test_a_step_stays_on_its_device(self):
        # PyTorch's tensors without contents refuse operations on two devices as those of a GPU do, and need none.
        rng = np.random.default_rng(6)
        pairs = Pairs.__new__(Pairs)
        pairs.teach, pairs.document_teach = np.array([0, 1, -1, 2]), np.array([0, -1, -1, 1])
        pairs.vectors, pairs.document_vectors = (rng.random((n, 384)).astype(np.float16) for n in (3, 2))
        pairs.kind = np.array([0, KINDS.index("question"), 0, 1])
        args = SimpleNamespace(soft=0.5, soft_units=0.7, distil=1.0, anchor=0.3, mined_weight=0.3, keep=0.5)
        texts = [rng.integers(1, 50, n) for n in (3, 9, 5, 7)]
        batch = (np.arange(4), texts, texts[::-1], torch.eye(4, dtype=torch.bool))
        mean, basis = np.zeros(384, np.float32), np.zeros((384, 8), np.float32)
        config = Config(50, dim=8, layers=1, hidden=8, output_dim=4)
        with FakeTensorMode(allow_non_fake_inputs=True):
            gpu = torch.device("cuda")
            with gpu:
                model = Model(config)
            loss, parts = Objective(model, Teaching(pairs, mean, basis, gpu), args)(*batch)
            self.assertEqual((loss.device.type, loss.requires_grad, parts.shape), ("cuda", True, (6,)))
            with self.assertRaises(RuntimeError):
                Objective(model, Teaching(pairs, mean, basis, torch.device("cpu")), args)(*batch)


class Text(unittest.TestCase):
    def test_units_are_written_as_the_index_writes_them(self):
        cases = json.loads((HERE.parent / "tests/unit_text.json").read_text())
        self.assertGreater(len(cases), 20)
        for case in cases:
            self.assertEqual(unit_text(case["path"], case), case["text"])


if __name__ == "__main__":
    unittest.main()
