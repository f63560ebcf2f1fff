"""Details tell two bugs of one call of a filesystem apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem

import fscontract
from fscontract.contract.models.stream_state import Failure, opened
from fscontract.contract.program.content import content
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step
from fscontract.contract.runner.call_details import (
    LONG_FILE,
    details,
    is_detail,
    kept_details,
    without_details,
)
from fscontract.contract.spec.known_failures import load_known, save_known, write_known

_DATA = content(9)
_ALL, _START = Step("fs_cat_file", (None, None)), Step("fs_cat_file", (0, 4))
_END, _MIDDLE = Step("fs_cat_file", (4, None)), Step("fs_cat_file", (2, 5))
_FAILURE = Failure("filesystem.cat-file.range", "", "value")


def _details(step: Step, value: Any, data: bytes = _DATA) -> list[str]:
    return [*details(step, opened(data), returned(value), _FAILURE)]


def _ranges(begins: Any, ends: Any, paths: tuple[str, ...] = ()) -> Step:
    paths = paths or ("file",) * (len(begins) if isinstance(begins, tuple) else 2)
    return Step("fs_cat_ranges", (paths, begins, ends, "default"))


@pytest.mark.parametrize(
    ("step", "asked"),
    [
        (_ALL, "all bytes"),
        (_START, "the start"),
        (_END, "the end"),
        (_MIDDLE, "the middle"),
        (Step("fs_cat_file", (3, 3)), "no bytes"),
        (Step("fs_cat_file", (0, 99)), "all bytes"),
        (Step("pa_read_at", (4, 5)), "the end"),
        (Step("ob_get_range", (0, 4, "length", "sync")), "the start, length, sync"),
        (Step("fs_head", (3,)), "the start"),
        (Step("fs_read_block", (2, 3, "")), "the middle"),
        (_ranges((1,), (2,)), "one range"),
        (_ranges((1, 1), (2, 2)), "equal ranges"),
        (_ranges((3, 0), (4, 1)), "ranges in another order"),
        (_ranges((0, 1), (3, 4)), "ranges that overlap"),
        (_ranges((0, 3), (2, 4)), "ranges in order"),
        (_ranges((0, 3), (2, 4), ("file", "other")), "ranges of several files"),
        (_ranges(1, 3), None),
        (Step("fs_cat", (("file", "other"), "omit")), "a list of 2, omit"),
        (Step("fs_get", ("file into directory",)), "file into directory"),
        (
            Step("fs_text", ("other", "read", "utf-8", "strict", "\n")),
            r"other, read, utf-8, strict, '\n'",
        ),
        (Step("fs_read_block", (0, None, "0a")), "all bytes"),
        (Step("fs_open_cached", ("first", "4 KiB")), "first, 4 KiB"),
        (Step("fs_size"), None),
        (Step("fs_ls", ("names",)), None),
        (Step("pread", (0, 1, 0, 1)), None),
    ],
    ids=str,
)
def test_a_call_is_named_by_what_it_asks_for(step: Step, asked: str | None) -> None:
    found = [*details(step, opened(_DATA), Outcome(Kind.IO), _FAILURE)]
    assert found == ([] if asked is None else [f"asked for {asked}"])


@pytest.mark.parametrize(
    ("step", "value", "got"),
    [
        (_START, b"", "nothing"),
        (_START, _DATA[:3], "too little"),
        (_START, _DATA[:5], "too much"),
        (_START, _DATA[3::-1], "other data"),
        (_START, None, None),
        (_ranges((1,), (2,)), (), "fewer results"),
        (_ranges((1,), (2,)), (_DATA[1:2],) * 2, "more results"),
        (_ranges((1, 3), (2, 6)), (_DATA[1:2], _DATA[3:5]), "too little"),
        (_ranges((1,), (2,)), (True,), "an exception"),
        (_ranges((0, 0), (1, 1), ("file", "missing")), (_DATA[:1], b""), "no exception"),
        (Step("fs_get", ("file",)), (("copy", _DATA + b"!"),), "too much"),
        (Step("fs_size"), 3, None),
    ],
    ids=str,
)
def test_a_result_is_named_by_its_difference(step: Step, value: Any, got: str | None) -> None:
    found = [detail for detail in _details(step, value) if detail.startswith("got")]
    assert found == ([] if got is None else [f"got {got}"])


def test_an_accepted_call_has_no_details() -> None:
    failure = Failure("filesystem.cat-file.missing", "", "accepted")
    assert not [*details(Step("fs_cat_missing"), opened(b""), returned(b"x"), failure)]


def test_a_long_file_is_a_detail_that_shrinking_removes() -> None:
    found = _details(_ALL, b"", content(2000))
    assert found == ["asked for all bytes", "got nothing", LONG_FILE]
    assert kept_details(["after close", *found]) == ("asked for all bytes", "got nothing")
    assert not is_detail("after close")


def test_a_signature_without_details_has_the_other_circumstances() -> None:
    signature = "fs_cat_file: returned; a negative end; asked for the end; got nothing"
    assert without_details(signature) == "fs_cat_file: returned; a negative end"


class _Files(MemoryFileSystem):  # type: ignore[misc]
    """A filesystem that returns other bytes for the parts of files that `cut` names."""

    cachable = False
    cut: tuple[str, ...] = ()

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        """Return a range; its last byte is lost in some parts of a file."""
        data: bytes = super().cat_file(path)
        part = data[start:end]
        inside = start is not None and end is not None and 0 < start < end
        ends = inside and end == len(data)
        is_cut = len(part) > 1 and ("end" if ends else "middle" if inside else "") in self.cut
        return part[:-1] if is_cut else part


def _check(known: Path, seed: int, *cut: str) -> fscontract.RunResult:
    class Cut(_Files):
        pass

    Cut.cut = cut
    given = known if known.exists() else None
    return fscontract.check(Cut, clauses="filesystem.cat-file.range", seed=seed, known=given)


def test_a_known_failure_of_a_part_does_not_hide_that_of_another_part(tmp_path: Path) -> None:
    known = tmp_path / "known.yaml"
    write_known(known, _check(known, 0, "middle"), "reason")
    assert [_check(known, seed, "middle").exit_code for seed in (1, 2)] == [0, 0]
    assert _check(known, 1, "middle", "end").exit_code == 1


def test_an_entry_without_details_covers_each_part(tmp_path: Path) -> None:
    known = tmp_path / "known.yaml"
    write_known(known, _check(known, 0, "middle"), "reason")
    (entry, *_) = load_known(known)
    old = type(entry)(entry.clause, "reason", without_details(entry.signature))
    save_known(known, (old,))
    assert old.signature == "fs_cat_file: returned"
    assert _check(known, 1, "middle", "end").exit_code == 0
