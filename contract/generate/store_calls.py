"""Calls of PyArrow's filesystems and of object stores that need no opened stream."""

from __future__ import annotations

from collections.abc import Iterator

from fscontract.contract.program.program import Step

#: Offsets and counts of reads; the last ones extend past the end of the file.
_SEGMENTS = ((0, "len"), (0, 2), (2, 2), (1, 0), ("len-1", 1), (2, "len"), ("len", 2))


def steps() -> Iterator[Step]:
    """Yield the calls on one file."""
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
    yield Step("pa_info", ("missing", "type"))
    yield Step("pa_infos", (("other", "missing", "file"),))
    yield Step("pa_infos", (("file",),))


def steps_on_all() -> Iterator[Step]:
    """Yield the calls on the whole file."""
    yield Step("pa_read_at", (0, "len"))
    yield Step("pa_get_stream", (0, "len"))
    yield Step("pa_size")
    yield Step("pa_metadata")
    yield from (Step("pa_input_stream", (None, buffer)) for buffer in (0, 7))
    for field in ("type", "size", "path", "base_name"):
        yield Step("pa_info", ("file", field))
