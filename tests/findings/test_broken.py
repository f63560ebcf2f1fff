"""No false negatives: a bug injected into a library is found, and its clause is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fsspec.caching import ReadAheadCache
from fsspec.implementations.local import LocalFileOpener, LocalFileSystem
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

from fscontract.implementations.bindings.fsspec import FsspecBinding
from tests.findings.conftest import run


class Buffered(AbstractBufferedFile):  # type: ignore[misc]
    """fsspec's own buffered file, with the arguments that it lacks."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(start)
            return file.read(end - start)


class BufferedLocal(LocalFileSystem):  # type: ignore[misc]
    """Local files read through fsspec's buffered file and its read-ahead cache."""

    cachable = False

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode != "rb":
            return super()._open(path, mode, **options)
        return Buffered(self, path, mode, block_size=options["block_size"])

    def cat_file(self, path: str, *args: Any, **options: Any) -> Any:
        return LocalFileSystem().cat_file(path, *args, **options)

    def read_block(self, path: str, *args: Any) -> Any:
        return LocalFileSystem().read_block(path, *args)


#: Clauses about data and positions; none of them fails in the unchanged library.
ABOUT_DATA = (
    *(
        "read-byte.value",
        "read-byte.advance",
        "read-byte.eof",
        "read-into.data",
        "read-into.count",
        "read-into.advance",
    ),
    *("seek.pos", "seek.noop", "seek.zero", "getpos.value", "pread.data", "pread.count"),
    *(
        "pread.eof",
        "pread.pos-unchanged",
        "read-fully.data",
        "read-vectored.data",
        "read-into.progress",
    ),
    *("python.read.data", "python.read.advance", "python.seek.set", "python.seek.returns"),
    *("python.tell.value", "python.seek.end", "close.release", "open.independent"),
)


def failures(tmp_path: Path, *patterns: str) -> set[str]:
    """Return the matching clauses that fail, the first one if they are not ABOUT_DATA."""
    binding = FsspecBinding(BufferedLocal(), str(tmp_path), "buffered local")
    result = run(binding, *patterns, stop_at_first=patterns != ABOUT_DATA)
    return {c.clause.id for c in result.clauses if c.outcome == "fail"}


@pytest.mark.usefixtures("programs")
def test_unchanged_library_passes(tmp_path: Path) -> None:
    assert not failures(tmp_path, *ABOUT_DATA) - {"pread.eof"}


def off_by_one(real: Any) -> Callable[..., Any]:
    def seek(self: Any, loc: int, whence: int = 0) -> Any:
        return real(self, loc + (loc > 3 and whence == 0), whence)

    return seek


def ignores_start(real: Any) -> Callable[..., Any]:
    def cat_file(self: Any, path: str, start: int = 0, end: int | None = None, **more: Any) -> Any:
        return real(self, path, 0, None if end is None else end - start, **more)

    return cat_file


def ignores_end(real: Any) -> Callable[..., Any]:
    def cat_file(self: Any, path: str, start: int = 0, end: int | None = None, **more: Any) -> Any:
        return real(self, path, start, None, **more)

    return cat_file


def one_less(real: Any) -> Callable[..., Any]:
    def fetch(self: Any, start: int, end: int) -> Any:
        data = real(self, start, end)
        return data[1:] + data[:1] if start == self.blocksize else data

    return fetch


def cut_where_it_goes_on(real: Any) -> Callable[..., Any]:
    def fetch(self: Any, start: int, end: int) -> Any:
        goes_on = self.start < start < self.end < end
        data = real(self, start, end)
        return data[:-1] if goes_on else data

    return fetch


def advances_too_little(real: Any) -> Callable[..., Any]:
    def read(self: Any, length: int = -1) -> Any:
        before, data = self.loc, real(self, length)
        if len(data) == 2:
            self.loc = before + 1
        return data

    return read


def tells_too_much(real: Any) -> Callable[..., Any]:
    def tell(self: Any) -> Any:
        return real(self) + 1

    return tell


def reads_too_little(real: Any) -> Callable[..., Any]:
    def read_block(self: Any, path: str, offset: int, length: int) -> Any:
        return bytes(length and len(real(self, path, offset, length)))

    return read_block


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("owner", "name", "broken", "clause"),
    [
        (AbstractBufferedFile, "seek", off_by_one, "seek.pos"),
        (AbstractBufferedFile, "seek", off_by_one, "python.seek.set"),
        (AbstractBufferedFile, "read", advances_too_little, "python.read.advance"),
        (AbstractBufferedFile, "tell", tells_too_much, "getpos.value"),
        (AbstractBufferedFile, "tell", tells_too_much, "python.tell.value"),
        (AbstractFileSystem, "cat_file", ignores_start, "pread.data"),
        (AbstractFileSystem, "cat_file", ignores_end, "pread.count"),
        (AbstractFileSystem, "read_block", reads_too_little, "read-fully.data"),
    ],
)
def test_injected_bug_violates_its_clause(
    owner: type,
    name: str,
    broken: Callable[[Any], Any],
    clause: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(owner, name, broken(getattr(owner, name)))
    assert failures(tmp_path, clause) == {clause}


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("block", [1000, None, pytest.param(8 << 20, marks=pytest.mark.deep)])
@pytest.mark.parametrize(
    ("broken", "clause"),
    [(one_less, "read-into.data"), (cut_where_it_goes_on, "read-into.progress")],
)
def test_injected_bug_at_the_end_of_a_block_is_found_for_any_block_size(
    broken: Callable[[Any], Any],
    clause: str,
    block: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The default size of a block is 5 MiB."""
    if block is not None:
        monkeypatch.setattr(Buffered, "DEFAULT_BLOCK_SIZE", block)
    monkeypatch.setattr(ReadAheadCache, "_fetch", broken(ReadAheadCache._fetch))
    assert failures(tmp_path, clause) == {clause}


def test_descriptor_that_stays_open_after_close_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Any] = []

    def close(self: LocalFileOpener) -> None:
        kept.append(self.f)

    (tmp_path / "dir").mkdir()
    binding = FsspecBinding(LocalFileSystem(), str(tmp_path / "dir"), "local")
    monkeypatch.setattr(LocalFileOpener, "close", close)
    (found,) = run(binding, "close.release", stop_at_first=True).clauses
    for file in kept:
        file.close()
    assert found.outcome == "fail"
