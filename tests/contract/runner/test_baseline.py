"""Runs beside an earlier one: what is new, what has vanished, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from fscontract.contract.runner.result import Verdict
from tests.contract.cli.test_main import error, run
from tests.contract.conftest import FakeSuite
from tests.contract.report.matrices import judged, report, save

CLAUSES = "seek.zero,seek.noop,seek.negative"


@pytest.fixture(autouse=True)
def _here(stub_target: str, suite: FakeSuite) -> None:
    """In a directory with the target `stubs.py:Stub`."""


def before(**outcomes: str) -> None:
    """The baseline: these outcomes, with an underscore for a dot; the others pass."""
    found = dict.fromkeys(CLAUSES.split(","), "pass")
    found |= {name.replace("_", "."): outcome for name, outcome in outcomes.items()}
    data = judged(found, "stub")
    for clause in data["clauses"]:
        if clause["counterexample"]:
            clause["counterexample"]["signature"] = "returned"
    save(Path("old.json"), data)


def check(*more: str, clauses: str = CLAUSES) -> tuple[int, list[str]]:
    """The exit code of a check beside the baseline, and what it says of that."""
    result = run("check", "stubs.py:Stub", "--clauses", clauses, "--baseline", "old.json", *more)
    assert "Traceback" not in result.output
    first, *lines = result.stdout[result.stdout.index("baseline old.json") :].splitlines()
    assert first == "baseline old.json"
    return result.exit_code, [" ".join(line.split()) for line in lines]


def test_nothing_is_worse(suite: FakeSuite) -> None:
    """Return the comparison of equal reports."""
    before(seek_zero="fail")
    suite.outcomes["seek.zero"] = Verdict.FAIL
    assert check() == (0, ["0 new, 0 vanished, 0 fixed, 1 clause fails as before"])


@pytest.mark.parametrize("was", ["pass", "lax", "known", "undeclared", "hang"])
def test_what_did_not_fail_so_is_new(was: str, suite: FakeSuite) -> None:
    """Be it that it held, was known, was not verified, or failed in another way."""
    before(seek_zero=was)
    suite.outcomes["seek.zero"] = Verdict.FAIL
    code, (line, last) = check()
    shown = f"{was} before: returned" if was == "hang" else f"{was} before"
    assert line == f"new stub: seek.zero: fail: returned ({shown})"
    assert (code, last) == (1, "1 new, 0 vanished, 0 fixed, 0 clauses fail as before")


def test_another_signature_is_another_failure(suite: FakeSuite) -> None:
    """Though it is the same clause."""
    before(seek_zero="fail")
    data = json.loads(Path("old.json").read_text())
    data["clauses"][0]["counterexample"]["signature"] = "seek: IO"
    save(Path("old.json"), data)
    suite.outcomes["seek.zero"] = Verdict.FAIL
    code, (line, _) = check()
    assert (code, line) == (1, "new stub: seek.zero: fail: returned (fail before: seek: IO)")


def test_a_clause_that_the_baseline_does_not_have_is_new(suite: FakeSuite) -> None:
    """If it fails; that it is there is nothing to speak of."""
    before()
    suite.outcomes["seek.pos"] = Verdict.FAIL
    code, (line, _) = check(clauses=f"{CLAUSES},seek.pos,seek.open")
    assert (code, line) == (1, "new stub: seek.pos: fail: returned (not in the baseline)")


def test_a_known_failure_that_is_gone_is_new(suite: FakeSuite) -> None:
    """It is to be taken off the list."""
    before(seek_zero="known")
    suite.outcomes["seek.zero"] = Verdict.FIXED
    suite.reasons["seek.zero"] = "listed as known"
    code, (line, _) = check()
    assert (code, line) == (1, "new stub: seek.zero: fixed: listed as known (known before)")


@pytest.mark.parametrize("now", ["pass", "lax", "known"])
def test_what_fails_no_more_is_fixed(now: str, suite: FakeSuite) -> None:
    """The change is reported, but is not a failure."""
    before(seek_zero="fail")
    suite.outcomes["seek.zero"] = Verdict(now)
    code, (line, last) = check()
    assert (code, line) == (0, f"fixed stub: seek.zero: {now} (fail before: returned)")
    assert last == snapshot("0 new, 0 vanished, 1 fixed, 0 clauses fail as before")


@pytest.mark.parametrize("now", ["undeclared", "inexpressible", "unexercised", "error"])
@pytest.mark.parametrize("was", ["pass", "fail", "known"])
def test_what_is_verified_no_more_has_vanished(was: str, now: str, suite: FakeSuite) -> None:
    """The reason is kept; an entry that is not checked any more does not count as fixed."""
    before(seek_zero=was)
    suite.outcomes["seek.zero"] = Verdict(now)
    suite.reasons["seek.zero"] = "no way"
    code, (line, last) = check()
    assert line.startswith(f"vanished stub: seek.zero: {now}: no way ({was} before")
    assert (code, last) == (1, "0 new, 1 vanished, 0 fixed, 0 clauses fail as before")


STOPPED = "free threads only; stopped: a call hangs before or after the threads run"


@pytest.mark.parametrize("was", ["pass", "fail", "lax"])
def test_what_was_not_exercised_this_time_is_told_and_fails_nothing(
    was: str, suite: FakeSuite
) -> None:
    """The check of its threads was stopped; a failure is not fixed by that."""
    before(seek_zero=was)
    suite.outcomes["seek.zero"] = Verdict.UNEXERCISED
    suite.reasons["seek.zero"] = STOPPED
    code, (line, last) = check()
    assert line.startswith(f"unexercised stub: seek.zero: unexercised: {STOPPED} ({was} before")
    assert last == snapshot("0 new, 0 vanished, 1 unexercised, 0 fixed, 0 clauses fail as before")
    assert code == 0


def test_what_was_not_exercised_this_time_is_not_all_there_was(suite: FakeSuite) -> None:
    """A run that verifies nothing is not a success, with or without vanished clauses."""
    before()
    for name in CLAUSES.split(","):
        suite.outcomes[name], suite.reasons[name] = Verdict.UNEXERCISED, STOPPED
    assert check()[0] == 5
    suite.outcomes["seek.noop"] = Verdict.UNDECLARED
    code, lines = check()
    assert (code, lines[-1][:32]) == (1, "0 new, 1 vanished, 2 unexercised")


def test_what_is_not_selected_has_vanished(suite: FakeSuite) -> None:
    """As have clauses that this version does not have."""
    before(later_clause="pass")
    code, lines = check(clauses="seek.zero,seek.noop")
    assert code == 1
    assert lines[0] == snapshot("vanished stub: seek.negative: not selected (pass before)")
    assert lines[1].startswith("vanished stub: later.clause: no clause of fscontract 0.")


def test_what_was_not_verified_either_has_not_vanished(suite: FakeSuite) -> None:
    """Whatever the reason was, and is."""
    before(seek_zero="undeclared")
    suite.outcomes["seek.zero"] = Verdict.UNEXERCISED
    assert check() == (0, ["0 new, 0 vanished, 0 fixed, 0 clauses fail as before"])


def test_a_target_that_is_not_checked_has_vanished(suite: FakeSuite) -> None:
    """All its clauses are listed; a target that the baseline lacks is reported as new."""
    save(Path("old.json"), [judged({"seek.zero": "pass"}, n) for n in ("stub", "gone")])
    result = run("check", "stubs.py:Stub", "stubs.py:Other", "--clauses", "seek.zero",
                 "--baseline", "old.json")  # fmt: skip
    assert result.exit_code == 1
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "vanished gone: seek.zero: the target was not checked (pass before)" in lines
    assert "other: the baseline has no report of it" in lines


def test_other_settings_are_named(suite: FakeSuite) -> None:
    """As they may explain what differs."""
    before()
    _, (line, _) = check("--effort", "normal")
    assert line == snapshot("stub: effort normal, in the baseline quick")


def test_a_target_that_can_not_be_set_up_exits_3(suite: FakeSuite) -> None:
    """The output is that without a baseline; no clause is reported as vanished."""
    save(Path("old.json"), judged({"seek.zero": "pass"}, "broken"))
    result = run("check", "stubs.py:Broken", "--clauses", "seek.zero", "--baseline", "old.json")
    assert result.exit_code == 3
    assert "0 vanished" in result.stdout


@pytest.mark.parametrize(("outcome", "code"), [("error", 3), ("undeclared", 5)])
def test_a_run_without_a_verdict_is_no_success(outcome: str, code: int, suite: FakeSuite) -> None:
    """Though it was none in the baseline either."""
    before(seek_zero=outcome, seek_noop=outcome, seek_negative=outcome)
    for name in CLAUSES.split(","):
        suite.outcomes[name] = Verdict(outcome)
    assert check()[0] == code


def test_lost_calls_count_beside_failures_that_are_no_news(suite: FakeSuite) -> None:
    """The exit code is that of a broken way to the target."""
    before(seek_zero="fail", seek_noop="error")
    suite.outcomes |= {"seek.zero": Verdict.FAIL, "seek.noop": Verdict.ERROR}
    assert check()[0] == 3


def test_a_report_of_this_version_is_a_baseline_of_the_same_run(suite: FakeSuite) -> None:
    """This also holds for a unique signature."""
    suite.outcomes["seek.zero"] = Verdict.HANG
    args = ("check", "stubs.py:Stub", "--clauses", CLAUSES)
    assert run(*args, "--json", "old.json").exit_code == 1
    assert check() == (0, ["0 new, 0 vanished, 0 fixed, 1 clause fails as before"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "old.json: No such file or directory"),
        ("", "old.json: empty, expected JSON"),
        ("[" * 100_000, "old.json: line 1, column 65: nested more than 64 levels deep"),
        ("{}", "old.json: not a report of fscontract: "),
        (json.dumps(report("elsewhere")), "old.json: a report of elsewhere, not of stub"),
        (json.dumps([report("stub")] * 2), "old.json: duplicate target stub"),
        (json.dumps(judged({"a": "fail"}) | {"conforms": True}), "its clauses contradict it"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(
    text: str | None, said: str, suite: FakeSuite
) -> None:
    """In one line, before anything is run."""
    if text is not None:
        Path("old.json").write_text(text)
    assert said in error("check", "stubs.py:Stub", "--baseline", "old.json")
    assert suite.runs == []


def test_the_baseline_is_not_overwritten(suite: FakeSuite) -> None:
    """Or the next run would find nothing worse."""
    before()
    said = error("check", "stubs.py:Stub", "--baseline", "old.json", "--json", "./old.json")
    assert said == snapshot(
        "old.json: the report would overwrite the baseline; choose another path"
    )


def test_hostile_names_do_not_drive_the_terminal(suite: FakeSuite) -> None:
    """Those of targets and clauses in the file."""
    clauses = {"seek.zero\x1b[2J": "pass"}
    save(Path("old.json"), [judged({}, "stub"), judged(clauses, "a\x1b[2J\nb")])
    result = run("check", "stubs.py:Stub", "--clauses", "seek.zero", "--baseline", "old.json")
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout
    assert "a\\x1b[2J" in result.stdout
