"""Scenarios of the index of record keys: built, kept up to date, and left by dead writers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress

from fscontract.contract.pipeline_bindings import CheckedWriter, TableChange
from fscontract.contract.scenarios.instrumented_filesystem import DEATHS, Killed
from fscontract.contract.scenarios.metadata_table.harness import A, B, TableHarness
from fscontract.contract.scenarios.scenario import Scenarios

scenario = Scenarios[TableHarness]()

#: The keys of file groups, by partition and number.
_Content = Mapping[tuple[str, int], Sequence[str]]
#: Keys that differ in case, white space, zeros or the form of an accent.
_SIMILAR = ("A", " a", "7", "07", "\xe9", "e\u0301")
_START: _Content = {(A, 1): ("a", "b", "c", *_SIMILAR[::2]), (B, 2): ("d", "e", *_SIMILAR[1::2])}
#: A commit that inserts x, deletes c and some others, and moves b to another partition.
_LATER: _Content = {(A, 1): ("a", "x", "A"), (B, 2): ("b", "d", "e", " a", "e\u0301")}
_ABSENT = "z"


def _commit(harness: TableHarness, writer: CheckedWriter, content: _Content) -> None:
    """Commit a file with these keys in each file group."""
    time = harness.begin(writer)
    added: dict[str, dict[str, int]] = {}
    for (partition, group), keys in content.items():
        name, size = harness.binding.put_rows(harness.fs.inner, partition, group, time, keys)
        added.setdefault(partition, {})[name] = size
    with harness.model.perhaps(lambda: harness.model.complete(time, added, None)):
        writer.finish(time, TableChange(added))


def _table(harness: TableHarness) -> CheckedWriter:
    """Return the writer of a table with rows, and without an index."""
    writer = harness.table({})
    _commit(harness, writer, _START)
    return writer


def _located(harness: TableHarness) -> dict[str, tuple[str, int]]:
    """Return the location of each key that a reader finds."""
    with closing(harness.reader()) as reader:
        return dict(reader.locate([*"abcdex", *_SIMILAR, _ABSENT]))


def _expected(content: _Content) -> dict[str, tuple[str, int]]:
    return {key: group for group, keys in content.items() for key in keys}


@scenario("metadata.record-index")
def record_index_built(harness: TableHarness) -> None:
    """The index is added to a table with rows, and built anew."""
    writer = _table(harness)
    for when in ("added", "built anew"):
        writer.create_record_index()
        harness.expect(_located(harness), _expected(_START), f"locations of keys, {when}")


@scenario("metadata.record-index")
def record_index_updated(harness: TableHarness) -> None:
    """A commit inserts, deletes and moves rows; the table is compacted afterwards."""
    writer = _table(harness)
    writer.create_record_index()
    _commit(harness, writer, _LATER)
    for when in ("after a commit", "after a compaction"):
        harness.expect(_located(harness), _expected(_LATER), f"locations of keys, {when}")
        writer.compact()


@scenario("metadata.record-index")
def record_index_dies(harness: TableHarness) -> None:
    """A writer dies at each write of a commit; the next writer commits, too."""
    for number in range(1, 40):
        harness.reset()
        writer = _table(harness)
        writer.create_record_index()
        harness.fs.clear_log()
        harness.fs.kill_at, harness.fs.death = number, DEATHS[number % len(DEATHS)]
        died = True
        with suppress(Killed):
            _commit(harness, writer, _LATER)
            died = False
        following = harness.next_writer()
        when = f"dead at write {number}"
        is_done = _located(harness) == _expected(_LATER)
        expected = _LATER if is_done or not died else _START
        harness.expect(_located(harness), _expected(expected), f"locations of keys, {when}")
        _commit(harness, following, {(A, 1): "a"})
        now = _expected({**expected, (A, 1): "a"})
        harness.expect(_located(harness), now, f"locations of keys, {when}, and a commit")
        if not died:
            break
