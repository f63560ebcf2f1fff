"""Play scenarios as scripts do."""

from __future__ import annotations

import pytest

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.scenarios.blockreader.harness import ReaderHarness
from fscontract.contract.scenarios.instrumented_filesystem import Killed
from fscontract.contract.scenarios.splitter.harness import SplitterHarness
from fscontract.contract.scenarios.trace import play
from fscontract.pipeline.blockreader.binding import ReaderBinding
from fscontract.pipeline.splitter.binding import LocalSplitterBinding


def _harness() -> SplitterHarness:
    return SplitterHarness(LocalSplitterBinding(), "split.trigger")


def test_right_part_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    play(lambda harness: harness.expect([], []), _harness())
    assert capsys.readouterr().out == ""


def test_violation_ends_the_scenario_after_the_last_calls(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def scenario(harness: SplitterHarness) -> None:
        life = harness.finding()
        for number in range(1, 10):
            life.window(number)
        harness.expect(1, 2, "a number")
        pytest.fail("the scenario continues")

    with pytest.raises(AssertionError, match=r"^split.trigger: expected a number: 2, got 1$"):
        play(scenario, _harness())
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 20
    assert printed[-2:] == ["taken() -> []", "close()"]


def test_violation_of_another_clause_does_not_end_the_scenario() -> None:
    reached = []

    def scenario(harness: SplitterHarness) -> None:
        harness.expect(1, 2)
        reached.append("the end")
        harness.expect(3, 4, clause="split.directory")

    with pytest.raises(AssertionError, match=r"^split.directory: expected 4, got 3$"):
        play(scenario, _harness(), "split.directory")
    assert reached == ["the end"]


def test_records_of_a_reader_are_shown_with_their_call(capsys: pytest.CaptureFixture[str]) -> None:
    def scenario(harness: ReaderHarness) -> None:
        reader = harness.file(b"one\ntwo").reader(context="line")
        harness.read(reader, *harness.blocks(100))
        harness.expect(1, 2)

    with pytest.raises(AssertionError):
        play(scenario, ReaderHarness(ReaderBinding(), "record.final"))
    made, read = capsys.readouterr().out.splitlines()
    assert made == "reader(fs, ReaderSettings(context='line'))"
    assert read.startswith("process(Block(block_id=1, ")
    assert "record=b'one'" in read


@pytest.mark.parametrize("error", [ValueError("no"), Killed()], ids=repr)
def test_exception_violates_the_charged_clause(error: BaseException) -> None:
    def scenario(harness: SplitterHarness) -> None:
        raise error

    with pytest.raises(AssertionError, match=r"^split.trigger: expected no exception") as raised:
        play(scenario, _harness())
    assert raised.value.__cause__ is error
    with pytest.raises(type(error)):
        play(scenario, _harness(), "split.directory")


def test_violation_counts_before_an_exception_that_follows() -> None:
    def scenario(harness: SplitterHarness) -> None:
        other = SplitterHarness(harness.binding, harness.clause)
        other.expect(1, 2)
        harness.violations += other.violations
        raise ValueError

    with pytest.raises(AssertionError, match=r"^split.trigger: expected 2, got 1"):
        play(scenario, _harness())


@pytest.mark.parametrize("error", [UnsupportedOperationException("no"), KeyboardInterrupt()])
def test_what_is_not_a_violation_is_raised(error: BaseException) -> None:
    def scenario(harness: SplitterHarness) -> None:
        raise error

    with pytest.raises(type(error)):
        play(scenario, _harness())
