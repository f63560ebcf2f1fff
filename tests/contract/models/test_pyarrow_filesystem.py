"""Rules of the filesystems of PyArrow and their files."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.program.filesystem_calls import GZIPPED, OTHER
from fscontract.contract.program.outcome import Kind
from tests.contract.models.without_stream_calls import DATA, assert_judged_by, judged

_ONE, _SUB = ("one", "File", 14), ("sub", "Directory", None)
_BELOW_SUB = (
    *(("sub/a.b", "File", 5), ("sub/deep", "Directory", None), ("sub/deep/.three", "File", 1)),
    *(("sub/deep/a", "Directory", None), ("sub/deep/a/b", "Directory", None)),
    *(("sub/deep/a/b/c", "Directory", None), ("sub/deep/a/b/c/six", "File", 9)),
    *(("sub/empty", "File", 0), ("sub/two", "File", 10)),
)


@pytest.mark.parametrize(
    ("call", "right", "clause"),
    [
        (("pa_read_at", 1, 2), b"bc", "read-at.range"),
        (("pa_read_at", 4, 9), b"ef", "read-at.past-end"),
        (("pa_get_stream", 1, 2), b"bc", "get-stream.range"),
        (("pa_get_stream", 6, 1), b"", "get-stream.past-end"),
        (("pa_independent", 1, 3), b"bcd", "get-stream.independent"),
        (("pa_file_position",), b"b", "get-stream.file-position"),
        (("pa_read_buffer", 2, 2), b"cd", "read-buffer.data"),
        (("pa_read_buffer", 2, None), b"cdef", "read-buffer.rest"),
        (("pa_input_stream", 2, 0), DATA, "input-stream.data"),
        (("pa_input_stream", None, 7), DATA, "input-stream.buffered"),
        (("pa_compressed", "detect"), OTHER, "compression.detect"),
        (("pa_compressed", "gzip"), OTHER, "compression.gzip"),
        (("pa_compressed", "none"), GZIPPED, "compression.none"),
        (("pa_size",), 6, "size"),
        (("pa_metadata",), True, "metadata"),
        (("pa_info", "file", "type"), "File", "info.type"),
        (("pa_info", "other", "size"), len(OTHER), "info.size"),
        (("pa_info", "file", "base_name"), True, "info.base-name"),
        (("pa_info", "missing", "type"), "NotFound", "info.missing"),
        (("pa_infos", ("missing", "file")), (("NotFound", None), ("File", 6)), "info.list"),
        (("pa_directory",), "Directory", "info.directory"),
        (("pa_select", "entries"), (_ONE, _SUB), "select.entries"),
        (("pa_select", "all levels"), (_ONE, _SUB, *_BELOW_SUB), "select.recursive"),
        (("pa_select", "missing allowed"), (), "select.allow-not-found"),
        (("pa_select_again",), ("first", "second"), "select.entries"),
        (("pa_many", "selector"), (1050, 0), "select.entries"),
        (("pa_many", "paths"), (1050, 0), "info.list"),
        (("pa_named", "select", "words"), (("two words", "File", len(OTHER)),), "select.entries"),
        (("pa_named", "info", "percent"), ("100%25", "File", len(OTHER)), "info.path"),
        (("pa_named", "open_input_file", "plus"), OTHER, "read-at.range"),
        (("pa_named", "open_input_stream", "script"), OTHER, "input-stream.data"),
        (("pa_normalized",), DATA, "normalize-path"),
    ],
    ids=str,
)
def test_result_is_judged_by_the_clause_of_its_arguments(
    call: tuple[Any, ...], right: Any, clause: str
) -> None:
    assert_judged_by(f"arrow.{clause}", call, right)


def test_buffer_may_have_fewer_bytes_but_not_none() -> None:
    assert judged("pa_read_buffer", 2, 3, gives=b"c").failure is None
    assert judged("pa_read_buffer", 2, 3, gives=b"").failure is not None
    assert judged("pa_read_buffer", 6, 3, gives=b"").failure is None


def test_selector_of_missing_directory_raises_any_exception() -> None:
    assert judged("pa_select", "missing", raises=Kind.OTHER).failure is None
    failure = judged("pa_select", "missing", gives=()).failure
    assert failure is not None
    assert failure.clause == "arrow.select.missing"


def test_missing_file_raises_file_not_found() -> None:
    assert judged("pa_missing", "open_input_file", raises=Kind.NOT_FOUND).missed == ()
    assert judged("pa_missing", "open_input_file", gives=b"").missed == ("arrow.open.missing",)
