"""Programs that ask a stream for capabilities: some that no stream has, and some that are tried."""

from __future__ import annotations

from fscontract.contract.generate.listed_calls import Call, expressible, program_of
from fscontract.contract.models.seek import NAMELESS
from fscontract.contract.program.program import Program

_LENGTH = 5
#: Each name with the calls that it promises.
_CLAIMS: tuple[tuple[str, tuple[Call, ...]], ...] = (
    ("in:unbuffer", (("unbuffer", ()), ("read_byte", ()))),
    ("in:readbytebuffer", (("read_buffer", (4, 0, None)),)),
    ("in:preadbytebuffer", (("pread_buffer", (1, 4, 0, None)),)),
    ("in:readvectored", (("read_vectored", (((1, 2),), "heap", "absent")),)),
)


def programs(operations: frozenset[str], only_length: int | None = None) -> list[Program]:
    """Return the programs, always in the same order."""
    if "has_capability" not in operations:
        return []
    length = _LENGTH if only_length is None else only_length
    made: list[list[Call]] = [[("has_capability", (name,))] for name in NAMELESS]
    for name, calls in _CLAIMS:
        made.append([("has_capability", (name,)), *calls, ("has_capability", (name.upper(),))])
    return list(expressible([program_of(length, calls) for calls in made], operations))
