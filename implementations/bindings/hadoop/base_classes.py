"""Hadoop's classes behind a filesystem of another package, which inherits their known failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from fscontract.implementations.jvm.jvm import java_class

_HADOOP = "org.apache.hadoop."
FILESYSTEM = "org.apache.hadoop.fs.FileSystem"
_FILTER = "org.apache.hadoop.fs.FilterFileSystem"
#: Operations that FileSystem's `openFile` performs; all others are calls of a stream.
_OPEN = "open"
#: How deep objects wrap each other at most.
_DEEPEST = 8


def base_classes(
    filesystem: Any, stream: Any, operations: frozenset[str]
) -> Mapping[str, frozenset[str]]:
    """Return Hadoop's classes behind each operation on a filesystem and a stream that it opened.

    A filesystem of Hadoop has none: it is under test itself. A stream has the classes of Hadoop's
    streams that it is or wraps, and with one of them those of the filesystems behind it. These
    open the file, too, where `openFile` is that of a filter, whatever its own `open` does.
    """
    if _name(filesystem.getClass()).startswith(_HADOOP):
        return {}
    filesystems = list(wrapped(filesystem, java_class(FILESYSTEM)))
    opening = {name for one in filesystems for name in _openers(one)}
    if _FILTER in opening:
        opening.update(_name(_base(one)) for one in filesystems[1:])
    found: dict[str, frozenset[str]] = {_OPEN: frozenset(filter(_is_hadoop, opening))}
    streams = wrapped(stream.getWrappedStream(), java_class("java.io.InputStream"))
    reading = frozenset(filter(_is_hadoop, (_name(one.getClass()) for one in streams)))
    if reading:
        classes = reading.union(_name(_base(one)) for one in filesystems)
        found |= dict.fromkeys(operations, classes)
    return found


def _is_hadoop(name: str) -> bool:
    return name.startswith(_HADOOP)


def _name(cls: Any) -> str:
    return str(cls.getName())


def _base(filesystem: Any) -> Any:
    """Return the class of a filesystem, or the next superclass that is Hadoop's."""
    cls = filesystem.getClass()
    while not _is_hadoop(_name(cls)):
        cls = cls.getSuperclass()
    return cls


def _openers(filesystem: Any) -> Iterator[str]:
    """Yield the class that defines `openFile` of a path, and the one whose builder it returns."""
    path = java_class("org.apache.hadoop.fs.Path")
    yield _name(filesystem.getClass().getMethod("openFile", path.class_).getDeclaringClass())
    with suppress(Exception):  # of a filesystem that has no builder
        yield _name(filesystem.openFile(path("/")).getClass()).partition("$")[0]


def wrapped(obj: Any, kind: Any, depth: int = _DEEPEST) -> Iterator[Any]:
    """Yield an object and those of a kind that its fields hold, directly or not.

    Fields that Java does not show are left out, such as those of streams in java.io.
    """
    yield obj
    cls = obj.getClass()
    while cls is not None and depth:
        for field in cls.getDeclaredFields():
            if kind.class_.isAssignableFrom(field.getType()) and field.trySetAccessible():
                inner = field.get(obj)
                if inner is not None:
                    yield from wrapped(inner, kind, depth - 1)
        cls = cls.getSuperclass()
