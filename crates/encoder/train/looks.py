"""Looks at the held-out repositories while training: what was seen, and when to stop."""

import json
from pathlib import Path

from files import write_text

LOG = "log.jsonl"


class Looks:
    """What was seen at each look, the first first: dictionaries with `step` and `held_out` (higher is better)."""

    def __init__(self, seen: list[dict] = ()):
        self.seen = list(seen)

    @staticmethod
    def read(run: Path) -> "Looks":
        return Looks(json.loads(line) for line in (run / LOG).read_text().splitlines())

    def write(self, run: Path) -> None:
        write_text(run / LOG, "".join(json.dumps(look) + "\n" for look in self.seen))

    def best(self) -> int:
        """Step of the best look; of equal ones the earliest."""
        return max(self.seen, key=lambda look: look["held_out"])["step"]

    def exhausted(self, patience: int) -> bool:
        """Whether the last `patience` looks were no better than one before them."""
        if not self.seen:
            return False
        best = self.best()
        return sum(look["step"] > best for look in self.seen) >= patience
