"""Tests of `open_file` for fsspec: hints reach `open`, and never break it."""

from __future__ import annotations

import itertools
import math
import uuid
from concurrent.futures import Future
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from fsspec import AbstractFileSystem
from fsspec.caching import caches
from fsspec.implementations.cached import CachingFileSystem
from fsspec.implementations.dbfs import DatabricksFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile
from hypothesis import given
from hypothesis import strategies as st

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.api.openfile_options import BUFFER_SIZE, LENGTH, READ_POLICY, option_table
from fscontract.contract.generate.open_arguments import TEXTS
from fscontract.implementations.fsspec_adapter import MemoryFsspec
from fscontract.implementations.fsspec_open_file import (
    EXACT,
    LARGEST_BUFFER,
    POLICIES,
    open_file,
    status_of,
)
from fscontract.implementations.memory import MemoryFileSystem as OurMemory

DATA = bytes(i * 7 % 251 for i in range(50))
STANDARD = sorted(option_table().standard_keys)


class Served(AbstractBufferedFile):  # type: ignore[misc] # fsspec has no types
    """A file of a store that records every request."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        return cast(bytes, self.fs.fetch(start, end))


class Shelf(AbstractFileSystem):  # type: ignore[misc]
    """A store of one file, DATA; a `strict` one rejects ranges that start past EOF."""

    protocol = "served"
    cachable = False

    def __init__(self, strict: bool = False, **options: Any) -> None:
        super().__init__()
        self.__dict__.update(options)
        self.strict = strict
        self.infos = 0
        self.opens: list[dict[str, Any]] = []
        self.requests: list[tuple[int, int]] = []

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        self.infos += 1
        if "file" not in path:
            raise FileNotFoundError(path)
        return {"name": path, "size": len(DATA), "type": "file"}

    def fetch(self, start: int, end: int) -> bytes:
        self.requests.append((start, end))
        if self.strict and start >= len(DATA):
            raise OSError(22, "The requested range is not satisfiable")
        return DATA[start:end]


class Store(Shelf):
    """A store that opens its file as most filesystems do."""

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: Any = None,
        **kwargs: Any,
    ) -> Served:
        hints = {**kwargs, "block_size": block_size}
        self.opens.append({name: value for name, value in hints.items() if value is not None})
        return Served(
            self, path, mode, block_size, autocommit, cache_options=cache_options, **kwargs
        )


def opened(future: Future[BinaryIO]) -> bytes:
    """Return all bytes of the file of a future."""
    with future.result() as file:
        return file.read()


# Hints are passed ------------------------------------------------------------------------------


def test_each_policy_asks_for_a_cache_or_leaves_the_choice() -> None:
    """Fails for a new policy, so that its cache is chosen deliberately."""
    assert set(option_table().policies) == {*POLICIES, "adaptive", "default"}


def test_the_caches_asked_for_are_there() -> None:
    """In every tested release of fsspec."""
    assert {cache.name for cache in POLICIES.values()} | {"none"} <= set(caches)


@pytest.mark.parametrize("policy", sorted(option_table().policies))
def test_a_policy_gets_to_open(policy: str) -> None:
    """As the cache and the block size of the table."""
    fs = Store()
    assert opened(open_file(fs, "file").must(READ_POLICY, policy).build()) == DATA
    name, block = POLICIES.get(policy, (None, None))
    wanted = {"cache_type": name, "block_size": block}
    assert fs.opens == [{key: value for key, value in wanted.items() if value is not None}]


@pytest.mark.parametrize("by", ["option", "status", "info", "builder"])
def test_a_known_length_spares_the_look_up(by: str) -> None:
    """For each way of setting it; without hints, info() is called once."""
    fs = Store()
    builder = open_file(fs, "/d/file")
    if by == "option":
        builder.opt_long(LENGTH, len(DATA))
    elif by == "status":
        builder.with_file_status(FileStatus("/other/file", len(DATA)))
    elif by == "info":
        builder.with_file_status({"name": "file", "size": len(DATA), "type": "file"})
    assert opened(builder.build()) == DATA
    assert (fs.infos, fs.opens) == ((1, [{}]) if by == "builder" else (0, [{"size": len(DATA)}]))


@pytest.mark.parametrize(("size", "hints"), [(7, {"block_size": 7}), (0, {"cache_type": "none"})])
def test_a_buffer_size_is_the_block_size(size: int, hints: dict[str, object]) -> None:
    """0 means no cache: as a block size it would make some files non-seekable."""
    fs = Store()
    assert opened(open_file(fs, "file").buffer_size(size).build()) == DATA
    assert fs.opens == [hints]


def test_buffer_size_overrides_the_policy() -> None:
    """A number overrides a policy."""
    fs = Store()
    opened(open_file(fs, "file").opt(READ_POLICY, "random").buffer_size(9).build())
    opened(open_file(fs, "file").buffer_size(0).opt(READ_POLICY, "whole-file").build())
    assert fs.opens == [{"cache_type": "bytes", "block_size": 9}, {"cache_type": "none"}]


def test_hints_get_through_a_directory_filesystem() -> None:
    """It passes all arguments to its inner filesystem."""
    fs = Store()
    opened(open_file(DirFileSystem("d", fs), "file").opt_long(LENGTH, 50).buffer_size(8).build())
    assert fs.opens == [{"size": 50, "block_size": 8}]


def test_nothing_is_looked_at_before_build() -> None:
    """Each build then opens a separate file."""
    fs = Store()
    builder = open_file(fs, Path("d/file"))
    assert not fs.opens
    first, second = builder.build().result(), builder.build().result()
    assert first.seek(3) == 3
    assert (second.tell(), len(fs.opens)) == (0, 2)


# Failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fs", [MemoryFileSystem(), LocalFileSystem(), MemoryFsspec(), Store()])
@pytest.mark.parametrize("path", ["/no/such", "no/such", "gopher://localhost/name", "", "\0"])
def test_exception_of_open_is_set_on_the_future(fs: AbstractFileSystem, path: str) -> None:
    """The same exception that fs.open raises; nothing is raised before."""
    future = open_file(fs, path).opt(READ_POLICY, "random").build()
    with pytest.raises((OSError, ValueError)) as expected:
        fs.open(path, "rb").close()
    assert type(future.exception()) is type(expected.value)


def test_an_unknown_mandatory_key_fails_in_build() -> None:
    """It is an error of the program, not of the file."""
    with pytest.raises(IllegalArgumentException, match=r"no\.such"):
        open_file(Store(), "file").must("no.such", 1).build()


@pytest.mark.parametrize("name", ["other", "file/other", "", None])
def test_a_status_of_another_name_is_rejected_in_the_future(name: str | None) -> None:
    """As in this package's filesystems; a leading slash or a scheme is ignored."""
    fs = Store()
    wrong = open_file(fs, "d/file").with_file_status({"name": name, "size": 50}).build()
    assert isinstance(wrong.exception(), IllegalArgumentException)
    for same in ("file", "/d/file", "served://host/file"):
        assert opened(open_file(fs, "d/file").with_file_status({"name": same}).build()) == DATA


# Hints break nothing ---------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 8, 64])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("length", [0, 1, 20, 49, 50, 51, 57, 100, 2**63 - 1])
def test_a_wrong_length_gives_no_wrong_bytes(length: int, strict: bool, block: int) -> None:
    """The file ends at that length or at its actual end, for each cache and read call."""
    for cache, chunk in itertools.product(("none", "csv", "random", "default"), (7, 50, 64, -1)):
        fs = Store(strict)
        builder = open_file(fs, "file").opt_long(LENGTH, length)
        builder.buffer_size(block if cache != "none" else 0).opt(READ_POLICY, cache)
        with builder.build().result() as file:
            parts = iter(lambda file=file, chunk=chunk: file.read(chunk), b"")  # type: ignore[misc]
            assert b"".join(itertools.islice(parts, 99)) == DATA[:length]
            for position in (length // 2, 30, 3):
                assert file.seek(position) == position
                assert file.read(5) == DATA[:length][position : position + 5]


def test_failed_request_does_not_count_as_eof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a request past the actual EOF is EOF; others fail, and a missing file is missing."""
    fs = Store()
    file = open_file(fs, "file").opt_long(LENGTH, 60).build().result()
    gone = open_file(fs, "gone").opt_long(LENGTH, 60).build().result()

    def fail(*_: object) -> bytes:
        raise ConnectionResetError("reset by peer")

    monkeypatch.setattr(fs, "fetch", fail)
    assert file.seek(10) == 10
    with pytest.raises(ConnectionResetError):
        file.read(5)
    with pytest.raises(FileNotFoundError):
        gone.read(5)


@pytest.mark.parametrize("cache", sorted({str(name) for name in caches} - EXACT - {"None"}))
def test_length_is_not_passed_to_caches_that_require_an_exact_one(cache: str) -> None:
    """If the filesystem sets that cache: mmap, for example, would raise IndexError."""
    fs = Store(default_cache_type=cache)
    open_file(fs, "file").opt_long(LENGTH, 50).build().result()
    open_file(fs, "file").opt_long(LENGTH, 50).opt(READ_POLICY, "csv").build().result()
    assert fs.opens == [{}, {"size": 50, "cache_type": "readahead"}]


def hinted(fs: AbstractFileSystem, path: str, buffer: int = 9) -> BinaryIO:
    """Return a file opened with every hint."""
    builder = open_file(fs, path).opt_long(LENGTH, 60).opt(READ_POLICY, "random")
    return builder.buffer_size(buffer).build().result()


def test_block_size_is_not_passed_to_files_with_a_fixed_one() -> None:
    """They raise ValueError for another one."""
    assert cast(Any, hinted(DatabricksFileSystem("host", "token"), "/file")).blocksize == 1 << 20


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # fsspec's mmap
def test_a_file_of_a_block_cache_is_opened_again_with_the_same_block_size(tmp_path: Path) -> None:
    """It raises BlocksizeMismatchError for another one, and TypeError for other hints."""
    cached = CachingFileSystem(fs=Store(), cache_storage=str(tmp_path))
    assert [hinted(cached, "file", size).read() for size in (9, 10)] == [DATA, DATA]


class Strange(Shelf):
    """A store whose files are not created from keywords."""

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        self.opens.append({k: v for k, v in kwargs.items() if v is not None})
        return LocalFileSystem().open(path, mode)


class Reader(Served):
    """A file with its own reader, which ignores the cache."""

    def read(self, length: int = -1) -> bytes:
        return DATA


class WithReader(Shelf):
    """A store of such files."""

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        self.opens.append({k: v for k, v in kwargs.items() if v is not None})
        return Reader(self, path, mode, **kwargs)


class Measures(Shelf):
    """A store that passes the size and the cache of a file itself."""

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        self.opens.append({k: v for k, v in kwargs.items() if v is not None})
        return Served(self, path, mode, size=len(DATA), cache_type="bytes", **kwargs)


class MeasuresAlone(Shelf):
    """A store that passes the size of a file itself."""

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        self.opens.append({k: v for k, v in kwargs.items() if v is not None})
        return Served(self, path, mode, size=len(DATA), **kwargs)


class Overriding(Shelf):
    """A store with its own `open`, which names two hints."""

    def open(
        self, path: str, mode: str = "rb", size: Any = 0, cache_type: Any = 0, **_: Any
    ) -> Any:
        self.opens.append({"size": size, "cache_type": cache_type, **_})
        return Served(self, path, mode)


@pytest.mark.parametrize(
    ("fs", "hints"),
    [
        (Strange(), {"block_size": 9, "autocommit": True}),
        (WithReader(), {"block_size": 9, "autocommit": True, "cache_type": "bytes"}),
        (Measures(), {"block_size": 9, "autocommit": True}),
        (MeasuresAlone(), {"block_size": 9, "autocommit": True, "cache_type": "bytes"}),
        (Overriding(), {"size": 60, "cache_type": "bytes"}),
        (Store(block_size=0), {}),
        (Store(cache_options={"trim": False}), {"size": 60, "block_size": 9}),
    ],
)
def test_hints_are_passed_only_if_signatures_accept_them(
    fs: Shelf, hints: dict[str, object], tmp_path: Path
) -> None:
    """Hints that may not reach a buffered file, or do not fit the filesystem, are omitted."""
    (tmp_path / "file").write_bytes(DATA)
    hinted(fs, str(tmp_path / "file")).close()
    assert [{**made} for made in fs.opens] == [hints]


def test_allocated_buffer_size_is_limited() -> None:
    """A cache's read-ahead ends at EOF, a buffer has the requested size."""
    fs = Strange()
    open_file(fs, "file").buffer_size(2**31 - 1).build()
    assert fs.opens[0]["block_size"] == LARGEST_BUFFER


def test_statuses_are_read_from_all_kinds_of_info() -> None:
    """Stores differ in the names of the keys and in missing values."""
    time = datetime(2020, 1, 2, tzinfo=timezone.utc)
    assert status_of({"name": "b/f", "size": 3, "LastModified": time, "ETag": '"x"'}) == status_of(
        {"name": "b/f", "size": 3, "mtime": time.timestamp(), "etag": '"x"', "type": "file"}
    )
    bare = status_of({"name": "d", "size": None, "type": "directory", "mtime": "today"})
    assert (bare.length, bare.is_directory, bare.modification_time) == (-1, True, 0.0)


# Random settings -------------------------------------------------------------------------------

VALUES = st.one_of(
    st.sampled_from(TEXTS),
    st.sampled_from(sorted(option_table().policies)),
    st.integers(-2, 70).map(str),
    st.text(max_size=5),
)
NUMBERS = st.one_of(st.integers(-2, 70), st.sampled_from([2**31 - 1, 2**63 - 1, 2**63, -(2**70)]))
REALS = st.one_of(NUMBERS, st.floats(), st.sampled_from([math.nan, math.inf, 1e300]))
KEYS = st.sampled_from([*STANDARD, READ_POLICY, BUFFER_SIZE, LENGTH])
CALLS = st.one_of(
    st.tuples(st.sampled_from(["opt", "must"]), KEYS, VALUES),
    st.tuples(st.just("opt"), st.text(max_size=5), VALUES),
    st.tuples(st.sampled_from(["opt_long", "must_long"]), KEYS, NUMBERS),
    st.tuples(st.sampled_from(["opt_double", "must_double"]), KEYS, REALS),
    st.tuples(st.just("buffer_size"), NUMBERS),
    st.tuples(st.just("with_file_status"), st.sampled_from(["none", "own", "info"])),
)


def put(fs: AbstractFileSystem, path: str) -> tuple[AbstractFileSystem, str]:
    """Put the file in the filesystem; return the filesystem and the path."""
    fs.pipe_file(path, DATA)
    return fs, path


@pytest.mark.parametrize("where", ["memory", "local", "view", "buffered"])
def test_any_calls_of_a_builder_open_the_same_bytes(where: str, tmp_path: Path) -> None:
    """The same as fs.open(), or their first bytes, up to the declared length."""
    fs, path = {
        "memory": lambda: put(MemoryFileSystem(), f"/{uuid.uuid4()}"),
        "local": lambda: put(LocalFileSystem(), str(tmp_path / "file")),
        "view": lambda: put(MemoryFsspec(OurMemory()), "/file"),
        "buffered": lambda: (Store(), "file"),
    }[where]()  # type: ignore[no-untyped-call]
    info = fs.info(path)
    statuses = {"none": None, "own": status_of(info), "info": info}

    @given(st.lists(CALLS, max_size=6))
    def check(calls: list[tuple[Any, ...]]) -> None:
        builder = open_file(fs, path)
        for method, *args in calls:
            arguments = [statuses[args[0]]] if method == "with_file_status" else args
            getattr(builder, method)(*arguments)
        read = opened(builder.build())
        assert DATA.startswith(read)
        assert read == DATA or where == "buffered"

    check()
