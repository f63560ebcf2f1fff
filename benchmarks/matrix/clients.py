"""Targets without a URL, as callables for `fscontract check`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from fsspec import AbstractFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile

from fscontract.contract.binding import Binding
from fscontract.implementations.bindings.python_file import PythonFileBinding


def open_buffered(path: str) -> BinaryIO:
    """Return a buffered file."""
    return open(path, "rb")


def open_raw(path: str) -> BinaryIO:
    """Return an unbuffered file."""
    return open(path, "rb", buffering=0)


def open_random(path: str) -> BinaryIO:
    """Return a file opened for reading and writing."""
    return open(path, "r+b")


def open_bytesio(path: str) -> BinaryIO:
    """Return the content of a file in memory."""
    return io.BytesIO(Path(path).read_bytes())


def buffered(folder: str) -> Binding:
    """Return a binding to buffered files of open()."""
    return PythonFileBinding(open_buffered, folder, "buffered")


def raw(folder: str) -> Binding:
    """Return a binding to unbuffered files of open()."""
    return PythonFileBinding(open_raw, folder, "raw")


def random(folder: str) -> Binding:
    """Return a binding to files opened for reading and writing."""
    return PythonFileBinding(open_random, folder, "r+b")


def bytesio(folder: str) -> Binding:
    """Return a binding to files in memory."""
    return PythonFileBinding(open_bytesio, folder, "BytesIO")


def below(folder: str) -> DirFileSystem:
    """Return fsspec's directory filesystem over its local one."""
    return DirFileSystem(folder, LocalFileSystem())


def arrow(folder: str) -> DirFileSystem:
    """Return fsspec's wrapper of PyArrow's local filesystem, below a directory."""
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow.fs import LocalFileSystem as ArrowLocal

    return DirFileSystem(folder, ArrowFSWrapper(ArrowLocal()))


def webdav(url: str) -> AbstractFileSystem:
    """Return the WebDAV filesystem of webdav4."""
    from servers import file_server_clients as targets

    return targets.webdav(url)


def sftp(port: int) -> AbstractFileSystem:
    """Return fsspec's SFTP filesystem."""
    from servers import file_server_clients as targets

    return targets.sftp(port)


def sshfs(port: int) -> AbstractFileSystem:
    """Return the filesystem of sshfs."""
    from servers import file_server_clients as targets

    return targets.sshfs(port)


def smart(url: str, bucket: str) -> Binding:
    """Return a binding to files of smart_open."""
    from servers.s3.client_targets import Place, smart

    return smart(Place(url, bucket))


def body(url: str, bucket: str) -> Binding:
    """Return a binding to bodies of boto3."""
    from servers.s3.client_targets import Place, streaming_body

    return streaming_body(Place(url, bucket))


def opened(folder: str) -> Binding:
    """Return a binding to local files of smart_open."""
    from smart_open import open as smart_open

    return PythonFileBinding(lambda path: smart_open(path, "rb"), folder, "smart_open")


class _Buffered(AbstractBufferedFile):  # type: ignore[misc]
    """A file that takes what it reads from a store in memory, through a cache of fsspec."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        return bytes(self.fs.store[self.path].getvalue()[start:end])


class Cached(MemoryFileSystem):  # type: ignore[misc]
    """A filesystem in memory whose files are read through a cache of fsspec."""

    protocol = "cached"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    def __init__(self, cache: str) -> None:
        super().__init__()
        self.cache = cache

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode != "rb":
            return super()._open(path, mode, **options)
        self.info(path)
        return _Buffered(self, path, mode, block_size=4096, cache_type=self.cache)
