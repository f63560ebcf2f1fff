"""Find the earlier programs that a failure needs, if streams or opens of a target share state.

Such a failure shows in a run, but its program alone passes in a new process. Programs that ran
before it are put before it again, and left out one after the other. Each attempt is a new process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias, TypeVar

from fscontract.contract.program.program import Program, Step

Programs: TypeAlias = tuple[Program, ...]
_Part = TypeVar("_Part")
#: The maximum of attempts for one failure.
_ATTEMPTS = 40


def needed_before(
    program: Program,
    history: Sequence[Program],
    fails: Callable[[Programs], bool],
    is_over: Callable[[], bool] = lambda: False,
    likely: Iterable[Programs] = (),
) -> Programs | None:
    """Return the fewest programs found after which `program` fails; None if it never does.

    `history` are the programs that ran before it, the last one last; `likely` are those that other
    failures need. `fails` runs programs in a new process, and returns whether the last of them
    fails. Looking for fewer programs ends early once `is_over` returns True.
    """
    if fails((program,)):
        return ()
    attempts = _ATTEMPTS

    def still_fails(before: Programs) -> bool:
        nonlocal attempts
        attempts -= 1
        return attempts >= 0 and not is_over() and fails((*before, program))

    for before in likely:
        if still_fails(before):
            return before
    found = _last_needed(tuple(history), still_fails)
    return None if found is None else _with_fewer_calls(_fewer(found, still_fails), still_fails)


def _last_needed(history: Programs, fails: Callable[[Programs], bool]) -> Programs | None:
    """Return the shortest of the ends of the history, by doubling, after which it fails."""
    size = 1
    while size < 2 * len(history):
        if fails(history[-size:]):
            return history[-size:]
        size *= 2
    return None


def _fewer(
    parts: tuple[_Part, ...], fails: Callable[[tuple[_Part, ...]], bool]
) -> tuple[_Part, ...]:
    """Return the parts without those that do not matter: first halves, at last single ones."""
    size = max(1, len(parts) // 2)
    while size:
        start = 0
        while start < len(parts):
            rest = parts[:start] + parts[start + size :]
            if rest and fails(rest):
                parts = rest
            else:
                start += size
        size //= 2
    return parts


def _with_fewer_calls(before: Programs, fails: Callable[[Programs], bool]) -> Programs:
    """Return the programs without the calls that do not matter."""
    for number, program in enumerate(before):
        changed = partial(_with_steps, before, number)
        if program.steps and fails(changed(())):
            before = changed(())
        else:
            before = changed(_fewer(program.steps, _after(changed, fails)))
    return before


def _with_steps(programs: Programs, number: int, steps: tuple[Step, ...]) -> Programs:
    program = programs[number]
    program = replace(program, steps=steps, streams=program.streams if steps else 1)
    return (*programs[:number], program, *programs[number + 1 :])


def _after(
    change: Callable[[tuple[Step, ...]], Programs], fails: Callable[[Programs], bool]
) -> Callable[[tuple[Step, ...]], bool]:
    return lambda steps: fails(change(steps))
