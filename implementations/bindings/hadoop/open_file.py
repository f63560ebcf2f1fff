"""Open Hadoop's streams through `openFile`, with statuses, and read their statistics."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import basename, dirname, join
from typing import TYPE_CHECKING, Any, NamedTuple

from fscontract.contract.api.iostatistics import STORE_IO_REQUEST
from fscontract.contract.binding import NoScene, Opener
from fscontract.contract.program.content import content, replacement
from fscontract.contract.program.open_calls import MISNAMED, SCENES, STATUSES, BuilderCall
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.targets import new_name
from fscontract.implementations.bindings.hadoop.conversions import Java, told, unwrapped
from fscontract.implementations.bindings.hadoop.local_files import FOREIGN
from fscontract.implementations.bindings.hadoop.operations import OpenedStream
from fscontract.implementations.bindings.open_file import bounded
from fscontract.implementations.jvm.jvm import java_class

if TYPE_CHECKING:
    from fscontract.implementations.bindings.hadoop.binding import HadoopBinding


#: What a stream counts for itself: all of these names, and those that start so.
_OF_STREAMS = ("stream_", STORE_IO_REQUEST)


def counters(filesystem: Any, stream: Any) -> Mapping[str, int]:
    """The counters of a filesystem but for those of streams, and those of a stream unless None."""
    own = {n: count for n, count in _of(filesystem).items() if not n.startswith(_OF_STREAMS)}
    return own if stream is None else {**own, **_of(stream)}


def _of(source: Any) -> dict[str, int]:
    """The counters of what may have some."""
    support = java_class("org.apache.hadoop.fs.statistics.IOStatisticsSupport")
    found = support.retrieveIOStatistics(source)
    if found is None:
        return {}
    return {str(entry.getKey()): int(entry.getValue()) for entry in found.counters().entrySet()}


_FS = "org.apache.hadoop.fs."
#: A class that only HDFS knows.
_FOREIGN = "org.apache.hadoop.hdfs.protocol.HdfsFileStatus"


def beside(path: str) -> str:
    """The path of another name where a status of another name leads."""
    return join(dirname(path), f"other-{basename(path)}")


class Statuses:
    """Makes statuses from a file's own."""

    def __init__(self, java: Java) -> None:
        self._java = java
        self._plain = java_class(f"{_FS}FileStatus")
        self.null = java.null(self._plain)

    def permission(self, mode: int) -> Any:
        """An FsPermission."""
        return java_class(f"{_FS}permission.FsPermission")(self._java.short(mode))

    def unknown(self, path: Any) -> Any:
        """The status of a path where no file is."""
        return self._status(-1, False, 0, 0, 0, path)

    def make(self, kind: str, filesystem: Any, own: Any, path: str, length: int | None) -> Any:
        """A status of a kind of STATUSES; NoScene, OverflowError for a length that is no long.

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
        """A status of the kind "own", "located" or "subclass" that says this of a path."""
        made = self._status(length, directory, 1, 1 << 25, 0, path)
        if kind == "located":
            return self._located(made)
        return self._foreign(made) if kind == "subclass" else made

    def _path(self, kind: str, filesystem: Any, own: Any, path: str) -> Any:
        if kind == "subclass":
            return own.getPath()
        others = {
            "parents": f"/other/parents/{basename(path)}",
            "scheme": FOREIGN + str(own.getPath().toUri().getPath()),
        }
        made = self._java.path(others.get(kind) or beside(path))
        return made if kind == "scheme" else filesystem.makeQualified(made)

    def _of_length(self, own: Any, length: int) -> Any:
        """The status of its class, so that it keeps its etag; or else a plain one."""
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
        """The same with a block; made of its numbers, since others of it may not be had.

        Hadoop's own copy asks for owner and permission, for which a status of RawLocalFileSystem
        looks at the disk below its path, wherever that leads.
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
        """The same of a class that the filesystem can't know."""
        try:
            builder = java_class(f"{_FOREIGN}$Builder")()
        except TypeError as error:  # no such class among these libraries
            raise NoScene(_FOREIGN) from error
        made = builder.length(status.getLen()).isdir(status.isDirectory()).build()
        made.setPath(status.getPath())
        return made


_WRITTEN = frozenset({"late", "directory", "unreadable"})
#: How the builder's methods are called in Java, and in versions that have no other name for one.
_METHODS = {
    "opt": ("opt",),
    "must": ("must",),
    "opt_long": ("optLong", "opt"),
    "must_long": ("mustLong", "must"),
    "opt_double": ("optDouble", "opt"),
    "must_double": ("mustDouble", "must"),
    "buffer_size": ("bufferSize",),
    "with_file_status": ("withFileStatus",),
}


class _At(NamedTuple):
    """A builder or a future of Java's, and the path it opens."""

    java: Any
    path: str


class HadoopOpener(Opener):
    """`openFile` of a FileSystem or FileContext."""

    statistics = True

    def __init__(self, binding: HadoopBinding, java: Java) -> None:
        self.scenes = frozenset(SCENES)
        self.statuses = frozenset(STATUSES)
        if not binding.changes:
            self.scenes -= {"late", "unreadable"}
            self.statuses -= {"stale"}
        if binding.place.store is None:
            self.scenes -= _WRITTEN
            self.statuses -= MISNAMED
        self._binding = binding
        self._place = binding.place
        self._java = java
        self._kinds = Statuses(java)
        self._others: set[str] = set()

    # What is opened ---------------------------------------------------------------------------

    def place(self, scene: str, content: bytes) -> str:
        """Make the scene and return its path; NoScene if this process can read every file."""
        binding = self._binding
        fixed = binding.fixed_content
        if scene == "missing" and fixed is not None:
            return join(dirname(binding.create(fixed)), new_name())
        if scene in ("missing", "late"):
            return binding.absent_path()
        if scene == "directory":
            return binding.make_directory()
        path = binding.create(content if fixed is None else fixed)
        if scene == "unreadable":
            self._forbid(path)
        return FOREIGN + path if scene == "foreign" else path

    def appear(self, path: str, content: bytes) -> None:
        """Write the file at `path`; TargetError."""
        self._binding.change(path, content)

    def _forbid(self, path: str) -> None:
        """Take away the permission to read; NoScene if that can't be done, or keeps nobody out."""
        java, why = self._java, "no permission keeps this process from reading"
        try:
            filesystem = self._place.at(path)
            filesystem.setPermission(java.path(path), self._kinds.permission(0))
        except Exception as error:
            why = told(unwrapped(error))
        else:
            try:
                filesystem.open(java.path(path)).close()
            except Exception:  # whatever keeps it from being read
                return
        self.scenes -= {"unreadable"}
        raise NoScene(why)

    # Calls ------------------------------------------------------------------------------------

    def open_file(self, path: str) -> Any:
        """A new builder."""
        return _At(self._place.at(path).openFile(self._binding.path_of(path)), path)

    def ready(self, path: str, call: BuilderCall) -> BuilderCall:
        """A call whose arguments are Java's; NoScene if Java has no such arguments."""
        method, *args = super().ready(path, call)
        if method == "with_file_status":
            return method, args[0]
        java = self._java
        try:
            if method == "buffer_size":
                return method, java.int(args[0])
            key, value = args
            return method, java.text(key), self._value(method, value)
        except (OverflowError, UnicodeError) as error:
            raise NoScene(str(error)) from error

    def _value(self, method: str, value: Any) -> Any:
        java = self._java
        if method.endswith("_long"):
            return java.long(value)
        if method.endswith("_double"):
            return java.double(value)
        if isinstance(value, bool):
            return java.boolean(value)
        if isinstance(value, int):
            return (java.int if -(2**31) <= value < 2**31 else java.long)(value)
        return java.text(value)

    def call(self, builder: Any, call: BuilderCall) -> Any:
        """The builder after a call."""
        method, *args = call
        for name in _METHODS[method]:
            function = getattr(builder.java, name, None)
            if function is not None:
                return _At(function(*args), builder.path)
        raise NotImplementedError(method)

    def build(self, builder: Any) -> Any:
        """The future of Java's."""
        return _At(builder.java.build(), builder.path)

    def get(self, future: Any) -> OpenedStream:
        """The stream of the future, as FutureIO.awaitFuture has it: what is wrapped comes out."""
        return OpenedStream(future.java.get(), future.path)

    def outcome(self, error: Exception) -> Outcome:
        """What an exception of Java's means."""
        return self._binding.fail(error)

    def counters(self, opened: Any) -> Mapping[str, int]:
        """The filesystem's statistics, with those of streams only from the stream itself."""
        stream = None if opened is None else opened.stream
        return counters(self._place.statistics_of, stream)

    # Statuses ---------------------------------------------------------------------------------

    def status(self, path: str, kind: str, length: int | None) -> Any:
        """A status of a kind; one of no known length if there is no file yet.

        Where a status of another name leads, there is a file with other bytes.
        """
        if kind == "none":
            return self._kinds.null
        try:
            filesystem = self._place.at(path)
            own = self._own_status(filesystem, path)
            made, size = self._kinds.make(kind, filesystem, own, path, length), int(own.getLen())
        except NoScene:
            raise
        except Exception as error:  # of the filesystem, of its status, or no long
            raise NoScene(told(unwrapped(error))) from error
        if kind in MISNAMED and size >= 0 and path not in self._others:
            self._put_beside(path, bounded(size))
            self._others.add(path)
        return made

    def _own_status(self, filesystem: Any, path: str) -> Any:
        """What `getFileStatus` gives; of no known length where it gives none."""
        named = self._java.path(path)
        try:
            own = filesystem.getFileStatus(named)
        except Exception:  # what lies there is no file, and may be anything
            own = None
        return self._kinds.unknown(filesystem.makeQualified(named)) if own is None else own

    def _put_beside(self, path: str, length: int) -> None:
        other = beside(path)
        try:
            self._place.put_beside(other, replacement(content(length)))
        except Exception as error:
            raise self._binding.failure(f"can't write {other}", error) from error
