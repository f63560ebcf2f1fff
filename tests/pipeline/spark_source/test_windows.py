"""Tests of Spark's calls of a stream, with failures at every step: micro-batches never change."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from enum import IntEnum
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, ReadMaxFiles

from fscontract.pipeline.blockreader.scaling import ScalingPolicy
from fscontract.pipeline.spark_source import windows
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.planning import BlocksPartition
from fscontract.pipeline.spark_source.source import FsContractDataSource
from fscontract.pipeline.spark_source.streaming import WindowStreamReader
from tests.pipeline.spark_source.support import write


class Failure(Exception):
    """The driver dies."""


class Driver:
    """Drives a stream as Spark does: its logs survive failures, the reader does not."""

    def __init__(self, make: Callable[[], WindowStreamReader]) -> None:
        self.make = make
        self.offsets: list[str] = []
        self.committed = 0
        #: The blocks of each micro-batch, by partition, as first planned.
        self.batches: dict[int, Any] = {}
        self.steps = 0
        self.fails_at: set[int] = set()

    def run(self) -> None:
        """Run micro-batches until all data is read; restart after each failure."""
        while True:
            reader = self.make()
            try:
                self._life(reader)
                return
            except Failure:
                continue
            finally:
                reader.stop()

    def _life(self, reader: WindowStreamReader) -> None:
        reader.prepareForTriggerAvailableNow()
        first = json.dumps(reader.initialOffset())
        assert json.dumps(reader.initialOffset()) == first
        if len(self.offsets) > self.committed:
            self._execute(reader, first)
        while True:
            start = self.offsets[-1] if self.offsets else first
            end = json.dumps(reader.latestOffset(json.loads(start), reader.getDefaultReadLimit()))
            self._step()
            if end == start:
                return
            self.offsets.append(end)
            self._step()
            if len(self.offsets) > 1:
                reader.commit(json.loads(self.offsets[-2]))
            self._step()
            self._execute(reader, first)

    def _execute(self, reader: WindowStreamReader, first: str) -> None:
        start, end = [first, *self.offsets][-2:]
        parts = reader.partitions(json.loads(start), json.loads(end))
        planned = [[list(run.blocks()) for run in part.runs] for part in parts]
        number = len(self.offsets) - 1
        assert self.batches.setdefault(number, planned) == planned
        self._step()
        self.committed += 1
        self._step()

    def _step(self) -> None:
        self.steps += 1
        if self.steps in self.fails_at:
            raise Failure

    def blocks(self) -> list[tuple[str, int, int]]:
        """Return all blocks of all micro-batches."""
        found = [
            b for batch in self.batches.values() for part in batch for run in part for b in run
        ]
        return [(b.file_path, b.offset, b.end) for b in found]


Maker = Callable[..., WindowStreamReader]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Maker]:
    """A factory of stream readers over the directory `in`, which are stopped at the end."""
    made: list[WindowStreamReader] = []
    (tmp_path / "in").mkdir()

    def stream(partitioner: Any = None, **options: str) -> WindowStreamReader:
        given = {"path": str(tmp_path / "in"), "windowLocation": str(tmp_path / "windows")}
        members = {"partitioner": partitioner and staticmethod(partitioner)}
        kind = type("Source", (FsContractDataSource,), members)
        source = kind({**given, "blockSize": "10", **options})
        made.append(source.streamReader(source.schema()))
        return made[-1]

    yield stream
    for reader in made:
        reader.stop()


def _fill(folder: Path, count: int = 7) -> list[tuple[str, int, int]]:
    """Create files of several lengths; return their blocks of 10 bytes."""
    blocks = []
    for number in range(count):
        length = 7 * number
        path = write(folder, f"{number}", bytes(length))
        blocks += [(path, i, min(i + 10, length)) for i in range(0, length, 10)]
    return blocks


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"blocksThreshold": "2"},
        {"maxFilesPerTrigger": "1"},
        {"maxBytesPerTrigger": "25"},
        {"maxBytesPerTrigger": "3", "maxFilesPerTrigger": "2"},
    ],
    ids=str,
)
def test_every_block_is_in_one_batch_after_any_failure(
    tmp_path: Path, make: Maker, limits: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failure at each step in turn, and then at many at random; with checkpoints."""
    monkeypatch.setattr(windows, "FEW_WINDOWS", 2)
    expected = sorted(_fill(tmp_path / "in"))
    chosen = random.Random(3)
    plans: list[set[int]] = [{n} for n in range(1, 90, 4)]
    plans += [set(chosen.sample(range(1, 120), 12)) for _ in range(8)]
    for number, fails_at in enumerate([set(), *plans]):
        location = str(tmp_path / f"windows-{number}")
        driver = Driver(partial(make, windowLocation=location, **limits))
        driver.fails_at = fails_at
        driver.run()
        assert sorted(driver.blocks()) == expected, fails_at


def test_a_batch_keeps_its_blocks_though_files_change_or_vanish(
    tmp_path: Path, make: Maker
) -> None:
    """Length and time are in the window; new data is in a separate batch."""
    first = write(tmp_path / "in", "a", bytes(15))
    gone = write(tmp_path / "in", "b", bytes(5))
    driver = Driver(make)
    driver.fails_at = {2}
    with pytest.raises(Failure):
        driver._life(make())
    write(tmp_path / "in", "a", bytes(30))
    Path(gone).unlink()
    driver.run()
    assert driver.blocks() == [
        (first, 0, 10),
        (first, 10, 15),
        (gone, 0, 5),
        (first, 0, 10),
        (first, 10, 20),
        (first, 20, 30),
    ]
    assert len(driver.batches) == 2


def test_stored_window_unknown_to_spark_is_repeated(tmp_path: Path, make: Maker) -> None:
    """The driver died between the window and Spark's log."""
    write(tmp_path / "in", "a", bytes(5))
    one = make()
    end = one.latestOffset(one.initialOffset(), ReadAllAvailable())
    write(tmp_path / "in", "b", bytes(5))
    two = make()
    assert two.latestOffset(two.initialOffset(), ReadAllAvailable()) == end
    assert two.latestOffset(two.initialOffset(), ReadAllAvailable()) == end
    assert two.latestOffset(end, ReadAllAvailable())["window"] == 2


def test_committed_windows_are_removed(
    tmp_path: Path, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Except what a restart needs, which is less than half."""
    monkeypatch.setattr(windows, "FEW_WINDOWS", 3)
    for number in range(40):
        write(tmp_path / "in", f"{number:02}", b"x")
    driver = Driver(lambda: make(maxFilesPerTrigger="1"))
    driver.run()
    kept = list((tmp_path / "windows" / "00000000").iterdir())
    assert len(driver.batches) == 40
    assert len(kept) < 20
    assert len(list((tmp_path / "windows" / "checkpoints").iterdir())) == 2
    write(tmp_path / "in", "new", b"y")
    driver.run()
    assert driver.blocks()[40:] == [(str(tmp_path / "in" / "new"), 0, 1)]


def test_a_torn_checkpoint_is_passed_over(
    tmp_path: Path, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The previous one is used, and the windows after it."""
    monkeypatch.setattr(windows, "FEW_WINDOWS", 2)
    for number in range(12):
        write(tmp_path / "in", f"{number:02}", b"x")
    driver = Driver(lambda: make(maxFilesPerTrigger="1"))
    driver.run()
    last = max((tmp_path / "windows" / "checkpoints").iterdir())
    last.write_bytes(last.read_bytes()[:50])
    write(tmp_path / "in", "new", b"y")
    driver.run()
    assert len(driver.blocks()) == 13


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({}, ReadAllAvailable()),
        ({"maxFilesPerTrigger": "3", "maxBytesPerTrigger": "9"}, ReadMaxFiles(3)),
        ({"maxBytesPerTrigger": "9", "blocksThreshold": "2"}, ReadMaxBytes(9)),
        ({"blocksThreshold": "2", "blockSize": "10"}, ReadMaxBytes(20)),
    ],
    ids=str,
)
def test_spark_gets_the_first_limit(make: Maker, options: dict[str, str], limit: Any) -> None:
    """Spark has no limit with several parts."""
    assert make(**options).getDefaultReadLimit() == limit


def test_all_that_is_available_is_more_than_any_limit(tmp_path: Path, make: Maker) -> None:
    """For `Trigger.Once`."""
    _fill(tmp_path / "in")
    reader = make(blocksThreshold="1")
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    assert (end["window"], end["blocks"], end["bytes"], end["files"]) == (1, 18, 147, 6)


def test_directories_and_empty_files_make_no_batch(tmp_path: Path, make: Maker) -> None:
    """They are in the window of the next block."""
    write(tmp_path / "in", "sub/empty", b"")
    reader = make()
    start = reader.initialOffset()
    assert reader.latestOffset(start, ReadAllAvailable()) == start
    write(tmp_path / "in", "sub/full", b"x")
    reader.log.splitter.scanner.trigger()
    assert reader.latestOffset(start, ReadAllAvailable())["blocks"] == 1


def test_scan_on_trigger_finds_a_new_file_before_the_next_interval(
    tmp_path: Path, make: Maker
) -> None:
    write(tmp_path / "in", "empty", b"")
    reader = make(scanOnTrigger="true")
    start = reader.initialOffset()
    assert reader.latestOffset(start, ReadAllAvailable()) == start
    write(tmp_path / "in", "full", b"x")
    assert reader.latestOffset(start, ReadAllAvailable())["blocks"] == 1
    told = reader.reportLatestOffset()
    assert told is not None
    assert told["scans"] >= 2


def test_progress_shows_the_backlog(tmp_path: Path, make: Maker) -> None:
    """Files and blocks after the last window, and missing inputs."""
    _fill(tmp_path / "in")
    paths = json.dumps([str(tmp_path / "in"), str(tmp_path / "none")])
    reader = make(path="", paths=paths, maxFilesPerTrigger="2")
    assert reader.reportLatestOffset() is None
    end = reader.latestOffset(reader.initialOffset(), reader.getDefaultReadLimit())
    told = reader.reportLatestOffset()
    assert told is not None
    assert (end["window"], told["window"]) == (1, 1)
    assert (told["waitingFiles"], told["waitingBlocks"]) == (4, 15)
    assert told["notices"] == [f"input not found: '{tmp_path / 'none'}'"]


def test_a_directory_of_windows_belongs_to_one_checkpoint(tmp_path: Path, make: Maker) -> None:
    """Another one is rejected, and so is an outdated one."""
    write(tmp_path / "in", "a", b"x")
    one = make()
    end = one.latestOffset(one.initialOffset(), ReadAllAvailable())
    other = make(windowLocation=str(tmp_path / "other"))
    with pytest.raises(SourceException, match="checkpoint does not belong to"):
        other.latestOffset(end, ReadAllAvailable())
    ahead = {**end, "window": 9}
    with pytest.raises(SourceException, match=r"window 9 is missing in .*, whose last window is"):
        one.latestOffset(ahead, ReadAllAvailable())
    with pytest.raises(SourceException, match="window 2 is missing in"):
        one.partitions(end, ahead)


def test_two_queries_do_not_share_windows(tmp_path: Path, make: Maker) -> None:
    """The second one fails when it writes."""
    write(tmp_path / "in", "a", b"x")
    one, two = make(), make()
    start = two.initialOffset()
    one.latestOffset(one.initialOffset(), ReadAllAvailable())
    with pytest.raises(SourceException, match="exists"):
        two.latestOffset(start, ReadAllAvailable())


def test_windows_below_an_input_would_be_read(tmp_path: Path, make: Maker) -> None:
    """So they are rejected."""
    with pytest.raises(SourceException, match="would be found as input in"):
        make(windowLocation=str(tmp_path / "in" / "windows")).initialOffset()


def test_a_stream_takes_no_patterns(tmp_path: Path, make: Maker) -> None:
    """Its matches would be determined only once."""
    with pytest.raises(SourceException, match="glob pattern not supported for a str"):
        make(path=str(tmp_path / "*.log")).initialOffset()
    write(tmp_path, "a[1].log", b"x")
    reader = make(path=str(tmp_path / "a[1].log"))
    assert reader.latestOffset(reader.initialOffset(), ReadAllAvailable())["blocks"] == 1


def test_partitions_follow_the_blocks_within_their_bounds(tmp_path: Path, make: Maker) -> None:
    """The backlog decides once per interval; a batch has at most one partition per block."""
    write(tmp_path / "in", "a", bytes(1000))
    reader = make(blocksThreshold="6", minPartitions="3", maxPartitions="5")
    start = reader.initialOffset()
    end = reader.latestOffset(start, reader.getDefaultReadLimit())
    parts = reader.partitions(start, end)
    assert end["partitions"] == len(parts) == 5
    assert all(isinstance(part, BlocksPartition) for part in parts)


def _counts(reader: WindowStreamReader, backlogs: list[int]) -> list[int]:
    """Return the partitions of micro-batches that start with these backlogs, in blocks."""
    folder, made, counts = Path(reader.request.paths[0]), 0, []
    end = reader.initialOffset()
    for backlog in backlogs:
        waiting = (reader.reportLatestOffset() or {}).get("waitingBlocks", 0)
        for _ in range(backlog - waiting):
            write(folder, f"{made:04}", b"x")
            made += 1
        end = reader.latestOffset(end, reader.getDefaultReadLimit())
        counts.append(end["partitions"])
    return counts


GROWS_AND_SHRINKS = [3, 20, 12, 4, 3]


def test_partitions_grow_and_shrink_with_the_backlog(make: Maker) -> None:
    """Each micro-batch but two has as many blocks as allowed."""
    options = {"blocksThreshold": "8", "maxPartitions": "8", "scalingInterval": "0.001"}
    assert _counts(make(scanOnTrigger="true", **options), GROWS_AND_SHRINKS) == [2, 8, 8, 4, 2]


def test_without_stats_the_number_of_partitions_is_constant(make: Maker) -> None:
    options = {"blocksThreshold": "8", "minPartitions": "3", "scalingInterval": "0.001"}
    reader = make(scanOnTrigger="true", collectStats="false", **options)
    assert _counts(reader, GROWS_AND_SHRINKS) == [3, 3, 3, 3, 3]


class OnePartitionPerThreeBlocks:
    """A partitioner with another rule, within the bounds of the options."""

    def __init__(self, policy: ScalingPolicy) -> None:
        self._most = policy.max_readers

    def partitions(self, backlog: int) -> int:
        """Return a third of the backlog."""
        return min(self._most, -(-backlog // 3))


class Size(IntEnum):
    """Sizes of a cluster."""

    SMALL = 2


def test_partitioner_may_return_an_integer_of_another_type(make: Maker) -> None:
    class Named(OnePartitionPerThreeBlocks):
        def partitions(self, backlog: int) -> Any:
            return Size(super().partitions(backlog))

    reader = make(Named, scanOnTrigger="true")
    (count,) = _counts(reader, [6])
    assert (count, type(count)) == (2, int)


def test_another_partitioner_decides(make: Maker) -> None:
    """It gets the bounds of the stream's options."""
    options = {"scanOnTrigger": "true", "blocksThreshold": "8", "maxPartitions": "5"}
    reader = make(OnePartitionPerThreeBlocks, **options)
    assert _counts(reader, GROWS_AND_SHRINKS) == [1, 5, 4, 2, 1]


@pytest.mark.parametrize("count", [0, -1, 2.0, None, True])
def test_partitioner_with_an_invalid_result_is_named(make: Maker, count: Any) -> None:
    class Broken:
        def __init__(self, policy: ScalingPolicy) -> None:
            pass

        def partitions(self, backlog: int) -> Any:
            return count

    reader = make(Broken, scanOnTrigger="true")
    with pytest.raises(SourceException, match=f"partitions by Broken: {count}; must be an integer"):
        _counts(reader, [1])


def test_a_reader_that_is_sent_has_no_windows(tmp_path: Path, make: Maker) -> None:
    """It reads, but does not plan."""
    import pickle

    write(tmp_path / "in", "a", b"one\ntwo\n")
    reader = make()
    start = reader.initialOffset()
    end = reader.latestOffset(start, ReadAllAvailable())
    (part,) = reader.partitions(start, end)
    sent = pickle.loads(pickle.dumps(reader))
    (batch,) = sent.read(pickle.loads(pickle.dumps(part)))
    assert batch.column(0).to_pylist() == ["one", "two"]
    assert sent.reportLatestOffset() is None
