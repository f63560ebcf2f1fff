"""Unusual paths as JSON."""

from __future__ import annotations

import pytest

from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.opened_path import LONGEST_NAME, OpenedPath
from fscontract.contract.program.program import Program


@pytest.mark.parametrize("at", [OpenedPath("missing"), OpenedPath("named", "a b%20#\u00e9")])
def test_path_of_a_program_round_trips(at: OpenedPath) -> None:
    program = Program(5, (), at=at)
    assert Program.from_json(program.to_json()) == program
    assert str(at) in str(program)


@pytest.mark.parametrize(
    "name",
    ["..", ".", "a/b", "a\\b", "a:b", "a\0", "\ud800", "n" * (LONGEST_NAME + 1)],
    ids=ascii,
)
def test_name_is_one_harmless_element_of_a_path(name: str) -> None:
    with pytest.raises(ProgramError, match="at: invalid name"):
        OpenedPath.from_json({"kind": "named", "name": name})


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("missing", "kind must be missing or"),
        ({"kind": "lost"}, "kind must be missing or"),
        ({"kind": "named"}, "name is required"),
        ({"kind": "missing", "name": "x"}, "name is required"),
        ({"kind": "named", "name": 7}, "invalid name"),
    ],
)
def test_invalid_path_is_one_line(data: object, says: str) -> None:
    with pytest.raises(ProgramError, match=says):
        OpenedPath.from_json(data)


def test_path_excludes_a_builder_and_several_streams() -> None:
    data = Program(5, (), at=OpenedPath("missing")).to_json()
    others: tuple[dict[str, object], ...] = ({"open": {"calls": []}}, {"streams": 2})
    for more in others:
        with pytest.raises(ProgramError, match="at excludes open, faults and several streams"):
            Program.from_json({**data, **more})


@pytest.mark.parametrize(
    ("name", "neighbour"),
    [
        ("a ", "a"),
        ("a%20b ", "a b "),
        ("a#b", "a"),
        ("a?b#c", "a"),
        ("#a", ""),
        ("a", ""),
        (" ", ""),
    ],
    ids=repr,
)
def test_neighbour_is_another_name_that_differs_in_what_a_filesystem_may_lose(
    name: str, neighbour: str
) -> None:
    assert OpenedPath("named", name).neighbour == neighbour
