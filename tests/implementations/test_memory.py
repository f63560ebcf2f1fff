"""Tests of the in-memory filesystem."""

from __future__ import annotations

from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream


class Upper(MemoryInputStream):
    """Returns bytes in upper case."""

    def read_byte(self) -> int:
        position = self.get_pos()
        self.seek(position + 1)
        return self.data.upper()[position]


def test_files_open_as_streams_of_the_given_class() -> None:
    fs = MemoryFileSystem(stream_class=Upper)
    with fs.create("/a") as file:
        file.write(b"abc")
    with fs.open("/a") as stream:
        assert isinstance(stream, Upper)
        assert (stream.read_byte(), stream.data) == (ord("A"), b"abc")


def test_the_stream_class_takes_the_declared_length() -> None:
    fs = MemoryFileSystem(stream_class=Upper)
    with fs.create("/a") as file:
        file.write(b"abc")
    builder = fs.open_file("/a").opt_long("fs.option.openfile.length", 2)
    with builder.build().result() as stream:
        assert stream.available() == 2
