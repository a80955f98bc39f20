"""What the index and the training share: the text of a unit, and its split into words and pieces.

The Rust twins are `colgrep_index::units::unit_text`, `colgrep_core::query::last_segment` and the tokenizer of
`colgrep-encoder`. `../tests/unit_text.json` holds both sides of the first to the same texts, golden vectors that
`export.py` wrote hold the last.
"""

import json
import re
import unicodedata
from pathlib import Path

from files import write_text

TEXT_BYTES_MAX = 2048
DOCSTRING_BYTES_MAX = 512
WORD_CHARS_MAX = 40
WORD_PIECES_MAX = 6
SPECIAL = ["[PAD]", "[UNK]", "[Q]", "[D]"]
UNKNOWN = 1

_ASCII = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def last_segment(name: str) -> str:
    """The last segment of a written path of names, punctuation of calls and references taken off."""
    name = name.strip().strip(".:/#\\")
    segments = [segment for segment in re.split(r"::|->|[\\.#/]", name) if segment]
    return (segments[-1] if segments else name).strip("!?=&*~() @$>-")


def cut(text: str, bytes_max: int) -> str:
    """A text's first bytes, without the character that the end goes through."""
    return text.encode()[:bytes_max].decode("utf-8", "ignore")


def unit_text(path: str, unit: dict, docstring: str | None = None, body: str | None = None) -> str:
    """The text of a unit that is encoded: path tail, parent and name, docstring, body."""
    parts = path.split("/")[-3:]
    parts[-1] = parts[-1].rsplit(".", 1)[0] if "." in parts[-1][1:] else parts[-1]
    docstring = unit["docstring"] if docstring is None else docstring
    body = unit["body"] if body is None else body
    first, ended, _ = docstring.partition("\n")
    first = first.removesuffix("\r") if ended else first
    if first and first in body:
        docstring = ""
    name = " ".join(word for word in (last_segment(unit["parent"]), unit["name"]) if word)
    below = [part for part in (cut(docstring, DOCSTRING_BYTES_MAX), cut(body, TEXT_BYTES_MAX)) if part]
    return cut("\n".join(["/".join(parts), name, *below]), TEXT_BYTES_MAX)


def _split_unicode(run: str):
    """Words of a text with letters beyond ASCII: the rule of `_ASCII` over Unicode's categories."""
    classes = "".join({"Lu": "U", "Ll": "l", "Nd": "9", "Lo": "o"}.get(unicodedata.category(c), " ") for c in run)
    for match in re.finditer(r"U+(?=Ul)|U?l+|U+|9+|o", classes):
        yield run[match.start() : match.end()]


def words(text: str) -> list[str]:
    """Lower-case words, identifiers split at case changes, digits and punctuation."""
    found = _ASCII.findall(text) if text.isascii() else _split_unicode(text)
    return [w.lower() for w in found if len(w) <= WORD_CHARS_MAX]


class WordPiece:
    """Greedy longest-match pieces of words (Schuster and Nakajima 2012; Devlin et al. 2019)."""

    def __init__(self, vocabulary: list[str]):
        self.vocabulary = vocabulary
        self.ids = {piece: i for i, piece in enumerate(vocabulary)}
        self.known: dict[str, list[int]] = {}

    @staticmethod
    def load(path: Path) -> "WordPiece":
        return WordPiece(path.read_text(encoding="utf-8").split("\n")[:-1])

    def save(self, path: Path) -> None:
        write_text(path, "".join(p + "\n" for p in self.vocabulary))

    def word(self, word: str) -> list[int]:
        pieces = self.known.get(word)
        if pieces is None:
            pieces, start = [], 0
            while start < len(word):
                prefix = "##" if start else ""
                end = len(word)
                while end > start and prefix + word[start:end] not in self.ids:
                    end -= 1
                if end == start:
                    pieces = [UNKNOWN]
                    break
                pieces.append(self.ids[prefix + word[start:end]])
                start = end
            pieces = self.known[word] = pieces[:WORD_PIECES_MAX]
        return pieces

    def encode(self, text: str, limit: int | None = None) -> list[int]:
        ids: list[int] = []
        for word in words(text):
            ids += self.word(word)
            if limit and len(ids) >= limit:
                return ids[:limit]
        return ids


def read_jsonl(path: Path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
