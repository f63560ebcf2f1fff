"""The report for people at a terminal; in CI, or without a terminal, the same in plain lines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any, TextIO

from fscontract import __version__
from fscontract.contract.suite.events import (
    Event,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.suite.report import Entry, NotSetUp
from fscontract.contract.suite.report.block import failure_block, known_line, short_block
from fscontract.contract.suite.report.text import (
    plural,
    printable,
    table,
    unverified,
    verdict_line,
)
from fscontract.contract.suite.result import FAILING, RunResult, Verdict

_WIDTH = 98
#: The colour of a line by its first word.
_STYLES = {
    "FAIL": "bold red",
    "HANG": "bold red",
    "CRASH": "bold red",
    "FIXED": "bold red",
    "LAX": "yellow",
    "KNOWN": "yellow",
    "conforms:": "bold green",
    "does": "bold red",
}


def lines(entry: Entry) -> Iterator[str]:
    """What is printed once a target has been checked, without colours."""
    if isinstance(entry, NotSetUp):
        yield f"not set up: {printable(entry.message)}"
        return
    for verdicts, block in (
        (FAILING, failure_block),
        ({Verdict.LAX}, short_block),
    ):
        for result in entry.clauses:
            if result.outcome in verdicts:
                yield from block(result)
                yield ""
    known = [known_line(r) for r in entry.clauses if r.outcome is Verdict.KNOWN]
    yield from [*known, ""] if known else []
    yield from aligned(table(entry))
    yield ""
    yield from not_verified(entry)
    yield printable(_facts(entry))
    for warning in entry.warnings:
        yield f"warning: {printable(warning)}"
    yield verdict_line(entry)


def aligned(rows: list[list[str]]) -> Iterator[str]:
    """A table in columns: names to the left, figures to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join([f"{row[0]:{widths[0]}}", *cells])


def not_verified(result: RunResult) -> Iterator[str]:
    """What was not verified and why; nothing if all was."""
    groups = unverified(result)
    if not groups:
        return
    yield f"not verified: {plural(sum(len(g.clauses) for g in groups), 'clause')}"
    for group in groups:
        reason = group.reason.removeprefix(f"{group.outcome.value}: ")
        yield printable(f"  {group.outcome.value}: {reason}" if reason else f"  {group.outcome}")
        for line in wrap(" ".join(group.clauses), _WIDTH - 4, break_on_hyphens=False):
            yield f"    {line}"
    yield ""


def _facts(result: RunResult) -> str:
    facts = [f"{count} {name}" for name, count in result.counts.items()]
    facts += [f"{name} {version}" for name, version in result.versions.items()]
    return ", ".join([*facts, f"seed {result.seed}", f"{result.seconds:.1f} s"])


def is_plain(stream: TextIO, environment: Mapping[str, str] | None = None) -> bool:
    """Whether `stream` gets no colours and no progress line."""
    known = os.environ if environment is None else environment
    return bool(known.get("CI")) or known.get("TERM") == "dumb" or not stream.isatty()


class Console:
    """Prints a run on `stream` while it goes on; call it with events, then `finish`."""

    def __init__(self, stream: TextIO, plain: bool | None = None) -> None:
        self._stream = stream
        self._rich: Any = None
        self._status: Any = None
        self._violations = 0
        self._headed = False
        if not (is_plain(stream) if plain is None else plain):
            from rich.console import Console as RichConsole

            self._rich = RichConsole(
                file=stream,
                highlight=False,
                soft_wrap=True,
                no_color=bool(os.environ.get("NO_COLOR")),  # rich before 14 minds an empty one
            )

    def __call__(self, event: Event) -> None:
        """Show an event."""
        if isinstance(event, RunStarted):
            self._violations = 0
            self._headed = True
            self._print(
                f"fscontract {__version__}: {printable(event.target)} through {event.binding}, "
                f"profile {event.profile}, effort {event.effort}, seed {event.seed}"
            )
        elif isinstance(event, PhaseStarted):
            self._phase(event)
        elif isinstance(event, Progress):
            self._progress(event)
        elif isinstance(event, ViolationFound):
            self._violations += 1
        elif isinstance(event, RunFinished):
            self.stop()

    def finish(self, entry: Entry) -> None:
        """Print the report of a target that has been checked, or could not be."""
        self.stop()
        if isinstance(entry, NotSetUp) and not self._headed:
            self._print(f"fscontract {__version__}: {printable(entry.target)}")
        for line in ("", *lines(entry), ""):
            self._print(line)
        self._headed = False

    def stop(self) -> None:
        """Take the progress line away."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _phase(self, event: PhaseStarted) -> None:
        if self._rich is None:
            total = "" if event.total is None else f": {plural(event.total, 'program')}"
            self._print(f"phase {event.phase}{total}")
            return
        if self._status is None:
            self._status = self._rich.status(event.phase)
            self._status.start()
        self._status.update(event.phase)

    def _progress(self, event: Progress) -> None:
        if self._status is not None:
            total = "" if event.total is None else f" of {event.total}"
            self._status.update(
                f"{event.phase}: {event.done}{total} programs, {event.operations} operations, "
                f"{plural(self._violations, 'violation')}"
            )

    def _print(self, line: str) -> None:
        if self._rich is None:
            encoding = getattr(self._stream, "encoding", None) or "utf-8"
            shown = line.encode(encoding, "backslashreplace").decode(encoding)
            self._stream.write(f"{shown}\n")
            self._stream.flush()
            return
        from rich.text import Text

        text = Text(line)
        word = line.split(" ", 1)[0]
        if word in _STYLES:
            text.stylize(_STYLES[word], 0, len(word) if word.isupper() else len(line))
        self._rich.print(text)
