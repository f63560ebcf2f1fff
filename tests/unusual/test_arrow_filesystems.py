"""PyArrow filesystems conform if the documentation permits what they do, however unusual it is."""

from __future__ import annotations

import time
from operator import attrgetter
from typing import Any

import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow.fs import FileInfo, FileType, FSSpecHandler, PyFileSystem

from fscontract import check
from fscontract.contract.runner.result import VIOLATED, RunResult, Verdict
from tests.samples import sampled
from tests.unusual import arrow_filesystems
from tests.unusual.arrow_filesystems import Handler, Lowers, Prefixes, Rooted, below, filesystem

#: The seconds of a run, whose inherited failures have to be shrunk.
_BUDGET = 5.0


def _failing(result: RunResult) -> list[str]:
    return [c.clause.id for c in result.clauses if c.outcome in VIOLATED]


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("handler", sampled(2, arrow_filesystems.ALL, attrgetter("__name__")))
def test_a_pyarrow_filesystem_conforms(handler: type[Handler]) -> None:
    result = check(lambda: filesystem(handler), budget=_BUDGET)
    assert (_failing(result), result.conforms) == ([], True)


@pytest.mark.parametrize("handler", [Handler, Lowers, Prefixes], ids=attrgetter("__name__"))
def test_a_directory_of_a_pyarrow_filesystem_conforms(handler: type[Handler]) -> None:
    result = check(lambda: below(handler), clauses="arrow.*", budget=_BUDGET)
    assert (_failing(result), result.conforms) == ([], True)


@pytest.mark.parametrize(
    "handler", [Rooted, arrow_filesystems.LowersInformation], ids=attrgetter("__name__")
)
def test_information_may_have_the_normalized_path(handler: type[Handler]) -> None:
    result = check(lambda: filesystem(handler), clauses="arrow.info.*")
    assert (_failing(result), result.exit_code) == ([], 0)


class _OtherPath(Rooted):
    """Information on a file has the path of another one."""

    def info(self, path: str, shown: str) -> Any:
        """Return the information on another path."""
        found = super().info(path, shown)
        is_file = found.type == FileType.File
        return FileInfo(f"/x{found.path}", found.type, size=found.size) if is_file else found


def test_information_must_have_the_path_of_the_file() -> None:
    result = check(lambda: filesystem(_OtherPath), clauses="arrow.info.*")
    assert _failing(result) == ["arrow.info.path", "arrow.info.list"]
    assert any("/x/" in f.actual for c in result.clauses for f in c.counterexamples)


class _Unsized(Handler):
    """The sizes of files are unknown."""

    def details(self, path: str) -> dict[str, Any]:
        """Return nothing."""
        return {}


def test_an_unknown_size_is_no_status() -> None:
    """But regular files are guaranteed to have a size."""
    result = check(lambda: filesystem(_Unsized), clauses=["arrow.info.size", "model.len-eq-status"])
    assert _failing(result) == ["arrow.info.size"]


class _Memory(MemoryFileSystem):  # type: ignore[misc]
    """A subclass without differences."""

    cachable = False


@pytest.mark.parametrize("directory", ["", "/below"])
def test_a_handler_of_a_subclass_inherits_the_failures_of_its_files(directory: str) -> None:
    """The streams of a file in memory share a position (F1)."""
    fs = _Memory()
    if directory:
        fs.makedirs(directory)
        fs = DirFileSystem(directory, fs)
    clauses = ["open.independent", "arrow.input-stream.*"]
    result = check(lambda: PyFileSystem(FSSpecHandler(fs)), clauses=clauses)
    inherited = {c.clause.id for c in result.clauses if c.outcome is Verdict.INHERITED}
    assert _failing(result) == []
    assert {"open.independent", "arrow.input-stream.data"} <= inherited


class _SlowToRemove(Handler):
    """Writes and lists many files in a second, and takes long to remove them."""

    def store(self, path: str, data: bytes) -> None:
        """Store a file slowly."""
        time.sleep(0.0012)
        super().store(path, data)

    def delete_dir(self, path: str) -> None:
        """Remove a directory, a file at a time."""
        start = self.key(path) + "/"
        time.sleep(0.004 * sum(path.startswith(start) for path in self.files))
        super().delete_dir(path)


def test_the_removal_of_many_files_is_no_hang_of_their_listing() -> None:
    result = check(lambda: filesystem(_SlowToRemove), clauses="arrow.select.entries", timeout=3)
    assert (_failing(result), result.exit_code) == ([], 0)
