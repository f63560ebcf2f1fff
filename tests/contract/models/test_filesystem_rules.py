"""Tables of calls whose results do not depend on a stream."""

from __future__ import annotations

from typing import Any

from fscontract.contract.models.acceptor import judge_all
from fscontract.contract.models.filesystem_rules import (
    MISSING,
    Rule,
    RuleTable,
    operations,
    right_values,
)
from fscontract.contract.models.stream_state import Failure, opened
from fscontract.contract.models.transition_table import Accepted, Call
from fscontract.contract.program.outcome import Kind, Outcome, returned
from fscontract.contract.program.program import Step

_DATA = b"abc"


def _size(data: bytes) -> Rule:
    return Rule("filesystem.size", (len(data), None))


def _exists(data: bytes) -> Rule:
    return Rule("filesystem.exists.file", (True,))


def _head(data: bytes, count: int) -> Rule:
    return Rule("filesystem.head.past-end", (data[:count],), MISSING, should=True)


_TABLE: RuleTable = {
    "fs_size": (_size, ("filesystem.size",)),
    "fs_exists": (_exists, ("filesystem.exists.file",)),
    "fs_head": (_head, ("filesystem.head.past-end",)),
}


def _judged(op: str, outcome: Outcome, *args: Any, data: tuple[bytes, ...] = (_DATA,)) -> Any:
    state = opened(data[0])._replace(versions=data)
    call = Call(op, args, state, frozenset())
    (row,) = operations(_TABLE)[op].rows
    assert row.when(call)
    return row.accept(call, outcome)


def test_value_of_the_rule_is_right_and_another_fails_its_clause() -> None:
    assert isinstance(_judged("fs_size", returned(3)), Accepted)
    failed = _judged("fs_size", returned(4))
    assert isinstance(failed, Failure)
    assert (failed.clause, failed.aspect) == ("filesystem.size", "value")


def test_one_is_not_true() -> None:
    assert isinstance(_judged("fs_exists", returned(1)), Failure)
    assert isinstance(_judged("fs_exists", returned(True)), Accepted)


def test_wrong_result_of_an_optional_rule_is_missed() -> None:
    missed = _judged("fs_head", returned(b"x"), 2)
    assert missed.missed == ("filesystem.head.past-end",)
    assert _judged("fs_head", Outcome(Kind.NOT_FOUND), 2).missed == ()


def test_each_content_of_a_changed_file_is_right() -> None:
    for value in (3, 1):
        assert isinstance(_judged("fs_size", returned(value), data=(_DATA, b"x")), Accepted)


def test_right_values_are_those_of_the_rule() -> None:
    state = opened(_DATA)
    assert right_values(_TABLE, Step("fs_size"), state) == (3, None)
    assert right_values(_TABLE, Step("seek", (0,)), state) == ()


def test_acceptor_uses_the_tables_of_every_api() -> None:
    judged = judge_all("fs_size", (), (opened(_DATA),), frozenset(), returned(7))
    assert judged.failure is not None
