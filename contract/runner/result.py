"""The result of a run: its verdict, an outcome for each clause, and the counterexamples.

`RunResult` is what `fscontract.check` returns and what every report renders. `NotSetUp` stands for
a target that could not be checked. Both give the JSON report (`to_dict`, `to_json`) and the exit
code of `fscontract check`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from enum import Enum
from html import escape
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract import __version__
from fscontract.contract.program.program import Program
from fscontract.contract.runner import exit_codes
from fscontract.contract.runner.call_details import without_details
from fscontract.contract.spec.clauses import Clause, Consequence
from fscontract.contract.text import escaped, plural, printable, redact

#: A circumstance in a signature that names an operation before the failing call, except close, or
#: an unusual name of the file.
_CALL_BEFORE = re.compile(r"; (after (?!close)[a-z_]+|open of named)(?=;|$)")
#: The start of a signature whose call raises on a closed stream.
_RAISES_CLOSED = re.compile(r"[a-z0-9_]+: [A-Z][^;]*; after close(?=;|$)")
#: The start of the signature of a leak, before the resource.
LEFT = "close: left "


def _includes(signature: str, other: str) -> bool:
    """Return whether a signature has all that another one has."""
    return {*other.split("; ")} <= {*signature.split("; ")}


class Verdict(str, Enum):
    """The outcome of one clause. Only `pass` says that it holds."""

    PASS = "pass"
    LAX = "lax"
    FAIL = "fail"
    KNOWN = "known"
    INHERITED = "inherited"
    FIXED = "fixed"
    UNDECLARED = "undeclared"
    INEXPRESSIBLE = "inexpressible"
    UNEXERCISED = "unexercised"
    ERROR = "error"
    HANG = "hang"
    CRASH = "crash"

    def __str__(self) -> str:
        return self.value


#: The meaning of each outcome, for a legend.
MEANINGS = {
    Verdict.PASS: "holds",
    Verdict.LAX: "a SHOULD that is not satisfied",
    Verdict.FAIL: "is violated",
    Verdict.KNOWN: "is violated, as listed in a file of known failures",
    Verdict.INHERITED: "is violated by a base class of another package, as is known of it",
    Verdict.FIXED: "is listed as known, but holds",
    Verdict.UNDECLARED: "needs a feature that the profile does not declare",
    Verdict.INEXPRESSIBLE: "the API has no such call",
    Verdict.UNEXERCISED: "no program reached it",
    Verdict.ERROR: "no verdict: calls were lost to the network or the set-up",
    Verdict.HANG: "a program did not end",
    Verdict.CRASH: "a program ended the process",
}
#: The character printed before an outcome. Each differs, so that colour is never needed.
GLYPHS = {
    Verdict.PASS: "✓",
    Verdict.LAX: "~",
    Verdict.FAIL: "✗",
    Verdict.KNOWN: "◆",
    Verdict.INHERITED: "◇",
    Verdict.FIXED: "↑",
    Verdict.UNDECLARED: "-",
    Verdict.INEXPRESSIBLE: "∅",
    Verdict.UNEXERCISED: "○",
    Verdict.ERROR: "!",
    Verdict.HANG: "∞",
    Verdict.CRASH: "†",
}
#: Outcomes of a clause that a program violates. A file of known failures may list them.
VIOLATED = frozenset({Verdict.FAIL, Verdict.HANG, Verdict.CRASH})
#: Outcomes that make a run not conform.
FAILING = VIOLATED | {Verdict.FIXED}
#: Outcomes that verified nothing.
UNVERIFIED = frozenset(
    {Verdict.UNDECLARED, Verdict.INEXPRESSIBLE, Verdict.UNEXERCISED, Verdict.ERROR}
)


class RunVerdict(str, Enum):
    """The verdict on a target; compares equal to its text, such as "conforms"."""

    CONFORMS = "conforms"
    DOES_NOT_CONFORM = "does not conform"
    #: The target could not be set up, the run ended early, or calls were lost to the network.
    INCOMPLETE = "incomplete"
    NOTHING_VERIFIED = "nothing verified"

    def __str__(self) -> str:
        return self.value

    @property
    def exit_code(self) -> int:
        """The exit code of `fscontract check`: 0, 1, 3 or 5."""
        return _EXIT_CODES[self]


_EXIT_CODES = {
    RunVerdict.CONFORMS: exit_codes.CONFORMS,
    RunVerdict.DOES_NOT_CONFORM: exit_codes.VIOLATION,
    RunVerdict.INCOMPLETE: exit_codes.SET_UP,
    RunVerdict.NOTHING_VERIFIED: exit_codes.NOTHING,
}


def verdict_of(outcomes: set[Verdict], incomplete: str = "") -> RunVerdict:
    """Return the verdict on a run whose clauses have these outcomes.

    A violation counts more than an incomplete run: it is there however the run would have ended.
    """
    if outcomes & FAILING:
        return RunVerdict.DOES_NOT_CONFORM
    if incomplete or Verdict.ERROR in outcomes:
        return RunVerdict.INCOMPLETE
    return RunVerdict.CONFORMS if outcomes - UNVERIFIED else RunVerdict.NOTHING_VERIFIED


#: How a cost fails whose counter is missing although I/O statistics are declared.
UNCOUNTED = "cost: not counted"
#: The failure of a feature that the user declares and that no call could exercise.
NOT_THERE = "declared, not there"
#: Why a clause was not exercised in a run whose time was over.
OUT_OF_TIME = "out of time"
#: The number of operations that are left out, since no time is left for hangs like theirs.
LEFT_OUT = "operations left out"
#: The start of the reason of clauses not exercised because the check of threads ended early.
STOPPED = "stopped"
#: Why a clause was not verified in a run that ended with the first failure.
FAILED_FAST = f"{STOPPED} at the first failure"
#: The start of `incomplete` for a run that the user or a signal has ended.
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
    #: The scenario of a part of a pipeline, as a replay file names it.
    scenario: str = ""
    #: Where the replay file was written, if it was.
    replay: str | None = None
    #: The target as it was typed, if it names code, which a replay runs only if it is typed again.
    code: str = ""
    #: The value of `--encode`, "" without one; it is code, too.
    encode: str = ""
    #: The call that was not permitted and how it ended, as in "seek: returned".
    how: str = ""
    #: What tells this failure of the clause from others (see `signature`); "" for `how` alone.
    identity: str = ""
    #: The reason of the known failure that this is; "" if it is none.
    known: str = ""
    #: Where a known failure is described, or the finding on one that is inherited.
    issue: str = ""
    #: The base class that has this failure, and the finding on it; "" if it is not inherited.
    inherited: str = ""
    #: What the calls up to that one did, an outcome for each step of the program; "" for a change
    #: of the file. Empty where that is not known.
    outcomes: tuple[str, ...] = ()
    #: Whether shrinking ended early, so that the signature may have needless circumstances.
    unshrunk: bool = False
    #: The program as calls of the target's API; "" if that is not another form.
    calls: str = ""
    #: The program as a script that needs only the library under test, or why there is none.
    script: str = ""
    no_script: str = ""
    #: The first byte that differs behind those that `actual` shows; "" if none does.
    difference: str = ""
    #: The lines of the traceback of its exception, or of where it hangs, from the target's first
    #: frame on.
    traceback: tuple[str, ...] = ()
    #: What it may share with other failures of the same cause; empty for `how` alone.
    traits: tuple[str, ...] = ()
    #: The programs that have to run before it, if it passes alone: streams or opens share state.
    before: tuple[Program, ...] = ()
    #: Whether its program fails in some runs only.
    intermittent: bool = False
    #: The programs that ran before it, the last of them, and the one from which it was shrunk.
    history: tuple[Program, ...] = field(default=(), compare=False, repr=False)

    @property
    def replay_command(self) -> str:
        """The command that runs it again, "" if there is no replay file."""
        if not self.replay:
            return ""
        words = ["fscontract", "replay", self.replay, *([self.code] if self.code else [])]
        words += ["--encode", self.encode] if self.encode else []
        return shlex.join(words)

    @property
    def hangs(self) -> bool:
        """True if a call did not end."""
        return self.how.endswith(": hang")

    @property
    def signature(self) -> str:
        """The kind of failure, without data or messages; entries of known failures contain it.

        It has the call and how it ended, then the circumstances that shrinking could not remove, as
        in "read_into: returned too early; after unbuffer".
        """
        return self.identity or self.how or self.actual.split(":")[0].split(", buffer")[0]

    def is_listed_as(self, signature: str, has_program: bool = False) -> bool:
        """Return whether an entry of known failures with this signature covers it.

        An entry without circumstances and a program, as written before version 0.2.0, covers all
        failures of its kind; with a program, those in which the call ends alike. One with calls
        before the failure covers it after more calls, too: how many of them shrinking can remove
        depends on the seed. So does one of a closed stream that raises, and one of a leak, which
        the same calls make among others. One without the name of a file covers all names, and one
        without details of a call covers all of them.
        """
        if self.has_signature(signature) or signature == without_details(self.signature):
            return True
        if signature == self.how:
            return not has_program or self.is_instance_of(signature)
        names_calls = _CALL_BEFORE.search(signature) or _RAISES_CLOSED.match(signature)
        covers_more = bool(names_calls) or signature.startswith(LEFT)
        return covers_more and self.is_instance_of(signature)

    def has_signature(self, signature: str) -> bool:
        """Return whether this is its signature, or would be if it were shrunk to the end."""
        return self.is_instance_of(signature) if self.unshrunk else signature == self.signature

    def is_one_of(self, others: Iterable[Counterexample]) -> bool:
        """Return whether this was not shrunk to the end, and would be one of the others if it were.

        Others that were not shrunk do not count.
        """
        return self.unshrunk and any(
            self.has_signature(other.signature) for other in others if not other.unshrunk
        )

    def is_instance_of(self, signature: str) -> bool:
        """Return whether it has this signature, with more circumstances or without."""
        return _includes(self.signature, signature)

    def has_instance(self, signature: str) -> bool:
        """Return whether a failure with this signature has the same one, or more circumstances."""
        return _includes(signature, self.signature)

    def redacted(self, options: Mapping[str, str]) -> Counterexample:
        """Return the counterexample without the secrets among the target's `options`."""

        def redact_all(lines: Sequence[str]) -> tuple[str, ...]:
            return tuple(redact(line, options) for line in lines)

        return replace(
            self,
            actual=redact(self.actual, options),
            interleaving=redact_all(self.interleaving),
            outcomes=redact_all(self.outcomes),
            traceback=redact_all(self.traceback),
            script=redact(self.script, options),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the counterexample as in the JSON report."""
        data: dict[str, Any] = {
            "program": None if self.program is None else self.program.to_json(),
            "expected": list(self.expected),
            "actual": self.actual,
            "replay": self.replay,
            "signature": self.signature,
        }
        if self.known:
            data["known"] = self.known
        if self.issue:
            data["issue"] = self.issue
        if self.inherited:
            data["inherited"] = self.inherited
        if self.step:
            data["step"] = self.step
        if self.interleaving:
            data["interleaving"] = list(self.interleaving)
        if self.schedule is not None:
            data["schedule"] = self.schedule
        if self.before:
            data["before"] = [program.to_json() for program in self.before]
        if self.intermittent:
            data["intermittent"] = True
        if self.calls:
            data["calls"] = self.calls
        if self.script:
            data["script"] = self.script
        if self.difference:
            data["difference"] = self.difference
        if self.traceback:
            data["traceback"] = list(self.traceback)
        return data


@dataclass(frozen=True)
class ClauseResult:
    """The outcome of one clause; `exercised` counts the calls that it judged."""

    clause: Clause
    outcome: Verdict
    exercised: int = 0
    counterexample: Counterexample | None = None
    #: Why it was not verified, or the reason given for a known failure.
    reason: str = ""
    #: Where it is described: the `issue` of the entry, or the finding on a base class.
    issue: str = ""
    #: The shortest programs of other failures of the clause, those that are not known first.
    others: tuple[Counterexample, ...] = ()

    @property
    def consequence(self) -> Consequence:
        """What the failure does to users."""
        ends = self.outcome in (Verdict.HANG, Verdict.CRASH)
        return Consequence.HANG if ends else self.clause.consequence

    @property
    def counterexamples(self) -> tuple[Counterexample, ...]:
        """The shortest program of each distinct failure, those that are not known first."""
        return () if self.counterexample is None else (self.counterexample, *self.others)

    def redacted(self, options: Mapping[str, str]) -> ClauseResult:
        """Return the outcome without the secrets among the target's `options`."""
        failures = [failure.redacted(options) for failure in self.counterexamples]
        return replace(self.showing(failures), reason=redact(self.reason, options))

    def showing(self, failures: Sequence[Counterexample]) -> ClauseResult:
        """Return the outcome with these counterexamples instead."""
        return replace(self, counterexample=next(iter(failures), None), others=tuple(failures[1:]))

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as in the JSON report."""
        example = self.counterexample
        data: dict[str, Any] = {
            "id": self.clause.id,
            "level": self.clause.level.value,
            "outcome": self.outcome.value,
            "consequence": self.consequence.value,
            "exercised": self.exercised,
            "counterexample": None if example is None else example.to_dict(),
        }
        if self.others:
            data["others"] = [other.to_dict() for other in self.others]
        if self.reason:
            data["reason"] = self.reason
        if self.issue:
            data["issue"] = self.issue
        return data


class Cause(NamedTuple):
    """Clauses that one defect probably violates: the one that shows it best, and the others."""

    clause: ClauseResult
    others: tuple[ClauseResult, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all of its clauses."""
        return (self.clause.clause.id, *(other.clause.id for other in self.others))


#: The start of a trait of failures that are built on calls which may fail, too.
USES = "uses "


def causes_of(results: Iterable[ClauseResult]) -> tuple[Cause, ...]:
    """Return the likely causes of failures, the worst first; known ones have none."""
    results = sorted(results, key=_severity)
    groups = group_by_traits([_traits(result) for result in results])
    found = (sorted((results[number] for number in group), key=_changes_file) for group in groups)
    return tuple(Cause(first, tuple(rest)) for first, *rest in found)


def _changes_file(result: ClauseResult) -> bool:
    """Return whether a failure is shown with a file that changes; one without a change is first."""
    example = result.counterexample
    program = None if example is None else example.program
    return program is not None and any(step.op == "change" for step in program.steps)


def group_by_traits(traits_of_each: Sequence[Iterable[str]]) -> list[list[int]]:
    """Return the numbers of the failures of each cause, in the order of the first failure.

    Failures are of one cause if they share a trait (see `signature.traits`), directly or through
    other failures. One that uses what others have as a trait is a consequence of theirs.
    """
    had = {trait for found in traits_of_each for trait in found}
    parents = list(range(len(traits_of_each)))

    def root(number: int) -> int:
        while parents[number] != number:
            number = parents[number]
        return number

    first_with: dict[str, int] = {}
    for number, found in enumerate(traits_of_each):
        for trait in found:
            used = trait.removeprefix(USES)
            if used not in had:
                continue
            one, other = sorted((root(number), root(first_with.setdefault(used, number))))
            parents[other] = one
    grouped: dict[int, list[int]] = {}
    for number in range(len(parents)):
        grouped.setdefault(root(number), []).append(number)
    return list(grouped.values())


def _severity(result: ClauseResult) -> tuple[int, int, int]:
    """Return the order of clauses: failures before missed SHOULDs, the worst and shortest first."""
    example = result.counterexample
    program = None if example is None else example.program
    steps = 0 if program is None else len(program.steps)
    return result.outcome not in FAILING, list(Consequence).index(result.consequence), steps


def _traits(result: ClauseResult) -> set[str]:
    """Return the traits of the failures of a clause; all of them are of one cause.

    A trait are the calls of the target, too: clauses of two APIs may judge the same call.
    """
    own = [f for f in result.counterexamples if not (f.known or f.inherited)]
    found = {trait for f in own for trait in f.traits or (f.how.partition(":")[0],)}
    found.update(f"{f.program.length} {f.calls}" for f in own if f.program and f.calls)
    return {result.clause.id, *filter(None, found)}


@dataclass(frozen=True)
class Boundary:
    """A size in bytes in which the target works, and where it was found."""

    size: int
    source: str

    def __str__(self) -> str:
        return f"{self.size:,} ({self.source})"


@dataclass(frozen=True)
class PhaseShare:
    """How many of its programs a phase ran before the time of the run was over."""

    phase: str
    done: int
    #: How many it has at least; None if that is not known.
    total: int | None

    def __str__(self) -> str:
        of = "" if self.total is None else f" of {self.total:,}"
        return f"{self.phase} {self.done:,}{of}"

    def plus(self, other: PhaseShare | None) -> PhaseShare:
        """Return the share of two parts of a run in this phase."""
        if other is None:
            return self
        known = None if self.total is None or other.total is None else self.total + other.total
        return replace(self, done=self.done + other.done, total=known)


class Group(NamedTuple):
    """Clauses that were not verified for the same reason."""

    outcome: Verdict
    reason: str
    clauses: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class RunResult:
    """The result of checking one target.

    `print(result.verdict)` prints the verdict. In a notebook, the result is shown as the verdict
    and a table of the violations.
    """

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
    #: Problems other than violations, such as files that could not be removed.
    warnings: tuple[str, ...] = ()
    #: The value of the anchor `buf`, in bytes; 0 if it has none.
    buffer: int = 0
    #: Why the run is incomplete, in one line, so that it can't conform; "" if it is complete.
    incomplete: str = ""
    #: The consequences whose failures fail the run; empty for all.
    fail_on: tuple[Consequence, ...] = ()
    #: Phases that did not run all of their programs in the time of the run.
    cut_short: tuple[PhaseShare, ...] = ()
    #: The sizes in bytes of the files of a read-only target.
    sizes: tuple[int, ...] = ()
    #: The features that the profile leaves open, as observed.
    observed: dict[str, bool] = field(default_factory=dict)
    #: The sizes in which the target works, around whose multiples programs went.
    boundaries: tuple[Boundary, ...] = ()

    def __repr__(self) -> str:
        return f"<RunResult of {self.target!r}: {self.verdict_line}>"

    @property
    def verdict(self) -> RunVerdict:
        """Conforms, does not conform, incomplete, or nothing verified."""
        outcomes = {c.outcome if self.gates(c) else Verdict.KNOWN for c in self.clauses}
        return verdict_of(outcomes, self.incomplete)

    def gates(self, result: ClauseResult) -> bool:
        """Return False for a failing clause whose consequence does not fail the run."""
        gated = not self.fail_on or result.consequence in self.fail_on
        return gated or result.outcome not in FAILING

    @property
    def conforms(self) -> bool:
        """True if the run is complete, no clause fails or was lost, and some clause holds."""
        return self.verdict is RunVerdict.CONFORMS

    @property
    def exit_code(self) -> int:
        """The exit code of `fscontract check` for this target."""
        return self.verdict.exit_code

    @property
    def exit_code_if_known(self) -> int:
        """The exit code if each failure were a known one, as beside a baseline."""
        outcomes = {Verdict.KNOWN if c.outcome in FAILING else c.outcome for c in self.clauses}
        return verdict_of(outcomes, self.incomplete).exit_code

    @property
    def counterexamples(self) -> dict[str, Counterexample]:
        """The shortest program for each clause that does not hold, known failures included."""
        return {c.clause.id: c.counterexample for c in self.clauses if c.counterexample is not None}

    @property
    def summary(self) -> dict[str, int]:
        """The number of clauses with each outcome; every outcome is listed."""
        count = Counter(c.outcome for c in self.clauses)
        return {v.value: count[v] for v in Verdict}

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The likely causes of what fails or is lax, the worst first; known failures have none."""
        return causes_of(r for r in self.clauses if r.outcome in VIOLATED | {Verdict.LAX})

    @property
    def unverified(self) -> list[Group]:
        """The clauses not verified, grouped by outcome and reason, in the order of outcomes."""
        groups: dict[tuple[Verdict, str], list[str]] = {}
        for result in self.clauses:
            if result.outcome in UNVERIFIED:
                groups.setdefault((result.outcome, result.reason), []).append(result.clause.id)
        order = list(Verdict)
        return [
            Group(outcome, reason, tuple(ids))
            for (outcome, reason), ids in sorted(groups.items(), key=lambda g: order.index(g[0][0]))
        ]

    @property
    def verdict_line(self) -> str:
        """The run in one sentence, such as `conforms: 112 clauses hold, 31 not verified`."""
        count = Counter(r.outcome for r in self.clauses)
        skipped = sum(count[v] for v in UNVERIFIED)
        verified = len(self.clauses) - skipped
        failed = sum(count[v] for v in VIOLATED)
        parts = []
        held = count[Verdict.PASS]
        if self.conforms or (self._is_incomplete and held and not failed):
            parts.append(f"{plural(held, 'clause')} {'holds' if held == 1 else 'hold'}")
            if failed:
                parts.append(f"{failed} failed, none by {' or '.join(map(str, self.fail_on))}")
        elif failed:
            verb = "fails" if failed == 1 else "fail"
            causes = sum(cause.clause.outcome in VIOLATED for cause in self.causes)
            few = f", by {plural(causes, 'likely cause')}" if 0 < causes < failed else ""
            parts.append(f"{failed} of {plural(verified, 'verified clause')} {verb}{few}")
        elif not verified:
            parts.append("no clause was verified")
        if count[Verdict.FIXED]:
            parts.append(f"{plural(count[Verdict.FIXED], 'known failure')} no longer there")
        if count[Verdict.LAX]:
            parts.append(f"{count[Verdict.LAX]} lax")
        if count[Verdict.KNOWN]:
            parts.append(f"{count[Verdict.KNOWN]} known")
        if count[Verdict.INHERITED]:
            parts.append(f"{count[Verdict.INHERITED]} inherited")
        if skipped:
            parts.append(f"{skipped} not verified")
        return f"{self._first_words}: {', '.join(parts)}"

    @property
    def _first_words(self) -> str:
        if self.conforms:
            return "conforms"
        if self.incomplete.startswith(INTERRUPTED):
            return "interrupted"
        return "incomplete" if self._is_incomplete else "does not conform"

    @property
    def _is_incomplete(self) -> bool:
        return bool(self.incomplete) or self.verdict is RunVerdict.INCOMPLETE

    def redacted(self, options: Mapping[str, str]) -> RunResult:
        """Return the result without the secrets among the target's `options`."""
        return replace(
            self,
            clauses=tuple(clause.redacted(options) for clause in self.clauses),
            warnings=tuple(redact(text, options) for text in self.warnings),
            incomplete=redact(self.incomplete, options),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON report as plain data, in the shape of `specs/report.schema.json`."""
        started = self.started.astimezone(timezone.utc).isoformat(timespec="seconds")
        return {
            "fscontract": __version__,
            "target": self.target,
            "binding": self.binding,
            "profile": self.profile,
            "effort": self.effort,
            "seed": self.seed,
            "started": started.replace("+00:00", "Z"),
            "seconds": round(self.seconds, 3),
            "conforms": self.conforms,
            "clauses": [c.to_dict() for c in self.clauses],
            "causes": [list(cause.ids) for cause in self.causes],
            "summary": self.summary,
            "unverified": [
                {"outcome": g.outcome.value, "reason": g.reason, "clauses": list(g.clauses)}
                for g in self.unverified
            ],
            "counts": dict(self.counts),
            "versions": dict(self.versions),
            **({"sizes": list(self.sizes)} if self.sizes else {}),
            **({"observed": dict(self.observed)} if self.observed else {}),
            **({"boundaries": [vars(b) for b in self.boundaries]} if self.boundaries else {}),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
            **({"incomplete": self.incomplete} if self.incomplete else {}),
            **({"fail_on": [c.value for c in self.fail_on]} if self.fail_on else {}),
            **({"cut_short": [vars(s) for s in self.cut_short]} if self.cut_short else {}),
        }

    def to_json(self) -> str:
        """Return the text that `fscontract check --json` writes for this target."""
        return json_text(self.to_dict())

    def _repr_html_(self) -> str:
        """Return the verdict and the violations for a notebook, in the colours of its theme."""
        colour = "#2da44e" if self.conforms else "#d1242f"
        glyph = GLYPHS[Verdict.PASS if self.conforms else Verdict.FAIL]
        lines = [
            f'<div style="border-left:4px solid {colour};padding-left:.7em">',
            f"<p><b>{glyph} {_html(self.target)}</b> {_html(self.verdict_line)}</p>",
        ]
        if self.incomplete:
            lines.append(f"<p>{_html(self.incomplete)}</p>")
        rows = [_html_row(c) for c in self.clauses if c.outcome in FAILING]
        if rows:
            names = ("Clause", "Statement", "Program", "Expected", "Actual")
            heading = "".join(f"<th {_LEFT}>{name}</th>" for name in names)
            lines += [f"<table><thead><tr>{heading}</tr></thead><tbody>", *rows[:_HTML_ROWS]]
            lines.append("</tbody></table>")
        if len(rows) > _HTML_ROWS:
            lines.append(f"<p>... and {len(rows) - _HTML_ROWS} more in <code>clauses</code></p>")
        return "\n".join([*lines, "</div>"])


#: The violations that a notebook shows.
_HTML_ROWS = 20
_LEFT = 'style="text-align:left"'


def _html_row(result: ClauseResult) -> str:
    example = result.counterexample
    program = "" if example is None else str(example.program or "")
    expected = "" if example is None else " or ".join(example.expected)
    actual = result.reason if example is None else example.actual
    word = f"{GLYPHS[result.outcome]} {result.outcome} <code>{_html(result.clause.id)}</code>"
    program = f"<code>{_html(program)}</code>" if program else ""
    cells = (word, _html(result.clause.statement), program, _html(expected), _html(actual))
    return "<tr>" + "".join(f"<td {_LEFT}>{cell}</td>" for cell in cells) + "</tr>"


def _html(text: str) -> str:
    return escape(printable(text))


@dataclass(frozen=True)
class NotSetUp:
    """A target that could not be set up, and why, in one line."""

    target: str
    message: str

    @property
    def verdict(self) -> RunVerdict:
        """Incomplete."""
        return RunVerdict.INCOMPLETE

    @property
    def exit_code(self) -> int:
        """The exit code of `fscontract check` for this target."""
        return self.verdict.exit_code

    @property
    def exit_code_if_known(self) -> int:
        """The same, beside a baseline, too."""
        return self.exit_code

    def redacted(self, options: Mapping[str, str]) -> NotSetUp:
        """Return the same without the secrets among the target's `options`."""
        return replace(self, message=redact(self.message, options))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON report as plain data: `error`, and no clauses."""
        return {
            "fscontract": __version__,
            "target": self.target,
            "conforms": False,
            "error": self.message,
        }


#: What a report has of one target.
Entry: TypeAlias = RunResult | NotSetUp


def json_text(data: Any) -> str:
    """Return plain data as the text of a JSON report; it ends with a newline."""
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    return escaped(text, lambda char: json.dumps(char)[1:-1])
