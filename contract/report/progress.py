"""The progress of a run: a status line of a terminal, or plain lines at intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from fscontract.contract.clock import monotonic
from fscontract.contract.runner.events import (
    Event,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.spec.clauses import Level, clauses
from fscontract.contract.text import plural, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_BAR = 12
_PER_SECOND = 5
#: The ranks of the target and of the bar, which a log omits.
_DRAWN = frozenset({0, 2})
#: The remaining time is estimated after this share of a phase, and this number of seconds.
_ENOUGH, _PATIENCE = 0.02, 1.0
#: The minimum of seconds between two plain lines.
_PAUSE = 60.0


class Segment(NamedTuple):
    """A piece of the line; if the line is too long, parts of the lowest rank are removed."""

    rank: int
    text: str
    style: str = ""


class State:
    """The state of a run, from its events so far."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self.begin("")

    def begin(self, phase: str) -> None:
        """Start a run, or a step before it."""
        self._target = ""
        self._clauses = self._judged = self._violations = 0
        self._began = self._clock()
        self._enter(phase, None)

    def hear(self, event: Event) -> None:
        """Update the state by an event."""
        if isinstance(event, RunStarted):
            self.begin("setting up")
            self._target, self._clauses = event.target, event.clauses
        elif isinstance(event, PhaseStarted):
            self._enter(event.phase, event.total)
        elif isinstance(event, Progress):
            self._done, self._total = event.done, event.total
            self._unit, self._running = event.unit, event.running
            self._judged = max(self._judged, event.clauses)
        elif isinstance(event, ViolationFound):
            known = clauses().get(event.clause)
            # a missed SHOULD is not a violation
            self._violations += known is None or known.level is not Level.SHOULD

    def parts(self, width: int) -> list[Segment]:
        """Return the line's parts that fit, in their order."""
        parts = [p for p in self._parts() if p.text]
        while len(parts) > 1 and sum(len(p.text) for p in parts) + 3 * len(parts) > width:
            parts.remove(min(parts, key=lambda p: p.rank))
        return parts

    def text(self) -> str:
        """Return all parts for a log, which has named the target before."""
        return ", ".join(p.text for p in self._parts() if p.text and p.rank not in _DRAWN)

    def _enter(self, phase: str, total: int | None) -> None:
        self._phase, self._total, self._done = phase, total, 0
        self._unit, self._running = "program", None
        self._entered = self._clock()

    def _parts(self) -> list[Segment]:
        now = self._clock()
        broken = self._violations > 0
        return [
            Segment(0, printable(self._target)),
            Segment(9, printable(self._phase), "bold"),
            Segment(2, self._bar(), "cyan"),
            Segment(7, self._programs()),
            Segment(
                6, f"{self._judged:,} of {plural(self._clauses, 'clause')}" if self._judged else ""
            ),
            Segment(8, self._violation_count(), "bold red" if broken else "green"),
            Segment(4, _time(now - self._began)),
            Segment(5, self._remaining(now)),
        ]

    def _violation_count(self) -> str:
        """Return the number of violations; "" before the target is known."""
        return plural(self._violations, "violation") if self._target else ""

    def _programs(self) -> str:
        running = f", {self._running} running" if self._running else ""
        if not self._done and not running:
            return ""
        of = f" of {self._total:,}" if self._total else ""
        return f"{self._done:,}{of} {self._unit}s{running}"

    def _bar(self) -> str:
        if not self._total:
            return ""
        full = round(_BAR * min(1.0, self._done / self._total))
        return "━" * full + "─" * (_BAR - full)

    def _remaining(self, now: float) -> str:
        """Return the estimated rest of the phase, "" if its total is unknown."""
        spent, total = now - self._entered, self._total or 0
        if spent < _PATIENCE or not total or self._done < _ENOUGH * total:
            return ""
        return f"{_time(spent * max(0, total - self._done) / self._done)} left in this phase"


class ProgressLine:
    """Shows the state of a run on a rich console; call it with events."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._state = State()
        self._live: Any = None

    def __call__(self, event: Event) -> None:
        """Update the line by an event; the end of the run removes it."""
        if isinstance(event, RunFinished):
            self.stop()
            return
        self._state.hear(event)
        self._show()

    def say(self, phase: str) -> None:
        """Show the current step outside of a run."""
        self._state.begin(phase)
        self._show()

    def stop(self) -> None:
        """Remove the line."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _show(self) -> None:
        if self._live is not None:
            return
        from rich.live import Live

        self._live = Live(
            console=self._console,
            get_renderable=self._line,
            refresh_per_second=_PER_SECOND,
            transient=True,
            redirect_stdout=False,  # the target's output is not markup
            redirect_stderr=False,
        )
        self._live.start(refresh=True)

    def _line(self) -> Text:
        from rich.text import Text

        turn = int(monotonic() * _PER_SECOND) % len(_SPINNER)
        line = Text(f"{_SPINNER[turn]} ", style="cyan", no_wrap=True, overflow="ellipsis", end="")
        for number, part in enumerate(self._state.parts(self._console.width - 2)):
            line.append(" · " if number else "", style="dim")
            line.append(part.text, style=part.style or "default")
        return line


class ProgressLines:
    """Prints the state of a run once a minute; call it with events.

    Steps of less than a minute are omitted. A log without new lines looks dead, and some CI
    services end its job.
    """

    def __init__(self, show: Callable[[str], None], clock: Callable[[], float] = monotonic) -> None:
        self._show = show
        self._clock = clock
        self._state = State(clock)
        self._last_shown = clock()

    def __call__(self, event: Event) -> None:
        """Update the state by an event."""
        self._state.hear(event)
        if isinstance(event, RunStarted):
            self._last_shown = self._clock()
        elif isinstance(event, Progress) and self._clock() - self._last_shown >= _PAUSE:
            self._last_shown = self._clock()
            self._show(self._state.text())


def _time(seconds: float) -> str:
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds_left:02}" if hours else f"{minutes}:{seconds_left:02}"
