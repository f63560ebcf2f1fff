"""Blocks that are read by tasks of Spark, a job for a few at a time; their records in order."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from fscontract.contract.errors import IllegalArgumentException
from fscontract.implementations.spark.failures import Failure, error_of, failure_of
from fscontract.implementations.spark.places import Place, S3Place
from fscontract.implementations.spark.session import local_session
from fscontract.implementations.spark.tasks import Tasks, tasks_of
from fscontract.implementations.spark.worker import FILESYSTEMS
from fscontract.pipeline.blockreader.batches import RecordBatch
from fscontract.pipeline.blocks import FileBlockMetadata
from fscontract.pipeline.commands.plan import Plan
from fscontract.pipeline.commands.records import Found, Reading, read_block

#: A task reads blocks of about so many bytes in all, at least one, and at most so many.
_TASK_BYTES = 16 << 20
_TASK_BLOCKS = 1000
#: Jobs that run while the records of another one are printed.
_AHEAD = 1
#: What a driver needs whose tasks send it whole blocks.
_SETTINGS = {"spark.driver.memory": "2g", "spark.driver.maxResultSize": "0"}
_LOCAL = re.compile(r"local(\[[\w*, ]+\])?|local-cluster\[[\d, ]+\]")

#: Of each `Found`: the block's place in the task, count, bytes, the records and their offsets.
_Row: TypeAlias = tuple[int, int, int, list[bytes] | None, list[int] | None]


@dataclass(frozen=True)
class _Task:
    """Blocks that follow each other, and what is wanted of them."""

    place: Place
    reading: Reading
    blocks: tuple[FileBlockMetadata, ...]
    records: bool
    offsets: bool


@contextmanager
def spark_tasks(master: str, places: Iterable[Place]) -> Iterator[Tasks]:
    """A session on this machine for what is in some places; TargetError if it can't be started.

    IllegalArgumentException for a cluster: sessions there are not ours to make.
    """
    if not _LOCAL.fullmatch(master):
        raise IllegalArgumentException(
            f"--spark is local, local[N] or local-cluster[N,C,M], not {master!r:.80};"
            " on a cluster, use the data source"
        )
    with ExitStack() as stack:
        # In a thread, whose conversations with the Java machine no interrupt breaks off: there
        # PySpark does not replace the handler of interrupts, which would begin one, either.
        with ThreadPoolExecutor(1) as starter:
            session = local_session(master, _SETTINGS, _keys(places))
            tasks = tasks_of(starter.submit(stack.enter_context, session).result())
        stack.callback(tasks.close)
        yield tasks


def read_on_spark(
    tasks: Tasks, plan: Plan, reading: Reading, records: bool = True, offsets: bool = False
) -> Iterator[Found]:
    """What `read_plan` gives; offsets, and records themselves, only if they are wanted."""
    for part in plan.parts():
        blocks = (item for item in part.items if isinstance(item, FileBlockMetadata))
        todo = (_Task(part.place, reading, run, records, offsets) for run in _runs(blocks))
        jobs: deque[tuple[list[_Task], Future[list[tuple[list[_Row], Failure | None]]]]] = deque()
        while True:
            job = list(islice(todo, tasks.parallelism))
            if job:
                jobs.append((job, tasks.submit(_run, job, len(job))))
            if not jobs:
                break
            if not job or len(jobs) > _AHEAD:
                done, future = jobs.popleft()
                for task, (rows, failure) in zip(done, future.result(), strict=True):
                    yield from (_found(task, row) for row in rows)
                    if failure is not None:
                        raise error_of(failure)


def _keys(places: Iterable[Place]) -> Mapping[str, str]:
    """The keys of S3 that options gave: executors find them in their environment."""
    found: dict[str, str | None] = {}
    for place in places:
        if isinstance(place, S3Place):
            keys = place.config.credentials
            found["AWS_ACCESS_KEY_ID"] = keys.access_key
            found["AWS_SECRET_ACCESS_KEY"] = keys.secret_key
            found["AWS_SESSION_TOKEN"] = keys.session_token
    return {name: value for name, value in found.items() if value is not None}


def _runs(blocks: Iterable[FileBlockMetadata]) -> Iterator[tuple[FileBlockMetadata, ...]]:
    run: list[FileBlockMetadata] = []
    size = 0
    for block in blocks:
        run.append(block)
        size += block.size
        if size >= _TASK_BYTES or len(run) >= _TASK_BLOCKS:
            yield tuple(run)
            run, size = [], 0
    if run:
        yield tuple(run)


def _run(task: _Task) -> tuple[list[_Row], Failure | None]:
    """What a task finds, and how it ended before its end."""
    rows: list[_Row] = []
    with FILESYSTEMS.lease(task.place) as filesystem, task.reading.open(filesystem) as reader:
        try:
            for number, block in enumerate(task.blocks):
                for found in read_block(reader, block):
                    batch = found.batch
                    records = batch.records if batch is not None and task.records else None
                    offsets = list(batch.offsets) if batch is not None and task.offsets else None
                    rows.append((number, found.records, found.bytes, records, offsets))
        except OSError as error:
            return rows, failure_of(error)
    return rows, None


def _found(task: _Task, row: _Row) -> Found:
    number, count, used, records, offsets = row
    block = task.blocks[number]
    if records is None:
        return Found(block, count, used)
    return Found(block, count, used, RecordBatch(block.block_id, records, 0, 0, 0, b"", offsets))
