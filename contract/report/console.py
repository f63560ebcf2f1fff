"""The report for a terminal; in CI, or without a terminal, the same in plain lines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING, TextIO

from fscontract.contract import __version__
from fscontract.contract.clock import monotonic
from fscontract.contract.report.progress import ProgressLine, ProgressLines
from fscontract.contract.report.text import (
    cause_block,
    failed_by_consequence,
    failure_block,
    found_line,
    known_line,
    observed,
    out_of_time,
    table,
)
from fscontract.contract.runner.events import (
    Event,
    Interrupted,
    Listener,
    PhaseStarted,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.runner.result import INTERRUPTED, Entry, NotSetUp, RunResult, Verdict
from fscontract.contract.text import mask_url, plural, printable

if TYPE_CHECKING:
    from rich.console import Console as RichConsole

#: Bytes of a file that is longer than most blocks and buffers.
_ENOUGH = 9_000
#: Columns of a report in a file, and the minimum and maximum at a terminal.
_WIDTH, _MIN_WIDTH, _MAX_WIDTH = 98, 40, 120
#: After how many seconds a run prints violations when they are found.
_A_WHILE = 10.0
#: The colour of a line by its first word.
_STYLES = {
    "FAIL": "bold red",
    "HANG": "bold red",
    "CRASH": "bold red",
    "FIXED": "bold red",
    "LAX": "yellow",
    "KNOWN": "yellow",
    "INHERITED": "yellow",
    "conforms:": "bold green",
    "does": "bold red",
    "interrupted:": "bold red",
    "incomplete:": "bold red",
}


def lines(
    entry: Entry, width: int = _WIDTH, *, tracebacks: bool = False, skipped: bool = False
) -> Iterator[str]:
    """Yield the lines that are printed after a target has been checked, without colours.

    `tracebacks` are those of the target's exceptions; `skipped` lists clauses that were not
    verified, which are counted otherwise.
    """
    if isinstance(entry, NotSetUp):
        yield f"not set up: {printable(entry.message)}"
        return
    for cause in entry.causes:
        yield from cause_block(cause, width, tracebacks)
        yield ""
    for result in entry.clauses:
        if result.outcome is Verdict.FIXED:
            yield from failure_block(result, width, tracebacks)
            yield ""
    for verdict in (Verdict.INHERITED, Verdict.KNOWN):
        explained = [known_line(r) for r in entry.clauses if r.outcome is verdict]
        yield from [*explained, ""] if explained else []
    yield from aligned(table(entry), width)
    yield ""
    yield from not_verified(entry, width, skipped)
    if entry.observed:
        yield from wrap(
            f"observed: {observed(entry)}", width, subsequent_indent="  ", break_on_hyphens=False
        )
    yield printable(_facts(entry))
    if entry.boundaries:
        yield printable(f"went around multiples of {', '.join(map(str, entry.boundaries))}")
    if entry.cut_short:
        yield printable(out_of_time(entry))
    for warning in entry.warnings:
        yield f"warning: {printable(warning)}"
    if entry.incomplete and not entry.incomplete.startswith(INTERRUPTED):
        yield f"the run is incomplete: {printable(entry.incomplete)}"
    yield from failed_by_consequence(entry, width)
    yield entry.verdict_line


def aligned(rows: list[list[str]], width: int = _WIDTH) -> Iterator[str]:
    """Yield a table in columns, names aligned left, numbers right; transposed if it is wide."""
    widths = _widths(rows)
    if sum(widths) + 2 * (len(widths) - 1) > width:
        rows = [list(row) for row in zip(*rows, strict=True)]
        widths = _widths(rows)
    for row in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join([f"{row[0]:{widths[0]}}", *cells])


def _widths(rows: list[list[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def not_verified(result: RunResult, width: int = _WIDTH, with_ids: bool = True) -> Iterator[str]:
    """Yield the reasons why clauses were not verified, with their number; nothing if all were."""
    groups = result.unverified
    if not groups:
        return
    hint = "" if with_ids else "; --show-skipped lists them"
    yield f"not verified: {plural(sum(len(g.clauses) for g in groups), 'clause')}{hint}"
    for group in groups:
        reason = group.reason.removeprefix(f"{group.outcome.value}: ")
        text = f"{group.outcome.value}: {reason}" if reason else group.outcome.value
        if not with_ids:
            yield printable(f"  {len(group.clauses):3}  {text}")
            continue
        yield printable(f"  {text}")
        for line in wrap(" ".join(group.clauses), width - 4, break_on_hyphens=False):
            yield f"    {line}"
    yield ""


def _facts(result: RunResult) -> str:
    facts = [f"{count} {name}" for name, count in result.counts.items()]
    facts += [f"{name} {version}" for name, version in result.versions.items()]
    if result.sizes:
        sizes = " and ".join(f"{size:,}" for size in result.sizes)
        few = "" if max(result.sizes) >= _ENOUGH else f"; {_ENOUGH:,} or more show more bugs"
        facts.append(f"{'file' if len(result.sizes) == 1 else 'files'} of {sizes} bytes{few}")
    return ", ".join([*facts, f"seed {result.seed}", f"{result.seconds:.1f} s"])


def is_plain(stream: TextIO, environment: Mapping[str, str] | None = None) -> bool:
    """Return whether `stream` gets no colours and no progress line."""
    known = os.environ if environment is None else environment
    return bool(known.get("CI")) or known.get("TERM") == "dumb" or not stream.isatty()


@contextmanager
def shown_on(stream: TextIO) -> Iterator[Listener]:
    """Return a listener that shows the progress of a run, on a terminal if `stream` is one."""
    if is_plain(stream):
        yield ProgressLines(lambda line: print(printable(line), file=stream, flush=True))
        return
    from rich.console import Console as RichConsole

    line = ProgressLine(RichConsole(file=stream, no_color=bool(os.environ.get("NO_COLOR"))))
    try:
        yield line
    finally:
        line.stop()


class Console:
    """Prints a run on `stream`; call it with events, then `finish`.

    If `quiet`, it prints the verdicts only; `tracebacks` and `skipped` are those of `lines`.
    """

    def __init__(
        self,
        stream: TextIO,
        plain: bool | None = None,
        quiet: bool = False,
        tracebacks: bool = False,
        skipped: bool = False,
    ) -> None:
        self._stream = stream
        self._details = {"tracebacks": tracebacks, "skipped": skipped}
        self._quiet = quiet
        self._rich: RichConsole | None = None
        self._line: ProgressLine | None = None
        self._headed = False
        self._began = monotonic()
        #: The violations that were not printed yet.
        self._found: list[str] = []
        #: The partial result of an interrupted run; None if it was not interrupted.
        self.so_far: RunResult | None = None
        if not (is_plain(stream) if plain is None else plain):
            from rich.console import Console as RichConsole

            self._rich = RichConsole(
                file=stream,
                highlight=False,
                soft_wrap=True,
                no_color=bool(os.environ.get("NO_COLOR")),  # rich before 14 minds an empty one
            )
            self._line = None if quiet else ProgressLine(self._rich)
        self._lines = None if quiet or self._rich is not None else ProgressLines(self._print)

    def set_up(self, target: str) -> None:
        """Show that a target is being looked up, or started."""
        if self._line is not None:
            self._line.say(f"setting up {mask_url(target)}")

    def __call__(self, event: Event) -> None:
        """Show an event."""
        if isinstance(event, RunStarted):
            self._headed = True
            self.so_far = None
            self._began = monotonic()
            self._found.clear()
            self._head(
                f"{printable(event.target)} through {event.binding}, "
                f"profile {event.profile}, effort {event.effort}, seed {event.seed}"
            )
        elif isinstance(event, Interrupted):
            self.so_far = event.result
        elif isinstance(event, PhaseStarted) and self._rich is None and not self._quiet:
            total = "" if event.total is None else f": {plural(event.total, 'program')}"
            self._print(f"phase {event.phase}{total}")
        elif isinstance(event, ViolationFound) and not self._quiet:
            self._found.append(found_line(event.clause, event.counterexample))
        self._print_found()
        if self._line is not None:
            self._line(event)
        if self._lines is not None:
            self._lines(event)

    def _print_found(self) -> None:
        """Print the violations of a run that takes a while; a short run reports them soon."""
        if self._found and monotonic() - self._began >= _A_WHILE:
            for line in self._found:
                self._print(line)
            self._found.clear()

    def finish(self, entry: Entry) -> None:
        """Print the report of a target that has been checked, or could not be."""
        self.stop()
        if self._quiet:
            *_, last = lines(entry)
            self._print(f"{printable(entry.target)}: {last}")
            return
        if isinstance(entry, NotSetUp) and not self._headed:
            self._head(printable(entry.target))
        for line in ("", *lines(entry, self._width, **self._details), ""):
            self._print(line)
        self._headed = False

    def say_file(self, number: int, count: int, file: str) -> None:
        """Show which file of a read-only target the next run is on."""
        if not self._quiet:
            self.stop()
            self._print(f"file {number} of {count}: {printable(mask_url(file))}")

    def stop(self) -> None:
        """Remove the progress line."""
        if self._line is not None:
            self._line.stop()

    @property
    def _width(self) -> int:
        """The width of the report: that of the terminal, up to a readable maximum."""
        return _WIDTH if self._rich is None else max(_MIN_WIDTH, min(self._rich.width, _MAX_WIDTH))

    def _head(self, text: str) -> None:
        if not self._quiet:
            self.stop()
            self._print(f"fscontract {__version__}: {text}")

    def _print(self, line: str) -> None:
        if self._rich is None:
            encoding = getattr(self._stream, "encoding", None) or "utf-8"
            encoded = line.encode(encoding, "backslashreplace").decode(encoding)
            self._stream.write(f"{encoded}\n")
            self._stream.flush()
            return
        from rich.text import Text

        text = Text(line)
        word = line.split(" ", 1)[0]
        if word in _STYLES:
            text.stylize(_STYLES[word], 0, len(word) if word.isupper() else len(line))
        self._rich.print(text)
