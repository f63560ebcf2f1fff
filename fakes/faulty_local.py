"""A real directory whose opens and reads fail by a plan of faults: target `local --faults`."""

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
from fscontract.contract.program.faults import FAULTS, Fault, Turn
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.local_stream import Descriptor, Identity
from fscontract.implementations.targets import LocalBinding, local_strategy

#: The errors that the operating system gives for faults; a time-out comes without a wait.
_ERRORS = {
    "reset": errno.EIO,
    "timeout": errno.ETIMEDOUT,
    "descriptors": errno.EMFILE,
}
#: What lets somebody read a file.
_READABLE = 0o444


def local(options: Mapping[str, str]) -> Binding:
    """The local filesystem, whose opens and reads fail by plan; options as without faults."""
    filesystem = FaultyLocalFileSystem(tempfile.gettempdir(), local_strategy(options))
    binding = LocalBinding(filesystem)
    binding.injector = filesystem.injector
    return binding


class FaultyLocalFileSystem(LocalFileSystem):
    """`LocalFileSystem`, in which `injector` decides how each open and each read goes.

    An open of a file is one request, and so is each read of its descriptor. Looking at a status
    and listing a directory are none. Faults that change files change them really.
    """

    def __init__(self, root: str = "/", strategy: str | None = None) -> None:
        super().__init__(root, strategy, durable=False)
        self.injector = LocalInjector()
        self._descriptor = _faulty(self._descriptor, self.injector)


class LocalInjector(PlanInjector):
    """Faults of files on this machine.

    `revoke` is none of its kinds where permissions don't hold: for root, and on Windows. What it
    takes away it gives back on `detach`.
    """

    def __init__(self) -> None:
        kinds = {name for name, kind in FAULTS.items() if "local" in kind.attaches}
        if not hasattr(os, "geteuid") or os.geteuid() == 0:
            kinds.remove("revoke")
        super().__init__(frozenset(kinds))
        self._lock = threading.Lock()
        self._revoked: dict[str, int] = {}  # the modes that there were
        self._changed: set[tuple[str, str]] = set()  # kinds of changes and what they befell

    def detach(self) -> None:
        """As the port has it."""
        super().detach()
        with self._lock:
            for host, mode in self._revoked.items():
                with suppress(OSError):  # it is gone
                    os.chmod(host, mode)
            self._revoked.clear()
            self._changed.clear()

    def open(self, host: str) -> None:
        """Let an open of a file go well, or not: OSError."""
        self._strike(self.request("open", host), host)

    def read(self, host: str, size: int) -> int:
        """How many of `size` bytes a read may give; OSError."""
        turn = self.request("read", host, None, size)
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
        """Do something to the file; whether there was something to be done."""
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
        except OSError:  # an earlier fault, or another thread, was here before
            return False

    def _revoke(self, host: str) -> bool:
        with self._lock:
            mode = os.stat(host).st_mode & 0o7777
            self._revoked.setdefault(host, mode)
            os.chmod(host, mode & ~_READABLE)
        return bool(mode & _READABLE)


def _overwrite(host: str) -> None:
    """Other bytes in place, with a time that tells the change however coarse the clock is."""
    before = os.stat(host).st_mtime_ns
    path = Path(host)
    data = replacement(path.read_bytes())
    with path.open("r+b") as file:
        file.write(data)
    os.utime(host, ns=(before, before + 10**9))


def _faulty(strategy: type[Descriptor], injector: LocalInjector) -> type[Descriptor]:
    """A strategy that reads as another one does, unless the injector is against it."""

    class FaultyDescriptor:
        """No subclass of the other strategy, past whose `read` a stream might go."""

        def __init__(self, path: str, advice: str, look: bool) -> None:
            injector.open(path)
            self._path = path
            self._inner = strategy(path, advice, look)

        def identity(self) -> Identity:
            """What was opened, as the other strategy tells it."""
            return self._inner.identity()

        def read(self, position: int, view: memoryview) -> int:
            """One read into `view`; fewer bytes, or OSError, by the plan."""
            size = injector.read(self._path, len(view))
            return self._inner.read(position, view if size == len(view) else view[:size])

    return FaultyDescriptor
