"""The binding to Hadoop's own filesystems and streams, opened by path or through `openFile`."""

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
from fscontract.contract.program.outcome import IO_KINDS, Kind, Outcome
from fscontract.contract.program.program import CHANGES, Step
from fscontract.contract.targets import UsageError, new_name
from fscontract.implementations.bindings.common import (
    hide,
    new_prefix,
    secrets_in,
    shown,
)
from fscontract.implementations.bindings.file_operations import inexpressible
from fscontract.implementations.bindings.hadoop import operations
from fscontract.implementations.bindings.hadoop.conversions import (
    Java,
    java,
    outcome_of,
    told,
    unwrapped,
)
from fscontract.implementations.bindings.hadoop.local_files import (
    FOREIGN,
    ChecksumStore,
    HadoopLocation,
    HadoopStore,
    LocalHadoopLocation,
)
from fscontract.implementations.bindings.hadoop.locations import beside, location_of
from fscontract.implementations.bindings.hadoop.operations import OpenedStream, bind_stream
from fscontract.implementations.bindings.hadoop.statuses import Statuses, counters, sibling
from fscontract.implementations.bindings.object_stores import Store, StoreFiles, versions
from fscontract.implementations.bindings.open_file import bounded
from fscontract.implementations.jvm import jvm
from fscontract.implementations.jvm.jvm import ExceptionCache

#: Streams take a buffer of any size they are told to: what they can't have has to fail soon.
_MEMORY = "256m"
_FS = "org.apache.hadoop.fs"
#: Programs that make this call may find their file moved away.
_NEW_SOURCE = "seek_to_new_source"


class HadoopBinding(StoreFiles):
    """Programs as calls of the FSDataInputStream that a Java FileSystem or FileContext opens.

    The machine must run. Files are put at `location`; or `file` is the path of the only file there
    is, and `content` what it holds.
    """

    api: ClassVar[str] = "hadoop"
    #: What `recognise` takes, for messages.
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
        #: Libraries whose version a report should show, with the version.
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
        """The binding to Hadoop's filesystem at `url`; UsageError, TargetError.

        Options go into Hadoop's Configuration, but for `api`, which is "filesystem" or
        "filecontext". `file` is the URL of the only file, `content` a local copy of it.
        """
        name, secrets = f"hadoop+{shown(url)}", secrets_in(url, options)
        jvm.start(jvm.hadoop_jars(), _MEMORY)
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
        """The binding if `obj` is a Java FileSystem or FileContext, None otherwise."""
        jpype = sys.modules.get("jpype")
        if jpype is None or not jpype.isJVMStarted():
            return None
        try:
            context, filesystem = (
                jpype.JClass(f"{_FS}.{n}") for n in ("FileContext", "FileSystem")
            )
        except TypeError:  # a machine without Hadoop
            return None
        writes: Any = obj
        closes: tuple[Any, ...] = ()
        if isinstance(obj, context):
            writes = beside(obj, name)
            closes = (writes,)
        elif not isinstance(obj, filesystem):
            return None
        local = str(writes.getUri().getScheme()) == "file"
        store = HadoopStore(writes, java(), tempfile.gettempdir() if local else "")
        location = (
            LocalHadoopLocation(obj, store, "hadoop", closes)
            if local
            else HadoopLocation(obj, store, closes)
        )
        return cls(location, name)

    # Files ------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make a random directory, or find the only file; TargetError."""
        if self.fixed_content is not None:
            self._find_file(len(self.fixed_content))
            return
        store = self.files
        prefix = new_prefix(store.root)
        try:
            store.make(prefix)
            self._prefix = prefix
        except Exception as error:
            raise self.failure("can't make a directory", error) from error

    def _find_file(self, length: int) -> None:
        try:
            reported = self.status_length(str(self._file))
        except Exception as error:
            raise self.failure("can't find the file to read", error) from error
        if reported is not None and reported not in (-1, length):
            raise TargetError(f"{self.name}: the file has {reported} bytes, --content {length}")

    def new_path(self) -> str:
        """A path below the prefix where nothing is yet."""
        self._files += 1
        return self.location.file(str(self._prefix), self._files)

    def absent_path(self) -> str:
        """A path where nothing is; TargetError."""
        self._files += 1
        try:
            return self.location.absent(str(self._prefix), self._files)
        except Exception as error:
            raise self.failure("can't make a place for a file", error) from error

    def make_directory(self) -> str:
        """The path of a new directory; TargetError."""
        self._files += 1
        try:
            return self.location.directory(str(self._prefix), self._files)
        except Exception as error:
            raise self.failure("can't make a directory", error) from error

    def dispose(self) -> None:
        """Delete the directory that `prepare` made; TargetError if it stays."""
        try:
            super().dispose()
        finally:
            self.location.close()

    def status_length(self, path: str) -> int | None:
        """The length that `getFileStatus` reports."""
        try:
            return int(self.location.at(path).getFileStatus(self.path_of(path)).getLen())
        except Exception as error:
            raise self.as_python(error) from error

    # Streams ----------------------------------------------------------------------------------

    def open(self, path: str) -> OpenedStream:
        """Open the file; ConnectionError if the server can't be reached."""
        self._exceptions.put_aside()
        try:
            return OpenedStream(self.location.at(path).open(self.path_of(path)), path)
        except Exception as error:
            raise self.as_python(error) from error

    def bind(self, step: Step) -> Action:
        """A step without anchors as a function of an OpenedStream."""
        if step.op not in self.operations:
            return inexpressible
        try:
            action = bind_stream(step, self._java, self.fail)
        except OverflowError:  # no number of Java's
            return inexpressible
        store = self.location.store
        if step.op == _NEW_SOURCE and isinstance(store, ChecksumStore):
            return _putting_back(action, store)
        return action

    def fail(self, error: BaseException) -> Outcome:
        """The outcome of an exception of a call."""
        self._exceptions.add()
        return outcome_of(error, self._secrets)

    def as_python(self, error: Exception) -> Exception:
        """An exception of Python that stands for one of Java, for those who ask its class."""
        outcome = self.fail(error)
        if outcome.kind is Kind.ENVIRONMENT:
            return ConnectionError(outcome.detail)
        return (OSError if outcome.kind in IO_KINDS else RuntimeError)(outcome.detail)

    def failure(self, what: str, error: BaseException) -> TargetError:
        """A TargetError of one line: what could not be done, and why."""
        return TargetError(f"{self.name}: {what}: {told(unwrapped(error), self._secrets)}")

    @property
    def files(self) -> Store:
        """Where files are written; TargetError if nothing is."""
        if self.location.store is None:
            raise TargetError(f"{self.name}: nothing is written here")
        return self.location.store


def _writable(location: HadoopLocation) -> bool:
    return location.store is not None and location.changes


def _inside(location: HadoopLocation, file: str) -> str:
    """The path of a file given as URL or relative to the root."""
    if "://" in file:
        return unquote(urlsplit(file).path)
    return f"{location.root.rstrip('/')}/{file.lstrip('/')}"


def _putting_back(action: Action, store: ChecksumStore) -> Action:
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
            filesystem = self._location.at(path)
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
        return _At(self._location.at(path).openFile(self._binding.path_of(path)), path)

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
        return counters(self._location.statistics_of, stream)

    # Statuses ---------------------------------------------------------------------------------

    def status(self, path: str, kind: str, length: int | None) -> Any:
        """A status of a kind; one of no known length if there is no file yet.

        Where a status of another name leads, there is a file with other bytes.
        """
        if kind == "none":
            return self._kinds.null
        try:
            filesystem = self._location.at(path)
            own = self._own_status(filesystem, path)
            status, size = self._kinds.make(kind, filesystem, own, path, length), int(own.getLen())
        except NoScene:
            raise
        except Exception as error:  # of the filesystem, of its status, or no long
            raise NoScene(told(unwrapped(error))) from error
        if kind in MISNAMED and size >= 0 and path not in self._others:
            self._put_beside(path, bounded(size))
            self._others.add(path)
        return status

    def _own_status(self, filesystem: Any, path: str) -> Any:
        """What `getFileStatus` gives; of no known length where it gives none."""
        named = self._java.path(path)
        try:
            own = filesystem.getFileStatus(named)
        except Exception:  # what lies there is no file, and may be anything
            own = None
        return self._kinds.unknown(filesystem.makeQualified(named)) if own is None else own

    def _put_beside(self, path: str, length: int) -> None:
        other = sibling(path)
        try:
            self._location.put_beside(other, replacement(content(length)))
        except Exception as error:
            raise self._binding.failure(f"can't write {other}", error) from error
