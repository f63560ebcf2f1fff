"""A filesystem in memory that opens streams of any class, which mutants of streams derive from."""

from __future__ import annotations

from collections.abc import Callable

from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.openfile_builder import OpenOptions


class MutantFileSystem(MemoryFileSystem):
    """Files in memory, opened as streams of the class `stream`."""

    def __init__(self, stream: type[MemoryInputStream] = MemoryInputStream) -> None:
        super().__init__()
        self._stream = stream

    def _open(self, path: str, options: OpenOptions) -> MemoryInputStream:
        data = super()._open(path, options).data
        stream = self._stream(data, path)
        if isinstance(stream, LiveStream):
            stream.look = lambda: self._now(path, options)
        return stream

    def _now(self, path: str, options: OpenOptions) -> bytes | None:
        try:
            return super()._open(path, options).data
        except FileNotFoundError:
            return None


class LiveStream(MemoryInputStream):
    """A correct stream that can look at what its file holds now."""

    #: Return the file's present content, None once it is deleted.
    look: Callable[[], bytes | None]

    @property
    def is_changed(self) -> bool:
        """Whether the file is another than the one that was opened."""
        return self.look() != self.data
