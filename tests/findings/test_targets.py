"""All that a quick run finds in each target, clause by clause: a new line is a new finding, or a
false one, and a line that is gone is a fault that the kit no longer sees."""

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
from pyarrow.fs import LocalFileSystem as ArrowLocalFileSystem

from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.python_file import PyFileBinding
from tests.end_to_end.servers import DATA, NoRanges, serving
from tests.findings.conftest import holds, run

#: Blocks by which the files of a web server have several.
SMALL = {"block_size": "4096"}
#: What AbstractBufferedFile does whatever is below it (F8, F14, F15, F16).
BUFFERED = {
    *("pyio.readline.line", "pyio.readline.limit", "pyio.readlines.hint"),
    *("pyio.seek.closed", "pyio.tell.closed", "pyio.write.refused"),
}
BUFFERED_LAX = {"pyio.read.none", "pyio.with.closed", "seek.open"}
#: A server that takes no notice of ranges (F11, F12).
WHOLE_FILE = {
    *("pread.count", "pread.eof", "full.data", "full.eof", "full.whole", "vread.data"),
    *("vread.eof-late", "vread.exact-end", "vread.good-ranges", "vread.overlap-allowed"),
}
#: Ranges that begin at 0, of a filesystem of PyArrow behind fsspec (F27).
FROM_THE_START = {
    *("pread.data", "pread.eof", "pread.zero", "vread.data", "vread.eof-late", "vread.exact-end"),
    *("vread.good-ranges", "vread.overlap-allowed", "vread.zero-length"),
}
#: Threads on one tar file (F10).
THREADS = {
    *("model.pread-thread-safe", "pread.isolation", "pread.serializable"),
    *("vread.concurrent", "vread.multiple"),
}


def opened(how: Callable[[str], BinaryIO], directory: Path) -> PyFileBinding:
    """Files below a directory, opened by a function."""
    return PyFileBinding(how, str(directory), "files")


def _raw(path: str) -> BinaryIO:
    return open(path, "rb", buffering=0)


def _buffered(path: str) -> BinaryIO:
    return open(path, "rb")


def _random(path: str) -> BinaryIO:
    return open(path, "r+b")


def _bytesio(path: str) -> BinaryIO:
    return io.BytesIO(Path(path).read_bytes())


def test_files_of_the_system_have_none(tmp_path: Path) -> None:
    """What the others are held against is possible."""
    holds(run(opened(_buffered, tmp_path)), set(), set())


def test_raw_files(tmp_path: Path) -> None:
    """C1, C2."""
    holds(run(opened(_raw, tmp_path)), {"pyio.seekable.true", "pyio.readline.closed"}, set())


def test_bytesio(tmp_path: Path) -> None:
    """C5; and it can be written, which nobody has declared."""
    fails = {"pyio.writable.false", "pyio.write.refused"}
    holds(run(opened(_bytesio, tmp_path)), fails, {"pyio.seek.negative"})


@pytest.mark.parametrize(
    ("how", "lax"), [(_bytesio, {"pyio.seek.negative"}), (_random, set[str]())]
)
def test_files_that_are_declared_writable(
    how: Callable[[str], BinaryIO], lax: set[str], tmp_path: Path
) -> None:
    """Nothing but C5."""
    features = frozenset({"python-file-writable"})
    holds(run(opened(how, tmp_path), features=features), set(), lax)


def test_local_files(below: str) -> None:
    """F4, F8."""
    holds(run(FsspecBinding.from_url(below, {})), {"full.eof"}, {"pyio.with.closed"})


def test_a_directory_filesystem(tmp_path: Path) -> None:
    """F4, F8, as the filesystem below it."""
    fs = DirFileSystem(str(tmp_path), LocalFileSystem())
    holds(run(FsspecBinding(fs, "", "dir")), {"full.eof"}, {"pyio.with.closed"})


def test_a_wrapper_of_an_arrow_filesystem(tmp_path: Path) -> None:
    """C2, F4, F8, F27, S4."""
    fs = ArrowFSWrapper(ArrowLocalFileSystem())
    found = run(FsspecBinding(fs, str(tmp_path), "arrow"))
    arrows = {"pyio.read.all", "pyio.read.eof", "pyio.readline.closed", "full.eof"}
    holds(found, FROM_THE_START | arrows, {"pyio.read.none", "pyio.with.closed"})


def test_memory() -> None:
    """C5, F1, F2, F3."""
    fails = {
        *("open.independent", "pread.isolation", "pread.pos-unchanged", "pread.serializable"),
        *("vread.concurrent", "close.state", "pyio.with.closes"),
        *("pyio.writable.false", "pyio.write.refused"),
    }
    lax = {"full.closed", "pread.closed", "seek.open", "pyio.seek.negative", "pyio.with.closed"}
    holds(run(FsspecBinding.from_url("memory://findings", {})), fails, lax)


@pytest.mark.parametrize("cache", ["simplecache", "filecache"])
def test_caches_of_whole_files(cache: str, below: str) -> None:
    """F5."""
    binding = FsspecBinding.from_url(f"{cache}::{below}", {})
    binding.remote = True  # it is slow, and few programs tell as much
    holds(run(binding), {"full.data", "full.eof", "full.whole"}, set())


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zip(method: int, tmp_path: Path, copy: Path) -> None:
    """C2, C3, C6."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w", method) as made:
        made.writestr("in/it", DATA)
    url = f"zip://::file://{tmp_path}/a.zip"
    binding = FsspecBinding.from_url(url, {}, file="in/it", content=copy)
    lax = {"pyio.seek.negative", "pyio.seek.past-end"}
    binding.remote = True  # it is slow, and few programs tell as much
    holds(run(binding), {"seek.negative", "pyio.readline.closed"}, lax)


def test_tar(tmp_path: Path, copy: Path) -> None:
    """C3, C4, C6, F4, F9, F10."""
    with tarfile.open(tmp_path / "a.tar", "w") as made:
        info = tarfile.TarInfo("in/it")
        info.size = len(DATA)
        made.addfile(info, io.BytesIO(DATA))
    url = f"tar://::file://{tmp_path}/a.tar"
    binding = FsspecBinding.from_url(url, {}, file="in/it", content=copy)
    fails = {"seek.negative", "pread.eof", "full.eof", "pyio.tell.closed"} | THREADS
    holds(run(binding), fails, {"pyio.seek.negative", "pyio.seek.past-end"})


def test_a_web_server_with_ranges(ranges: str, copy: Path) -> None:
    """F8, F13, F14, F15, F16."""
    binding = FsspecBinding.from_url(ranges, SMALL, file="file", content=copy)
    holds(run(binding), {"pread.eof", "vread.eof-late"} | BUFFERED, BUFFERED_LAX)


def test_a_web_server_without_ranges(no_ranges: str, copy: Path) -> None:
    """F8, F11, F12, F14, F15, F16."""
    binding = FsspecBinding.from_url(no_ranges, SMALL, file="file", content=copy)
    reading_on = {"readb.data", "pyio.read.advance", "pyio.readline.advance"}
    moving = {"seek.pos", "pyio.seek.set", "pyio.seek.end"}
    holds(run(binding), WHOLE_FILE | BUFFERED | reading_on | moving, BUFFERED_LAX)


def test_a_web_server_without_ranges_for_a_file_of_one_block(no_ranges: str, copy: Path) -> None:
    """F11, F12: without an option a block has 5 MiB, so reading on needs no other request, unless
    a size of 0 says that nothing is to be read ahead."""
    binding = FsspecBinding.from_url(no_ranges, {}, file="file", content=copy)
    moving = {"seek.pos", "pyio.seek.set", "pyio.seek.end", "open.std-recognised"}
    result = run(binding)
    holds(result, WHOLE_FILE | BUFFERED | moving, BUFFERED_LAX)
    assert "the file has 9000 bytes" in result.warnings[0]


def test_a_web_server_that_says_it_has_no_ranges(copy: Path) -> None:
    """F8, F11, F14, F15, F16, F17, F18."""
    with serving(NoRanges) as url:
        binding = FsspecBinding.from_url(url, {}, file="file", content=copy)
        result = run(binding, without="supports-seek")
    closed = {
        *("read1.closed", "readb.open", "pyio.read.closed", "pyio.readinto.closed"),
        *("pyio.readline.closed", "pyio.readlines.closed", "pyio.iter.closed"),
    }
    streamed = {"pyio.seekable.false", "pyio.iter.lines"}
    fails = WHOLE_FILE | BUFFERED - {"pyio.seek.closed"} | closed | streamed
    holds(result, fails, BUFFERED_LAX - {"seek.open"})
