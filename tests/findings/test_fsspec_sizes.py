"""fsspec's caches and files after a failed request, with a wrong size, and on a directory.

These are programs of fsspec alone, because `open_file` avoids most of these cases. They hold for
fsspec 2023.1.0 and 2026.9.0 unless noted. If a test fails with another version, its finding is
fixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.caching import caches
from fsspec.implementations.cached import CachingFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

from fscontract.contract.runner.replay import replay
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.fsspec_quirks import close_sessions
from servers.http_files import DATA, NoRanges, WithRanges, serving

#: The map that the cache "mmap" makes leaves its temporary file to the garbage collector.
unclosed = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
VERSION = tuple(int(part) for part in fsspec.__version__.split(".")[:3])
#: Since then the cache "mmap" marks blocks as present before it asks for them.
MARKED_FIRST = VERSION >= (2025, 3, 1)
MENDED = f"not so in fsspec {fsspec.__version__}: note that in docs/findings.md"
pytestmark = pytest.mark.xfail(
    fsspec.__version__ not in ("2023.1.0", "2026.9.0"), reason=f"{MENDED}, or else", strict=False
)
CONTENT = b"abcde"


class StoredFile(AbstractBufferedFile):  # type: ignore[misc]
    """A buffered file of fsspec that fetches ranges as far as there are bytes."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        self.fs.requests += 1
        if self.fs.failing:
            self.fs.failing -= 1
            raise OSError("the connection is lost")
        return CONTENT[start:end]


class Store(AbstractFileSystem):  # type: ignore[misc]
    """A minimal filesystem, with `ls` and `_open`; it holds the file d/file."""

    cachable = False
    requests = 0  # for ranges, so far
    failing = 0  # requests that fail from now on

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        directory = {"name": "d", "size": 0, "type": "directory"}
        file = {"name": "d/file", "size": len(CONTENT), "type": "file"}
        entries = {"": [directory], "d": [file], "d/file": [file]}
        if path not in entries:
            raise FileNotFoundError(path)
        return entries[path] if detail else [entry["name"] for entry in entries[path]]

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        return StoredFile(self, path, mode, **options)


class BufferedMemory(MemoryFileSystem):  # type: ignore[misc]
    """Files in memory, read through fsspec's buffered file."""

    cachable = False

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode == "rb":
            return BufferedMemoryFile(self, path, mode, **options)
        return super()._open(path, mode, **options)


class BufferedMemoryFile(AbstractBufferedFile):  # type: ignore[misc]
    def _fetch_range(self, start: int, end: int) -> bytes:
        content: bytes = self.fs.store[self.path].getvalue()
        return content[start:end]


def to_the_end(file: Any, length: int) -> bytes:
    """Return the results of reads of a size until one is empty."""
    parts = []
    while part := file.read(length):
        parts.append(part)
    return b"".join(parts)


@contextmanager
def web() -> Iterator[Any]:
    """Return a filesystem for the web that shares no connections with others."""
    pytest.importorskip("aiohttp")
    fs = fsspec.filesystem("http", skip_instance_cache=True)
    try:
        yield fs
    finally:
        close_sessions(fs)


# After a failed request -----------------------------------------------------------------------


@unclosed
def test_retried_read_through_a_map_returns_zeros() -> None:
    """Finding F19: the cache counts the blocks that it failed to fetch as cached. The single one
    is what it wrote at the end to make the map as long as the file. fsspec 2025.3.0 was correct."""
    store = Store()
    file = store.open("d/file", cache_type="mmap")
    store.failing = 1
    with pytest.raises(OSError, match="the connection is lost"):
        file.read()
    assert file.read() == (bytes(4) + b"1" if MARKED_FIRST else CONTENT), MENDED
    assert store.requests == (1 if MARKED_FIRST else 2)


@unclosed
def test_retried_read_from_the_web_through_a_block_cache_returns_zeros(
    tmp_path: Path,
) -> None:
    """Finding F19: later readers of the cached file get zeros too, even in other processes,
    because the cache stores which blocks it has."""
    failing: list[int] = []

    class Failing(WithRanges):
        def _answer(self, body: bool) -> None:
            if body and failing:
                self.send_error(failing.pop())
            else:
                super()._answer(body)

    cached = {"cache_storage": str(tmp_path / "cache"), "skip_instance_cache": True}
    wrong = bytes(2000) if MARKED_FIRST else DATA[:2000]
    with serving(Failing) as url:
        with web() as fs:
            file = CachingFileSystem(fs=fs, **cached).open(f"{url}file", block_size=1000)
            failing.append(503)
            with pytest.raises(Exception, match=r"503|bytes-like object is required"):
                file.read(1000)
            assert file.read(2000) == wrong, MENDED
            assert file.read(1000) == DATA[2000:3000]
            file.close()
        with web() as fs:
            file = CachingFileSystem(fs=fs, **cached).open(f"{url}file", block_size=1000)
            assert file.read(2000) == wrong, MENDED
            file.close()


# With a wrong size ----------------------------------------------------------------------------


@unclosed
def test_map_of_a_file_shorter_than_declared_raises() -> None:
    """Finding F20: the fetched bytes are put into a slice of another length. The second read
    returns bytes that the file does not have, since 2025.3.1 (F19)."""
    file = Store().open("d/file", cache_type="mmap", size=6)
    with pytest.raises(IndexError, match="mmap slice assignment is wrong size"):
        file.read(1)
    if MARKED_FIRST:
        assert file.read() == bytes(5) + b"1", MENDED


@pytest.mark.parametrize("cache", sorted({"block", "blockcache", "background"} & set(caches)))
def test_block_cache_requests_every_block_of_an_overstated_size(cache: str) -> None:
    """Finding F21: an empty block has shown the end of the file, but a read of a file declared
    as 2**63 - 1 bytes long does not end."""
    store = Store()
    assert store.open("d/file", cache_type=cache, size=1000, block_size=1).read() == CONTENT
    assert store.requests >= 1000, MENDED
    others = Store()
    assert others.open("d/file", size=1000, block_size=1).read() == CONTENT
    assert others.requests == 1


def test_understated_size_without_a_cache_ends_a_file_depending_on_the_reads() -> None:
    """Finding F22: a read that starts before the declared end crosses it, one that starts there
    is empty, and read() stops there."""
    opened = {n: Store().open("d/file", cache_type="none", size=1) for n in (-1, 2, 3, 9)}
    read = {length: to_the_end(file, length) for length, file in opened.items()}
    assert read == {-1: b"a", 2: b"ab", 3: b"abc", 9: b"abcde"}, MENDED


def test_given_size_hides_that_a_server_has_no_ranges() -> None:
    """Finding F24: only info() detects it, and a given size skips that. fsspec 2023.1.0 assumes
    ranges without a size, too."""
    with serving(NoRanges) as url, web() as fs:
        streamed = fs.open(f"{url}file", block_size=4096)
        if "partial" in fs.info(f"{url}file"):
            assert to_the_end(streamed, 4096) == DATA
        streamed.close()
        file = fs.open(f"{url}file", block_size=4096, size=len(DATA))
        assert file.read(4096) == DATA[:4096]
        with pytest.raises(ValueError, match="doesn't appear to support range requests"):
            file.read(4096)
        file.close()


# Of a directory -------------------------------------------------------------------------------


def test_directory_opens_as_an_empty_file() -> None:
    """Finding F23: AbstractFileSystem.info returns the size 0 for a directory, so
    AbstractBufferedFile fetches nothing, and nothing checks the type."""
    store = Store()
    assert store.info("d") == {"name": "d", "size": 0, "type": "directory"}
    assert store.open("d").read() == b"", MENDED
    assert not store.requests
    with pytest.raises(FileNotFoundError):
        store.open("d/none")


def test_directory_that_opens_as_an_empty_file_violates_read_fails() -> None:
    """Finding F23: the read returns the end."""
    binding = FsspecBinding(BufferedMemory(), "/findings-of-sizes", "buffered memory")
    program = {"length": 0, "steps": [["read_byte"]], "open": {"file": "directory", "calls": []}}
    data = {"fscontract-replay": 1, "clause": "open.read-fails", "program": program}
    result = replay(binding, data, load_profile(binding.default_profile))
    assert (result.outcome, result.actual) == ("still fails", "read_byte: returned -1"), MENDED
