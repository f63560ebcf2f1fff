"""Runs with few programs, for tests of what does not depend on their number."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fscontract.contract.concurrency.check import AMOUNTS
from fscontract.contract.generate import (
    boundaries,
    call_counts,
    call_sequences,
    fault_programs,
    large_numbers,
    open_programs,
    range_lists,
    sizes,
)
from fscontract.contract.program.program import Program

if TYPE_CHECKING:
    import pytest  # a command that runs few programs does without it

#: It divides no size of an alphabet, so that every call stays in every place.
_EVERY = 19
#: Of the small openings of a file, which are of many values, every seventh.
_EVERY_OPENING = 7
#: Of the programs with boundaries, numbers and sizes, every seventh.
_EVERY_FAR = 7


def run_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs at quick have fewer programs and schedules, in forked processes, too.

    All programs of one call remain, those that move back from the end, every 19th of the other
    ones, and every seventh of those far from the beginning of a file. The large file has 200 KiB,
    and no call is repeated more than 300 times.
    """
    rows = call_sequences.short_rows

    def few(*given: object) -> Iterator[call_sequences.Row]:
        moving: list[call_sequences.Row] = []
        others: list[call_sequences.Row] = []
        for row in rows(*given):  # type: ignore[arg-type]
            (moving if call_sequences.moves_back(row[1]) else others).append(row)
        yield from moving
        for number, row in enumerate(others):
            if len(row[1]) == 1 or number % _EVERY == 1:
                yield row

    openings = open_programs._small

    def few_openings(*given: object) -> Iterator[Program]:
        for number, program in enumerate(openings(*given)):  # type: ignore[arg-type]
            assert program.opening is not None
            if program.opening.scene != "file" or number % _EVERY_OPENING == 0:
                yield program

    for far in (boundaries, large_numbers, sizes):

        def some(*given: object, every: Any = far.programs) -> list[Program]:
            return list(islice(every(*given), 0, None, _EVERY_FAR))

        monkeypatch.setattr(far, "programs", some)

    changing = fault_programs.change_programs

    def fewer(*given: object) -> Iterator[Program]:
        return islice(changing(*given), 0, None, _EVERY)  # type: ignore[arg-type]

    monkeypatch.setattr(call_sequences, "short_rows", few)
    monkeypatch.setattr(open_programs, "_small", few_openings)
    monkeypatch.setattr(fault_programs, "change_programs", fewer)
    monkeypatch.setattr(sizes, "LARGE", 200_003)
    monkeypatch.setitem(call_counts.CALLS, "quick", (100, 300))
    monkeypatch.setitem(call_counts._FILES, "quick", 20)
    monkeypatch.setitem(call_sequences.RANDOM_PROGRAMS, "quick", 20)
    monkeypatch.setitem(call_sequences.REMOTE_PROGRAMS, "quick", 300)
    monkeypatch.setitem(open_programs.PROGRAMS, "quick", 200)
    monkeypatch.setitem(open_programs.LEAST_RANDOM, "quick", 20)
    monkeypatch.setitem(range_lists._COUNTS, "quick", (5, 129))
    amount = replace(AMOUNTS["quick"], singles=2, programs=2, schedules=2, rounds=1, calls=10)
    monkeypatch.setitem(AMOUNTS, "quick", amount)


def run_few_in_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the same in all Python processes that are started from now on."""
    directory = Path(__file__).with_name("few_commands")
    monkeypatch.setenv("PYTHONPATH", str(directory), prepend=os.pathsep)
