"""Programs of one call of a filesystem or object store that reads without an opened stream."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from random import Random

from fscontract.contract.program.arguments import Argument
from fscontract.contract.program.content import SparseContent, content
from fscontract.contract.program.filesystem_calls import (
    AGAIN,
    ARROW_LISTERS,
    ASKED,
    BLOCKS,
    CACHES,
    CALLERS,
    CODECS,
    COPIES,
    EXPANDED,
    FIRST_READS,
    GLOBS,
    LISTERS,
    LISTINGS,
    MATCHED,
    MAX_SEED,
    NAMED,
    PICKLED,
    READER_OPERATIONS,
    SEARCHES,
    SELECTORS,
    SPACES,
    TIMES,
    WALKS,
    WITHOUT_STREAM,
    ZARR_OPERATIONS,
    others_of,
)
from fscontract.contract.program.program import Program, Step

#: Lengths of the files: few bytes, so that limits coincide; no byte; and some hundred.
_MAIN, _EMPTY, _LONG = 5, 0, 300
#: The length of a file that is copied or read in several pieces, with a part of a piece at its end.
_PIECES = (1 << 16) + 4099
#: The length of a file of more than one request of a client that asks for a mebibyte at a time.
_REQUESTS = (1 << 20) + 4099
#: The length of a file of more than one block of fsspec's caches.
_BLOCKS_OF_CACHE = (5 << 20) + 4099
#: Where a search for a delimiter may begin a new piece, counted from the start of the file.
_ENDS_OF_PIECES = (64, 256, 512, 1024, 4096, 8192, 1 << 15, 1 << 16)
_LIMITS: tuple[Argument, ...] = (None, 0, 2, "len-1", "len", "len+2", -1, -3)
_FEW_LIMITS: tuple[Argument, ...] = (None, 0, "len", "len+1", -1)
#: Of each list of ranges: paths, begins and ends.
_RANGES: tuple[tuple[tuple[str, ...], Argument, Argument], ...] = (
    ((), (), ()),
    (("file",), (0,), ("len",)),
    (("file", "file"), (3, 0), (4, 2)),
    (("file", "file", "file"), (1, 1, 0), (3, 3, 1)),
    (("file", "file"), (0, 2), (2, 4)),
    (("file", "file"), (0, 1), (4, 3)),
    (("file", "file"), 1, 3),
    (("file", "file"), 0, (1, "len")),
    (("file", "file"), (1, 3), (1, 4)),
    (("other", "rewritten", "file"), (0, 2, 1), (3, 9, 4)),
    (("file", "other", "file"), (2, 5, 0), (4, 9, 2)),
    (("file", "other"), 1, 3),
    (("file", "file"), (0, 3), (2, "len+3")),
    (("file", "file"), ("len", 0), ("len+2", 1)),
    (("file", "file"), (-2, 0), ("len", -1)),
    (("file", "file"), (3, 0), (1, 2)),
)
_BROKEN_RANGES = ("file", "missing", "file"), (0, 0, 2), (2, 2, 4)
#: Limits of coroutines, which mostly are also those of the calls that wait for them.
_AWAITED_LIMITS: tuple[tuple[Argument, Argument], ...] = (
    *((0, 2), (1, 1), (2, "len"), (None, 3), (2, None), (None, 0), (-2, None), (0, -2)),
    *((-_MAIN, None), (0, -99), (2, "len+2"), ("len", None), (3, 1)),
)
#: The sizes of the files of other libraries: of one block of a small cache, and of several.
_ROWS = (1, 40, 900, 2000)
#: The sizes of arrays, each of which has several files.
_ARRAY_ROWS = (40, 2000)
_NEWLINES = (None, "", "\n", "\r", "\r\n")


def programs(
    operations: frozenset[str],
    remote: bool = False,
    fixed: bytes | None = None,
    seed: int = 0,
) -> list[Program]:
    """Return programs of one call each, most of them, fewer if `remote`.

    `fixed` is the content of the only file. `seed` chooses the files of other libraries.
    """
    if not operations & WITHOUT_STREAM.keys():
        return []
    lengths = (_MAIN, _EMPTY, _LONG) if fixed is None else (len(fixed),)
    others = _of_properties if remote else _of_another_length
    calls: list[tuple[int, tuple[Step, ...]]] = []
    calls += [(lengths[0], (step,)) for step in _steps(lengths[0], fixed)]
    calls += [(length, (step,)) for length in lengths[1:] for step in others(length)]
    calls += [(lengths[-1], (step,)) for step in _of_caches()]
    calls += [(_EMPTY, (step,)) for step in _of_names(remote) if fixed is None]
    if fixed is None:  # the directory of a fixed file may not be listed, such as one of a server
        calls += [(length, (Step("fs_entry"),)) for length in lengths]
        calls += [(_PIECES, (step,)) for step in _in_pieces(_PIECES)]
        calls += [(_PIECES, _blocks_in_pieces(_PIECES, remote)), (_PIECES, _IN_SHORT)]
        long = tuple(step for step in _in_requests(remote) if step.op in operations)
        calls += [(_REQUESTS, long)] * bool(long)
        whole = tuple(step for step in _WHOLE if step.op in operations and not remote)
        calls += [(_BLOCKS_OF_CACHE, whole)] * bool(whole)
        calls += [(_REQUESTS, (step,)) for step in _of_stores_in_requests(remote)]
        calls += [(_EMPTY, (step,)) for step in _of_readers(seed, remote)]
    return _each_operation_first(
        Program(length, steps)
        for length, steps in calls
        if all(s.op in operations and (fixed is None or not others_of(s.args)) for s in steps)
    )


def _each_operation_first(made: Iterable[Program]) -> list[Program]:
    """Return one program of each operation, then the others: a run may end before those."""
    first: dict[str, Program] = {}
    rest = [p for p in dict.fromkeys(made) if first.setdefault(p.steps[0].op, p) is not p]
    return [*first.values(), *rest]


def _steps(length: int, fixed: bytes | None) -> Iterator[Step]:
    """Yield the calls on the first file."""
    yield from _limits(length, _LIMITS)
    yield from _blocks(content(length) if fixed is None else fixed)
    yield from _ends((0, 1, 3, "len", "len+4"))
    yield from _of_properties(length)
    yield from _texts()
    yield from _once()
    yield from _awaited_once()
    yield from _of_chains()
    yield from _copies()
    yield from _listings()
    yield from _opened()
    yield from _of_stores()


def _of_readers(seed: int, remote: bool) -> Iterator[Step]:
    """Yield the reads of each format, of the largest file alone if `remote`.

    One of the largest file is the same with every seed.
    """
    draw = Random(seed)
    for sizes, operations in ((_ROWS, READER_OPERATIONS), (_ARRAY_ROWS, ZARR_OPERATIONS)):
        yield from (Step(op, (0, sizes[-1])) for op in operations)
        for rows, op in itertools.product(sizes[-1:] if remote else sizes, operations):
            yield Step(op, (draw.randrange(MAX_SEED), rows))


def _of_chains() -> Iterator[Step]:
    yield from (Step(f"fs_chain_first_{method}") for method in FIRST_READS)
    for change in ("same size", "longer", "shorter"):
        for how in ("checked", "unchecked", "expired"):
            yield Step(f"fs_chain_{how}", (change,))
    yield Step("fs_chain_deleted")
    yield Step("fs_chain_threads")
    yield Step("fs_chain_cache_threads")
    yield Step("fs_chain_directory")


def _copies() -> Iterator[Step]:
    """Yield the calls of `get`."""
    yield from (Step("fs_get", (copied,)) for copied in COPIES)
    yield Step("fs_get_file_again")
    yield Step("fs_get_missing")
    yield Step("fs_get_missing_leaves")


def _listings() -> Iterator[Step]:
    """Yield the calls that list a directory, or tell its kind."""
    for op, names in _LISTING.items():
        yield from (Step(op, (name,)) for name in names)
    yield Step("fs_cat_tree")


#: The arguments of the calls that list a directory.
_LISTING: dict[str, Iterable[str]] = {
    "fs_ls": LISTINGS,
    "fs_find": SEARCHES,
    "fs_glob": MATCHED,
    "fs_glob_with": GLOBS,
    "fs_walk": WALKS,
    "fs_du": SPACES,
    "fs_directory": ("isdir", "isfile", "info"),
    "fs_expand": EXPANDED,
    "fs_listed_again": AGAIN,
    "fs_time": TIMES,
}


def _of_names(remote: bool) -> Iterator[Step]:
    """Yield calls of files with unusual names, and listings of many, which `remote` has not."""
    for name in ("mixed",) if remote else NAMED:
        yield from (Step("fs_named", (caller, name)) for caller in CALLERS)
        yield from (Step("pa_named", (asked, name)) for asked in ASKED)
    if not remote:
        yield from (Step("fs_many", (lister,)) for lister in LISTERS)
        yield from (Step("pa_many", (lister,)) for lister in ARROW_LISTERS)


def _of_caches() -> Iterator[Step]:
    """Yield an open with each cache and block size."""
    for choice in itertools.product(CACHES, BLOCKS):
        yield Step("fs_open_cached", choice)


def _opened() -> Iterator[Step]:
    """Yield reads of compressed files, and of files that are opened by their URLs."""
    for opener in ("fs.open", "OpenFile"):
        yield from (Step("fs_decompress", (one, "named", opener, "parts")) for one in CODECS)
        yield from (Step("fs_decompress", (one, "infer", opener, "all")) for one in CODECS)
        yield Step("fs_decompress", ("gzip", "infer", opener, "text"))
    for paths in ("file", ("other", "file"), "glob"):
        yield Step("fs_open_urls", (paths,))


def _awaited_once() -> Iterator[Step]:
    """Yield the coroutines that are awaited with one file."""
    for limits in _AWAITED_LIMITS:
        yield Step("fs_async_cat_file", limits)
    for ranges in _RANGES:
        yield Step("fs_async_cat_ranges", (*ranges, "default"))
    for how in ("return", "raise"):
        yield Step("fs_async_cat_ranges", (*_BROKEN_RANGES, how))
    yield Step("fs_async_cat_missing")
    yield Step("fs_async_cat", ("glob", "raise"))
    yield Step("fs_async_cat", (("other", "file"), "default"))
    for how in ("raise", "return", "omit"):
        yield Step("fs_async_cat", (("file", "missing"), how))
    yield from (Step("fs_async_read", (count,)) for count in (2, "len-1", "len+2"))
    yield from (Step("fs_async_seek", (at,)) for at in (0, 2, "len", -2))
    yield Step("fs_async_closed")


def _of_another_length(length: int) -> Iterator[Step]:
    yield from _limits(length, _FEW_LIMITS)
    yield from _blocks(content(length))
    yield from _ends((1, "len+4"))
    yield from _of_properties(length)
    yield from _texts()
    yield Step("fs_get", ("file",))


def _in_pieces(length: int) -> Iterator[Step]:
    """Yield calls on the greater part of a long file."""
    yield Step("fs_cat_file", (1, -1))
    yield Step("fs_cat_ranges", (("file",) * 2, (9, 0), ("len", "len-1"), "default"))
    yield from _ends((length - 3, length // 2))
    yield Step("fs_async_cat_file", (1, "len-1"))
    yield from (Step("fs_async_read", (count,)) for count in (None, 1000, 4096))
    yield from (Step("fs_async_seek", (at,)) for at in (4096, length // 2))
    yield from _of_stores_on_all()


def _in_requests(remote: bool) -> Iterator[Step]:
    """Yield calls of fsspec on the whole of a longer file, few if `remote`."""
    yield Step("fs_cat_file", (1, None))
    yield Step("fs_cat", (("file",), "default"))
    yield Step("fs_get_file", ("file",))
    yield Step("fs_get", ("file",))
    yield from _of_sizes()
    yield Step("fs_entry")
    if not remote:
        yield Step("fs_cat_file", (None, None))
        yield Step("fs_cat_file", (None, "len-1"))
        yield Step("fs_async_cat_file", (None, None))
        yield Step("fs_async_read", (None,))


def _of_stores_in_requests(remote: bool) -> Iterator[Step]:
    """Yield calls of other APIs on the whole of a longer file, one of each API if `remote`."""
    if remote:
        yield Step("pa_get_stream", (0, "len"))
        yield from (Step(op, (None, None, "sync")) for op in ("ob_get", "od_read"))
    else:
        yield from _of_stores_on_all()


#: Calls that do what others do, or leave out an argument, one of lines, and one of many ranges;
#: one program makes all.
_IN_SHORT = (
    *(Step("fs_read_bytes", limits) for limits in ((0, 9), (1, None), (None, None))),
    *(Step("fs_head", (None,)), Step("fs_tail", (None,))),
    *(Step("fs_text", ("other", "read_text", "utf-8", "strict", end)) for end in (None, "")),
    Step("fs_text", ("file", "read_text", "latin-1", "strict", None)),
    Step("fs_text", ("file", "lines", "latin-1", "strict", None)),
    Step(
        "fs_cat_ranges", (("other", "file") * 20, (2, 1, 0, 1) * 10, (3, 4, 2, 5) * 10, "default")
    ),
)


#: Calls on the whole of a file of several blocks; one program makes all of them.
_WHOLE = (
    *(Step("fs_cat_file", (1, None)), Step("fs_get_file", ("file",)), Step("fs_tail", (9,))),
    *(Step("fs_size"), Step("pa_read_at", (1, "len-1")), Step("pa_input_stream", (None, 0))),
    Step("pa_size"),
)


def _blocks_in_pieces(length: int, remote: bool) -> tuple[Step, ...]:
    """Return reads of blocks of a long file, with delimiters at ends of pieces, few if `remote`."""
    data = content(length)
    blocks: list[tuple[Argument, ...]] = [(7, length - 9, "")]
    blocks.append((length // 2, length // 4, data[2:3].hex()))
    for end in () if remote else _ENDS_OF_PIECES:
        blocks.append((1, None, data[end - 1 : end + 3].hex()))
    return tuple(Step("fs_read_block", block) for block in blocks)


def _limits(length: int, limits: tuple[Argument, ...]) -> Iterator[Step]:
    for pair in (*itertools.product((*limits, -length - 4), repeat=2), (-length, None)):
        yield Step("fs_cat_file", pair)


def _ends(counts: tuple[Argument, ...]) -> Iterator[Step]:
    for count in counts:
        yield from (Step("fs_head", (count,)), Step("fs_tail", (count,)))


def _texts() -> Iterator[Step]:
    for way in ("read", "lines"):
        yield Step("fs_text", ("file", way, "latin-1", "strict", None))
        yield Step("fs_text", ("file", way, "utf-8", "replace", ""))
        yield Step("fs_text", ("file", way, "utf-8", "strict", "\n"))


def _once() -> Iterator[Step]:
    """Yield the calls that are made with one file."""
    yield from (Step("fs_cat_ranges", (*ranges, "default")) for ranges in _RANGES)
    yield from (Step("fs_cat_ranges", (*_BROKEN_RANGES, how)) for how in ("return", "raise"))
    yield Step("fs_cat_file_positional", (0, 2))
    yield Step("fs_cat_missing")
    yield Step("fs_cat", ("glob", "raise"))
    yield Step("fs_cat", (("other", "file"), "raise"))
    yield Step("fs_cat", (("file", "file"), "default"))
    for how in ("default", "raise", "return", "omit"):
        yield Step("fs_cat", (("file", "missing", "other"), how))
        yield Step("fs_cat", (("file", "missing"), how))
    yield from (Step("fs_get_file", (path,)) for path in ("other", "missing"))
    yield Step("fs_get_leaves")
    yield from (Step("fs_exists", (path,)) for path in ("created", "missing", "prefix"))
    yield from (Step("fs_isfile", (path,)) for path in ("created", "missing"))
    yield Step("fs_sizes", (("other", "rewritten", "file") * 4,))
    yield Step("fs_checksum")
    yield from (Step("fs_ukey", (how,)) for how in ("same", "changed"))
    for what in PICKLED:
        yield from (Step(op, (what,)) for op in ("fs_pickle", "fs_other_process"))
    for way, newline in itertools.product(("read", "lines"), _NEWLINES):
        yield Step("fs_text", ("other", way, "utf-8", "strict", newline))
    yield Step("fs_text", ("file", "read", "utf-16", "ignore", None))


def _of_properties(_length: int) -> Iterator[Step]:
    """Yield the calls on the whole file."""
    yield Step("fs_cat_file", (None, None))
    yield Step("fs_cat", ("file", "default"))
    yield Step("fs_cat", (("file",), "default"))
    yield Step("fs_get_file", ("file",))
    yield from (Step("fs_info", (key,)) for key in ("name", "type"))
    yield from _of_sizes()
    yield Step("fs_exists", ("file",))
    yield Step("fs_isfile", ("file",))
    yield Step("fs_async_cat_file", (None, None))
    yield Step("fs_async_cat", ("file", "default"))
    yield from (Step("fs_async_info", (key,)) for key in ("name", "size", "type"))
    yield Step("fs_async_read", (None,))
    yield from _of_stores_on_all()


def _of_sizes() -> Iterator[Step]:
    yield Step("fs_info", ("size",))
    yield Step("fs_size")
    yield Step("fs_sizes", (("file",) * 12,))


def _blocks(data: bytes) -> Iterator[Step]:
    """Yield reads of blocks: without a delimiter, and with bytes of the file as delimiters."""
    starts, counts = (0, 1, "len-1", "len"), (None, 0, 2, "len", "len+1")
    for at, count in itertools.product(starts if data else (0,), counts):
        yield Step("fs_read_block", (at, count, ""))
    yield Step("fs_read_block", ("len+2", 1, ""))
    if isinstance(data, SparseContent) or len(data) < _MAIN:
        return
    near = data[2:3], data[2:4], data[len(data) * 2 // 3 :][:1], b"\x00"
    for delimiter in dict.fromkeys(near):
        for at, count in ((0, 2), (0, None), (1, 1), (1, 3), (2, "len"), (3, 1), (0, 0), (1, None)):
            yield Step("fs_read_block", (at, count, delimiter.hex()))


#: Offsets and counts of reads; the last ones extend past the end of the file.
_SEGMENTS = ((0, "len"), (0, 2), (2, 2), (1, 0), ("len-1", 1), (2, "len"), ("len", 2))


#: Limits of a range in an object, of an empty one, and of some that extend past its end.
_STORE_LIMITS = ((0, 2), (1, "len-1"), (0, "len"), (2, "len+3"), (2, 2), ("len+1", "len+3"))
#: Starts and ends of several ranges.
_STORE_RANGES = (((3, 0), (4, 2)), ((0, 0, 1), (2, 2, 3)), ((), ()))
_WAITS = ("sync", "async")


def _of_stores() -> Iterator[Step]:
    """Yield the calls on one file."""
    yield from _of_arrow()
    for waits in _WAITS:
        yield from _of_obstore(waits)
        yield from _of_opendal(waits)


def _of_stores_on_all() -> Iterator[Step]:
    """Yield the calls on the whole file."""
    yield Step("pa_read_at", (0, "len"))
    yield Step("pa_get_stream", (0, "len"))
    yield Step("pa_size")
    yield Step("pa_metadata")
    yield from (Step("pa_input_stream", (None, buffer)) for buffer in (0, 7))
    for field in ("type", "size", "path", "base_name"):
        yield Step("pa_info", ("file", field))
    for waits in _WAITS:
        yield Step("ob_get", (None, None, waits))
        yield Step("ob_stream", (7, waits))
        yield Step("ob_head", (waits,))
        yield Step("ob_reader", (0, None, waits))
        yield Step("ob_reader_size", (waits,))
        yield Step("od_read", (None, None, waits))
        yield Step("od_file", (0, None, waits))
        yield Step("od_stat", (waits,))


def _of_arrow() -> Iterator[Step]:
    for segment in _SEGMENTS:
        yield Step("pa_read_at", segment)
        yield Step("pa_get_stream", segment)
        yield Step("pa_read_buffer", segment)
    yield Step("pa_independent", (1, 3))
    yield Step("pa_file_position")
    yield Step("pa_read_buffer", (2, None))
    yield from (Step("pa_input_stream", (2, buffer)) for buffer in (0, 3))
    yield from (Step("pa_compressed", (how,)) for how in ("detect", "gzip", "none"))
    yield from (Step("pa_missing", (how,)) for how in ("open_input_file", "open_input_stream"))
    yield from (Step("pa_info", (path, "type")) for path in ("missing", "prefix"))
    yield Step("pa_info", ("rewritten", "size"))
    yield Step("pa_infos", (("other", "missing", "file"),))
    yield Step("pa_infos", (("file",),))
    yield Step("pa_directory")
    yield from (Step("pa_select", (selected,)) for selected in SELECTORS)
    yield Step("pa_select_again")
    yield Step("pa_normalized")


def _of_obstore(waits: str) -> Iterator[Step]:
    for begin, end in _STORE_LIMITS:
        yield Step("ob_get", (begin, end, waits))
        yield from (Step("ob_get_range", (begin, end, how, waits)) for how in ("end", "length"))
    yield Step("ob_get", (2, None, waits))
    yield from (Step("ob_get_suffix", (count, waits)) for count in (2, "len+4"))
    for part in ("range", "size"):
        for limits in ((None, None), (1, 3), (2, "len+3")):
            yield Step("ob_get_result", (*limits, part, waits))
    yield Step("ob_stream", (1, waits))
    for begins, ends in _STORE_RANGES:
        for given in ("end", "length", "apart"):
            yield Step("ob_get_ranges", (begins, ends, given, waits))
    yield Step("ob_get_ranges", ((0, 2), (2, "len+3"), "end", waits))
    for method in ("get", "head", "get_range", "open_reader"):
        yield Step("ob_missing", (method, waits))
    yield from (Step("ob_reader", (at, 2, waits)) for at in (0, 2, "len"))
    yield Step("ob_reader", (1, None, waits))


def _of_opendal(waits: str) -> Iterator[Step]:
    for at, count in ((0, 2), (2, 2), (1, 0), (2, None), (2, "len"), ("len", None)):
        yield Step("od_read", (at, count, waits))
    yield Step("od_missing", (waits,))
    for at, count in ((0, 2), (2, 2), ("len", 2), ("len+3", 2), (1, None)):
        yield Step("od_file", (at, count, waits))
    yield from (Step("od_seek", (at, waits)) for at in (0, 2, "len"))
    yield from (Step("od_exists", (path, waits)) for path in ("file", "missing", "prefix"))
