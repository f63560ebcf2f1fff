"""What the kit finds in clients of S3, finding by finding."""

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


def test_pyarrow_does_not_read_to_the_end_for_minus_one(place: Place, finds: Finds) -> None:
    """Finding S4: a negative size goes as it is to the allocation of the result."""
    actual = "OTHER (SystemError: Negative size passed to PyBytes_FromStringAndSize"
    finds(targets.pyarrow(place), "python.read.all", actual, 1, ["py_read", -1])


def test_pyarrow_reads_no_lines(place: Place, finds: Finds) -> None:
    """Finding S5: the methods are there, and raise."""
    for clause, step in (
        ("python.readline.line", ["py_readline", -1]),
        ("python.readlines.all", ["py_readlines", None]),
        ("python.iter.lines", ["py_next"]),
    ):
        finds(targets.pyarrow(place), clause, "UNSUPPORTED (Unsupp", 16, step)


def test_pyarrow_raises_beyond_the_end(place: Place, finds: Finds) -> None:
    """Finding S6: at the end there is an end, one byte further an error."""
    actual = "IO (OSError: Cannot read past end of file)"
    finds(targets.pyarrow(place), "pread.eof", actual, 5, ["pread", "len+1", 1, 0, 1])
    actual = "IO (OSError: Cannot seek past end of file)"
    finds(targets.pyarrow(place), "python.seek.past-end", actual, 5, ["py_seek", "len+1", 0])


@pytest.mark.parametrize("target", [targets.obstore, targets.opendal_s3])
def test_a_negative_seek_wraps_round(
    target: Callable[[Place], Binding], place: Place, finds: Finds
) -> None:
    """Finding S7: the position is then almost 2**64."""
    finds(target(place), "seek.negative", "returned", 5, ["seek", -1])
    finds(target(place), "python.seek.negative", f"returned {2**64 - 1}", 5, ["py_seek", -1, 0])


@pytest.mark.parametrize("target", [targets.obstore, targets.opendal_s3])
def test_minus_one_is_no_size(
    target: Callable[[Place], Binding], place: Place, finds: Finds
) -> None:
    """Finding S8: only None stands for all that is left."""
    actual = "ILLEGAL_ARGUMENT (OverflowError: can't convert negative int to unsigned)"
    finds(target(place), "python.read.all", actual, 5, ["py_read", -1])


def test_obstore_raises_at_the_end(place: Place, finds: Finds) -> None:
    """Finding S9: the store's 416 comes out as a GenericError, which is no OSError."""
    actual = "OTHER (GenericError: Generic S3 error: Error performing GET"
    finds(targets.obstore(place), "pread.eof", actual, 5, ["pread", "len", 1, 0, 1])
    vectored = ["read_vectored", [["len", 1]], "heap", "absent"]
    finds(targets.obstore(place), "read-vectored.good-ranges", actual, 5, vectored)


def test_obstore_knows_no_empty_range(place: Place, finds: Finds) -> None:
    """Finding S9: a request for nothing is refused, even among others."""
    actual = "ILLEGAL_ARGUMENT (ValueError: Invalid range requested"
    finds(targets.obstore(place), "pread.zero", actual, 5, ["pread", 0, 4, 0, 0])
    vectored = ["read_vectored", [[1, 0]], "heap", "absent"]
    finds(targets.obstore(place), "read-vectored.data", actual, 5, vectored)


def test_opendal_reads_no_part_of_a_range_that_ends_beyond_the_end(
    place: Place, finds: Finds
) -> None:
    """Finding S9: all or nothing; an error that is no OSError."""
    actual = "OTHER (Unexpected: Unexpected (permanent) at => reader got too little data"
    finds(targets.opendal_s3(place), "pread.data", actual, 5, ["pread", 3, 4, 0, 4])
    actual = "OTHER (RangeNotSatisfied: "
    finds(targets.opendal_s3(place), "pread.eof", actual, 5, ["pread", "len", 1, 0, 1])


def test_an_obstore_reader_reads_on_after_close(place: Place, finds: Finds) -> None:
    """Finding S10: close does nothing."""
    finds(targets.obstore(place), "close.state", "returned 255", 5, ["close"], ["read_byte"])
    finds(targets.obstore(place), "python.tell.closed", "returned 0", 5, ["close"], ["py_tell"])


def test_an_obstore_reader_takes_lines_for_text(place: Place, finds: Finds) -> None:
    """Finding S11: readlines wants UTF-8, and readline no arguments."""
    actual = "IO (OSError: stream did not contain valid UTF-8)"
    finds(targets.obstore(place), "python.readlines.all", actual, 1, ["py_readlines", None])
    actual = "NULL (TypeError: ReadableFile.readline() takes no arguments"
    finds(targets.obstore(place), "python.readline.limit", actual, 5, ["py_readline", 0])


@pytest.mark.parametrize(
    ("clause", "step"),
    [("python.read.closed", ["py_read", 0]), ("python.readline.closed", ["py_readline", 0])],
)
def test_a_closed_file_of_opendal_raises_an_oserror(
    clause: str, step: list[object], place: Place, finds: Finds
) -> None:
    """Finding S12: io documents ValueError."""
    actual = "IO (OSError: I/O operation failed for reading on closed file.)"
    finds(targets.opendal_s3(place), clause, actual, 5, ["close"], step)


def test_a_file_of_opendal_fills_bytes_only(place: Place, finds: Finds) -> None:
    """Finding S12: readinto takes no buffer of another format."""
    actual = "OTHER (BufferError: buffer contents are not compatible with u8)"
    finds(targets.opendal_s3(place), "python.readinto.formats", actual, 5, ["py_readinto", "I", 1])


def test_s3fs_raises_at_the_end(place: Place, finds: Finds) -> None:
    """Finding S13: the 416 of a positioned read comes out as an error, as in F13."""
    actual = "IO (OSError: [Errno 22] The requested range is not satisfiable)"
    finds(targets.s3fs(place), "pread.eof", actual, 5, ["pread", "len", 1, 0, 1])
    vectored = ["read_vectored", [["len", 1]], "heap", "absent"]
    finds(targets.s3fs(place), "read-vectored.eof-late", f"returned [{actual}", 5, vectored)


def test_s3fs_gives_the_whole_object_for_an_empty_range(place: Place, finds: Finds) -> None:
    """Finding S14: the range bytes=2-1 is none, and a server ignores it."""
    finds(targets.s3fs(place), "pread.zero", "returned 5", 5, ["pread", 2, 8, 0, 0])


@unclosed
def test_mmap_asks_for_blocks_beyond_the_end(place: Place, finds: Finds) -> None:
    """Finding S15: a read that goes over the end fails once the last block is there."""
    actual = "IO (OSError: [Errno 22] The requested range is not satisfiable)"
    steps = ["read_byte"], ["read_into", "buf", 0, "buf"]
    finds(targets.s3fs(place, "mmap"), "read-into.data", actual, 2, *steps)


def test_smart_open_cuts_positions_to_the_file(place: Place, finds: Finds) -> None:
    """Finding S16: as in archives, C3 and C6."""
    finds(targets.smart(place), "seek.negative", "returned", 5, ["seek", -1])
    finds(targets.smart(place), "python.seek.past-end", "returned 5", 5, ["py_seek", "len+2", 0])


def test_a_closed_body_of_boto3_reports_a_broken_read(place: Place, finds: Finds) -> None:
    """Finding S17: the reads of a closed connection give nothing, which is less than announced."""
    actual = "OTHER (IncompleteReadError: 0 read, but total bytes expected is 5.)"
    finds(targets.streaming_body(place), "read-byte.closed", actual, 5, ["close"], ["read_byte"])
    finds(targets.streaming_body(place), "close.state", "returned 0", 5, ["close"], ["py_tell"])


def test_a_large_size_ends_the_process_of_obstore() -> None:
    """Finding S18: memory for the whole size is asked for, and there is no way back."""
    script = (
        "import obstore; from obstore.store import MemoryStore; s = MemoryStore();"
        "s.put('a', b'abc'); obstore.open_reader(s, 'a').read(2**62)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == -6
    assert b"memory allocation of 4611686018427387904 bytes failed" in done.stderr


@pytest.mark.deep
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="late threads stay where they are")
def test_a_program_that_has_awaited_obstore_may_be_aborted_at_its_end() -> None:
    """Finding S21: six at a time, so that threads have to wait for their turn."""
    script = (
        "import asyncio, obstore; from obstore.store import MemoryStore; s = MemoryStore();"
        "s.put('a', b'abc')\n"
        "async def main():\n"
        "    await asyncio.gather(*(obstore.get_async(s, 'a') for _ in range(100)))\n"
        "asyncio.run(main())"
    )

    def aborted(_: int) -> bool:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
        return done.returncode == -6

    with ThreadPoolExecutor(6) as pool:
        assert any(pool.map(aborted, range(120)))


def test_ranges_beyond_the_end_panic_in_obstores_memory(finds: Finds) -> None:
    """Finding S18: a PanicException, which is no Exception."""
    vectored = ["read_vectored", [[0, 1], ["len+1", 2]], "heap", "absent"]
    actual = "OTHER (PanicException: range start must not be greater than end"
    finds(
        ObstoreBinding.from_url("memory://", {}), "read-vectored.good-ranges", actual, 5, vectored
    )


def test_a_local_file_of_pyarrow_forgets_its_position(tmp_path: Path, finds: Finds) -> None:
    """Finding S19: after read_at nothing can be read without a seek."""
    binding = PyArrowBinding.from_url(f"file://{tmp_path}", {})
    actual = "ILLEGAL_ARGUMENT (ArrowInvalid: Need seeking after ReadAt()"
    finds(binding, "pread.pos-unchanged", actual, 5, ["pread", 0, 4, 0, 4], ["read_byte"])


def test_pyarrow_makes_bytes_up_where_an_object_was_cut(place: Place) -> None:
    """Finding S22: what is behind the end of the answer is memory that nobody wrote."""
    client, store = place.boto3, S3FileSystem(**targets.options_of_pyarrow(place))
    client.put_object(Bucket=place.bucket, Key="k", Body=b"A" * 20_000)
    with store.open_input_file(f"{place.bucket}/k") as file:
        client.put_object(Bucket=place.bucket, Key="k", Body=b"B" * 100)
        data = file.read_at(20_000, 0)
    client.close()
    assert data[:100] == b"B" * 100
    assert len(data) == 20_000


def test_pyarrow_leaves_an_empty_object_behind(place: Place) -> None:
    """Finding S20: what becomes empty gets a mark, and has none before."""
    binding = PyArrowBinding.from_url(
        f"s3://{place.bucket}/deep", targets.options_of_pyarrow(place)
    )
    binding.prepare()
    binding.dispose()
    left = place.boto3.list_objects_v2(Bucket=place.bucket)["Contents"]
    assert [(entry["Key"], entry["Size"]) for entry in left] == [("deep/", 0)]


@pytest.mark.parametrize("cache", ["none", "readahead", "bytes"])
def test_s3fs_raises_at_the_real_end_of_an_overstated_size(cache: str, place: Place) -> None:
    """Finding F25: the bytes come first, and then the 416 for those that are missing."""
    binding = targets.s3fs(place, cache)
    binding.prepare()
    file = binding.fs.open(binding.create(b"abcde"), size=6)  # type: ignore[attr-defined]
    assert file.read() == b"abcde"
    with pytest.raises(OSError, match="The requested range is not satisfiable"):
        file.read()
    binding.dispose()
