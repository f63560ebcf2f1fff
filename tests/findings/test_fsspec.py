"""The findings in fsspec."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from fsspec.implementations.cached import CachingFileSystem
from fsspec.implementations.local import LocalFileSystem
from inline_snapshot import snapshot
from pyarrow.fs import LocalFileSystem as ArrowLocalFileSystem

from fscontract.contract.runner.result import Verdict
from fscontract.implementations.bindings.fsspec import FsspecBinding
from servers.http_files import DATA, NoRanges, serving
from tests.findings.conftest import Finds, mended, run

#: A block cache leaves the closing of its own file to the garbage collector.
unclosed = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def memory() -> FsspecBinding:
    """Return files in fsspec's memory."""
    return FsspecBinding.from_url("memory://findings", {})


def on_the_web(url: str, copy: Path) -> FsspecBinding:
    """Return the file of a web server, which has three blocks."""
    return FsspecBinding.from_url(url, {"block_size": "4096"}, file="file", content=copy)


def test_streams_of_a_file_in_memory_share_one_position(finds: Finds) -> None:
    """Finding F1: every open of a path returns the same object."""
    second = {"stream": 1, "call": ["seek", 1]}
    finds(memory(), "open.independent", "returned -1", 1, second, ["read_byte"], streams=2)
    steps = ["read_fully", 0, 4, 0, 4], ["read_byte"]
    finds(memory(), "pread.pos-unchanged", "returned", 5, *steps)


REASONS: dict[str, str] = snapshot(
    {
        "": "its own example fails by open.independent, which this run does not judge",
        "open.independent": "its calls fail by open.independent already",
    }
)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("selected", ["", "open.independent"], ids=["alone", "beside"])
def test_streams_of_one_builder_are_not_verified_where_streams_share_a_position(
    selected: str,
) -> None:
    """Finding F1, whether its clause is selected or not."""
    beside = [selected] if selected else []
    result = run(memory(), "open.build-twice", *beside)
    found = {c.clause.id: (c.outcome, c.reason) for c in result.clauses}
    assert found.pop("open.build-twice") == (Verdict.UNEXERCISED, REASONS[selected])
    assert found == dict.fromkeys(beside, (Verdict.FAIL, ""))
    assert not result.conforms


def test_file_in_memory_is_never_closed(finds: Finds) -> None:
    """Finding F2: neither MemoryFile.close nor the end of a with block does anything."""
    finds(memory(), "close.state", "returned 0", 5, ["close"], ["py_tell"])
    finds(memory(), "python.with.closes", "returned False", 0, ["py_with"])
    finds(memory(), "seek.open", "returned", 5, ["close"], ["seek", 2])


def test_file_in_memory_opened_for_reading_can_be_written(finds: Finds) -> None:
    """Finding F3: the mode is ignored, so readers may change the content for all others."""
    finds(memory(), "python.writable.false", "returned True", 0, ["py_writable"])
    finds(memory(), "python.write.refused", "returned 1", 0, ["py_write"])


@unclosed
@pytest.mark.parametrize("target", ["{}", "blockcache::{}"])
def test_read_block_beyond_the_end_reads_a_negative_length(
    target: str, below: str, finds: Finds
) -> None:
    """Finding F4: the length is cut to the rest, which is negative."""
    binding = FsspecBinding.from_url(target.format(below), {})
    finds(
        binding,
        "read-fully.eof",
        "ILLEGAL_ARGUMENT (ValueError",
        5,
        ["read_fully", "len+2", 1, 0, 1],
    )


def test_read_block_beyond_the_end_of_a_tar_member_reads_a_negative_length(
    tmp_path: Path, finds: Finds
) -> None:
    """Finding F4, as on local files; members of zip files read the rest, which is empty."""
    actual = "ILLEGAL_ARGUMENT (ValueError: read length must"
    finds(tar(tmp_path), "read-fully.eof", actual, 9000, ["read_fully", "len+2", 1, 0, 1])


@pytest.mark.parametrize("cache", ["simplecache", "filecache"])
def test_read_block_fails_on_every_file_of_a_whole_file_cache(
    cache: str, below: str, finds: Finds
) -> None:
    """Finding F5: read_block needs the attribute size, which the cached local file lacks. Fixed
    upstream after 2026.9.0 (fsspec pull request 2168)."""
    binding = FsspecBinding.from_url(f"{cache}::{below}", {})
    finds(binding, "read-fully.data", "OTHER (AttributeError: ", 5, ["read_fully", 0, 1, 0, 1])


def arrow_wrapped(directory: Path) -> FsspecBinding:
    """Return local files of PyArrow behind fsspec."""
    return FsspecBinding(ArrowFSWrapper(ArrowLocalFileSystem()), str(directory), "arrow")


def test_range_from_the_start_fails_behind_the_wrapper_of_arrow(
    tmp_path: Path, finds: Finds
) -> None:
    """Finding F27: a start of 0 is taken for none, so the file is opened as unseekable and then
    sought."""
    error = "IO (OSError: only valid on seekable files)"
    finds(arrow_wrapped(tmp_path), "pread.data", error, 5, ["pread", 0, 1, 0, 1])
    steps = ["read_vectored", [[0, 1]], "heap", "absent"]
    finds(arrow_wrapped(tmp_path), "read-vectored.data", f"returned [{error}]", 5, steps)


def test_wrapper_of_arrow_has_the_findings_of_its_files(tmp_path: Path, finds: Finds) -> None:
    """Findings S4 and F4: the wrapper hands on what PyArrow, io and read_block do."""
    error = "OTHER (SystemError: Negative size"
    finds(arrow_wrapped(tmp_path), "python.read.all", error, 1, ["py_read", -1])
    finds(arrow_wrapped(tmp_path), "read-fully.eof", error, 0, ["read_fully", 1, 1, 0, 1])


@unclosed
def test_close_fails_on_every_local_file_of_a_block_cache(below: str, finds: Finds) -> None:
    """Finding F6: the cache sets `closed`, a property of LocalFileOpener without a setter
    (fsspec issue 1456)."""
    binding = FsspecBinding.from_url(f"blockcache::{below}", {})
    finds(binding, "close.no-raise", "OTHER (AttributeError: ", 5, ["close"])


@unclosed
def test_block_cache_fails_on_a_file_that_grew(below: str, finds: Finds) -> None:
    """Finding F7: the map of the cache file gets the new length of the file."""
    binding = FsspecBinding.from_url(f"blockcache::{below}", {})
    steps = ["change", "append"], ["pread", 0, 1, 0, 1]
    finds(binding, "consistency.errors", "ILLEGAL_ARGUMENT (ValueError: mmap", 1, *steps)


def test_local_file_can_be_entered_after_close(below: str, finds: Finds) -> None:
    """Finding F8: LocalFileOpener.__enter__ does not check whether the file is closed."""
    binding = FsspecBinding.from_url(below, {})
    finds(binding, "python.with.closed", "returned True", 0, ["close"], ["py_with"])


def test_buffered_file_can_be_entered_after_close(ranges: str, copy: Path, finds: Finds) -> None:
    """Finding F8: nor does AbstractBufferedFile.__enter__."""
    steps = ["close"], ["py_with"]
    finds(on_the_web(ranges, copy), "python.with.closed", "returned True", 9000, *steps)


@pytest.mark.parametrize("clause", ["pread.isolation", "open.independent"])
def test_threads_that_read_a_tar_file_mix_up_their_data(clause: str, tmp_path: Path) -> None:
    """Finding F10: members share the archive's file and its position, without a lock."""
    result = run(tar(tmp_path), clause)
    (found,) = result.clauses
    if found.outcome == "pass":
        mended(result.versions)
    assert found.outcome == "fail"
    assert found.counterexample is not None
    assert found.counterexample.interleaving


def test_positioned_read_from_a_server_without_ranges_returns_the_whole_file(
    no_ranges: str, copy: Path, finds: Finds
) -> None:
    """Finding F11: cat_file does not check whether the answer is the requested part."""
    calls = ["pread", 1, 4, 0, 4], ["read_vectored", [[2, 2]], "heap", "absent"]
    finds(on_the_web(no_ranges, copy), "pread.count", "returned 9000", 9000, calls[0])
    finds(
        on_the_web(no_ranges, copy), "pread.eof", "returned 9000", 9000, ["pread", "len", 1, 0, 1]
    )
    actual = "returned [OTHER (got 9000 of 2 bytes)]"
    finds(on_the_web(no_ranges, copy), "read-vectored.data", actual, 9000, calls[1])


def test_seek_on_a_server_without_ranges_fails_in_the_next_read(
    no_ranges: str, copy: Path, finds: Finds
) -> None:
    """Finding F12: the file says it is seekable, and a read elsewhere raises a ValueError
    (fsspec issue 1626)."""
    actual = "ILLEGAL_ARGUMENT (ValueError: The HTTP server"
    steps = ["seek", 1], ["read_byte"]
    finds(on_the_web(no_ranges, copy), "seek.pos", actual, 9000, *steps)


def test_sequential_read_from_a_server_without_ranges_fails_after_a_block(
    no_ranges: str, copy: Path, finds: Finds
) -> None:
    """Finding F12: the cache requests the rest by range."""
    actual = "ILLEGAL_ARGUMENT (ValueError: The HTTP server"
    steps = ["py_read", 1], ["py_read", 4096]
    finds(on_the_web(no_ranges, copy), "python.read.data", actual, 9000, *steps)


def test_positioned_read_at_the_end_on_the_web_raises(
    ranges: str, copy: Path, finds: Finds
) -> None:
    """Finding F13: the server's 416 becomes aiohttp's error, which is not an OSError."""
    actual = "OTHER (ClientResponseError: 416"
    finds(on_the_web(ranges, copy), "pread.eof", actual, 9000, ["pread", "len", 1, 0, 1])
    vectored = ["read_vectored", [["len", 1]], "heap", "absent"]
    finds(on_the_web(ranges, copy), "read-vectored.eof-late", f"returned [{actual}", 9000, vectored)


@pytest.mark.parametrize(
    ("clause", "step"),
    [
        ("python.readline.limit", ["py_readline", 0]),
        ("python.readline.line", ["py_readline", -1]),
        ("python.readlines.hint", ["py_readlines", 1]),
        ("python.read.none", ["py_read", None]),
    ],
)
def test_buffered_file_of_fsspec_lacks_arguments_of_iobase(
    clause: str, step: list[object], ranges: str, copy: Path, finds: Finds
) -> None:
    """Finding F14: AbstractBufferedFile narrows the arguments of IOBase's methods."""
    finds(on_the_web(ranges, copy), clause, "NULL (TypeError: ", 9000, step)


def test_buffered_file_of_fsspec_answers_tell_and_seek_after_close(
    ranges: str, copy: Path, finds: Finds
) -> None:
    """Finding F15: tell and seek of AbstractBufferedFile do not check."""
    finds(
        on_the_web(ranges, copy), "python.tell.closed", "returned 0", 9000, ["close"], ["py_tell"]
    )
    finds(on_the_web(ranges, copy), "seek.open", "returned", 9000, ["close"], ["seek", 1])


def test_buffered_file_of_fsspec_refuses_a_write_with_a_plain_value_error(
    ranges: str, copy: Path, finds: Finds
) -> None:
    """Finding F16: code that catches OSError misses it."""
    actual = "ILLEGAL_ARGUMENT (ValueError: File not in write mode)"
    finds(on_the_web(ranges, copy), "python.write.refused", actual, 9000, ["py_write"])


def tar(tmp_path: Path) -> FsspecBinding:
    """Return a member of a tar file."""
    whole, copy = tmp_path / "a.tar", tmp_path / "copy"
    with tarfile.open(whole, "w") as made:
        info = tarfile.TarInfo("it")
        info.size = len(DATA)
        made.addfile(info, io.BytesIO(DATA))
    copy.write_bytes(DATA)
    return FsspecBinding.from_url(f"tar://::file://{whole}", {}, file="it", content=copy)


def test_streamed_file_on_the_web_claims_to_be_seekable(copy: Path, finds: Finds) -> None:
    """Finding F17: it inherits the answer, and a readline that seeks back."""
    with serving(NoRanges) as url:
        for clause, actual, step in (
            ("python.seekable.false", "returned True", ["py_seekable"]),
            ("python.iter.lines", "ILLEGAL_ARGUMENT (ValueError: Cannot seek", ["py_next"]),
            ("python.read.none", "returned (empty)", ["py_read", None]),
        ):
            binding = on_the_web(url, copy)
            finds(binding, clause, actual, 9000, step, without="supports-seek")


def test_closed_streamed_file_on_the_web_raises_an_error_of_aiohttp(
    copy: Path, finds: Finds
) -> None:
    """Finding F18: read uses the connection that close has closed."""
    actual = "OTHER (ClientConnectionError: Connection closed)"
    with serving(NoRanges) as url:
        for clause, step in (
            ("read-byte.closed", ["read_byte"]),
            ("python.iter.closed", ["py_next"]),
        ):
            binding = on_the_web(url, copy)
            finds(binding, clause, actual, 9000, ["close"], step, without="supports-seek")


def test_negative_end_before_the_start_reads_on(below: str, tmp_path: Path, finds: Finds) -> None:
    """Finding F31: the number of bytes is negative, which means the rest for some files."""
    negative = ["fs_cat_file", 0, -10]
    error = "ILLEGAL_ARGUMENT (ValueError: read length must"
    clause = "filesystem.cat-file.negative"
    finds(FsspecBinding.from_url(below, {}), clause, error, 3, negative)
    finds(tar(tmp_path), clause, error, 9000, ["fs_cat_file", 0, -9003])
    finds(tar(tmp_path), clause, "returned ", 9000, ["fs_cat_file", 0, -9001])


def test_asynchronous_stream_over_http_ignores_seek_and_close(
    ranges: str, copy: Path, finds: Finds
) -> None:
    """Findings F41 and F42."""
    for clause, step in (("seek", ["fs_async_seek", 2]), ("closed", ["fs_async_closed"])):
        finds(on_the_web(ranges, copy), f"async.open.{clause}", "returned ", 9000, step)


@unclosed
def test_block_cache_that_checks_files_fails_on_one_that_grew(tmp_path: Path, finds: Finds) -> None:
    """Finding F43."""
    cache = CachingFileSystem(
        fs=LocalFileSystem(), check_files=True, cache_storage=str(tmp_path / "cache")
    )
    binding = FsspecBinding(cache, str(tmp_path), "blockcache")
    step, error = ["fs_chain_checked", "longer"], "ILLEGAL_ARGUMENT (ValueError: mmap length"
    finds(binding, "chain.checked.changed", error, 5, step)


@unclosed
def test_block_cache_whose_copy_expired_fails_on_one_that_grew(
    tmp_path: Path, finds: Finds
) -> None:
    """Finding F43."""
    cache = CachingFileSystem(
        fs=LocalFileSystem(), expiry_time=100, cache_storage=str(tmp_path / "cache")
    )
    binding = FsspecBinding(cache, str(tmp_path), "blockcache")
    step, error = ["fs_chain_expired", "longer"], "ILLEGAL_ARGUMENT (ValueError: mmap length"
    finds(binding, "chain.expired.changed", error, 5, step)


@pytest.mark.parametrize("cache", ["simplecache", "filecache"])
def test_file_caches_fail_without_a_size_and_for_a_pattern(
    cache: str, below: str, finds: Finds
) -> None:
    """Findings F32 and F33."""
    error = "OTHER (AttributeError: "
    binding = FsspecBinding.from_url(f"{cache}::{below}", {})
    finds(binding, "filesystem.cat-file.negative", error, 5, ["fs_cat_file", -2, None])
    binding = FsspecBinding.from_url(f"{cache}::{below}", {})
    wrong = "OTHER (WrongType: expected a dictionary, got bytes)"
    finds(binding, "filesystem.cat.glob", wrong, 5, ["fs_cat", "glob", "raise"])


def test_simplecache_raises_for_a_missing_file_among_ranges(below: str) -> None:
    """Finding F34."""
    result = run(
        FsspecBinding.from_url(f"simplecache::{below}", {}), "filesystem.cat-ranges.return"
    )
    (clause,) = result.clauses
    if clause.outcome is Verdict.PASS:
        mended(dict(result.versions))
    assert clause.outcome is Verdict.LAX
    assert "FileNotFoundError" in clause.counterexamples[0].actual


def test_end_of_zero_is_an_invalid_range_over_http(ranges: str, copy: Path, finds: Finds) -> None:
    """Finding F35: ends of HTTP ranges are inclusive, and 0 becomes -1. This server ignores it."""
    for clause, call in (("one-limit", [None, 0]), ("negative", [0, -9001])):
        target = on_the_web(ranges, copy)
        finds(target, f"filesystem.cat-file.{clause}", "returned ", 9000, ["fs_cat_file", *call])
