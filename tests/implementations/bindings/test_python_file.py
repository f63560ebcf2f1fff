"""Tests of programs on Python's binary files."""

from __future__ import annotations

import gzip
import io
import mmap
import re
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest

from fscontract import check
from fscontract.contract.binding import TargetError
from fscontract.contract.program.content import content
from fscontract.contract.program.outcome import FILL, INEXPRESSIBLE, Kind, Outcome, returned
from fscontract.contract.program.program import Step
from fscontract.implementations.bindings import python_file
from fscontract.implementations.bindings.file_operations import IDIOMS
from fscontract.implementations.bindings.python_file import PythonFileBinding

from .conftest import Calls

Opener = Callable[[str], BinaryIO]


def raw(path: str) -> BinaryIO:
    """Open an unbuffered file."""
    return cast(BinaryIO, open(path, "rb", buffering=0))


def buffered(path: str) -> BinaryIO:
    """Open a buffered file."""
    return open(path, "rb")


def in_memory(path: str) -> BinaryIO:
    """Return a BytesIO with the file's bytes."""
    return io.BytesIO(Path(path).read_bytes())


every_file = pytest.mark.parametrize("opener", [raw, buffered, in_memory])


class Bare:
    """A file without readinto, with scripted reads."""

    closed = False

    def __init__(self, read: Callable[[int], Any]) -> None:
        self.read = read

    def close(self) -> None:
        self.closed = True


def bare(tmp_path: Path, read: Callable[[int], Any]) -> PythonFileBinding:
    """Return the binding to Bare files."""
    return PythonFileBinding(lambda _path: cast(BinaryIO, Bare(read)), str(tmp_path), "bare")


@every_file
def test_stream_operations_map_to_file_calls(opener: Opener, tmp_path: Path, run: Calls) -> None:
    """Position, seek, single bytes and reads into a window."""
    data = content(5)
    outcomes = run(
        PythonFileBinding(opener, tmp_path, "f"),
        data,
        ("seek", 1),
        ("read_byte",),
        ("get_pos",),
        ("read_into", 4, 1, 2),
        ("read_into", 1, 1, 0),
    )
    window = bytes([FILL]) + data[2:4] + bytes([FILL])
    assert outcomes == [
        returned(None),
        returned(data[1]),
        returned(2),
        returned(2, window),
        returned(0, bytes([FILL])),
    ]


@every_file
def test_the_end_is_minus_one(opener: Opener, tmp_path: Path, run: Calls) -> None:
    """An empty read is EOF, if any bytes were requested."""
    binding = PythonFileBinding(opener, str(tmp_path), "f")
    outcomes = run(binding, b"", ("read_byte",), ("read_into", 2, 0, 2), ("read_into", 2, 0, 0))
    assert [o.value for o in outcomes] == [-1, -1, 0]


@every_file
@pytest.mark.parametrize(
    "call", [("get_pos",), ("read_byte",), ("read_into", 2, 0, 0), ("seek", 0), ("seek", -1)]
)
def test_a_closed_file_is_an_io_error(
    opener: Opener, call: tuple[object, ...], tmp_path: Path, run: Calls
) -> None:
    """Python raises ValueError, Hadoop IOException."""
    outcomes = run(PythonFileBinding(opener, str(tmp_path), "f"), b"ab", ("close",), call)
    assert outcomes[0] == returned(None)
    assert outcomes[1].kind is Kind.IO


class WithoutClosed:
    """A file that does not tell that it is closed."""

    def __init__(self, path: str) -> None:
        file = open(path, "rb")  # noqa: SIM115
        self.read, self.close = file.read, file.close


def test_a_closed_file_without_closed_is_an_io_error(tmp_path: Path, run: Calls) -> None:
    binding = PythonFileBinding(WithoutClosed, str(tmp_path), "f")  # type: ignore[arg-type]
    outcomes = run(binding, b"ab", ("close",), ("read_byte",))
    assert outcomes[1].kind is Kind.IO


def _of_missing_package(path: str) -> BinaryIO:
    raise ModuleNotFoundError("No module named 'missing'")


@pytest.mark.parametrize(
    ("opened", "message"),
    [
        (nullcontext, "expected an open file, got nullcontext, which has no read(); return what"),
        (Path, "expected an open file, got PosixPath, which has no read()"),
        (_of_missing_package, "can't open a file: ModuleNotFoundError: No module named"),
    ],
)
def test_an_opener_that_returns_no_file_is_a_target_error(
    tmp_path: Path, opened: Any, message: str
) -> None:
    binding = PythonFileBinding(opened, str(tmp_path), "f")
    with pytest.raises(TargetError, match=f"^f: {re.escape(message)}"):
        check(binding, clauses="read-byte.value")


@every_file
@pytest.mark.parametrize("position", [-1, 2**63 + 1])
def test_an_invalid_position_is_eof(
    opener: Opener, position: int, tmp_path: Path, run: Calls
) -> None:
    """For each exception with which a file rejects it."""
    outcomes = run(PythonFileBinding(opener, str(tmp_path), "f"), b"ab", ("seek", position))
    assert outcomes[0].kind is Kind.EOF


@every_file
def test_python_operations_are_not_translated(opener: Opener, tmp_path: Path, run: Calls) -> None:
    """There ValueError is the documented result for a closed file."""
    binding = PythonFileBinding(opener, str(tmp_path), "f")
    outcomes = run(binding, b"ab", ("close",), ("py_read", 1), ("py_tell",), ("py_with",))
    assert {o.kind for o in outcomes[1:]} == {Kind.ILLEGAL_ARGUMENT}


def test_another_io_error_of_seek_stays_one(tmp_path: Path, run: Calls) -> None:
    """Only an invalid position is EOF."""

    class Broken(io.BytesIO):
        def seek(self, *_: int) -> int:
            raise OSError(5, "broken disk")

    binding = PythonFileBinding(lambda _path: Broken(), str(tmp_path), "f")
    assert run(binding, b"", ("seek", 0))[0].kind is Kind.IO


def test_unsupported_seek_stays_unsupported(tmp_path: Path, run: Calls) -> None:
    """UnsupportedOperation is a ValueError too, but not an invalid position."""

    class Pipe(io.BytesIO):
        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation("seek")

    binding = PythonFileBinding(lambda _path: Pipe(), str(tmp_path), "f")
    assert run(binding, b"", ("seek", 0))[0].kind is Kind.UNSUPPORTED


@pytest.mark.parametrize("new", [b"other", b"longer than it was", b"no"])
def test_a_changed_file_keeps_its_bytes_until_others_replace_them(
    new: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream that reads ahead may read the file while it changes."""
    lengths: list[int] = []

    def look(opened: str, mode: str) -> Any:
        file = open(opened, mode)  # noqa: SIM115
        lengths.append(Path(path).stat().st_size)
        return file

    binding = PythonFileBinding(io.FileIO, str(tmp_path), "changing")
    path = str(tmp_path / "file")
    binding.change(path, b"bytes")
    monkeypatch.setattr(python_file, "open", look, raising=False)
    binding.change(path, new)
    assert lengths == [5]
    assert Path(path).read_bytes() == new


def test_a_file_that_gets_shorter_keeps_its_bytes_for_those_who_have_mapped_it(
    tmp_path: Path,
) -> None:
    """A process that reads a mapped page that is no longer in its file ends."""
    binding = PythonFileBinding(io.FileIO, str(tmp_path), "mapped")
    path = str(tmp_path / "file")
    binding.change(path, b"bytes")
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        binding.change(path, b"no")
        assert mapped[:] == b"bytes"


def test_a_stored_form_is_replaced_whole(tmp_path: Path) -> None:
    opener = cast(Callable[[str], BinaryIO], gzip.open)
    binding = PythonFileBinding(opener, str(tmp_path), "gzip", encode=gzip.compress)
    path = str(tmp_path / "file")
    binding.change(path, b"bytes")
    with open(path, "rb") as before:
        binding.change(path, b"longer than it was")
        assert gzip.decompress(before.read()) == b"bytes"


def test_every_idiom_has_a_reason() -> None:
    """So that the table can be compared with Python's documentation."""
    assert all(idiom.because for idiom in IDIOMS)


@pytest.mark.parametrize(
    "call",
    [
        ("read_into", None, 0, 1),
        ("read_into", 2, -1, 1),
        ("read_into", 2, 0, -1),
        ("read_into", 2, 1, 2),
        ("pread", 0, 1, 0, 1),
        ("skip", 1),
        ("has_capability", "in:unbuffer"),
        ("py_readinto", "2d", 0),
    ],
)
def test_calls_that_the_protocol_lacks_are_inexpressible(
    call: tuple[object, ...], tmp_path: Path, run: Calls
) -> None:
    """Such a call is neither a pass nor a violation."""
    assert run(PythonFileBinding(raw, str(tmp_path), "raw"), b"ab", call) == [INEXPRESSIBLE]


@every_file
@pytest.mark.parametrize(
    ("shape", "number"), [(("B", 3), 3), (("I", 1), 4), (("2d", 2), 4), (("B", 0), 0)]
)
def test_readinto_takes_buffers_of_any_format(
    opener: Opener, shape: tuple[str, int], number: int, tmp_path: Path, run: Calls
) -> None:
    """The outcome shows flat bytes and a count in bytes."""
    binding = PythonFileBinding(opener, str(tmp_path), "f")
    outcomes = run(binding, content(9), ("py_readinto", *shape))
    assert outcomes == [returned(number, content(9)[:number])]


@every_file
def test_lines_are_split_as_python_splits_them(opener: Opener, tmp_path: Path, run: Calls) -> None:
    """Line by line, all at once, and by iteration."""
    outcomes = run(
        PythonFileBinding(opener, str(tmp_path), "f"),
        b"ab\nc\nd",
        ("py_readline", 1),
        ("py_readline", None),
        ("py_readlines", None),
        ("py_next",),
        ("py_seek", 3, 0),
        ("py_next",),
    )
    assert [o.value for o in outcomes] == [b"a", b"b\n", (b"c\n", b"d"), None, 3, b"c\n"]


@pytest.mark.parametrize("opener", [raw, buffered])
def test_queries_and_write_of_a_file(opener: Opener, tmp_path: Path, run: Calls) -> None:
    """Queries return bools, and writing raises."""
    outcomes = run(
        PythonFileBinding(opener, str(tmp_path), "f"),
        b"ab",
        ("py_readable",),
        ("py_seekable",),
        ("py_writable",),
        ("py_closed",),
        ("py_write",),
        ("py_with",),
        ("py_closed",),
    )
    assert [o.value for o in outcomes] == [True, True, False, False, None, True, True]
    assert outcomes[4].kind is Kind.UNSUPPORTED


@every_file
def test_exception_in_a_with_block_closes_the_file(
    opener: Opener, tmp_path: Path, run: Calls
) -> None:
    """The value says so, and the file is closed."""
    binding = PythonFileBinding(opener, str(tmp_path), "f")
    assert run(binding, b"ab", ("py_with_error",), ("py_closed",)) == [returned(True)] * 2


def test_suppressed_exception_of_a_with_block_is_the_result(tmp_path: Path, run: Calls) -> None:
    """The file is closed, but the exception was lost."""

    class Suppresses(io.BytesIO):
        def __exit__(self, *error: object) -> bool:  # type: ignore[override]
            self.close()
            return True

    binding = PythonFileBinding(lambda _path: Suppresses(), str(tmp_path), "f")
    assert run(binding, b"", ("py_with_error",)) == [returned("the exception was suppressed")]


def test_read1_without_a_size_uses_its_default(tmp_path: Path, run: Calls) -> None:
    """The argument is left out, not passed as None."""
    binding = PythonFileBinding(buffered, str(tmp_path), "f")
    assert run(binding, b"ab", ("py_read1", None)) == [returned(b"ab")]


def test_only_raw_files_have_readall(tmp_path: Path, run: Calls) -> None:
    """A buffered file lacks the method, which is not a violation."""
    call = ("py_readall",)
    assert run(PythonFileBinding(raw, str(tmp_path), "raw"), b"ab", call) == [returned(b"ab")]
    assert run(PythonFileBinding(buffered, str(tmp_path), "buffered"), b"ab", call) == [
        INEXPRESSIBLE
    ]


def test_a_file_without_readinto_is_read_and_copied(tmp_path: Path, run: Calls) -> None:
    """Stream reads work; only Python's readinto is reported as missing."""
    calls = (("read_into", 3, 1, 2), ("py_readinto", "B", 2))
    outcomes = run(bare(tmp_path, lambda size: b"xyz"[:size]), b"", *calls)
    assert outcomes[0] == returned(2, bytes([FILL]) + b"xy")
    assert outcomes[1].kind is Kind.OTHER


def test_more_bytes_than_asked_for_show_in_the_count(tmp_path: Path, run: Calls) -> None:
    """The copy stays within its window; the count is the actual one."""
    outcomes = run(
        bare(tmp_path, lambda _size: b"xyz"), b"", ("read_into", 3, 0, 2), ("read_byte",)
    )
    assert outcomes[0] == returned(3, b"xy" + bytes([FILL]))
    assert outcomes[1] == Outcome(Kind.OTHER, detail="read(1) returned 3 bytes")


def test_non_blocking_file_is_reported(tmp_path: Path, run: Calls) -> None:
    """None is neither data nor EOF."""
    outcomes = run(bare(tmp_path, lambda _size: None), b"", ("read_byte",), ("read_into", 1, 0, 1))
    assert [o.kind for o in outcomes] == [Kind.OTHER, Kind.OTHER]


def test_dispose_removes_the_prefix_and_nothing_else(tmp_path: Path) -> None:
    """Existing files remain."""
    (tmp_path / "mine").write_bytes(b"x")
    binding = PythonFileBinding(raw, str(tmp_path), "raw")
    binding.prepare()
    binding.create(b"y")
    binding.dispose()
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_a_change_is_made_in_place(tmp_path: Path) -> None:
    """An open file has the new bytes."""
    binding = PythonFileBinding(raw, str(tmp_path), "raw")
    binding.prepare()
    path = binding.create(b"old")
    with binding.open(path) as file:
        binding.change(path, b"newer")
        assert binding.bind(Step("py_readall"))(file) == returned(b"newer")
    assert binding.status_length(path) == 5
    binding.change(path, None)
    with pytest.raises(TargetError, match=r"\Araw: can't change .*\Z"):
        binding.change(path, None)
    binding.dispose()


def test_missing_directory_error_is_one_line(tmp_path: Path) -> None:
    """A target that can't be prepared raises."""
    with pytest.raises(TargetError, match=r"\Araw: can't create a directory: .*\Z"):
        PythonFileBinding(raw, str(tmp_path / "no"), "raw").prepare()


def test_files_are_stored_in_the_form_that_encode_returns(tmp_path: Path, run: Calls) -> None:
    binding = PythonFileBinding(gzip.open, str(tmp_path), encode=gzip.compress)  # type: ignore[arg-type]
    assert binding.name == "gzip.open"
    binding.prepare()
    path = binding.create(b"abc")
    assert gzip.decompress(Path(path).read_bytes()) == b"abc"
    assert binding.status_length(path) is None
    binding.change(path, b"abcd")
    assert gzip.decompress(Path(path).read_bytes()) == b"abcd"
    with binding.open(path) as file:
        assert file.read() == b"abcd"
    binding.dispose()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        (lambda data: "text", "f: encode must return bytes, got str"),
        (lambda data: data.missing, "f: can't encode a file: AttributeError: "),
    ],
)
def test_an_encode_that_fails_is_a_target_error(tmp_path: Path, encode: Any, message: str) -> None:
    binding = PythonFileBinding(raw, str(tmp_path), "f", encode)
    binding.prepare()
    with pytest.raises(TargetError) as caught:
        binding.create(b"abc")
    assert str(caught.value).startswith(message)
    binding.dispose()


def test_files_are_temporary_without_a_directory() -> None:
    binding = PythonFileBinding(raw)
    binding.prepare()
    assert binding.prefix is not None
    assert Path(binding.prefix).parent == Path(tempfile.gettempdir())
    binding.dispose()
