"""The log of requests to the fake store: a table, counts, and budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.program.fault_kinds import OPERATIONS
from fscontract.fakes.filesystem.requests import Request

#: The most requests that a table shows; it leaves out those in the middle.
MOST_ROWS = 40
_HEADING = ("", "operation", "path", "range", "at", "seconds", "outcome")
_NUMERIC = (0, 3, 4, 5)
#: The name of the budget for the requests of all operations.
TOTAL = "total"


class Requests(tuple[Request, ...]):
    """Requests to a store, the oldest first; their text is a table."""

    __slots__ = ()

    def __str__(self) -> str:
        return table(self)

    def counts(self) -> dict[str, int]:
        """Return the number of requests of each operation."""
        return dict(Counter(request.operation for request in self))

    def check(self, budgets: Mapping[str, int]) -> None:
        """Raise AssertionError if the number of requests of an operation is not the given one.

        Operations without a number may have any; "total" counts all. Raise
        IllegalArgumentException for an unknown operation.
        """
        _check_budgets(budgets)
        counts = self.counts()
        wrong = [
            f"{name}={counts.get(name, 0) if name != TOTAL else len(self)} (expected {number})"
            for name, number in budgets.items()
            if number != (counts.get(name, 0) if name != TOTAL else len(self))
        ]
        if wrong:
            raise AssertionError(f"requests: {', '.join(wrong)}\n{self}")


def table(requests: Iterable[Request]) -> str:
    """Return requests as a table, with times in seconds of the clock."""
    rows = [_row(number, request) for number, request in enumerate(requests, 1)]
    if not rows:
        return "no requests"
    left_out = len(rows) - MOST_ROWS
    shown = rows if left_out <= 0 else rows[: MOST_ROWS // 2] + rows[-MOST_ROWS // 2 :]
    widths = [max(len(row[i]) for row in (_HEADING, *shown)) for i in range(len(_HEADING))]
    lines = [_line(row, widths) for row in (_HEADING, *shown)]
    if left_out > 0:
        lines.insert(1 + MOST_ROWS // 2, f"... {left_out} requests left out")
    return "\n".join(lines)


def _row(number: int, request: Request) -> tuple[str, ...]:
    extent = ""
    if request.offset is not None and request.length is not None:
        extent = f"{request.offset}+{request.length}"
    path = request.path if request.path.isprintable() else ascii(request.path)[1:-1]
    times = f"{request.at:g}", f"{request.seconds:g}"
    return (str(number), request.operation, path, extent, *times, request.outcome)


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = (
        cell.rjust(width) if i in _NUMERIC else cell.ljust(width)
        for i, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(cells).rstrip()


def _check_budgets(budgets: Mapping[str, int]) -> None:
    known = (*OPERATIONS, TOTAL)
    if not budgets:
        raise IllegalArgumentException(f"expected a number for one of {', '.join(known)}")
    for name, number in budgets.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise IllegalArgumentException(
                f"unknown operation {name!r:.40}; allowed: {', '.join(known)}{meant}"
            )
        if type(number) is not int or number < 0:
            raise IllegalArgumentException(
                f"{name} must be a number of requests, got {number!r:.40}"
            )
