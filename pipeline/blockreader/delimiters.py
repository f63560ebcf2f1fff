"""Find where records end: at line ends, or at a delimiter given by the user.

Both are searched from left to right: the leftmost occurrence counts, and the search continues
behind it. `||` in `|||` is therefore the first two bytes, wherever a block or a buffer starts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

from fscontract.contract.api.errors import IllegalArgumentException

#: Begin and end of a delimiter in a buffer.
Span: TypeAlias = tuple[int, int]
#: Gives the bytes of a file from an offset on, as many as are asked for if there are.
ReadAt: TypeAlias = Callable[[int, int], bytes]

#: The windows in which a safe point is looked for, going back from a block's offset.
_FIRST_WINDOW = 256
_LAST_WINDOW = 1 << 20


class Delimiter(ABC):
    """The end of a record. Offsets are relative to the buffer unless they are of a file."""

    @abstractmethod
    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        """Return the first delimiter from `start` on; None without one, or if it needs more data.

        `final` says that nothing follows the data.
        """

    @abstractmethod
    def pending(self, data: bytes | bytearray) -> int:
        """Return how many of the last bytes may be the start of a delimiter that the data cuts."""

    @abstractmethod
    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        """Return the complete records in `data`, the bytes that they take with their delimiters,
        and the length of each delimiter; 0 if that varies."""

    @abstractmethod
    def complete(self, data: bytes, start: int, stop: int) -> tuple[int, bytes]:
        """Return the end of the last complete record between `start` and `stop`, and the delimiter
        of each record; none if that varies, or if records have to be found one by one."""

    @abstractmethod
    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        """Return an offset from `floor` to `offset` from which a search finds the same delimiters
        behind `offset` as a search of the whole file."""


class LineEnd(Delimiter):
    r"""`\n`, `\r` or `\r\n`, as each line has it."""

    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        """Return the first line end; one at the end of the data counts only if `final`."""
        feed = data.find(b"\n", start)
        carriage = data.find(b"\r", start, len(data) if feed < 0 else feed)
        if carriage < 0:
            return None if feed < 0 else (feed, feed + 1)
        if feed == carriage + 1:
            return carriage, feed + 1
        if carriage + 1 == len(data) and not final:
            return None
        return carriage, carriage + 1

    def pending(self, data: bytes | bytearray) -> int:
        r"""Return a `\r` may be half of a `\r\n`."""
        return 1 if data.endswith(b"\r") else 0

    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        r"""Return the complete lines; the length of a line end is 1 without any `\r`."""
        if b"\r" not in data:
            records = data.split(b"\n")
            return records, len(data) - len(records.pop()), 1
        used, _ = self.complete(data, 0, len(data))
        return data[:used].splitlines(), used, 0

    def complete(self, data: bytes, start: int, stop: int) -> tuple[int, bytes]:
        r"""As the base has it; a `\r` at the very end may be half of a `\r\n`."""
        feed = max(start, data.rfind(b"\n", start, stop) + 1)
        if data.find(b"\r", start, stop) < 0:
            return feed, b"\n"
        end = max(feed, data.rfind(b"\r", feed, stop - 1) + 1)
        counts = {data.count(kind, start, end) for kind in (b"\r", b"\n", b"\r\n")}
        return end, b"\r\n" if len(counts) == 1 else b""

    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        r"""Return the byte before, for it may be the `\r` of a `\r\n`."""
        return max(floor, offset - 1)


class Separator(Delimiter):
    """A sequence of bytes, which may overlap itself."""

    def __init__(self, value: bytes) -> None:
        if not isinstance(value, bytes) or not value:
            raise IllegalArgumentException(f"a delimiter has at least one byte, not {value!r:.40}")
        self.value = value
        self._overlaps = any(value.startswith(value[n:]) for n in range(1, len(value)))

    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        """Return the leftmost occurrence."""
        position = data.find(self.value, start)
        return None if position < 0 else (position, position + len(self.value))

    def pending(self, data: bytes | bytearray) -> int:
        """Return all but one byte of the delimiter may be there."""
        return min(len(self.value) - 1, len(data))

    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        """Return the complete records, divided from left to right."""
        records = data.split(self.value)
        return records, len(data) - len(records.pop()), len(self.value)

    def complete(self, data: bytes, start: int, stop: int) -> tuple[int, bytes]:
        """As the base has it; occurrences that can't overlap are the same from either side."""
        if self._overlaps:
            return start, b""
        position = data.rfind(self.value, start, stop)
        return (start if position < 0 else position + len(self.value)), self.value

    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        """Back over all occurrences that overlap the next one: the first of them does count.

        A file that consists of such an overlap is read back to its start, from each block.
        """
        reach = len(self.value) - 1
        point = max(floor, offset - reach)
        size = _FIRST_WINDOW
        while self._overlaps and point > floor:
            low = max(floor, point - max(size, 2 * reach))
            window = read(low, point - low + reach)
            point = self._back(window, low, point)
            if point - reach >= low or low == floor:
                break
            size = min(2 * size, _LAST_WINDOW)
        return point

    def _back(self, window: bytes, low: int, point: int) -> int:
        """Return the earliest point that occurrences reach in the window from `low` on."""
        reach = len(self.value) - 1
        while point > low:
            start = max(0, point - reach - low)
            position = window.find(self.value, start, point - low + reach)
            if position < 0:
                return point
            point = low + position
        return point


def delimiter_of(value: bytes | None) -> Delimiter:
    """Return line ends for None, else a separator; IllegalArgumentException if it is empty."""
    return LineEnd() if value is None else Separator(value)
