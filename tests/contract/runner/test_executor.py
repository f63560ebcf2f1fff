"""One program on a target: what it leaves and what it reports."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from fscontract.contract.api.openfile_options import LENGTH
from fscontract.contract.program.content import changed_content, content
from fscontract.contract.program.open_calls import Opening
from fscontract.contract.program.outcome import Kind
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.executor import Executor
from fscontract.fakes.mutants.correct_parts import filesystem_of
from fscontract.fakes.mutants.openfile.variants import TrustsLength
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from tests.contract.runner.conftest import FEATURES, MakeExecutor

READ = Step("read_byte")


class RaisesOften(MemoryInputStream):
    """Fails every read."""

    def read_byte(self) -> int:
        """Fail."""
        raise OSError("no")


class GivesList(MemoryInputStream):
    """Answers get_pos with something that can't be a key."""

    def get_pos(self) -> Any:
        """A position in a list."""
        return [self._pos]


def test_a_program_without_fault_shows_no_violation(executor: MakeExecutor) -> None:
    execution = executor().run(Program(5, (READ, Step("get_pos"))))
    assert execution.violation is None
    assert not execution.misses


def test_the_first_failing_call_ends_the_program(executor: MakeExecutor) -> None:
    found = executor(RaisesOften).run(Program(5, (Step("get_pos"), READ, READ))).violation
    assert found is not None
    assert (found.index, found.outcome.kind) == (1, Kind.IO)


def test_calls_of_a_file_that_can_not_be_opened_have_no_outcomes(executor: MakeExecutor) -> None:
    """A network that fails an open now and then ended the run with an internal error."""
    subject = executor()
    with patch.object(subject.binding, "open", side_effect=OSError("Bad Gateway")):
        assert subject.observe(Program(5, (READ,))) == []


def test_a_value_that_can_not_be_remembered_is_judged_all_the_same(
    executor: MakeExecutor,
) -> None:
    found = executor(GivesList).run(Program(5, (Step("get_pos"),))).violation
    assert found is not None
    assert found.failure.clause == "getpos.value"


def test_programs_of_one_length_share_a_file_unless_they_change_it(executor: MakeExecutor) -> None:
    subject = executor()
    path, _, _ = subject.file(5)
    subject.run(Program(5, (Step("change", ("overwrite",)), READ)))
    with subject.binding.open(path).file as file:
        assert file.read() == content(5)


def test_the_streams_are_closed_whatever_happens(executor: MakeExecutor) -> None:
    closed: list[str] = []

    class Tells(RaisesOften):
        def close(self) -> None:
            closed.append(self.path)
            super().close()

    executor(Tells).run(Program(5, (READ,), 2))
    assert len(closed) == 2


@pytest.mark.parametrize(
    "steps",
    [
        (Step("pread", ("len", 2, 0, 2)),),
        (Step("seek", ("len",)), Step("read_byte")),
        (Step("skip", ("len",)), Step("read_into", (2, 0, 2))),
    ],
    ids=str,
)
def test_the_end_of_a_missing_file_may_be_at_its_declared_length(steps: tuple[Step, ...]) -> None:
    binding = StreamBinding(filesystem_of(TrustsLength)(), "test")
    binding.prepare()
    opening = Opening("missing", (("opt_long", LENGTH, "len"),))
    execution = Executor(binding, FEATURES, 64).run(Program(10, steps, opening=opening))
    assert execution.violation is None


def test_streams_of_an_open_that_has_to_be_refused_are_closed() -> None:
    """The first of two streams is a failure; the other one was opened before it, and is closed."""
    opened: list[MemoryInputStream] = []
    closed: list[MemoryInputStream] = []

    class Noted(MemoryInputStream):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            opened.append(self)

        def close(self) -> None:
            closed.append(self)
            super().close()

    class AcceptsAll(MemoryFileSystem):
        def open_file(self, path: str) -> Any:
            builder: Any = super().open_file(path)
            builder.must = builder.opt
            return builder

    binding = StreamBinding(AcceptsAll(stream_class=Noted), "test")
    binding.prepare()
    opening = Opening("file", (("must", "fs.test.unknown", "1"),))
    execution = Executor(binding, FEATURES, 64).run(Program(10, (), opening=opening, streams=2))
    assert execution.violation is not None
    assert len(opened) == 2
    assert {*map(id, opened)} == {*map(id, closed)}


def test_a_trace_holds_every_call_with_its_outcome(executor: MakeExecutor) -> None:
    execution = executor().run(Program(5, (READ, Step("get_pos"))), trace=True)
    assert [(s.op, o.value) for s, o, _ in execution.trace] == [("read_byte", 255), ("get_pos", 1)]


def test_every_way_to_change_a_file_gives_other_content() -> None:
    old = content(8)
    assert changed_content(old, "delete") is None
    assert changed_content(old, "truncate") == old[:4]
    appended, overwritten = changed_content(old, "append"), changed_content(old, "overwrite")
    assert appended is not None
    assert overwritten is not None
    assert appended.startswith(old)
    assert len(appended) > len(old)
    assert len(overwritten) == len(old)
    assert all(a != b for a, b in zip(old, overwritten, strict=True))


def test_a_long_file_grows_by_half() -> None:
    old = content(20_000)
    appended = changed_content(old, "append")
    assert appended is not None
    assert appended.startswith(old)
    assert len(appended) == 30_000
