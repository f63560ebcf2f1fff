"""A failure as scripts show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fscontract.contract.binding import Binding
from fscontract.contract.concurrency.schedule import Schedule
from fscontract.contract.program.program import Program, Step
from fscontract.contract.script.calls import NoScript
from fscontract.contract.spec.profiles import Profile

#: How often a failure that comes in some runs only is tried.
TRIES = 200


@dataclass(frozen=True)
class Failure:
    """A failure to show: a clause, the program that violates it, and its conditions.

    Several threads make the calls of `threads`, and the program has none.
    """

    clause: str
    program: Program
    features: frozenset[str]
    buffer: int
    #: Versions of the libraries on which it was found.
    versions: dict[str, str]
    #: The profile's additional keys of openFile(), and those that it knows but does not support.
    own_keys: frozenset[str] = frozenset()
    unsupported_keys: frozenset[str] = frozenset()
    #: The profile's limits of the clause's cost, by read policy.
    budget: Mapping[str, int] = field(default_factory=dict)
    threads: tuple[tuple[Step, ...], ...] = ()
    #: Whether each thread has a stream; else they share one.
    apart: bool = False
    #: The thread that one switch pauses; None if threads ran freely.
    first_thread: int | None = None
    #: The programs that have to run before, because streams or opens share state.
    before: tuple[Program, ...] = ()
    #: Whether the last call does not end.
    hangs: bool = False
    #: Whether it fails in some runs only.
    intermittent: bool = False

    @property
    def is_repeated(self) -> bool:
        """True if scripts repeat its calls: available() depends on what has arrived by then.

        One run shows a call that hangs.
        """
        steps = self.program.steps
        by_time = bool(steps and steps[-1].op == "available")
        return not self.hangs and (self.intermittent or by_time)


def failure_of(
    shown_by: Program | Schedule,
    clause: str,
    binding: Binding,
    profile: Profile,
    buffer: int,
) -> Failure:
    """Return the failure of a clause that a program or a schedule shows; raise NoScript.

    `buffer` is the possible end of the target's buffer, in bytes.
    """
    failure = Failure(
        clause,
        shown_by if isinstance(shown_by, Program) else Program(shown_by.length, ()),
        profile.features,
        buffer,
        dict(getattr(binding, "versions", {})),
        profile.own_keys,
        profile.unsupported_keys,
        profile.budgets.get(clause, {}),
    )
    return failure if isinstance(shown_by, Program) else failure_of_threads(failure, shown_by)


def failure_of_threads(failure: Failure, schedule: Schedule) -> Failure:
    """Return a failure with the calls of the threads of a schedule; raise NoScript."""
    if not schedule.free and len(schedule.switches) > 1:
        raise NoScript(f"the threads have to be switched {len(schedule.switches)} times")
    first = schedule.switches[0].thread if schedule.switches else None
    return replace(failure, threads=schedule.threads, first_thread=first, apart=schedule.apart)
