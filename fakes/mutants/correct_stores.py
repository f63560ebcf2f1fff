"""A correct store like those of obstore and a correct operator like OpenDAL's, for mutants."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

from fscontract.implementations.bindings.obstore import ObstoreBinding


class RightReader(io.BytesIO):
    """A reader of an object."""

    def readall(self) -> bytes:
        """Return the bytes up to the end."""
        return self.read()

    @property
    def size(self) -> int:
        """The number of bytes of the object."""
        return len(self.getvalue())


class RightStream:
    """The chunks of a result, which can be awaited."""

    def __init__(self, data: bytes, chunk: int) -> None:
        self.chunks = [data[at : at + chunk] for at in range(0, len(data), chunk)]

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.chunks)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk


class RightResult:
    """The result of a get."""

    def __init__(self, data: bytes, start: int, size: int) -> None:
        self.data, self.start = data, start
        self.meta = {"size": size}

    @property
    def range(self) -> tuple[int, int]:
        """The start and the stop of the bytes."""
        return self.start, self.start + len(self.data)

    def bytes(self) -> bytes:
        """Return the bytes."""
        return self.data

    async def bytes_async(self) -> Any:
        """Return the bytes."""
        return self.bytes()

    def stream(self, min_chunk_size: int) -> RightStream:
        """Return the bytes in chunks."""
        return RightStream(self.data, min_chunk_size)


class RightStore:
    """A store in memory with the calls of obstore's."""

    def __init__(
        self,
        result_class: type[RightResult] = RightResult,
        reader_class: type[RightReader] = RightReader,
    ) -> None:
        self.objects: dict[str, bytes] = {}
        self.result_class, self.reader_class = result_class, reader_class

    def content(self, path: str) -> bytes:
        """Return the bytes of an object; raise FileNotFoundError."""
        if path not in self.objects:
            raise FileNotFoundError(path)
        return self.objects[path]

    def put(self, path: str, content: bytes) -> None:
        """Write an object."""
        self.objects[path] = bytes(content)

    def delete(self, paths: Any) -> None:
        """Delete an object, or several."""
        for path in [paths] if isinstance(paths, str) else paths:
            self.objects.pop(path, None)

    def list(self, prefix: str) -> Iterator[list[dict[str, Any]]]:
        """Yield the objects below a prefix."""
        yield [{"path": path} for path in self.objects if path.startswith(f"{prefix}/")]

    def limits(self, size: int, limits: Any) -> tuple[int, int]:
        """Return the start and the stop of a range in an object of `size` bytes."""
        if limits is None:
            return 0, size
        if isinstance(limits, dict):
            start = limits.get("offset", max(size - limits.get("suffix", 0), 0))
            return start, size
        return self.within(size, *limits)

    def within(self, size: int, start: int, end: int) -> tuple[int, int]:
        """Return a range without what is past the end; raise ValueError if it is empty."""
        if not 0 <= start < min(end, size):
            raise ValueError(f"invalid range: {start} to {end}")
        return start, min(end, size)

    def get(self, path: str, options: Any = None) -> RightResult:
        """Return the result for an object, or a range of it."""
        data = self.content(path)
        start, stop = self.limits(len(data), (options or {}).get("range"))
        return self.result_class(data[start:stop], start, len(data))

    def get_range(
        self, path: str, *, start: int, end: int | None = None, length: int | None = None
    ) -> bytes:
        """Return a range of an object."""
        data = self.content(path)
        stop = start + (length or 0) if end is None else end
        low, high = self.within(len(data), start, stop)
        return data[low:high]

    def get_ranges(
        self,
        path: str,
        *,
        starts: Any,
        ends: Any = None,
        lengths: Any = None,
        coalesce: int = 1 << 20,
    ) -> Any:
        """Return several ranges of an object."""
        data = self.content(path)
        if ends is None:
            ends = [start + length for start, length in zip(starts, lengths, strict=True)]
        return [data[low:high] for low, high in zip(starts, ends, strict=True)]

    def head(self, path: str) -> dict[str, Any]:
        """Return the metadata of an object."""
        return {"size": len(self.content(path))}

    def open_reader(self, path: str) -> RightReader:
        """Open a reader."""
        return self.reader_class(self.content(path))

    def __getattr__(self, name: str) -> Any:
        """Return the coroutine of a method."""
        if not name.endswith("_async"):
            raise AttributeError(name)
        method = getattr(self, name.removesuffix("_async"))

        async def awaited(*args: Any, **options: Any) -> Any:
            return method(*args, **options)

        return awaited


class RightStoreBinding(ObstoreBinding):
    """Runs programs on a RightStore."""

    def open_reader(self, path: str, buffer_size: int) -> RightReader:
        """Open a reader."""
        reader: RightReader = self.store.open_reader(path)
        return reader

    async def open_reader_async(self, path: str, buffer_size: int) -> RightReader:
        """Open a reader."""
        return self.open_reader(path, buffer_size)


class RightOperatorFile(io.BytesIO):
    """A file of an operator."""


class RightOperator:
    """An operator on files in memory with the calls of OpenDAL's."""

    def __init__(self, file_class: type[RightOperatorFile] = RightOperatorFile) -> None:
        self.files: dict[str, bytes] = {}
        self.file_class = file_class

    def __repr__(self) -> str:
        return 'Operator("memory")'

    def to_async_operator(self) -> RightOperator:
        """Return the operator: its results need no waiting."""
        return self

    def content(self, path: str) -> bytes:
        """Return the bytes of a file; raise FileNotFoundError."""
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    def write(self, path: str, content: bytes) -> None:
        """Write a file."""
        self.files[path] = bytes(content)

    def create_dir(self, path: str) -> None:
        """Do nothing: a directory exists as long as it has files."""

    def delete(self, path: str) -> None:
        """Delete a file."""
        self.files.pop(path, None)

    def remove_all(self, path: str) -> None:
        """Delete the files of a directory."""
        for name in [one for one in self.files if one.startswith(path)]:
            del self.files[name]

    def open(self, path: str, mode: str) -> RightOperatorFile:
        """Open a file for reading."""
        return self.file_class(self.content(path))

    def read(self, path: str, *, offset: int | None = None, size: int | None = None) -> bytes:
        """Return the bytes of a file, or of a range."""
        start = offset or 0
        return self.content(path)[start : None if size is None else start + size]

    def stat(self, path: str) -> Any:
        """Return the metadata of a file."""
        return SimpleNamespace(content_length=len(self.content(path)))

    def exists(self, path: str) -> bool:
        """Return whether there is a file."""
        return path in self.files
