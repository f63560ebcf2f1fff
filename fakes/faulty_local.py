"""A real directory whose opens and reads fail according to a plan: target `local --faults`."""

from __future__ import annotations

import errno
import os
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from fscontract.contract.binding import Binding, PlanInjector
from fscontract.contract.program.content import replacement
from fscontract.contract.program.fault_firing import Turn
from fscontract.contract.program.faults import FAULTS, Fault
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.local_stream import Descriptor, Identity
from fscontract.implementations.targets import LocalBinding, local_strategy

#: The operating system's errors for faults; a time-out does not wait.
_ERRORS = {
    "reset": errno.EIO,
    "timeout": errno.ETIMEDOUT,
    "descriptors": errno.EMFILE,
}
#: The permission bits for reading a file.
_READABLE = 0o444


def local(options: Mapping[str, str]) -> Binding:
    """Return the local filesystem with planned faults of opens and reads.

    Options are those without faults.
    """
    filesystem = FaultyLocalFileSystem(tempfile.gettempdir(), local_strategy(options))
    binding = LocalBinding(filesystem)
    binding.injector = filesystem.injector
    return binding


class FaultyLocalFileSystem(LocalFileSystem):
    """`LocalFileSystem` with faults: `injector` decides the result of each open and read.

    An open of a file is one request, and so is each read of its descriptor. Reading a status and
    listing a directory are not requests. Faults that change files really change them.
    """

    def __init__(self, root: str = "/", strategy: str | None = None) -> None:
        super().__init__(root, strategy, durable=False)
        self.injector = LocalInjector()
        self._descriptor = _faulty(self._descriptor, self.injector)


class LocalInjector(PlanInjector):
    """Faults of files on this machine.

    The kind `revoke` is missing where permissions have no effect: for root, and on Windows.
    `detach` restores revoked permissions.
    """

    def __init__(self) -> None:
        kinds = {name for name, kind in FAULTS.items() if "local" in kind.places}
        if not hasattr(os, "geteuid") or os.geteuid() == 0:
            kinds.remove("revoke")
        super().__init__(frozenset(kinds))
        self._lock = threading.Lock()
        self._revoked: dict[str, int] = {}  # the original modes
        self._changed: set[tuple[str, str]] = set()  # kinds of changes and their files

    def detach(self) -> None:
        """Implement `Injector.detach`."""
        super().detach()
        with self._lock:
            for host, mode in self._revoked.items():
                with suppress(OSError):  # the file is deleted
                    os.chmod(host, mode)
            self._revoked.clear()
            self._changed.clear()

    def open(self, host: str) -> None:
        """Let an open of a file pass, or raise its fault as an OSError."""
        self._strike(self.request("open", host), host)

    def read(self, host: str, position: int, size: int) -> int:
        """Return the number of bytes, up to `size`, that a read at `position` returns; OSError."""
        turn = self.request("get", host, position, size)
        if turn.fault is not None and turn.fault.kind == "short":
            if turn.fault.limit < size:
                turn.took_effect()
            return min(size, turn.fault.limit)
        self._strike(turn, host)
        return size

    def _strike(self, turn: Turn, host: str) -> None:
        fault = turn.fault
        if fault is None:
            return
        if fault.kind in _ERRORS:
            turn.took_effect()
            number = _ERRORS[fault.kind]
            raise OSError(number, os.strerror(number))
        if fault.kind == "hang":
            turn.took_effect()
            turn.wait(fault.delay)
        elif self._disturb(fault, host):
            turn.took_effect()

    def _disturb(self, fault: Fault, host: str) -> bool:
        """Change the file; return whether there was a file to change."""
        if not os.path.isfile(host):
            return False
        with self._lock:
            if (fault.kind, host) in self._changed:
                return False
            self._changed.add((fault.kind, host))
        try:
            if fault.kind == "delete":
                os.unlink(host)
                return True
            if fault.kind == "revoke":
                return self._revoke(host)
            length = os.stat(host).st_size
            if fault.kind == "cut":
                os.truncate(host, length // 2)
            else:
                _overwrite(host)
            return length > 0
        except OSError:  # an earlier fault, or another thread, has deleted it
            return False

    def _revoke(self, host: str) -> bool:
        with self._lock:
            mode = os.stat(host).st_mode & 0o7777
            self._revoked.setdefault(host, mode)
            os.chmod(host, mode & ~_READABLE)
        return bool(mode & _READABLE)


def _overwrite(host: str) -> None:
    """Overwrite the file in place, with a time that differs on a coarse clock, too."""
    before = os.stat(host).st_mtime_ns
    path = Path(host)
    data = replacement(path.read_bytes())
    with path.open("r+b") as file:
        file.write(data)
    os.utime(host, ns=(before, before + 10**9))


def _faulty(strategy: type[Descriptor], injector: LocalInjector) -> type[Descriptor]:
    """Return a strategy that reads as another one does, with the faults of the injector."""

    class FaultyDescriptor:
        """A descriptor with faults; not a subclass, whose `read` a stream might bypass."""

        def __init__(self, path: str, advice: str, look: bool) -> None:
            injector.open(path)
            self._path = path
            self._inner = strategy(path, advice, look)

        def identity(self) -> Identity:
            """The identity of the opened file, as in the other strategy."""
            return self._inner.identity()

        def read(self, position: int, view: memoryview) -> int:
            """Read once into `view`; the plan may shorten the read, or raise OSError."""
            size = injector.read(self._path, position, len(view))
            return self._inner.read(position, view if size == len(view) else view[:size])

    return FaultyDescriptor
