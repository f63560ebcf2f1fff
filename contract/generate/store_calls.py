"""Calls of PyArrow's filesystems and of object stores that need no opened stream."""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.program.program import Step

#: Offsets and counts of reads; the last ones extend past the end of the file.
_SEGMENTS = ((0, "len"), (0, 2), (2, 2), (1, 0), ("len-1", 1), (2, "len"), ("len", 2))


#: Limits of a range in an object, of an empty one, and of some that extend past its end.
_LIMITS = ((0, 2), (1, "len-1"), (0, "len"), (2, "len+3"), (2, 2), ("len+1", "len+3"))
#: Starts and ends of several ranges.
_RANGES = (((3, 0), (4, 2)), ((0, 0, 1), (2, 2, 3)), ((), ()))
_WAITS = ("sync", "async")


def steps() -> Iterator[Step]:
    """Yield the calls on one file."""
    yield from _of_arrow()
    for waits in _WAITS:
        yield from _of_obstore(waits)
        yield from _of_opendal(waits)


def steps_on_all() -> Iterator[Step]:
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


def _of_obstore(waits: str) -> Iterator[Step]:
    for begin, end in _LIMITS:
        yield Step("ob_get", (begin, end, waits))
        yield from (Step("ob_get_range", (begin, end, how, waits)) for how in ("end", "length"))
    yield Step("ob_get", (2, None, waits))
    yield from (Step("ob_get_suffix", (count, waits)) for count in (2, "len+4"))
    for part in ("range", "size"):
        for limits in ((None, None), (1, 3), (2, "len+3")):
            yield Step("ob_get_result", (*limits, part, waits))
    yield Step("ob_stream", (1, waits))
    for begins, ends in _RANGES:
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
