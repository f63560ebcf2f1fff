"""Construction of Hadoop FileStatus objects, and I/O statistics of filesystems and streams."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import basename, dirname, join
from typing import Any

from fscontract.contract.api.iostatistics import counters_of
from fscontract.contract.binding import NoScene
from fscontract.implementations.bindings.hadoop.conversions import Java
from fscontract.implementations.bindings.hadoop.local_files import FOREIGN
from fscontract.implementations.jvm.jvm import java_class


def counters(filesystem: Any, stream: Any) -> Mapping[str, int]:
    """Return the counters of a filesystem except those of streams, and of a stream unless None."""
    return counters_of(_of(filesystem), {} if stream is None else _of(stream))


def _of(source: Any) -> dict[str, int]:
    """Return the counters of an object that may have some."""
    support = java_class("org.apache.hadoop.fs.statistics.IOStatisticsSupport")
    statistics = support.retrieveIOStatistics(source)
    if statistics is None:
        return {}
    return {
        str(entry.getKey()): int(entry.getValue()) for entry in statistics.counters().entrySet()
    }


_FS = "org.apache.hadoop.fs."
#: A class that only HDFS uses.
_FOREIGN = "org.apache.hadoop.hdfs.protocol.HdfsFileStatus"


def sibling(path: str) -> str:
    """Return the other path that a status with another path points to."""
    return join(dirname(path), f"other-{basename(path)}")


class Statuses:
    """Creates statuses from a file's own status."""

    def __init__(self, java: Java) -> None:
        self._java = java
        self._plain = java_class(f"{_FS}FileStatus")
        self.null = java.null(self._plain)

    def permission(self, mode: int) -> Any:
        """Return an FsPermission."""
        return java_class(f"{_FS}permission.FsPermission")(self._java.short(mode))

    def unknown(self, path: Any) -> Any:
        """Return a status for a path without a file."""
        return self._status(-1, False, 0, 0, 0, path)

    def make(self, kind: str, filesystem: Any, own: Any, path: str, length: int | None) -> Any:
        """Return a status of a kind of STATUSES; raise NoScene or OverflowError.

        Raises what the methods of `filesystem` and of its status `own` raise.
        """
        if length is not None:
            own = self._of_length(own, length)
        if kind in ("own", "stale"):
            return own
        if kind == "located":
            return self._located(own)
        named = self._with(own, self._path(kind, filesystem, own, path), None)
        return self._foreign(named) if kind in ("subclass", "name-subclass") else named

    def like(self, kind: str, path: Any, length: int, directory: bool) -> Any:
        """Return a status of the kind "own", "located" or "subclass" with these values."""
        status = self._status(length, directory, 1, 1 << 25, 0, path)
        if kind == "located":
            return self._located(status)
        return self._foreign(status) if kind == "subclass" else status

    def _path(self, kind: str, filesystem: Any, own: Any, path: str) -> Any:
        if kind == "subclass":
            return own.getPath()
        others = {
            "parents": f"/other/parents/{basename(path)}",
            "scheme": FOREIGN + str(own.getPath().toUri().getPath()),
        }
        java_path = self._java.path(others.get(kind) or sibling(path))
        return java_path if kind == "scheme" else filesystem.makeQualified(java_path)

    def _of_length(self, own: Any, length: int) -> Any:
        """Return a status of the same class, which keeps its etag; or else a plain one."""
        field = self._plain.class_.getDeclaredField("length")
        field.setAccessible(True)
        field.setLong(own, self._java.long(length))
        return own if own.getLen() == length else self._with(own, own.getPath(), length)

    def _with(self, own: Any, path: Any, length: int | None) -> Any:
        size = int(own.getLen()) if length is None else length
        times = (own.getReplication(), own.getBlockSize(), own.getModificationTime())
        return self._status(size, own.isDirectory(), *times, path)

    def _status(
        self, length: int, directory: bool, copies: int, block: int, time: int, path: Any
    ) -> Any:
        long = self._java.long
        return self._plain(
            long(length), directory, self._java.int(copies), long(block), long(time), path
        )

    def _located(self, status: Any) -> Any:
        """Return the status with a block location, created from its numbers only.

        Hadoop's own copy requests owner and permission. For these, a status of RawLocalFileSystem
        reads the disk at its path, wherever that is.
        """
        plain = self._with(status, status.getPath(), None)
        strings = [self._java.string(host) for host in ("host1", "host2")]
        hosts = self._java.array_of(java_class("java.lang.String"), strings)
        block_class = java_class(f"{_FS}BlockLocation")
        size = self._java.long(max(0, int(plain.getLen())))
        where = block_class(hosts, hosts, self._java.long(0), size)
        blocks = self._java.array_of(block_class, [where])
        return java_class(f"{_FS}LocatedFileStatus")(plain, blocks)

    def _foreign(self, status: Any) -> Any:
        """Return the status as a class that the filesystem does not know."""
        try:
            builder = java_class(f"{_FOREIGN}$Builder")()
        except TypeError as error:  # these libraries lack the class
            raise NoScene(_FOREIGN) from error
        foreign = builder.length(status.getLen()).isdir(status.isDirectory()).build()
        foreign.setPath(status.getPath())
        return foreign
