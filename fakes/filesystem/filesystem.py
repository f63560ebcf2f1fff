"""The fake filesystem and its fsspec view: a store in memory that fails according to a plan."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, ClassVar, Final, cast

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.api.iostatistics import OP_GET_FILE_STATUS
from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.fakes.filesystem.client import Client, FakeInputStream, ShortInputStream
from fscontract.fakes.filesystem.fault_effects import FakeInjector
from fscontract.fakes.filesystem.handles import Handle, Handles
from fscontract.fakes.filesystem.requests import Latency, Requests
from fscontract.fakes.filesystem.store import Store
from fscontract.fakes.filesystem.tree import Clock, Consistency, Tree, Version
from fscontract.fakes.frozen_settings import Settled
from fscontract.implementations.filesystem_base import (
    PendingFile,
    ReferenceFileSystem,
    access_bits,
    normalize,
    not_found,
    permission_bits,
)
from fscontract.implementations.fsspec_adapter import StreamReader, _View
from fscontract.implementations.local_stream import DEFAULT_BUFFER, FOOTER
from fscontract.implementations.openfile_builder import OpenOptions
from fscontract.implementations.targets import ReferenceBinding, check_options


def _check_settings(
    block_size: int,
    replicas: int,
    latency: Latency,
    consistency: Consistency,
    retries: int,
    deadline: float,
) -> None:
    numbers = {"block_size": block_size, "replicas": replicas, "retries": retries}
    for name, value in numbers.items():
        minimum = 0 if name == "retries" else 1
        if type(value) is not int or value < minimum:
            raise IllegalArgumentException(
                f"{name} must be a whole number of at least {minimum}, not {value!r:.40}"
            )
    if type(deadline) not in (int, float) or not deadline > 0:
        raise IllegalArgumentException(f"deadline must be above 0 seconds, not {deadline!r:.40}")
    for rule, kind in ((latency, Latency), (consistency, Consistency)):
        if not isinstance(rule, kind):
            raise IllegalArgumentException(
                f"{kind.__name__.lower()} must be a {kind.__name__}, not {rule!r:.40}"
            )


class _NewFile(PendingFile):
    """A new file of the fake, whose handle is open until it is closed."""

    def __init__(
        self,
        handles: Handles,
        path: str,
        raw: _Body,
        publish: Callable[[], None],
    ) -> None:
        super().__init__(raw, publish, raw.content.clear)
        self._handles = handles
        self._handle = handles.opened(path, "wb")

    def close(self) -> None:
        """Publish the file; see `PendingFile`."""
        self._handles.closed(self._handle)
        super().close()

    def discard(self) -> None:
        """Drop the file; see `PendingFile`."""
        self._handles.closed(self._handle)
        super().discard()

    def __del__(self) -> None:
        if not self.closed:
            self._handles.lost(self._handle)
        super().__del__()


class _Reader(StreamReader):
    """A file over a stream of the fake, which knows whether it was closed."""

    def __init__(self, stream: FakeInputStream, size: int, buffer_size: int) -> None:
        super().__init__(stream.as_file(), size, buffer_size)
        self._stream = stream

    def __del__(self) -> None:
        if not self.closed:
            self._stream.lost()
        super().__del__()


class _Body(io.RawIOBase):
    """A body that keeps its content after it is closed."""

    def __init__(self) -> None:
        self.content = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        self.content += memoryview(data)  # type: ignore[arg-type]
        return len(memoryview(data))  # type: ignore[arg-type]


class FakeFileSystem(Settled, ReferenceFileSystem):
    """A filesystem that behaves like a remote store, with a separate clock.

    Files have blocks of `block_size` bytes, with `replicas` copies of each. A request takes the
    time of `latency`, is retried up to `retries` times, and times out after `deadline` seconds of
    `clock`. `consistency` delays the visibility of changes. Without `checksums`, readers do not
    notice corrupt bytes. With `short_reads`, a read returns what one answer has; otherwise streams
    read on. With `implicit_directories`, a directory exists while something lies below it, as in
    S3. `requests` is the log of requests. The settings are read-only. Raise
    IllegalArgumentException for invalid ones.
    """

    _also: ClassVar[str] = (
        ", or for the fixture @pytest.mark.fake_filesystem({name}=...) of the test"
    )

    def __init__(
        self,
        *,
        block_size: int = 128 * 1024 * 1024,
        replicas: int = 3,
        latency: Latency = Latency(),  # noqa: B008 - it never changes
        consistency: Consistency = Consistency(),  # noqa: B008 - it never changes
        retries: int = 3,
        deadline: float = 60.0,
        checksums: bool = True,
        short_reads: bool = False,
        implicit_directories: bool = False,
    ) -> None:
        super().__init__()
        _check_settings(block_size, replicas, latency, consistency, retries, deadline)
        switches = {
            "checksums": checksums,
            "short_reads": short_reads,
            "implicit_directories": implicit_directories,
        }
        for name, value in switches.items():
            if type(value) is not bool:
                raise IllegalArgumentException(f"{name} must be True or False, not {value!r:.40}")
        self.block_size: Final = block_size
        self.replicas: Final = replicas
        self.latency: Final = latency
        self.consistency: Final = consistency
        self.retries: Final = retries
        self.deadline: Final = deadline
        self.checksums: Final = checksums
        self.short_reads: Final = short_reads
        self.implicit_directories: Final = implicit_directories
        self.clock = Clock()
        self._tree = Tree(self.clock, consistency, block_size, replicas, implicit_directories)
        self.store = Store(self._tree, self.clock, latency, deadline)
        self._client = Client(self.store, retries, checksums)
        self._settle(FakeFileSystem)

    def view(self, **settings: Any) -> FakeFileSystem:
        """Return a filesystem with the same files, clock, faults and log, and other settings.

        Settings that are not given are those of this one. `block_size` and `replicas` apply to the
        files that the view writes, `consistency` to changes after this call, and
        `implicit_directories` to changes that the view makes. Raise
        IllegalArgumentException for unknown and invalid ones.
        """
        known = [*inspect.signature(FakeFileSystem).parameters]
        for name in settings:
            if name not in known:
                near = get_close_matches(name, known, 1)
                meant = f"; did you mean {near[0]}?" if near else ""
                raise IllegalArgumentException(
                    f"unknown setting {name!r:.40}; allowed: {', '.join(known)}{meant}"
                )
        other = FakeFileSystem(**{**{name: getattr(self, name) for name in known}, **settings})
        tree = self._tree.view(
            other.consistency, other.block_size, other.replicas, other.implicit_directories
        )
        store = self.store.view(tree, other.latency, other.deadline)
        shared = {"clock": self.clock, "store": store, "_tree": tree}
        vars(other).update(shared, _client=Client(store, other.retries, other.checksums))
        return other

    # What a test does -------------------------------------------------------------------------

    @property
    def requests(self) -> Requests:
        """The latest 100,000 requests, the oldest first; as text, a table."""
        return self.store.requests

    def assert_requests(self, **budgets: int) -> None:
        """Check numbers of requests since the last `store.forget`: `assert_requests(get=1)`.

        Names are operations, or `total`. Operations without a number may have any. Raise
        AssertionError with the table of requests, IllegalArgumentException for unknown names.
        """
        self.requests.check(budgets)

    @property
    def open_handles(self) -> tuple[Handle, ...]:
        """The files that are open, or were garbage-collected without `close()`."""
        return self.store.handles.open()

    @property
    def injector(self) -> FakeInjector:
        """The injector of faults."""
        return self.store.injector

    def attach(self, *faults: Fault | FaultPlan) -> None:
        """Count requests from 1, and apply the faults to them, instead of earlier ones."""
        self.injector.attach(FaultPlan.of(*faults))

    def detach(self) -> None:
        """Stop all faults; corrupted and lost copies are not repaired."""
        self.injector.detach()

    def write(self, path: str, data: bytes) -> None:
        """Make or replace a file without a request; PathIOException."""
        self._tree.put(normalize(path), bytes(data))

    def remove(self, path: str) -> bool:
        """Delete a path and everything below it without a request; False if it did not exist."""
        return self._tree.delete(normalize(path), recursive=True)

    def corrupt(self, path: str, block: int = 0, replica: int = 0) -> None:
        """Flip the bits of one copy of a block, so that its checksum fails.

        Raise FileNotFoundException, IllegalArgumentException.
        """
        self._version(path).corrupt(block, replica)

    def lose(self, path: str, block: int = 0, replica: int = 0) -> None:
        """Remove one copy of a block. Raise FileNotFoundException, IllegalArgumentException."""
        self._version(path).lose(block, replica)

    def _version(self, path: str) -> Version:
        version = self._tree.version(normalize(path))
        if version is None:
            raise not_found(path)
        return version

    # What a filesystem does -------------------------------------------------------------------

    def _open(self, path: str, options: OpenOptions) -> FakeInputStream:
        size = options.buffer_size
        if size is None and options.read_policy is not None:
            size = option_table().policies[options.read_policy].buffer
        stream = ShortInputStream if self.short_reads else FakeInputStream
        return stream(
            path,
            self._client,
            DEFAULT_BUFFER if size is None else size,
            options.length,
            options.etag,
            FOOTER if options.footer_cache else 0,
        )

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """Return a binary file to write.

        Raise PathIOException if the path can't be replaced, or must not be.
        """
        path = normalize(path)
        self._tree.reserve(path, overwrite)
        body = _Body()

        def publish() -> None:
            self._client.send(partial(self.store.put, path, bytes(body.content), overwrite))

        return _NewFile(self.store.handles, path, body, publish)

    def get_file_status(self, path: str) -> FileStatus:
        """Return the status of a file or directory. Raise FileNotFoundException."""
        path = normalize(path)
        self._statistics.count(OP_GET_FILE_STATUS)
        return self._client.send(partial(self.store.status, path))

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """Return the children of a directory, sorted by path, or the file itself."""
        return iter(self._client.send(partial(self.store.list, normalize(path))))

    def mkdirs(self, path: str) -> None:
        """Make a directory and its parents; PathIOException if a file is in the way."""
        self._client.send(partial(self.store.mkdirs, normalize(path)))

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path; return False if it did not exist.

        Raise PathIOException for the root, and for a directory that is not empty unless
        `recursive`.
        """
        return self._client.send(partial(self.store.delete, normalize(path), recursive))

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory; make the parents of the target.

        Raise FileNotFoundException, or PathIOException if the target exists or is inside the
        source.
        """
        old, new = normalize(source), normalize(target)
        self._client.send(partial(self.store.rename, old, new))

    def set_permission(self, path: str, mode: int) -> None:
        """Set the permission bits of a path. (FileSystem.setPermission)"""
        permission_bits(mode)
        self._client.send(partial(self.store.set_permission, normalize(path), mode))

    def access(self, path: str, mode: str) -> None:
        """Check the permissions of the owner; raise AccessControlException. (FileSystem.access)"""
        access_bits(mode)
        self._client.send(partial(self.store.access, normalize(path), mode))

    def as_fsspec(self) -> FakeFsspec:
        """Return this filesystem as an `fsspec.AbstractFileSystem`."""

        return FakeFsspec(fs=self)


class FakeFsspec(_View):
    """A FakeFileSystem in fsspec: `fs`, or the shared one of the process, which a test may
    replace.

    Settings of FakeFileSystem are options, and give a view of it. Raise IllegalArgumentException
    for other options, except fsspec's own.
    """

    protocol = "fake"
    shared = FakeFileSystem()

    def __init__(self, fs: FakeFileSystem | None = None, **options: Any) -> None:
        own = {name: value for name, value in options.items() if name in _FSSPEC_OPTIONS}
        settings = {name: value for name, value in options.items() if name not in own}
        super().__init__(**options)
        fs = self.shared if fs is None else fs
        self.fs = fs.view(**settings) if settings else fs

    def _reader(self, path: str, block_size: Any) -> io.BufferedIOBase:
        stream = self.fs.open(path)
        assert isinstance(stream, FakeInputStream)
        if isinstance(stream, ShortInputStream):  # a buffer would read on
            return cast(io.BufferedIOBase, stream.as_file())
        size = stream.available()
        buffer_size = block_size if isinstance(block_size, int) and block_size > 0 else 1 << 16
        return _Reader(stream, size, buffer_size)


#: Options of every fsspec filesystem.
_FSSPEC_OPTIONS = frozenset(
    {"use_listings_cache", "listings_expiry_time", "max_paths", "skip_instance_cache"}
    | {"asynchronous", "loop", "batch_size"}
)
#: Small, so that the suite's files have several blocks.
BLOCK_SIZE = 4096


class FakeBinding(ReferenceBinding):
    """The binding to a fake filesystem; changes files without requests."""

    default_profile: ClassVar[str] = "fake"

    def __init__(self, filesystem: FakeFileSystem) -> None:
        super().__init__(filesystem, "fake")
        self.injector = filesystem.injector
        self._fake = filesystem

    def change(self, path: str, content: bytes | None) -> None:
        """Replace or delete the file under its open streams."""
        if content is None:
            self._fake.remove(path)
        else:
            self._fake.write(path, content)


def fake(options: Mapping[str, str]) -> Binding:
    """Return the fake filesystem, with blocks of 4096 bytes.

    Option `replicas` is the number of copies of each block, 3 by default. Raise TargetError for
    unknown options and invalid values.
    """
    check_options("fake", options, ("replicas",))
    text = options.get("replicas", "3")
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= 100):
        raise TargetError(f"fake: replicas is a number from 1 to 100, not {text!r:.40}")
    return FakeBinding(FakeFileSystem(block_size=BLOCK_SIZE, replicas=int(text)))
