"""A failing program is blamed on the call that is at fault, not on the one that notices."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner.attribution import Blame
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.bindings.python_file import PythonFileBinding
from fscontract.implementations.memory import MemoryInputStream
from tests.contract.runner.conftest import FEATURES, MakeExecutor, executor_of_files

Opener: TypeAlias = Callable[[str], Any]


class NeverClosed(io.BytesIO):
    """Still works after close."""

    def close(self) -> None:
        """Do nothing."""


class TellsWhenClosed(io.FileIO):
    """Says where it was when it is closed."""

    def tell(self) -> int:
        """The position, or 0."""
        return 0 if self.closed else super().tell()


class OtherWords(io.FileIO):
    """Rejects calls after close with a wrong exception."""

    def read(self, size: int | None = -1) -> bytes:
        """Read, or raise something."""
        if self.closed:
            raise RuntimeError("gone")
        return super().read(-1 if size is None else size)


class GoneAfterWith(io.FileIO):
    """Rejects calls after a with block, not after close(), with a wrong exception."""

    _is_left = False

    def __exit__(self, *error: Any) -> None:
        self._is_left = True
        super().__exit__(*error)

    def read(self, size: int | None = -1) -> bytes:
        """Read, or raise something after a with block."""
        if self._is_left:
            raise RuntimeError("gone")
        return super().read(-1 if size is None else size)


class NoLimit(io.FileIO):
    """Takes no limit for a line."""

    def readline(self) -> bytes:  # type: ignore[override]
        """Read a line."""
        return super().readline()


def blamed(opener: Opener, directory: Path, *steps: Step, length: int = 5) -> str:
    """The clause that is blamed for what a program shows of an opener's files."""
    with executor_of_files(opener, directory) as executor:
        return _blamed(executor, steps, length)


def _blamed(executor: Executor, steps: tuple[Step, ...], length: int) -> str:
    found = executor.run(Program(length, steps)).violation
    assert found is not None
    blame = _blame(executor)
    return blame.clause(blame.alone(found))


def _blame(executor: Executor, fixed: bool = False) -> Blame:
    return Blame(
        lambda p: executor.run(p).violation,
        executor.observe,
        executor.charge,
        executor.lengthened,
        fixed,
    )


def _never_closed(path: str) -> NeverClosed:
    return NeverClosed(Path(path).read_bytes())


def test_a_file_that_works_on_after_close_was_never_closed(tmp_path: Path) -> None:
    assert blamed(_never_closed, tmp_path, Step("close"), Step("py_tell")) == "close.state"


def test_a_file_that_only_tells_after_close_is_closed(tmp_path: Path) -> None:
    steps = Step("close"), Step("py_tell")
    assert blamed(TellsWhenClosed, tmp_path, *steps) == "python.tell.closed"


def test_a_file_that_refuses_in_other_words_after_close_is_closed(tmp_path: Path) -> None:
    steps = Step("close"), Step("py_read", (2,))
    assert blamed(OtherWords, tmp_path, *steps) == "python.read.closed"


def test_a_file_that_a_with_block_closed_fails_as_one_that_close_closed(tmp_path: Path) -> None:
    assert _plain(OtherWords, tmp_path, Step("py_with"), Step("py_read", (2,))) == "close"


def test_a_file_that_only_a_with_block_closes_wrong_keeps_it(tmp_path: Path) -> None:
    assert _plain(GoneAfterWith, tmp_path, Step("py_with"), Step("py_read", (2,))) == "py_with"


def _plain(opener: Opener, directory: Path, *steps: Step) -> str:
    """Return the first of the plainest calls that fail alike."""
    with executor_of_files(opener, directory) as executor:
        found = executor.run(Program(5, steps)).violation
        assert found is not None
        return _blame(executor).after_plain_calls(found).steps[0].op


def test_a_call_that_fails_on_every_file_is_not_the_fault_of_the_close(tmp_path: Path) -> None:
    steps = Step("close"), Step("py_readline", (2,))
    assert blamed(NoLimit, tmp_path, *steps) == "python.readline.limit"


def test_a_call_that_fails_alone_is_not_the_fault_of_the_calls_that_shrinking_left(
    tmp_path: Path,
) -> None:
    binding = PythonFileBinding(NoLimit, str(tmp_path), "files")
    binding.prepare()
    executor = Executor(binding, FEATURES | {"python-file"}, 64)
    found = executor.run(Program(5, (Step("py_seek", (7, 0)), Step("py_readline", (1,))))).violation
    assert found is not None
    shown = _blame(executor, fixed=True).in_plainer_place(found)
    assert shown.failure.clause == "python.readline.limit"
    binding.dispose()


class PreadMoves(MemoryInputStream):
    """A positioned read leaves the stream where it ended."""

    def read_fully(self, position: int, *args: Any) -> None:
        """Read, and stay there."""
        super().read_fully(position, *args)
        self._pos = min(position + 1, 5)


def test_a_seek_that_starts_elsewhere_is_not_the_seeks_fault(executor: MakeExecutor) -> None:
    steps = Step("read_fully", (1, 4, 1, 2)), Step("py_seek", (0, 1))
    assert _blamed(executor(PreadMoves), steps, 5) == "pread.pos-unchanged"


def test_a_clause_whose_calls_fail_by_another_says_so(tmp_path: Path) -> None:
    binding = PythonFileBinding(_never_closed, str(tmp_path), "files")
    clauses = tuple(c for c in select(["close.state", "python.tell.closed"]) if c.testable)
    state, tell = check(binding, Settings(load_profile("python-file"), clauses)).clauses
    assert state.outcome is Verdict.FAIL
    assert (tell.outcome, tell.reason) == (
        Verdict.UNEXERCISED,
        "its calls fail by close.state already",
    )
