"""Helpers of several test modules."""

from __future__ import annotations

from fscontract.contract.api.filesystem import FileSystem, FSDataInputStream


def write(fs: FileSystem, path: str, data: bytes) -> None:
    """Write a file."""
    with fs.create(path) as file:
        file.write(data)


def rest_of(stream: FSDataInputStream) -> bytes:
    """Return all bytes from the position on."""
    data, buffer = b"", bytearray(1000)
    while (count := stream.read_into(buffer)) > 0:
        data += buffer[:count]
    return data


def read(fs: FileSystem, path: str) -> bytes:
    """Return the content of a file."""
    with fs.open(path) as stream:
        return rest_of(stream)


def counted(stream: FSDataInputStream | FileSystem, *names: str) -> list[int]:
    """Return counters by their names without `stream_read_`."""
    counts = stream.io_statistics()
    return [counts.get(f"stream_read_{name}", counts.get(name, -1)) for name in names]
