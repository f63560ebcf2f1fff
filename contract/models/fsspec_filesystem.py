"""Model of what an fsspec filesystem reads without a stream.

Exceptions in lists of results are True, a mapping is a tuple of pairs of a path's name and its
result, in order. The result of `get`, which copies files to local paths, is a tuple of pairs of a
local path and its bytes, in order.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from functools import partial
from typing import Any

from fscontract.contract.models.filesystem_rules import (
    ANY_ERROR,
    MISSING,
    RAISED,
    Rule,
    RuleTable,
    content_of,
    named,
    operations,
    sliced,
)
from fscontract.contract.program.filesystem_calls import COPIES, GLOB, OTHER, TREE_FILES
from fscontract.contract.program.outcome import IO_KINDS, Kind


def _limit_kind(size: int, begin: int | None, end: int | None) -> str:
    """Return which limits of a read apply: a word of the clause."""
    if begin is None and end is None:
        return "whole"
    if (begin or 0) < 0 or (end or 0) < 0:
        low, high = slice(begin, end).indices(size)[:2]
        return "reversed" if low > high else "negative"
    if begin is not None and end is not None and begin > end:
        return "reversed"
    if (begin is not None and begin >= size) or (end or 0) > size:
        return "past-end"
    return "one-limit" if begin is None or end is None else "range"


_OPTIONAL = frozenset({"reversed", "past-end"})


def _cat_file(data: bytes, begin: int | None, end: int | None) -> Rule:
    kind = _limit_kind(len(data), begin, end)
    values = (sliced(data, begin, end),)
    of_data = f"filesystem.cat-file.{'one-limit' if None in (begin, end) else 'range'}"
    return Rule(f"filesystem.cat-file.{kind}", values, should=kind in _OPTIONAL, of_data=of_data)


def _cat_file_positional(data: bytes, begin: int | None, end: int | None) -> Rule:
    if begin is not None and end is not None and 0 <= begin < end <= len(data):
        return Rule("filesystem.cat-file.positional", (sliced(data, begin, end),))
    return _cat_file(data, begin, end)


def _cat_missing(data: bytes) -> Rule:
    return Rule("filesystem.cat-file.missing", (), MISSING, True)


def _part(content: bytes | None, begin: int, end: int) -> Any:
    return RAISED if content is None else sliced(content, begin, end)


def _each(numbers: int | tuple[int, ...], count: int) -> tuple[int, ...]:
    return numbers if isinstance(numbers, tuple) else (numbers,) * count


def _cat_ranges(
    data: bytes,
    paths: tuple[str, ...],
    begins: int | tuple[int, ...],
    ends: int | tuple[int, ...],
    on_error: str,
) -> Rule:
    asked = [*zip(paths, _each(begins, len(paths)), _each(ends, len(paths)), strict=False)]
    parts = tuple(_part(content_of(data, path), low, high) for path, low, high in asked)
    if RAISED in parts:
        if on_error == "raise":
            return Rule("filesystem.cat-ranges.raise", (), IO_KINDS, True)
        return Rule("filesystem.cat-ranges.return", (parts,), should=True)
    kinds = {
        _limit_kind(len(content_of(data, path) or b""), low, high) for path, low, high in asked
    }
    should = kinds & (_OPTIONAL | {"negative"})
    if should:
        name, of_data = f"filesystem.cat-ranges.{min(should)}", "filesystem.cat-ranges.data"
        return Rule(name, (parts,), should=True, of_data=of_data)
    numbers = isinstance(begins, int) or isinstance(ends, int)
    name = "scalars" if numbers else "data" if parts else "empty"
    return Rule(f"filesystem.cat-ranges.{name}", (parts,))


def _cat(data: bytes, paths: str | tuple[str, ...], on_error: str) -> Rule:
    if paths == GLOB:
        return Rule("filesystem.cat.glob", ((("other", OTHER),),))
    if isinstance(paths, str):
        return Rule("filesystem.cat.one", (content_of(data, paths),))
    found = {path: content_of(data, path) for path in sorted(set(paths))}
    if None not in found.values():
        return Rule("filesystem.cat.list", (tuple(found.items()),))
    if on_error == "omit":
        kept = tuple((path, part) for path, part in found.items() if part is not None)
        return Rule("filesystem.cat.omit", (kept,))
    if on_error == "return":
        parts = tuple((p, RAISED if part is None else part) for p, part in found.items())
        return Rule("filesystem.cat.return", (parts,))
    return Rule("filesystem.cat.raise", (), ANY_ERROR)


def _boundaries(data: bytes, at: int, delimiter: bytes) -> Iterable[int]:
    """Yield the ends of delimiters that follow an offset, for each reading of "follow".

    The first is the end of the first delimiter that begins at the offset or after it. A delimiter
    around the offset, or one that ends there, may also be taken for the first.
    """
    found = data.find(delimiter, at)
    yield len(data) if found < 0 else found + len(delimiter)
    for start in range(max(at - len(delimiter), 0), at):
        if data.startswith(delimiter, start):
            yield start + len(delimiter)


def _delimited(data: bytes, at: int, count: int | None, delimiter: bytes) -> tuple[bytes, ...]:
    size = len(data)
    starts = [0] if at == 0 else [min(one, size) for one in _boundaries(data, at, delimiter)]
    if count is None or at + count >= size:
        stops = [size]
    else:
        stops = [*_boundaries(data, at + count, delimiter)]
        stops += [0] if at + count == 0 else []
    return tuple(dict.fromkeys(data[start:stop] for start in starts for stop in stops))


def _read_block(data: bytes, at: int, count: int | None, delimiter: str) -> Rule:
    if delimiter:
        values = _delimited(data, at, count, bytes.fromhex(delimiter))
        return Rule("filesystem.read-block.delimiter", values)
    end = None if count is None else at + count
    past = at > len(data) or (end or 0) > len(data)
    kind = "all" if count is None else "past-end" if past else "range"
    return Rule(f"filesystem.read-block.{kind}", (sliced(data, at, end),))


#: The number of bytes of `head` and `tail` if it is left out.
_DEFAULT_COUNT = 1024


def _head(data: bytes, count: int | None) -> Rule:
    count = _DEFAULT_COUNT if count is None else count
    return _end("head", data, count, data[:count])


def _tail(data: bytes, count: int | None) -> Rule:
    count = _DEFAULT_COUNT if count is None else count
    return _end("tail", data, count, data[max(len(data) - count, 0) :])


def _end(method: str, data: bytes, count: int, right: bytes) -> Rule:
    """Return the rule of the first or last bytes of a file."""
    name, past = f"filesystem.{method}.", count > len(data)
    clause = f"{name}{'past-end' if past else 'data'}"
    return Rule(clause, (right,), should=past, of_data=f"{name}data")


def _get_file(data: bytes, path: str) -> Rule:
    if path == "missing":
        return Rule("filesystem.get-file.missing", (), MISSING, True)
    return Rule("filesystem.get-file.data", (content_of(data, path),))


def _get_leaves(data: bytes) -> Rule:
    return Rule("filesystem.get-file.leaves-nothing", (False,), should=True)


def _info(data: bytes, key: str) -> Rule:
    values = {"name": (True,), "size": (len(data), None), "type": ("file",)}[key]
    return Rule(f"filesystem.info.{key}", values)


def _size(data: bytes) -> Rule:
    return Rule("filesystem.size", (len(data), None))


def _sizes(data: bytes, paths: tuple[str, ...]) -> Rule:
    known = tuple(len(content_of(data, path) or b"") for path in paths)
    return Rule("filesystem.sizes", tuple({known, (None,) * len(paths)}))


def _exists(data: bytes, path: str) -> Rule:
    there = content_of(data, path) is not None
    return Rule(f"filesystem.exists.{'file' if there else 'missing'}", (there,))


def _isfile(data: bytes, path: str) -> Rule:
    there = content_of(data, path) is not None
    return Rule(f"filesystem.isfile.{'file' if there else 'missing'}", (there,))


def _checksum(data: bytes) -> Rule:
    return Rule("filesystem.checksum.changes", (False,))


def _ukey(data: bytes, how: str) -> Rule:
    return Rule(f"filesystem.ukey.{how}", (how == "same",), should=True)


def text_of(data: bytes, way: str, encoding: str, errors: str, newline: str | None) -> Any:
    """Return the lines that Python reads from these bytes, or the whole text as the only one.

    Return None if the bytes can't be decoded.
    """
    text = io.TextIOWrapper(io.BytesIO(data), encoding, errors, newline)
    try:
        return tuple(text) if way == "lines" else (text.read(),)
    except UnicodeError:
        return None


def _text(
    data: bytes, path: str, way: str, encoding: str, errors: str, newline: str | None
) -> Rule:
    right = text_of(content_of(data, path) or b"", way, encoding, errors, newline)
    if right is None:
        return Rule("filesystem.text.errors", (), frozenset({Kind.ILLEGAL_ARGUMENT}))
    return Rule(f"filesystem.text.{'lines' if way == 'lines' else 'read'}", (right,))


#: The clauses of what is pickled, and of the same in another process.
_PICKLED = {
    "filesystem": ("filesystem", "other-process"),
    "open file": ("open-file", "open-file-other-process"),
    "compressed open file": ("compressed", "compressed-other-process"),
}


def _pickled(data: bytes, what: str, is_here: bool = False) -> Rule:
    value = OTHER if what.startswith("compressed") else data
    name = _PICKLED[what][0 if is_here else 1]
    return Rule(f"filesystem.pickle.{name}", (value,), should=True)


#: The clause of each kind of copy by `get`.
_COPY_CLAUSES = {
    "file": "file",
    "file into directory": "file-into-directory",
    "file into new directory": "file-into-directory",
    "lists": "lists",
    "list into directory": "list-into-directory",
    "directory": "directory",
    "directory into directory": "directory",
    "content of directory": "directory",
    "pattern": "glob",
}


def _get(data: bytes, copied: str) -> Rule:
    files = {**TREE_FILES, "file": bytes(data)}
    pairs = tuple(sorted((local, files[source]) for local, source in COPIES[copied].items()))
    # a target may be unable to create a directory
    kinds = IO_KINDS if copied == "file into new directory" else frozenset()
    return Rule(f"filesystem.get.{_COPY_CLAUSES[copied]}", (pairs,), kinds)


def _get_missing(data: bytes) -> Rule:
    return Rule("filesystem.get.missing", (), MISSING, True)


def _get_missing_leaves(data: bytes) -> Rule:
    return Rule("filesystem.get.leaves-nothing", (False,), should=True)


_named = partial(named, "filesystem")
_OF_LIMITS = ("whole", "range", "one-limit", "negative", "past-end", "reversed")
RULES: RuleTable = {
    "fs_cat_file": (_cat_file, _named("cat-file", *_OF_LIMITS)),
    "fs_cat_file_positional": (_cat_file_positional, _named("cat-file", "positional", *_OF_LIMITS)),
    "fs_read_bytes": (_cat_file, _named("cat-file", *_OF_LIMITS)),
    "fs_cat_missing": (_cat_missing, _named("cat-file", "missing")),
    "fs_cat_ranges": (
        _cat_ranges,
        _named("cat-ranges", "data", "scalars", "empty", *_OF_LIMITS[-3:], "return", "raise"),
    ),
    "fs_cat": (_cat, _named("cat", "one", "list", "glob", "raise", "omit", "return")),
    "fs_read_block": (
        _read_block,
        _named("read-block", "range", "all", "past-end", "delimiter"),
    ),
    "fs_head": (_head, _named("head", "data", "past-end")),
    "fs_tail": (_tail, _named("tail", "data", "past-end")),
    "fs_get_file": (_get_file, _named("get-file", "data", "missing")),
    "fs_get_file_again": (partial(_get_file, path="file"), _named("get-file", "data")),
    "fs_get_leaves": (_get_leaves, _named("get-file", "leaves-nothing")),
    "fs_info": (_info, _named("info", "name", "size", "type")),
    "fs_size": (_size, ("filesystem.size",)),
    "fs_sizes": (_sizes, ("filesystem.sizes",)),
    "fs_exists": (_exists, _named("exists", "file", "missing")),
    "fs_isfile": (_isfile, _named("isfile", "file", "missing")),
    "fs_checksum": (_checksum, _named("checksum", "changes")),
    "fs_ukey": (_ukey, _named("ukey", "same", "changed")),
    "fs_text": (_text, _named("text", "read", "lines", "errors")),
    "fs_pickle": (
        partial(_pickled, is_here=True),
        _named("pickle", *(here for here, _ in _PICKLED.values())),
    ),
    "fs_other_process": (_pickled, _named("pickle", *(other for _, other in _PICKLED.values()))),
    "fs_get": (_get, _named("get", *dict.fromkeys(_COPY_CLAUSES.values()))),
    "fs_get_missing": (_get_missing, _named("get", "missing")),
    "fs_get_missing_leaves": (_get_missing_leaves, _named("get", "leaves-nothing")),
}
#: Clauses that apply by the bytes of the file.
_BY_CONTENT = {"fs_text": RULES["fs_text"][1]}
TABLES = operations(RULES, _BY_CONTENT)
