"""Hypothesis as a source of programs: long ones, which its heuristics find and shrink."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from fscontract.contract.generate import call_alphabet
from fscontract.contract.program.program import Program, Step
from fscontract.contract.targets import timed_start

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

#: Examples per effort; an example is a program of up to 50 calls.
EXAMPLES = {"quick": 0, "normal": 300, "deep": 5_000}


class _FailingProgram(Exception):
    """A program failed."""


class OutOfTime(BaseException):
    """There is no time for another program. Hypothesis ends at once, and shrinks no more."""


def search(
    run: Callable[[Program], bool],
    operations: frozenset[str],
    buffer: int,
    effort: str,
    seed: int,
    only_length: int | None = None,
) -> Program | None:
    """Let Hypothesis search for a failing program; `run` returns whether a program fails.

    Return the shrunk program, or None. The same seed tries the same programs. If `run` raises
    OutOfTime, return the shortest program that failed by then.
    """
    if EXAMPLES[effort] == 0:
        return None
    import hypothesis
    from hypothesis import strategies as st

    lengths = (0, 1, 5, 17, buffer + 3) if only_length is None else (only_length,)
    failing: list[Program] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=EXAMPLES[effort],
        deadline=None,
        database=None,
        print_blob=False,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
    )
    @hypothesis.given(st.sampled_from(lengths), st.lists(_steps(operations), max_size=50))
    def attempt(length: int, steps: list[Step]) -> None:
        program = Program(length, tuple(steps))
        if run(program):
            failing.append(program)
            raise _FailingProgram

    gc.freeze()  # Hypothesis collects garbage in each new thread: slow in a large process
    try:
        with _no_trace(), suppress(_FailingProgram, OutOfTime):
            attempt()
    finally:
        gc.unfreeze()
    return failing[-1] if failing else None


@contextmanager
def _no_trace() -> Iterator[None]:
    """Keep Hypothesis from leaving its directory in the user's project."""
    from hypothesis import configuration

    with TemporaryDirectory(prefix=timed_start()) as directory:
        before = getattr(configuration, "__hypothesis_home_directory", None)
        configuration.set_hypothesis_home_dir(directory)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(before)


def _steps(operations: frozenset[str]) -> SearchStrategy[Step]:
    from hypothesis import strategies as st

    anchored = call_alphabet.full(operations)
    number = st.one_of(st.integers(0, 20), st.sampled_from(["len", "len-1", "len+1", "buf"]))
    drawn = {
        "seek": st.tuples(number),
        "read_into": st.tuples(st.just(24), st.integers(0, 4), st.integers(0, 20)),
        "pread": st.tuples(number, st.just(24), st.integers(0, 4), st.integers(0, 20)),
        "read_fully": st.tuples(number, st.just(24), st.integers(0, 4), st.integers(0, 20)),
        "py_read": st.tuples(number),
    }
    free = [st.builds(Step, st.just(op), args) for op, args in drawn.items() if op in operations]
    return st.one_of(st.sampled_from(anchored), *free)
