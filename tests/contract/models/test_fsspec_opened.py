"""Rules of files that fsspec opens with options, or by URL."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.fsspec_opened import cached_reads
from fscontract.contract.models.stream_state import Judgement, opened
from fscontract.contract.program.filesystem_calls import OTHER
from fscontract.contract.program.outcome import Kind, Outcome, returned

_DATA = bytes(range(200))
_FEATURES = frozenset({"fsspec-filesystem", "supports-seek"})


def _judged(op: str, *args: Any, gives: Any = None, raises: Kind | None = None) -> Judgement:
    outcome = returned(gives) if raises is None else Outcome(raises)
    return judge_all(op, args, (opened(_DATA),), _FEATURES, outcome)


def test_each_cache_reads_the_bytes_of_the_file() -> None:
    right = _DATA[:1], _DATA[196:198], _DATA[1:4], _DATA[60:150], _DATA
    asked = "fs_open_cached", "mmap", "48 bytes"
    assert _judged(*asked, gives=right).exercised == ("filesystem.open.cache-type",)
    assert _judged(*asked, gives=(*right[:4], _DATA[:192])).failure is not None
    assert _judged(*asked, raises=Kind.IO).failure is not None


def test_ranges_of_a_short_file_end_with_it() -> None:
    assert cached_reads(b"ab") == (b"a", b"ab", b"b", b"", b"ab")


@pytest.mark.parametrize(
    ("args", "clause"),
    [
        (("bz2", "named", "fs.open", "parts"), "open.named"),
        (("xz", "infer", "fs.open", "all"), "open.infer"),
        (("gzip", "named", "OpenFile", "parts"), "open-file.named"),
        (("gzip", "infer", "OpenFile", "all"), "open-file.infer"),
    ],
)
def test_compressed_files_have_the_decompressed_bytes(args: tuple[str, ...], clause: str) -> None:
    name = f"filesystem.decompress.{clause}"
    assert _judged("fs_decompress", *args, gives=OTHER).exercised == (name,)
    failure = _judged("fs_decompress", *args, gives=OTHER[:-1]).failure
    assert failure is not None
    assert failure.clause == name


@pytest.mark.parametrize(("opener", "clause"), [("fs.open", "open"), ("OpenFile", "open-file")])
def test_text_of_compressed_files_is_decoded(opener: str, clause: str) -> None:
    asked = "fs_decompress", "gzip", "infer", opener, "text"
    right = _judged(*asked, gives=OTHER.decode())
    assert right.exercised == (f"filesystem.decompress.{clause}.text",)
    assert _judged(*asked, gives=OTHER).failure is not None
    assert _judged(*asked, raises=Kind.ILLEGAL_ARGUMENT).failure is not None


@pytest.mark.parametrize(
    ("paths", "clause", "contents"),
    [
        ("file", "one", (_DATA,)),
        (("other", "file"), "list", (OTHER, _DATA)),
        ("glob", "glob", (OTHER,)),
    ],
)
def test_files_of_urls_are_in_the_order_of_the_urls(
    paths: Any, clause: str, contents: tuple[bytes, ...]
) -> None:
    right = _judged("fs_open_urls", paths, gives=contents)
    assert right.exercised == (f"filesystem.open-files.{clause}",)
    for wrong in ((*contents, b""), (*contents[1:], b"x")):
        assert _judged("fs_open_urls", paths, gives=wrong).failure is not None
