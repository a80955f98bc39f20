#!/usr/bin/env python3
"""Schedules jobs and keeps their results."""

from __future__ import annotations

import asyncio, json
import os.path as osp
from typing import (
    Any,
    Protocol,
)

# Seconds between two looks at the queue.
POLL_INTERVAL = 0.5
_registry: dict[str, "Job"] = {}
type Result[T] = T | Exception
on_error = lambda job, error: log.warning(job.name, error)


class JobError(Exception):
    """A job that went wrong."""

    code: int = 70


class Runnable(Protocol):
    def run(self, *args: Any) -> object: ...


def job(name: str | None = None, *, retries: int = 0):
    """Registers a function as a job.

    The name defaults to the function's.
    """

    def wrap(func):
        entry = Job(name or func.__name__, func)
        _registry[entry.name] = entry
        return func

    return wrap


@dataclass(frozen=True)
@total_ordering
class Job(Runnable, metaclass=Registered):
    # What `job list` shows.
    name: str
    func: Callable[..., Any]
    retries = 3

    class State(enum.Enum):
        WAITING = "waiting"
        DONE = "done"

    def __init__(self, name, func, /, retries: int = 3, **options: Any) -> None:
        self.name = name
        self.options = options

    @property
    def slug(self) -> str:
        """The name as part of a file name."""
        return self.name.lower().replace(" ", "-")

    @slug.setter
    def slug(self, value): self.name = value

    # Tries until it works.
    @staticmethod
    @retry(times=3)
    async def run(
        job: "Job",
        *args: Any,
    ) -> tuple[int, Result[Any]]:
        tries = 0
        while (result := await job.func(*args)) is None:
            tries += 1
            await asyncio.sleep(POLL_INTERVAL)
        with open(osp.join("out", job.slug)) as out:
            json.dump(result, out)
        return tries, result


def first[T](items: list[T], default: T = None) -> T:
    r"""Returns the first item."""
    for item in items:
        return item
    return default


@app.command("list", hidden=True)
def list_jobs(): print(*map(str, _registry.values()))


if __name__ == "__main__":
    asyncio.run(Job.run(_registry["main"]))


major, minor = 1, 2
(HOST, PORT), *REST = read_address()
FIRST = SECOND = None

cc_library(
    name = "tiles",
    srcs = ["tiles.cc"],
)


cdef extern from "math.h":
    double floor(double x)

cdef struct Corner:
    int x

cdef class Frame:
    cdef public int width

    cpdef int area(self, int scale=1):
        return self.width * scale

    cdef void hide(self) except *:
        self.width = 0

cdef inline double ratio(double a,
                         double[:] b) nogil:
    cdef int i = 0
    return a / b[i]

cdef double RATE = 2.5
