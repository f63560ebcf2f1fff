"""Differences between a run and a baseline: new failures, and clauses no longer verified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from fscontract.contract import __version__
from fscontract.contract.report.matrix import Cell, Column, MatrixError, read_reports
from fscontract.contract.runner.result import (
    FAILING,
    STOPPED,
    UNVERIFIED,
    VIOLATED,
    ClauseResult,
    Counterexample,
    Entry,
    NotSetUp,
    RunResult,
    Verdict,
)
from fscontract.contract.spec.clauses import clauses, notice, read_id


class Change(str, Enum):
    """The change of a clause since the baseline."""

    NEW = "new"  # fails, and did not, or in another way
    VANISHED = "vanished"  # was verified, and is not any more
    UNEXERCISED = "unexercised"  # the same, but the check of threads ended early this time
    STANDING = "standing"  # fails as before
    FIXED = "fixed"  # failed, and holds

    def __str__(self) -> str:
        return self.value


#: The maximum of failures of a clause in a difference.
_MAX_SHOWN = 3
#: Changes that make a run fail.
WORSE = frozenset({Change.NEW, Change.VANISHED})


@dataclass(frozen=True)
class Difference:
    """A clause with its change, and its outcomes now and in the baseline as text."""

    clause: str
    change: Change
    now: str
    before: str


@dataclass(frozen=True)
class Comparison:
    """A target's run compared with the baseline; `remarks` are possible reasons for differences."""

    target: str
    differences: tuple[Difference, ...]
    remarks: tuple[str, ...] = ()

    def of(self, change: Change) -> tuple[Difference, ...]:
        """Return the clauses with this change."""
        return tuple(d for d in self.differences if d.change is change)

    @property
    def worse(self) -> bool:
        """True if anything is new or vanished."""
        return any(d.change in WORSE for d in self.differences)


class Baseline:
    """The report of an earlier run, by target."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self.path = path
        self._columns: dict[str, Column] = {}
        for column in columns:
            if column.target in self._columns:
                raise MatrixError(f"{path}: duplicate target {column.target}")
            self._columns[column.target] = column

    def require(self, targets: Iterable[str]) -> None:
        """Raise MatrixError unless it has a report of at least one of the targets."""
        names = list(targets)
        if not self._columns.keys() & set(names):
            has, lacks = " or ".join(self._columns), " or ".join(names)
            raise MatrixError(f"{self.path}: a report of {has}, not of {lacks}")

    def compare(self, entries: Sequence[Entry]) -> list[Comparison]:
        """Compare each entry with the baseline, then add targets that were not checked."""
        gone = self._columns.keys() - {entry.target for entry in entries}
        comparisons = [_compare(e.target, self._columns.get(e.target), e) for e in entries]
        unchecked = (_compare(t, c, None) for t, c in self._columns.items() if t in gone)
        return [*comparisons, *unchecked]


def load_baseline(path: Path) -> Baseline:
    """Return the baseline that `check --json` wrote. Raise MatrixError for an invalid file."""
    return Baseline(path, read_reports(path))


def _compare(target: str, old: Column | None, new: Entry | None) -> Comparison:
    if isinstance(new, NotSetUp):  # UnicodeError has its own message and exit code
        return Comparison(target, ())
    was = {} if old is None else {read_id(name): cell for name, cell in old.cells.items()}
    results = {} if new is None else {r.clause.id: r for r in new.clauses}
    ungated = set() if new is None else {r.clause.id for r in new.clauses if not new.gates(r)}
    names = [name for name in dict.fromkeys([*results, *was]) if name not in ungated]
    differences = (_difference(n, was.get(n), results.get(n), new is None) for n in names)
    return Comparison(target, tuple(d for d in differences if d), tuple(_remarks(old, new)))


def _difference(
    name: str, was: Cell | None, now: ClauseResult | None, unchecked: bool
) -> Difference | None:
    verified = was is not None and was.outcome not in UNVERIFIED
    if now is None or now.outcome in UNVERIFIED:
        if not verified:
            return None
        change = Change.UNEXERCISED if now is not None and _stopped(now) else Change.VANISHED
        return Difference(name, change, _missing(name, now, unchecked), _before(was))
    if now.outcome in FAILING:
        change = Change.STANDING if was is not None and _alike(was, now) else Change.NEW
        return Difference(name, change, _now(was, now), _before(was))
    if was is not None and was.outcome in FAILING:
        return Difference(name, Change.FIXED, now.outcome.value, _before(was))
    return None


def _stopped(now: ClauseResult) -> bool:
    """Return whether a run that ended early skipped a selected clause."""
    reasons = now.reason.split("; ")
    return now.outcome is Verdict.UNEXERCISED and any(r.startswith(STOPPED) for r in reasons)


def _alike(was: Cell, now: ClauseResult) -> bool:
    """Return whether it fails as before, and in no other way."""
    if was.outcome is not now.outcome:
        return False
    return now.outcome not in VIOLATED or not _new_failures(was, now)


def _new_failures(was: Cell | None, now: ClauseResult) -> list[Counterexample]:
    """Return the failures that the baseline does not have."""
    failures = [f for f in now.counterexamples if not f.known]
    if was is None:
        return failures
    if not was.signatures:
        return [f for f in failures if was.actual != f.actual]
    return [f for f in failures if not any(map(f.is_listed_as, was.signatures))]


def _now(was: Cell | None, now: ClauseResult) -> str:
    failures = _new_failures(was, now) or list(now.counterexamples)
    if now.outcome is Verdict.FIXED or not failures:
        return f"{now.outcome}: {now.reason}"
    return f"{now.outcome}: {', and '.join(f.signature for f in failures[:_MAX_SHOWN])}"


def _before(was: Cell | None) -> str:
    if was is None or was.outcome is None:
        return "not in the baseline"
    how = ", and ".join(was.signatures[:_MAX_SHOWN]) or was.actual
    return f"{was.outcome} before" + (f": {how}" if how and was.outcome in VIOLATED else "")


def _missing(name: str, now: ClauseResult | None, unchecked: bool) -> str:
    """Return the reason why a clause is not verified any more."""
    if unchecked:
        return "the target was not checked"
    if now is not None:
        return f"{now.outcome}: {now.reason}" if now.reason else now.outcome.value
    if name in clauses():
        return "not selected"
    return notice(name) or f"no clause of fscontract {__version__}"


def _remarks(old: Column | None, new: RunResult | None) -> Iterator[str]:
    if old is None:
        yield "the baseline has no report of it"
    elif old.error:
        yield f"could not be set up for the baseline: {old.error}"
    elif new is not None:
        pairs = {
            "fscontract": (old.version, __version__),
            "profile": (old.profile, new.profile),
            "effort": (old.effort, new.effort),
            "seed": (str(old.seed), str(new.seed)),
        }
        for name, (before, now) in pairs.items():
            if before != now:
                yield f"{name} {now}, in the baseline {before}"
