"""Inputs and results of executing a program: files, compiled steps, violations."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from fscontract.contract.binding import Action, Binding, TargetError
from fscontract.contract.models.acceptor import Acceptor
from fscontract.contract.models.openfile_stages import StageVerdict
from fscontract.contract.models.stream_state import Failure, Judgement, State
from fscontract.contract.program.content import SparseContent, content, new_content
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import Program, Step, resolve_step
from fscontract.contract.runner.call_details import kept_details
from fscontract.contract.runner.crashes import StepIndex

#: The increase of a file's length to see whether a failure depends on its end, in bytes.
_LONGER = 16


#: Shared files of more bytes are not renewed: writing them takes long.
_LARGEST_RENEWED = 1 << 13

#: The path, the content and the first node of the acceptor of the file of each length.
_Files: TypeAlias = dict[int, tuple[str, bytes, int]]


class FileRefused(TargetError):
    """The target does not store a file of this length, but one of another length."""


class Compiled(NamedTuple):
    """A step prepared for one file length: resolved, numbered, bound."""

    source: Step
    step: Step
    number: int
    action: Action


@dataclass(frozen=True)
class Violation:
    """A result of one program: a failure that ended it, or a SHOULD that it missed."""

    program: Program
    index: int
    step: Step
    outcome: Outcome
    failure: Failure
    missed: bool = False
    #: The operation that last touched the position before the failing step.
    origin: str = ""
    #: True if a read would show the position: it is known, and before the end.
    placed: bool = True
    #: The relation of the outcome to the right one, and the circumstances of the state.
    relation: str = ""
    circumstances: tuple[str, ...] = ()
    #: The call without anchors, and the state before it, if known.
    judged: tuple[Step, State] | None = field(default=None, compare=False)

    @property
    def signature(self) -> tuple[str, ...]:
        """The common attributes of violations that look alike before they are shrunk."""
        failure = self.failure
        kind = self.outcome.kind.value
        seen = (failure.clause, failure.cause, failure.aspect, self.step.op, kind, self.origin)
        return (*seen, self.relation, *self.circumstances)

    def charged_to(self, clause: str) -> Violation:
        """Return the violation as one of another clause that the same outcome breaks.

        The relation is that of the bytes to the right ones, which is not what the clause is about.
        """
        failure = self.failure._replace(clause=clause, cause="", also=())
        return replace(self, failure=failure, relation="")

    @property
    def likeness(self) -> tuple[str, ...]:
        """The attributes that stay the same while a program is shrunk."""
        kind = self.outcome.kind.value
        kept = kept_details(self.circumstances)
        return (self.failure.clause, self.failure.aspect, kind, self.relation, *kept)


def stage_violation(
    program: Program, step: Step, outcome: Outcome, verdict: StageVerdict
) -> Violation:
    """Return the violation of a stage of an opening."""
    assert verdict.failure is not None
    return Violation(program, -1, step, outcome, verdict.failure)


@dataclass
class Execution:
    """One program's run: its first violation, and those of the calls after it."""

    violation: Violation | None = None
    later: list[Violation] = field(default_factory=list)
    misses: list[Violation] = field(default_factory=list)
    environment: Outcome | None = None
    #: The content of the file when it was opened, if it is not that of the shared one.
    content: bytes | None = None
    trace: list[tuple[Step, Outcome, Judgement]] = field(default_factory=list)
    #: The first seek that did not return the position. It counts if nothing else fails: a stream
    #: all of whose seeks return None, or the offset, may move elsewhere, too.
    misreported: Violation | None = None
    #: Whether the file was changed, whether it is deleted, and whether it can't be opened again.
    is_changed: bool = False
    is_deleted: bool = False
    ended: bool = False
    #: Whether the target can't have the file, so that nothing was opened.
    refused: bool = False
    #: The numbers of the streams that were opened after a change, and after the file was deleted.
    reopened: set[int] = field(default_factory=set)
    doomed: set[int] = field(default_factory=set)

    def add(self, violation: Violation) -> None:
        """Add the next violation, charged to all clauses that the call violates."""
        others = [violation.charged_to(clause) for clause in violation.failure.also]
        if self.violation is None:
            self.violation = violation
        else:
            self.later.append(violation)
        self.later += others

    @property
    def first(self) -> list[Violation]:
        """The violations of the first failing call."""
        return [v for v in self.violations if v.index == self.violations[0].index]

    @property
    def violations(self) -> list[Violation]:
        """All violations, in the order of the calls."""
        return [] if self.violation is None else [self.violation, *self.later]

    @property
    def interrupted(self) -> dict[int, Outcome]:
        """The wrong outcomes that may come from an interrupted answer, by the index of the call.

        None of a program with faults, whose answers are interrupted on purpose.
        """
        if self.violation is None and not self.misses:
            return {}
        judged = [*self.violations, *self.misses]
        interrupted = (v for v in judged if v.outcome.is_interrupted)
        return {v.index: v.outcome for v in interrupted if v.program.faults is None}


class Workspace:
    """Files and compiled steps of one binding, shared by the programs that run on it.

    Each length has one file, for all programs that do not change it.
    """

    def __init__(
        self, binding: Binding, buffer: int, acceptor: Acceptor, step_index: StepIndex | None = None
    ) -> None:
        self.binding = binding
        self.buffer = buffer
        self.acceptor = acceptor
        self.operations = 0
        self.programs = 0
        #: How many streams were opened for programs without options.
        self.opened = 0
        self._step_index: StepIndex = [0] if step_index is None else step_index
        #: The shortest length of files that are refused, infinite if none is, and why.
        self._refused_from = math.inf
        self.refusal = ""
        self._files: _Files = {}
        #: The lengths whose files have not the content of a new run, and files that have it.
        self._renewed: set[int] = set()
        self._first: _Files = {}
        self._by_value: dict[tuple[int, Step], Compiled] = {}
        self._by_identity: dict[int, dict[int, Compiled]] = {}

    def judge_by(self, acceptor: Acceptor) -> None:
        """Judge by another model from now on; the shared files stay."""
        self.acceptor = acceptor
        self._files = {
            length: (path, data, acceptor.start(data))
            for length, (path, data, _) in self._files.items()
        }
        self._first.clear()
        self._by_value.clear()
        self._by_identity = {length: {} for length in self._files}

    def release(self) -> None:
        """Forget the files and steps of all programs, at the end of a run.

        An exception that the target keeps may hold the frames of the run, and so this object.
        """
        for table in (self._files, self._first, self._by_value, self._by_identity):
            table.clear()

    @property
    def index(self) -> int:
        """The index of the running step, for a report of a hang; -1 while a stream is opened."""
        return self._step_index[0]

    @index.setter
    def index(self, index: int) -> None:
        self._step_index[0] = index

    def file(self, length: int) -> tuple[str, bytes, int]:
        """Return path, content and start node of the shared file of this length.

        Raise FileRefused if the target stores shorter files only.
        """
        known = self._files.get(length)
        if known is None:
            data = self.binding.fixed_content
            if data is None:
                data = self.new_content(length) if length in self._renewed else content(length)
            if isinstance(data, SparseContent):
                path = self.binding.create_sparse(data)
            else:
                path = self._create(length, data)
            known = path, data, self.acceptor.start(data)
            self._files[length] = known
            self._by_identity[length] = {}
        return known

    def _create(self, length: int, data: bytes) -> str:
        """Write a file, twice if the first time fails; raise FileRefused if a shorter one can be.

        Raise TargetError if none can be written.
        """
        if length >= self._refused_from:
            raise FileRefused(self.refusal)
        try:
            return self.binding.create(data)
        except TargetError:
            shorter = max((known for known in self._files if known < length), default=None)
            if shorter is None or self.binding.fixed_content is not None:
                raise
            self.forget(self.binding.create(content(shorter)))
        try:
            return self.binding.create(data)
        except TargetError as error:
            self._refused_from = length
            self.refusal = f"files of {length:,} bytes and more were not tried: {error}"
            raise FileRefused(self.refusal) from error

    def renew_files(self) -> None:
        """Have other files of the same lengths from now on: a cache may take one for the other."""
        if self.binding.fixed_content is None:
            renewed = {n for n in self._files if n <= _LARGEST_RENEWED}
            for length in renewed:
                del self._files[length]
            self._renewed |= renewed

    @contextmanager
    def first_files(self) -> Iterator[None]:
        """Have the files of a new run inside of this context, in which programs run again."""
        files, renewed = self._files, self._renewed
        kept = {length: file for length, file in files.items() if length not in renewed}
        self._files, self._renewed = {**kept, **self._first}, set()
        try:
            yield
        finally:
            others = {n: file for n, file in self._files.items() if n not in renewed}
            self._first = {
                n: file for n, file in self._files.items() if n in renewed - self._renewed
            }
            self._files = {**others, **{n: files[n] for n in renewed if n in files}}
            self._renewed |= renewed

    @property
    def has_first_files(self) -> bool:
        """True if all shared files have the content that they have in a new run."""
        return not self._renewed

    def new_content(self, length: int, of: object = "") -> bytes:
        """Return the content of a new file, with other bytes than the shared one.

        It depends on what the file is for, so that it is the same in every process.
        """
        fixed = self.binding.fixed_content
        if fixed is not None:
            return fixed
        return new_content(length, of)

    def compile(self, length: int, step: Step) -> Compiled:
        """Return the compiled step for a file of this length."""
        by_identity = self._by_identity[length]
        compiled = by_identity.get(id(step))
        if compiled is not None and compiled.source is step:
            return compiled
        key = (length, step)
        compiled = self._by_value.get(key)
        if compiled is None:
            actual = len(self.file(length)[1])
            resolved = resolve_step(step, actual, self.buffer)
            action = self.binding.bind(resolved)
            number = self.acceptor.number(replace(resolved, stream=0))
            compiled = Compiled(step, resolved, number, action)
            self._by_value[key] = compiled
        # The compiled step keeps its source alive, so that its id can't be reused.
        if compiled.source is step:
            by_identity[id(step)] = compiled
        return compiled

    def lengthened(self, program: Program) -> Program:
        """Return the same calls, with the numbers that they have now, on a longer file."""
        steps = tuple(self.compile(program.length, s).step for s in program.steps)
        return replace(program, length=program.length + _LONGER, steps=steps)

    def forget(self, path: str) -> None:
        """Remove a file that no other program uses."""
        with contextlib.suppress(Exception):  # the program may have deleted it already
            self.binding.change(path, None)
