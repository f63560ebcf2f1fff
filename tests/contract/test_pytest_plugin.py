"""The pytest plug-in, run by pytest's own test kit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from fscontract.contract.runner.result import Verdict
from fscontract.contract.spec.clauses import FAULTS, SERVER_FAULTS, STREAM, clauses

#: What is judged while all goes well.
CLAUSES = [
    c for c in clauses().values() if c.api == STREAM and c.document not in (FAULTS, SERVER_FAULTS)
]
SEEK = [c.id for c in clauses().values() if c.testable and c.id.startswith("seek.")]
HEAD = """
from fscontract.contract.pytest_plugin import conformance
from stubs import Stub, Broken, fails, number
"""


@pytest.fixture(autouse=True)
def _stubs(
    stub_target: str,
    tmp_path: Path,
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The inner tests can import `stubs`."""
    monkeypatch.delitem(sys.modules, "stubs", raising=False)
    pytester.makepyfile(stubs=(tmp_path / "stubs.py").read_text())
    monkeypatch.chdir(pytester.path)
    monkeypatch.syspath_prepend(pytester.path)


def _run(
    pytester: pytest.Pytester, call: str, *args: str, name: str = "test_contract"
) -> pytest.RunResult:
    pytester.makepyfile(test_it=f"{HEAD}\n{name} = conformance({call})\n")
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", *args)


def test_every_clause_is_a_test(pytester: pytest.Pytester, suite: Any) -> None:
    """With the clause's id as parameter, and one run for all of them."""
    result = _run(pytester, "Stub, clauses='seek'", "-v")
    result.assert_outcomes(passed=len(SEEK))
    result.stdout.fnmatch_lines(["*::test_contract[[]seek.negative[]] PASSED*"])
    assert [[c.id for c in s.clauses] for s in suite.runs] == [SEEK]


def test_only_selected_clauses_are_run(pytester: pytest.Pytester, suite: Any) -> None:
    """By id on the command line, or by -k."""
    _run(pytester, "Stub", "-k", "read-fully.whole or skip.negative").assert_outcomes(
        passed=2, deselected=len([c for c in CLAUSES if c.testable]) - 2
    )
    assert {c.id for c in suite.runs[0].clauses} == {"read-fully.whole", "skip.negative"}
    one = pytester.runpytest_inprocess("test_it.py::test_contract[seek.pos]")
    one.assert_outcomes(passed=1)
    assert {c.id for c in suite.runs[1].clauses} == {"seek.pos"}


def test_excluded_clauses_have_no_test(pytester: pytest.Pytester, suite: Any) -> None:
    result = _run(pytester, "Stub, clauses='seek', exclude='seek.negative'")
    result.assert_outcomes(passed=len(SEEK) - 1)


def test_a_group_can_be_named_on_the_command_line(pytester: pytest.Pytester, suite: Any) -> None:
    """`file::test_contract` means all of its clauses."""
    _run(pytester, "Stub, clauses='seek'", "test_it.py::test_contract").assert_outcomes(
        passed=len(SEEK)
    )


def test_the_summary_of_a_failure_is_the_actual_and_the_expected_outcome(
    pytester: pytest.Pytester, suite: Any
) -> None:
    """And the block ends with the command that runs the test again."""
    suite.outcomes["seek.negative"] = Verdict.FAIL
    result = _run(pytester, "Stub, clauses='seek.negative'")
    result.stdout.fnmatch_lines(
        [
            "  again      pytest 'test_it.py::test_contract[[]seek.negative[]]'",
            "FAILED test_it.py::test_contract[[]seek.negative[]] - *, expected EOF or*",
        ]
    )


def test_a_violation_fails_with_its_block_alone(pytester: pytest.Pytester, suite: Any) -> None:
    """No line of the plug-in is shown."""
    suite.outcomes["seek.negative"] = Verdict.FAIL
    result = _run(pytester, "Stub, clauses='seek'")
    result.assert_outcomes(passed=len(SEEK) - 1, failed=1)
    text = result.stdout.str()
    assert "FAIL  seek.negative  MUST  Hadoop's FSDataInputStream" in text
    assert "  expected   EOF or IO\n" in text
    assert "plugin.py" not in text
    assert "Traceback" not in text


#: A debugger that prints the function of the last frame, instead of waiting for commands.
DEBUGGER = """
import pdb

class Where(pdb.Pdb):
    def interaction(self, frame, traceback):
        last = getattr(traceback, "__traceback__", traceback)
        while last.tb_next:
            last = last.tb_next
        print("stopped in", last.tb_frame.f_code.co_name)
"""
RAISING = """
from fscontract.contract.pytest_plugin import conformance
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream

class Raising(MemoryInputStream):
    def seek(self, position):
        self.check_position(position)
        super().seek(position)

    def check_position(self, position):
        if position < 0:
            raise KeyError(position)

test_contract = conformance(lambda: MemoryFileSystem(stream_class=Raising), clauses="seek.negative")
"""


def test_a_failure_can_be_replayed_from_its_file_if_that_is_asked_for(
    pytester: pytest.Pytester,
) -> None:
    named = RAISING.replace("lambda: MemoryFileSystem(stream_class=Raising)", "make")
    make = "def make():\n    return MemoryFileSystem(stream_class=Raising)\n\ntest_contract ="
    pytester.makepyfile(test_it=named.replace("test_contract =", make))
    result = pytester.runpytest_inprocess("--contract-replays")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*fscontract replay .fscontract/seek.negative-*.json test_it.py:make"]
    )
    (path,) = pytester.path.glob(".fscontract/*-*.json")
    assert json.loads(path.read_text())["target"] == "test_it.py:make"


def test_a_debugger_stops_in_the_target_where_it_raised(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(debugger=DEBUGGER, test_it=RAISING)
    result = pytester.runpytest_inprocess("--pdb", "--pdbcls=debugger:Where")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["stopped in check_position"])


@pytest.mark.parametrize(
    ("outcome", "counted"),
    [
        ("lax", "passed"),
        ("hang", "failed"),
        ("crash", "failed"),
        ("fixed", "failed"),
        ("known", "xfailed"),
        ("error", "errors"),
        ("undeclared", "skipped"),
        ("inexpressible", "skipped"),
        ("unexercised", "skipped"),
    ],
)
def test_outcomes_have_their_word_in_pytest(
    outcome: str, counted: str, pytester: pytest.Pytester, suite: Any
) -> None:
    """A violation fails, a broken environment is an error, no verdict is a skip."""
    suite.outcomes["seek.zero"] = Verdict(outcome)
    suite.reasons["seek.zero"] = "why it is so"
    result = _run(pytester, "Stub, clauses='seek.zero'", "-ra")
    result.assert_outcomes(**{counted: 1})
    if outcome not in ("lax", "hang", "crash"):
        result.stdout.fnmatch_lines(["*why it is so*"])
    assert "plugin.py" not in result.stdout.str()


def test_a_known_failure_can_be_run_as_a_failure(pytester: pytest.Pytester, suite: Any) -> None:
    """`--runxfail` means what it always means."""
    suite.outcomes["seek.zero"] = Verdict.KNOWN
    _run(pytester, "Stub, clauses='seek.zero'", "--runxfail").assert_outcomes(failed=1)


def test_recommendations_not_kept_are_listed(pytester: pytest.Pytester, suite: Any) -> None:
    """They are in a separate section, which is missing if there are none."""
    suite.outcomes["seek.open"] = Verdict.LAX
    result = _run(pytester, "Stub, clauses='seek'")
    result.stdout.fnmatch_lines(
        [
            "*= fscontract =*",
            "LAX  test_it.py::test_contract[[]seek.open[]]  SHOULD: returned, expected EOF or IO",
        ]
    )
    suite.outcomes.clear()
    again = pytester.runpytest_inprocess()
    assert "= fscontract =" not in again.stdout.str()


@pytest.mark.parametrize("outcome", ["pass", "lax", "fail", "known", "error", "unexercised"])
def test_what_was_out_of_the_way_is_told_once(
    outcome: str, pytester: pytest.Pytester, suite: Any
) -> None:
    """Whatever became of the test that ran the suite."""
    suite.outcomes = {clause: Verdict(outcome) for clause in SEEK}
    suite.warnings = ("late once: it", "ended early: so")
    text = _run(pytester, "Stub, clauses='seek'").stdout.str()
    _, _, told = text.partition("= fscontract =")
    assert told.count("warning: test_it.py::test_contract: late once: it\n") == 1
    assert told.count("warning: test_it.py::test_contract: ended early: so\n") == 1


def test_the_header_names_version_effort_and_seed(pytester: pytest.Pytester, suite: Any) -> None:
    """As chosen by options, which take precedence."""
    result = _run(
        *(pytester, "Stub, clauses='seek', effort='normal', seed=3"),
        *("--contract-effort", "deep", "--contract-seed", "5"),
    )
    result.stdout.fnmatch_lines(
        [f"fscontract *: test_it.test_contract, {len(SEEK)} clauses, *, effort deep, seed 5"]
    )
    assert (suite.runs[0].effort, suite.runs[0].seed) == ("deep", 5)


def test_what_conformance_says_holds_without_options(pytester: pytest.Pytester, suite: Any) -> None:
    """Effort, seed, profile and features."""
    _run(
        pytester,
        "Stub, clauses='seek', effort='normal', seed=3, profile='hadoop', "
        "features=['supports-unbuffer']",
    )
    (settings,) = suite.runs
    assert (settings.effort, settings.seed, settings.profile.name) == ("normal", 3, "hadoop")
    assert settings.profile.has("supports-unbuffer")


def test_known_failures_come_from_the_file(pytester: pytest.Pytester, suite: Any) -> None:
    """Named by its path."""
    text = "known:\n- {clause: seek.zero, reason: r, signature: s}\n"
    (pytester.path / "known.yaml").write_text(text)
    _run(pytester, "Stub, clauses='seek', known='known.yaml'").assert_outcomes(passed=len(SEEK))
    assert [k.clause for k in suite.runs[0].known] == ["seek.zero"]


def test_junit_carries_clause_level_seed_and_verdict(pytester: pytest.Pytester, suite: Any) -> None:
    """Skipped tests too."""
    suite.outcomes["seek.zero"] = Verdict.UNDECLARED
    _run(pytester, "Stub, clauses='seek.zero'", "--junitxml=out.xml").assert_outcomes(skipped=1)
    properties = ElementTree.parse(pytester.path / "out.xml").getroot().iter("property")
    assert {p.get("name"): p.get("value") for p in properties} == {
        "clause": "seek.zero",
        "level": "MUST",
        "seed": "0",
        "verdict": "undeclared",
    }


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("Stub, clauses='seke.zero'", "did you mean seek.zero"),
        ("Stub, profile='hadop'", "did you mean hadoop"),
        ("Stub, features=['supports-skp']", "did you mean supports-skip"),
        ("Stub, effort='huge'", "unknown effort 'huge'; known: quick, normal, deep"),
        ("Stub, known='none.yaml'", "none.yaml: No such file"),
    ],
)
def test_a_mistake_fails_collection_with_one_line(
    call: str, said: str, pytester: pytest.Pytester, suite: Any
) -> None:
    """Without a traceback, and nothing is run."""
    result = _run(pytester, call)
    result.assert_outcomes(errors=1)
    text = result.stdout.str()
    assert "test_contract: " in text
    assert said in text
    assert "plugin.py" not in text
    assert suite.runs == []


@pytest.mark.parametrize(
    ("connector", "said"),
    [
        ("Broken", "broken: no way in"),
        ("fails", "RuntimeError: nothing here (*stubs.py:*)"),
        ("number", "unsupported type builtins.int*"),
        ("'nowhere'", "unknown target 'nowhere'*"),
    ],
)
def test_a_target_that_can_not_be_set_up_is_an_error(
    connector: str, said: str, pytester: pytest.Pytester, suite: Any
) -> None:
    """Of every clause, and it is tried once."""
    result = _run(pytester, f"{connector}, clauses='seek'")
    result.assert_outcomes(errors=len(SEEK))
    result.stdout.fnmatch_lines([f"*{said}"])
    assert "plugin.py" not in result.stdout.str()
    assert len(suite.runs) <= 1


def test_a_target_string_is_resolved(pytester: pytest.Pytester, suite: Any) -> None:
    """As on the command line."""
    _run(pytester, "'stubs.py:Stub', clauses='seek'").assert_outcomes(passed=len(SEEK))


def test_it_works_in_a_class(pytester: pytest.Pytester, suite: Any) -> None:
    """As any test does."""
    pytester.makepyfile(
        test_it=f"{HEAD}\nclass TestIt:\n    test_seek = conformance(Stub, clauses='seek')\n"
    )
    result = pytester.runpytest_inprocess("-v")
    result.assert_outcomes(passed=len(SEEK))
    result.stdout.fnmatch_lines(["test_it.py::TestIt::test_seek[[]seek.negative[]] PASSED*"])


def test_another_name_is_no_test(pytester: pytest.Pytester, suite: Any) -> None:
    """Only names that pytest takes for tests are collected."""
    assert _run(pytester, "Stub", name="contract").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert suite.runs == []


def test_it_is_inert_unless_used(pytester: pytest.Pytester) -> None:
    """No line in the output of other people's tests, and no fixture."""
    pytester.makepyfile("def test_one(): pass")
    result = pytester.runpytest_inprocess("--fixtures-per-test", "-v")
    assert "fscontract" not in result.stdout.str().replace("plugins: ", "").split("collected")[-1]


def test_importing_it_loads_only_pytest() -> None:
    """It is loaded at the start of every pytest run in the environment."""
    code = (
        "import sys, pytest\nbefore = set(sys.modules)\n"
        "import fscontract.contract.pytest_plugin\n"
        "new = {m.split('.')[0] for m in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['fscontract']"
