"""GitHub job output: annotations at the top of the page, and the summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from fscontract.contract.report.text import cause_block, failure_block
from fscontract.contract.runner.baseline import Change, Comparison
from fscontract.contract.runner.result import (
    VIOLATED,
    ClauseResult,
    Entry,
    NotSetUp,
    RunResult,
    Verdict,
    causes_of,
)
from fscontract.contract.text import plural, printable

#: Limit of GitHub for annotations of each kind in a step; it drops the rest.
_MAX_ANNOTATIONS = 10
#: Limit of GitHub for a step's summary in bytes; it drops a longer one completely.
_LARGEST = 1024 * 1024


class Annotation(NamedTuple):
    """A line at the top of a job's page; `kind` is error or warning.

    It is also shown at `file`, relative to the repository, unless that is empty.
    """

    kind: str
    title: str
    message: str
    file: str = ""

    def __str__(self) -> str:
        file = f"file={_property(self.file)}," if self.file else ""
        return f"::{self.kind} {file}title={_property(self.title)}::{_data(self.message)}"


def is_wanted(environment: Mapping[str, str]) -> bool:
    """Return whether this is a step of a GitHub job, which processes the output."""
    return environment.get("GITHUB_ACTIONS") == "true"


def annotated(entries: Sequence[Entry], compared: Sequence[Comparison]) -> list[Annotation]:
    """Return errors for violations, and warnings for other problems.

    `compared` has the changes since the baseline, if there is one: known failures are then
    warnings. The number is limited; the last annotation counts the others.
    """
    annotations = [
        a._replace(file="" if entry is None else _file_of(entry.target))
        for entry, beside in zip_longest(entries, compared)
        for a in _of(entry, beside)
    ]
    return [
        *_few("error", [a for a in annotations if a.kind == "error"]),
        *_few("warning", [a for a in annotations if a.kind == "warning"]),
    ]


def _file_of(target: str) -> str:
    """Return the file of a target that is code, as in "store.py:make", "" for others."""
    code = re.fullmatch(r"(?:\./)?(?P<file>[^:]+\.py):[\w.]+", target)
    return code["file"] if code else ""


def append_summary(path: Path, text: str, short: str) -> bool:
    """Append `text` to the summary of the step, or `short` if it would get too long.

    Return whether one of them fitted.
    """
    used = path.stat().st_size if path.exists() else 0
    for candidate in (text, short):
        data = candidate.encode("utf-8", "backslashreplace")
        if used + len(data) <= _LARGEST:
            with path.open("ab") as file:
                file.write(data)
            return True
    return False


def _of(entry: Entry | None, beside: Comparison | None) -> Iterator[Annotation]:
    if isinstance(entry, NotSetUp):
        yield Annotation("error", f"{entry.target} could not be set up", entry.message)
    elif entry is not None:
        if entry.incomplete:
            yield Annotation("error", f"the run on {entry.target} is incomplete", entry.incomplete)
        yield from _failures(entry, beside)
        for text in entry.warnings:
            yield Annotation("warning", f"checking {entry.target}", text)
        for cause in entry.causes:
            if cause.clause.outcome is Verdict.LAX:
                title = f"{cause.clause.clause.id} is not satisfied by {entry.target}"
                yield Annotation("warning", title, "\n".join(cause_block(cause)))
        yield from _unverified(entry)
    if beside is not None:
        for gone in beside.of(Change.VANISHED):
            title = f"{gone.clause} is no longer verified on {beside.target}"
            yield Annotation("error", title, f"{gone.now} ({gone.before})")
        for missed in beside.of(Change.UNEXERCISED):
            title = f"{missed.clause} was not exercised this time on {beside.target}"
            yield Annotation("warning", title, f"{missed.now} ({missed.before})")


def _failures(entry: RunResult, beside: Comparison | None) -> Iterator[Annotation]:
    standing = {d.clause for d in beside.of(Change.STANDING)} if beside else set()
    for result in entry.clauses:
        if result.outcome is Verdict.FIXED:
            yield _failure(entry, result, "\n".join(failure_block(result)), standing)
    for old in (False, True):
        failed = (
            r for r in entry.clauses if r.outcome in VIOLATED and (r.clause.id in standing) is old
        )
        for cause in causes_of(failed):
            yield _failure(entry, cause.clause, "\n".join(cause_block(cause)), standing)


def _failure(entry: RunResult, result: ClauseResult, text: str, standing: set[str]) -> Annotation:
    old = result.clause.id in standing
    title = f"{result.clause.id}: {result.outcome} on {entry.target}"
    if old:
        title += ", as in the baseline"
    return Annotation("warning" if old else "error", title, text)


def _unverified(entry: RunResult) -> Iterator[Annotation]:
    groups = entry.unverified
    if groups:
        count = plural(sum(len(g.clauses) for g in groups), "clause")
        lines = (f"{g.outcome}: {g.reason}: {' '.join(g.clauses)}" for g in groups)
        text = "\n".join([entry.verdict_line, *lines])
        yield Annotation("warning", f"{count} not verified on {entry.target}", text)


def _few(kind: str, annotations: Sequence[Annotation]) -> Iterable[Annotation]:
    if len(annotations) <= _MAX_ANNOTATIONS:
        return annotations
    omitted = annotations[_MAX_ANNOTATIONS - 1 :]
    names = "\n".join(islice((a.title for a in omitted), 100))
    last = Annotation(kind, f"{len(omitted)} more, see the summary of the job", names)
    return [*annotations[: _MAX_ANNOTATIONS - 1], last]


def _data(text: str) -> str:
    escaped = printable(text).replace("%", "%25")
    return escaped.replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
