"""Search for the ends of records: line ends, or a custom delimiter.

Both are searched from left to right: the leftmost occurrence counts, and the search continues after
it. The delimiter `||` in `|||` is therefore always the first two bytes, wherever a block or buffer
starts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

from fscontract.contract.api.errors import IllegalArgumentException

#: Start and end of a delimiter in a buffer.
Span: TypeAlias = tuple[int, int]
#: Returns up to a number of bytes of a file from an offset on.
ReadAt: TypeAlias = Callable[[int, int], bytes]

#: First size of the windows in which a safe point is searched, backwards from a block's offset.
_FIRST_WINDOW = 256
_LAST_WINDOW = 1 << 20


class Delimiter(ABC):
    """The end of a record. Offsets are relative to the buffer, unless they are file offsets."""

    @abstractmethod
    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        """Return the first delimiter from `start` on; None without one, or if it needs more data.

        `final` means that no data follows.
        """

    @abstractmethod
    def pending(self, data: bytes | bytearray) -> int:
        """Return the number of trailing bytes that may be the start of a delimiter."""

    @abstractmethod
    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        """Return the complete records, the bytes that they take, and the length of a delimiter.

        The bytes include delimiters. The length is 0 if it varies.
        """

    @abstractmethod
    def complete(self, data: bytes, start: int, stop: int) -> tuple[int, bytes]:
        """Return the end of the last complete record from `start` to `stop`, and its delimiter.

        The delimiter is empty if it varies, or if records must be found one by one.
        """

    @abstractmethod
    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        """Return a safe start from `floor` to `offset` for a search.

        Starting there, a search finds the same delimiters after `offset` as a search of the whole
        file.
        """


class LineEnd(Delimiter):
    r"""`\n`, `\r` or `\r\n`, which may differ between lines."""

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
        r"""Return 1 for a trailing `\r`, which may be half of a `\r\n`."""
        return 1 if data.endswith(b"\r") else 0

    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        r"""Return the complete lines; the length of a line end is 1 without any `\r`."""
        if b"\r" not in data:
            records = data.split(b"\n")
            return records, len(data) - len(records.pop()), 1
        used, _ = self.complete(data, 0, len(data))
        return data[:used].splitlines(), used, 0

    def complete(self, data: bytes, start: int, stop: int) -> tuple[int, bytes]:
        r"""See the base class; a trailing `\r` may be half of a `\r\n`."""
        feed = max(start, data.rfind(b"\n", start, stop) + 1)
        if data.find(b"\r", start, stop) < 0:
            return feed, b"\n"
        end = max(feed, data.rfind(b"\r", feed, stop - 1) + 1)
        counts = {data.count(kind, start, end) for kind in (b"\r", b"\n", b"\r\n")}
        return end, b"\r\n" if len(counts) == 1 else b""

    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        r"""Return the preceding byte's offset, because it may be the `\r` of a `\r\n`."""
        return max(floor, offset - 1)


class Separator(Delimiter):
    """A byte sequence, which may overlap itself."""

    def __init__(self, value: bytes) -> None:
        if not isinstance(value, bytes) or not value:
            raise IllegalArgumentException(
                f"invalid delimiter: {value!r:.40}; must have at least one byte"
            )
        self.value = value
        self._overlaps = any(value.startswith(value[n:]) for n in range(1, len(value)))

    def find(self, data: bytes | bytearray, start: int, final: bool) -> Span | None:
        """Return the leftmost occurrence."""
        position = data.find(self.value, start)
        return None if position < 0 else (position, position + len(self.value))

    def pending(self, data: bytes | bytearray) -> int:
        """Return the length of the delimiter minus one."""
        return min(len(self.value) - 1, len(data))

    def split(self, data: bytes) -> tuple[list[bytes], int, int]:
        """Return the complete records, split from left to right."""
        records = data.split(self.value)
        return records, len(data) - len(records.pop()), len(self.value)

    def complete(self, data: bytes, start: int, stop: int) -> tuple[int, bytes]:
        """See the base class; non-overlapping occurrences are the same from either side."""
        if self._overlaps:
            return start, b""
        position = data.rfind(self.value, start, stop)
        return (start if position < 0 else position + len(self.value)), self.value

    def safe_point(self, read: ReadAt, offset: int, floor: int) -> int:
        """Go back over all occurrences that overlap the next one: the first of them counts.

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
    """Return line ends for None, else a separator; raise IllegalArgumentException if empty."""
    return LineEnd() if value is None else Separator(value)
