"""How far a training is that ends by the clock, as a device is lent by the minute."""

import dataclasses
import time

# Batches that are drawn ahead for a second; a device that is faster sees the first ones again.
BATCHES_A_SECOND = 60


@dataclasses.dataclass
class Clock:
    seconds: float
    # After which it ends earlier.
    steps: int | None = None
    started: float = 0.0

    def start(self) -> None:
        self.started = time.time()

    def spent(self) -> float:
        return time.time() - self.started

    def progress(self, step: int) -> float:
        """From 0 to 1 and beyond."""
        return max(self.spent() / self.seconds, step / self.steps if self.steps else 0.0)

    @property
    def batches(self) -> int:
        """How many to draw ahead."""
        ahead = max(1, int(self.seconds * BATCHES_A_SECOND))
        return min(ahead, self.steps) if self.steps else ahead
