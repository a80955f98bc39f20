"""Bulk indexing: every repository of a file, a task each, by Ray Data."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import ray

from .config import Config
from .indexes import Built, build


def build_all(config: Config) -> Iterator[Built]:
    """Brings the bucket's index of each repository to its branch, on all nodes; gives what came of each as it is done."""

    def task(row: dict[str, Any]) -> dict[str, Any]:
        return asdict(build(config, config.repository(row["name"])))

    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = [{"name": one.name} for one in config.repositories]
    dataset = ray.data.from_items(rows, override_num_blocks=len(rows)).map(task, num_cpus=config.build_cpus)
    for row in dataset.iter_rows():
        yield Built(**row)
