"""Attribution of failures: find the clause that a failing program violates.

A wrong position shows only in the next call. To find out which call is wrong, the shrunk program is
run again with other calls in place of the failing one: witnesses, which observe the same position
in another way.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from fscontract.contract.api.openfile_options import SPLIT_START
from fscontract.contract.generate.sizes import MOST_READ
from fscontract.contract.models.acceptor import delivered
from fscontract.contract.models.differences import first_difference
from fscontract.contract.models.openfile_clauses import exchanged
from fscontract.contract.models.openfile_stages import READ_OPERATIONS, READABLE
from fscontract.contract.models.python_file import WHENCE
from fscontract.contract.models.python_read import room
from fscontract.contract.models.read import READS
from fscontract.contract.models.stream_state import ANY, PAST, State, opened
from fscontract.contract.models.transition_table import Call
from fscontract.contract.program.content import DENSE, UNIQUE, changed_content, content
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.outcome import Outcome
from fscontract.contract.program.program import (
    BLOCKS,
    OF_FILE,
    OPERATIONS,
    Program,
    Step,
    resolve_step,
)
from fscontract.contract.runner.crashes import STAYING
from fscontract.contract.runner.execution import Violation
from fscontract.contract.runner.signature import (
    AT_END,
    DISPLACED,
    FAILED,
    WRONG_LATER,
    bytes_of,
)


class Witnesses(NamedTuple):
    """Calls of one API that observe the position of a stream: its position, and two reads."""

    position: Step
    reads: tuple[Step, Step]
    #: The clause that is violated if the position is wrong and the reads are right.
    lies: str


_STREAM = Witnesses(
    Step("get_pos"), (Step("read_byte"), Step("read_into", (4, 0, 4))), "getpos.value"
)
_PYTHON = Witnesses(
    Step("py_tell"), (Step("py_read", (2,)), Step("py_readinto", ("B", 3))), "python.tell.value"
)
#: The clause that is violated if get_pos and reads disagree after a seek that failed.
_DISAGREES = "seek.fail-pos"
#: The clause of a tell() that moves the stream.
_MOVES = "python.tell.stays"
#: The clause that is violated if a closed stream still works.
_CLOSED = "close.state"
#: The clauses that are violated if only ranges at the end or beside others can't be read.
_OF_SOME_RANGES = frozenset(
    f"read-vectored.{name}" for name in ("exact-end", "good-ranges", "overlap-allowed")
)
#: The clause of a read with a correct error at a wrong stage.
_TOO_LATE = "open.failure-stage"
_SEEKS = frozenset({"seek", "py_seek"})
#: Reads of Python files to the end, and of lines.
_WITHOUT_COUNT = frozenset(
    {"py_read_default", "py_readall", "py_readline", "py_readlines", "py_next", "py_iterate"}
)
#: Calls that do what others do, in all results.
_ALIASES = {"py_with_error": "py_with", "fs_read_bytes": "fs_cat_file"}
#: The format of a buffer of bytes.
_BYTES = "B"
#: The aspects of reads that delivered wrong bytes, or too few.
_OF_BYTES = frozenset({"data", "moved", "end"})
#: The relations of bytes that are nowhere in the file.
_NOWHERE = frozenset({"bytes not in the file", "buffer not filled", "zeros"})
#: Those of reads that delivered something else than they should, or raised.
_OF_READ = _OF_BYTES | {"raised"}
#: Programs of more calls are long: only their last calls are replaced by others, a few of them,
#: because each attempt runs the program up to there.
_LONG, _FEW = 64, 8
#: The number of bytes that are at one offset of a long file alone.
_TELLING = 4
#: Length of a file with space before the end, for programs on an emptier one.
_ROOMY = 5


def observable(calls: int) -> int:
    """Return before how many of a program's last calls the position is observed."""
    return calls if calls <= _LONG else _FEW


class Charge(NamedTuple):
    """The clause that a program violates, and the simplest known program that shows it."""

    clause: str
    violation: Violation


class Blame:
    """Attributes violations to clauses.

    `run` returns a program's violation, `observe` every outcome of a program, unjudged; `charge`
    the clause of an opening, given whether it passes with optional and mandatory options exchanged;
    `lengthened` the same calls on a longer file. `fixed` means that the target has one file only,
    of one length; `buffer` is a boundary of its buffer, in bytes.
    """

    def __init__(
        self,
        run: Callable[[Program], Violation | None],
        observe: Callable[[Program], list[Outcome]],
        charge: Callable[[Violation, bool], str],
        lengthened: Callable[[Program], Program],
        fixed: bool = False,
        buffer: int = 0,
    ) -> None:
        self._run = run
        self._observe = observe
        self._charge = charge
        self._lengthened = lengthened
        self._fixed = fixed
        self._buffer = buffer

    def alone(self, violation: Violation) -> Violation:
        """Return the violation of the call alone on a new stream, if it raises the same there.

        After a call that failed, it may also return the same there.
        """
        program, outcome = violation.program, violation.outcome
        if violation.index <= 0 or not (outcome.raised or FAILED in violation.circumstances):
            return violation
        if program.opening is not None or program.faults is not None:
            return violation
        step = replace(violation.step, stream=0)
        seen = self._run(Program(violation.program.length, (step,)))
        alike = seen is not None and _how(seen.outcome) == _how(outcome)
        if seen is None or not alike or not (outcome.raised or seen.outcome == outcome):
            return violation
        return seen

    def before_shrinking(self, violation: Violation) -> Violation:
        """Return the same failure alone, on an unchanged or another file, or at the first byte."""
        violation = self.on_unchanged_file(self.alone(violation))
        return self.at_first_wrong_byte(self.in_other_file(violation))

    def in_plainer_place(self, violation: Violation) -> Violation:
        """Return the violation of a shrunk program's call where it says most of the bug.

        That is a new stream, a longer file, another one or the first wrong byte; otherwise return
        the violation.
        """
        places = (self.alone, self.within, self.in_other_file, self.at_first_wrong_byte)
        others = (place(violation) for place in places)
        return next((other for other in others if other is not violation), violation)

    def on_unchanged_file(self, violation: Violation) -> Violation:
        """Return the failure of the same calls on a file that did not change, if they fail so.

        Other bytes of the file may relate to the right ones in another way.
        """
        program = violation.program
        if not any(s.op in OF_FILE for s in program.steps) or program.opening or program.faults:
            return violation
        seen = map(self._run, self._simpler(violation))
        how = violation.step.op, violation.outcome.kind
        return next((v for v in seen if v and (v.step.op, v.outcome.kind) == how), violation)

    def after_plain_calls(self, violation: Violation) -> Program:
        """Return the program with the plainest calls before the failing one.

        Which of them bring a stream into the state that matters depends on the program. A read that
        meets the end asks for a byte more. A call stays if no other makes the last one fail alike.
        """
        program, index = violation.program, violation.index
        if index < 1 or not _is_plain(program):
            return program
        for number, plainer in self._plain_calls(program, violation):
            before, step, *after = program.steps[:number], *program.steps[number:]
            for plain in plainer:
                if plain == step:
                    break
                seen = self._run(program.with_steps((*before, plain, *after)))
                if seen is not None and _are_alike(seen, violation, step):
                    program = seen.program
                    break
        return program

    def _plain_calls(
        self, program: Program, violation: Violation
    ) -> Iterator[tuple[int, tuple[Step, ...]]]:
        """Yield the numbers of the last calls before a call, and plainer ones of each."""
        index = violation.index
        outcomes = self._observe(program.with_steps(program.steps[:index]))
        for number, outcome in [*enumerate(outcomes)][-observable(index) :]:
            step = resolve_step(program.steps[number], program.length, self._buffer)
            if step.op in BLOCKS:
                yield number, (Step("close"),)
            elif step.op == "py_seek" and step.args[1] != 0 and type(outcome.value) is int:
                yield number, (Step("py_seek", (outcome.value, 0)),)
            elif step.op in READ_OPERATIONS and step.op not in STAYING:
                read = delivered(Call(step.op, step.args, opened(b""), frozenset()), outcome)
                if not outcome.raised:
                    length, beside = max(len(read or b""), 1), violation.step
                    yield (
                        number,
                        (_plainest_read(length, beside), _plainest_read(length + 1, beside)),
                    )

    def at_first_wrong_byte(self, violation: Violation) -> Violation:
        """Return the violation of a read that begins at the first wrong byte, if it is one, too.

        Where a read begins that meets wrong bytes later depends on the program.
        """
        if violation.judged is None or not _is_plain(violation.program):
            return violation
        step, state = violation.judged
        if "position" in OPERATIONS[step.op] or violation.failure.aspect not in _OF_BYTES:
            return violation
        if state.pos < 0:  # after a failed call, which may have had nothing to do with it
            seen = self._sought(violation, max(state.origin.before, 0))
            if seen is None or seen.judged is None or seen.judged[1].pos < 0:
                return violation
            return self.at_first_wrong_byte(seen)
        wrong = _first_wrong(step, state, violation.outcome)
        if not wrong or WRONG_LATER not in violation.relation:
            return violation
        seen = self._sought(violation, state.pos + wrong)
        return violation if seen is None or WRONG_LATER in seen.relation else seen

    def in_other_file(self, violation: Violation) -> Violation:
        """Return the failure of the same calls on a file of other bytes, each at one offset.

        The few bytes of a short read may also be zeros or at another offset by chance, most of all
        in a long file. Return the violation itself unless the bytes are nowhere in the other file.
        """
        program, failure = violation.program, violation.failure
        if violation.judged is None or self._fixed or not _is_plain(program):
            return violation
        data = bytes_of(*violation.judged, violation.outcome) or b""
        is_chance = failure.aspect == "moved" or violation.relation in DISPLACED
        if len(data) >= _TELLING or not (is_chance or program.length > UNIQUE):
            return violation
        others = (min(program.length + 1, UNIQUE), _ROOMY)
        for length, start in itertools.product(others, (0, 1)):
            seen = self._run(replace(_from_start(program, length, start), length=length))
            if seen is None or seen.failure.clause != failure.clause:
                continue
            is_nowhere = seen.relation in _NOWHERE or failure.aspect == "moved"
            if is_nowhere and seen.failure.aspect == "data" and seen.likeness != violation.likeness:
                return seen
        return violation

    def _sought(self, violation: Violation, position: int) -> Violation | None:
        """Return the same failure of the same call alone after a seek to `position`, if any."""
        if position < 0:
            return None
        program, index = violation.program, violation.index
        seek = _approach(position, False, _witnesses(program.steps) is _PYTHON)
        seen = self._run(replace(program, steps=(seek, program.steps[index]), streams=1))
        if seen is None or seen.index != 1 or seen.failure.clause != violation.failure.clause:
            return None
        return seen if _how(seen.outcome) == _how(violation.outcome) else None

    def within(self, violation: Violation) -> Violation:
        """Return what the call violates within a longer file, if it fails in the same way there.

        That is asked for exceptions at the end of the file, and for ranges beside others or at the
        end. Return the violation itself if it does not fail, or violates the same clause.
        """
        program = violation.program
        if self._fixed or program.opening is not None or program.faults is not None:
            return violation
        for calls in self._elsewhere(violation):
            longer = self._run(_from_start(self._lengthened(calls), program.length))
            if longer is None or longer.index != violation.index or AT_END in longer.circumstances:
                continue
            if longer.failure.clause == violation.failure.clause:
                return violation
            if _how(longer.outcome) == _how(violation.outcome):
                return longer
        return violation

    def _elsewhere(self, violation: Violation) -> Iterator[Program]:
        """Yield the programs whose failure on a longer file explains the violation."""
        program = violation.program
        if violation.failure.clause in _OF_SOME_RANGES:
            ranges, *how = violation.step.args
            before = program.steps[: violation.index]
            for one in dict.fromkeys(ranges):
                alone = replace(violation.step, args=((one,), *how))
                yield program.with_steps((*before, alone))
        elif AT_END in violation.circumstances and violation.outcome.raised:
            yield program

    def clause(self, violation: Violation) -> str:
        """Return the id of the violated clause."""
        return self.charge(violation).clause

    def charge(self, violation: Violation) -> Charge:
        """Return the violated clause, and the violation that shows it."""
        for simpler in self._simpler(violation):
            seen = self._run(simpler)
            if seen is not None and not _is_other(seen, violation):
                return self.charge(self.alone(seen))
        plainer = self._in_plainer_call(violation)
        if plainer is not None:
            return self.charge(plainer)
        at_end = self._at_end(violation)
        if at_end is not None:
            return self.charge(at_end)
        unopened = self.on_unopened(violation)
        if unopened is not None:
            return self.charge(unopened)
        if violation.failure.cause == _MOVES and self._reads_so_without_tell(violation):
            failure = violation.failure._replace(cause=_PYTHON.lies)
            violation = replace(violation, failure=failure)
        return Charge(self._own_clause(violation), violation)

    def _in_plainer_call(self, violation: Violation) -> Violation | None:
        """Return the same failure of a plainer call, if any: of n bytes, or of one whole line.

        Reads of a closed stream have separate clauses.
        """
        program, index, failure = violation.program, violation.index, violation.failure
        if violation.judged is None or not _is_plain(program):
            return None
        step, state = violation.judged
        if state.is_open and failure.aspect not in _OF_READ and step.op not in _ALIASES:
            return None
        for plainer in _plainer(step, state) if state.is_open else _plainer_of_closed(step):
            seen = self._at(program, index, plainer)
            if seen is None or seen.failure.aspect != failure.aspect:
                continue
            alike = _how(seen.outcome) == _how(violation.outcome)
            if alike and seen.relation == violation.relation:
                return seen
        return None

    def on_unopened(self, violation: Violation) -> Violation | None:
        """Return the failure of a valid read of a new stream, if each raises what this call did.

        It explains another exception than that for the arguments of a stream's first call.
        """
        program = violation.program
        is_first = violation.index == 0 and violation.outcome.raised and _is_plain(program)
        if not is_first or violation.failure.cause:
            return None
        length = program.length if self._fixed else max(program.length, _ROOMY)
        reads = _witnesses(program.steps).reads
        seen = [self._run(Program(length, (read,))) for read in reads]
        how = _how(violation.outcome)
        is_unopened = all(one is not None and _how(one.outcome) == how for one in seen)
        return seen[0] if is_unopened else None

    def _at_end(self, violation: Violation) -> Violation | None:
        """Return the failure of a position after a read at the end, if a short one also moves it.

        Return None for any other failure, and if the read at the end leaves the position.
        """
        displacement = self.displacement(violation.program, violation.index)
        if displacement is None or not violation.program.length or self._fixed:
            return None
        seen = displacement[1]
        read = seen.program.steps[seen.index - 1]
        if read.op not in READ_OPERATIONS or seen.relation != "too late":
            return None
        if seen.judged is None or seen.judged[1].pos != seen.judged[1].longest:
            return None
        return self._at(Program(0, (replace(read, stream=0), seen.step)), 1, seen.step)

    def _own_clause(self, violation: Violation) -> str:
        """Return the clause of a program whose special parts all matter for the failure."""
        program, failure = violation.program, violation.failure
        if program.faults is not None:
            return _of_faults(violation)
        if program.opening is not None:
            return self._of_opening(violation)
        if _on_several_streams(program):
            return "open.independent"
        if any(s.op == "change" for s in program.steps):
            return failure.clause
        displaced = self.displaced(program, violation.index)
        if displaced is not None:
            longer = self._in_longer_file(violation)
            return displaced if longer is None else self._own_clause(longer)
        if failure.aspect == "returns":
            return self._returned(violation)
        relative = self._relative_seek(violation)
        if relative is not None:
            return relative
        return self._after_close(violation) if failure.cause == _CLOSED else self._cause(violation)

    def _relative_seek(self, violation: Violation) -> str | None:
        """Return the clause of a relative seek before a read that is right after an absolute one.

        The seek returned the right position, but the bytes there are others.
        """
        program, index = violation.program, violation.index
        if index < 1 or violation.failure.aspect not in _OF_BYTES:
            return None
        before = resolve_step(program.steps[index - 1], program.length, self._buffer)
        if before.op != "py_seek" or before.args[1] not in (1, 2):
            return None
        to = self._observe(program.with_steps(program.steps[:index]))[-1].value
        if type(to) is not int:
            return None
        absolute = replace(before, args=(to, 0))
        steps = (*program.steps[: index - 1], absolute, program.steps[index])
        return None if self._run(program.with_steps(steps)) else WHENCE[before.args[1]]

    def _in_longer_file(self, violation: Violation) -> Violation | None:
        """Return the same wrong result of a seek in a longer file where all positions are right.

        A wrong position at the end does not explain it.
        """
        if self._fixed or violation.failure.aspect != "returns":
            return None
        longer = self._run(self._lengthened(violation.program))
        if longer is None or longer.index != violation.index:
            return None
        if longer.likeness != violation.likeness or self.displaced(longer.program, longer.index):
            return None
        return longer

    def _simpler(self, violation: Violation) -> Iterator[Program]:
        """Yield programs without faults, an opening, changes of the file or other streams.

        A stream that was opened after changes is one of a file that always had the new length.

        If one of them fails, those parts are not the cause.
        """
        program = violation.program
        steps = tuple(s for s in program.steps if s.op not in OF_FILE)
        if program.faults is not None:
            yield replace(program, faults=None)
        elif program.opening is not None:
            yield from _without(violation, program.opening)
        elif steps and len(steps) < len(program.steps) and not _on_several_streams(program):
            yield program.with_steps(steps)
            new = None if self._fixed else _on_new_file(program, self._buffer)
            if new is not None:
                yield new
        elif steps == program.steps and _on_several_streams(program):
            alone = tuple(s for s in steps if s.stream == violation.step.stream)
            yield replace(program, steps=tuple(replace(s, stream=0) for s in alone), streams=1)

    def _of_opening(self, violation: Violation) -> str:
        program = violation.program
        assert program.opening is not None
        calls = exchanged(program.opening.calls)
        if calls == program.opening.calls:
            return self._charge(violation, False)
        other = self._run(replace(program, opening=replace(program.opening, calls=calls)))
        return self._charge(violation, other is None or other.likeness != violation.likeness)

    def displaced(self, program: Program, last: int) -> str | None:
        """Return the clause of a wrong position before a call up to the one at index `last`.

        Return None if every observable position is right.
        """
        displacement = self.displacement(program, last)
        return None if displacement is None else displacement[0]

    def is_displaced(self, program: Program, last: int) -> bool:
        """Return whether the position is wrong before the call at index `last`.

        Positions before other calls do not count: each costs a program, and a seek corrects them.
        """
        if not self._has_one_position(program):
            return False
        seen = self._at(program, last, _witnesses(program.steps[: last + 1]).position)
        return seen is not None and (program.opening is not None or seen.failure.aspect == "moved")

    def displacement(self, program: Program, last: int) -> tuple[str, Violation] | None:
        """Return the clause of `displaced`, and the call that shows the wrong position."""
        if program.opening is not None or not self._has_one_position(program):
            return None
        for index in range(last + 1 - observable(last + 1), last + 1):
            with_ = _witnesses(program.steps[: index + 1])
            seen = self._at(program, index, with_.position)
            if seen is not None and seen.failure.aspect == "moved":
                return self._find_moving_call(program, index, seen, with_), seen
        return None

    def _has_one_position(self, program: Program) -> bool:
        """Return whether a program reads one stream, of an ordinary file that does not change."""
        if program.faults is not None or program.at is not None:
            return False
        return not any(s.op in OF_FILE or s.stream for s in program.steps)

    def _find_moving_call(
        self, program: Program, index: int, seen: Violation, with_: Witnesses
    ) -> str:
        cause = seen.failure.cause or seen.failure.clause
        disagrees = with_ is _STREAM and self._is_of_failed_seek(program, index)
        if not seen.placed:  # reads at the end all return the same: try a longer file
            unplaced = _DISAGREES if disagrees else cause
            if self._fixed:
                return unplaced
            is_small = program.length < _ROOMY
            program = replace(program, length=_ROOMY) if is_small else self._lengthened(program)
            roomy = self._at(program, index, with_.position)
            if roomy is None or roomy.failure.aspect != "moved" or not roomy.placed:
                return unplaced
        if any(self._at(program, index, read) for read in with_.reads):
            return cause
        return _DISAGREES if disagrees else with_.lies

    def _is_of_failed_seek(self, program: Program, index: int) -> bool:
        """Return whether the position at `index` is right without an earlier seek that failed."""
        outcomes = self._observe(program.with_steps(program.steps[:index]))
        for number, (step, outcome) in enumerate(zip(program.steps, outcomes, strict=False)):
            if step.op == "seek" and outcome.raised:
                steps = program.steps[:number] + program.steps[number + 1 : index]
                if self._at(program.with_steps(steps), index - 1, _STREAM.position) is None:
                    return True
        return False

    def _at(self, program: Program, index: int, step: Step) -> Violation | None:
        """Return the violation of `step` in place of the call at `index`, if there is one."""
        seen = self._run(program.with_steps((*program.steps[:index], step)))
        return seen if seen is not None and seen.index == index else None

    def _reads_so_without_tell(self, violation: Violation) -> bool:
        """Return whether a read delivers the same without tell() before it, which moved nothing.

        The position before tell() is unknown, as after a seek that failed.
        """
        *before, read = violation.program.steps[: violation.index + 1]
        steps = (*(s for s in before if s.op != _PYTHON.position.op), read)
        outcomes = self._observe(violation.program.with_steps(steps))
        return outcomes[-1:] == [violation.outcome]

    def _returned(self, violation: Violation) -> str:
        """Return the clause of a seek that returned a wrong position."""
        program = violation.program.with_steps((*violation.program.steps, _PYTHON.position))
        failure = violation.failure
        outcomes = self._observe(program)
        if not outcomes:
            return failure.clause
        said, seen = outcomes[-2:]
        return failure.clause if said.value != seen.value else failure.cause

    def _after_close(self, violation: Violation) -> str:
        """Return the clause of a call on a closed stream.

        A stream that still works was never closed. One that only answers this call, or raises
        another error, is closed.
        """
        failure, program = violation.failure, violation.program
        if violation.outcome.raised:
            return failure.clause
        reads = [read for read in _witnesses(program.steps).reads if read.op != violation.step.op]
        seen = [self._at(program, violation.index, read) for read in reads]
        works = all(one is not None and not one.outcome.raised for one in seen)
        return failure.cause if works else failure.clause

    def _cause(self, violation: Violation) -> str:
        """Return the clause of a failure at a right position, if another call also fails there."""
        failure, program, op = violation.failure, violation.program, violation.step.op
        cause = failure.cause
        if not cause or cause == failure.clause or violation.outcome.lacks_method:
            return failure.clause
        if self._is_of_position(violation):
            return failure.clause
        reads = _witnesses(program.steps).reads
        others = [read for read in reads if read.op != op]
        if violation.origin in READS and op in READS and violation.origin != op:
            return (
                cause if self._at(program, violation.index, others[0]) else "input-stream.same-data"
            )
        if failure.aspect == "raised" and violation.index > 0:
            # In a shrunk program the previous call causes the failure, but the call alone does not
            # raise: opening the stream is no cause.
            return failure.clause if violation.origin == "open" else cause
        seen = [self._at(program, violation.index, read) for read in others]
        if violation.origin in _SEEKS and any(one and one.relation in _NOWHERE for one in seen):
            return failure.clause  # the bytes are of no other position
        return cause if all(seen) else failure.clause

    def _is_of_position(self, violation: Violation) -> bool:
        """Return whether the call fails in the same way if its position is reached otherwise.

        A read takes the place of a seek, and a seek that of any other calls. If that read meets
        wrong bytes itself, the seek is not the cause of them. Far from the beginning a seek and a
        read of one byte take the place of a seek.
        """
        position = violation.judged[1].pos if violation.judged is not None else 0
        program, index = violation.program, violation.index
        if position <= 0 or index < 1:
            return False
        is_sought = program.steps[index - 1].op in _SEEKS
        is_python = _witnesses(program.steps) is _PYTHON
        approach = [_approach(position, is_sought, is_python)]
        if is_sought and position > MOST_READ:
            approach = [_approach(position - 1, False, is_python), _approach(1, True, is_python)]
        seen = self._run(program.with_steps((*approach, program.steps[index])))
        if seen is None or seen.judged is None:
            return False
        if seen.index < len(approach):
            return is_sought and seen.failure.aspect in _OF_BYTES
        if seen.likeness != violation.likeness:
            return False
        return seen.judged[1].pos == position


def _are_alike(one: Violation, other: Violation, step: Step) -> bool:
    """Return whether programs fail alike; after a read, also by the same earlier call.

    `step` is the call in which they differ.
    """
    is_of_same = step.op in _SEEKS or one.failure.cause == other.failure.cause
    return is_of_same and one.index == other.index and one.likeness == other.likeness


def _plainest_read(length: int, beside: Step) -> Step:
    """Return a read of `length` bytes in the API of another call."""
    return Step("py_read", (length,)) if beside.op.startswith("py_") else _read_of(length)


def _plainer(step: Step, state: State) -> Iterator[Step]:
    """Yield plainer calls that read as this one does, none if it is the plainest."""
    if step.op in _ALIASES:
        yield Step(_ALIASES[step.op], step.args)
    if step.op == "py_iterate":
        yield Step("py_next")
    if step.op == "py_read_default":
        yield Step("py_read", (-1,))
    if step.op == "py_readlines" and step.args[0] is not None:
        yield Step("py_readlines", (None,))
    if step.op == "py_readline" and step.args[0] is not None and step.args[0] > 0:
        yield Step("py_readline", (None,))
        return
    if step.op == "py_readinto" and step.args[0] != _BYTES:
        yield Step("py_readinto", (_BYTES, room(Call(step.op, step.args, state, frozenset()))))
        return
    reads_all = step.op in _WITHOUT_COUNT or (step.op == "py_read" and (step.args[0] or -1) < 0)
    if reads_all and state.pos != ANY:
        left = 0 if state.pos == PAST else state.longest - state.pos
        yield Step("py_read", (max(left, 1),))


def _plainer_of_closed(step: Step) -> tuple[Step, ...]:
    """Return plainer calls that a closed stream refuses by the same clause."""
    if step.op in _ALIASES:
        return (Step(_ALIASES[step.op], step.args),)
    return tuple(Step("py_read", (n,)) for n in (1, -1)) if step.op == "py_read_default" else ()


def _is_plain(program: Program) -> bool:
    """Return whether a program only calls one stream that is opened without options."""
    if program.opening is not None or program.faults is not None or program.at is not None:
        return False
    return not any(step.op in OF_FILE or step.stream for step in program.steps)


def _first_wrong(step: Step, state: State, outcome: Outcome) -> int:
    """Return the offset of the first wrong byte in those that a read delivered, 0 if unknown."""
    data = delivered(Call(step.op, step.args, state, frozenset()), outcome) or b""
    right = state.versions[-1][max(state.pos, 0) : max(state.pos, 0) + len(data)]
    return first_difference(right, data)


def _approach(position: int, reads: bool, is_python: bool) -> Step:
    """Return the call that brings a new stream to a position, by reading or by seeking."""
    if reads:
        return Step("py_read", (position,)) if is_python else _read_of(position)
    return Step("py_seek", (position, 0)) if is_python else Step("seek", (position,))


def _read_of(length: int) -> Step:
    return Step("read_into", (length, 0, length))


def _from_start(program: Program, length: int, start: int = 0) -> Program:
    """Return a program with `start` for positions beyond `length`."""

    def near(step: Step) -> Step:
        named = zip(OPERATIONS[step.op], step.args, strict=True)
        names = ("position", "offset") if step.op in _SEEKS else ("position",)
        far = [name in names and type(arg) is int and arg > length for name, arg in named]
        args = (start if is_far else arg for is_far, arg in zip(far, step.args, strict=True))
        return replace(step, args=tuple(args))

    return program.with_steps(tuple(map(near, program.steps)))


def _on_new_file(program: Program, buffer: int) -> Program | None:
    """Return the calls after the last reopening, on a file that has that length from the start.

    Return None if the last thing that happens to the file is a change, or if it is deleted.
    """
    last = max(i for i, step in enumerate(program.steps) if step.op in OF_FILE)
    if program.steps[last].op != "reopen" or program.length > DENSE:
        return None
    data: bytes | None = content(program.length)
    for step in program.steps[:last]:
        if step.op == "change" and data is not None:
            data = changed_content(data, str(step.args[0]))
    if data is None:
        return None
    calls = (resolve_step(step, program.length, buffer) for step in program.steps[last + 1 :])
    return Program(len(data), tuple(calls))


def _on_several_streams(program: Program) -> bool:
    return len({s.stream for s in program.steps}) > 1


def _is_other(simpler: Violation, violation: Violation) -> bool:
    """Return whether a simpler program fails, but its failure is not that of the violation."""
    if violation.program.faults is not None:
        return simpler.outcome.raised != violation.outcome.raised
    return violation.program.opening is not None and simpler.failure.clause == _TOO_LATE


def _of_faults(violation: Violation) -> str:
    clause = violation.failure.clause
    if clause.startswith(("fault.", "server.")):
        return clause
    return "fault.clean" if violation.outcome.raised else "fault.data"


def _without(violation: Violation, opening: Opening) -> Iterator[Program]:
    """Yield programs without parts that are not the cause if they also fail.

    These parts are the builder, its calls, the scene at the path, the calls of the stream, and the
    key of the call that raised.
    """
    program = violation.program
    if opening.scene in READABLE:
        if violation.index >= 0:
            yield replace(program, opening=None)
            if opening.calls:
                yield replace(program, opening=replace(opening, calls=()))
    else:
        yield replace(program, steps=(), opening=replace(opening, scene="file"))
        if program.steps:
            yield replace(program, steps=())
    if violation.failure.aspect.startswith("set ") and opening.calls:
        method, *args = opening.calls[-1]
        call = method, SPLIT_START, 1
        if len(args) == 2 and method != "with_file_status" and call != opening.calls[-1]:
            yield replace(program, steps=(), opening=Opening("file", (call,)))


def _how(outcome: Outcome) -> tuple[str, str]:
    """Return the exception without the values of this call."""
    return outcome.kind.value, outcome.detail.partition(":")[0]


def _witnesses(steps: tuple[Step, ...]) -> Witnesses:
    """Return the witnesses of the API: those of Python files, otherwise of streams."""
    return _PYTHON if all(s.op.startswith("py_") or s.op == "close" for s in steps) else _STREAM
