"""The Java classes behind which Python's streams are Hadoop's.

Their sources are beside this file, and are compiled when they are first needed, by Janino: it is
among the jars of PySpark, and needs no Java compiler.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from fscontract.contract.binding import TargetError
from fscontract.implementations.jvm import machine
from fscontract.implementations.jvm.jars import hadoop_jars

_SOURCES = Path(__file__).with_name("shims")
_PACKAGE = "fscontract"
_lock = threading.Lock()
_loader: Any = None


def shim_class(name: str) -> Any:
    """The class of this name; starts a Java machine, if there is none yet.

    TargetError if it can't be started, or has no Hadoop and Janino.
    """
    return machine.java_class(class_loader().loadClass(f"{_PACKAGE}.{name}"))


def class_loader() -> Any:
    """The Java class loader that knows the shims and Hadoop; errors as in `shim_class`."""
    global _loader  # noqa: PLW0603 - there is one machine in a process
    with _lock:
        if _loader is None:
            _loader = _make_loader()
        return _loader


def _make_loader() -> Any:
    if not machine.is_running():
        machine.start(hadoop_jars())
    try:
        parent = machine.java_class("org.apache.hadoop.fs.FileRange").class_.getClassLoader()
        compiler = machine.java_class("org.codehaus.janino.JavaSourceClassLoader")
    except TypeError as error:
        raise TargetError(
            f"the Java machine of this process lacks Janino, or Hadoop 3.3.5 or newer: {error}"
        ) from error
    file = machine.java_class("java.io.File")
    return compiler(parent, [file(str(_SOURCES))], "UTF-8")
