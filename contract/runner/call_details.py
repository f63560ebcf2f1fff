"""Details of calls without a stream, for signatures: what a call asks for, what it gets instead.

They are circumstances that tell failures of one clause apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from fscontract.contract.models.filesystem_rules import RAISED
from fscontract.contract.models.stream_state import Failure, State
from fscontract.contract.models.without_stream import right_values
from fscontract.contract.program.filesystem_calls import WITHOUT_STREAM
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import Step
from fscontract.contract.runner.result_relation import is_compared, is_named_by_arguments

_ASKED, _GOT = "asked for", "got"
#: A file of more bytes is long: the programs that need it read in several pieces, or requests.
_SHORT = 1024
#: The circumstance of a file that could not be shrunk to a short one.
LONG_FILE = "in a long file"
_DETAIL = re.compile(rf"({_ASKED}|{_GOT}) |{LONG_FILE}$")
#: Arguments that are numbers, or data.
_NUMBERS = frozenset({"begin", "end", "at", "count", "begins", "ends", "buffer", "seed", "rows"})
_NOT_WORDS = _NUMBERS | {"delimiter"}
#: The file of the program, and the word of an argument that is left out.
_ORDINARY = frozenset({"file", "default"})


def is_detail(circumstance: str) -> bool:
    """Return whether a circumstance is a detail of the call."""
    return _DETAIL.match(circumstance) is not None


def without_details(signature: str) -> str:
    """Return a signature without details."""
    return "; ".join(part for part in signature.split("; ") if not is_detail(part))


def kept_details(circumstances: Iterable[str]) -> tuple[str, ...]:
    """Return the details that stay the same while a program is shrunk: all but the long file."""
    return tuple(c for c in circumstances if is_detail(c) and c != LONG_FILE)


def details(step: Step, state: State, outcome: Outcome, failure: Failure) -> Iterator[str]:
    """Yield the details of a call; `step` has numbers for anchors.

    A call that must be rejected has none, its clause says what it asks for.
    """
    if step.op not in WITHOUT_STREAM or failure.aspect == "accepted":
        return
    right = next(iter(right_values(step, state)), None)
    if not is_named_by_arguments(step):
        asked = [*_extent(step, state.versions[-1], right), *_words(step)]
        yield from (f"{_ASKED} {', '.join(asked)}",) if asked else ()
    if not outcome.raised and not is_compared(step):
        difference = _difference(right, outcome.value)
        yield from (f"{_GOT} {difference}",) if difference else ()
    if state.longest > _SHORT:
        yield LONG_FILE


def _named(step: Step) -> dict[str, Any]:
    return dict(zip(WITHOUT_STREAM[step.op], step.args, strict=True))


def _words(step: Step) -> Iterator[str]:
    """Yield the words among the arguments: names of files, and options."""
    for name, value in _named(step).items():
        if name in _NOT_WORDS or ("begins" in WITHOUT_STREAM[step.op] and name == "paths"):
            continue
        if isinstance(value, tuple):
            yield f"a list of {len(value)}"
        elif isinstance(value, str) and value not in _ORDINARY:
            yield value if value.isprintable() and value else ascii(value)


def _extent(step: Step, data: Sequence[int], right: Any) -> Iterator[str]:
    """Yield which part of the file a call asks for, or which ranges."""
    arguments = _named(step)
    if "begins" in arguments:
        yield from _of_ranges(arguments)
    elif isinstance(right, bytes) and _NUMBERS & arguments.keys():
        yield _part(data, right)


def _part(data: Sequence[int], right: bytes) -> str:
    if not right:
        return "no bytes"
    if len(right) == len(data):
        return "all bytes"
    at_start, at_end = bytes(data[: len(right)]) == right, bytes(data[-len(right) :]) == right
    return "the start" if at_start else "the end" if at_end else "the middle"


def _of_ranges(arguments: dict[str, Any]) -> Iterator[str]:
    """Yield how ranges lie, unless there are numbers for all of them."""
    begins, ends, paths = arguments["begins"], arguments["ends"], arguments.get("paths", ())
    if not isinstance(begins, tuple) or not isinstance(ends, tuple):
        return
    ranges = [*zip(begins, ends, strict=False)]
    if len(set(paths)) > 1:
        yield "ranges of several files"
    elif len(ranges) == 1:
        yield "one range"
    elif len(set(ranges)) < len(ranges):
        yield "equal ranges"
    elif any(one > other for one, other in pairwise(begins)):
        yield "ranges in another order"
    elif any(end > begin for (_, end), (begin, _) in pairwise(ranges)):
        yield "ranges that overlap"
    elif ranges:
        yield "ranges in order"


def _difference(right: Any, value: Any) -> str:
    """Return how a result differs from the right one; "" if that is not known."""
    if isinstance(right, tuple) and isinstance(value, tuple):
        if len(right) != len(value):
            return "fewer results" if len(value) < len(right) else "more results"
        pairs = zip(right, value, strict=True)
        return next((_difference(*pair) for pair in pairs if pair[0] != pair[1]), "")
    if (right is RAISED) is not (value is RAISED):
        return "an exception" if value is RAISED else "no exception"
    for kind in (bytes, str):
        if isinstance(right, kind) and isinstance(value, kind):
            return _of_text(right, value)
    return ""


def _of_text(right: Any, value: Any) -> str:
    """Return how bytes or characters differ from the right ones."""
    if not value:
        return "nothing"
    if right.startswith(value) or right.endswith(value):
        return "too little"
    return "too much" if value.startswith(right) or value.endswith(right) else "other data"
