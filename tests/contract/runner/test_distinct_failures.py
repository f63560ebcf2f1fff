"""A clause keeps all its distinct failures; each is known, new or fixed independently."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import pytest
from jsonschema import Draft202012Validator

import fscontract
from fscontract.contract.program.program import Program, Step
from fscontract.contract.report.text import failure_block, known_line
from fscontract.contract.runner.counterexamples import (
    Counterexamples,
    Repeats,
    ShrinkingCounterexamples,
)
from fscontract.contract.runner.result import ClauseResult, Counterexample, RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.runner.verdicts import Seen, outcome_of
from fscontract.contract.spec.clauses import Clause, Level, clauses
from fscontract.contract.spec.known_failures import (
    Known,
    load_known,
    prune_known,
    save_known,
    write_known,
)
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.bindings.python_file import PythonFileBinding
from fscontract.implementations.memory import MemoryInputStream
from tests.contract.conftest import MakeRun
from tests.contract.runner.conftest import MakeExecutor, binding_of, executor_of_files, settings_for

TODAY = date(2027, 1, 1)
CLAUSE = Clause("seek.pos", Level.MUST, "seek()", "It moves.", "demo", because="Readers stop.")


def _failure(signature: str) -> Counterexample:
    program = Program(3, (Step("seek", (1,)), Step("get_pos")))
    return Counterexample(program, ("1",), "2", identity=signature, how="get_pos: returned")


EARLY, LATE, CLOSED = _failure("position: early"), _failure("position: late"), _failure("closed")


def _entry(signature: str) -> Known:
    return Known("seek.pos", f"reason of {signature}", signature)


def _outcome(failures: tuple[Counterexample, ...], *signatures: str) -> ClauseResult:
    return outcome_of(CLAUSE, Seen(3, failed=failures), map(_entry, signatures), TODAY)


@pytest.mark.parametrize(
    ("entry", "failure", "is_listed"),
    [
        ("pread: EOF; after seek", "pread: EOF; after seek", True),
        ("pread: EOF; after seek", "pread: EOF; after a failed call; after seek", True),
        ("pread: EOF; after seek", "pread: EOF; after seek; after unbuffer", True),
        ("pread: EOF; after seek; after unbuffer", "pread: EOF; after seek", False),
        ("pread: EOF; after seek", "pread: NULL; after seek", False),
        ("pread: EOF; after a failed call", "pread: EOF; after a failed call; after seek", False),
        ("pread: EOF; at the end of the file", "pread: EOF", False),
        ("close: left a thread; in opening", "close: left a thread; in opening; after read", True),
        ("close: left a thread; in opening", "close: left a thread; after read", False),
        ("close: left a thread", "close: left a descriptor; after read", False),
        ("open: IO; open of named", "open: IO; name 'a#b'; open of named", True),
        ("open: IO; name 'a b'; open of named", "open: IO; name 'a#b'; open of named", False),
    ],
)
def test_an_entry_that_names_calls_lists_the_failure_after_more_calls(
    entry: str, failure: str, is_listed: bool
) -> None:
    assert _failure(failure).is_listed_as(entry) is is_listed


def test_an_entry_is_not_fixed_while_the_failure_occurs_under_fewer_circumstances() -> None:
    """Which circumstances a run meets depends on its seed."""
    general = _failure("pread: EOF")
    listed = "pread: EOF", "pread: EOF; beyond the first buffer"
    assert _outcome((general,), *listed).outcome is Verdict.KNOWN
    assert _outcome((general,), "pread: EOF", "pread: NULL").outcome is Verdict.FIXED


class TwoBugs(MemoryInputStream):
    """A stream with two bugs of one clause, of which one is seen in shorter programs."""

    def seek(self, position: int) -> None:
        """Go one too far from 3, and to the start from 4, of files that are not short."""
        super().seek(position)
        if position == 3 < self._size:
            self._pos = 4
        if position == 4 < self._size:
            self._pos = 0


class FailsThenLies(MemoryInputStream):
    """The position is wrong after a skip, which returns too much in each program."""

    def skip(self, count: int) -> int:
        """Return 99."""
        return super().skip(count) and 99

    def unbuffer(self) -> None:
        """Lose the position."""
        self._pos = 0


def test_each_distinct_failure_of_a_clause_is_kept() -> None:
    result = check(binding_of(TwoBugs), settings_for("seek.pos"))
    (judged,) = result.clauses
    signatures = {failure.signature for failure in judged.counterexamples}
    assert {"position: too late; after seek", "position: too early; after seek"} <= signatures


def test_a_failure_without_time_to_shrink_it_is_left_out_if_another_is_the_same() -> None:
    """Its circumstances may be needless; one of another kind stays."""
    shrunk, same = _failure("seek: returned"), _failure("seek: returned; after close")
    other = _failure("seek: IO; after close")
    for kept, found in (((shrunk,), same), ((shrunk, other), other)):
        counterexamples = Counterexamples(frozenset({"seek.pos"}))
        counterexamples.add("seek.pos", replace(found, unshrunk=True))
        counterexamples.add("seek.pos", shrunk)
        signatures = {failure.signature for failure in counterexamples.of("seek.pos")["failed"]}
        assert signatures == {failure.signature for failure in kept}


def test_many_failures_of_one_kind_do_not_hide_another_kind() -> None:
    repeats = Repeats(remote=False)
    for number in range(100):
        repeats.often(("seek.past-eof", "", "raised", "seek", "INDEX", f"operation {number}", ""))
    assert repeats.often(("seek.past-eof", "", "raised", "seek", "INDEX", "open", ""))
    assert not repeats.often(("seek.past-eof", "", "accepted", "seek", "returned", "open", ""))


class PreadMoves(MemoryInputStream):
    """Positioned reads leave the stream where they end."""

    def pread(self, *args: Any) -> int:
        """Move to the end of the range."""
        count = super().pread(*args)
        self._pos = args[0] + max(count, 0)
        return count


class PreadMovesAfterUnbuffer(PreadMoves):
    """They do so after an unbuffer alone."""

    _is_unbuffered = False

    def unbuffer(self) -> None:
        """Remember it."""
        self._is_unbuffered = True

    def pread(self, *args: Any) -> int:
        """Move after an unbuffer."""
        at = self._pos
        count = super().pread(*args)
        self._pos = self._pos if self._is_unbuffered else at
        return count


def _after_pread(start: int, position: int, *before: Step) -> Program:
    """Return a program that reads 2 bytes at `position`, and asks for its own position then."""
    read = Step("pread", (position, 2, 0, 2))
    return Program(8, (*before, Step("seek", (start,)), read, Step("get_pos")))


@pytest.mark.parametrize(
    ("stream", "signatures"),
    [
        (PreadMoves, {"position: moved; after pread"}),
        (
            PreadMovesAfterUnbuffer,
            {
                "position: too late; after pread; after unbuffer",
                "position: too early; after pread; after seek; after unbuffer",
            },
        ),
    ],
)
def test_a_call_that_always_moves_the_position_is_one_failure_wherever_it_moves_it(
    stream: type[MemoryInputStream], signatures: set[str], executor: MakeExecutor
) -> None:
    """Its direction depends on the arguments, and so on the seed; circumstances are kept."""
    name = "pread.pos-unchanged"
    found = ShrinkingCounterexamples(executor(stream), frozenset({name}))
    for start, position in ((0, 4), (7, 1)):
        program = _after_pread(start, position, Step("unbuffer"))
        violation = found.executor.run(program).violation
        assert violation is not None
        found.violation(violation)
    assert found.failed[name].keys() == signatures


class IteratesNothing(io.BytesIO):
    """No step of a loop succeeds."""

    def __init__(self, path: str) -> None:
        super().__init__(Path(path).read_bytes())

    def __next__(self) -> bytes:
        """Fail."""
        raise OSError("no lines")


class LoopsOnce(IteratesNothing):
    """A loop ends after one line, the steps of an iterator don't."""

    def __iter__(self) -> Any:
        return iter(self.readlines()[:1])

    def __next__(self) -> bytes:
        """Return the next line."""
        if line := self.readline():
            return line
        raise StopIteration


def _signatures(opens: Any, tmp_path: Path, *programs: Program) -> dict[str, set[str]]:
    """Return the signatures of these programs' failures, by clause."""
    with executor_of_files(opens, tmp_path, "supports-seek") as executor:
        found = ShrinkingCounterexamples(executor, frozenset(clauses()))
        for program in programs:
            violation = executor.run(program).violation
            assert violation is not None
            found.violation(violation)
        return {clause: {*failures} for clause, failures in found.failed.items()}


def test_a_loop_that_fails_as_its_first_step_does_has_the_signature_of_that(
    tmp_path: Path,
) -> None:
    step, loop = Program(3, (Step("py_next"),)), Program(3, (Step("py_iterate"),))
    expected = {"python.iter.lines": {"py_next: IO"}}
    assert _signatures(IteratesNothing, tmp_path, step, loop) == expected


def test_a_loop_that_ends_where_its_steps_go_on_fails_by_the_loop(tmp_path: Path) -> None:
    loop = Program(913, (Step("py_iterate"),))
    ((clause, signatures),) = _signatures(LoopsOnce, tmp_path, loop).items()
    assert clause == "python.iter.end"
    assert all(signature.startswith("py_iterate: returned") for signature in signatures)


def test_a_run_is_judged_to_its_end_after_a_failure(executor: MakeExecutor) -> None:
    steps = (Step("skip", (1,)), Step("seek", (-1,)), Step("close"), Step("read_byte"))
    program = Program(5, steps)
    assert executor(FailsThenLies).run(program).later == []
    seen = executor(FailsThenLies).run(program, resume=True)
    assert [violation.step.op for violation in seen.violations] == ["skip"]

    class Lax(FailsThenLies):
        def seek(self, position: int) -> None:
            """Accept anything."""

    seen = executor(Lax).run(program, resume=True)
    assert [violation.step.op for violation in seen.violations] == ["skip", "seek"]


class SilentSeeks(io.FileIO):
    """seek() returns None."""

    def seek(self, offset: int, whence: int = 0) -> None:  # type: ignore[override]
        super().seek(offset, whence)


class SilentAndWrong(SilentSeeks):
    """And one from the end moves too far."""

    def seek(self, offset: int, whence: int = 0) -> None:  # type: ignore[override]
        super().seek(offset + (whence == 2 and offset < 0), whence)


class SeeksToOffset(io.FileIO):
    """seek() returns the offset."""

    def seek(self, offset: int, whence: int = 0) -> int:
        super().seek(offset, whence)
        return offset


class SeeksToOffsetAndWrong(SeeksToOffset):
    """And one to behind the current position moves too far."""

    def seek(self, offset: int, whence: int = 0) -> int:
        super().seek(offset + (whence == 1 and offset > 4), whence)
        return offset


class TellsTooMuchAtEnd(io.FileIO):
    """tell() is wrong at the end."""

    def tell(self) -> int:
        position = super().tell()
        return position + (position >= os.fstat(self.fileno()).st_size)


class TellsTooMuchAndSeeksTooFar(TellsTooMuchAtEnd):
    """And a seek to behind the current position moves too far."""

    def seek(self, offset: int, whence: int = 0) -> int:
        return super().seek(offset + (whence == 1 and offset > 4), whence)


@pytest.mark.parametrize(
    ("kind", "failing"),
    [
        (SilentSeeks, {"python.seek.returns"}),
        (SilentAndWrong, {"python.seek.returns", "python.seek.end"}),
        (SeeksToOffset, {"python.seek.returns"}),
        (SeeksToOffsetAndWrong, {"python.seek.returns", "python.seek.current"}),
        (TellsTooMuchAtEnd, set()),
        (TellsTooMuchAndSeeksTooFar, {"python.seek.current"}),
    ],
)
def test_wrong_results_of_seek_and_tell_do_not_hide_that_a_seek_moves_elsewhere(
    kind: type[io.FileIO], failing: set[str], tmp_path: Path
) -> None:
    binding = PythonFileBinding(kind, str(tmp_path), "silent")
    clauses = ["python.seek.*", "python.read.data", "python.tell.value"]
    result = fscontract.check(binding, clauses=clauses)
    assert {c.clause.id for c in result.clauses if c.outcome is Verdict.FAIL} == failing


def test_a_consequence_of_a_failure_is_no_failure_of_its_own() -> None:
    """A read after a seek that went astray is right where the stream is."""
    result = check(binding_of(TwoBugs), settings_for("seek.pos", "read-byte.value"))
    assert {c.clause.id for c in result.clauses if c.counterexamples} == {"seek.pos"}


def test_a_clause_with_a_failure_that_is_not_listed_fails_and_shows_that_first() -> None:
    result = _outcome((EARLY, LATE), "position: early")
    assert result.outcome is Verdict.FAIL
    assert [f.signature for f in result.counterexamples] == ["position: late", "position: early"]
    assert [f.known for f in result.counterexamples] == ["", "reason of position: early"]


@pytest.mark.parametrize(
    ("signature", "because"),
    [
        ("later call: value; after close", "It denies to be closed."),
        ("seek: IO", "Nobody catches it."),
        ("seek: returned", "Readers stop."),
    ],
)
def test_the_reason_why_a_failure_matters_fits_the_way_it_fails(
    signature: str, because: str
) -> None:
    ways = {"value": "It denies to be closed.", "raised": "Nobody catches it."}
    result = ClauseResult(replace(CLAUSE, ways=ways), Verdict.FAIL, 1, _failure(signature))
    assert f"  because    {because}" in failure_block(result)


def test_a_clause_is_known_if_each_of_its_failures_is() -> None:
    result = _outcome((EARLY, LATE), "position: early", "position: late")
    assert result.outcome is Verdict.KNOWN
    assert known_line(result).endswith("reason of position: early; reason of position: late")


def test_an_entry_without_circumstances_covers_all_failures_of_its_kind() -> None:
    """So files of versions before 0.2.0 keep their meaning."""
    assert _outcome((EARLY, LATE), "get_pos: returned").outcome is Verdict.KNOWN


@pytest.mark.parametrize(
    ("signature", "is_covered"),
    [
        ("get_pos: returned", True),
        ("get_pos: returned; away from the start", True),
        ("get_pos: returned end of file", False),
        ("position: early", False),
    ],
)
def test_an_entry_with_a_program_covers_a_call_that_ends_alike(
    signature: str, is_covered: bool
) -> None:
    """It was written for one failure, so that another one of this kind is seen beside it."""
    entry = replace(_entry("get_pos: returned"), program=Program(1, (Step("get_pos"),)))
    assert entry.covers(_failure(signature)) is is_covered


def test_an_entry_of_a_kind_gets_no_program(tmp_path: Path, make_run: MakeRun) -> None:
    """With one it would cover fewer failures than before."""
    path = tmp_path / "known.yaml"
    save_known(path, (_entry("get_pos: returned"),))
    write_known(path, make_run(_outcome((EARLY,), "get_pos: returned")), "new")
    assert [entry.program for entry in load_known(path)] == [None]


def test_an_entry_that_did_not_occur_is_fixed_beside_others_that_did() -> None:
    result = _outcome((EARLY,), "position: early", "closed")
    assert result.outcome is Verdict.FIXED
    assert result.reason.endswith("but it did not fail: closed")


class _StaysOpen(io.BytesIO):
    """A file that accepts all calls after close()."""

    def __init__(self, path: str) -> None:
        super().__init__(Path(path).read_bytes())

    def close(self) -> None:
        """Leave the file open."""


class _Peeks(_StaysOpen):
    def peek(self, size: int = 0) -> bytes:
        """Return no bytes."""
        return b""


class _RefusesPeeks(_StaysOpen):
    def peek(self, size: int = 0) -> bytes:
        """Raise the exception of a closed file."""
        raise ValueError("closed")


@pytest.mark.parametrize(
    ("opens", "expected"),
    [(_Peeks, Verdict.KNOWN), (_StaysOpen, Verdict.KNOWN), (_RefusesPeeks, Verdict.FIXED)],
)
def test_an_entry_of_a_method_that_the_file_lacks_is_not_fixed(
    opens: Callable[[str], Any], expected: Verdict, tmp_path: Path
) -> None:
    chosen = tuple(clause for clause in clauses().values() if clause.id == "close.state")

    def judged(kind: Callable[[str], Any], known: tuple[Known, ...] = ()) -> ClauseResult:
        settings = Settings(load_profile("python-file"), chosen, known=known)
        (result,) = check(PythonFileBinding(kind, str(tmp_path), "files"), settings).clauses
        return result

    failures = judged(_Peeks).counterexamples
    known = tuple(Known("close.state", "r", f.signature, program=f.program) for f in failures)
    assert judged(opens, known).outcome is expected


def test_a_known_file_is_written_and_pruned_failure_by_failure(
    tmp_path: Path, make_run: MakeRun
) -> None:
    path = tmp_path / "known.yaml"
    save_known(path, (_entry("position: early"),))
    run = make_run(_outcome((EARLY, LATE), "position: early"))
    assert [e.signature for e in write_known(path, run, "new")] == ["position: late"]
    assert write_known(path, run, "again") == ()
    save_known(path, (_entry("position: early"), _entry("closed")))
    run = make_run(_outcome((EARLY,), "position: early", "closed"))
    assert [entry.signature for entry in prune_known(path, run)] == ["closed"]


def test_a_report_shows_three_failures_and_counts_the_rest() -> None:
    failures = (EARLY, LATE, CLOSED, _failure("a"), _failure("b"))
    lines = failure_block(_outcome(failures, "closed"))
    assert sum(line.startswith("  program") for line in lines) == 3
    assert "  more       2 failures in the JSON report" in lines


def test_the_json_report_has_every_failure(make_run: MakeRun) -> None:
    run: RunResult = make_run(_outcome((EARLY, LATE, CLOSED), "closed"))
    report = run.to_dict()
    schema = json.loads((files("fscontract.specs") / "report.schema.json").read_text())
    Draft202012Validator(schema).validate(report)
    (clause,) = report["clauses"]
    signatures = [clause["counterexample"]["signature"]]
    signatures += [other["signature"] for other in clause["others"]]
    assert signatures == ["position: early", "position: late", "closed"]
    assert clause["others"][1]["known"] == "reason of closed"


@pytest.mark.parametrize("seed", [0, 7])
def test_the_signatures_of_a_run_do_not_depend_on_its_seed(seed: int) -> None:
    result = check(binding_of(TwoBugs), settings_for("seek.pos", seed=seed))
    (judged,) = result.clauses
    assert sorted(f.signature for f in judged.counterexamples) == [
        "position: too early; after seek",
        "position: too late; after seek",
    ]


def test_missed_should_that_does_not_come_again_ends_with_the_call_that_missed_it(
    executor: MakeExecutor,
) -> None:
    class ClaimsMoreOnce(MemoryInputStream):
        claims: ClassVar = [30]

        def skip(self, count: int) -> int:
            """Return a count past the end in the first call of all streams."""
            skipped = super().skip(count)
            return self.claims.pop() if self.claims else skipped

    steps = (Step("seek", (1,)), Step("skip", (30,)), Step("get_pos"), Step("close"))
    found = ShrinkingCounterexamples(executor(ClaimsMoreOnce), frozenset({"skip.count"}))
    (missed,) = found.executor.run(Program(9, steps)).misses
    assert found.miss(missed) == "skip.count"
    (kept,) = found.missed["skip.count"].values()
    assert kept.program is not None
    assert kept.program.steps == steps[:2]
