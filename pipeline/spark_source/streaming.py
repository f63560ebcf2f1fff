"""Data source as a stream: offsets are window numbers, and partitions follow the backlog."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, NoReturn, TypeAlias

from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from fscontract.contract.api.filesystem import FileStatus
from fscontract.pipeline.blockreader.scaling import (
    Partitioner,
    ScalingPartitioner,
    ScalingPolicy,
)
from fscontract.pipeline.spark_source.errors import SourceException, one_line, raise_in_one_line
from fscontract.pipeline.spark_source.planning import BlocksPartition, spread
from fscontract.pipeline.spark_source.read_task import ReadPlan, read_partition
from fscontract.pipeline.spark_source.request import ReadRequest
from fscontract.pipeline.spark_source.windows import UNLIMITED, WindowLimits, WindowLog

#: Creates the partitioner of one stream, from the bounds in its options.
MakePartitioner: TypeAlias = Callable[[ScalingPolicy], Partitioner]


def policy_of(request: ReadRequest) -> ScalingPolicy:
    """Return the bounds of the number of partitions in the options."""
    values = request.values
    return ScalingPolicy(
        values["minPartitions"],
        values["maxPartitions"],
        values["scalingInterval"],
        values["collectStats"],
    )


def partition_count(partitioner: Partitioner, backlog: int) -> int:
    """Return the number of partitions for a backlog in blocks; raise SourceException."""
    count: Any = partitioner.partitions(backlog)
    if isinstance(count, bool) or not isinstance(count, Integral) or count < 1:
        raise SourceException(
            f"invalid number of partitions by {type(partitioner).__name__}: {count!r:.40}; must be "
            "an integer of at least 1"
        )
    return int(count)


#: State of a micro-batch that Spark stores, and shows in the progress of a query.
Offset: TypeAlias = dict[str, Any]


class WindowStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    """Plans micro-batches in one process, which opens the windows on first use.

    Each window is one micro-batch. It is stored before Spark receives it, with the length and time
    of its files, so that a repeated micro-batch has the same blocks.
    """

    def __init__(
        self,
        request: ReadRequest,
        plan: ReadPlan,
        report: Any,
        make_partitioner: MakePartitioner = ScalingPartitioner,
    ) -> None:
        self.request = request
        self.plan = plan
        self.report = report
        self._log: WindowLog | None = None
        self._make_partitioner = make_partitioner
        self._partitioner: Partitioner | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without parts of the planning process."""
        return {**self.__dict__, "_log": None, "_partitioner": None}

    @property
    def log(self) -> WindowLog:
        """Windows, opened in this process."""
        if self._log is None:
            self._log = WindowLog(self.request)
        return self._log

    @property
    def partitioner(self) -> Partitioner:
        """Partitioner, created in this process."""
        if self._partitioner is None:
            self._partitioner = self._make_partitioner(policy_of(self.request))
        return self._partitioner

    def initialOffset(self) -> Offset:  # noqa: N802 - as all names of Spark here
        """Return the offset before the first window."""
        with one_line():
            return {"stream": self.log.identity.name(), "window": 0}

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        """Return the first limit of the options; the other limits apply, too."""
        limits = WindowLimits.of(self.request)
        if limits.files < UNLIMITED:
            return ReadMaxFiles(limits.files)
        if limits.bytes < UNLIMITED:
            return ReadMaxBytes(limits.bytes)
        if limits.blocks < UNLIMITED:
            size = self.request.values["blockSize"] or FileStatus("", 0).block_size
            return ReadMaxBytes(limits.blocks * size)
        return ReadAllAvailable()

    def latestOffset(self, start: Offset, limit: Any) -> Offset:  # noqa: N802
        """Return the end of the next window; `start` without new data.

        A window that was stored, but not recorded by Spark, is returned again unchanged.
        """
        with one_line():
            log = self.log
            number = log.identity.check(start)
            if number > log.last:
                log.runs(number - 1, number)  # raises if the window is missing
            everything = isinstance(limit, ReadAllAvailable)
            if number == log.last:
                limits = WindowLimits() if everything else WindowLimits.of(self.request)
                if not log.advance(limits):
                    return start
            return self._offset(number + 1)

    def _offset(self, number: int) -> Offset:
        """Return the end of a window."""
        runs = self.log.runs(number - 1, number)
        blocks = sum(map(len, runs))
        waiting = self.log.splitter.blocks_waiting()
        return {
            "stream": self.log.identity.name(),
            "window": number,
            "files": len({run.file.first_block_id for run in runs}),
            "blocks": blocks,
            "bytes": sum(run.size for run in runs),
            "partitions": min(blocks, partition_count(self.partitioner, blocks + waiting)),
        }

    def reportLatestOffset(self) -> Offset | None:  # noqa: N802
        """Return the backlog after the last window, for the progress of the query."""
        if self._log is None:
            return None
        scanner = self.log.splitter.scanner
        return {
            "stream": self.log.identity.name(),
            "window": self.log.last,
            "scans": scanner.scans,
            "waitingFiles": len(scanner.waiting()),
            "waitingBlocks": self.log.splitter.blocks_waiting(),
            "notices": list(self.log.missing),
        }

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Restrict this run of the query to the files that exist now."""
        with one_line():
            self.log.freeze()

    def partitions(self, start: Offset, end: Offset) -> list[Any]:
        """Return the blocks of a micro-batch; the same offsets give the same partitions."""
        with one_line():
            identity = self.log.identity
            runs = self.log.runs(identity.check(start), identity.check(end))
            if not runs:
                raise SourceException(f"invalid offsets: no blocks from {start} to {end}")
            return [BlocksPartition(part) for part in spread(runs, max(1, end["partitions"]))]

    def read(self, partition: Any) -> Iterator[Any]:
        """Return the rows of a partition as Arrow batches."""
        return read_partition(self.plan, partition, self.report)

    def commit(self, end: Offset) -> None:
        """Mark windows up to this one as complete: they will not be repeated."""
        with one_line():
            self.log.commit(self.log.identity.check(end))

    def stop(self) -> None:
        """Stop the scanner."""
        if self._log is not None:
            self._log.close()


class RefusedStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    """Raises the reason for a missing stream in the first method that Spark calls.

    PySpark loses exceptions of `streamReader`.
    """

    def __init__(self, error: SourceException) -> None:
        self.error = error

    def getDefaultReadLimit(self) -> Any:  # noqa: N802
        """Return no limit."""
        return ReadAllAvailable()

    def _refuse(self, *_: Any) -> NoReturn:
        raise_in_one_line(self.error)

    initialOffset = latestOffset = prepareForTriggerAvailableNow = _refuse  # noqa: N815
    partitions = read = _refuse
