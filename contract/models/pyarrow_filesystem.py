"""Model of what the filesystems of PyArrow and their files return."""

from __future__ import annotations

from functools import partial

from fscontract.contract.models.filesystem_rules import (
    ANY_ERROR,
    MISSING,
    Rule,
    RuleTable,
    content_of,
    named,
    operations,
    prefixes,
    sliced,
)
from fscontract.contract.program.filesystem_calls import (
    GZIPPED,
    LISTED_DIRECTORIES,
    LISTED_FILES,
    MANY_FILES,
    NAMED,
    OTHER,
)


def _segment(group: str, data: bytes, at: int, count: int) -> Rule:
    """Return the rule of a read of `count` bytes from an offset."""
    past, group = at + count > len(data), f"arrow.{group}"
    clause = f"{group}.{'past-end' if past else 'range'}"
    values = (sliced(data, at, at + count),)
    return Rule(clause, values, should=past, of_data=f"{group}.range")


def _independent(data: bytes, at: int, count: int) -> Rule:
    return Rule("arrow.get-stream.independent", (sliced(data, at, at + count),))


def _file_position(data: bytes) -> Rule:
    return Rule("arrow.get-stream.file-position", (sliced(data, 1, 2),), should=True)


def _read_buffer(data: bytes, at: int, count: int | None) -> Rule:
    if count is None:
        return Rule("arrow.read-buffer.rest", (sliced(data, at, None),), should=True)
    return Rule("arrow.read-buffer.data", prefixes(sliced(data, at, at + count)))


def _input_stream(data: bytes, count: int | None, buffer: int) -> Rule:
    name = "buffered" if buffer else "data"
    return Rule(f"arrow.input-stream.{name}", (sliced(data, None, None),))


def _compressed(data: bytes, compression: str) -> Rule:
    return Rule(f"arrow.compression.{compression}", (GZIPPED if compression == "none" else OTHER,))


def _size(data: bytes) -> Rule:
    return Rule("arrow.size", (len(data),))


def _metadata(data: bytes) -> Rule:
    return Rule("arrow.metadata", (True,), should=True)


def _missing(data: bytes, opens: str) -> Rule:
    return Rule("arrow.open.missing", (), MISSING, should=True)


def _info(data: bytes, path: str, field: str) -> Rule:
    content = content_of(data, path)
    if content is None:
        return Rule("arrow.info.missing", ("NotFound",))
    right = {"type": "File", "size": len(content), "path": True, "base_name": True}[field]
    return Rule(f"arrow.info.{field.replace('_', '-')}", (right,))


def _infos(data: bytes, paths: tuple[str, ...]) -> Rule:
    contents = [content_of(data, one) for one in paths]
    found = tuple(("NotFound", None) if one is None else ("File", len(one)) for one in contents)
    return Rule("arrow.info.list", (found,))


def _directory(data: bytes) -> Rule:
    return Rule("arrow.info.directory", ("Directory",))


def _entry(name: str) -> tuple[str, str, int | None]:
    if name not in LISTED_FILES:
        return name, "Directory", None
    return name, "File", len(LISTED_FILES[name])


def _select(data: bytes, selected: str) -> Rule:
    if selected == "missing":
        return Rule("arrow.select.missing", (), ANY_ERROR)
    if selected == "missing allowed":
        return Rule("arrow.select.allow-not-found", ((),))
    names = sorted((*LISTED_FILES, *LISTED_DIRECTORIES))
    if selected == "all levels":
        return Rule("arrow.select.recursive", (tuple(map(_entry, names)),))
    inside = (name for name in names if "/" not in name)
    return Rule("arrow.select.entries", (tuple(map(_entry, inside)),))


def _select_again(data: bytes) -> Rule:
    return Rule("arrow.select.entries", (("first", "second"),))


def _many(data: bytes, lister: str) -> Rule:
    name = "select.entries" if lister == "selector" else "info.list"
    return Rule(f"arrow.{name}", ((MANY_FILES, 0),))


#: The clause of each call on a file with an unusual name.
_OF_NAMED = {
    "select": "select.entries",
    "info": "info.path",
    "open_input_file": "read-at.range",
    "open_input_stream": "input-stream.data",
}


def _named_file(data: bytes, asked: str, name: str) -> Rule:
    value = OTHER if asked.startswith("open") else (NAMED[name], "File", len(OTHER))
    return Rule(f"arrow.{_OF_NAMED[asked]}", ((value,) if asked == "select" else value,))


def _normalized(data: bytes) -> Rule:
    return Rule("arrow.normalize-path", (sliced(data, None, None),))


RULES: RuleTable = {
    "pa_read_at": (
        partial(_segment, "read-at"),
        named("arrow", "read-at", "range", "past-end"),
    ),
    "pa_get_stream": (
        partial(_segment, "get-stream"),
        named("arrow", "get-stream", "range", "past-end"),
    ),
    "pa_independent": (_independent, named("arrow", "get-stream", "independent")),
    "pa_file_position": (_file_position, named("arrow", "get-stream", "file-position")),
    "pa_read_buffer": (_read_buffer, named("arrow", "read-buffer", "data", "rest")),
    "pa_input_stream": (_input_stream, named("arrow", "input-stream", "data", "buffered")),
    "pa_compressed": (_compressed, named("arrow", "compression", "detect", "gzip", "none")),
    "pa_size": (_size, ("arrow.size",)),
    "pa_metadata": (_metadata, ("arrow.metadata",)),
    "pa_missing": (_missing, ("arrow.open.missing",)),
    "pa_info": (_info, named("arrow", "info", "type", "size", "path", "base-name", "missing")),
    "pa_infos": (_infos, ("arrow.info.list",)),
    "pa_directory": (_directory, ("arrow.info.directory",)),
    "pa_select": (
        _select,
        named("arrow", "select", "entries", "recursive", "missing", "allow-not-found"),
    ),
    "pa_select_again": (_select_again, ("arrow.select.entries",)),
    "pa_many": (_many, ("arrow.select.entries", "arrow.info.list")),
    "pa_named": (_named_file, tuple(f"arrow.{name}" for name in _OF_NAMED.values())),
    "pa_normalized": (_normalized, ("arrow.normalize-path",)),
}
TABLES = operations(RULES)
