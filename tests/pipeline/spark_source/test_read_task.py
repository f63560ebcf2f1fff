"""Tests that Arrow rows equal the records of the block reader."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.spark import executor_reads
from fscontract.pipeline.spark_source.errors import SourceException
from fscontract.pipeline.spark_source.filters import Condition
from fscontract.pipeline.spark_source.input_files import find_files
from fscontract.pipeline.spark_source.options import COLUMNS
from fscontract.pipeline.spark_source.planning import BlockRun, BlocksPartition, Packing, plan_infos
from fscontract.pipeline.spark_source.read_task import ReadPlan, read_partition, read_runs
from fscontract.pipeline.spark_source.request import ReadRequest
from tests.pipeline.spark_source.support import PIECES, unsplit, write

OVER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def rows(
    path: str,
    columns: tuple[str, ...] = COLUMNS,
    conditions: tuple[Condition, ...] = (),
    **options: Any,
) -> list[dict[str, Any]]:
    """Return the rows that a task would send for a file."""
    return [row for batch in batches(path, columns, conditions, **options) for row in batch]


def batches(
    path: str, columns: tuple[str, ...], conditions: tuple[Condition, ...] = (), **options: Any
) -> list[list[dict[str, Any]]]:
    """Return the same rows by batch."""
    plan, runs = planned(path, columns, conditions, **options)
    return [batch.to_pylist() for batch in read_runs(plan, runs)]


def planned(
    path: str,
    columns: tuple[str, ...] = COLUMNS,
    conditions: tuple[Condition, ...] = (),
    **options: Any,
) -> tuple[ReadPlan, Sequence[BlockRun]]:
    """Return the input of a task."""
    options.setdefault("valueType", "binary")
    request = ReadRequest.of({"path": path, **options})
    runs, _ = plan_infos(find_files(LocalFileSystem("/"), request), request, Packing())
    plan = ReadPlan.of(request, columns, [False] * len(columns), request.binary)
    return ReadPlan(**{**vars(plan), "conditions": conditions}), runs


@OVER
@given(
    st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join),
    st.integers(1, 60),
    st.integers(1, 100),
    st.sampled_from([None, b"\n", b"\r\n", b"bc", b"11", b"010"]),
)
def test_lines_are_those_of_the_unsplit_file(
    tmp_path: Path, content: bytes, size: int, buffer: int, delimiter: bytes | None
) -> None:
    """For any blocks, buffer and delimiter; each row has its origin."""
    path = write(tmp_path, "f", content)
    options: dict[str, Any] = {} if delimiter is None else {"delimiterHex": delimiter.hex()}
    found = rows(path, blockSize=str(size), bufferSize=str(buffer), **options)
    assert [(r["value"], r["offset"]) for r in found] == unsplit(path, delimiter=delimiter)
    for row in found:
        start = row["block_id"] * size
        assert row["path"] == path
        assert start < row["offset"] <= start + size or (row["offset"], start) == (0, 0)


@OVER
@given(
    st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join),
    st.sampled_from(["dropBlank", "maxRecordLength", "stripBom"]),
)
def test_options_that_check_records_work_with_regions(
    tmp_path: Path, content: bytes, name: str
) -> None:
    """They split the batches."""
    path = write(tmp_path, "f", content)
    cases: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "dropBlank": ({"dropBlank": "true"}, {"drop_blank": True}),
        "stripBom": ({"stripBom": "false"}, {"strip_bom": False}),
        "maxRecordLength": (
            {"maxRecordLength": "3", "onTooLong": "truncate"},
            {"max_record_length": 3, "on_too_long": "truncate"},
        ),
    }
    options, same = cases[name]
    found = rows(path, blockSize="7", **options)
    assert [(r["value"], r["offset"]) for r in found] == unsplit(path, **same)


@OVER
@given(st.binary(max_size=200), st.integers(1, 70), st.integers(1, 50))
def test_records_of_fixed_width_are_whole(
    tmp_path: Path, content: bytes, size: int, length: int
) -> None:
    """For any blocks."""
    path = write(tmp_path, "f", content)
    found = rows(path, reader="records", recordLength=str(length), blockSize=str(size))
    pieces = [(content[i : i + length], i) for i in range(0, len(content), length)]
    assert [(r["value"], r["offset"]) for r in found] == pieces


def test_default_block_size_does_not_cut_slices(tmp_path: Path) -> None:
    """The default block size consists of whole slices."""
    path = write(tmp_path, "f", bytes(10_000_000))
    found = rows(path, ("offset",), reader="slices", sliceSize="3000000")
    assert [r["offset"] for r in found] == [0, 3_000_000, 6_000_000, 9_000_000]
    cut = rows(path, ("offset",), reader="slices", sliceSize="3000000", blockSize="5000000")
    assert [r["offset"] for r in cut] == [0, 3_000_000, 5_000_000, 8_000_000]


def test_any_columns_in_any_order(tmp_path: Path) -> None:
    """Without the others."""
    path = write(tmp_path, "f", b"a\nbc\n")
    assert rows(path, ("offset", "value")) == [
        {"offset": 0, "value": b"a"},
        {"offset": 2, "value": b"bc"},
    ]
    assert rows(path, ("block_id",)) == [{"block_id": 0}, {"block_id": 0}]
    assert rows(path, ()) == [{}, {}]


def test_invalid_text_bytes_are_kept(tmp_path: Path) -> None:
    """As in Spark's own reader."""
    path = write(tmp_path, "f", "ä\n".encode())
    assert rows(path, ("value",), valueType="string") == [{"value": "ä"}]


def test_compressed_files_are_one_block(tmp_path: Path) -> None:
    """By suffix, or by option."""
    import gzip

    lines = b"".join(b"line %d\n" % i for i in range(1000))
    path = write(tmp_path, "f.gz", gzip.compress(lines))
    found = rows(path, ("value", "block_id"), blockSize="100")
    assert (len(found), {r["block_id"] for r in found}) == (1000, {0})
    raw = rows(path, ("value",), compression="none", delimiterHex="00ff00ff")
    assert raw[0]["value"].startswith(b"\x1f\x8b")


def test_filtered_rows_are_not_sent(tmp_path: Path) -> None:
    """By value and by offset."""
    path = write(tmp_path, "f", b"".join(b"%d\n" % i for i in range(100)))
    wanted = (Condition("value", "eq", b"42"),)
    assert rows(path, ("value",), wanted) == [{"value": b"42"}]
    assert rows(path, ("offset",), (Condition("offset", "lt", 3),)) == [
        {"offset": 0},
        {"offset": 2},
    ]


def test_small_batches_are_combined(tmp_path: Path) -> None:
    """Those of many blocks become one."""
    path = write(tmp_path, "f", b"line\n" * 1000)
    for columns in (("value", "path"), ()):
        (only,) = batches(path, columns, blockSize="50", bufferSize="10")
        assert len(only) == 1000


def test_record_too_long_for_a_value_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its offset, and advice; without the value column it passes."""
    monkeypatch.setattr("fscontract.pipeline.spark_source.read_task.LONGEST", 20)
    path = write(tmp_path, "f", b"short\n" + b"x" * 21 + b"\n")
    with pytest.raises(
        SourceException, match=r"block 0 at offset 6: .*truncate it with option 'maxRecordLength'"
    ):
        rows(path, ("value",), bufferSize="10")
    assert len(rows(path, ("path",), bufferSize="10")) == 2


def test_damaged_file_error_has_block_and_offset(tmp_path: Path) -> None:
    """On one line."""
    path = write(tmp_path, "f.gz", b"no gzip")
    with pytest.raises(SourceException, match=r"block 0 at offset 0: can't decompress.*f\.gz"):
        rows(path)


def test_worker_freezes_loaded_objects_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PySpark collects after each task, and would scan all modules."""
    frozen: list[str] = []
    monkeypatch.setattr(executor_reads, "_warm", False)
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append("once"))
    plan, runs = planned(write(tmp_path, "a", b"a\nb\n"))
    for _ in range(2):
        assert list(read_partition(plan, BlocksPartition(tuple(runs)), None))
    assert frozen == ["once"]
