"""Files that PyArrow and zipfile write and read through a target, and the same as source code.

The seed of a file chooses its values, its row groups or members, and which of them are read. What
is right follows from these values alone: nothing is compared with another read.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from random import Random
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.binding import Action
from fscontract.contract.program.filesystem_calls import READER_OPERATIONS
from fscontract.contract.program.program import Step
from fscontract.contract.script.calls import Call, Form
from fscontract.contract.script.layout import literal
from fscontract.implementations.bindings.file_operations import Fail
from fscontract.implementations.bindings.filesystem_calls import Target, bind_call

#: Opens a path of a filesystem.
OpenFile: TypeAlias = Callable[[Any, str], Any]
#: The number of reads of one file.
_READS = 6
#: The fewest bytes of a block of CSV: more than those of any row.
_BLOCK = 256
_SUFFIXES = {"lib_parquet": ".parquet", "lib_csv": ".csv", "lib_zip": ".zip"}
_OF_ARROW = frozenset({"lib_parquet", "lib_csv"})


def reader_operations() -> frozenset[str]:
    """Return the operations of READER_OPERATIONS whose libraries are installed."""
    return frozenset(READER_OPERATIONS) - missing_readers().keys()


def missing_readers(only_file: bool = False) -> Mapping[str, str]:
    """Return the operations that a target lacks, each with the reason for reports.

    `only_file` says that the target has one file and can't write others.
    """
    if only_file:
        return dict.fromkeys(READER_OPERATIONS, "the target has one file, and can't write others")
    missing = find_spec("pyarrow") is None
    return dict.fromkeys(_OF_ARROW, "PyArrow is not installed") if missing else {}


def bind_reader(step: Step, target: Target, open_file: OpenFile, fail: Fail) -> Action:
    """Return a step of READER_OPERATIONS as a function of an object with `path`."""
    (seed, rows), end = step.args, _end(step)
    make, read = _FILES[step.op]

    def run(target: Target, path: str, *_args: Any) -> bool | str:
        file = open_file(target.filesystem, path + end)
        if isinstance(file, io.RawIOBase):  # libraries expect all the bytes of a read
            file = io.BufferedReader(file)
        try:
            return read(file, seed, rows)
        finally:
            with suppress(Exception):  # another clause is about what close() raises
                file.close()

    return bind_call(run, step, target, fail, {end: make(seed, rows)})


def _end(step: Step) -> str:
    """Return the end of the path of a file; caches may return old bytes of a path used twice."""
    return f".{step.args[0]}-{step.args[1]}{_SUFFIXES[step.op]}"


# Tables --------------------------------------------------------------------------------------


class Pick(NamedTuple):
    """Some columns of the row group of a number, or of blocks of this many bytes."""

    number: int
    columns: list[str]


def table(seed: int, rows: int) -> dict[str, list[Any]]:
    """Return the columns of a table: numbers that differ, and text of different lengths."""
    numbers = [(seed + row) * 7919 % 10007 for row in range(rows)]
    return {"number": numbers, "text": [f"{n:x}" * (n % 7) for n in numbers]}


def row_group(seed: int, rows: int) -> int:
    """Return the number of rows of each row group but the last."""
    return 1 + rows // 20 + seed % max(rows // 3, 1)


def row_groups_read(seed: int, rows: int) -> list[Pick]:
    """Return the row groups that are read of a Parquet file, in this order, with the columns."""
    count, draw = -(-rows // row_group(seed, rows)), Random(seed)
    return [Pick(draw.randrange(count), _columns(draw)) for _ in range(_READS if count else 0)]


def block_read(seed: int) -> Pick:
    """Return the size of the blocks in which a CSV file is read, and the columns."""
    draw = Random(seed)
    return Pick(draw.randrange(_BLOCK, 16 * _BLOCK), _columns(draw))


def _columns(draw: Random) -> list[str]:
    return draw.choice([["number"], ["text"], ["text", "number"]])


@lru_cache(maxsize=8)
def parquet_file(seed: int, rows: int) -> bytes:
    """Return a table as a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    file = io.BytesIO()
    schema = pa.schema({"number": pa.int64(), "text": pa.string()})
    data = pa.table(table(seed, rows), schema)
    parquet.write_table(data, file, row_group_size=row_group(seed, rows))
    return file.getvalue()


def read_parquet(file: Any, seed: int, rows: int) -> bool | str:
    """Return True if a file has the values of `parquet_file`, else where it differs."""
    from pyarrow import parquet

    size, written = row_group(seed, rows), table(seed, rows)
    with parquet.ParquetFile(file) as opened:
        for group, columns in row_groups_read(seed, rows):
            found = opened.read_row_group(group, columns=columns, use_threads=False).to_pydict()
            for name in columns:
                if found.get(name) != written[name][group * size : (group + 1) * size]:
                    return f"row group {group}, column {name}: other values"
    return True


@lru_cache(maxsize=8)
def csv_file(seed: int, rows: int) -> bytes:
    """Return a table as a CSV file."""
    data = table(seed, rows)
    lines = [f'{number},"{text}"\n' for number, text in zip(*data.values(), strict=True)]
    return "".join(["number,text\n", *lines]).encode()


def read_csv(file: Any, seed: int, rows: int) -> bool | str:
    """Return True if a file has the values of `csv_file`, else which column differs."""
    import pyarrow as pa
    from pyarrow import csv

    (size, columns), written = block_read(seed), table(seed, rows)
    types = {"number": pa.int64(), "text": pa.string()}
    options = csv.ConvertOptions(column_types=types, include_columns=columns)
    with csv.open_csv(file, csv.ReadOptions(block_size=size), convert_options=options) as opened:
        found = opened.read_all().to_pydict()
    differing = [name for name in columns if found.get(name) != written[name]]
    return f"column {differing[0]}: other values" if differing else True


# Archives ------------------------------------------------------------------------------------


class Range(NamedTuple):
    """A range of a member of an archive: at most `length` bytes from `start` on."""

    name: str
    start: int
    length: int


def members(seed: int, rows: int) -> dict[str, bytes]:
    """Return the members of an archive: numbers that rise."""
    ends = sorted({0, rows // 7, rows // 2, rows})
    text = (" ".join(str(seed + n) for n in range(end)) for end in ends)
    return {f"member-{number}": one.encode() for number, one in enumerate(text)}


def ranges_read(seed: int, rows: int) -> list[Range]:
    """Return the ranges that are read of an archive, in this order."""
    draw, found = Random(seed), sorted(members(seed, rows).items())

    def drawn(name: str, data: bytes) -> Range:
        return Range(name, draw.randrange(len(data) + 1), draw.randrange(len(data) + 1))

    return [drawn(*draw.choice(found)) for _ in range(_READS)]


@lru_cache(maxsize=8)
def zip_file(seed: int, rows: int) -> bytes:
    """Return an archive, of which every other member is compressed."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number, (name, data) in enumerate(members(seed, rows).items()):
            method = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return file.getvalue()


def read_zip(file: Any, seed: int, rows: int) -> bool | str:
    """Return True if a file has the members of `zip_file`, else which one differs."""
    written = members(seed, rows)
    with zipfile.ZipFile(file) as archive:
        if archive.namelist() != [*written]:
            return "other members"
        for name, start, length in ranges_read(seed, rows):
            with archive.open(name) as member:
                member.seek(start)
                if member.read(length) != written[name][start : start + length]:
                    return f"{name}: other bytes from {start} on"
    return True


_Make: TypeAlias = Callable[[int, int], bytes]
_Read: TypeAlias = Callable[[Any, int, int], "bool | str"]
_FILES: dict[str, tuple[_Make, _Read]] = {
    "lib_parquet": (parquet_file, read_parquet),
    "lib_csv": (csv_file, read_csv),
    "lib_zip": (zip_file, read_zip),
}


# Source code ---------------------------------------------------------------------------------


class Wording(NamedTuple):
    """The way an API opens the path `name`, and writes the bytes `{data}` there, as source code.

    `raw` says that the opened file may be an `io.RawIOBase`, which is read through a buffer.
    """

    opening: str
    writing: str
    raw: bool = False


_BUFFERED = "file = BufferedReader(file) if isinstance(file, RawIOBase) else file"


#: The classes of io that scripts import if they name them.
_OF_IO = ("BufferedReader", "BytesIO", "RawIOBase")
#: The most characters of a line of a list.
_MOST_CHARACTERS = 92


def spell_reader(step: Step, wording: Wording) -> Call | None:
    """Return a step as calls of the library that reads; None if it is none."""
    spell = _SPELLINGS.get(step.op)
    if spell is None:
        return None
    spelled = spell(*step.args)
    before = (
        *spelled.written,
        f'name = path + "{_SUFFIXES[step.op]}"',
        wording.writing.format(data=spelled.data),
        f"file = {wording.opening}",
        *((_BUFFERED,) if wording.raw else ()),
        *spelled.read,
    )
    names = ", ".join(name for name in _OF_IO if any(name in line for line in before))
    imports = (*([f"from io import {names}"] if names else []), *spelled.imports)
    shown = f"{spelled.shown}({wording.opening.replace('name', 'path')})"
    equal = f"found == {spelled.expected}"
    return Call(equal, Form.EQUAL, before=before, imports=imports, shown=shown)


class _Spelling(NamedTuple):
    """The source code of a reader: `read` follows `written` and makes `found`."""

    written: tuple[str, ...]
    data: str
    read: tuple[str, ...]
    expected: str
    imports: tuple[str, ...]
    shown: str


def _table_text(seed: int, rows: int) -> tuple[str, ...]:
    return (
        f"numbers = [({seed} + row) * 7919 % 10007 for row in range({rows})]",
        'columns = {"number": numbers, "text": [f"{n:x}" * (n % 7) for n in numbers]}',
    )


def _spell_parquet(seed: int, rows: int) -> _Spelling:
    size = row_group(seed, rows)
    picks = [f"({group}, {literal(names)})" for group, names in row_groups_read(seed, rows)]
    return _Spelling(
        (
            *_table_text(seed, rows),
            f"parquet.write_table(table(columns), buffer := BytesIO(), row_group_size={size})",
        ),
        "buffer.getvalue()",
        (
            *_list("picks", picks),
            "opened = parquet.ParquetFile(file)",
            "found = [opened.read_row_group(*pick).to_pydict() for pick in picks]",
        ),
        f"[{{n: columns[n][{size} * g :][:{size}] for n in names}} for g, names in picks]",
        ("from pyarrow import parquet, table",),
        "parquet.ParquetFile",
    )


def _spell_csv(seed: int, rows: int) -> _Spelling:
    size, names = block_read(seed)
    return _Spelling(
        (
            *_table_text(seed, rows),
            "lines = [f'{number},\"{text}\"\\n' for number, text in zip(*columns.values())]",
        ),
        '"".join(["number,text\\n", *lines]).encode()',
        (
            f"options = csv.ReadOptions(block_size={size})",
            'types = {"number": int64(), "text": string()}',
            "converting = csv.ConvertOptions(column_types=types)",
            "opened = csv.open_csv(file, options, convert_options=converting)",
            f"names, everything = {literal(names)}, opened.read_all().to_pydict()",
            "found = {name: everything[name] for name in names}",
        ),
        "{name: columns[name] for name in names}",
        ("from pyarrow import csv, int64, string",),
        "csv.open_csv",
    )


def _spell_zip(seed: int, rows: int) -> _Spelling:
    counts = [len(data.split()) for data in members(seed, rows).values()]
    return _Spelling(
        (
            f"numbers = (map(str, range({seed}, {seed} + n)) for n in {counts})",
            'texts = {f"member-{i}": " ".join(one).encode() for i, one in enumerate(numbers)}',
            "buffer = BytesIO()",
            'with zipfile.ZipFile(buffer, "w") as archive:',
            "    for number, name in enumerate(texts):",
            "        archive.writestr(name, texts[name], 8 * (number % 2))",
        ),
        "buffer.getvalue()",
        (
            *_list("picks", map(literal, ranges_read(seed, rows))),
            "opened = [(zipfile.ZipFile(file).open(name), *place) for name, *place in picks]",
            "found = [(f.seek(start), f.read(count))[1] for f, start, count in opened]",
        ),
        "[texts[name][start : start + count] for name, start, count in picks]",
        ("import zipfile",),
        "zipfile.ZipFile",
    )


def _list(name: str, items: Iterable[str]) -> Iterator[str]:
    """Yield the statements that make a list, with as many items on a line as fit."""
    start, chosen = f"{name} = [", [*items]
    line = ", ".join(chosen[:1])
    for item in chosen[1:]:
        if len(start) + len(line) + len(item) > _MOST_CHARACTERS:
            yield f"{start}{line}]"
            start, line = f"{name} += [", item
        else:
            line = f"{line}, {item}"
    yield f"{start}{line}]"


_SPELLINGS: dict[str, Callable[[int, int], _Spelling]] = {
    "lib_parquet": _spell_parquet,
    "lib_csv": _spell_csv,
    "lib_zip": _spell_zip,
}
