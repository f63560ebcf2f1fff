"""The Java virtual machine in this process: started once, with one set of libraries."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fscontract.contract.binding import TargetError
from fscontract.implementations.jvm.java import find_java

_OPTIONS = (
    "-Djava.awt.headless=true",
    "-Dlog4j2.level=OFF",
    "-Dlog4j.rootLogger=OFF",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    "-Xrs",  # signals are for Python, which clears away what was made
)
_lock = threading.Lock()
_running: tuple[Path, ...] | None = None


def start(jars: Sequence[Path], memory: str = "1g") -> None:
    """Start the machine with these libraries, unless it runs with them; TargetError if it can't.

    A process can have one machine, and never starts a second: `memory` is that of the first.
    """
    global _running  # noqa: PLW0603 - there is one machine in a process
    with _lock:
        if _running == tuple(jars):
            return
        jpype = _jpype()
        if _running is not None or jpype.isJVMStarted():
            raise TargetError(
                "this process runs a Java machine with other libraries: check the targets in "
                "processes of their own: leave --no-isolate out"
            )
        java = find_java()
        try:
            jpype.startJVM(
                str(java.library),
                *_OPTIONS,
                f"-Xmx{memory}",
                classpath=[str(jar) for jar in jars],
                convertStrings=False,
                interrupt=True,  # JPype's own handlers crash at SIGTERM (1.7.1)
            )
        except Exception as error:  # which one is a matter of JPype's version
            raise TargetError(f"Java of {java.source} does not start: {error}") from error
        _running = tuple(jars)


def java_class(name: str) -> Any:
    """The Java class of this name as JPype shows it; the machine must run."""
    return _jpype().JClass(name)


def is_running() -> bool:
    """Whether this process runs a machine, whoever has started it."""
    return bool(_jpype().isJVMStarted())


def proxy(interface: Any, target: Any, unwrapped: bool = False) -> Any:
    """An object that implements a Java interface by the methods of the target.

    If it comes back to Python it is the target again, if `unwrapped`.
    """
    return _jpype().JProxy(interface, inst=target, convert=unwrapped)


def _jpype() -> Any:
    try:
        import jpype
    except ModuleNotFoundError as error:
        raise TargetError(
            "Java streams need the module 'jpype'; pip install 'fscontract[hadoop]'"
        ) from error
    return jpype
