"""Programs as data: their JSON, their text, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from inline_snapshot import snapshot

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.faults import Fault, FaultPlan
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.program import OPERATIONS, Program, Step, resolve_step

RANGES = Step("read_vectored", (((0, "len-1"), None), "heap", "absent"))
PROGRAM = Program(
    5,
    (Step("seek", ("len-1",)), Step("read_byte", stream=1), RANGES),
    streams=2,
    opening=Opening("file", (("opt", "a.key", "1"),)),
    faults=FaultPlan((Fault("reset", 2),)),
)


def test_program_survives_json() -> None:
    assert Program.from_json(json.loads(PROGRAM.dumps())) == PROGRAM


def test_json_of_a_step_on_the_first_stream_is_a_list() -> None:
    assert Step("seek", (2,)).to_json() == ["seek", 2]
    assert Step("seek", (2,), 1).to_json() == {"stream": 1, "call": ["seek", 2]}


def test_program_is_dumped_as_one_line() -> None:
    assert "\n" not in PROGRAM.dumps()


def test_text_of_a_program_has_its_calls_in_order() -> None:
    program = Program(5, (Step("seek", ("len-1",)), Step("read_byte")))
    assert str(program) == "f = open(5 bytes); f.seek(len-1); f.read_byte()"


def test_text_of_a_program_has_its_faults_opening_and_streams() -> None:
    assert str(PROGRAM) == snapshot(
        "[reset at 2] f = open_file(5 bytes).opt('a.key', '1').build() x 2; f.seek(len-1); "
        "f.#1.read_byte(); f.read_vectored([[0, len-1], None], 'heap', 'absent')"
    )


def test_step_is_resolved_for_a_length_and_a_buffer() -> None:
    assert resolve_step(RANGES, 5, 64).args[0] == ((0, 4), None)


def test_other_steps_keep_file_and_streams() -> None:
    other = PROGRAM.with_steps((RANGES,))
    assert (other.steps, other.length, other.opening) == ((RANGES,), 5, PROGRAM.opening)


def _steps(*steps: Any) -> dict[str, Any]:
    return {"length": 5, "steps": list(steps)}


MESSAGES = {
    "not an object": [],
    "no steps": {"length": 5},
    "negative length": {"length": -1, "steps": []},
    "length that is a bool": {"length": True, "steps": []},
    "too many streams": {"length": 5, "streams": 257, "steps": []},
    "step that is no list": _steps("seek"),
    "unknown operation": _steps(["fly"]),
    "missing argument": _steps(["seek"]),
    "argument that is no number": _steps(["seek", "end"]),
    "buffer that is too large": _steps(["read_into", 1 << 27, 0, 1]),
    "ranges that are no pairs": _steps(["read_vectored", [[0]], "heap", "absent"]),
    "unknown allocator": _steps(["read_vectored", [], "stack", "absent"]),
    "unknown change": _steps(["change", "burn"]),
    "stream that is not opened": _steps({"stream": 1, "call": ["close"]}),
    "stream beyond the last": _steps({"stream": 256, "call": ["close"]}),
    "bad opening": {**_steps(), "open": {"file": "socket"}},
    "bad faults": {**_steps(), "faults": [{"kind": "oops"}]},
}


def message(data: Any) -> str:
    """Return why a program is refused."""
    with pytest.raises(ProgramError) as caught:
        Program.from_json(data)
    return str(caught.value)


@pytest.mark.parametrize("data", MESSAGES.values(), ids=MESSAGES)
def test_refusal_of_a_program_is_a_line_that_names_the_place(data: Any) -> None:
    assert message(data).startswith("program: ")
    assert message(data).isprintable()


def test_refusals_of_programs_say_what_is_allowed() -> None:
    known = ", ".join(OPERATIONS)
    found = {name: message(data).replace(known, "OPERATIONS") for name, data in MESSAGES.items()}
    assert found == snapshot(
        {
            "not an object": "program: expected an object with length and steps",
            "no steps": "program: expected an object with length and steps",
            "negative length": "program: length must be 0 to 8589934592, got -1",
            "length that is a bool": "program: length must be 0 to 8589934592, got True",
            "too many streams": "program: streams must be 1 to 256, got 257",
            "step that is no list": "program: step 1: expected a list such as ['seek', 0]",
            "unknown operation": "program: step 1: unknown operation 'fly'; known: OPERATIONS",
            "missing argument": "program: step 1: seek takes position; got 0 arguments",
            "argument that is no number": (
                "program: step 1: seek position: expected a whole number "
                "or an anchor like 'len-1', got 'end'"
            ),
            "buffer that is too large": (
                "program: step 1: read_into size: expected at most 67108864 bytes, got 134217728"
            ),
            "ranges that are no pairs": (
                "program: step 1: read_vectored ranges: expected a list of "
                "[offset, length] pairs, got ((0,),)"
            ),
            "unknown allocator": (
                "program: step 1: read_vectored allocate: expected "
                "heap or view or null, got 'stack'"
            ),
            "unknown change": (
                "program: step 1: change how: expected overwrite or "
                "truncate or append or delete or replace, got 'burn'"
            ),
            "stream that is not opened": "program: unknown stream in a step",
            "stream beyond the last": "program: step 1: stream must be 0 to 255, got 256",
            "bad opening": (
                "program: open: file must be file or late or missing or directory or unreadable "
                "or foreign, got 'socket'"
            ),
            "bad faults": (
                "program: fault 1: unknown kind 'oops'; known: short, slow, "
                "reset, timeout, throttle, cut-body, corrupt, "
                "range, precondition, change, cut, delete, revoke, descriptors, hang, stall, "
                "jitter, rate-limit, expired, quota, partial-write, lost-ack"
            ),
        }
    )


def test_a_program_of_many_calls_shows_the_first_and_the_last_ones() -> None:
    text = str(Program(5, tuple(Step("seek", (n,)) for n in range(1_000))))
    assert text.startswith("f = open(5 bytes); f.seek(0); f.seek(1);")
    assert "f.seek(29); ... 940 more calls ...; f.seek(970)" in text
    assert text.endswith("f.seek(999)")
