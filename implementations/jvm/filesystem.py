"""Our filesystems as Java's: Hadoop's own tools open paths of the scheme `fscontract` in them."""

from __future__ import annotations

import io
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fscontract.contract.ports import FileStatus, FileSystem
from fscontract.implementations.jvm import machine
from fscontract.implementations.jvm.bridge import java_counters, stream_proxy, text_or_none
from fscontract.implementations.jvm.proxies import new_proxy, promise, view_of
from fscontract.implementations.jvm.shim import class_loader, shim_class

SCHEME = "fscontract"


def java_filesystem(fs: FileSystem, conf: Any = None) -> Any:
    """An org.apache.hadoop.fs.FileSystem over one of ours.

    `conf` is the Configuration to make it with, a new one by default. Whoever has that, or a copy,
    finds the filesystem by the URI of its paths until it is closed. Closing it doesn't close ours.
    TargetError as for `java_stream`.
    """
    shim = shim_class("BridgedFileSystem")
    if conf is None:
        conf = machine.java_class("org.apache.hadoop.conf.Configuration")()
    conf.setClassLoader(class_loader())
    conf.set(f"fs.{SCHEME}.impl", shim.class_.getName())
    proxy = new_proxy("PythonFileSystem", _operations(fs))
    return shim(proxy, f"fs-{uuid.uuid4().hex}", conf)


def _operations(fs: FileSystem) -> dict[str, Callable[..., Any]]:
    """The methods of the shim PythonFileSystem."""
    return {
        "open": lambda path, size: stream_proxy(fs.open(str(path), int(size))),
        "openFile": lambda path, *given: _open_file(fs, str(path), *given),
        "create": lambda path, overwrite: _writer(fs.create(str(path), bool(overwrite))),
        "getFileStatus": lambda path: _java_status(fs.get_file_status(str(path))),
        "listStatus": lambda path: [_java_status(s) for s in fs.list_status(str(path))],
        "mkdirs": lambda path: fs.mkdirs(str(path)),
        "delete": lambda path, recursive: fs.delete(str(path), bool(recursive)),
        "rename": lambda source, target: fs.rename(str(source), str(target)),
        "setPermission": lambda path, mode: fs.set_permission(str(path), int(mode)),
        "access": lambda path, mode: fs.access(str(path), str(mode)),
        "hasPathCapability": lambda path, name: fs.has_path_capability(str(path), str(name)),
        "getIOStatistics": lambda: java_counters(fs.io_statistics()),
        "describe": lambda: repr(fs),
    }


def _open_file(fs: FileSystem, path: str, options: Any, mandatory: Any, status: Any) -> Any:
    builder = fs.open_file(path)
    for entry in options.entrySet():
        key, value = str(entry.getKey()), str(entry.getValue())
        if mandatory.contains(entry.getKey()):
            builder.must(key, value)
        else:
            builder.opt(key, value)
    builder.with_file_status(None if status is None else _our_status(status, path))
    opened = shim_class("BridgedFileSystem").opened
    return promise(builder.build(), lambda stream: opened(stream_proxy(stream)))


def _writer(file: io.BufferedIOBase) -> Any:
    def write(source: Any, length: int) -> None:
        file.write(bytes(view_of(source, length)))

    return new_proxy("PythonWriter", {"write": write, "close": file.close})


def _java_status(status: FileStatus) -> Any:
    return shim_class("BridgedFileStatus")(
        status.path,
        status.length,
        status.is_directory,
        status.block_size,
        round(status.modification_time * 1000),
        status.etag,
        machine.proxy(shim_class("PythonObject"), status, unwrapped=True),
    )


def _our_status(status: Any, path: str) -> FileStatus:
    """A status of Java's in Python; one without a path is taken for that of the file itself."""
    theirs = status.getPath()
    named = path if theirs is None else str(theirs.toUri().getPath())
    ours = status.python() if isinstance(status, shim_class("BridgedStatus")) else None
    if isinstance(ours, FileStatus):
        return replace(ours, path=named, length=int(status.getLen()))
    return FileStatus(
        named,
        int(status.getLen()),
        bool(status.isDirectory()),
        status.getModificationTime() / 1000,
        text_or_none(status.getEtag() if hasattr(status, "getEtag") else None),
        int(status.getBlockSize()),
    )
