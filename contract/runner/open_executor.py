"""Open streams through a builder, stage by stage, and judge each stage."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.binding import Binding, NoScene, Opener
from fscontract.contract.models import openfile_clauses
from fscontract.contract.models import openfile_stages as opening
from fscontract.contract.models.openfile_stages import Case, StageVerdict
from fscontract.contract.models.stream_state import Judgement
from fscontract.contract.program.content import replacement
from fscontract.contract.program.outcome import Outcome, returned
from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.runner.execution import Violation


class Keys(NamedTuple):
    """The additional keys of a filesystem, and those it knows but does not support."""

    own: frozenset[str] = frozenset()
    unsupported: frozenset[str] = frozenset()


NO_KEYS = Keys()


@dataclass
class Attempt:
    """The result of opening the streams of one program, up to the first stage that ended it."""

    case: Case
    path: str
    #: The content that the streams may read: the file, or a part of it.
    contents: tuple[bytes, ...] = ()
    streams: list[Any] = field(default_factory=list)
    trace: list[tuple[Step, Outcome, Judgement]] = field(default_factory=list)
    #: The stage that failed, with its outcome and the verdict.
    failed: tuple[Step, Outcome, StageVerdict] | None = None
    environment: Outcome | None = None
    ended: bool = False
    #: True if the file belongs to this program, and must be removed.
    own_file: bool = False

    @property
    def goes_on(self) -> bool:
        """True if there are streams to make calls on."""
        return self.failed is None and self.environment is None and not self.ended

    def note(self, step: Step, outcome: Outcome, said: StageVerdict) -> None:
        """Add a call and its verdict."""
        self.trace.append((step, outcome, Judgement((), failure=said.failure)))
        if outcome.is_unanswered:
            self.environment = outcome
        elif said.failure is not None:
            self.failed = step, outcome, said
        self.ended = said.ended


class Openings:
    """The opens of one run through an opener."""

    def __init__(
        self,
        binding: Binding,
        opener: Opener,
        features: frozenset[str],
        keys: Keys,
        buffer: int,
        new_content: Callable[[int, object], bytes],
    ) -> None:
        self.binding = binding
        self.opener = opener
        self.features = features
        self.keys = keys
        self.buffer = buffer
        self._new_content = new_content
        self._places: dict[str, str] = {}

    def case(self, program: Program, length: int) -> Case:
        """Return the case for the model: a program with an opening, on a file of `length` bytes."""
        assert program.opening is not None
        resolved = program.opening.resolved(length, self.buffer)
        own, unsupported = self.keys
        table = option_table()
        return Case(resolved, length, self.features, table, own, unsupported, program.streams)

    def attempt(self, program: Program, path: str, data: bytes) -> Attempt:
        """Open the streams of a program; `path` is a file with the content `data`.

        NoScene if the target can't have what the program wants to open.
        """
        case = self.case(program, len(data))
        if case.opening.scene != "file" or case.status == "stale":
            data = self._new_content(len(data), case.opening)
        attempt = self._prepare_scene(case, path, data)
        with contextlib.closing(self._stages(attempt, data)) as stages:
            for step, outcome, said in stages:
                attempt.note(step, outcome, said)
                if not attempt.goes_on:
                    break
        return attempt

    def doomed(
        self, attempt: Attempt, steps: tuple[Step, ...], act: Callable[[Step], Outcome]
    ) -> None:
        """Make calls on a stream of an unreadable file, until one of them raises."""
        probes = [probe for probe in opening.PROBES if probe.op in self.binding.operations]
        position = 0
        for step in (*(s for s in steps if s.stream == 0), *probes[:1]):
            outcome = act(step)
            resolved = resolve_step(step, attempt.case.length, self.buffer)
            said = opening.judge_doomed(attempt.case, resolved, outcome, position)
            attempt.note(step, outcome, said)
            if not attempt.goes_on:
                return
            position = opening.moved(resolved, outcome, position)

    def own_pair(self, program: Program) -> Program | None:
        """Return the program with `opt` and `must` exchanged, if it sets only an own key."""
        opening = program.opening
        if opening is None or len(opening.calls) != 1:
            return None
        name, key = opening.calls[0][:2]
        if name in ("buffer_size", "with_file_status") or key not in self.keys.own:
            return None
        calls = openfile_clauses.exchanged(opening.calls)
        return replace(program, opening=replace(opening, calls=calls))

    def remove(self, attempt: Attempt) -> None:
        """Remove a file that only this program has used."""
        if attempt.own_file:
            with contextlib.suppress(NoScene):  # a store may refuse that
                self.binding.change(attempt.path, None)

    def charge(self, violation: Violation, length: int, exchanged: bool) -> str:
        """Return the clause that a failing, shrunk program violates.

        `exchanged` means that it passes with `opt` and `must` exchanged.
        """
        failure = violation.failure
        if failure.clause.startswith("open."):
            return failure.clause
        stage = failure.aspect.split(" ")[0]
        if violation.index >= 0 or stage not in opening.STAGES:
            stage = "read"
        kind = violation.outcome.kind
        fault = openfile_clauses.Fault(stage, kind, failure.aspect, exchanged, violation.step.op)
        return openfile_clauses.charge(self.case(violation.program, length), fault)

    # The stages -----------------------------------------------------------------------------

    def _prepare_scene(self, case: Case, path: str, data: bytes) -> Attempt:
        scene = case.opening.scene
        if scene not in self.opener.scenes:
            raise NoScene(scene)
        if case.status == "stale":
            return Attempt(case, self.binding.create(data), own_file=True)
        if scene == "file":
            return Attempt(case, path)
        if scene == "late":
            return Attempt(case, self.opener.place(scene, data))
        if scene not in self._places:
            self._places[scene] = self.opener.place(scene, data)
        return Attempt(case, self._places[scene])

    def _stages(
        self, attempt: Attempt, data: bytes
    ) -> Generator[tuple[Step, Outcome, StageVerdict], None, None]:
        case, opener = attempt.case, self.opener
        calls = [opener.ready(attempt.path, call) for call in case.opening.calls]
        changed = None
        if case.status == "stale":
            changed = replacement(data)
            self.binding.change(attempt.path, changed)
        attempt.contents = case.contents(data, changed)

        outcome, builder = self._try(lambda: opener.open_file(attempt.path))
        yield Step("open_file"), outcome, opening.judge_open_file(case, outcome)
        for index, (call, call_shape) in enumerate(zip(calls, case.opening.calls, strict=True)):
            outcome, builder = self._try(partial(opener.call, builder, call))
            said = opening.judge_call(case, index, outcome)
            yield Step(call_shape[0], call_shape[1:]), outcome, said
        if case.opening.scene == "late":
            opener.appear(attempt.path, data)
            attempt.own_file = True
        futures: list[Any] = []
        try:
            for _ in range(case.streams):
                outcome, future = self._try(partial(opener.build, builder))
                futures.append(future)
                yield Step("build"), outcome, opening.judge_build(case, outcome)
            while futures:
                outcome = self._get(attempt, futures.pop(0))
                yield Step("get"), outcome, opening.judge_get(case, outcome)
        finally:  # streams that no call uses after a failure are closed, too
            for future in futures:
                if future is not None:
                    self._get(attempt, future)

    def _get(self, attempt: Attempt, future: Any) -> Outcome:
        """Get the stream of a future, which is closed with those of the attempt."""
        outcome, stream = self._try(partial(self.opener.get, future))
        if not outcome.raised:
            attempt.streams.append(stream)
        return outcome

    def _try(self, action: Callable[[], Any]) -> tuple[Outcome, Any]:
        try:
            return returned(), action()
        except Exception as error:  # any exception of the API is judged
            return self.opener.outcome(error), None
