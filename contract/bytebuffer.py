"""A fixed block of bytes with a position and a limit, after `java.nio.ByteBuffer`."""

from __future__ import annotations

from fscontract.contract.errors import IllegalArgumentException


class ByteBuffer:
    """Bytes between `position` and `limit` are the ones the next transfer may touch.

    Invariant: 0 <= position <= limit <= capacity, all in bytes.
    """

    def __init__(self, data: bytearray | memoryview) -> None:
        """Wrap writable bytes; position 0, limit and capacity their length."""
        self.view = memoryview(data)
        if self.view.readonly:
            raise IllegalArgumentException("a ByteBuffer wraps writable memory")
        self._position = 0
        self._limit = len(self.view)

    @classmethod
    def allocate(cls, capacity: int) -> ByteBuffer:
        """A new zeroed buffer of `capacity` bytes."""
        return cls(bytearray(capacity))

    @property
    def capacity(self) -> int:
        """Size of the whole block, in bytes."""
        return len(self.view)

    @property
    def position(self) -> int:
        """Offset of the next byte to transfer."""
        return self._position

    @position.setter
    def position(self, value: int) -> None:
        if not 0 <= value <= self._limit:
            raise IllegalArgumentException(f"position {value} is outside [0, {self._limit}]")
        self._position = value

    @property
    def limit(self) -> int:
        """Offset of the first byte that a transfer must leave alone."""
        return self._limit

    @limit.setter
    def limit(self, value: int) -> None:
        if not 0 <= value <= self.capacity:
            raise IllegalArgumentException(f"limit {value} is outside [0, {self.capacity}]")
        self._limit = value
        self._position = min(self._position, value)

    @property
    def remaining(self) -> int:
        """Bytes between position and limit."""
        return self._limit - self._position

    def window(self) -> memoryview:
        """The bytes between position and limit, without copying."""
        return self.view[self._position : self._limit]

    def flip(self) -> ByteBuffer:
        """Set the limit to the position and the position to 0; returns self."""
        self._limit, self._position = self._position, 0
        return self

    def __repr__(self) -> str:
        return f"<ByteBuffer [{self._position}, {self._limit}) of {self.capacity}>"
