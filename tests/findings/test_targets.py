"""All findings of a quick run in each target, clause by clause.

A new line is a new finding, or a false one. A missing line is a bug that the kit no longer sees.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from inline_snapshot import snapshot
from pyarrow.fs import LocalFileSystem as ArrowLocalFileSystem

from fscontract.contract.api.openfile_options import BUFFER_SIZE
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.counterexamples import ShrinkingCounterexamples
from fscontract.contract.runner.executor import Executor
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding
from servers.http_files import DATA, NoRanges, serving
from tests.findings.conftest import holds, run

#: Blocks by which the files of a web server have several.
SMALL = {"block_size": "4096"}
#: What AbstractBufferedFile does whatever is below it (F8, F14, F15, F16, F51, F58).
BUFFERED = {
    *("python.readline.line", "python.readline.limit"),
    *("python.readlines.all", "python.readlines.hint"),
    *("python.seek.closed", "python.tell.closed", "python.write.refused"),
}
BUFFERED_LAX = {
    *("python.read.none", "python.readinto.readonly-stays", "python.with.closed", "seek.open")
}
#: A server that takes no notice of ranges (F11, F12).
WHOLE_FILE = {
    *(
        "pread.count",
        "pread.eof",
        "read-fully.data",
        "read-fully.eof",
        "read-fully.whole",
        "read-vectored.data",
    ),
    *(
        "read-vectored.eof-late",
        "read-vectored.exact-end",
        "read-vectored.good-ranges",
        "read-vectored.overlap-allowed",
    ),
}
#: cat_file and read_block of fsspec's base class (F31, F4).
OF_BASE = {"filesystem.cat-file.negative", "filesystem.read-block.past-end"}
#: The same of files without a size (F32, F5).
UNSIZED = {f"filesystem.read-block.{name}" for name in ("range", "all", "delimiter")} | OF_BASE
#: Ranges whose start is after their end (F31).
REVERSED = {"filesystem.cat-file.reversed", "filesystem.cat-ranges.reversed"}
#: Coroutines of HTTP, and what its streams do besides (F41, F42).
AWAITED = {"async.open.seek", "async.cat-file.data"}
AWAITED_LAX = {"async.open.closed", "async.cat-file.limits", "async.cat-ranges.limits"}
AWAITED_WHOLE_LAX = AWAITED_LAX | {"async.cat-ranges.errors"}
#: Reads without a stream that a server without ranges answers with the whole file (F11).
WHOLE_ANSWERS = (
    UNSIZED
    | AWAITED
    | {
        *("filesystem.cat-file.range", "filesystem.cat-file.one-limit", "filesystem.tail.data"),
        *("filesystem.cat-ranges.data", "filesystem.cat-ranges.scalars", "async.cat-ranges.data"),
    }
)
PAST_END = {"filesystem.cat-file.past-end", "filesystem.cat-ranges.past-end"}
WHOLE_ANSWERS_LAX = REVERSED | PAST_END
WHOLE_ANSWERS_LAX |= {"filesystem.cat-ranges.negative", "filesystem.cat-ranges.return"}
#: Ranges that begin at 0, of a filesystem of PyArrow behind fsspec (F27).
FROM_THE_START = {"pread.data", "pread.zero"} | {
    f"read-vectored.{name}" for name in ("data", "eof-late", "zero-length")
}
#: Threads on one tar file (F10).
THREADS = {
    *("model.pread-thread-safe", "pread.isolation", "pread.serializable"),
    *("read-vectored.concurrent", "read-vectored.multiple", "open.independent"),
}

#: In the race of `model.pread-thread-safe` a call may hold bytes that another one asked for.
RACE = frozenset({"pread.buffers"})


def opened(how: Callable[[str], BinaryIO], directory: Path) -> PythonFileBinding:
    """Return files below a directory, opened by a function."""
    return PythonFileBinding(how, str(directory), "files")


def _raw(path: str) -> BinaryIO:
    return open(path, "rb", buffering=0)


def _buffered(path: str) -> BinaryIO:
    return open(path, "rb")


def _random(path: str) -> BinaryIO:
    return open(path, "r+b")


def _bytesio(path: str) -> BinaryIO:
    return io.BytesIO(Path(path).read_bytes())


@pytest.mark.usefixtures("programs")
def test_files_of_the_system_have_no_findings(tmp_path: Path) -> None:
    """Comparison for the other targets."""
    holds(run(opened(_buffered, tmp_path)), set(), set())


def test_raw_files_have_their_findings(tmp_path: Path) -> None:
    """C1."""
    holds(run(opened(_raw, tmp_path)), {"python.seekable.true"}, set())


@pytest.mark.usefixtures("programs")
def test_bytesio_has_its_findings(tmp_path: Path) -> None:
    """C5; that it can be written is observed."""
    holds(run(opened(_bytesio, tmp_path)), set(), {"python.seek.negative"})


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("how", "lax"), [(_bytesio, {"python.seek.negative"}), (_random, set[str]())]
)
def test_files_declared_writable_have_their_findings(
    how: Callable[[str], BinaryIO], lax: set[str], tmp_path: Path
) -> None:
    """C5."""
    features = frozenset({"python-file-writable"})
    holds(run(opened(how, tmp_path), features=features), set(), lax)


def test_local_files_have_their_findings(below: str) -> None:
    """F4, F8, F31."""
    binding = FsspecBinding.from_url(below, {})
    binding.remote = True  # few programs tell as much
    found = run(binding)
    holds(found, {"read-fully.eof"} | OF_BASE, {"python.with.closed"} | REVERSED)


@pytest.mark.deep
def test_directory_filesystem_has_its_findings_and_those_of_the_one_below(tmp_path: Path) -> None:
    """F4, F8, F31, and F46 and F59, which are its own."""
    fs = DirFileSystem(str(tmp_path), LocalFileSystem())
    found = run(FsspecBinding(fs, "", "dir"))
    fails = {"read-fully.eof", "filesystem.get.directory", "filesystem.glob.folders"} | OF_BASE
    holds(found, fails, {"python.with.closed"} | REVERSED)


@pytest.mark.deep
def test_wrapper_of_an_arrow_filesystem_has_its_findings(tmp_path: Path) -> None:
    """F4, F8, F27, F31, F59, S4."""
    fs = ArrowFSWrapper(ArrowLocalFileSystem())
    found = run(FsspecBinding(fs, str(tmp_path), "arrow"))
    arrows = {"python.read.all", "read-fully.eof", "filesystem.glob.folders"}
    without = {
        *("filesystem.cat-file.range", "filesystem.cat-file.one-limit"),
        *("filesystem.cat-ranges.data", "filesystem.cat-ranges.scalars"),
    }
    lax = {"python.read.none", "python.with.closed"} | WHOLE_ANSWERS_LAX
    holds(found, FROM_THE_START | arrows | without | OF_BASE, lax)


def test_memory_has_its_findings() -> None:
    """C5, F1, F2, F3."""
    fails = {
        *("open.independent", "pread.pos-unchanged", "close.state", "python.with.closes"),
        *("python.writable.false", "python.write.refused"),
    }
    threads = frozenset({"pread.isolation", "pread.serializable", "model.pread-thread-safe"})
    lax = {"seek.open", "python.seek.negative", "python.with.closed"}
    binding = FsspecBinding.from_url("memory://findings", {})
    holds(run(binding, *threads), {*threads}, set())
    binding.remote = True  # apart from threads, few programs tell as much
    holds(run(binding), fails, lax, sampled=threads | RACE)


def test_shared_position_in_memory_is_not_charged_to_vectored_reads() -> None:
    """`read_block` without a thread already moves the position, so vectored reads hid that."""
    alone = run(FsspecBinding.from_url("memory://findings", {}), "read-vectored.concurrent")
    holds(alone, set(), set())


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    "cache", ["simplecache", pytest.param("filecache", marks=pytest.mark.deep)]
)
def test_caches_of_whole_files_have_their_findings(cache: str, below: str) -> None:
    """F5, F28, F31, F32, F33, F34, F47 and F53."""
    binding = FsspecBinding.from_url(f"{cache}::{below}", {})
    binding.remote = True  # it is slow, and few programs tell as much
    fully = {"read-fully.data", "read-fully.whole"}
    alone = "return" if cache == "simplecache" else "negative"
    fails = (
        fully
        | UNSIZED
        | {
            "consistency.opened",
            "filesystem.cat.glob",
            "filesystem.cat.recursive",
            "readers.zarr.shards",
        }
    )
    fails |= {"chain.simplecache.threads"} if cache == "simplecache" else set()
    lax = {"chain.threads"} if cache == "filecache" else set()
    holds(run(binding), fails, REVERSED | lax | {f"filesystem.cat-ranges.{alone}"})


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zip_has_its_findings(method: int, tmp_path: Path, copy: Path) -> None:
    """C2, C3, C6, C11, F31."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as made:
        made.writestr("in/it", DATA)
    url = f"zip://::file://{tmp_path}/a.zip"
    binding = FsspecBinding.from_url(url, {}, file="in/it", content=copy)
    lax = {"python.seek.negative", "python.seek.past-end"} | REVERSED
    binding.remote = True  # it is slow, and few programs tell as much
    fails = {"seek.negative", "python.readline.closed", "filesystem.cat-file.negative"}
    holds(run(binding), {*fails, "python.read1"}, lax)


def test_tar_has_its_findings(tmp_path: Path, copy: Path) -> None:
    """C3, C4, C6, F4, F9, F10, F31."""
    with tarfile.open(tmp_path / "a.tar", "w") as made:
        info = tarfile.TarInfo("in/it")
        info.size = len(DATA)
        made.addfile(info, io.BytesIO(DATA))
    url = f"tar://::file://{tmp_path}/a.tar"
    threads, binding = (
        FsspecBinding.from_url(url, {}, file="in/it", content=copy) for _ in range(2)
    )
    fails = {"seek.negative", "pread.eof", "read-fully.eof", "python.tell.closed"} | OF_BASE
    lax = {"python.seek.negative", "python.seek.past-end"} | REVERSED
    holds(run(threads, *THREADS), THREADS, set())
    binding.remote = True  # apart from threads, few programs tell as much
    holds(run(binding), fails, lax, sampled=frozenset(THREADS) | RACE)


def test_web_server_with_ranges_has_its_findings(ranges: str, copy: Path) -> None:
    """F8, F13, F14, F15, F16, F35, F41, F42, F51."""
    binding = FsspecBinding.from_url(ranges, SMALL, file="file", content=copy)
    fails = {"pread.eof", "read-vectored.eof-late"} | BUFFERED
    binding.remote = True  # few programs tell as much
    fails |= {"filesystem.cat-file.one-limit", "filesystem.cat-file.negative"}
    holds(run(binding), fails | AWAITED, BUFFERED_LAX | REVERSED | PAST_END | AWAITED_LAX)


@pytest.mark.deep
def test_web_server_without_ranges_has_its_findings(no_ranges: str, copy: Path) -> None:
    """F8, F11, F12, F14, F15, F16."""
    binding = FsspecBinding.from_url(no_ranges, SMALL, file="file", content=copy)
    reading_on = {"read-byte.value", "read-into.data", "python.read.data", "python.readinto.data"}
    moving = {"seek.pos", "python.seek.set", "python.seek.end", "filesystem.open.cache-type"}
    fails = WHOLE_FILE | BUFFERED | reading_on | moving | WHOLE_ANSWERS | {"open.std-recognised"}
    lax = BUFFERED_LAX | WHOLE_ANSWERS_LAX | AWAITED_WHOLE_LAX
    holds(run(binding), fails, lax)


def test_buffer_size_of_zero_makes_each_read_a_request_for_a_range(
    no_ranges: str, copy: Path
) -> None:
    """F12: the second read fails, and the option is standard."""
    binding = FsspecBinding.from_url(no_ranges, SMALL, file="file", content=copy)
    opening = Opening("file", (("must_long", BUFFER_SIZE, 0),))
    program = Program(len(DATA), (Step("read_byte"), Step("read_byte")), opening=opening)
    executor = Executor(binding, load_profile("fsspec").features, binding.buffer)
    violation = executor.run(program).violation
    assert violation is not None
    clause = "open.std-recognised"
    assert ShrinkingCounterexamples(executor, frozenset({clause})).violation(violation) == clause


@pytest.mark.deep
def test_file_of_one_block_on_a_web_server_without_ranges_has_its_findings(
    no_ranges: str, copy: Path
) -> None:
    """F11, F12: a block has 5 MiB by default, so sequential reads need no other request, unless
    a size of 0 disables read-ahead."""
    binding = FsspecBinding.from_url(no_ranges, {}, file="file", content=copy)
    moving = {"seek.pos", "python.seek.set", "python.seek.end", "filesystem.open.cache-type"}
    result = run(binding)
    fails = WHOLE_FILE | BUFFERED | moving | WHOLE_ANSWERS | {"open.std-recognised"}
    lax = BUFFERED_LAX | WHOLE_ANSWERS_LAX | AWAITED_WHOLE_LAX
    holds(result, fails, lax)
    assert "9000 bytes" in result.warnings[0]
    assert result.warnings[0].replace(no_ranges, "URL/") == snapshot(
        "URL/: files are read in blocks of 5242880 bytes, whose ends were not tried: the "
        "file has 9000 bytes"
    )


@pytest.mark.deep
def test_web_server_that_announces_no_ranges_has_its_findings(copy: Path) -> None:
    """F8, F11, F14, F15, F16, F17, F18."""
    with serving(NoRanges) as url:
        binding = FsspecBinding.from_url(url, {}, file="file", content=copy)
        result = run(binding, without="supports-seek")
    closed = {
        *("read-byte.closed", "read-into.open", "python.read.closed", "python.readinto.closed"),
        *("python.readline.closed", "python.readlines.closed", "python.iter.closed"),
    }
    streamed = {"python.seekable.false", "python.iter.lines"}
    fails = WHOLE_FILE | BUFFERED - {"python.seek.closed"} | closed | streamed
    lax = BUFFERED_LAX - {"seek.open"} | WHOLE_ANSWERS_LAX | AWAITED_WHOLE_LAX
    sought = {
        c for c in WHOLE_ANSWERS if c.startswith(("filesystem.read-block", "filesystem.tail"))
    }
    holds(result, fails | WHOLE_ANSWERS - sought, lax)
