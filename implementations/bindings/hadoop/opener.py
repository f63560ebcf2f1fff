"""Opening Hadoop's streams through `openFile`, for programs that start with a builder."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import dirname, join
from typing import TYPE_CHECKING, Any, NamedTuple

from fscontract.contract.content import content, replacement
from fscontract.contract.opener import NoScene, Opener
from fscontract.contract.opening import MISNAMED, SCENES, STATUSES, BuilderCall
from fscontract.contract.outcome import Outcome
from fscontract.contract.prefixes import new_name
from fscontract.implementations.bindings.hadoop.exceptions import told, unwrapped
from fscontract.implementations.bindings.hadoop.java import Java
from fscontract.implementations.bindings.hadoop.place import FOREIGN
from fscontract.implementations.bindings.hadoop.statistics import counters
from fscontract.implementations.bindings.hadoop.statuses import Statuses, beside
from fscontract.implementations.bindings.hadoop.streamops import OpenedStream
from fscontract.implementations.bindings.streamopener import bounded

if TYPE_CHECKING:
    from fscontract.implementations.bindings.hadoop.binding import HadoopBinding

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
