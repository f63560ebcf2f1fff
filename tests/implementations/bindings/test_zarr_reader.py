"""Arrays that Zarr writes, and reads through fsspec filesystems, and their spelling."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from fscontract import RunResult, check
from fscontract.contract.program.filesystem_calls import MAX_SEED, ZARR_OPERATIONS
from fscontract.contract.program.program import Step
from fscontract.contract.runner.result import Verdict
from fscontract.contract.targets import resolve_target
from fscontract.fakes.mutants.correct_filesystem import (
    RightAsyncFilesystem,
    RightFile,
    RightFilesystem,
)
from fscontract.implementations.bindings import zarr_reader
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.zarr_reader import Array, array_of, spell_zarr

_CLAUSES = ("readers.zarr.chunks", "readers.zarr.shards", "readers.zarr.missing-chunks")
_WITH_ZARR = pytest.importorskip("zarr", reason="needs Zarr")


def checked(filesystem: Any) -> RunResult:
    return check(FsspecBinding(filesystem, "", "mine"), clauses=_CLAUSES)


def verdicts(result: RunResult) -> set[Verdict]:
    return {clause.outcome for clause in result.clauses}


class _Requests(RightAsyncFilesystem):
    """A filesystem that notes the ranges which are read."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(files, asynchronous=True)
        self.read: set[tuple[str, int | None, int | None]] = set()

    async def _cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        self.read.add((path.rpartition("/")[2], start, end))
        return await super()._cat_file(path, start, end, **options)


def stored(array: Array) -> _Requests:
    return _Requests({f"a.zarr/{name}": data for name, data in array.files().items()})


@pytest.mark.parametrize("op", ZARR_OPERATIONS)
@pytest.mark.parametrize(("seed", "rows"), [(0, 0), (1, 1), (7, 40), (MAX_SEED, 900)])
def test_what_zarr_wrote_is_read(op: str, seed: int, rows: int) -> None:
    array = array_of(Step(op, (seed, rows)))
    assert asyncio.run(array.read(stored(array), "a.zarr")) is True


@pytest.mark.parametrize("op", ZARR_OPERATIONS)
def test_array_of_another_seed_differs(op: str) -> None:
    array = array_of(Step(op, (1, 40)))
    other = array._replace(seed=2)
    assert asyncio.run(array.read(stored(other), "a.zarr")) == "[:, :]: other values"


def test_array_has_several_chunks_of_one_file_each() -> None:
    files = array_of(Step("lib_zarr_chunks", (1, 40))).files()
    assert len(files) > 6
    assert {"zarr.json", "c.0.0", "c.1.1"} <= files.keys()


def test_chunks_of_the_fill_value_have_no_files() -> None:
    files = array_of(Step("lib_zarr_missing", (1, 40))).files()
    assert "c.1.0" in files
    assert not [name for name in files if name.startswith("c.0.")]


def test_shards_are_read_by_ranges_and_from_their_ends() -> None:
    array = array_of(Step("lib_zarr_shards", (3, 900)))
    filesystem = stored(array)
    asyncio.run(array.read(filesystem, "a.zarr"))
    ranges = [(start, end) for _, start, end in filesystem.read]
    assert [1 for start, end in ranges if (start or 0) < 0 and end is None]
    assert [1 for start, end in ranges if start is not None and end is not None]


class _NamedErrors(RightFilesystem):
    """A filesystem whose errors of missing files have their own class."""

    def content(self, path: str) -> bytes:
        class NoSuchKey(FileNotFoundError):
            """The store has no file of this name."""

        try:
            return super().content(path)
        except FileNotFoundError as error:
            raise NoSuchKey(path) from error


class _Sized(RightFile):
    """A file that knows its size, as fsspec's `cat_file` expects."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.size = len(data)


class _OnlyOpens(RightFilesystem):
    """A filesystem whose `cat_file` reads an opened file, as that of the base class does."""

    def __init__(self) -> None:
        super().__init__(_Sized)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        return bytes(super(RightFilesystem, self).cat_file(path, start, end))


class _Full(RightFilesystem):
    """A filesystem that has no room for arrays."""

    def pipe_file(self, path: str, value: bytes, *args: Any, **options: Any) -> None:
        if ".zarr/" in path:
            raise OSError(28, "No space left on device")
        super().pipe_file(path, value)


class _SharedAsync(RightAsyncFilesystem):
    """An asynchronous filesystem whose instances have the same files."""

    shared: dict[str, bytes]

    def __init__(self, **options: Any) -> None:
        super().__init__(self.shared, **options)


def test_asynchronous_filesystem_with_the_right_bytes_passes() -> None:
    _SharedAsync.shared = {}
    assert verdicts(checked(_SharedAsync())) == {Verdict.PASS}


def test_filesystem_that_only_opens_files_passes() -> None:
    assert verdicts(checked(_OnlyOpens())) == {Verdict.PASS}


def test_error_of_a_missing_file_may_be_a_subclass() -> None:
    assert verdicts(checked(_NamedErrors())) == {Verdict.PASS}


@pytest.mark.parametrize("url", ["memory://", "file://"])
def test_released_filesystems_pass(url: str, tmp_path: Path) -> None:
    root = url if url == "memory://" else f"{url}{tmp_path}"
    assert verdicts(check(resolve_target(root, {}), clauses=_CLAUSES)) == {Verdict.PASS}


def test_cache_of_whole_files_fails_at_the_index_of_a_shard(tmp_path: Path) -> None:
    """Its files have no attribute `size`, which fsspec's `cat_file` uses (F32)."""
    result = check(resolve_target(f"simplecache::file://{tmp_path}", {}), clauses=_CLAUSES)
    assert [c.clause.id for c in result.clauses if c.outcome is Verdict.FAIL] == [_CLAUSES[1]]


def test_arrays_that_cannot_be_written_accuse_nothing() -> None:
    assert not verdicts(checked(_Full())) & {Verdict.FAIL, Verdict.PASS}


def test_asynchronous_instance_with_other_files_is_not_verified() -> None:
    result = checked(RightAsyncFilesystem())
    assert verdicts(result) == {Verdict.INEXPRESSIBLE}


class _Refused:
    """An attribute that can't be read."""

    def __get__(self, owner: object, kind: type[Any]) -> str:
        raise AttributeError("this store has no host")


def test_filesystem_that_fsspec_cannot_wrap_is_not_verified() -> None:
    class Unnamed(RightFilesystem):
        host = _Refused()

    assert verdicts(checked(Unnamed())) == {Verdict.INEXPRESSIBLE}


def test_without_zarr_its_clauses_are_not_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zarr_reader, "find_spec", lambda name: None)
    result = checked(RightFilesystem())
    assert {(c.outcome, c.reason) for c in result.clauses} == {
        (Verdict.INEXPRESSIBLE, "Zarr is not installed")
    }


@pytest.mark.parametrize("op", ZARR_OPERATIONS)
@pytest.mark.parametrize("rows", [0, 40])
def test_spelled_call_reads_what_it_writes(op: str, rows: int) -> None:
    call = spell_zarr(Step(op, (3, rows)))
    assert call is not None
    given: dict[str, Any] = {"path": f"/{op}/{rows}", "fs": MemoryFileSystem()}
    with _WITH_ZARR.config.set({"async.concurrency": 1}):  # put back what the script sets
        exec("\n".join([*call.imports, *call.before, f"same = {call.text}"]), given)
    assert given["same"] is True
    given["fs"].rm(given["name"], recursive=True)


def test_a_step_of_another_library_is_not_spelled() -> None:
    assert spell_zarr(Step("lib_csv", (1, 40))) is None
