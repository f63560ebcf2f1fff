"""Files that PyArrow and zipfile write and read through a target, and their spelling."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fsspec.implementations.local import LocalFileSystem
from pyarrow import parquet

from fscontract import check
from fscontract.contract.binding import Binding
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.filesystem_calls import MAX_ROWS, MAX_SEED, READER_OPERATIONS
from fscontract.contract.program.program import Step
from fscontract.contract.runner.result import Verdict
from fscontract.contract.targets import resolve_target
from fscontract.fakes.mutants.correct_arrow import RightArrow
from fscontract.fakes.mutants.correct_filesystem import (
    RightFile,
    RightFilesystem,
    RightUncheckedCache,
)
from fscontract.fakes.mutants.correct_stores import RightOperator, RightOperatorFile
from fscontract.implementations.bindings import library_readers
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.library_readers import (
    csv_file,
    parquet_file,
    read_csv,
    read_parquet,
    read_zip,
    spell_reader,
    zip_file,
)
from fscontract.implementations.bindings.opendal import OpendalBinding
from fscontract.implementations.bindings.pyarrow import PyArrowBinding

_CLAUSES = ("readers.parquet.row-groups", "readers.csv.columns", "readers.zip.members")
_FILES: list[tuple[Callable[[int, int], bytes], Callable[[Any, int, int], bool | str]]] = [
    (parquet_file, read_parquet),
    (csv_file, read_csv),
    (zip_file, read_zip),
]


@pytest.mark.parametrize(("write", "read"), _FILES)
@pytest.mark.parametrize(("seed", "rows"), [(0, 0), (1, 1), (7, 40), (MAX_SEED, 900)])
def test_what_was_written_is_read(
    write: Callable[[int, int], bytes],
    read: Callable[[Any, int, int], bool | str],
    seed: int,
    rows: int,
) -> None:
    assert read(io.BytesIO(write(seed, rows)), seed, rows) is True


@pytest.mark.parametrize(("write", "read"), _FILES)
def test_file_of_another_seed_differs(
    write: Callable[[int, int], bytes], read: Callable[[Any, int, int], bool | str]
) -> None:
    assert isinstance(read(io.BytesIO(write(30, 60)), 3, 60), str)


def test_parquet_file_has_several_row_groups_and_columns() -> None:
    metadata = parquet.ParquetFile(pa.BufferReader(parquet_file(1, 900))).metadata
    assert metadata.num_row_groups > 5
    assert metadata.num_columns == 2


class _FewMethods:
    """A file that has nothing but what readers call, with a close() that only sets a flag."""

    def __init__(self, data: bytes) -> None:
        self._file, self.closed = io.BytesIO(data), False

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def close(self) -> None:
        self.closed = True


class _ShortReads(io.RawIOBase):
    """A raw file, of which a read may return fewer bytes than there are."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        return self._file.readinto(memoryview(buffer)[:7])


class _Raw(RightFilesystem):
    """A filesystem whose files are raw."""

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        return _ShortReads(self.content(path))


class _ArrivesInParts(RightOperatorFile):
    """A file of a network, of which a read returns what has arrived."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size if size is None or size < 0 else min(size, 7))

    def readinto(self, buffer: Any) -> int:
        return super().readinto(memoryview(buffer)[:7])


class _Unusual(RightFilesystem):
    """A filesystem whose files have few methods."""

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        return _FewMethods(self.content(path))


@pytest.mark.parametrize(
    "binding",
    [
        FsspecBinding(_Unusual(), "", "few methods"),
        FsspecBinding(_Raw(), "", "raw files"),
        PyArrowBinding(RightArrow(), "mutant", "arrow"),
        OpendalBinding(RightOperator(), "operator"),
        OpendalBinding(RightOperator(_ArrivesInParts), "operator of a network"),
    ],
    ids=lambda binding: str(binding.name),
)
def test_unusual_files_with_the_right_bytes_pass(binding: Binding) -> None:
    result = check(binding, clauses=_CLAUSES)
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


@pytest.mark.parametrize("url", ["memory://", "simplecache::file://", "pyarrow+file://"])
def test_released_filesystems_pass(url: str, tmp_path: Path) -> None:
    root = url if url == "memory://" else f"{url}{tmp_path}"
    result = check(resolve_target(root, {}), clauses=_CLAUSES)
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_cache_that_keeps_old_files_passes() -> None:
    """Each file has its own path, so the cache has no other file of that path."""
    result = check(FsspecBinding(RightUncheckedCache(), "", "cache"), clauses=_CLAUSES)
    assert {c.outcome for c in result.clauses} == {Verdict.PASS}


def test_files_that_cannot_be_written_accuse_nothing() -> None:
    class Full(RightFilesystem):
        def pipe_file(self, path: str, value: bytes, *args: Any, **options: Any) -> None:
            if len(value) > 1:
                raise OSError(28, "No space left on device")
            super().pipe_file(path, value)

    result = check(FsspecBinding(Full(), "", "full"), clauses=_CLAUSES)
    assert not {c.outcome for c in result.clauses} & {Verdict.FAIL, Verdict.PASS}


def test_without_pyarrow_the_clauses_of_its_readers_are_not_verified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(library_readers, "find_spec", lambda name: None)
    result = check(FsspecBinding(RightFilesystem(), "", "mine"), clauses=_CLAUSES)
    assert {c.clause.id: (c.outcome, c.reason) for c in result.clauses} == {
        "readers.parquet.row-groups": (Verdict.INEXPRESSIBLE, "PyArrow is not installed"),
        "readers.csv.columns": (Verdict.INEXPRESSIBLE, "PyArrow is not installed"),
        "readers.zip.members": (Verdict.PASS, ""),
    }


def test_target_with_one_file_says_why_nothing_is_verified(tmp_path: Path) -> None:
    (tmp_path / "only").write_bytes(b"abc")
    target = FsspecBinding(LocalFileSystem(), "", "one", b"abc", str(tmp_path / "only"))
    result = check(target, clauses=_CLAUSES)
    assert {c.reason for c in result.clauses} == {"the target has one file, and can't write others"}


def test_seed_of_the_run_chooses_the_files() -> None:
    class Notes(RightFile):
        sizes: set[int]

        def __init__(self, data: bytes) -> None:
            super().__init__(data)
            self.sizes.add(len(data))

    def sizes(seed: int) -> set[int]:
        Notes.sizes = set()
        check(FsspecBinding(RightFilesystem(Notes), "", "m"), clauses=_CLAUSES, seed=seed)
        return Notes.sizes

    assert sizes(1) == sizes(1)
    assert sizes(1) != sizes(2)


@pytest.mark.parametrize("rows", [-1, MAX_ROWS + 1, "len", None])
def test_size_of_a_file_is_bounded(rows: Any) -> None:
    with pytest.raises(ProgramError, match=f"rows: expected a whole number from 0 to {MAX_ROWS}"):
        Step.from_json(["lib_csv", 1, rows])


@pytest.mark.parametrize("op", READER_OPERATIONS)
@pytest.mark.parametrize("rows", [0, 40])
def test_spelled_call_reads_what_it_writes(op: str, rows: int) -> None:
    call = spell_reader(
        Step(op, (3, rows)), library_readers.Wording("BytesIO(files[name])", "files[name] = {data}")
    )
    assert call is not None
    given: dict[str, Any] = {"path": "p", "files": {}, "BytesIO": io.BytesIO}
    exec("\n".join([*call.imports, *call.before, f"same = {call.text}"]), given)
    assert given["same"] is True
    assert str(call).endswith("(BytesIO(files[path]))")


def test_spelled_call_reads_a_raw_file_through_a_buffer() -> None:
    wording = library_readers.Wording("open(files[name])", "files[name] = {data}", raw=True)
    call = spell_reader(Step("lib_parquet", (3, 40)), wording)
    assert call is not None
    given: dict[str, Any] = {"path": "p", "files": {}, "open": _ShortReads}
    exec("\n".join([*call.imports, *call.before, f"same = {call.text}"]), given)
    assert given["same"] is True


def test_a_step_of_another_api_is_not_spelled() -> None:
    assert spell_reader(Step("read_byte"), library_readers.Wording("", "")) is None
