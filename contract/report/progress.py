"""How far a run has come: a line at the foot of a terminal, or plain ones now and then."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from fscontract.contract.clock import monotonic
from fscontract.contract.report.text import plural, printable
from fscontract.contract.runner.events import (
    Event,
    PhaseStarted,
    Progress,
    RunFinished,
    RunStarted,
    ViolationFound,
)
from fscontract.contract.spec.clauses import Level, clauses

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_BAR = 12
_PER_SECOND = 5
#: The ranks of the target and of the bar, which a log goes without.
_DRAWN = frozenset({0, 2})
#: What is left is guessed once so much of a phase is done, and so many seconds went by.
_ENOUGH, _PATIENCE = 0.02, 1.0
#: How many seconds pass between two plain lines at least.
_PAUSE = 60.0


class Part(NamedTuple):
    """A piece of the line; where it is too long, parts of the lowest rank are left out."""

    rank: int
    text: str
    style: str = ""


class State:
    """What the events of a run have told so far."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self.begin("")

    def begin(self, phase: str) -> None:
        """A run starts, or what comes before it."""
        self._target = ""
        self._asked = self._judged = self._violations = 0
        self._began = self._clock()
        self._enter(phase, None)

    def hear(self, event: Event) -> None:
        """Take an event in."""
        if isinstance(event, RunStarted):
            self.begin("setting up")
            self._target, self._asked = event.target, event.clauses
        elif isinstance(event, PhaseStarted):
            self._enter(event.phase, event.total)
        elif isinstance(event, Progress):
            self._done, self._total = event.done, event.total
            self._unit, self._running = event.unit, event.running
            self._judged = max(self._judged, event.clauses)
        elif isinstance(event, ViolationFound):
            known = clauses().get(event.clause)
            self._violations += known is None or known.level is not Level.SHOULD  # which is lax

    def parts(self, width: int) -> list[Part]:
        """The line's parts that fit, in their order."""
        found = [p for p in self._parts() if p.text]
        while len(found) > 1 and sum(len(p.text) for p in found) + 3 * len(found) > width:
            found.remove(min(found, key=lambda p: p.rank))
        return found

    def text(self) -> str:
        """All of it that a log has a use for, which has named the target before."""
        return ", ".join(p.text for p in self._parts() if p.text and p.rank not in _DRAWN)

    def _enter(self, phase: str, total: int | None) -> None:
        self._phase, self._total, self._done = phase, total, 0
        self._unit, self._running = "program", None
        self._entered = self._clock()

    def _parts(self) -> list[Part]:
        now = self._clock()
        broken = self._violations > 0
        return [
            Part(0, printable(self._target)),
            Part(9, printable(self._phase), "bold"),
            Part(2, self._bar(), "cyan"),
            Part(7, self._programs()),
            Part(6, f"{self._judged:,} of {plural(self._asked, 'clause')}" if self._judged else ""),
            Part(8, self._found(), "bold red" if broken else "green"),
            Part(4, _time(now - self._began)),
            Part(5, self._left(now)),
        ]

    def _found(self) -> str:
        """How many violations; nothing before there is a target to have any."""
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

    def _left(self, now: float) -> str:
        """What is left of the phase by the pace so far, if it is known how much there is."""
        spent, total = now - self._entered, self._total or 0
        if spent < _PATIENCE or not total or self._done < _ENOUGH * total:
            return ""
        return f"{_time(spent * max(0, total - self._done) / self._done)} left in this phase"


class ProgressLine:
    """Shows the state of a run on a rich console while it goes on; call it with events."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._state = State()
        self._live: Any = None

    def __call__(self, event: Event) -> None:
        """Take an event in; the line goes with the end of the run."""
        if isinstance(event, RunFinished):
            self.stop()
            return
        self._state.hear(event)
        self._show()

    def say(self, what: str) -> None:
        """Show what is done while there is no run."""
        self._state.begin(what)
        self._show()

    def stop(self) -> None:
        """Take the line away."""
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
            redirect_stdout=False,  # what a target prints is its own
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
    """Prints the state of a run once a minute while it goes on; call it with events.

    What takes no minute is not mentioned. A log that nothing is added to for long looks dead, and
    there are CI services that end its job.
    """

    def __init__(self, show: Callable[[str], None], clock: Callable[[], float] = monotonic) -> None:
        self._show = show
        self._clock = clock
        self._state = State(clock)
        self._shown = clock()

    def __call__(self, event: Event) -> None:
        """Take an event in."""
        self._state.hear(event)
        if isinstance(event, RunStarted):
            self._shown = self._clock()
        elif isinstance(event, Progress) and self._clock() - self._shown >= _PAUSE:
            self._shown = self._clock()
            self._show(self._state.text())


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
