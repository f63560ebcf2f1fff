"""A target of `fscontract check` whose programs are run somewhere else."""

from __future__ import annotations

from typing import ClassVar

from fscontract.contract.binding import Binding
from fscontract.contract.clauses import STREAM
from fscontract.contract.known import Known
from fscontract.contract.masking import mask_url
from fscontract.contract.pipelineports import PipelineBinding
from fscontract.contract.suite.commands import common
from fscontract.contract.suite.events import Listener
from fscontract.contract.suite.result import RunResult
from fscontract.contract.suite.settings import with_checks
from fscontract.contract.suite.spread.driver import SpreadRun
from fscontract.contract.suite.spread.files import EXECUTORS
from fscontract.contract.suite.spread.port import Spreading, spreading
from fscontract.contract.targets import UsageError


class Elsewhere:
    """Where the tasks of all targets run; it is started when it is first needed."""

    def __init__(self, kind: str, place: str) -> None:
        self.kind = kind
        self._place = place
        self._spreading: Spreading | None = None

    def started(self) -> Spreading:
        """What runs tasks; TargetError, UsageError."""
        if self._spreading is None:
            self._spreading = spreading(self.kind, self._place)
        return self._spreading

    def close(self) -> None:
        """End what was started."""
        found, self._spreading = self._spreading, None
        if found is not None:
            found.close()


class SpreadTarget:
    """A target whose programs are run somewhere else; UsageError if that makes no sense.

    It is made here as well, so that a mistake shows before anything is started.
    """

    #: What its clauses may be about.
    apis: ClassVar[frozenset[str]] = frozenset({STREAM, EXECUTORS})

    def __init__(
        self, target: str, run: common.RunOptions, known: tuple[Known, ...], elsewhere: Elsewhere
    ) -> None:
        option = f"--{elsewhere.kind}"
        if target == elsewhere.kind:
            raise UsageError(f"{target}: it runs tasks itself, which tasks can't: leave {option}")
        made = common.resolve_any(target, run)
        if isinstance(made, PipelineBinding):
            raise UsageError(f"{mask_url(target)}: a {made.api}: {option} is for filesystems")
        self.binding: Binding = made
        self._target = target
        self._run = run
        self._known = known
        self._elsewhere = elsewhere

    @property
    def name(self) -> str:
        """That of the binding."""
        return str(self.binding.name)

    def check(self, listener: Listener) -> RunResult:
        """The result of the run; TargetError if there can be none."""
        run, binding = self._run, self.binding
        chosen = common.selected(run, anything=True)
        clauses = with_checks(chosen) + tuple(c for c in chosen if c.api == EXECUTORS)
        settings = common.settings_for(self._target, binding, run, clauses, self._known)
        there = self._elsewhere.started()
        return SpreadRun(self._target, binding, run, settings, there, listener).check()

    def close(self) -> None:
        """Nothing was started for it alone."""
