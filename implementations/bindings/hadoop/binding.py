"""Binding to Hadoop's filesystems and streams, opened by path or through `openFile`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from posixpath import dirname, join
from typing import Any, ClassVar, NamedTuple
from urllib.parse import unquote, urlsplit

from fscontract.contract.binding import Action, Binding, NoScene, Opener, TargetError
from fscontract.contract.program.content import content, replacement
from fscontract.contract.program.open_calls import MISNAMED, SCENES, STATUSES, BuilderCall
from fscontract.contract.program.opened_path import OpenedPath
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import CHANGES, Program, Step
from fscontract.contract.script.calls import JavaApi, Source
from fscontract.contract.targets import UsageError, new_name
from fscontract.implementations.bindings.common import (
    hide,
    new_prefix,
    secrets_in,
    shown,
)
from fscontract.implementations.bindings.file_operations import inexpressible
from fscontract.implementations.bindings.hadoop import operations
from fscontract.implementations.bindings.hadoop.base_classes import base_classes
from fscontract.implementations.bindings.hadoop.conversions import (
    Java,
    java,
    outcome_of,
    told,
    unwrapped,
)
from fscontract.implementations.bindings.hadoop.local_files import (
    FOREIGN,
    HadoopLocation,
    LocalHadoopLocation,
    RestoringStore,
)
from fscontract.implementations.bindings.hadoop.locations import beside, location_of, store_of
from fscontract.implementations.bindings.hadoop.operations import OpenedStream, bind_stream
from fscontract.implementations.bindings.hadoop.spelling import java_setup, spell
from fscontract.implementations.bindings.hadoop.statuses import Statuses, counters, sibling
from fscontract.implementations.bindings.object_stores import Store, StoreFiles, versions
from fscontract.implementations.bindings.open_file import bounded
from fscontract.implementations.jvm import jvm
from fscontract.implementations.jvm.jvm import ExceptionCache

#: Streams allocate any requested buffer size: impossible sizes must fail quickly.
_MEMORY = "256m"
_FS = "org.apache.hadoop.fs"
#: Programs with this call may have their file moved away.
_NEW_SOURCE = "seek_to_new_source"


class HadoopBinding(StoreFiles):
    """Runs programs on the FSDataInputStream that a Java FileSystem or FileContext opens.

    The JVM must be running. Files are created at `location`; or `file` is the path of the only
    file, and `content` its content.
    """

    api: ClassVar[str] = "hadoop"
    #: Object that `recognise` accepts, for messages.
    accepts: ClassVar[str] = "a Java FileSystem or FileContext of Hadoop (through JPype)"

    def __init__(
        self,
        location: HadoopLocation,
        name: str,
        secrets: tuple[str, ...] = (),
        content: bytes | None = None,
        file: str | None = None,
    ) -> None:
        self.name = name
        self.default_profile = location.profile  # type: ignore[misc]
        self.remote = location.remote
        self.fixed_content = content
        self.changes = frozenset(CHANGES) if _writable(location) else frozenset()
        streams = jvm.java_class("org.apache.hadoop.fs.FSDataInputStream")
        self.operations = operations.operations_of(streams)
        #: Libraries and their versions, for reports.
        self.versions = {**versions("jpype1"), **_java_versions()}
        self.location = location
        self._secrets = secrets
        self._file = file
        self._java = java()
        self.path_of = lru_cache(maxsize=1024)(self._java.path)
        self.opener: HadoopOpener = HadoopOpener(self, self._java)
        self._exceptions = ExceptionCache()

    @classmethod
    def from_url(
        cls,
        url: str,
        options: Mapping[str, Any],
        *,
        file: str | None = None,
        content: Path | None = None,
    ) -> HadoopBinding:
        """Return the binding to Hadoop's filesystem at `url`; raise UsageError or TargetError.

        Options are set in Hadoop's Configuration, except `api`, which is "filesystem" or
        "filecontext". `file` is the URL of the only file, `content` a local copy of it.
        """
        name, secrets = f"hadoop+{shown(url)}", secrets_in(url, options)
        jvm.start(jvm.hadoop_jars(), _MEMORY, short_lived=True)
        try:
            data = None if content is None else content.read_bytes()
            location = location_of(
                url, {k: str(v) for k, v in options.items()}, fixed=data is not None
            )
        except (UsageError, TargetError) as error:
            raise type(error)(hide(str(error), secrets)) from error
        except Exception as error:
            why = told(unwrapped(error), secrets)
            raise TargetError(f"{name}: can't be opened by Hadoop: {why}") from error
        return cls(location, name, secrets, data, None if file is None else _inside(location, file))

    @classmethod
    def recognise(cls, obj: object, name: str) -> Binding | None:
        """Return a binding if `obj` is a Java FileSystem or FileContext, else None."""
        jpype = sys.modules.get("jpype")
        if jpype is None or not jpype.isJVMStarted():
            return None
        try:
            context, filesystem = (
                jpype.JClass(f"{_FS}.{n}") for n in ("FileContext", "FileSystem")
            )
        except TypeError:  # a JVM without Hadoop
            return None
        writes: Any = obj
        closes: tuple[Any, ...] = ()
        if isinstance(obj, context):
            writes = beside(obj, name)
            closes = (writes,)
        elif not isinstance(obj, filesystem):
            return None
        local = str(writes.getUri().getScheme()) == "file"
        store = store_of(writes, tempfile.gettempdir() if local else "")
        location = (
            LocalHadoopLocation(obj, store, "hadoop", closes)
            if local
            else HadoopLocation(obj, store, closes)
        )
        return cls(location, name)

    # Files ------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Create a random directory, or find the only file; raise TargetError."""
        if self.fixed_content is not None:
            self._find_file(len(self.fixed_content))
            return
        store = self.files
        prefix = new_prefix(store.root)
        try:
            store.make(prefix)
            self._prefix = prefix
        except Exception as error:
            raise self.failure("can't create a directory", error) from error

    def _find_file(self, length: int) -> None:
        try:
            reported = self.status_length(str(self._file))
        except Exception as error:
            raise self.failure("can't find the file to read", error) from error
        if reported is not None and reported not in (-1, length):
            raise TargetError(
                f"{self.name}: the file has {reported} bytes, but --content has {length}"
            )

    def new_path(self) -> str:
        """Return an unused path below the prefix."""
        self._files += 1
        return self.location.file(str(self._prefix), self._files)

    def absent_path(self) -> str:
        """Return a path that does not exist; raise TargetError."""
        self._files += 1
        try:
            return self.location.absent(str(self._prefix), self._files)
        except Exception as error:
            raise self.failure("can't create a directory for a file", error) from error

    def place(self, at: OpenedPath, content: bytes) -> str:
        """Make what is at an unusual path; raise NoScene for what an archive can't hold."""
        if at.kind in ("directory", "named") and not self.changes:
            raise NoScene(at.kind)
        return super().place(at, content)

    def missing_path(self) -> str:
        """Return a path at which there is nothing; raise TargetError."""
        if self.fixed_content is None:
            return self.absent_path()
        return join(dirname(self.create(self.fixed_content)), new_name())

    def make_directory(self) -> str:
        """Return the path of a new directory; raise TargetError."""
        self._files += 1
        try:
            return self.location.directory(str(self._prefix), self._files)
        except Exception as error:
            raise self.failure("can't create a directory", error) from error

    def dispose(self) -> None:
        """Delete the directory that `prepare` created; raise TargetError on failure."""
        try:
            super().dispose()
        finally:
            self.location.close()

    def status_length(self, path: str) -> int | None:
        """Return the length that `getFileStatus` reports."""
        try:
            return int(self.location.at(path).getFileStatus(self.path_of(path)).getLen())
        except Exception as error:
            raise self.as_python(error) from error

    # Streams ----------------------------------------------------------------------------------

    def open(self, path: str) -> OpenedStream:
        """Open the file; raise ConnectionError if the server can't be reached."""
        self._exceptions.put_aside()
        try:
            return OpenedStream(self.location.at(path).open(self.path_of(path)), path)
        except Exception as error:
            raise self.as_python(error) from error

    def sources(self, path: str) -> Mapping[str, frozenset[str]]:
        """Return Hadoop's classes behind a filesystem of another package; else none."""
        stream = self.open(path).stream
        try:
            return base_classes(self.location.at(path), stream, self.operations)
        finally:
            stream.close()

    def bind(self, step: Step) -> Action:
        """Return a step without anchors as a function of an OpenedStream."""
        if step.op not in self.operations:
            return inexpressible
        try:
            action = bind_stream(step, self._java, self.fail)
        except OverflowError:  # the number exceeds the Java type
            return inexpressible
        store = self.location.store
        if step.op == _NEW_SOURCE and isinstance(store, RestoringStore):
            return _putting_back(action, store)
        return action

    def spell(self, program: Program) -> str:
        """Return a program as Java calls."""
        return spell(program)

    def java_api(self, source: Source) -> JavaApi:
        """Return the filesystem as a Java class uses it; raise NoScript."""
        return java_setup(source)

    def fail(self, error: BaseException) -> Outcome:
        """Return the outcome of a call that raised."""
        self._exceptions.add()
        return outcome_of(error, self._secrets)

    def as_python(self, error: Exception) -> Exception:
        """Return the Python equivalent of a Java exception, for checks of its class."""
        outcome = self.fail(error)
        if outcome.kind is Kind.ENVIRONMENT:
            return ConnectionError(outcome.detail)
        return _PYTHON.get(outcome.kind, RuntimeError)(outcome.detail)

    def failure(self, what: str, error: BaseException) -> TargetError:
        """Return a TargetError with one line: the failed action and the reason."""
        return TargetError(f"{self.name}: {what}: {told(unwrapped(error), self._secrets)}")

    @property
    def files(self) -> Store:
        """Store for the files; raise TargetError if the binding is read-only."""
        if self.location.store is None:
            raise TargetError(f"{self.name}: the target is read-only")
        return self.location.store


#: Python's exceptions for kinds of Java exceptions.
_PYTHON: dict[Kind, type[Exception]] = {
    Kind.EOF: OSError,
    Kind.IO: OSError,
    Kind.NOT_FOUND: FileNotFoundError,
    Kind.ILLEGAL_ARGUMENT: ValueError,
}


def _writable(location: HadoopLocation) -> bool:
    return location.store is not None and location.changes


def _inside(location: HadoopLocation, file: str) -> str:
    """Return the path of a file given as URL or relative to the root."""
    if "://" in file:
        return unquote(urlsplit(file).path)
    return f"{location.root.rstrip('/')}/{file.lstrip('/')}"


def _putting_back(action: Action, store: RestoringStore) -> Action:
    def run(opened: OpenedStream) -> Outcome:
        try:
            return action(opened)
        finally:
            store.put_back(opened.path)

    return run


def _java_versions() -> dict[str, str]:
    hadoop = jvm.java_class("org.apache.hadoop.util.VersionInfo").getVersion()
    java_version = jvm.java_class("java.lang.System").getProperty("java.version")
    return {"hadoop": str(hadoop), "java": str(java_version)}


_WRITTEN = frozenset({"late", "directory", "unreadable"})
#: Java names of the builder's methods, with alternatives for other versions.
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
    """A Java builder or future, and the path that it opens."""

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
        if binding.location.store is None:
            self.scenes -= _WRITTEN
            self.statuses -= MISNAMED
        self._binding = binding
        self._location = binding.location
        self._java = java
        self._kinds = Statuses(java)
        self._others: set[str] = set()

    # What is opened ---------------------------------------------------------------------------

    def place(self, scene: str, content: bytes) -> str:
        """Create the scene and return its path; raise NoScene if permissions have no effect."""
        binding = self._binding
        fixed = binding.fixed_content
        if scene in ("missing", "late"):
            return binding.missing_path()
        if scene == "directory":
            return binding.make_directory()
        path = binding.create(content if fixed is None else fixed)
        if scene == "unreadable":
            self._forbid(path)
        return FOREIGN + path if scene == "foreign" else path

    def appear(self, path: str, content: bytes) -> None:
        """Write the file at `path`; raise TargetError."""
        self._binding.change(path, content)

    def _forbid(self, path: str) -> None:
        """Remove the read permission; raise NoScene if that fails or has no effect."""
        java, why = self._java, "this process can read files without permission"
        try:
            filesystem = self._location.at(path)
            filesystem.setPermission(java.path(path), self._kinds.permission(0))
        except Exception as error:
            why = told(unwrapped(error))
        else:
            try:
                filesystem.open(java.path(path)).close()
            except Exception:  # any error shows that reading fails
                return
        self.scenes -= {"unreadable"}
        raise NoScene(why)

    # Calls ------------------------------------------------------------------------------------

    def open_file(self, path: str) -> Any:
        """Return a new builder."""
        return _At(self._location.at(path).openFile(self._binding.path_of(path)), path)

    def ready(self, path: str, call: BuilderCall) -> BuilderCall:
        """Return a call with Java arguments; raise NoScene if Java can't express them."""
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
        """Return the builder after a call."""
        method, *args = call
        for name in _METHODS[method]:
            function = getattr(builder.java, name, None)
            if function is not None:
                return _At(function(*args), builder.path)
        raise NotImplementedError(method)

    def build(self, builder: Any) -> Any:
        """Return the Java future."""
        return _At(builder.java.build(), builder.path)

    def get(self, future: Any) -> OpenedStream:
        """Return the stream of the future, unwrapping exceptions as FutureIO.awaitFuture does."""
        return OpenedStream(future.java.get(), future.path)

    def outcome(self, error: Exception) -> Outcome:
        """Return the outcome of a call that raised."""
        return self._binding.fail(error)

    def counters(self, opened: Any) -> Mapping[str, int]:
        """Return statistics of the filesystem; stream counters come only from the stream."""
        stream = None if opened is None else opened.stream
        return counters(self._location.statistics_of, stream)

    # Statuses ---------------------------------------------------------------------------------

    def status(self, path: str, kind: str, length: int | None) -> Any:
        """Return a status of a kind; its length is unknown without a file.

        For a status with another path, this creates a file with other bytes at that path.
        """
        if kind == "none":
            return self._kinds.null
        try:
            filesystem = self._location.at(path)
            own = self._own_status(filesystem, path)
            status, size = self._kinds.make(kind, filesystem, own, path, length), int(own.getLen())
        except NoScene:
            raise
        # of the filesystem or its status, or a number that exceeds a long
        except Exception as error:
            raise NoScene(told(unwrapped(error))) from error
        if kind in MISNAMED and size >= 0 and path not in self._others:
            self._put_beside(path, bounded(size))
            self._others.add(path)
        return status

    def _own_status(self, filesystem: Any, path: str) -> Any:
        """Return the result of `getFileStatus`, or a status of unknown length if it fails."""
        named = self._java.path(path)
        try:
            own = filesystem.getFileStatus(named)
        except Exception:  # the path is not a file
            own = None
        return self._kinds.unknown(filesystem.makeQualified(named)) if own is None else own

    def _put_beside(self, path: str, length: int) -> None:
        other = sibling(path)
        try:
            self._location.put_beside(other, replacement(content(length)))
        except Exception as error:
            raise self._binding.failure(f"can't write {other}", error) from error
