"""A fault is attributed to the call that is at fault, wherever it shows."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fscontract.contract.api.errors import PathIOException
from fscontract.contract.api.filesystem import Allocate, Buffer, FileRange, Release, no_release
from fscontract.contract.program.arguments import Argument
from fscontract.contract.program.content import content
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.counterexamples import ShrinkingCounterexamples
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.time_budget import PhaseTimes
from fscontract.contract.spec.profiles import load_profile
from fscontract.fakes.mutants.correct_filesystem import RightFilesystem
from fscontract.fakes.mutants.stream.lifecycle import OpensClosed
from fscontract.fakes.mutants.stream.variants import LateEndCheck
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding
from fscontract.implementations.memory import MemoryInputStream
from tests.contract.runner.conftest import FEATURES, MakeExecutor, executor_of_files

READ = Step("read_byte")
POSITION = Step("get_pos")
INTO = Step("read_into", (4, 0, 4))


class PositionLies(MemoryInputStream):
    """get_pos is one too high."""

    def get_pos(self) -> int:
        """Count one too many."""
        return super().get_pos() + 1


class SeekOff(MemoryInputStream):
    """seek goes one too far."""

    def seek(self, position: int) -> None:
        """Overshoot."""
        super().seek(position)
        self._pos = min(position + 1, self._size) if position else 0


class PreadMoves(MemoryInputStream):
    """pread leaves the stream where it read to."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        """Read and stay there."""
        count = super().pread(position, buffer, offset, length)
        self._pos = position + max(count, 0)
        return count


class BytesLie(MemoryInputStream):
    """read_byte gives the byte after the one it should."""

    def read_byte(self) -> int:
        """Look one ahead."""
        value = super().read_byte()
        return value if value < 0 else self.data[min(self._pos, self._size - 1)]


class Forgets(MemoryInputStream):
    """read_byte keeps a byte that read_into does not know of."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Go back to before the single byte."""
        if self._single_reads and self._pos:
            self._pos -= 1
            count = super().read_into(buffer, offset, length)
            self._pos += 1
            return count
        return super().read_into(buffer, offset, length)


class EndsEarly(MemoryInputStream):
    """Reads do not reach the last byte."""

    def read_byte(self) -> int:
        """End before the last byte."""
        return -1 if self._pos == self._size - 1 else super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """End before the last byte."""
        if self._pos == self._size - 1 and length:
            return -1
        return super().read_into(buffer, offset, length)


class EndsAfterSeek(EndsEarly):
    """Reads do not reach the last byte after a seek to it."""

    _sought = False

    def seek(self, position: int) -> None:
        """Note that the stream was sought."""
        super().seek(position)
        self._sought = True

    def read_byte(self) -> int:
        """End before the last byte after a seek."""
        return super().read_byte() if self._sought else MemoryInputStream.read_byte(self)

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """End before the last byte after a seek."""
        if self._sought:
            return super().read_into(buffer, offset, length)
        return MemoryInputStream.read_into(self, buffer, offset, length)


class ClosesNothing(MemoryInputStream):
    """close has no effect."""

    def close(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("kind", "steps", "clause"),
    [
        (PositionLies, (READ, INTO, POSITION), "getpos.value"),
        (SeekOff, (READ, Step("seek", (2,)), POSITION), "seek.pos"),
        (SeekOff, (Step("seek", (2,)), Step("available"), READ), "seek.pos"),
        (SeekOff, (Step("seek", (2,)), Step("unbuffer"), POSITION), "seek.pos"),
        (PreadMoves, (READ, Step("pread", (2, 4, 0, 2)), READ), "pread.pos-unchanged"),
        (BytesLie, (Step("seek", (2,)), READ), "read-byte.value"),
        (Forgets, (READ, INTO), "input-stream.same-data"),
        (EndsEarly, (Step("seek", (4,)), READ), "read-byte.value"),
        (EndsEarly, (Step("read_into", (4, 0, 4)), READ), "read-byte.value"),
        (EndsEarly, (Step("seek", (4,)), INTO), "read-into.progress"),
        (EndsAfterSeek, (Step("seek", (4,)), READ), "seek.pos"),
        (ClosesNothing, (READ, Step("close"), READ), "close.state"),
    ],
)
def test_the_clause_of_the_faulty_call_is_named(
    executor: MakeExecutor,
    kind: type[MemoryInputStream],
    steps: tuple[Step, ...],
    clause: str,
) -> None:
    assert named(executor, kind, Program(5, steps)) == clause


def named(executor: MakeExecutor, kind: type[MemoryInputStream], program: Program) -> str | None:
    """The clause that the findings name for the program's violation."""
    return _charged(executor(kind), program)


def _charged(subject: Executor, program: Program) -> str | None:
    found = subject.run(program).violation
    assert found is not None
    return ShrinkingCounterexamples(subject, Everything()).violation(found)


class Everything(frozenset[str]):
    """Every clause is wanted."""

    def __contains__(self, item: object) -> bool:
        return True


class LiesAfterFailedSeek(MemoryInputStream):
    """get_pos is one too high after a seek that raised, but reads continue where they were."""

    _lie = 0

    def seek(self, position: int) -> None:
        """Remember the failure."""
        self._lie = 1
        super().seek(position)
        self._lie = 0

    def get_pos(self) -> int:
        """Count one too many after a failure."""
        return super().get_pos() + self._lie


class LiesAfterRead(LiesAfterFailedSeek):
    """get_pos is one too high after a read, whether a seek failed or not."""

    def read_byte(self) -> int:
        """Remember the read."""
        self._lie = 1
        return super().read_byte()


@pytest.mark.parametrize(
    ("kind", "length", "steps", "clause"),
    [
        (LiesAfterFailedSeek, 3, (Step("seek", (-1,)), READ, POSITION), "seek.fail-pos"),
        (LiesAfterFailedSeek, 1, (Step("seek", (2,)), READ, POSITION), "seek.fail-pos"),
        (LiesAfterRead, 3, (Step("seek", (-1,)), READ, POSITION), "getpos.value"),
        (LiesAfterRead, 3, (READ, POSITION), "getpos.value"),
    ],
)
def test_a_position_that_is_wrong_after_a_failed_seek_alone_is_charged_to_the_seek(
    executor: MakeExecutor,
    kind: type[MemoryInputStream],
    length: int,
    steps: tuple[Step, ...],
    clause: str,
) -> None:
    assert named(executor, kind, Program(length, steps)) == clause


class RefusesTheEnd(MemoryInputStream):
    """pread at the end of the file raises."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        """Raise instead of returning -1."""
        if position >= self._size:
            raise OSError("the range is not satisfiable")
        return super().pread(position, buffer, offset, length)


class RefusesLongReads(MemoryInputStream):
    """read_into raises if it is asked for more than two bytes."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Raise instead of reading."""
        if (len(memoryview(buffer)) if length is None else length) > 2:
            raise OSError("too many bytes")
        return super().read_into(buffer, offset, length)


class RefusesReadsAtTheEnd(MemoryInputStream):
    """read_into raises at the end of the file."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Raise instead of returning -1."""
        if self._pos == self._size:
            raise OSError("the range is not satisfiable")
        return super().read_into(buffer, offset, length)


@pytest.mark.parametrize(
    ("kind", "clause"),
    [(RefusesLongReads, "read-into.data"), (RefusesReadsAtTheEnd, "read-into.eof")],
)
def test_an_exception_at_the_end_is_charged_to_the_end_if_only_the_end_raises_it(
    executor: MakeExecutor, kind: type[MemoryInputStream], clause: str
) -> None:
    assert named(executor, kind, Program(0, (INTO,))) == clause


class RefusesLongRanges(MemoryInputStream):
    """read_vectored raises for a range of more than two bytes."""

    def refuses(self, item: FileRange) -> bool:
        """Return whether a range makes the call fail."""
        return item.length > 2

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """Raise instead of reading."""
        if any(map(self.refuses, ranges)):
            raise OSError("the range is not satisfiable")
        super().read_vectored(ranges, allocate, release)


class RefusesLateRanges(RefusesLongRanges):
    """A vectored read raises after three calls of get_pos()."""

    _asked = 0

    def get_pos(self) -> int:
        """Count the calls."""
        self._asked += 1
        return super().get_pos()

    def refuses(self, item: FileRange) -> bool:
        """Return whether three calls came before."""
        return self._asked > 2


@pytest.mark.parametrize("streams", [1, 2])
def test_opening_is_not_charged_with_a_later_call_if_there_is_no_time_to_shrink(
    executor: MakeExecutor, streams: int
) -> None:
    ranges = Step("read_vectored", (((0, 2),), "heap", "absent"))
    asked = (POSITION, replace(POSITION, stream=streams - 1), POSITION, POSITION)
    subject = executor(RefusesLateRanges)
    found = subject.run(Program(5, (*asked, ranges), streams=streams)).violation
    assert found is not None
    findings = ShrinkingCounterexamples(subject, Everything())
    with findings.taken_unshrunk():
        assert findings.violation(found) == "read-vectored.data"


@pytest.mark.parametrize("opening", [None, Opening("late")], ids=["plain", "builder"])
def test_a_call_that_fails_alone_is_charged_itself_if_there_is_no_time_to_shrink(
    executor: MakeExecutor, opening: Opening | None
) -> None:
    subject = executor(RefusesTheEnd)
    start, end = (Step("pread", (position, 4, 0, 1)) for position in (0, 1))
    found = subject.run(Program(1, (POSITION, start, start, end), opening=opening)).violation
    assert found is not None
    findings = ShrinkingCounterexamples(subject, Everything())
    with findings.taken_unshrunk():
        assert findings.violation(found) == "pread.eof"


def test_simplest_program_is_shown_if_there_is_no_time_to_shrink(executor: MakeExecutor) -> None:
    """Its charge comes from a program without the builder and the calls before the end."""
    subject = executor(RefusesTheEnd)
    start, end = (Step("pread", (position, 4, 0, 1)) for position in (0, 1))
    found = subject.run(Program(1, (POSITION, start, end), opening=Opening("late"))).violation
    assert found is not None
    findings = ShrinkingCounterexamples(subject, Everything(), times=PhaseTimes(0))
    assert findings.violation(found) == "pread.eof"
    (shown,) = findings.failed["pread.eof"].values()
    assert (shown.program, shown.unshrunk) == (Program(1, (end,)), True)
    assert shown.outcomes == ("IO (OSError: the range is not satisfiable)",)


class RefusesRangesToTheEnd(RefusesLongRanges):
    """read_vectored raises for a range that ends at the end of the file."""

    def refuses(self, item: FileRange) -> bool:
        """Return whether the range ends there."""
        return item.offset + item.length == self._size


@pytest.mark.parametrize(
    ("kind", "clause"),
    [
        (RefusesLongRanges, "read-vectored.data"),
        (RefusesRangesToTheEnd, "read-vectored.exact-end"),
    ],
)
def test_a_range_up_to_the_end_is_charged_to_the_end_if_only_the_end_raises(
    executor: MakeExecutor, kind: type[MemoryInputStream], clause: str
) -> None:
    assert named(executor, kind, Program(3, (_vectored((0, "len")),))) == clause


@pytest.mark.parametrize("other", [(1, 3), (4, 1)], ids=["overlapping", "past the end"])
def test_a_range_beside_others_is_charged_to_them_if_it_is_right_alone(
    executor: MakeExecutor, other: tuple[int, int]
) -> None:
    features = FEATURES - {"vector-io-early-eof-check"} | {"vector-io-overlapping-ranges"}
    subject = executor(ZerosInLongRanges, features=features)
    assert _charged(subject, Program(4, (_vectored((0, 3), other),))) == "read-vectored.data"


class ZerosInLongRanges(LateEndCheck):
    """Ranges of more than two bytes give zeros; ranges may overlap."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        """Read each range, and write zeros over a long one."""
        for item in ranges:
            super().read_vectored([item], allocate, release)
            if item.length > 2 and item.data is not None and not item.data.exception():
                item.data.result()[:] = bytes(item.length)


def _vectored(*ranges: tuple[Argument, Argument]) -> Step:
    return Step("read_vectored", (ranges, "heap", "absent"))


AT_NEW_END = (Step("reopen"), Step("pread", ("len-2", 9, 0, 9)))


@pytest.mark.parametrize(
    "steps",
    [
        (Step("change", ("truncate",)), *AT_NEW_END),
        (READ, Step("reopen"), READ, Step("change", ("truncate",)), *AT_NEW_END),
    ],
)
def test_a_call_that_fails_on_every_file_of_the_new_length_is_not_charged_to_the_change(
    executor: MakeExecutor, steps: tuple[Step, ...]
) -> None:
    subject = executor(RefusesTheEnd)
    found = subject.run(Program(3, steps)).violation
    assert found is not None
    findings = ShrinkingCounterexamples(subject, Everything())
    with findings.taken_unshrunk():  # another program may show it without a change
        assert findings.violation(found) == "pread.eof"


class LosesTheSixth(MemoryInputStream):
    """The sixth byte is wrong in every read."""

    def __init__(self, data: bytes, path: str = "/memory", declared: int | None = None) -> None:
        super().__init__(data, path, declared)
        self._view = memoryview(data[:5] + bytes(data[5:6].translate(_OTHER)) + data[6:])


_OTHER = bytes(value ^ 255 for value in range(256))


def signature(
    executor: MakeExecutor, program: Program, kind: type[MemoryInputStream] = LosesTheSixth
) -> str:
    """Return the signature of the program's failure on a stream of this class."""
    subject = executor(kind)
    found = subject.run(program).violation
    assert found is not None
    findings = ShrinkingCounterexamples(subject, Everything())
    clause = findings.violation(found)
    assert clause is not None
    (failure,) = findings.failed[clause].values()
    return f"{clause}: {failure.signature}"


@pytest.mark.parametrize("start", [0, 2, 5])
def test_a_wrong_byte_has_one_signature_wherever_the_read_begins(
    executor: MakeExecutor, start: int
) -> None:
    program = Program(9, (Step("seek", (start,)), Step("read_into", (9, 0, 9))))
    expected = "read-into.data: read_into: returned bytes not in the file; away from the start"
    assert signature(executor, program) == expected


def test_wrong_bytes_after_a_failed_call_are_those_without_it(executor: MakeExecutor) -> None:
    failed = (Step("seek", (5,)), Step("seek", (-1,)), Step("read_into", (4, 0, 4)))
    expected = "read-into.data: read_into: returned bytes not in the file; away from the start"
    assert signature(executor, Program(9, failed)) == expected


class WrongFromTheSixth(LosesTheSixth):
    """All bytes from the sixth on are those before them."""

    def __init__(self, data: bytes, path: str = "/memory", declared: int | None = None) -> None:
        super().__init__(data, path, declared)
        self._view = memoryview(data[:5] + data[4:-1])


def test_bytes_that_no_call_reads_rightly_are_not_charged_to_the_seek(
    executor: MakeExecutor,
) -> None:
    program = Program(9, (Step("seek", (7,)), INTO))
    assert named(executor, WrongFromTheSixth, program) == "read-into.data"


class StaleAfterTwo(MemoryInputStream):
    """Once two bytes were read, the bytes behind the first seek are inverted."""

    _sought = False

    def seek(self, position: int) -> None:
        """Forget the right bytes if some were read."""
        if self._pos >= 2 and not self._sought:
            self._view = memoryview(bytes(self.data).translate(_OTHER))
        self._sought = True
        super().seek(position)


@pytest.mark.parametrize(
    "reads",
    [
        (READ, READ),
        (INTO,),
        (Step("read_buffer", (4, 0, 4)),),
        (Step("read_into", (99, 0, 99)),),
    ],
)
def test_a_failure_has_one_signature_whichever_reads_come_before(
    executor: MakeExecutor, reads: tuple[Step, ...]
) -> None:
    subject = executor(StaleAfterTwo)
    found = subject.run(Program(9, (*reads, Step("seek", (1,)), INTO))).violation
    assert found is not None
    findings = ShrinkingCounterexamples(subject, Everything())
    clause = findings.violation(found)
    assert clause is not None
    (failure,) = findings.failed[clause].values()
    assert failure.signature.endswith("; after read_into; after seek")


class InvertsAfterSeek(MemoryInputStream):
    """The bytes behind a seek are inverted: the file has them nowhere."""

    def seek(self, position: int) -> None:
        """Lose the right bytes."""
        super().seek(position)
        self._view = memoryview(bytes(self.data).translate(_OTHER))

    def read_byte(self) -> int:
        """Read the same bytes."""
        buffer = bytearray(1)
        return buffer[0] if self.read_into(buffer, 0, 1) > 0 else -1


def test_bytes_of_no_position_are_not_charged_to_the_seek(executor: MakeExecutor) -> None:
    program = Program(600, (Step("seek", (300,)), READ))  # each byte is somewhere in the file
    assert named(executor, InvertsAfterSeek, program) == "read-byte.value"


class AdvancesAsAsked(MemoryInputStream):
    """read_into moves the position by the length that was asked for."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Count the bytes that were not read, too."""
        count = super().read_into(buffer, offset, length)
        self._pos += max((length or 0) - max(count, 0), 0)
        return count


class AdvancesAsAskedOnce(AdvancesAsAsked):
    """It does so only if there is a byte left."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Leave the position at the end."""
        if self._pos >= self._size:
            return MemoryInputStream.read_into(self, buffer, offset, length)
        return super().read_into(buffer, offset, length)


@pytest.mark.parametrize(
    ("kind", "clause"),
    [(AdvancesAsAsked, "read-into.eof"), (AdvancesAsAskedOnce, "read-into.advance")],
)
def test_a_position_past_the_end_is_charged_to_the_plainest_read_that_goes_there(
    executor: MakeExecutor, kind: type[MemoryInputStream], clause: str
) -> None:
    subject = executor(kind)
    found = subject.run(Program(3, (Step("read_into", (5, 0, 5)), POSITION))).violation
    assert found is not None
    findings = ShrinkingCounterexamples(subject, Everything())
    with findings.taken_unshrunk():  # another call may show it in a file with bytes only
        assert findings.violation(found) == clause


class FailsBeyond(io.FileIO):
    """Reads past the end raise."""

    @property
    def size(self) -> int:
        """The length of the file, in bytes."""
        return os.fstat(self.fileno()).st_size

    def readinto(self, buffer: Buffer) -> int:  # type: ignore[override]
        """Raise past the end."""
        if self.tell() > self.size:
            raise OSError("too little data")
        return super().readinto(buffer)

    def read(self, size: int | None = -1) -> bytes:
        """Raise past the end."""
        if self.tell() > self.size:
            raise OSError("too little data")
        return super().read(-1 if size is None else size)


class FailsBeyondUnlessSet(FailsBeyond):
    """A seek from the start does not go there."""

    def seek(self, offset: int, whence: int = 0) -> int:
        """Stop at the end, if the offset is from the start."""
        if whence == 0:
            return super().seek(min(offset, self.size))
        return super().seek(offset, whence)


@pytest.mark.parametrize(
    ("kind", "clause"),
    [(FailsBeyond, "python.seek.set"), (FailsBeyondUnlessSet, "python.seek.current")],
)
def test_a_failure_after_a_seek_is_charged_to_the_plainest_seek_that_shows_it(
    kind: type[io.FileIO], clause: str, tmp_path: Path
) -> None:
    with executor_of_files(kind, tmp_path, "supports-seek") as subject:
        steps = (Step("py_seek", (4, 2)), Step("py_read", (2,)))
        assert _charged(subject, Program(3, steps)) == clause


class TellsZeroAfterFailedSeek(io.BytesIO):
    """A seek past the end raises; then tell() returns 0, but reads continue where they were."""

    def __init__(self, path: str) -> None:
        super().__init__(Path(path).read_bytes())
        self._failed = False

    def seek(self, offset: int, whence: int = 0) -> int:
        """Raise past the end."""
        self._failed = offset > len(self.getbuffer())
        if self._failed:
            raise OSError("past the end")
        return super().seek(offset, whence)

    def tell(self) -> int:
        """Return 0 after a seek that failed."""
        return 0 if self._failed else super().tell()


class TellMovesAfterFailedSeek(TellsZeroAfterFailedSeek):
    """tell() is right then, but moves the stream by one byte."""

    def tell(self) -> int:
        """Move after a seek that failed."""
        here = io.BytesIO.tell(self)
        if self._failed:
            super().seek(here + 1)
        return here


@pytest.mark.parametrize(
    ("kind", "clause"),
    [
        (TellsZeroAfterFailedSeek, "python.tell.value"),
        (TellMovesAfterFailedSeek, "python.tell.stays"),
    ],
)
def test_tell_is_charged_with_moving_the_file_only_if_reads_without_it_differ(
    kind: type[TellsZeroAfterFailedSeek], clause: str, tmp_path: Path
) -> None:
    with executor_of_files(kind, tmp_path, "supports-seek") as subject:
        read = Step("py_read", (2,))
        steps = (read, Step("py_seek", (9, 0)), Step("py_tell"), read)
        assert _charged(subject, Program(5, steps)) == clause


class PadsTheLastBlock(io.BytesIO):
    """A cache whose last block has zeros up to its length once it was read."""

    _BLOCK = 16

    def __init__(self, path: str) -> None:
        super().__init__(Path(path).read_bytes())
        self._size = len(self.getbuffer())

    def read(self, size: int | None = -1) -> bytes:
        """Read, and pad the last block if it was read."""
        data = super().read(size)
        end = -(-self._size // self._BLOCK) * self._BLOCK
        if data and self.tell() > end - self._BLOCK:
            position = self.tell()
            self.seek(end)
            self.truncate()
            self.seek(self._size)
            self.write(bytes(end - self._size))
            self.seek(position)
        return data


@pytest.mark.parametrize(
    ("length", "steps"),
    [
        (1, (Step("py_read", (1,)),)),
        (17, (Step("py_seek", (9, 0)), Step("py_read", (8,)))),
        (17, (Step("py_seek", (14, 0)), Step("py_read", (2,)), Step("py_read", (1,)))),
    ],
)
def test_a_wrong_end_of_a_file_has_one_signature_wherever_the_read_was_that_changed_it(
    length: int, steps: tuple[Step, ...]
) -> None:
    binding = PythonFileBinding(PadsTheLastBlock)
    binding.prepare()
    try:
        features = load_profile("python-file").features | {"supports-seek"}
        subject = Executor(binding, features, 64)
        found = subject.run(Program(length, (*steps, Step("py_seek", (0, 2))))).violation
        assert found is not None
        findings = ShrinkingCounterexamples(subject, Everything())
        assert findings.violation(found) == "python.seek.end"
        assert [*findings.failed["python.seek.end"]] == ["later call: returns; after py_read"]
    finally:
        binding.dispose()


class ReadsNoLastByte(MemoryInputStream):
    """Reads end before the last byte."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Read nothing at the last byte."""
        return -1 if self._pos >= self._size - 1 else super().read_into(buffer, offset, length)


def test_lines_that_end_early_are_charged_to_the_read_that_does(executor: MakeExecutor) -> None:
    """The seed decides if a run tries the lines or the read there."""
    lines = (Step("seek", (2,)), Step("py_readlines", (None,)))
    read = (Step("seek", (2,)), Step("py_read", (1,)))
    first, second = (named(executor, ReadsNoLastByte, Program(3, steps)) for steps in (lines, read))
    assert first == second


class ReadsZerosPastTheEnd(io.BytesIO):
    """A read past the end returns zeros."""

    def __init__(self, path: str) -> None:
        super().__init__(Path(path).read_bytes())

    def read(self, size: int | None = -1) -> bytes:
        """Fill with zeros."""
        zeros = bytes(max(size or 0, 0))
        return zeros if self.tell() > len(self.getbuffer()) else super().read(size)


def test_a_read_after_a_seek_to_an_unknown_position_is_charged_once(tmp_path: Path) -> None:
    with executor_of_files(ReadsZerosPastTheEnd, tmp_path, "supports-seek") as subject:
        assert _charged(subject, Program(5, (Step("seek", (2**62,)), READ))) == "read-byte.eof"


class ReadsOnPastTheEnd(io.BytesIO):
    """A read that reaches the end has a byte more; seek() returns nothing."""

    def __init__(self, path: str) -> None:
        super().__init__(Path(path).read_bytes())

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move only."""
        super().seek(offset, whence)
        return None  # type: ignore[return-value]

    def read(self, size: int | None = -1) -> bytes:
        """Add a byte at the end."""
        data = super().read(size)
        return data + b"!" * (0 < len(data) < (size or 0))


def test_calls_before_a_wrong_read_only_approach_it_if_seek_returns_nothing(tmp_path: Path) -> None:
    with executor_of_files(ReadsOnPastTheEnd, tmp_path, "supports-seek") as subject:
        findings = ShrinkingCounterexamples(subject, Everything())
        with findings.taken_unshrunk():
            steps = (Step("py_read", (1,)), Step("py_read", (2,)))
            found = subject.run(Program(2, steps)).violation
            assert found is not None
            assert findings.violation(found) == "python.read.data"
        (failure,) = findings.failed["python.read.data"].values()
        how = "py_read: returned wrong after the first byte; away from the start"
        assert failure.signature == how


class ReadsNothing:
    """A file without methods other than read, which fails."""

    def __init__(self, path: str) -> None:
        self.path = path

    def read(self, size: int | None = -1) -> bytes:
        """Fail."""
        raise OSError("no data")


def test_a_missing_method_is_not_charged_to_the_opening(tmp_path: Path) -> None:
    with executor_of_files(ReadsNothing, tmp_path) as subject:
        assert _charged(subject, Program(5, (Step("py_with"),))) == "python.with.closes"
        assert _charged(subject, Program(5, (READ,))) == "open.state"


class StaysOpen(io.BytesIO):
    """A file that no with block closes."""

    def __init__(self, path: str) -> None:
        super().__init__(Path(path).read_bytes())

    def __exit__(self, *error: object) -> None:
        """Leave the file open."""


def test_a_file_that_no_block_closes_has_the_failure_of_one_without_an_exception(
    tmp_path: Path,
) -> None:
    with executor_of_files(StaysOpen, tmp_path) as subject:
        found = subject.run(Program(5, (Step("py_with_error"),))).violation
        assert found is not None
        findings = ShrinkingCounterexamples(subject, Everything())
        assert findings.violation(found) == "python.with.closes"
        (failure,) = findings.of("python.with.closes")["failed"]
        assert failure.signature == "py_with: returned"


class LosesTheFirst(RightFilesystem):
    """A filesystem whose ranges, whole files too, lack the first byte."""

    def cat_file(self, path: str, start: Any = None, end: Any = None, **options: Any) -> bytes:
        """Return the bytes without the first one."""
        return super().cat_file(path, start, end, **options)[1:]


def test_an_alias_that_fails_as_its_method_does_has_the_failure_of_that() -> None:
    binding = FsspecBinding(LosesTheFirst(), "", "mine")
    binding.prepare()
    subject = Executor(binding, load_profile("fsspec").features, 0)
    found = subject.run(Program(9, (Step("fs_read_bytes", (None, None)),))).violation
    assert found is not None
    findings = ShrinkingCounterexamples(subject, Everything())
    assert findings.violation(found) == "filesystem.cat-file.whole"
    (failure,) = findings.of("filesystem.cat-file.whole")["failed"]
    assert failure.signature.startswith("fs_cat_file:")


class CountsFromTheWrongStart(io.BytesIO):
    """A part of a larger file; seeks from its end go to another part, and tell does not say so."""

    def __init__(self, path: str) -> None:
        self.part = Path(path).read_bytes()
        self.elsewhere = False
        super().__init__(self.part)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to another part, if it is from the end."""
        self.elsewhere = whence == 2
        return super().seek(offset, whence)

    def read(self, size: int | None = -1) -> bytes:
        """Return bytes of the part."""
        data = super().read(size)
        return bytes(len(data)) if self.elsewhere else data


def test_bytes_that_are_wrong_after_a_relative_seek_alone_are_charged_to_it(tmp_path: Path) -> None:
    steps = Step("py_seek", (-1, 2)), Step("py_read", (1,))
    with executor_of_files(CountsFromTheWrongStart, tmp_path, "supports-seek") as subject:
        assert _charged(subject, Program(5, steps)) == "python.seek.end"


class ReadsBehind(io.BytesIO):
    """A whole read returns a byte behind the end, and no seek goes far."""

    def __init__(self, path: str) -> None:
        super().__init__(Path(path).read_bytes())

    def read(self, size: int | None = -1) -> bytes:
        """Return one byte more if no size is given."""
        return super().read(size) + (b"!" if size is None or size < 0 else b"")

    def seek(self, offset: int, whence: int = 0) -> int:
        """Refuse an offset that is large."""
        if offset > 100:
            raise ValueError("too far")
        return super().seek(offset, whence)


def test_a_call_that_returns_the_same_alone_is_not_charged_to_a_seek_that_failed(
    tmp_path: Path,
) -> None:
    whole = Step("py_read", (-1,))
    with executor_of_files(ReadsBehind, tmp_path, "supports-seek") as subject:
        charges = [
            _charged(subject, Program(0, (*before, whole)))
            for before in ((), (Step("seek", ("max",)),))
        ]
        assert charges == ["python.read.eof"] * 2


class Reverses(MemoryInputStream):
    """Bytes are in the reverse order."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Read, and reverse the bytes."""
        count = super().read_into(buffer, offset, length)
        view = memoryview(buffer)[offset : offset + max(count, 0)]
        view[:] = bytes(view)[::-1]
        return count


def test_bytes_that_are_elsewhere_in_a_long_file_by_chance_are_nowhere_in_the_file(
    executor: MakeExecutor,
) -> None:
    data, read = content(2048), Step("read_into", (2, 0, 2))
    pairs = {at: data[at : at + 2] for at in range(1, 2046) if data[at] != data[at + 1]}
    elsewhere = [at for at, pair in pairs.items() if pair[::-1] in data]
    programs = [Program(2048, (Step("seek", (at,)), read)) for at in elsewhere]
    found = {signature(executor, program, Reverses) for program in programs}
    assert len(elsewhere) > 10
    assert found == {"read-into.data: read_into: returned bytes not in the file"}


class Inverts(MemoryInputStream):
    """The bits of each byte are inverted."""

    def read_byte(self) -> int:
        """Read, and invert the bits."""
        value = super().read_byte()
        return value if value < 0 else 255 ^ value


def test_a_byte_that_is_elsewhere_in_a_short_file_by_chance_is_nowhere_in_the_file(
    executor: MakeExecutor,
) -> None:
    files = {length: content(length) for length in range(8, 64)}
    programs = [
        Program(length, (Step("seek", (at,)), Step("read_byte")))
        for length, data in files.items()
        for at in range(1, length)
        if 255 ^ data[at] in data
    ]
    found = {signature(executor, program, Inverts) for program in programs}
    assert len(programs) > 10
    assert found == {"read-byte.value: read_byte: returned bytes not in the file"}


class SecondReadInverts(MemoryInputStream):
    """The last byte of the second read of a stream is inverted, but at the start of the file."""

    reads = 0

    def read_byte(self) -> int:
        """Read by read_into."""
        buffer = bytearray(1)
        return -1 if self.read_into(buffer, 0, 1) < 0 else buffer[0]

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Read, and invert the last byte the second time."""
        self.reads += 1
        at = self._pos
        count = super().read_into(buffer, offset, length)
        if self.reads == 2 and at and count > 0:
            memoryview(buffer)[offset + count - 1] ^= 255
        return count


@pytest.mark.parametrize(
    ("length", "before"),
    [
        (2, (Step("read_into", (0, 0, 0)), Step("seek", (1,)))),
        (300, (Step("read_into", (0, 0, 0)), Step("seek", (1,)))),
        (2227, (READ, Step("seek", (2226,)))),
        (4099, (Step("read_into", (1, 0, 1)),)),
        (1000, (READ, Step("change", ("delete",)), Step("seek", ("len-1",)))),
    ],
)
def test_a_failure_after_any_read_has_the_signature_of_that_after_the_plainest_read(
    length: int, before: tuple[Step, ...], executor: MakeExecutor
) -> None:
    """A seed may find it after an empty read, in a long file or after a change of the file."""
    program = Program(length, (*before, Step("read_into", (1, 0, 1))))
    alike = "read_into: returned bytes not in the file; after read_into"
    assert signature(executor, program, SecondReadInverts) == f"read-into.data: {alike}"


class FailsAfterNothing(SecondReadInverts):
    """A read of no bytes makes the next one fail."""

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Count reads of no bytes alone."""
        self.reads = 1 if length == 0 else self.reads - 1
        return super().read_into(buffer, offset, length)


def test_an_empty_read_stays_if_no_other_one_makes_the_next_call_fail(
    executor: MakeExecutor,
) -> None:
    empty, last = Step("read_into", (0, 0, 0)), Step("read_into", (1, 0, 1))
    subject = executor(FailsAfterNothing)
    findings = ShrinkingCounterexamples(subject, Everything())
    violation = subject.run(Program(9, (Step("seek", (3,)), empty, last))).violation
    assert violation is not None
    assert findings.violation(violation) == "read-into.data"
    ((kept,),) = [[*f.values()] for f in findings.failed.values()]
    assert kept.program is not None
    assert empty in kept.program.steps


class RefusesByIOError(MemoryInputStream):
    """A negative position raises an I/O error."""

    def seek(self, position: int) -> None:
        """Raise the class of a closed stream."""
        if position < 0:
            raise PathIOException("file", "the offset is negative")
        super().seek(position)


class RefusesAndFailsAtEnd(RefusesByIOError):
    """A read at the end raises one, too."""

    def read_byte(self) -> int:
        """Raise at the end."""
        if self._pos >= self._size:
            raise PathIOException("file", "at the end")
        return super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        """Raise at the end."""
        if self._pos >= self._size:
            raise PathIOException("file", "at the end")
        return super().read_into(buffer, offset, length)


@pytest.mark.parametrize(
    ("kind", "clause"),
    [
        (OpensClosed, "open.state"),
        (RefusesByIOError, "seek.negative"),
        (RefusesAndFailsAtEnd, "seek.negative"),
    ],
)
def test_another_exception_of_a_refused_call_is_one_of_the_opening_if_all_reads_raise_it(
    kind: type[MemoryInputStream], clause: str, executor: MakeExecutor
) -> None:
    """At the end of an empty file, reads may raise it for another reason."""
    assert _charged(executor(kind), Program(0, (Step("seek", (-1,)),))) == clause
