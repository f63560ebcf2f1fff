"""Rules of the reads that only buffered files have."""

from __future__ import annotations

from fscontract.contract.program.outcome import Kind
from tests.contract.models.observed import (
    CLOSE,
    DATA,
    STALE,
    call,
    charged,
    filled,
    permits,
    positions,
    violation,
)

TO_END = call("seek", 5)


class TestRead1:
    def test_any_number_of_bytes_up_to_the_size_is_permitted(self) -> None:
        for count in range(4):
            assert permits(call("py_read1", 3, gives=DATA[:count]))
        assert violation(call("py_read1", 3, gives=DATA[:4])).clause == "python.read1"

    def test_read_of_any_size_makes_progress(self) -> None:
        assert permits(call("py_read1", -1, gives=DATA[:1]))
        assert violation(call("py_read1", -1, gives=b"")).clause == "python.read1.progress"
        assert permits(TO_END, call("py_read1", -1, gives=b""))

    def test_unknown_position_may_be_the_end(self) -> None:
        failed = call("seek", -2, raises=Kind.EOF)
        assert permits(failed, call("py_read1", -1, gives=b""))

    def test_bytes_of_elsewhere_or_another_type_violate_it(self) -> None:
        assert violation(call("py_read1", 2, gives=DATA[1:3])).clause == "python.read1"
        assert violation(call("py_read1", 2, gives=bytearray(DATA[:2]))).clause == "python.read1"

    def test_it_moves_the_file_by_its_bytes(self) -> None:
        assert positions(call("py_read1", 3, gives=DATA[:2])) == [2]

    def test_closed_file_raises_value_error(self) -> None:
        assert permits(CLOSE, call("py_read1", 1, raises=Kind.ILLEGAL_ARGUMENT))
        assert violation(CLOSE, call("py_read1", 1, gives=b"")).clause == "python.read1.closed"


class TestReadinto1:
    def test_any_count_of_the_files_bytes_is_permitted(self) -> None:
        assert permits(call("py_readinto1", "B", 4, gives=2, buffer=filled(0, 2)))
        assert permits(call("py_readinto1", "B", 4, gives=0, buffer=STALE))

    def test_rest_of_the_buffer_is_left_alone(self) -> None:
        wrong = call("py_readinto1", "B", 4, gives=2, buffer=filled(0, 3))
        assert violation(wrong).clause == "python.readinto1"

    def test_greater_count_than_bytes_violates_it(self) -> None:
        for count in (4, 5):
            wrong = call("py_readinto1", "B", 4, gives=count, buffer=filled(0, 2))
            assert violation(wrong).clause == "python.readinto1"

    def test_closed_file_raises_value_error(self) -> None:
        wrong = call("py_readinto1", "B", 4, gives=0, buffer=STALE)
        assert violation(CLOSE, wrong).clause == "python.readinto1.closed"


class TestPeek:
    def test_any_number_of_bytes_is_permitted(self) -> None:
        for count in range(6):
            assert permits(call("py_peek", 2, gives=DATA[:count]))
        assert permits(call("py_peek", 2, gives=memoryview(DATA)))

    def test_bytes_of_elsewhere_violate_it(self) -> None:
        assert violation(call("py_peek", 2, gives=DATA[1:])).clause == "python.peek"
        assert violation(call("py_peek", 2, gives=DATA + b"x")).clause == "python.peek"

    def test_moved_position_may_be_its_fault(self) -> None:
        calls = call("py_peek", 2, gives=DATA[:2]), call("py_tell", gives=2)
        assert charged(*calls) == ("python.tell.value", "python.peek")

    def test_closed_file_raises_value_error(self) -> None:
        assert violation(CLOSE, call("py_peek", 1, gives=b"")).clause == "python.peek.closed"
