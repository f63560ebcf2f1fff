"""Implementations conform if the documents permit what they do, however unusual it is."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest

from fscontract import check
from fscontract.contract.pipeline_bindings import (
    BlockReaderBinding,
    MetadataTableBinding,
    SplitterBinding,
)
from fscontract.contract.runner.result import VIOLATED, RunResult
from tests.samples import sampled
from tests.unusual import files, filesystems, readers, splitters, streams, tables

#: The seconds of a run without failures, and of one whose inherited failures have to be shrunk.
_BUDGET, _BUDGET_TO_SHRINK = 0.8, 5.0
#: The seconds of a run of each effort, in which each phase has a part.
_BUDGETS = {"normal": 20.0, "deep": 60.0}


def _failures(result: RunResult) -> list[str]:
    failing = (c for c in result.clauses if c.outcome in VIOLATED)
    return [f"{c.clause.id}: {c.counterexample}" for c in failing]


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("stream", sampled(2, streams.ALL, attrgetter("__name__")))
def test_a_stream_conforms(stream: type[streams.Plain]) -> None:
    result = check(streams.target(stream), budget=_BUDGET)
    assert (_failures(result), result.conforms) == ([], True)


@pytest.mark.parametrize(
    ("opened", "built"),
    [
        (streams.Plain, streams.SeeksAnywhere),
        (streams.SeeksAnywhere, streams.Plain),
    ],
)
def test_streams_of_open_and_of_a_builder_may_differ_in_seeks_past_the_end(
    opened: type[streams.Plain], built: type[streams.Plain]
) -> None:
    """As those of a filesystem that wraps another and overrides open() alone."""
    filesystem = streams.target(opened)
    inner = streams.target(built)
    inner.files = filesystem.files
    filesystem.open_file = inner.open_file
    result = check(filesystem, clauses="open.*", budget=_BUDGET)
    assert (_failures(result), result.conforms) == ([], True)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("opens", files.ALL)
def test_a_binary_file_conforms(opens: Callable[[str], Any]) -> None:
    result = check(files.target(opens), budget=_BUDGET)
    assert (_failures(result), result.conforms) == ([], True)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("filesystem", sampled(2, filesystems.ALL, attrgetter("__name__")))
def test_an_fsspec_filesystem_conforms(filesystem: type[Any]) -> None:
    result = check(filesystems.target(filesystem), budget=_BUDGET_TO_SHRINK)
    assert (_failures(result), result.conforms) == ([], True)


@pytest.mark.deep
@pytest.mark.parametrize("effort", ["normal", "deep"])
@pytest.mark.parametrize(
    "target",
    [
        *(pytest.param((streams.target, one), id=one.__name__) for one in streams.ALL),
        *(pytest.param((files.target, one), id=one.__name__) for one in files.ALL),
        *(pytest.param((filesystems.target, one), id=one.__name__) for one in filesystems.ALL),
    ],
)
def test_it_conforms_however_much_is_tried(
    target: tuple[Callable[[Any], Any], Any], effort: str
) -> None:
    make, unusual = target
    result = check(make(unusual), effort=effort, budget=_BUDGETS[effort])
    assert (_failures(result), result.conforms) == ([], True)


def test_there_are_enough_of_them() -> None:
    assert len(streams.ALL) + len(files.ALL) + len(filesystems.ALL) >= 60


@pytest.mark.parametrize("splitter", splitters.ALL, ids=lambda splitter: splitter.name)
def test_a_splitter_conforms(splitter: SplitterBinding) -> None:
    result = check(splitter)
    assert (_failures(result), result.conforms) == ([], True)


@pytest.mark.parametrize(
    "reader",
    [*readers.ALL, *(pytest.param(slow, marks=pytest.mark.deep) for slow in readers.SLOW)],
    ids=lambda reader: reader.name,
)
def test_a_block_reader_conforms(reader: BlockReaderBinding) -> None:
    result = check(reader)
    assert (_failures(result), result.conforms) == ([], True)


@pytest.mark.parametrize("table", sampled(2, tables.ALL, attrgetter("name")))
def test_a_metadata_table_conforms(table: MetadataTableBinding) -> None:
    result = check(table)
    assert (_failures(result), result.conforms) == ([], True)
