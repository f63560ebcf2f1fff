"""What a run found, clause by clause."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, TypeAlias

from fscontract.contract.program.program import Program
from fscontract.contract.spec.clauses import Clause


class Verdict(str, Enum):
    """How a clause came out. Only `pass` says that it holds."""

    PASS = "pass"
    LAX = "lax"  # a SHOULD that is not kept
    FAIL = "fail"
    KNOWN = "known"  # fails, and is listed as known with this signature
    FIXED = "fixed"  # listed as known, but passes: fails the run
    UNDECLARED = "undeclared"  # needs a feature that the profile does not declare
    INEXPRESSIBLE = "inexpressible"  # the API has no word for it
    UNEXERCISED = "unexercised"  # no program reached it: not a pass
    ERROR = "error"  # network or set-up: no verdict
    HANG = "hang"  # the watchdog ended a program
    CRASH = "crash"  # a program ended the process

    def __str__(self) -> str:
        return self.value


#: Verdicts that make a run not conform.
FAILING = frozenset({Verdict.FAIL, Verdict.FIXED, Verdict.HANG, Verdict.CRASH})
#: ... by what a program showed, for which a file of known failures may have an entry.
SHOWN = frozenset({Verdict.FAIL, Verdict.HANG, Verdict.CRASH})
#: Verdicts that verified nothing.
UNVERIFIED = frozenset(
    {
        Verdict.UNDECLARED,
        Verdict.INEXPRESSIBLE,
        Verdict.UNEXERCISED,
        Verdict.ERROR,
    }
)


#: How a reason begins of clauses that were not exercised since the check of threads ended early.
STOPPED = "stopped"
#: How the reason of a run begins that the user, or a signal, has ended.
INTERRUPTED = "the run was interrupted"


@dataclass(frozen=True)
class Counterexample:
    """The shortest program found that shows a violation."""

    program: Program | None
    #: The permitted outcomes, each in a few words.
    expected: tuple[str, ...]
    actual: str
    #: Number of the step (from 1) whose outcome was not permitted; 0 if none in particular.
    step: int = 0
    #: Numbered lines of a concurrent failure, empty for a sequential one.
    interleaving: tuple[str, ...] = ()
    #: The seed of the schedule of a concurrent failure.
    schedule: int | None = None
    #: The schedule itself, as JSON for the replay file.
    threads: dict[str, Any] | None = field(default=None, hash=False)
    #: Where the replay file was written, if it was.
    replay: str | None = None
    #: The target as it was typed, if it names code, which a replay runs only if it is typed again.
    code: str = ""
    #: The call that was not permitted and how it ended, as in "seek: returned".
    how: str = ""
    #: What the calls up to that one did, an outcome for each step of the program; "" for a change
    #: of the file. Empty where that is not known.
    outcomes: tuple[str, ...] = ()

    @property
    def again(self) -> str:
        """The command that runs it again, "" if there is no replay file."""
        if not self.replay:
            return ""
        words = ["fscontract", "replay", self.replay, *([self.code] if self.code else [])]
        return shlex.join(words)

    @property
    def signature(self) -> str:
        """What a known-failure entry is bound to: the way it fails, without data or messages."""
        return self.how or self.actual.split(":")[0].split(", buffer")[0]


@dataclass(frozen=True)
class ClauseResult:
    """One clause's outcome; `exercised` counts the calls that it judged."""

    clause: Clause
    outcome: Verdict
    exercised: int = 0
    counterexample: Counterexample | None = None
    #: Why it was not verified, or the reason given for a known failure.
    reason: str = ""
    #: Where a known failure is described: the `issue` of its entry.
    issue: str = ""


@dataclass(frozen=True)
class RunResult:
    """One target's run."""

    target: str
    binding: str
    profile: str
    effort: str
    seed: int
    started: datetime
    seconds: float
    clauses: tuple[ClauseResult, ...]
    #: Counts of the run: programs, operations, hangs, crashes.
    counts: dict[str, int] = field(default_factory=dict)
    #: Versions of the libraries under test, by name.
    versions: dict[str, str] = field(default_factory=dict)
    #: What went wrong beside the clauses, such as files that could not be removed.
    warnings: tuple[str, ...] = ()
    #: What the anchor `buf` stood for, in bytes; 0 if for nothing.
    buffer: int = 0
    #: Why the run is not complete, in one line, so that it can't conform; "" if it is complete.
    incomplete: str = ""

    @property
    def conforms(self) -> bool:
        """Whether the run is complete, no clause fails or was lost, and one was verified."""
        return conform({c.outcome for c in self.clauses}, self.incomplete)

    @property
    def summary(self) -> dict[str, int]:
        """How many clauses came out how; every outcome is listed."""
        counts = Counter(c.outcome for c in self.clauses)
        return {v.value: counts[v] for v in Verdict}


@dataclass(frozen=True)
class NotSetUp:
    """A target that was asked for but could not be checked, and why, in one line."""

    target: str
    message: str


#: What a report says of one target.
Entry: TypeAlias = RunResult | NotSetUp


def conform(outcomes: set[Verdict], incomplete: str = "") -> bool:
    """Return whether a run with these outcomes of its clauses conforms."""
    bad = outcomes & (FAILING | {Verdict.ERROR})
    return not bad and not incomplete and bool(outcomes - UNVERIFIED)
