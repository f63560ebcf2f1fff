"""Reads of files that fsspec opens with options or by URL, and the same calls as source code."""

from __future__ import annotations

import bz2
import gzip
import lzma
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from fscontract.contract.binding import Action
from fscontract.contract.program.filesystem_calls import (
    BLOCKS,
    CACHED_READS,
    CODECS,
    OTHER,
    reads_of,
)
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form, path_text
from fscontract.contract.script.data import bytes_text
from fscontract.implementations.bindings.common import plain_bytes
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import (
    Target,
    bind_call,
    paths_of,
    with_others,
)

#: The number of bytes of each read of a compressed file by parts.
_PART = 7
_TEXT = {"encoding": "utf-8", "newline": ""}
_COMPRESSED = {
    "gzip": gzip.compress(OTHER, mtime=0),
    "bz2": bz2.compress(OTHER),
    "xz": lzma.compress(OTHER),
}


def bind_opened(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of OPEN_OPERATIONS as a function of an object with `path`."""
    files = {}
    if step.op == "fs_decompress":
        codec, chosen = step.args[:2]
        files[_suffix(codec, chosen)] = _COMPRESSED[codec]
    return bind_call(_RUNS[step.op], step, target, fail, files)


def _suffix(codec: str, chosen: str) -> str:
    """Return the suffix of a compressed file; none can be inferred from that of a named codec."""
    return CODECS[codec] if chosen == "infer" else f".packed-{codec}"


@contextmanager
def _closing(file: Any) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(Exception):  # another clause is about what close() raises
            file.close()


def _cached(target: Target, path: str, cache: str, block: str) -> tuple[bytes, ...]:
    from fsspec.caching import caches

    if cache not in caches:  # of another version of fsspec
        raise NotImplementedError(cache)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # MMapCache leaves a file open
            file = target.filesystem.open(path, "rb", block_size=BLOCKS[block], cache_type=cache)
    except (TypeError, ValueError) as error:  # it may have no such option, or limits of blocks
        raise NotImplementedError(str(error)) from error
    try:
        with _closing(file):
            first = plain_bytes(file.read(1))  # where it begins, before any seek
            file.seek(0, 2)
            size = file.tell()  # another clause is about what seek() returns
            return (first, *(_range(file, at, count) for at, count in reads_of(size)))
    finally:
        with suppress(Exception):  # a cache has a thread or a map, and refers to its file
            file.cache = None


def _range(file: Any, at: int, count: int | None) -> bytes:
    """Return the bytes of a range; a read may return fewer than it is asked for."""
    file.seek(at)
    data = b""
    while count is None or len(data) < count:
        part = plain_bytes(file.read() if count is None else file.read(count - len(data)))
        if not part:
            break
        data += part
    return data


def _decompress(
    target: Target, path: str, codec: str, chosen: str, opener: str, reading: str
) -> bytes | str:
    from fsspec.compression import compr

    if codec not in compr:  # Python may lack the module of a codec
        raise NotImplementedError(codec)
    given = codec if chosen == "named" else "infer"
    packed = path + _suffix(codec, chosen)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # fs.open leaves the file below open
        return _decompressed(target.filesystem, opener, packed, given, reading)


def _decompressed(fs: Any, opener: str, path: str, codec: str, reading: str) -> bytes | str:
    from fsspec.core import OpenFile

    mode, options = ("r", _TEXT) if reading == "text" else ("rb", {})
    if opener == "OpenFile":
        opened = OpenFile(fs, path, mode, compression=codec, **options)
        file = opened.open()
    else:
        opened = file = fs.open(path, mode, compression=codec, **options)
    with _closing(opened):
        if reading == "text":
            return str(file.read())
        if reading == "all":
            return plain_bytes(file.read())
        return b"".join(iter(lambda: plain_bytes(file.read(_PART)), b""))


def _urls(target: Target, path: str, paths: str | tuple[str, ...]) -> tuple[bytes, ...]:
    import fsspec

    fs = target.filesystem
    given, options = _urls_of(fs, paths_of(path, paths)), dict(fs.storage_options)
    if not _is_found(path, fs, options):
        raise NotImplementedError("no filesystem of its URLs has its files")
    files = fsspec.open_files(given, **options)
    if paths == "file":
        files = [fsspec.open(given, **options)]
    return tuple(_whole(file) for file in files)


def _urls_of(fs: Any, paths: Any) -> Any:
    """Return the URL of a path, or of each path in a list. Raise NotImplementedError."""
    try:
        if isinstance(paths, list):
            return [str(fs.unstrip_protocol(one)) for one in paths]
        return str(fs.unstrip_protocol(paths))
    except Exception as error:
        raise NotImplementedError(str(error)) from error


def _is_found(path: str, fs: Any, options: dict[str, Any]) -> bool:
    """Return whether fsspec makes a filesystem of the same class, which has the file at `path`.

    The protocol of a class may be that of another class, or not registered, and the files of an
    instance its own.
    """
    import fsspec

    if hasattr(fs, "fs"):
        return False  # of a chain, whose URLs are those of several filesystems
    protocol = fs.protocol if isinstance(fs.protocol, str) else fs.protocol[0]
    try:
        found = fsspec.filesystem(protocol, **options)
        return type(found) is type(fs) and bool(found.exists(path))
    except Exception:
        return False


def _whole(opened: Any) -> bytes:
    file = opened.open()
    with _closing(opened):
        return plain_bytes(file.read())


_RUNS: dict[str, Callable[..., Any]] = {
    "fs_open_cached": _cached,
    "fs_decompress": _decompress,
    "fs_open_urls": _urls,
}


# Source code ---------------------------------------------------------------------------------


def spell_opened(step: Step) -> Call | None:
    """Return a step as a call of fsspec on `path`; None if it is none."""
    spell = _SPELLINGS.get(step.op)
    if spell is None:
        return None
    return with_others(step, spell(*step.args), "fs.pipe_file(other, {})")


def _spell_cached(cache: str, block: str) -> Call:
    opened = f'fs.open(path, "rb", block_size={BLOCKS[block]}, cache_type="{cache}")'
    ranges = ", ".join(
        f"({at if at >= 0 else f'max(size - {-at}, 0)'}, {-1 if count is None else count})"
        for at, count in CACHED_READS
    )
    before = (
        f"file = {opened}",
        "first = file.read(1)",
        "size = (file.seek(0, 2), file.tell())[1]",
        f"ranges = [{ranges}]",
        "read = lambda at, count: (file.seek(at), file.read(count))[1]",
    )
    text = "[first, *(read(at, count) for at, count in ranges)]"
    return Call(text, Form.EQUAL, before=before, shown=f"{opened}: read, seek, read")


def _spell_decompress(codec: str, chosen: str, opener: str, reading: str) -> Call:
    module = {"xz": "lzma"}.get(codec, codec)
    given = codec if chosen == "named" else "infer"
    mode, more = "rb", ""
    if reading == "text":
        mode, more = "r", ', encoding="utf-8", newline=""'
    arguments = f'packed, "{mode}", compression="{given}"{more}'
    opened = f"fs.open({arguments})"
    if opener == "OpenFile":
        opened = f"OpenFile(fs, {arguments}).open()"
    before = (
        f'packed = path + "{_suffix(codec, chosen)}"',
        f"fs.pipe_file(packed, {module}.compress({bytes_text(OTHER)}))",
        f"file = {opened}",
    )
    text = "file.read()"
    if reading == "parts":
        text = f'b"".join(iter(lambda: file.read({_PART}), b""))'
    more_imports = ("from fsspec.core import OpenFile",) if opener == "OpenFile" else ()
    return Call(text, Form.EQUAL, before=before, imports=(f"import {module}", *more_imports))


def _spell_urls(paths: str | tuple[str, ...]) -> Call:
    if isinstance(paths, tuple):
        listed = ", ".join(map(path_text, paths))
        given = f"[fs.unstrip_protocol(one) for one in [{listed}]]"
    else:
        given = f"fs.unstrip_protocol({path_text(paths)})"
    files = f"fsspec.open_files({given}, **fs.storage_options)"
    if paths == "file":
        files = f"[fsspec.open({given}, **fs.storage_options)]"
    text = "[one.open().read() for one in files]"
    return Call(text, Form.EQUAL, before=(f"files = {files}",), imports=("import fsspec",))


_SPELLINGS: dict[str, Callable[..., Call]] = {
    "fs_open_cached": _spell_cached,
    "fs_decompress": _spell_decompress,
    "fs_open_urls": _spell_urls,
}
