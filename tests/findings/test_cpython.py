"""The findings in the files of CPython's standard library."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from fscontract.contract.program.content import content
from fscontract.contract.program.program import Program, Step
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding
from servers.http_files import DATA
from tests.findings.conftest import Finds, run


@pytest.fixture
def raw(tmp_path: Path) -> PythonFileBinding:
    """Return files opened without a buffer."""
    return PythonFileBinding(lambda path: open(path, "rb", buffering=0), str(tmp_path), "raw")


@pytest.fixture
def in_memory(tmp_path: Path) -> PythonFileBinding:
    """Return the content of a file as BytesIO."""
    return PythonFileBinding(
        lambda path: io.BytesIO(Path(path).read_bytes()), str(tmp_path), "BytesIO"
    )


def member_of_zip(path: str) -> BinaryIO:
    """Return the file as a member of a zip archive."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as made:
        made.write(path, "it")
    return zipfile.ZipFile(whole).open("it")  # type: ignore[return-value]


def member_of_tar(path: str) -> BinaryIO:
    """Return the file as a member of a tar archive."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as made:
        made.add(path, "it")
    whole.seek(0)
    found = tarfile.TarFile(fileobj=whole).extractfile("it")
    assert found is not None
    return found  # type: ignore[return-value]


def members(opener: Callable[[str], BinaryIO], tmp_path: Path) -> PythonFileBinding:
    """Return members of archives."""
    return PythonFileBinding(opener, str(tmp_path), "member")


def test_refused_seek_makes_a_raw_file_unseekable(raw: PythonFileBinding, finds: Finds) -> None:
    """Finding C1: FileIO takes the failure of its first seek for that of a pipe, and remembers
    it."""
    finds(raw, "python.seekable.true", "returned False", 0, ["seek", -1], ["py_seekable"])


def test_readline_works_on_a_closed_member_of_a_zip_file(tmp_path: Path, finds: Finds) -> None:
    """Finding C2: ZipExtFile.readline looks into its buffer first."""
    steps = ["py_read", 1], ["close"], ["py_readline", None]
    binding = members(member_of_zip, tmp_path)
    finds(
        binding, "python.readline.closed", f"returned {content(9000)[1:3].hex(' ')}", 9000, *steps
    )


def test_readline_0_may_return_no_bytes_from_a_closed_file(raw: PythonFileBinding) -> None:
    """It needs no read, so io's base class does not look."""
    assert run(raw, "python.readline.closed").conforms


@pytest.mark.parametrize("opener", [member_of_zip, member_of_tar])
def test_negative_seek_in_an_archive_moves_to_the_start(
    opener: Callable[[str], BinaryIO], tmp_path: Path, finds: Finds
) -> None:
    """Finding C3: ZipExtFile and tarfile's ExFileObject clamp a negative position to 0."""
    finds(members(opener, tmp_path), "seek.negative", "returned", 5, ["seek", -1])
    binding = members(opener, tmp_path)
    finds(binding, "python.seek.negative", "returned 0", 5, ["py_seek", -1, 0])


@pytest.mark.parametrize("opener", [member_of_zip, member_of_tar])
def test_seek_beyond_the_end_of_an_archive_member_moves_to_the_end(
    opener: Callable[[str], BinaryIO], tmp_path: Path, finds: Finds
) -> None:
    """Finding C6: a SHOULD, because the documentation of io leaves it open."""
    finds(members(opener, tmp_path), "python.seek.past-end", "returned 5", 5, ["py_seek", 9, 0])


def test_tell_works_on_a_closed_member_of_a_tar_file(tmp_path: Path, finds: Finds) -> None:
    """Finding C4: BufferedReader.tell asks the raw file, and tarfile's does not check."""
    binding = members(member_of_tar, tmp_path)
    finds(binding, "python.tell.closed", "returned 0", 1, ["close"], ["py_tell"])


class Peeking(io.BufferedIOBase):
    """A file with peek() that inherits readline()."""

    def __init__(self, path: str) -> None:
        self._file = io.BufferedReader(io.FileIO(path), 16)

    def peek(self, size: int = 0) -> bytes:
        """Return bytes of the buffer."""
        return self._file.peek(size)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes."""
        return self._file.read(size)

    def close(self) -> None:
        """Close both files."""
        self._file.close()
        super().close()


def peeking(path: str) -> BinaryIO:
    """Open a file with peek() that inherits readline()."""
    return Peeking(path)  # type: ignore[return-value]


def test_readline_of_a_file_with_peek_exceeds_its_limit(tmp_path: Path, finds: Finds) -> None:
    """Finding C8: IOBase.readline compares the limit with each piece that it peeks at."""
    binding = PythonFileBinding(peeking, str(tmp_path), "peeking")
    longer = f"returned {content(200)[:16].hex(' ')} ... (32 bytes)"
    finds(binding, "python.readline.limit", longer, 200, ["py_readline", 20])


def test_bytesio_clamps_a_relative_seek_to_the_start(
    in_memory: PythonFileBinding, finds: Finds
) -> None:
    """Finding C5: a position before the start is refused with whence 0 only."""
    finds(in_memory, "python.seek.negative", "returned 0", 0, ["py_seek", -1, 1])
    finds(in_memory, "python.seek.negative", "returned 0", 3, ["py_seek", -9, 2])


def test_buffered_files_of_the_system_conform(tmp_path: Path) -> None:
    """Comparison for the findings in other files."""

    def opener(path: str) -> BinaryIO:
        return open(path, "rb")

    binding = PythonFileBinding(opener, str(tmp_path), "buffered")
    result = run(binding)
    assert result.conforms
    assert result.summary["lax"] == 0


def test_huge_position_in_a_member_of_a_tar_file_runs_out_of_memory(tmp_path: Path) -> None:
    """Finding F9: a seek beyond the end of a member is cut to the end, so cat_file asks for
    everything from there to the requested end, and BufferedReader allocates it first."""
    whole = tmp_path / "a.tar"
    with tarfile.open(whole, "w") as made:
        info = tarfile.TarInfo("it")
        info.size = len(DATA)
        made.addfile(info, io.BytesIO(DATA))
    copy = tmp_path / "copy"
    copy.write_bytes(DATA)
    binding = FsspecBinding.from_url(f"tar://::file://{whole}", {}, file="it", content=copy)
    step = Step("pread", (2**62, 1, 0, 1))
    binding.prepare()
    opened = binding.open(binding.create(DATA))
    outcome = binding.bind(step)(opened)
    binding.bind(Step("close"))(opened)
    binding.dispose()
    assert outcome.detail == "MemoryError", Program(len(DATA), (step,))
