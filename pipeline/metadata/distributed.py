"""Listing a dataset by tasks of Spark, for the first metadata table of one with many partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from fscontract.contract.ports import FileSystem
from fscontract.implementations.spark.places import Place, place_of
from fscontract.implementations.spark.tasks import Tasks, tasks_of
from fscontract.implementations.spark.worker import FILESYSTEMS
from fscontract.pipeline.metadata.changes import Sizes
from fscontract.pipeline.metadata.listing import files_below, list_level, sizes_of

#: Directories are shared out as so many parts for each task that runs at a time.
_SHARE = 4


def spark_lister(spark: Any) -> Callable[[FileSystem, str], Sizes]:
    """A `lister` for `MetadataWriter.initialize`: the executors of a session list the dataset.

    They have to see the filesystem: a local one at the same path, or a bucket.
    """

    def lister(fs: FileSystem, path: str) -> Sizes:
        tasks = tasks_of(spark)
        try:
            return listing_by(tasks, fs, path)
        finally:
            tasks.close()

    return lister


def listing_by(
    tasks: Tasks, fs: FileSystem, path: str, progress: Callable[[int, int], None] | None = None
) -> dict[str, dict[str, int]]:
    """What `listing` gives, by one job.

    Directories are listed here until there are enough for all tasks; those and what is below them
    are listed there. ExecutorException if the job fails.
    """
    wanted = _SHARE * tasks.parallelism
    waiting: Sequence[str] = [""]
    sizes: dict[str, dict[str, int]] = {}
    while waiting and len(waiting) < wanted:
        found, waiting = list_level(fs, path, waiting)
        sizes |= sizes_of(found)
    if waiting:
        bounds = [len(waiting) * part // wanted for part in range(wanted + 1)]
        parts = [waiting[start:stop] for start, stop in pairwise(bounds)]
        for listed in tasks.map(partial(_list_below, place_of(fs), path), parts, wanted):
            sizes |= listed
    if progress is not None:
        progress(len(sizes), sum(map(len, sizes.values())))
    return sizes


def _list_below(place: Place, path: str, directories: Sequence[str]) -> dict[str, dict[str, int]]:
    """What a task does: list directories and all below them."""
    with FILESYSTEMS.lease(place) as fs:
        return sizes_of(files_below(fs, path, directories=directories))
