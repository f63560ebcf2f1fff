"""Tests of the scenarios of splitters with records of other types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any

from fscontract.contract.pipeline_bindings import FedSplitter, FindingSplitter, Splitter
from fscontract.contract.spec.clauses import select
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from tests.pipeline_checks import check_pipeline

_NAMES = """block_id offset length is_last_block previous_block_id file_path file_name relative_path
file_length is_directory number_of_blocks block_size data_offset block_ids etag modification_time"""


class _Ids:
    """The ids of the blocks of a file: a sequence without the methods that search."""

    def __init__(self, ids: Sequence[int]) -> None:
        self._ids = ids

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, index: int) -> int:
        return self._ids[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids)


def _other(record: Any) -> SimpleNamespace:
    """Return a record as another class, whose paths are objects of pathlib."""
    fields = {name: getattr(record, name) for name in _NAMES.split() if hasattr(record, name)}
    if ":" not in fields["file_path"]:
        fields["file_path"] = PurePosixPath(fields["file_path"])
    if "block_ids" in fields:
        fields["block_ids"] = _Ids(fields["block_ids"])
    return SimpleNamespace(**fields)


def _converted(life: Any) -> Any:
    taken = life.taken
    life.taken = lambda: map(_other, taken())
    return life


class _OtherRecords(LocalSplitterBinding):
    def fed(self, *args: Any) -> FedSplitter:
        life: FedSplitter = _converted(super().fed(*args))
        return life

    def finding(self, *args: Any) -> FindingSplitter:
        life: FindingSplitter = _converted(super().finding(*args))
        return life


def test_records_of_another_class_with_paths_of_pathlib_are_right() -> None:
    result = check_pipeline(_OtherRecords(), select(["splitter"]))
    assert result.conforms, [r.clause.id for r in result.clauses if r.counterexample is not None]


def test_block_that_is_emitted_again_has_its_own_size() -> None:
    """A checkpoint has the last block as not yet emitted: only its place is wrong."""

    class Repeats(LocalSplitterBinding):
        def finding(self, *args: Any) -> FindingSplitter:
            return _RepeatsABlock(super().finding(*args))  # type: ignore[return-value]

    result = check_pipeline(Repeats(), select(["split.block-size", "split.order"]))
    failed = [r.clause.id for r in result.clauses if r.counterexample is not None]
    assert failed == ["split.order"]


class _RepeatsABlock:
    """A splitter that emits the second block of each window twice."""

    def __init__(self, life: Splitter) -> None:
        self._life = life

    def __getattr__(self, name: str) -> Any:
        return getattr(self._life, name)

    def taken(self) -> list[Any]:
        records = list(self._life.taken())
        blocks = [record for record in records if hasattr(record, "block_id")]
        at = records.index(blocks[1]) if len(blocks) > 1 else 0
        return [*records[: at + 1], *records[at:]] if at else records
