"""A filesystem of Hadoop's own client as a `FileSystem`, for the pipelines.

The client runs in a JVM of this process, with Hadoop's jars of Spark or of HADOOP_HOME, and those
of HADOOP_CLASSPATH. Its configuration comes from HADOOP_CONF_DIR. Files are read, not written.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TypeAlias

from fscontract.contract.api.errors import (
    IllegalArgumentException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import Closeable, FileStatus
from fscontract.contract.api.iostatistics import OP_GET_FILE_STATUS
from fscontract.contract.binding import TargetError
from fscontract.contract.text import mask_url
from fscontract.implementations.bindings.common import secrets_in
from fscontract.implementations.bindings.hadoop.conversions import java, told, unwrapped
from fscontract.implementations.bindings.hadoop.locations import new_filesystem
from fscontract.implementations.filesystem_base import (
    ReferenceFileSystem,
    denied,
    free_in_children,
    normalize,
    not_found,
)
from fscontract.implementations.input_stream import ReferenceInputStream
from fscontract.implementations.jvm import jvm
from fscontract.implementations.openfile_builder import OpenOptions

_MISSING = ("java.io.FileNotFoundException", "java.nio.file.NoSuchFileException")
#: Java's exceptions for files that must not be read.
DENIED = (
    "org.apache.hadoop.security.AccessControlException",
    "java.nio.file.AccessDeniedException",
)
#: A read of a Java stream: position, array, offset in the array, length; returns the count or -1.
_Read: TypeAlias = Callable[[int, Any, int, int], int]
#: The longest read that is copied from Java at once, in bytes.
_LARGEST_COPY = 8 << 20


class HadoopFileSystem(ReferenceFileSystem, Closeable):
    """The filesystem that Hadoop's FileSystem.newInstance opens at a URL such as `hdfs://host`.

    `options` are properties of Hadoop's Configuration. Raise IllegalArgumentException if Java or
    Hadoop is missing, or for a scheme that Hadoop does not know, and PathIOException if the
    filesystem can't be reached.
    """

    path_capabilities = frozenset()

    def __init__(self, url: str, options: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._url = mask_url(url)
        self._secrets = secrets_in(url, options or {})
        is_root = url.endswith("/") and not url.endswith("://")
        root = url if is_root else f"{url}/"
        try:
            jvm.start(jvm.hadoop_jars())
        except TargetError as error:
            raise IllegalArgumentException(f"hadoop+{self._url}: {error}") from None
        with self.errors(self._url):
            self._java = new_filesystem(root, options or {})
        uri = self._java.getUri()
        self._scheme, self._authority = uri.getScheme(), uri.getAuthority()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    def close(self) -> None:
        """Close Hadoop's filesystem."""
        with self.errors(self._url):
            self._java.close()

    def host_path(self, path: str) -> Any:
        """Return a path as Hadoop's Path, without parsing its characters as a URI."""
        return java().path(self._scheme, self._authority, normalize(path))

    @contextmanager
    def errors(self, path: str) -> Iterator[None]:
        """Convert Java's exceptions, without credentials."""
        try:
            yield
        except PathIOException:
            raise
        except Exception as error:
            cause = unwrapped(error)
            names = {cls.__name__ for cls in type(cause).__mro__}
            if not names.isdisjoint(_MISSING):
                raise not_found(path) from None
            if not names.isdisjoint(DENIED):
                raise denied(path) from None
            raise PathIOException(path, told(cause, self._secrets)) from None

    def get_file_status(self, path: str) -> FileStatus:
        """Return the status of a file or directory; raise FileNotFoundException."""
        path = normalize(path)
        self._statistics.count(OP_GET_FILE_STATUS)
        with self.errors(path):
            return _status(path, self._java.getFileStatus(self.host_path(path)))

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """Yield the children of a directory, sorted by path, or the file itself."""
        path = normalize(path)
        with self.errors(path):
            listed = [
                _status(normalize(str(status.getPath().toUri().getPath())), status)
                for status in self._java.listStatus(self.host_path(path))
            ]
        return iter(sorted(listed, key=lambda status: status.path))

    def _open(self, path: str, options: OpenOptions) -> HadoopInputStream:
        length = self._length_to_open(path, options)
        with self.errors(path):
            stream = self.open_java(path)
        return HadoopInputStream(self, path, stream, length)

    def open_java(self, path: str) -> Any:
        """Return a new Java stream; its exceptions are Java's."""
        return self._java.open(self.host_path(path))

    # changes ------------------------------------------------------------------------------

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """Raise UnsupportedOperationException, as all writing operations do."""
        _refuse()

    def mkdirs(self, path: str) -> None:
        """Raise UnsupportedOperationException."""
        _refuse()

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Raise UnsupportedOperationException."""
        _refuse()

    def rename(self, source: str, target: str) -> None:
        """Raise UnsupportedOperationException."""
        _refuse()

    def as_fsspec(self) -> Any:
        """Raise UnsupportedOperationException."""
        raise UnsupportedOperationException("hadoop+ URLs have no fsspec filesystem")


def _refuse() -> NoReturn:
    raise UnsupportedOperationException(
        "hadoop+ URLs are read-only for pipelines; keep tables and windows in a local directory, "
        "s3:, gs: or abfs:"
    )


class HadoopInputStream(ReferenceInputStream):
    """A stream over two Java streams of a file of `length` bytes, one for positioned reads.

    Not all streams of Hadoop keep their position while another thread makes positioned reads.
    """

    def __init__(self, filesystem: HadoopFileSystem, path: str, stream: Any, length: int) -> None:
        self._filesystem = filesystem
        self._next: Any = stream
        self._at = 0
        self._positioned: Any = None
        self._opening = free_in_children(threading.Lock())
        self._size = length
        super().__init__(path)

    def _length(self) -> int:
        return self._size

    def _read_at(self, position: int, view: memoryview) -> int:
        def read_on(start: int, array: Any, offset: int, length: int) -> int:
            if self._next is None:
                self._next, self._at = self._filesystem.open_java(self.path), 0
            if self._at != start:
                self._next.seek(start)
                self._at = start
            count = int(self._next.read(array, offset, length))
            self._at += max(count, 0)
            return count

        return self._fill(position, view, read_on)

    def _pread_at(self, position: int, view: memoryview) -> int:
        def read(start: int, array: Any, offset: int, length: int) -> int:
            with self._opening:  # several threads may make the first positioned read
                if self._positioned is None:
                    self._positioned = self._filesystem.open_java(self.path)
                stream = self._positioned
            return int(stream.read(start, array, offset, length))

        return self._fill(position, view, read)

    def _fill(self, position: int, view: memoryview, read: _Read) -> int:
        """Fill `view` up to the end of the file, by reads of arrays that Python gets as copies."""
        wanted, done = max(0, min(len(view), self._size - position)), 0
        with self._filesystem.errors(self.path):
            while done < wanted:
                array = java().bytes(min(_LARGEST_COPY, wanted - done))
                count = _full(array, position + done, read)
                view[done : done + count] = memoryview(array).cast("B")[:count]
                done += count
                if count < len(array):
                    break
        return done

    def _release(self) -> None:
        streams = self._next, self._positioned
        self._next = self._positioned = None
        for stream in streams:
            if stream is not None:
                with suppress(Exception):  # nothing is lost: the stream only reads
                    stream.close()


def _full(array: Any, position: int, read: _Read) -> int:
    """Return how many bytes of an array are filled: fewer than all only at the end of the file."""
    filled = 0
    while filled < len(array):
        count = read(position + filled, array, filled, len(array) - filled)
        if count <= 0:
            break
        filled += count
    return filled


def _status(path: str, status: Any) -> FileStatus:
    directory = bool(status.isDirectory())
    seconds = int(status.getModificationTime()) / 1000
    etag = status.getEtag() if hasattr(status, "getEtag") else None
    return FileStatus(
        path,
        0 if directory else int(status.getLen()),
        directory,
        seconds,
        None if etag is None else str(etag),
    )
