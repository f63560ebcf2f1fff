"""Measurements of the cost check, and its verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import fscontract
from fscontract.contract.api.iostatistics import METERS
from fscontract.contract.api.openfile_options import READ_POLICY, option_table
from fscontract.contract.binding import NoScene, Opener, TargetError
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.open_calls import BuilderCall, Opening
from fscontract.contract.program.program import Program, Step
from fscontract.contract.runner import cost_checks
from fscontract.contract.runner.cost_checks import (
    CostVerdict,
    check_costs,
    cost_program,
    replay_cost,
)
from fscontract.contract.runner.executor import Executor
from fscontract.contract.runner.result import Verdict
from fscontract.contract.spec.clauses import Clause, Cost, Level, clauses
from fscontract.fakes.mutants.correct_parts import StoredFiles
from fscontract.implementations.bindings.open_file import OpenedStream
from fscontract.implementations.memory import MemoryInputStream
from fscontract.implementations.openfile_builder import OpenOptions
from tests.contract.runner.conftest import MakeExecutor

POLICIES = ("default", "random", "whole-file")
READ = Step("read_into", (4, 0, 4))
PROBED = ("op_get_file_status", "op_exists")


class Priced(Opener):
    """A filesystem that counts what a test says, for each open and each read."""

    scenes = frozenset({"file"})
    statuses = frozenset({"own"})
    statistics = True

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.counts: Counter[str] = Counter(dict.fromkeys(("op_exists", "store_io_request"), 0))
        #: What an open with a policy, "" for none, counts.
        self.opens: dict[str, Counter[str]] = {}
        #: What a read counts.
        self.read: Mapping[str, int] = {}
        #: What a read of one byte counts, which only the check itself makes.
        self.read_byte: Mapping[str, int] = {}
        self.calls: list[BuilderCall] = []
        self.closed = 0
        self.refuses: Exception | None = None

    def place(self, scene: str, content: bytes) -> str:
        self.counts["op_exists"] += 100
        return self.executor.binding.create(content)

    def appear(self, path: str, content: bytes) -> None:
        raise AssertionError("no program of a cost has a file that appears")

    def status(self, path: str, kind: str, length: int | None) -> Any:
        self.counts["op_get_file_status"] += 100
        return f"status of kind {kind}"

    def open_file(self, path: str) -> Any:
        self.calls = []
        return path

    def call(self, builder: Any, call: BuilderCall) -> Any:
        self.calls.append(call)
        return builder

    def build(self, builder: Any) -> Any:
        return builder

    def get(self, future: Any) -> Any:
        if self.refuses is not None:
            raise self.refuses
        policy = "".join(str(call[2]) for call in self.calls if call[1] == READ_POLICY)
        self.counts.update(self.opens.get(policy, self.opens.get("", Counter())))
        return OpenedStream(_stream(self))

    def counters(self, opened: Any) -> Mapping[str, int]:
        return self.counts


def _stream(opener: Priced) -> MemoryInputStream:
    class Stream(MemoryInputStream):
        def read_into(self, buffer: Any, offset: int = 0, length: int | None = None) -> int:
            opener.counts.update(opener.read)
            return super().read_into(buffer, offset, length)

        def read_byte(self) -> int:
            opener.counts.update(opener.read_byte)
            return super().read_byte()

        def close(self) -> None:
            opener.closed += 1
            super().close()

    return Stream(bytes(64))


def clause_of(
    budget: Mapping[str, int],
    meter: str = "probes",
    calls: tuple[BuilderCall, ...] = (),
    before: tuple[Step, ...] | None = None,
    steps: tuple[Step, ...] = (READ,),
    exact: bool = False,
) -> Clause:
    """A clause that bounds the cost of a program on a file of 64 bytes."""
    cost = Cost(64, calls, before, steps, meter, budget, exact)
    return Clause("open.test", Level.MUST, "", "", "openfile", cost=cost)


def program_of(clause: Clause) -> Program:
    """The program of a clause without a policy."""
    assert clause.cost is not None
    return cost_program(clause.cost, None)


Check = Callable[..., CostVerdict]


@pytest.fixture
def opener(executor: MakeExecutor) -> Priced:
    """A filesystem on which nothing costs anything yet."""
    return Priced(executor())


@pytest.fixture
def check(opener: Priced) -> Check:
    """The verdict on one clause, with the profile's budget for it."""

    def verdict(clause: Clause, **budget: int) -> CostVerdict:
        budgets = {clause.id: budget} if budget else {}
        (found,) = check_costs(opener.executor, opener, [clause], budgets, POLICIES)
        return found

    return verdict


def test_within_the_budget_the_clause_is_exercised_without_and_with_each_policy(
    check: Check,
) -> None:
    """A policy that needs more than others shows only if each is tried."""
    assert check(clause_of({"default": 0})) == CostVerdict("open.test", 1 + len(POLICIES))


def test_an_open_that_costs_too_much_is_shown_with_what_it_cost(
    opener: Priced, check: Check
) -> None:
    """The reader of a report sees the budget, the reading, and which counters it is made of."""
    opener.opens[""] = Counter({"op_get_file_status": 2, "op_exists": 1, "op_open": 1})
    shown = check(clause_of({"default": 1})).counterexample
    assert shown is not None
    assert shown.expected == ("at most 1 probe",)
    assert shown.actual == snapshot("2 probes (op_get_file_status 2, op_exists 1)")
    assert (shown.step, shown.how, shown.signature) == (0, "cost: probes", "cost: probes")
    assert shown.program == Program(64, (READ,), opening=Opening())


def test_a_policy_that_costs_more_is_named_and_set_as_an_option(
    opener: Priced, check: Check
) -> None:
    """The counterexample is a whole program: its opening says which policy it takes."""
    opener.opens["random"] = Counter(op_exists=1)
    shown = check(clause_of({"default": 0}, calls=(("buffer_size", 4),))).counterexample
    assert shown is not None
    assert shown.expected == snapshot(("at most 0 probes with policy random",))
    calls = (("buffer_size", 4), ("opt", READ_POLICY, "random"))
    assert shown.program == Program(64, (READ,), opening=Opening("file", calls))


def test_a_policy_with_a_budget_of_its_own_may_cost_that(opener: Priced, check: Check) -> None:
    """A policy of whole files may fetch what others must not."""
    opener.opens["whole-file"] = Counter(op_exists=2)
    assert check(clause_of({"default": 0, "whole-file": 2})).counterexample is None
    assert check(clause_of({"default": 0, "whole-file": 1})).counterexample is not None


def test_without_a_default_only_the_policies_listed_are_tried(opener: Priced, check: Check) -> None:
    """A clause may be one of a single policy."""
    opener.opens[""] = Counter(op_exists=5)
    opener.opens["random"] = Counter(op_exists=1)
    assert check(clause_of({"random": 1})) == CostVerdict("open.test", 1)


def test_a_policy_is_tried_if_only_the_budget_knows_it(check: Check) -> None:
    """A policy that is listed is never passed over."""
    assert check(clause_of({"default": 0, "vector": 0})).exercised == 2 + len(POLICIES)


@pytest.mark.parametrize(("cost", "fails"), [(3, True), (4, False), (5, True)])
def test_an_exact_cost_is_neither_more_nor_less(
    opener: Priced, check: Check, cost: int, fails: bool
) -> None:
    """A count of bytes that is too low is as wrong as one that is too high."""
    opener.read = {"stream_read_bytes": cost}
    verdict = check(clause_of({"default": 4}, "returned", exact=True))
    assert (verdict.counterexample is not None) is fails
    if verdict.counterexample is not None:
        assert verdict.counterexample.expected == ("exactly 4 bytes returned",)


def test_a_stream_that_counts_the_fewer_bytes_of_a_short_pread_is_not_judged(
    opener: Priced, check: Check
) -> None:
    """Only read_fully returns all bytes of a range."""
    opener.read = {"stream_read_bytes": 5}
    steps = (READ, Step("pread", (63, 4, 0, 4)))
    clause = clause_of({"default": 8}, "returned", steps=steps, exact=True)
    assert check(clause) == CostVerdict("open.test")


def test_what_was_counted_before_the_open_does_not_count(opener: Priced, check: Check) -> None:
    """Creating the file, its status, and earlier streams do not count as a cost of this open."""
    opener.counts["op_exists"] = 1000
    calls = (("with_file_status", "own", None),)
    assert check(clause_of({"default": 0}, calls=calls)) == CostVerdict("open.test", 4)
    assert opener.calls[0] == ("with_file_status", "status of kind own")


def test_steps_before_the_meter_starts_cost_nothing_nor_does_the_open(
    opener: Priced, check: Check
) -> None:
    """A second read is compared with a first one, whatever that cost."""
    opener.opens[""] = Counter(store_io_request=7)
    opener.read = {"store_io_request": 1}
    for before, cost in (((), 1), ((READ, READ), 1), (None, 8)):
        clause = clause_of({"default": cost}, "requests", before=before)
        assert check(clause).counterexample is None
        assert (
            check(clause_of({"default": cost - 1}, "requests", before=before)).counterexample
            is not None
        )


def test_nothing_but_steps_before_the_meter_costs_nothing(opener: Priced, check: Check) -> None:
    """The meter starts after them, even if it then has nothing to measure."""
    opener.read = {"store_io_request": 1}
    clause = clause_of({"default": 0}, "requests", before=(READ,), steps=())
    assert check(clause).counterexample is None


def test_what_is_held_is_counted_from_the_open_on(opener: Priced, check: Check) -> None:
    """A connection that was opened before the meter starts is held all the same."""
    opener.counts["stream_read_opened"] = 9  # of a stream that somebody else holds
    opener.opens[""] = Counter(stream_read_opened=2, stream_read_closed=1)
    shown = check(clause_of({"default": 0}, "held", before=())).counterexample
    assert shown is not None
    assert shown.actual == (
        snapshot("1 descriptor or connection held (stream_read_opened 2, stream_read_closed 1)")
    )


def test_a_meter_without_a_counter_has_no_verdict_if_the_api_has_no_statistics(
    opener: Priced, check: Check
) -> None:
    """A count of zero does not prove that there were no requests."""
    opener.statistics = False
    assert check(clause_of({"default": 0}, "bytes")) == CostVerdict("open.test", unsaid=True)


def test_a_declared_counter_that_is_missing_fails_the_clause(check: Check) -> None:
    """The profile says that the costs can be read off."""
    verdict = check(clause_of({"default": 9}, "bytes"))
    assert verdict.counterexample is not None
    assert verdict.counterexample.expected == snapshot(
        ("counts bytes from the store: stream_read_total_bytes",)
    )
    assert (verdict.counterexample.actual, verdict.counterexample.how) == (
        "no such counter",
        "cost: not counted",
    )
    assert verdict.exercised == 1
    assert not verdict.unsaid


def test_a_counter_that_is_there_once_it_has_counted_is_not_missing(
    opener: Priced, check: Check
) -> None:
    """Before that it counts 0."""
    opener.read_byte = {"stream_read_total_bytes": 1}
    assert check(clause_of({"default": 0}, "bytes", steps=())).exercised == 1 + len(POLICIES)
    opener.read = {"stream_read_total_bytes": 64}
    opener.counts.pop("stream_read_total_bytes")
    shown = check(clause_of({"default": 0}, "bytes")).counterexample
    assert shown is not None
    assert shown.actual == snapshot("64 bytes from the store (stream_read_total_bytes 64)")


def test_an_operation_that_the_api_lacks_is_no_verdict(opener: Priced, check: Check) -> None:
    """The program can't be run."""
    opener.executor.binding.operations -= {"unbuffer"}
    verdict = check(clause_of({"default": 0}, steps=(Step("unbuffer"),)))
    assert verdict == CostVerdict("open.test", unsaid=True)


def test_a_status_that_the_target_lacks_is_no_verdict(check: Check) -> None:
    """The same holds for statuses."""
    calls = (("with_file_status", "located", None),)
    assert check(clause_of({"default": 0}, calls=calls)).unsaid


def test_no_status_is_given_as_such(opener: Priced, check: Check) -> None:
    """The builder gets None, which no target has to make."""
    check(clause_of({"random": 0}, calls=(("with_file_status", "none", None),)))
    assert opener.calls[0] == ("with_file_status", None)


def test_anchors_in_the_calls_become_numbers(opener: Priced, check: Check) -> None:
    """A builder gets numbers."""
    check(clause_of({"random": 0}, calls=(("opt_long", "a.key", "len-1"),)))
    assert opener.calls[0] == ("opt_long", "a.key", 63)


def test_a_call_that_raises_ends_the_measurement_without_a_verdict(
    opener: Priced, check: Check
) -> None:
    """Exceptions are judged by other clauses."""
    opener.opens[""] = Counter(op_exists=9)
    steps = (Step("seek", (-1,)), READ)
    assert check(clause_of({"default": 0}, steps=steps)) == CostVerdict("open.test")


@pytest.mark.parametrize("budget", [0, 9])
def test_every_stream_is_closed(opener: Priced, check: Check, budget: int) -> None:
    """Streams that stay open would count as held, or run out."""
    opener.opens[""] = Counter(op_exists=9)
    exercised = check(clause_of({"default": budget})).exercised
    check(clause_of({"default": 0}, steps=(Step("seek", (-1,)),)))
    assert opener.closed == exercised + 1 + len(POLICIES)


def test_an_open_that_fails_has_no_verdict(opener: Priced, check: Check) -> None:
    """Other clauses say that it must not."""
    opener.refuses = ValueError("no such option")
    assert check(clause_of({"default": 0})) == CostVerdict("open.test")


def test_an_error_of_the_network_is_told_and_ends_the_clause(opener: Priced, check: Check) -> None:
    """The run decides whether to continue with a target that does not answer."""
    opener.refuses = ConnectionResetError("gone")
    verdict = check(clause_of({"default": 0}))
    assert verdict.environment == "ENVIRONMENT (ConnectionResetError: gone)"
    assert verdict.counterexample is None


def test_a_target_that_has_no_file_has_no_verdict(
    opener: Priced, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An opener may have other scenes only."""

    def nowhere(scene: str, content: bytes) -> str:
        raise NoScene(scene)

    monkeypatch.setattr(opener, "place", nowhere)
    assert check(clause_of({"default": 0})).unsaid


def test_a_given_file_is_measured_only_if_it_is_as_long_as_that_of_the_clause(
    opener: Priced, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Budgets are for a length."""
    binding = opener.executor.binding
    monkeypatch.setattr(binding, "_file", binding.create(bytes(64)))
    binding.fixed_content = bytes(63)
    assert check(clause_of({"default": 0})) == CostVerdict("open.test")
    binding.fixed_content = bytes(64)
    assert check(clause_of({"default": 0})).exercised == 1 + len(POLICIES)


def test_a_default_in_the_profile_replaces_all_of_the_budget(opener: Priced, check: Check) -> None:
    """A connector may say that an open costs it more, whatever the policy."""
    opener.opens[""] = Counter(op_exists=2)
    assert check(clause_of({"default": 0, "random": 1})).counterexample is not None
    assert check(clause_of({"default": 0, "random": 1}), default=2).counterexample is None


def test_a_policy_in_the_profile_leaves_the_rest_of_the_budget(
    opener: Priced, check: Check
) -> None:
    """Budgets that the profile does not mention are still checked."""
    opener.opens["random"] = Counter(op_exists=2)
    assert check(clause_of({"default": 0}), random=2) == CostVerdict("open.test", 4)
    opener.opens[""] = Counter(op_exists=1)
    assert check(clause_of({"default": 0}), random=2).counterexample is not None


def test_clauses_without_a_cost_are_passed_over(opener: Priced) -> None:
    """The whole document can be handed in."""
    plain = Clause("open.plain", Level.MUST, "", "", "openfile")
    some = [plain, clause_of({"default": 0})]
    found = check_costs(opener.executor, opener, some, {}, POLICIES)
    assert [verdict.clause for verdict in found] == ["open.test"]


def test_a_counterexample_can_be_replayed_until_the_cost_is_kept(
    opener: Priced, check: Check
) -> None:
    """A replay measures anew, with the same program and budget."""
    opener.opens["random"] = Counter(op_exists=1)
    clause = clause_of({"default": 0})
    shown = check(clause).counterexample
    assert shown is not None
    assert shown.program is not None
    program = Program.from_json(shown.program.to_json())
    assert replay_cost(opener.executor, opener, clause, program, {}) == shown
    assert replay_cost(opener.executor, opener, clause, program, {clause.id: {"random": 1}}) is None
    opener.opens.clear()
    assert replay_cost(opener.executor, opener, clause, program, {}) is None


def test_another_program_than_that_of_the_clause_is_not_replayed(opener: Priced) -> None:
    """A budget says nothing of it."""
    clause = clause_of({"random": 0})
    for program in (Program(64, (READ,)), program_of(clause)):
        with pytest.raises(ProgramError, match=r"^open\.test: the program is not one"):
            replay_cost(opener.executor, opener, clause, program, {})


def test_a_replay_of_a_missing_counter_still_fails(opener: Priced, check: Check) -> None:
    """Until the counter is there."""
    clause = clause_of({"default": 0}, "bytes")
    program, shown = program_of(clause), check(clause).counterexample
    assert replay_cost(opener.executor, opener, clause, program, {}) == shown
    opener.counts["stream_read_total_bytes"] = 0
    assert replay_cost(opener.executor, opener, clause, program, {}) is None


def test_a_replay_that_measures_nothing_says_why(opener: Priced) -> None:
    """It must not look like a cost that is kept."""
    opener.statistics = False
    clause = clause_of({"default": 0}, "bytes")
    program = program_of(clause)
    with pytest.raises(TargetError, match=r"open\.test can't be measured: .* not counted$"):
        replay_cost(opener.executor, opener, clause, program, {})


def test_every_meter_has_a_word() -> None:
    """A report says what was counted."""
    assert cost_checks._WORDS.keys() == METERS.keys()


def test_the_programs_of_all_costs_can_be_saved_and_made_ready(executor: MakeExecutor) -> None:
    """Each is complete: it can be written to a replay file and run again."""
    runner = executor()
    for clause in (c for c in clauses().values() if c.cost is not None):
        assert clause.cost is not None
        for policy in (None, *option_table().policies):
            program = cost_program(clause.cost, policy)
            assert Program.from_json(program.to_json()) == program
            runner.file(program.length)
            for step in program.steps:
                runner.compile(program.length, step)


# The verdict --------------------------------------------------------------------------------


class KeepsNoFooter(StoredFiles):
    """Streams keep no footer, whatever the options say."""

    def _footer(self, options: OpenOptions) -> int:
        return 0


def test_a_hint_that_is_ignored_is_lax() -> None:
    result = fscontract.check(KeepsNoFooter(), profile="reference", clauses="open.footer-default")
    assert (result.verdict, result.clauses[0].outcome) == ("conforms", Verdict.LAX)


def test_a_cost_beyond_the_budget_of_the_profile_fails(tmp_path: Path) -> None:
    profile = tmp_path / "footers.yaml"
    profile.write_text(
        "name: footers\ntitle: Keeps footers\nextends: reference\n"
        "openfile: {budgets: {open.footer-default: {parquet: 0}}}\n"
    )
    result = fscontract.check(KeepsNoFooter(), profile=str(profile), clauses="open.footer-default")
    assert result.clauses[0].outcome is Verdict.FAIL
