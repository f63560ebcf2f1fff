"""The findings in clients of S3."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyarrow.fs import S3FileSystem

from fscontract.contract.binding import Binding
from fscontract.implementations.bindings.obstore import ObstoreBinding
from fscontract.implementations.bindings.pyarrow import PyArrowBinding
from servers.s3 import client_targets as targets
from servers.s3.client_targets import Place
from tests.findings.conftest import Finds
from tests.findings.s3.conftest import unclosed
from tests.findings.table import SCRIPTS


def test_pyarrow_read_of_minus_one_raises(place: Place, finds: Finds) -> None:
    """Finding S4: the negative size goes to the allocation of the result."""
    actual = "OTHER (SystemError: Negative size passed to PyBytes_FromStringAndSize"
    finds(targets.pyarrow(place), "python.read.all", actual, 1, ["py_read", -1])


def test_pyarrow_iteration_raises(place: Place, finds: Finds) -> None:
    """Finding S5: the methods exist and raise. A file of 11 bytes begins with a newline."""
    finds(targets.pyarrow(place), "python.iter.lines", "UNSUPPORTED (Unsupp", 11, ["py_next"])


def test_pyarrow_read_beyond_the_end_raises(place: Place, finds: Finds) -> None:
    """Finding S6: at the end it returns the end, one byte further it raises."""
    actual = "IO (OSError: Cannot read past end of file)"
    finds(targets.pyarrow(place), "pread.eof", actual, 5, ["pread", "len+1", 1, 0, 1])
    actual = "IO (OSError: Cannot seek past end of file)"
    finds(targets.pyarrow(place), "python.seek.past-end", actual, 5, ["py_seek", "len+1", 0])


@pytest.mark.parametrize("target", [targets.obstore, targets.opendal_s3])
def test_negative_seek_wraps_around(
    target: Callable[[Place], Binding], place: Place, finds: Finds
) -> None:
    """Finding S7: the position is then almost 2**64."""
    finds(target(place), "seek.negative", "returned", 5, ["seek", -1])
    finds(target(place), "python.seek.negative", f"returned {2**64 - 1}", 5, ["py_seek", -1, 0])


@pytest.mark.parametrize("target", [targets.obstore, targets.opendal_s3])
def test_read_of_minus_one_raises(
    target: Callable[[Place], Binding], place: Place, finds: Finds
) -> None:
    """Finding S8: only None reads the rest."""
    actual = "ILLEGAL_ARGUMENT (OverflowError: can't convert negative int to unsigned)"
    finds(target(place), "python.read.all", actual, 5, ["py_read", -1])


def test_obstore_vectored_read_at_the_end_raises(place: Place, finds: Finds) -> None:
    """Finding S9: the store's 416 becomes a GenericError, which is not an OSError."""
    actual = "OTHER (GenericError: Generic S3 error: Error performing GET"
    vectored = ["read_vectored", [["len", 1]], "heap", "absent"]
    finds(targets.obstore(place), "read-vectored.eof-late", actual, 5, vectored)


def test_obstore_refuses_an_empty_range(place: Place, finds: Finds) -> None:
    """Finding S9: it is refused even among other ranges."""
    actual = "ILLEGAL_ARGUMENT (ValueError: Invalid range requested"
    vectored = ["read_vectored", [[1, 0]], "heap", "absent"]
    finds(targets.obstore(place), "read-vectored.zero-length", actual, 5, vectored)


def test_opendal_range_that_ends_beyond_the_end_raises(place: Place, finds: Finds) -> None:
    """Finding S9: it reads all or nothing; the error is not an OSError."""
    actual = "OTHER (Unexpected: Unexpected (permanent) at => reader got too little data"
    finds(targets.opendal_s3(place), "pread.data", actual, 5, ["pread", 3, 4, 0, 4])
    actual = "OTHER (RangeNotSatisfied: "
    finds(targets.opendal_s3(place), "pread.eof", actual, 5, ["pread", "len", 1, 0, 1])


def test_obstore_reader_reads_after_close(place: Place, finds: Finds) -> None:
    """Finding S10: close does nothing."""
    finds(targets.obstore(place), "close.state", "returned 255", 5, ["close"], ["read_byte"])
    finds(targets.obstore(place), "python.tell.closed", "returned 0", 5, ["close"], ["py_tell"])


def test_obstore_reader_decodes_lines_as_text(place: Place, finds: Finds) -> None:
    """Finding S11: readlines needs UTF-8, and readline takes no arguments."""
    actual = "IO (OSError: stream did not contain valid UTF-8)"
    finds(targets.obstore(place), "python.readlines.all", actual, 5, ["py_readlines", None])
    actual = "NULL (TypeError: ReadableFile.readline() takes no arguments"
    finds(targets.obstore(place), "python.readline.limit", actual, 5, ["py_readline", 0])


@pytest.mark.parametrize(
    ("clause", "step"),
    [("python.read.closed", ["py_read", 0]), ("python.readline.closed", ["py_readline", 0])],
)
def test_closed_file_of_opendal_raises_oserror(
    clause: str, step: list[object], place: Place, finds: Finds
) -> None:
    """Finding S12: io documents ValueError."""
    actual = "IO (OSError: I/O operation failed for reading on closed file.)"
    finds(targets.opendal_s3(place), clause, actual, 5, ["close"], step)


def test_file_of_opendal_reads_into_bytes_only(place: Place, finds: Finds) -> None:
    """Finding S12: readinto refuses buffers of other formats."""
    actual = "OTHER (BufferError: buffer contents are not compatible with u8)"
    finds(targets.opendal_s3(place), "python.readinto.formats", actual, 5, ["py_readinto", "I", 1])


def test_s3fs_positioned_read_at_the_end_raises(place: Place, finds: Finds) -> None:
    """Finding S13: the 416 of a positioned read becomes an error, as in F13."""
    actual = "IO (OSError: [Errno 22] The requested range is not satisfiable)"
    finds(targets.s3fs(place), "pread.eof", actual, 5, ["pread", "len", 1, 0, 1])
    vectored = ["read_vectored", [["len", 1]], "heap", "absent"]
    finds(targets.s3fs(place), "read-vectored.eof-late", f"returned [{actual}", 5, vectored)


def test_s3fs_empty_range_returns_the_whole_object(place: Place, finds: Finds) -> None:
    """Finding S14: the range bytes=2-1 is invalid, so a server ignores it."""
    finds(targets.s3fs(place), "pread.zero", "returned 5", 5, ["pread", 2, 8, 0, 0])


@unclosed
def test_mmap_cache_requests_blocks_beyond_the_end(place: Place, finds: Finds) -> None:
    """Finding S15: a read across the end fails once the last block is cached."""
    actual = "IO (OSError: [Errno 22] The requested range is not satisfiable)"
    steps = ["read_byte"], ["read_into", "buf", 0, "buf"]
    finds(targets.s3fs(place, "mmap"), "read-into.data", actual, 2, *steps)


def test_smart_open_clamps_positions_to_the_file(place: Place, finds: Finds) -> None:
    """Finding S16: as in archives, C3 and C6."""
    finds(targets.smart(place), "seek.negative", "returned", 5, ["seek", -1])
    finds(targets.smart(place), "python.seek.past-end", "returned 5", 5, ["py_seek", "len+2", 0])


def test_closed_body_of_boto3_raises_incomplete_read(place: Place, finds: Finds) -> None:
    """Finding S17: the closed connection returns nothing, which is less than announced."""
    actual = "OTHER (IncompleteReadError: 0 read, but total bytes expected is 5.)"
    finds(targets.streaming_body(place), "read-byte.closed", actual, 5, ["close"], ["read_byte"])
    finds(targets.streaming_body(place), "close.state", "returned 0", 5, ["close"], ["py_tell"])


def test_large_size_aborts_the_process_of_obstore() -> None:
    """Finding S18: it allocates memory for the whole size."""
    script = (
        "import obstore; from obstore.store import MemoryStore; s = MemoryStore();"
        "s.put('a', b'abc'); obstore.open_reader(s, 'a').read(2**62)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == -6
    assert b"memory allocation of 4611686018427387904 bytes failed" in done.stderr


@pytest.mark.deep
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="late threads stay where they are")
def test_program_that_awaited_obstore_may_abort_at_exit() -> None:
    """Finding S21: six programs at a time, so that threads have to wait."""
    (script,) = (path for name, path in SCRIPTS.items() if name.startswith("s21_"))

    def aborted(_: int) -> bool:
        done = subprocess.run([sys.executable, script], capture_output=True, check=False)
        return done.returncode == -6

    with ThreadPoolExecutor(6) as pool:
        assert any(pool.map(aborted, range(120)))


def test_ranges_beyond_the_end_panic_in_the_memory_store_of_obstore(finds: Finds) -> None:
    """Finding S18: a PanicException, which is not an Exception."""
    vectored = ["read_vectored", [[0, 1], ["len+1", 2]], "heap", "absent"]
    actual = "OTHER (PanicException: range start must not be greater than end"
    finds(
        ObstoreBinding.from_url("memory://", {}), "read-vectored.good-ranges", actual, 5, vectored
    )


def test_local_file_of_pyarrow_needs_a_seek_after_read_at(tmp_path: Path, finds: Finds) -> None:
    """Finding S19."""
    binding = PyArrowBinding.from_url(f"file://{tmp_path}", {})
    actual = "ILLEGAL_ARGUMENT (ArrowInvalid: Need seeking after ReadAt()"
    finds(binding, "pread.pos-unchanged", actual, 5, ["pread", 0, 4, 0, 4], ["read_byte"])


def test_pyarrow_returns_uninitialised_bytes_of_a_truncated_object(place: Place) -> None:
    """Finding S22: the bytes behind the end of the answer are uninitialised memory."""
    client, store = place.boto3, S3FileSystem(**targets.options_of_pyarrow(place))
    client.put_object(Bucket=place.bucket, Key="k", Body=b"A" * 20_000)
    with store.open_input_file(f"{place.bucket}/k") as file:
        client.put_object(Bucket=place.bucket, Key="k", Body=b"B" * 100)
        data = file.read_at(20_000, 0)
    client.close()
    assert data[:100] == b"B" * 100
    assert len(data) == 20_000


def test_pyarrow_creates_a_marker_for_an_emptied_directory(place: Place) -> None:
    """Finding S20: an emptied directory gets a marker that it did not have before."""
    binding = PyArrowBinding.from_url(
        f"s3://{place.bucket}/deep", targets.options_of_pyarrow(place)
    )
    binding.prepare()
    binding.dispose()
    left = place.boto3.list_objects_v2(Bucket=place.bucket)["Contents"]
    assert [(entry["Key"], entry["Size"]) for entry in left] == [("deep/", 0)]


@pytest.mark.parametrize("cache", ["none", "readahead", "bytes"])
def test_s3fs_raises_at_the_real_end_of_an_overstated_size(cache: str, place: Place) -> None:
    """Finding F25: the bytes come first, then the 416 for the missing ones."""
    binding = targets.s3fs(place, cache)
    binding.prepare()
    file = binding.fs.open(binding.create(b"abcde"), size=6)  # type: ignore[attr-defined]
    assert file.read() == b"abcde"
    with pytest.raises(OSError, match="The requested range is not satisfiable"):
        file.read()
    binding.dispose()
