"""Rules of the operators of OpenDAL and the files that they open."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.stream_state import Judgement, opened
from fscontract.contract.program.outcome import Kind, Outcome, returned

_DATA = b"abcdef"


def _judged(op: str, *args: Any, gives: Any = None, raises: Kind | None = None) -> Judgement:
    outcome = returned(gives) if raises is None else Outcome(raises)
    return judge_all(op, args, (opened(_DATA),), frozenset({"opendal-operator"}), outcome)


@pytest.mark.parametrize(
    ("call", "right", "clause"),
    [
        (("od_read", None, None, "sync"), _DATA, "read.whole"),
        (("od_read", 2, None, "async"), b"cdef", "read.range"),
        (("od_read", None, 2, "sync"), b"ab", "read.range"),
        (("od_read", 4, 9, "sync"), b"ef", "read.past-end"),
        (("od_read", 6, None, "sync"), b"", "read.past-end"),
        (("od_file", 2, 2, "async"), b"cd", "file.data"),
        (("od_file", 2, None, "async"), b"cdef", "file.rest"),
        (("od_file", 9, 2, "sync"), b"", "file.past-end"),
        (("od_seek", 4, "sync"), 4, "file.position"),
        (("od_stat", "sync"), 6, "stat.length"),
        (("od_exists", "file", "sync"), True, "exists.file"),
        (("od_exists", "missing", "sync"), False, "exists.missing"),
    ],
    ids=str,
)
def test_result_is_judged_by_the_clause_of_its_arguments(
    call: tuple[Any, ...], right: Any, clause: str
) -> None:
    judged = _judged(*call, gives=right)
    assert (judged.exercised, judged.missed) == ((f"operator.{clause}",), ())
    wrong = _judged(*call, gives=b"x")
    charged = wrong.missed or (wrong.failure and wrong.failure.clause,)
    assert charged == (f"operator.{clause}",)


def test_read_of_a_missing_file_may_raise_anything() -> None:
    assert _judged("od_missing", "sync", raises=Kind.OTHER).missed == ()
    assert _judged("od_missing", "sync", gives=b"").missed == ("operator.read.missing",)


def test_file_may_return_fewer_bytes_and_raise_past_the_end() -> None:
    assert _judged("od_file", 2, 3, "sync", gives=b"c").failure is None
    assert _judged("od_file", 2, 3, "sync", gives=b"").failure is not None
    assert _judged("od_file", 9, 2, "sync", raises=Kind.OTHER).failure is None
