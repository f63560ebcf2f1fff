"""Signatures tell failures apart, and stay the same for the same failure."""

from __future__ import annotations

import pytest

from fscontract.contract.models.stream_state import Failure, Origin, State
from fscontract.contract.program.content import content
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.outcome import FILL, Kind, Outcome, returned
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.execution import Violation
from fscontract.contract.runner.signature import (
    AT_END,
    calls_before,
    circumstances,
    relation,
    signature,
    traits,
    words,
)

DATA = bytes(range(10, 30))
DATA_FAILURE = Failure("demo.data", "", "data")
ACCEPTED = Failure("demo.refused", "", "accepted")


def _state(pos: int = 4, **more: object) -> State:
    state = State(pos, True, Origin("open"), (DATA,))
    return state._replace(**more)  # type: ignore[arg-type]


def _read(data: bytes, size: int = 4) -> Outcome:
    return returned(len(data), data + bytes([FILL]) * (size - len(data)))


def _range(data: bytes) -> Outcome:
    return returned(len(data), data)


RANGES = Step("read_vectored", (((2, 2), (8, 2)), "heap", "absent"))
BEYOND = Step("read_vectored", (((2, 2), (19, 2)), "heap", "absent"))
READ = Step("read_into", (4, 0, 4))


@pytest.mark.parametrize(
    ("step", "outcome", "expected"),
    [
        (READ, _read(DATA[4:8]), ""),
        (READ, _read(DATA[2:6]), "too early"),
        (READ, _read(DATA[6:10]), "too late"),
        (READ, _read(bytes(4)), "zeros"),
        (READ, _read(bytes([FILL]) * 4), "buffer not filled"),
        (READ, _read(b"zzzz"), "bytes not in the file"),
        (READ, Outcome(Kind.OTHER, detail="got 4 of 2 bytes"), "got N of N bytes"),
        (READ, _read(DATA[4:6] + b"zz"), "wrong after the first byte"),
        (READ, returned(0, bytes([FILL]) * 4), "no bytes"),
        (READ, returned(-1, bytes([FILL]) * 4), "end of file"),
        (READ, returned(-2, bytes([FILL]) * 4), "negative count"),
        (READ, returned(9, DATA[4:8]), "more than asked for"),
        (RANGES, returned((_range(DATA[2:4]), Outcome(Kind.NOT_FOUND))), "a range raises IO"),
        (RANGES, returned((returned(None), _range(DATA[8:10]))), "a range without data"),
        (RANGES, returned((_range(DATA[2:3]), _range(b""))), "a range of another length"),
        (RANGES, returned((_range(DATA[2:5]), _range(DATA[6:8]))), "too early"),
        (BEYOND, returned((_range(DATA[2:4]), _range(b"zz"))), "a range past the end"),
        (BEYOND, returned((_range(DATA[2:4]), Outcome(Kind.EOF))), ""),
        (Step("read_byte"), returned(DATA[3]), "too early"),
        (Step("read_byte"), returned(0), "zeros"),
        (Step("get_pos"), returned(3), "too early"),
        (Step("get_pos"), returned(5), "too late"),
        (Step("get_pos"), returned(-1), "negative"),
        (Step("get_pos"), returned("4"), "a str"),
        (Step("py_seek", (2, 1)), returned(5), "too early"),
        (Step("py_seek", (-2, 2)), returned(18), ""),
        (Step("py_read", (4,)), returned(DATA[6:10]), "too late"),
        (Step("py_read", (4,)), returned(b""), "no bytes"),
        (Step("py_readlines", (None,)), returned(()), "no bytes"),
        (Step("py_readlines", (None,)), returned(("text",)), ""),
        (Step("py_readlines", (None,)), returned((b"",)), "no bytes"),
        (Step("py_readlines", (None,)), returned((DATA[4:], b"")), "an empty line"),
        (Step("py_iterate"), returned((DATA[4:], b"")), "an empty line"),
        (Step("py_next"), returned(None), "no bytes"),
        (Step("read_fully_all", (8, 0)), returned(None, b""), ""),
        (Step("pread", (8, 4, 0, 4)), _read(DATA[4:8]), "too early"),
        (Step("pread", (18, 4, 0, 4)), _read(DATA[18:] + b"zz"), "past the end of the file"),
        (Step("read_fully_all", (8, 4)), returned(None, DATA[9:13]), "too late"),
        (Step("pread_buffer", (8, 6, 1, 5)), returned((4, 5, 5), b"\1" + bytes(4)), "zeros"),
        (Step("available"), returned(-3), "negative"),
        (RANGES, returned((_range(DATA[2:4]), _range(DATA[9:11]))), "too late"),
        (RANGES, returned((_range(DATA[2:4]), _range(DATA[8:10]))), ""),
        (Step("seek", (3,)), Outcome(Kind.IO, detail="OSError: no"), ""),
        (Step("seek", (3,)), Outcome(Kind.OTHER, detail="KeyError: 'x'"), "KeyError"),
    ],
)
def test_a_relation_says_how_an_outcome_differs_from_the_right_one(
    step: Step, outcome: Outcome, expected: str
) -> None:
    assert expected in relation(step, _state(), outcome, DATA_FAILURE).split(", ")


@pytest.mark.parametrize("value", [5, 120, 250, 255])
def test_a_single_wrong_byte_of_a_long_file_has_the_same_relation_wherever_it_occurs(
    value: int,
) -> None:
    """It is chance if the byte occurs before the position, after it, or nowhere."""
    data = content(300).replace(b"\xff", b"\xfe")
    wrong = bytes([value if value != data[4] else value + 1])
    found = relation(Step("read_byte"), _state(versions=(data,)), returned(wrong[0]), DATA_FAILURE)
    assert found == "wrong byte"


@pytest.mark.parametrize(
    ("length", "value", "expected"), [(300, 0, "zeros"), (200, content(200)[0], "too early")]
)
def test_a_single_byte_that_tells_where_it_is_from_has_the_relation_of_that(
    length: int, value: int, expected: str
) -> None:
    state = _state(versions=(content(length),))
    assert relation(Step("read_byte"), state, returned(value), DATA_FAILURE) == expected


@pytest.mark.parametrize(
    ("args", "more", "expected"),
    [
        ((18, 4, 1, 4), {}, "despite the end of the file"),
        ((25, 4, 1, 4), {}, "despite the end of the file"),
        ((17, 4, 1, 4), {}, "into too little space"),
        ((20, 4, 4, 1), {}, "into too little space"),
        ((17, 4, 1, 3), {}, ""),
        ((-1, 40, 1, 40), {}, ""),
        ((18, None, 1, 4), {}, ""),
        ((18, 4, 1, 4), {"is_open": False}, ""),
    ],
)
def test_a_read_into_too_little_space_is_apart_if_its_part_that_fits_is_past_the_end(
    args: tuple[int | None, ...], more: dict[str, bool], expected: str
) -> None:
    """Even a read that only takes the part that fits has to raise."""
    assert relation(Step("read_fully", args), _state(**more), returned(None), ACCEPTED) == expected


def test_a_call_that_had_to_be_refused_has_no_relation() -> None:
    assert relation(READ, _state(), _read(bytes(4)), ACCEPTED) == ""


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (_state(), []),
        (_state(20), [AT_END]),
        (_state(14), ["beyond the first buffer"]),
        (_state(is_open=False), ["after close"]),
        (_state(origin=Origin("seek", failed=True)), ["after a failed call"]),
        (_state(changed=True), ["after a change of the file"]),
        (_state(-1), []),
    ],
)
def test_circumstances_name_what_is_particular_about_a_state(
    state: State, expected: list[str]
) -> None:
    assert list(circumstances(state, 16, READ, DATA_FAILURE)) == expected


def test_a_line_is_beyond_the_buffer_if_its_limit_is() -> None:
    within, past = Step("py_readline", (2,)), Step("py_readline", (3,))
    assert list(circumstances(_state(14), 16, within, DATA_FAILURE)) == []
    assert list(circumstances(_state(14), 16, past, DATA_FAILURE)) == ["beyond the first buffer"]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (Step("read_into", (6, 2, 4)), ["at an offset in the buffer"]),
        (Step("read_buffer", (6, 2, None)), ["at an offset in the buffer"]),
        (Step("py_seek", (2, 0)), []),
        (RANGES, ["several ranges"]),
        (Step("read_vectored", (((2, 2),), "heap", "absent")), []),
        (Step("fs_cat_file", (None, -1)), ["a negative end"]),
        (Step("fs_cat_file", (-2, -1)), ["a negative begin"]),
        (Step("fs_cat_file", (0, 2)), []),
    ],
    ids=str,
)
def test_circumstances_name_what_is_particular_about_the_arguments(
    step: Step, expected: list[str]
) -> None:
    assert list(circumstances(_state(), 0, step, DATA_FAILURE)) == expected


def test_calls_before_are_named_once_without_those_that_only_set_the_position() -> None:
    steps = (Step("skip", (1,)), Step("unbuffer"), Step("unbuffer"), Step("close"), READ)
    assert list(calls_before(Program(5, steps), 1, 4)) == ["away from the start", "after unbuffer"]


def test_calls_before_name_another_stream_and_the_options_of_an_open() -> None:
    steps = (Step("unbuffer", stream=1), READ)
    opening = Opening("late", (("opt_long", "key", 5), ("with_file_status", "own", None)))
    program = Program(5, steps, 2, opening)
    assert list(calls_before(program, 0, 1)) == [
        "open of late",
        "key",
        "status own",
        "after unbuffer",
        "after a call on another stream",
    ]


def _violation(**more: object) -> Violation:
    steps = (Step("unbuffer"), READ)
    fields: dict[str, object] = {"relation": "too late", **more}
    return Violation(Program(5, steps), 1, READ, _read(DATA[6:10]), DATA_FAILURE, **fields)  # type: ignore[arg-type]


def test_a_signature_has_the_call_how_it_ended_and_the_circumstances() -> None:
    text = signature(
        _violation(), "demo.data", ["after a failed call"], is_displaced=False, approach=0
    )
    assert text == "read_into: returned too late; after a failed call; after unbuffer"


@pytest.mark.parametrize(
    ("outcome", "relation", "text"),
    [
        (returned("member-2: other bytes"), "", "not as written"),
        (Outcome(Kind.OTHER), "BadZipFile", "not as written"),
        (Outcome(Kind.IO), "", "not as written"),
        (Outcome(Kind.OTHER), "AttributeError", "OTHER AttributeError"),
        (Outcome(Kind.UNSUPPORTED), "", "UNSUPPORTED"),
    ],
)
def test_wrong_bytes_of_a_reader_have_one_signature_whichever_exception_they_cause(
    outcome: Outcome, relation: str, text: str
) -> None:
    step = Step("lib_zip", (0, 9))
    found = Violation(Program(0, (step,)), 0, step, outcome, DATA_FAILURE, relation=relation)
    name = signature(found, "demo.data", (), is_displaced=False, approach=0)
    assert name == f"lib_zip: {text}"


def test_a_stream_that_is_elsewhere_has_the_same_signature_whichever_call_noticed() -> None:
    told = Violation(
        Program(5, (Step("unbuffer"), Step("get_pos"))),
        1,
        Step("get_pos"),
        returned(9),
        DATA_FAILURE,
        relation="too late",
    )
    texts = {
        signature(v, "demo.seek", (), is_displaced=True, approach=0) for v in (told, _violation())
    }
    assert texts == {"position: too late; after unbuffer"}


@pytest.mark.parametrize("where", [(), (AT_END,), ("beyond the first buffer",)])
def test_streams_that_share_a_position_have_one_signature_wherever_that_shows(
    where: tuple[str, ...],
) -> None:
    program = Program(5, (Step("seek", (3,), 1), READ), 2)
    shown = Violation(program, 1, READ, _read(DATA[6:10]), DATA_FAILURE, relation="too late")
    text = signature(shown, "open.independent", where, is_displaced=False, approach=0)
    assert text == "position: elsewhere; after a call on another stream"


def test_a_failure_of_an_earlier_call_goes_by_that_whichever_call_shows_it() -> None:
    assert _of_close("value") == {"later call: value; after close"}


def test_a_closed_stream_that_works_fails_by_each_call_that_it_accepts() -> None:
    accepted = {"later call read_into: accepted", "later call get_pos: accepted"}
    assert _of_close("accepted") == {f"{call}; after close" for call in accepted}


def _of_close(aspect: str) -> set[str]:
    """Return the signatures of two calls on a closed stream."""
    caused = Failure("demo.data", "close.state", aspect)
    violations = [
        Violation(Program(5, (Step("close"), step)), 1, step, _read(DATA[6:10]), caused)
        for step in (READ, Step("get_pos"))
    ]
    return {
        signature(v, "close.state", ["after close"], is_displaced=False, approach=0)
        for v in violations
    }


def test_reads_that_end_early_share_a_trait_however_they_say_it() -> None:
    """By the end of the file, an exception, no bytes or no line."""
    ends = [
        (READ, returned(-1, bytes([FILL]) * 4), "end of file"),
        (Step("read_fully", (0, 4, 0, 4)), Outcome(Kind.EOF), ""),
        (Step("py_read", (4,)), returned(b""), "no bytes"),
        (Step("py_readlines", (None,)), returned([b"a", b""]), ""),
        (Step("py_next"), returned(None), ""),
        (RANGES, returned((_range(DATA[2:4]), Outcome(Kind.EOF))), ""),
    ]
    found = [
        traits(Violation(Program(5, (step,)), 0, step, outcome, DATA_FAILURE, relation=how), "x")
        for step, outcome, how in ends
    ]
    assert set.intersection(*map(set, found)) == {"read: ends early"}


def test_wrong_bytes_share_a_trait_wherever_they_are_and_whichever_call_returns_them() -> None:
    """A call without a stream has none of the relations of a stream's read."""
    calls = [
        (READ, returned(DATA[3]), "too early"),
        (Step("py_read", (4,)), returned(b"abcd"), "bytes not in the file"),
        (Step("fs_head", (4,)), returned(b"abcd"), ""),
        (Step("fs_cat", (("file",), "raise")), returned((("file", b"ab"),)), ""),
        (Step("lib_zip", (1, 5)), Outcome(Kind.OTHER), ""),
    ]
    found = [
        traits(Violation(Program(5, (step,)), 0, step, outcome, DATA_FAILURE, relation=how), "x")
        for step, outcome, how in calls
    ]
    assert set.intersection(*map(set, found)) == {"read: wrong bytes"}


def _traits_of(aspect: str, *steps: Step, how: str = "x", outcome: Outcome) -> set[str]:
    """Return the traits of the failure of the last call."""
    last = len(steps) - 1
    failure = Failure("demo.data", "", aspect)
    return {*traits(Violation(Program(5, steps), last, steps[-1], outcome, failure), how)}


def test_a_call_that_had_to_be_refused_shares_no_trait_with_wrong_bytes_of_the_same_call() -> None:
    accepted = _traits_of("accepted", READ, outcome=returned(0, b""))
    assert accepted == {"read_into accepted"}
    assert not accepted & _traits_of("data", READ, outcome=_read(b"zzzz"))


def test_missing_methods_share_a_trait_unless_they_are_those_of_none() -> None:
    calls = [
        (
            Step("py_readinto", ("B", 1)),
            "AttributeError: 'Reader' object has no attribute 'readinto'",
        ),
        (Step("py_readable"), "AttributeError: R object has no attribute 'readable'"),
        (Step("py_next"), "TypeError: 'R' object is not iterable"),
    ]
    found = [_traits_of("raised", s, outcome=Outcome(Kind.OTHER, detail=text)) for s, text in calls]
    assert set.intersection(*found) == {"lacks methods"}
    closed = "AttributeError: 'NoneType' object has no attribute 'read'"
    of_none = _traits_of("raised", READ, outcome=Outcome(Kind.OTHER, detail=closed))
    assert "lacks methods" not in of_none


def test_a_missing_method_of_a_closed_file_shares_no_trait_with_one_that_works_there() -> None:
    text = "AttributeError: 'Reader' object has no attribute 'readinto'"
    lacks = _traits_of(
        "raised",
        Step("close"),
        Step("py_readinto", ("B", 1)),
        outcome=Outcome(Kind.OTHER, detail=text),
    )
    tells = _traits_of("accepted", Step("close"), Step("py_tell"), outcome=returned(0))
    assert lacks
    assert not lacks & tells


def test_a_with_block_that_leaves_the_file_open_shares_a_trait_with_a_close_that_does() -> None:
    left = _traits_of("value", Step("py_with"), outcome=returned(False))
    closed = _traits_of("value", Step("close"), Step("py_closed"), outcome=returned(False))
    assert left & closed == {"after close"}


def test_a_file_that_is_closed_too_early_shares_a_trait_with_calls_that_say_so() -> None:
    closed = _traits_of("value", Step("py_closed"), outcome=returned(True))
    refused = Outcome(Kind.ILLEGAL_ARGUMENT, detail="ValueError: I/O operation on closed file.")
    said = _traits_of("raised", Step("py_with"), outcome=refused)
    assert closed & said == {"closed early"}
    after = _traits_of("raised", Step("close"), Step("py_tell"), outcome=refused)
    assert "closed early" not in after
    other = Outcome(Kind.ILLEGAL_ARGUMENT, detail="ValueError: the enclosed offset is wrong")
    assert "closed early" not in _traits_of("raised", READ, outcome=other)


@pytest.mark.parametrize(("step", "is_shared"), [(READ, True), (Step("get_pos"), False)])
def test_reads_with_a_status_share_a_trait_with_a_status_of_another_length(
    step: Step, is_shared: bool
) -> None:
    opening = Opening("file", (("with_file_status", "stale", None),))
    program = Program(5, (step,), opening=opening)
    violation = Violation(program, 0, step, _read(b"zzzz"), DATA_FAILURE)
    found = traits(violation, "read_into: returned; status stale")
    assert ("status" in found) is is_shared


def test_right_bytes_are_no_early_end_of_a_read_that_writes_beside_them() -> None:
    written = _traits_of("data", READ, outcome=_read(DATA[4:8]))
    assert written == {"read_into returned"}
    assert "read: ends early" in _traits_of("end", READ, outcome=_read(DATA[4:6]))


@pytest.mark.parametrize(
    ("before", "how", "is_shared"),
    [
        (READ, "position: too late", True),
        (READ, "position: too late; after a failed call", False),
        (Step("pread", (0, 4, 0, 4)), "position: moved", False),
    ],
)
def test_a_wrong_position_shares_a_trait_with_the_read_before_it_if_that_may_move(
    before: Step, how: str, is_shared: bool
) -> None:
    moved = _traits_of("moved", before, Step("get_pos"), how=how, outcome=returned(9))
    assert moved >= {"position"}
    assert (f"{before.op} returned" in moved) is is_shared


def test_a_file_that_is_opened_after_it_was_deleted_shares_a_trait_with_a_missing_one() -> None:
    deleted, changed = Step("change", ("delete",)), Step("change", ("truncate",))
    end = returned(-1, b"")
    missing = _traits_of("accepted", deleted, Step("reopen"), READ, outcome=end)
    assert "open of missing" in missing
    assert missing & _traits_of("accepted", READ, how="x; open of missing", outcome=end)
    shorter = _traits_of("accepted", deleted, changed, Step("reopen"), READ, outcome=end)
    assert "open of missing" not in shorter


def test_a_wrong_size_has_no_trait_of_wrong_bytes() -> None:
    size = Violation(Program(5, (Step("fs_size"),)), 0, Step("fs_size"), returned(6), DATA_FAILURE)
    assert traits(size, "x") == ("fs_size returned",)


def test_gets_of_a_missing_file_share_a_trait_with_each_other_alone() -> None:
    tree, one = Step("fs_get_missing"), Step("fs_get_file", ("missing",))
    asked = [_traits_of("accepted", step, outcome=returned(False)) for step in (tree, one)]
    assert asked[0] & asked[1]
    there = _traits_of("accepted", Step("fs_get_file", ("file",)), outcome=returned(False))
    assert not asked[0] & there


@pytest.mark.parametrize(
    ("clause", "is_early"), [("pread.full", True), ("pread.pos-unchanged", False)]
)
def test_a_read_of_fewer_bytes_than_it_could_return_ends_early(clause: str, is_early: bool) -> None:
    step, failure = Step("pread", (0, 8, 0, 5)), Failure(clause, "", "value")
    short = Violation(Program(5, (step,)), 0, step, _read(DATA[:4], 8), failure)
    assert ("read: ends early" in traits(short, "pread: returned")) is is_early


def test_where_a_stream_stands_is_no_trait_of_a_failure() -> None:
    found = traits(
        _violation(), "read_into: returned too late; away from the start; after unbuffer"
    )
    assert found == ("after unbuffer", "read: wrong bytes", "read_into returned")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("seek: returned", {"returned"}),
        (
            "seek: OTHER ValueError; after close",
            {"OTHER", "raised", "ValueError"},
        ),
        ("read_into: returned too early, zeros", {"returned", "too early", "zeros"}),
        ("read_byte: EOF; at the end of the file", {"EOF", "raised"}),
        ("later call: value; after close", {"value"}),
        ("position: elsewhere; after a call on another stream", {"elsewhere"}),
        ("scenario: split.cover; files; KeyError", {"raised"}),
        ("scenario: split.cover; files; blocks", set()),
    ],
)
def test_words_of_a_signature_are_its_outcome_and_relations(text: str, found: set[str]) -> None:
    assert found <= words(text)
    assert ("raised" in words(text)) == ("raised" in found)
