"""Filesystems that misbehave in a call: `hostile.py:make`, `-o how=...`."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from fscontract.implementations.local import LocalFileSystem

SECRET = "hunter2hunter2"


class Panic(BaseException):
    """An exception like a panic of Rust in pyo3, which is not an Exception."""


class Nasty:
    """A value of which every use raises."""

    def __refuse(self, *_: Any) -> Any:
        raise Panic("do not touch")

    __eq__ = __hash__ = __repr__ = __str__ = __bool__ = __len__ = __int__ = __index__ = __refuse
    __iter__ = __lt__ = __add__ = __format__ = __reduce_ex__ = __refuse


class NastyError(Exception):
    """An exception whose str() raises."""

    def __str__(self) -> str:
        raise Panic("do not look")

    __repr__ = __str__


def _raise(error: BaseException) -> NoReturn:
    raise error


def _forever(*_: Any) -> None:
    threading.Event().wait()


def _print(text: str) -> None:
    print(text)
    print(text, file=sys.stderr)


def _leak_thread() -> None:
    threading.Thread(target=_forever, daemon=False).start()


def _times(most: int, call: Callable[[], Any]) -> Callable[[], Any]:
    left = iter(range(most))
    return lambda: None if next(left, None) is None else call()


def _trace() -> None:
    sys.settrace(lambda *_: None)
    threading.settrace(lambda *_: _raise(RuntimeError("traced")))


#: What happens in a call of `has_capability`, before it answers.
BEFORE: dict[str, Callable[[], Any]] = {
    "raises-panic": lambda: _raise(Panic("called `Option::unwrap()` on a `None` value")),
    "raises-interrupt": lambda: _raise(KeyboardInterrupt()),
    "raises-exit": lambda: _raise(SystemExit(0)),
    "raises-nasty": lambda: _raise(NastyError()),
    "raises-secret": lambda: _raise(OSError(f"wrong password {SECRET}")),
    "raises-long": lambda: _raise(OSError("\udcff\x1b[2J" + "x" * 1_000_000)),
    "leaks-threads": _leak_thread,
    "forks": _times(20, os.fork),
    "prints": lambda: _print("\x1b[31mnoise"),
    "closes-stdout": _times(1, lambda: os.close(1)),
    "closes-stderr": _times(1, lambda: os.close(2)),
    "drops-stdout": lambda: setattr(sys, "stdout", None),
    "closes-sys-stdout": sys.stdout.close,
    "goes-elsewhere": lambda: os.chdir("/"),
    "traces": _trace,
    "clears-environment": os.environ.clear,
    "segfaults": lambda: ctypes.string_at(0),
    "exits": lambda: os._exit(7),
    "is-killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "waits-with-gil": lambda: ctypes.PyDLL(None).pause(),
}
#: What a call of `has_capability` returns.
INSTEAD: dict[str, Callable[[], Any]] = {
    "returns-none": lambda: None,
    "returns-text": lambda: "x" * 100_000,
    "returns-huge": lambda: 10**5000,
    "returns-nasty": Nasty,
    "returns-nested": lambda: (((Nasty(),),),),
    "returns-number": lambda: 0,
}


class Hostile(LocalFileSystem):
    """The files below `root`, with one way to misbehave."""

    def __init__(self, root: str, how: str) -> None:
        super().__init__(root)
        self.how = how

    def _open(self, path: str, options: Any) -> Any:
        if self.how == "hangs-in-open":
            _forever()
        if self.how == "panics-in-open":
            raise Panic("open")
        stream = super()._open(path, options)
        answer: Callable[[str], bool] = stream.has_capability

        def has_capability(name: str) -> Any:
            if self.how in INSTEAD:
                return INSTEAD[self.how]()
            if self.how in BEFORE:
                BEFORE[self.how]()
            if self.how == "removes-everything":
                for folder in Path(self.root).iterdir():
                    shutil.rmtree(folder)
            if self.how == "hangs":
                _forever()
            return answer(name)

        stream.has_capability = has_capability  # type: ignore[method-assign]
        if self.how == "hangs-in-close":
            stream.close = _forever  # type: ignore[method-assign]
        if self.how == "panics-in-close":
            stream.close = lambda: _raise(Panic("close"))  # type: ignore[method-assign]
        return stream

    def mkdirs(self, path: str) -> None:
        if self.how == "hangs-in-prepare":
            _forever()
        if self.how == "panics-in-prepare":
            raise Panic("mkdirs")
        super().mkdirs(path)

    def delete(self, path: str, recursive: bool = False) -> bool:
        done = super().delete(path, recursive)
        if self.how == "hangs-in-dispose" and recursive:
            _forever()
        if self.how == "waits-with-gil-in-dispose" and recursive:
            BEFORE["waits-with-gil"]()
        if self.how == "panics-in-dispose" and recursive:
            raise Panic("delete")
        return done

    def get_file_status(self, path: str) -> Any:
        if self.how == "panics-in-status":
            raise Panic("status")
        return Nasty() if self.how == "nasty-status" else super().get_file_status(path)


def make(root: str, how: str, secret: str = "") -> Any:
    """Return a filesystem that misbehaves in the way `how`."""
    if how == "panics-in-make":
        raise Panic("make")
    if how == "ignores-interrupts":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return Nasty() if how == "is-nasty" else Hostile(root, how)
