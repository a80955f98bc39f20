"""Queries made of other queries: with a typing error, and a few words in a row."""

import re

import numpy as np

# Of the pairs of these kinds, so many get a second query with a typing error, and so many one of a few words in a row.
MISSPELT = {"doc": 0.1, "inline": 0.1, "question": 0.1, "report": 0.1, "short": 0.15}
FRAGMENT = {"doc": 0.2, "inline": 0.3}
# Shortest word that is misspelt, in letters; words of a fragment.
LETTERS_MIN, FRAGMENT_MIN, FRAGMENT_MAX = 5, 2, 4
# Keys beside each other on a keyboard of the order QWERTY.
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_BESIDE = {key: row[max(0, i - 1) : i] + row[i + 1 : i + 2] for row in ROWS for i, key in enumerate(row)}
_WORD = re.compile(r"[A-Za-z]+")


def misspelt_word(word: str, rng: np.random.Generator) -> str:
    """A word of letters with one error: two letters exchanged, one left out, one twice, or the key beside it. Its first
    letter stays, as it does in most errors (Yannakoudakis and Fawthrop, The rules of spelling errors, 1983)."""
    at = int(rng.integers(1, len(word) - 1))
    kind = rng.integers(0, 4)
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == 1:
        return word[:at] + word[at + 1 :]
    if kind == 2:
        return word[:at] + word[at] + word[at:]
    beside = _BESIDE[word[at].lower()]
    return word[:at] + beside[int(rng.integers(0, len(beside)))] + word[at + 1 :]


def misspelt(query: str, rng: np.random.Generator) -> str | None:
    """A query with an error in one of its words; None where no word is long enough, or none changed."""
    words = [match for match in _WORD.finditer(query) if len(match[0]) >= LETTERS_MIN]
    if not words:
        return None
    word = words[int(rng.integers(0, len(words)))]
    changed = query[: word.start()] + misspelt_word(word[0], rng) + query[word.end() :]
    return changed if changed != query else None


def fragment(query: str, rng: np.random.Generator) -> str | None:
    """Some words in a row of a query that has more; None where it has not."""
    words = query.split()
    length = int(rng.integers(FRAGMENT_MIN, FRAGMENT_MAX + 1))
    if len(words) <= length + 1:
        return None
    start = int(rng.integers(0, len(words) - length + 1))
    return " ".join(words[start : start + length])


def varied(lines: list[dict], rng: np.random.Generator) -> list[dict]:
    """The pairs and their variants. One with a typing error says in `right` how it is spelt: the teacher reads that."""
    found = list(lines)
    for line in lines:
        for shares, vary, spelt in ((MISSPELT, misspelt, True), (FRAGMENT, fragment, False)):
            if rng.random() < shares.get(line["kind"], 0) and (query := vary(line["query"], rng)):
                found.append(line | {"query": query} | ({"right": line["query"]} if spelt else {}))
    return found
