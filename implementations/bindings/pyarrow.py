"""Binding to PyArrow filesystems: files of `open_input_file`, and calls that open files themselves.

The calls of the filesystem are here as source code, too.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

from fscontract.contract.binding import Action, Binding, Opened
from fscontract.contract.program.filesystem_calls import (
    ARROW_OPERATIONS,
    GZIP,
    GZIPPED,
    LISTED,
    MANY,
    MANY_FILES,
    OTHER,
    READER_OPERATIONS,
    SELECTORS,
)
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form, Source, path_text
from fscontract.contract.script.data import bytes_text
from fscontract.contract.script.layout import quoted
from fscontract.contract.spec.inherited_failures import class_name
from fscontract.implementations.bindings.common import OpenedFile, WrongType, plain_bytes, several
from fscontract.implementations.bindings.file_operations import Fail, inexpressible, translate
from fscontract.implementations.bindings.filesystem_calls import (
    Target,
    bind_call,
    paths_of,
    with_others,
    write_beside,
)
from fscontract.implementations.bindings.fsspec_listings import (
    below,
    count_many,
    many_files,
    named_end,
    written_beside,
)
from fscontract.implementations.bindings.fsspec_quirks import (
    FLAT,
    below_directories,
    is_remote_protocol,
)
from fscontract.implementations.bindings.library_readers import (
    Wording,
    bind_reader,
    reader_operations,
    spell_reader,
)
from fscontract.implementations.bindings.method_sources import (
    FILE_METHODS,
    WRAPPED,
    inspected,
    sources_of,
)
from fscontract.implementations.bindings.object_stores import Store, StoreBinding
from fscontract.implementations.bindings.positioned_reads import bind_pread
from fscontract.implementations.bindings.script_setup import pyarrow_setup


def _bind_arrow(step: Step, target: Target, fail: Fail) -> Action:
    """Return a step of ARROW_OPERATIONS as a function of an object with `path`."""
    if step.op in _WRITING:
        return bind_call(_WRITING[step.op], step, target, fail)
    call, needs_tree = _CALLS[step.op], step.op in _IN_DIRECTORIES
    beside = written_beside(step) if needs_tree else {}
    return bind_call(lambda t, *args: call(t.filesystem, *args), step, target, fail, beside)


def _call_read_at(fs: Any, path: str, at: int, count: int) -> bytes:
    with fs.open_input_file(path) as file:
        return plain_bytes(file.read_at(count, at))


def _get_stream(fs: Any, path: str, at: int, count: int) -> bytes:
    with fs.open_input_file(path) as file:
        return plain_bytes(file.get_stream(at, count).read())


def _independent(fs: Any, path: str, at: int, count: int) -> bytes:
    """Read a stream in two parts, with reads of the file and of another stream between them."""
    with fs.open_input_file(path) as file:
        stream, other = file.get_stream(at, count), file.get_stream(0, 2)
        first = plain_bytes(stream.read(1))
        file.seek(0)
        file.read(1)
        other.read()
        return first + plain_bytes(stream.read())


def _file_position(fs: Any, path: str) -> bytes:
    with fs.open_input_file(path) as file:
        file.read(1)
        file.get_stream(0, 3).read()
        return plain_bytes(file.read(1))


def _read_buffer(fs: Any, path: str, at: int, count: int | None) -> bytes:
    with fs.open_input_file(path) as file:
        file.seek(at)
        return plain_bytes(file.read_buffer(count))


def _input_stream(fs: Any, path: str, count: int | None, buffer: int) -> bytes:
    with fs.open_input_stream(path, compression=None, buffer_size=buffer) as stream:
        if count is None:
            return plain_bytes(stream.read())
        with fs.open_input_stream(path, compression=None) as other:
            other.read(1)  # another stream of the file has a position of its own
            return b"".join(iter(lambda: plain_bytes(stream.read(count)), b""))


def _compressed(fs: Any, path: str, compression: str) -> bytes:
    with fs.open_output_stream(path + GZIP, compression=None) as out:
        out.write(GZIPPED)
    given = None if compression == "none" else compression
    with fs.open_input_stream(path + GZIP, compression=given) as stream:
        return plain_bytes(stream.read())


def _size(fs: Any, path: str) -> Any:
    with fs.open_input_file(path) as file:
        return file.size()


def _metadata(fs: Any, path: str) -> bool:
    with fs.open_input_file(path) as file:
        return isinstance(file.metadata(), Mapping)


def _missing(fs: Any, path: str, opens: str) -> bytes:
    with getattr(fs, opens)(paths_of(path, "missing")) as file:
        return plain_bytes(file.read())


def _info(fs: Any, path: str, name: str, field: str) -> Any:
    given = paths_of(path, name)
    info = fs.get_file_info(given)
    value = getattr(info, field)
    if field == "type":
        return value.name
    if field == "path":
        return _is_same(fs, value, given)
    return value == _base_name(fs, info, given) if field == "base_name" else value


def _is_same(fs: Any, path: str, given: str) -> bool:
    """Return whether a path is the given one, as it was given or as the filesystem spells it."""
    return path == given or bool(fs.normalize_path(path) == fs.normalize_path(given))


def _base_name(fs: Any, info: Any, given: str) -> str:
    """Return the right base name, of the path of the information if that is right."""
    return os.path.basename(info.path if _is_same(fs, info.path, given) else given)


def _infos(fs: Any, path: str, paths: tuple[str, ...]) -> tuple[tuple[str, int | None], ...]:
    """Return the type and size of each path, in whichever order the filesystem returns them."""
    given = paths_of(path, paths)
    found = several(fs.get_file_info(given))
    infos = {_spelled(fs, info.path, given): (info.type.name, info.size) for info in found}
    if sorted(infos) != sorted(given):
        raise WrongType(f"expected information on {sorted(given)}, got it on {sorted(infos)}")
    return tuple(infos[one] for one in given)


def _spelled(fs: Any, path: str, given: Iterable[str]) -> str:
    """Return a path as it was given, if it was."""
    return next((one for one in given if _is_same(fs, path, one)), path)


def _select(fs: Any, path: str, selected: str) -> tuple[Any, ...]:
    directory = path + LISTED if "missing" not in selected else paths_of(path, "missing")
    return tuple(_entry(info, LISTED) for info in _selected(fs, directory, **SELECTORS[selected]))


def _selected(fs: Any, directory: str, **options: bool) -> list[Any]:
    from pyarrow.fs import FileSelector

    found = several(fs.get_file_info(FileSelector(directory, **options)))
    return sorted(found, key=lambda info: info.path)


def _entry(info: Any, directory: str) -> tuple[str, str, int | None]:
    """Return the path of an entry below a directory, its type and size.

    A base name that is not the end of its path is in place of it.
    """
    name = info.path.rstrip("/").rpartition("/")[2]
    path = below(info.path, directory) if info.base_name == name else f"?/{info.base_name}"
    return path, info.type.name, info.size


def _many(target: Target, path: str, lister: str) -> tuple[int, int]:
    fs, directory = target.filesystem, path + MANY
    with many_files(target, path, fs.delete_dir) as names:
        asked = [f"{directory}/{name}" for name in names]
        found = _selected(fs, directory) if lister == "selector" else fs.get_file_info(asked)
        return count_many(info.path for info in found if info.is_file)


#: Numbers of directories, each of which changes once.
_numbers = itertools.count()


def _select_again(target: Target, path: str) -> tuple[str, ...]:
    """Return the names in a directory in which a second file was written after a listing."""
    at = f".again/files-{next(_numbers)}"
    for name in ("first", "second"):
        write_beside(target, path, f"{at}/{name}", b"1")
        found = _selected(target.filesystem, path + at)
    return tuple(info.base_name for info in found)


def _named(fs: Any, path: str, asked: str, name: str) -> Any:
    end = named_end(name)
    at, directory = path + end, end.rpartition("/")[0]
    if asked == "open_input_file":
        with fs.open_input_file(at) as file:
            return plain_bytes(file.read_at(len(OTHER), 0))
    if asked == "open_input_stream":
        with fs.open_input_stream(at, compression=None) as stream:
            return plain_bytes(stream.read())
    infos = _selected(fs, path + directory) if asked == "select" else [fs.get_file_info(at)]
    found = tuple(_entry(info, directory) for info in infos)
    return found if asked == "select" else found[0]


def _normalized(fs: Any, path: str) -> bytes:
    with fs.open_input_stream(fs.normalize_path(path), compression=None) as stream:
        return plain_bytes(stream.read())


_CALLS: dict[str, Callable[..., Any]] = {
    "pa_read_at": _call_read_at,
    "pa_get_stream": _get_stream,
    "pa_independent": _independent,
    "pa_file_position": _file_position,
    "pa_read_buffer": _read_buffer,
    "pa_input_stream": _input_stream,
    "pa_compressed": _compressed,
    "pa_size": _size,
    "pa_metadata": _metadata,
    "pa_missing": _missing,
    "pa_info": _info,
    "pa_infos": _infos,
    "pa_directory": lambda fs, path: fs.get_file_info(path + LISTED).type.name,
    "pa_select": _select,
    "pa_named": _named,
    "pa_normalized": _normalized,
}
#: Operations that need files in directories, and those that write them.
_IN_DIRECTORIES = frozenset({"pa_directory", "pa_select", "pa_named"})
_WRITING: dict[str, Callable[..., Any]] = {"pa_many": _many, "pa_select_again": _select_again}


# Source code ---------------------------------------------------------------------------------


_FILE = "file = fs.open_input_file(path)"
_NORMAL = "fs.normalize_path"


def _spell_arrow(step: Step) -> Call | None:
    """Return a step as a call of the filesystem `fs` on `path`; None if it is none."""
    spell = _SPELLINGS.get(step.op)
    if spell is None:
        return None
    call = spell(*step.args)
    return with_others(step, call, "with fs.open_output_stream(other) as out: out.write({})")


def _equal(text: str, *before: str) -> Call:
    return Call(text, Form.EQUAL, before=before)


def _spell_independent(at: int, count: int) -> Call:
    streams = f"stream, second = file.get_stream({at}, {count}), file.get_stream(0, 2)"
    between = "file.seek(0), file.read(1), second.read()"
    return _equal("first + stream.read()", _FILE, streams, "first = stream.read(1)", between)


def _spell_input_stream(count: int | None, buffer: int) -> Call:
    opened = f"fs.open_input_stream(path, compression=None, buffer_size={buffer})"
    if count is None:
        return _equal(f"{opened}.read()")
    other = "fs.open_input_stream(path, compression=None).read(1)"
    return _equal(f'b"".join(iter(lambda: stream.read({count}), b""))', f"stream = {opened}", other)


def _spell_compressed(compression: str) -> Call:
    opened = "with fs.open_output_stream(packed, compression=None) as out:"
    given = None if compression == "none" else f'"{compression}"'
    return _equal(
        f"fs.open_input_stream(packed, compression={given}).read()",
        f'packed = path + "{GZIP}"',
        f"{opened} out.write({bytes_text(GZIPPED)})",
    )


def _spell_info(name: str, field: str) -> Call:
    path = path_text(name)
    text = f"fs.get_file_info({path}).{field}"
    if field == "path":
        return _equal(f"{_NORMAL}({text}) == {_NORMAL}({path})")
    if field == "base_name":
        return _equal(f"{text} == os.path.basename(fs.get_file_info({path}).path)")
    return _equal(f"{text}.name" if field == "type" else text)


def _spell_infos(paths: tuple[str, ...]) -> Call:
    given = f"[{', '.join(map(path_text, paths))}]"
    spelled = f"{_NORMAL}(one.path): [one.type.name, one.size]"
    infos = f"infos = {{{spelled} for one in fs.get_file_info(paths)}}"
    return _equal(f"[infos[{_NORMAL}(one)] for one in paths]", f"paths = {given}", infos)


def _writing(files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the statements that write files, by the ends of their paths."""
    for directory in dict.fromkeys(end.rpartition("/")[0] for end in files):
        yield f"fs.create_dir(path + {quoted(directory)})"
    for end, data in files.items():
        opened = f"with fs.open_output_stream(path + {quoted(end)}, compression=None) as out:"
        yield f"{opened} out.write({bytes_text(data)})"


_BELOW = 'below = lambda name: name.partition({})[2].strip("/")'
_ENTRY = "[below(one.path), one.type.name, one.size]"
_IMPORTS = ("from pyarrow.fs import FileSelector",)


def _spell_select(selected: str) -> Call:
    directory = "path + " + quoted(".missing" if "missing" in selected else LISTED)
    options = "".join(f", {name}={value}" for name, value in SELECTORS[selected].items())
    call = f"fs.get_file_info(FileSelector({directory}{options}))"
    before = *_writing(written_beside(Step("pa_select", (selected,)))), f"found = {call}"
    before = _BELOW.format(quoted(LISTED)), *before
    return Call(
        f"sorted({_ENTRY} for one in found)",
        Form.EQUAL,
        before=before,
        shown=call,
        imports=_IMPORTS,
    )


def _spell_select_again() -> Call:
    call = "[one.base_name for one in fs.get_file_info(FileSelector(start))]"
    opened = 'with fs.open_output_stream(f"{{start}}/{}", compression=None) as out: out.write(b"1")'
    first, second = map(opened.format, ("first", "second"))
    before = 'start = path + ".again"', "fs.create_dir(start)", first, call, second
    return Call(f"sorted({call})", Form.EQUAL, before=before, shown=call, imports=_IMPORTS)


def _spell_many(lister: str) -> Call:
    named = f'names = [f"n{{number:04}}" for number in range({MANY_FILES})]'
    opened = 'fs.open_output_stream(f"{start}/{name}", compression=None)'
    written = f"for name in names: {opened}.close()"
    paths = '[f"{start}/{name}" for name in names]'
    call = f"fs.get_file_info({'FileSelector(start)' if lister == 'selector' else paths})"
    found = f"found = [one.path[len(start) + 1:] for one in {call} if one.is_file]"
    started = f"start = path + {quoted(MANY)}", "fs.create_dir(start)", named, written, found
    text = "[len({*found} & {*names}), len(found) - len({*found} & {*names})]"
    return Call(text, Form.EQUAL, before=started, shown=call, imports=_IMPORTS)


def _spell_named(asked: str, name: str) -> Call:
    end = named_end(name)
    before = *_writing({end: OTHER}), f"name = path + {quoted(end)}"
    if asked == "open_input_file":
        return _equal(f"fs.open_input_file(name).read_at({len(OTHER)}, 0)", *before)
    if asked == "open_input_stream":
        return _equal("fs.open_input_stream(name, compression=None).read()", *before)
    entry = _ENTRY.replace("below(one.path)", "one.base_name")
    if asked == "info":
        return _equal(entry, *before, "one = fs.get_file_info(name)")
    before = *before, "start = os.path.dirname(name)"
    text = f"[{entry} for one in fs.get_file_info(FileSelector(start))]"
    return Call(text, Form.EQUAL, before=before, imports=_IMPORTS)


_SPELLINGS: dict[str, Callable[..., Call]] = {
    "pa_read_at": lambda at, count: _equal(f"fs.open_input_file(path).read_at({count}, {at})"),
    "pa_get_stream": lambda at, count: _equal(f"file.get_stream({at}, {count}).read()", _FILE),
    "pa_independent": _spell_independent,
    "pa_file_position": lambda: _equal(
        "file.read(1)", _FILE, "file.read(1)", "file.get_stream(0, 3).read()"
    ),
    "pa_read_buffer": lambda at, count: _equal(
        f"file.read_buffer({count}).to_pybytes()", _FILE, f"file.seek({at})"
    ),
    "pa_input_stream": _spell_input_stream,
    "pa_compressed": _spell_compressed,
    "pa_size": lambda: _equal("fs.open_input_file(path).size()"),
    "pa_metadata": lambda: _equal("isinstance(fs.open_input_file(path).metadata(), dict)"),
    "pa_missing": lambda opens: _equal(f"fs.{opens}({path_text('missing')}).read()"),
    "pa_info": _spell_info,
    "pa_infos": _spell_infos,
    "pa_directory": lambda: _equal(
        f"fs.get_file_info(path + {quoted(LISTED)}).type.name",
        *_writing(written_beside(Step("pa_directory"))),
    ),
    "pa_select": _spell_select,
    "pa_select_again": _spell_select_again,
    "pa_many": _spell_many,
    "pa_named": _spell_named,
    "pa_normalized": lambda: _equal(
        "fs.open_input_stream(fs.normalize_path(path), compression=None).read()"
    ),
}


#: The operations that open streams, which the file of a wrapped filesystem may spoil.
_STREAMS = ("pa_input_stream",)
_WORDING = Wording(
    "fs.open_input_file(name)", "with fs.open_output_stream(name) as out: out.write({data})"
)


class PyArrowStore(Store):
    """Files below `root`, a path of the filesystem `fs`."""

    def __init__(self, fs: Any, root: str) -> None:
        self.fs = fs
        self.root = root.rstrip("/")

    def make(self, directory: str) -> None:
        """Create a directory if the store has directories."""
        if not _is_flat(self.fs):
            self.fs.create_dir(directory, recursive=False)

    def write_below(self, path: str, content: bytes) -> None:
        """Write a file in a directory that may be missing."""
        if not _is_flat(self.fs):
            self.fs.create_dir(path.rpartition("/")[0], recursive=True)
        self.write(path, content)

    def write(self, path: str, content: bytes) -> None:
        """Write a file; replace an existing one."""
        with self.fs.open_output_stream(path) as file:
            file.write(content)

    def delete(self, path: str) -> None:
        """Delete a file."""
        self.fs.delete_file(path)

    def length(self, path: str) -> int | None:
        """Return the size that `get_file_info` reports."""
        size: int | None = self.fs.get_file_info(path).size
        return size

    def directories(self) -> Iterable[str]:
        """Return the directories directly below the root."""
        from pyarrow.fs import FileSelector, FileType

        entries = self.fs.get_file_info(FileSelector(self.root, allow_not_found=True))
        return [info.path for info in entries if info.type == FileType.Directory]

    def delete_all(self, directory: str) -> None:
        """Delete a directory. On S3, PyArrow then adds a marker for the parent if it is empty."""
        from pyarrow.fs import FileType

        if self.fs.get_file_info(directory).type == FileType.Directory:
            self.fs.delete_dir(directory)


class PyArrowBinding(StoreBinding):
    """Runs programs on the NativeFile that a PyArrow filesystem opens."""

    api: ClassVar[str] = "pyarrow"
    default_profile: ClassVar[str] = "pyarrow"
    opening = "fs.open_input_file(path)"
    writing = "with fs.open_output_stream(path) as out:\n    out.write({})"
    deleting = "fs.delete_file(path)"
    status_in_script = "fs.get_file_info(path).size"
    making_directory = "fs.create_dir(path)"
    packages = ("pyarrow",)
    #: Object that `recognise` accepts, for messages.
    accepts: ClassVar[str] = "a pyarrow.fs.FileSystem"

    def __init__(self, fs: Any, root: str, name: str, secrets: tuple[str, ...] = ()) -> None:
        self._arrow = PyArrowStore(fs, root)
        super().__init__(self._arrow, name, secrets)
        self.fs = fs
        self.operations |= {"pread"} | ARROW_OPERATIONS.keys() | reader_operations()
        self.remote = _is_remote(fs)

    def sources(self, path: str) -> Mapping[str, frozenset[str]]:
        """Return the classes of PyArrow behind the files of a handler of one's own; else none."""
        from pyarrow.fs import FSSpecHandler

        inner = _innermost(self.fs)
        handler = getattr(inner, "handler", None)
        if handler is None:
            return {}
        own, at = handler, _innermost_path(self.fs, path)
        below: list[Any] = []
        if isinstance(handler, FSSpecHandler):
            own = below_directories(handler.fs)
            with inspected(handler.fs.open(at, "rb")) as file:
                below = [file]
        with inspected(self.fs.open_input_file(path)) as file:
            found = sources_of(file, {**FILE_METHODS, "pread": ("read_at",)}, own)
        with inspected(handler.open_input_file(at)) as file:
            wrapped = frozenset(class_name(type(one)) for one in (inner, file, *below))
        return found and {**found, **dict.fromkeys((WRAPPED, *_STREAMS), wrapped)}

    @classmethod
    def connect(cls, url: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return a filesystem and the path in it; `arguments` are those of its class."""
        from pyarrow import fs

        scheme, _, path = url.partition("://")
        if scheme == "s3":
            return {"fs": fs.S3FileSystem(**arguments), "root": path}
        if scheme == "file":
            return {"fs": fs.LocalFileSystem(**arguments), "root": path}
        if arguments:
            raise ValueError(
                "options are supported only for s3:// and file:// URLs; use the query of the URL "
                "instead"
            )
        source, root = fs.FileSystem.from_uri(url)
        return {"fs": source, "root": root}

    @classmethod
    def recognise(cls, obj: object, name: str) -> Binding | None:
        """Return a binding if `obj` is a PyArrow filesystem, else None."""
        module = sys.modules.get("pyarrow.fs")
        if module is None or not isinstance(obj, module.FileSystem):
            return None
        root = tempfile.gettempdir() if isinstance(obj, module.LocalFileSystem) else ""
        return cls(obj, root, name)

    def open_file(self, path: str) -> OpenedFile:
        """Open the file for reading at any position."""
        return OpenedFile(self.fs.open_input_file(path), path)

    def file(self, opened: Opened) -> Any:
        """Return the NativeFile."""
        return opened.file

    def bind_positioned(self, step: Step) -> Action:
        """Return `read_at`, which does not move the position, as a function of an opened file.

        Calls of ARROW_OPERATIONS open the file themselves.
        """
        target = Target(self.fs, self._store.write)
        if step.op in _IN_DIRECTORIES | _WRITING.keys():
            target = target._replace(write=self._arrow.write_below)
        if step.op in ARROW_OPERATIONS:
            return _bind_arrow(step, target, self._fail)
        if step.op in READER_OPERATIONS:
            return bind_reader(step, target, lambda fs, path: fs.open_input_file(path), self._fail)
        if step.op != "pread":
            return inexpressible
        return bind_pread(step, _read_at, self.failed, negative=True)

    def script_setup(self, source: Source) -> tuple[str, ...]:
        """Return the statements that make the store and `path`; raise NoScript."""
        return pyarrow_setup(source)

    def spell_positioned(self, step: Step, name: str) -> Call | None:
        """Return a pread as a call of the API."""
        if step.op != "pread":
            return _spell_arrow(step) or spell_reader(step, _WORDING)
        position, _size, _offset, length = step.args
        return Call(f"{name}.read_at({length}, {position})", Form.BYTES)

    def failed(self, error: Exception, opened: Opened) -> Outcome:
        """Return the outcome of a `read_at` that raised, which is a call of the file."""
        return translate("pread", error, getattr(opened, "file", opened), self._fail)


def _read_at(opened: OpenedFile, position: int, length: int) -> Any:
    return opened.file.read_at(length, position)


def _innermost(fs: Any) -> Any:
    """Return the filesystem below those that only change paths."""
    while hasattr(fs, "base_fs"):
        fs = fs.base_fs
    return fs


def _innermost_path(fs: Any, path: str) -> str:
    """Return a path as the filesystem below those that only change paths gets it."""
    while hasattr(fs, "base_fs"):
        fs, path = fs.base_fs, f"{fs.base_path.rstrip('/')}/{path.lstrip('/')}"
    return path


def _kinds(fs: Any) -> set[str]:
    """Return the types of the filesystem and of those that it wraps.

    That of a filesystem of fsspec may have several names: `py::fsspec+('s3', 's3a')`.
    """
    return set(re.findall(r"[\w.-]+", _innermost(fs).type_name.rpartition("+")[2]))


def _is_remote(fs: Any) -> bool:
    return any(map(is_remote_protocol, _kinds(fs)))


def _is_flat(fs: Any) -> bool:
    return bool(_kinds(fs) & FLAT)
