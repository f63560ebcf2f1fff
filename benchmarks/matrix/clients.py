"""Targets without a URL, as callables for `fscontract check`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, ClassVar

from fsspec import AbstractFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile

from fscontract.contract.binding import Binding
from fscontract.implementations.bindings.python_file import PythonFileBinding


def buffered(folder: str) -> Binding:
    """Return a binding to buffered files of open()."""
    return PythonFileBinding(lambda path: open(path, "rb"), folder, "buffered")


def raw(folder: str) -> Binding:
    """Return a binding to unbuffered files of open()."""
    return PythonFileBinding(lambda path: open(path, "rb", buffering=0), folder, "raw")


def random(folder: str) -> Binding:
    """Return a binding to files opened for reading and writing."""
    return PythonFileBinding(lambda path: open(path, "r+b"), folder, "r+b")


def bytesio(folder: str) -> Binding:
    """Return a binding to files in memory."""
    return PythonFileBinding(lambda path: io.BytesIO(Path(path).read_bytes()), folder, "BytesIO")


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
