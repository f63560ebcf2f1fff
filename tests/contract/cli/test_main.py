"""The command line: options, exit codes, one line for every mistake."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from inspect import signature
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from inline_snapshot import snapshot

from fscontract import __version__
from fscontract.contract.api.openfile_options import option_table
from fscontract.contract.binding import Binding
from fscontract.contract.cli.main import main
from fscontract.contract.program.content import content
from fscontract.contract.runner import replay
from fscontract.contract.runner.replay import ReplayResult
from fscontract.contract.runner.result import PhaseShare, Verdict
from fscontract.contract.runner.time_budget import TimeBudget
from fscontract.contract.spec.clauses import FAULTS, SERVER_FAULTS, STREAM, Level, clauses
from fscontract.contract.spec.known_failures import load_known
from fscontract.contract.spec.profiles import Profile

OF_STREAMS = [c for c in clauses().values() if c.testable and c.api == STREAM]
TESTABLE = [c.id for c in OF_STREAMS if c.document not in (FAULTS, SERVER_FAULTS)]


def run(*args: str) -> Result:
    """The command with these arguments."""
    # click before 8.2 mixes what goes to stderr into what goes to stdout, unless told not to
    apart = "mix_stderr" in signature(CliRunner).parameters
    options: dict[str, Any] = {"mix_stderr": False} if apart else {}
    return CliRunner(**options).invoke(main, list(args))


def error(*args: str) -> str:
    """The one line that a mistake gives; nothing else is printed, and the code is 2."""
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("fscontract: error: ")
    return line.removeprefix("fscontract: error: ")


def test_a_conforming_target_exits_0(stub_target: str, suite: Any) -> None:
    """The header and the verdict are printed; all testable clauses were asked for."""
    result = run("check", stub_target)
    assert result.exit_code == 0, result.output
    assert "stub through stub, profile default, effort quick, seed 0" in result.stdout
    assert f"conforms: {len(TESTABLE)} clauses hold" in result.stdout
    assert [c.id for c in suite.runs[0].clauses] == TESTABLE


def test_clauses_of_faults_are_judged_only_if_requests_are_to_fail(suite: Any) -> None:
    """Otherwise a dozen clauses that were not selected would be listed as not verified."""
    result = run("check", "fake", "--clauses", "fault.*,seek.zero", "--faults", "normal")
    assert result.exit_code == 0, result.output
    asked = [c.id for c in clauses().values() if c.testable and c.document == FAULTS]
    assert {c.id for c in suite.runs[0].clauses} == {*asked, "seek.zero"}
    assert suite.runs[0].faults == "normal"
    run("check", "fake", "--clauses", "fault.*,seek.zero")
    assert [c.id for c in suite.runs[1].clauses] == ["seek.zero"]


@pytest.mark.parametrize(
    ("outcome", "code"),
    [("fail", 1), ("hang", 1), ("crash", 1), ("fixed", 1), ("known", 0), ("lax", 0), ("error", 3)],
)
def test_the_outcome_of_a_clause_decides_the_exit_code(
    outcome: str, code: int, stub_target: str, suite: Any
) -> None:
    """Known failures and SHOULDs do not; a known failure that is gone does."""
    suite.outcomes["seek.negative"] = Verdict(outcome)
    assert run("check", stub_target).exit_code == code


@pytest.mark.parametrize(("outcome", "code"), [("error", 3), ("unexercised", 5)])
def test_a_run_without_a_verdict_is_no_success(
    outcome: str, code: int, stub_target: str, suite: Any
) -> None:
    """3 if the environment failed, 5 if nothing was verified."""
    suite.outcomes["seek.negative"] = Verdict(outcome)
    assert run("check", stub_target, "--clauses", "seek.negative").exit_code == code


def test_several_targets_exit_with_the_worst(stub_target: str, suite: Any) -> None:
    """A violation before a broken set-up before success; the others still run."""
    broken = "stubs.py:Broken"
    result = run("check", broken, stub_target, "stubs.py:Other", "--json", "r.json")
    assert result.exit_code == 3
    assert "fscontract: error: broken: no way in" in result.stderr
    data = json.loads(Path("r.json").read_text())
    assert [d["target"] for d in data] == ["broken", "stub", "other"]
    suite.outcomes["seek.negative"] = Verdict.FAIL
    assert run("check", broken, stub_target).exit_code == 1


def test_a_callable_that_raises_exits_3(stub_target: str, suite: Any) -> None:
    """With its type, message and line."""
    result = run("check", "stubs.py:fails")
    assert result.exit_code == 3
    assert "stubs.py:fails: RuntimeError: nothing here (" in result.stderr
    assert "Traceback" not in result.output


def test_ctrl_c_exits_130_after_cleaning_up(stub_target: str, suite: Any) -> None:
    """Reports say that they are of a run that was interrupted; see tests/end_to_end."""
    suite.interrupt = True
    result = run("check", stub_target, "stubs.py:Other", "--json", "r.json")
    assert result.exit_code == 130
    assert result.stderr.strip() == "fscontract: error: interrupted"
    data = json.loads(Path("r.json").read_text())
    assert (data["conforms"], data["error"]) == (False, "interrupted before there were results")
    assert "Traceback" not in result.output


def test_the_options_reach_the_run(stub_target: str, suite: Any) -> None:
    """Profile, features, clauses, level, effort, seed and timeout."""
    result = run(
        *("check", stub_target, "--profile", "hadoop", "--features", "supports-unbuffer"),
        *("--clauses", "seek.*,close", "--clauses", "skip.count", "--level", "should"),
        *("--effort", "deep", "--seed", "9", "--timeout", "2.5"),
    )
    assert result.exit_code == 0, result.output
    (settings,) = suite.runs
    assert (settings.effort, settings.seed, settings.timeout) == ("deep", 9, 2.5)
    assert settings.profile.name == "hadoop"
    assert settings.profile.has("supports-unbuffer")
    assert {c.id.split(".")[0] for c in settings.clauses} == {"seek", "close", "skip"}
    assert {c.level for c in settings.clauses} <= {Level.MUST, Level.SHOULD}


def test_only_must(stub_target: str, suite: Any) -> None:
    """`--level must` leaves recommendations out."""
    run("check", stub_target, "--level", "must")
    assert {c.level for c in suite.runs[0].clauses} == {Level.MUST}


def test_excluded_clauses_are_not_selected(stub_target: str, suite: Any) -> None:
    """Ids, groups and globs; the option may be repeated, and take several with commas."""
    more = ("--exclude", "seek.negative,seek.z*", "--exclude", "skip")
    assert run("check", stub_target, "--clauses", "seek,skip", *more).exit_code == 0
    chosen = {c.id for c in suite.runs[0].clauses}
    assert {name.split(".")[0] for name in chosen} == {"seek"}
    assert not {"seek.negative", "seek.zero"} & chosen
    Path("pyproject.toml").write_text('[tool.fscontract]\nexclude = ["seek.*"]\n')
    run("check", stub_target, "--clauses", "seek,skip")
    assert {c.id.split(".")[0] for c in suite.runs[1].clauses} == {"skip"}


def test_an_excluded_name_that_matches_nothing_is_a_mistake(stub_target: str) -> None:
    message = error("check", stub_target, "--exclude", "seek.negativ")
    assert message.startswith("no clause matches 'seek.negativ'; did you mean seek.negative")
    everything = ("--clauses", "seek", "--exclude", "seek")
    assert run("check", stub_target, *everything).exit_code == 5


def test_fail_fast_leaves_out_the_targets_after_one_that_fails(
    stub_target: str, suite: Any
) -> None:
    suite.outcomes["seek.negative"] = Verdict.FAIL
    result = run("check", stub_target, "stubs.py:Other", "-x", "--json", "r.json")
    assert result.exit_code == 1
    assert [settings.fail_fast for settings in suite.runs] == [True]
    assert json.loads(Path("r.json").read_text())["target"] == "stub"
    assert result.stderr == (
        "fscontract: stopped at the first failure; not checked: stubs.py:Other\n"
    )


def test_fail_fast_and_spark_are_mutually_exclusive() -> None:
    message = error("check", "memory", "-x", "--spark", "local[2]")
    assert message == "--fail-fast and --spark are mutually exclusive"


def test_last_failed_selects_what_failed_in_the_last_run(stub_target: str, suite: Any) -> None:
    """Of this target with these options; a run that judges a clause again decides anew."""
    suite.outcomes |= {"seek.negative": Verdict.FAIL, "skip.count": Verdict.HANG}
    run("check", stub_target, "stubs.py:Other")
    again = run("check", stub_target, "--last-failed", "--level", "must", "--exclude", "skip")
    assert again.exit_code == 1
    assert [c.id for c in suite.runs[-1].clauses] == ["seek.negative"]
    suite.outcomes.clear()
    assert run("check", stub_target, "--last-failed").exit_code == 0
    assert {c.id for c in suite.runs[-1].clauses} == {"seek.negative", "skip.count"}
    result = run("check", stub_target, "--last-failed")
    assert result.stderr == (
        "fscontract: stubs.py:Stub: no failure is recorded; checking all clauses\n"
    )
    assert [c.id for c in suite.runs[-1].clauses] == TESTABLE
    assert run("check", "stubs.py:Other", "--last-failed", "--clauses", "close").exit_code == 5
    run("check", "stubs.py:Other", "--last-failed")
    assert {c.id for c in suite.runs[-1].clauses} == {"seek.negative", "skip.count"}


def test_a_random_seed_is_printed(stub_target: str, suite: Any) -> None:
    """So that the run can be had again."""
    result = run("check", stub_target, "--seed", "random")
    assert f"seed {suite.runs[0].seed}" in result.stdout


def test_known_failures_of_the_file_and_their_target(stub_target: str, suite: Any) -> None:
    """Entries for other targets are omitted; expired ones are reported."""
    Path("known.yaml").write_text(
        "known:\n- {clause: seek.pos, reason: r, signature: s, until: 2020-01-01}\n"
        "- {clause: seek.zero, reason: r, signature: s, target: elsewhere}\n"
    )
    result = run("check", stub_target, "--known", "known.yaml")
    assert [k.clause for k in suite.runs[0].known] == ["seek.pos"]
    assert "known failure of seek.pos expired on 2020-01-01: r" in result.stderr


def test_reports_are_written(stub_target: str, suite: Any) -> None:
    """Each in its format, for one target an object."""
    result = run(
        *("check", stub_target, "--json", "r.json", "--junit", "r.xml"),
        *("--markdown", "r.md", "--html", "r.html"),
    )
    assert result.exit_code == 0
    assert json.loads(Path("r.json").read_text())["target"] == "stub"
    assert ElementTree.parse("r.xml").getroot().tag == "testsuites"
    assert Path("r.md").read_text(encoding="utf-8").startswith("## fscontract: stub")
    assert Path("r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--json", "none/r.json"], "can't write none/r.json: No such file or directory"),
        (["--json", "."], "can't write .: Is a directory"),
        (["--json", "r", "--junit", "r"], "two reports have the same path"),
        (["--clauses", "seek.negativ"], "did you mean seek.negative"),
        (["--profile", "hadop"], "did you mean hadoop"),
        (["--features", "supports-skp"], "did you mean supports-skip"),
        (["--level", "may"], "'may' is not one of 'must', 'should', 'all'"),
        (["--seed", "x"], "expected a whole number from 0, or 'random'; got 'x'"),
        (["--seed", "-1"], "a whole number from 0"),
        (["--timeout", "0"], "--timeout"),
        (["-o", "key"], "number 1 is invalid; expected key=value"),
        (["-o", "a=1", "-o", "a=2"], "duplicate key 'a'"),
        (["--known", "none.yaml"], "none.yaml: No such file"),
        (["--file", "http://h/f"], "--file and --content must be used together"),
        (["--nonsense"], "--nonsense"),
        (["nowhere"], "unknown target 'nowhere'"),
        (["stubs.py:number"], "unsupported type builtins.int"),
    ],
)
def test_a_mistake_is_one_line_before_the_run(
    args: list[str], said: str, stub_target: str, suite: Any
) -> None:
    """On stderr, with exit code 2, and nothing is checked or written."""
    assert said in error("check", stub_target, *args)
    assert suite.runs == []
    assert not Path("r").exists()


def test_a_secret_option_is_never_repeated(stub_target: str, suite: Any) -> None:
    """Even where the option is wrong."""
    assert "hush" not in error("check", stub_target, "-o", "=hush")
    assert "hush" not in error("check", stub_target, "-o", "key=hush")


def test_nothing_selected_exits_5(stub_target: str, suite: Any) -> None:
    """It is not success."""
    untestable = next(c.id for c in clauses().values() if not c.testable)
    result = run("check", stub_target, "--clauses", untestable)
    assert result.exit_code == 5
    assert "no testable clause is selected" in result.stderr


def test_without_a_target_there_is_one_line() -> None:
    """As for any other mistake."""
    assert "TARGET" in error("check")


def test_version_and_help() -> None:
    """Both exit 0."""
    assert run("--version").stdout == f"fscontract {__version__}\n"
    for args in ([], ["check"], ["list"], ["explain"], ["replay"], ["known"], ["features"]):
        assert run(*args, "--help").exit_code == 0


def test_help_and_list_load_nothing_heavy() -> None:
    """So that they are quick."""
    code = (
        "import sys\nfrom fscontract.contract.cli.main import main\n"
        "try:\n    main(['list'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'hypothesis', 'rich', 'fsspec', 'pytest', 'jinja2', 'jsonschema'}"
        " & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_list_shows_testable_clauses() -> None:
    """Id, level, section and needs; as many lines as clauses."""
    lines = run("list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [c.id for c in clauses().values() if c.testable]
    assert run("list", "seek.negative").stdout.split()[:2] == ["seek.negative", "MUST"]


def test_list_can_be_narrowed() -> None:
    """By feature, and to what no check judges."""
    for line in run("list", "--needs", "supports-skip").stdout.splitlines():
        assert "supports-skip" in clauses()[line.split()[0]].needs
    data = json.loads(run("list", "--untestable", "--json").stdout)
    assert {d["id"] for d in data} == {c.id for c in clauses().values() if not c.testable}
    assert all(d["untestable"] for d in data)
    assert "did you mean supports-skip" in error("list", "--needs", "supports-skp")
    assert "did you mean seek" in error("list", "seke.negative")


def test_list_of_nothing_exits_5() -> None:
    """A pattern that matches, but no clause that needs the feature."""
    assert run("list", "close", "--needs", "supports-skip").exit_code == 5


def test_explain_a_clause() -> None:
    """Its place, statement, needs and checks."""
    text = run("explain", "seek.negative").stdout
    assert text.startswith("seek.negative  MUST  Hadoop's FSDataInputStream § ")
    assert "needs       supports-seek" in text
    assert "checks      model.seek" in text


def test_explain_covers_everything() -> None:
    """Every clause, also the untestable, and every feature."""
    for clause in clauses().values():
        result = run("explain", clause.id)
        assert result.exit_code == 0
        assert ("untestable" in result.stdout) or clause.testable


def test_explain_a_feature() -> None:
    """Its sentence, Hadoop's key, and the clauses with and without it."""
    text = run("explain", "supports-seek").stdout
    assert "fs.contract.supports-seek" in text
    assert "seek.negative" in text
    assert "seek.supported" in text
    assert "did you mean seek.negative" in error("explain", "seek.negativ")


def test_explain_an_option() -> None:
    """Its store, type, what makes it unset, and the reading taken."""
    text = run("explain", "fs.option.openfile.length").stdout
    assert text.startswith("fs.option.openfile.length  standard option of open_file, since ")
    assert "type        long, in bytes" in text
    assert "below 0     unset" in text
    assert "G6: " in text
    assert "option of abfs" in run("explain", "fs.azure.buffered.pread.disable").stdout
    assert "did you mean fs.option.openfile.length" in error("explain", "fs.option.openfile.lenght")


def test_explain_a_read_policy() -> None:
    """The error contains the expectation and the result of the local filesystem."""
    text = run("explain", "parquet").stdout
    assert text.startswith("parquet  read policy, since Hadoop 3.4\n")
    assert "expects     vector reads, random reads" in text
    assert "footer      cached: by default" in text
    assert "posix_fadvise random" in text
    assert "did you mean parquet" in error("explain", "paquet")


def test_explain_covers_every_option_and_policy() -> None:
    """None fails, and none says nothing."""
    table = option_table()
    for name in [*table.options, *table.policies]:
        result = run("explain", name)
        assert result.exit_code == 0
        assert len(result.stdout.splitlines()) > 3


def test_features_are_listed_with_hadoop_names() -> None:
    """Each with a sentence."""
    text = run("features").stdout
    assert "supports-seek  (fs.contract.supports-seek)\n    " in text


def test_known_write_and_prune(stub_target: str, suite: Any) -> None:
    """New failures are added with the reason; fixed ones are removed."""
    suite.outcomes["seek.zero"] = Verdict.FAIL
    result = run("known", "--write", "k.yaml", stub_target, "--reason", "being repaired")
    assert result.exit_code == 0, result.output
    (entry,) = load_known(Path("k.yaml"))
    assert (entry.clause, entry.reason) == ("seek.zero", "being repaired")
    suite.outcomes["seek.zero"] = Verdict.FIXED
    assert "1 dropped" in run("known", "--prune", "k.yaml", stub_target).stdout
    assert load_known(Path("k.yaml")) == ()


def test_known_write_runs_with_other_seeds_until_one_adds_nothing(
    stub_target: str, suite: Any
) -> None:
    suite.outcomes["seek.zero"] = Verdict.FAIL
    run("known", "--write", "k.yaml", stub_target, "--reason", "r", "--seed", "5")
    seeds = [settings.seed for settings in suite.runs]
    assert (len(seeds), seeds[0], len({*seeds})) == (2, 5, 2)
    assert "0 added" in run("known", "--write", "k.yaml", stub_target, "--reason", "r").stdout
    assert len(suite.runs) == 3


def test_known_write_says_that_a_run_out_of_time_lists_less_than_a_check_may_show(
    stub_target: str, suite: Any
) -> None:
    suite.cut_short = (PhaseShare("seeded", 3, 300),)
    message = run("known", "--write", "k.yaml", stub_target, "--reason", "r").stderr
    assert "out of time: programs run: seeded 3 of 300; others may fail in a check" in message


def test_known_write_names_the_clauses_that_a_run_out_of_time_did_not_reach(
    stub_target: str, suite: Any
) -> None:
    suite.cut_short = (PhaseShare("seeded", 3, 300),)
    suite.outcomes["seek.zero"] = Verdict.UNEXERCISED
    suite.reasons["seek.zero"] = "out of time"
    message = run("known", "--write", "k.yaml", stub_target, "--reason", "r").stderr
    assert "increase --budget; not reached: seek.zero\n" in message


def test_known_write_runs_once_more_for_the_clauses_that_no_run_had_time_for(
    stub_target: str, suite: Any
) -> None:
    """Each failure of theirs that a check with another seed may find is listed."""
    suite.cut_short = (PhaseShare("seeded", 3, 300),)
    suite.outcomes = {"seek.zero": Verdict.UNEXERCISED, "seek.pos": Verdict.FAIL}
    suite.reasons["seek.zero"] = "out of time"
    suite.outcomes_alone["seek.zero"] = Verdict.FAIL
    message = run("known", "--write", "k.yaml", stub_target, "--reason", "r").stderr
    assert [c.id for c in suite.runs[-1].clauses] == ["seek.zero"]
    assert {entry.clause for entry in load_known(Path("k.yaml"))} == {"seek.zero", "seek.pos"}
    assert "out of time" in message
    assert "not reached" not in message


def test_known_write_runs_out_of_time_with_other_seeds_while_its_own_time_lasts(
    stub_target: str, suite: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short budget leaves time for them: each finds what another one had no time for."""
    suite.cut_short = (PhaseShare("seeded", 3, 300),)
    suite.outcomes["seek.zero"] = Verdict.FAIL
    result = run("known", "--write", "k.yaml", stub_target, "--reason", "r", "--budget", "9")
    assert len(suite.runs) == 2
    assert result.stderr.count("out of time") == 1
    monkeypatch.setattr(TimeBudget, "is_over", True)
    run("known", "--write", "other.yaml", stub_target, "--reason", "r", "--budget", "9")
    assert len(suite.runs) == 3


@pytest.mark.parametrize("action", [["--write", "--reason", "r"], ["--prune"]])
def test_known_lists_and_drops_by_a_complete_run_only(
    action: list[str], stub_target: str, suite: Any
) -> None:
    """A run that ends early exits with 3 and gives the reason; entries that it missed stay."""
    suite.outcomes["seek.zero"] = Verdict.FAIL
    run("known", "--write", "k.yaml", stub_target, "--reason", "r")
    suite.outcomes = {"seek.zero": Verdict.FIXED, "seek.pos": Verdict.ERROR}
    suite.warnings = ("ended early: no space left",)
    result = run("known", "k.yaml", stub_target, *action)
    assert result.exit_code == 3
    assert "the run is incomplete; ended early: no space left" in result.stderr
    assert [entry.clause for entry in load_known(Path("k.yaml"))] == ["seek.zero"]


def test_known_needs_an_action_and_a_reason(stub_target: str, suite: Any) -> None:
    """Nothing is run before both are there."""
    assert "specify --write or --prune" in error("known", "k.yaml", stub_target)
    assert "requires --reason" in error("known", "--write", "k.yaml", stub_target)
    assert "FILE comes before TARGET" in error("known", "--prune", stub_target, "k.yaml")
    assert "k.yaml: No such file" in error("known", "--prune", "k.yaml", stub_target)
    assert suite.runs == []


def replay_file(**changed: Any) -> str:
    """The text of a replay file."""
    program = {"length": 0, "steps": []}
    data = {"fscontract-replay": 1, "clause": "seek.zero", "program": program}
    return json.dumps({**data, **changed})


@pytest.mark.parametrize(
    ("outcome", "code"), [("passes now", 0), ("still fails", 1), ("fails otherwise", 1)]
)
def test_replay_tells_what_came_of_it(
    outcome: str, code: int, stub_target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the target in the file or another one, with the calls that were made."""
    targets: list[str] = []

    def fake(
        binding: Binding, data: dict[str, Any], profile: Profile, running: object
    ) -> ReplayResult:
        targets.append(binding.name)
        return ReplayResult("seek.zero", outcome, "IO", ("returned",), ("seek(0): IO",))

    monkeypatch.setattr(replay, "replay", fake)
    Path("r.json").write_text(replay_file(target=stub_target))
    for args in (["--trust"], ["stubs.py:Other"]):
        result = run("replay", "r.json", *args)
        assert result.exit_code == code
        assert result.stdout.splitlines() == [
            f"seek.zero: {outcome}",
            "  program    f = open(0 bytes)",
            "  1          seek(0): IO",
            "  expected   returned",
            "  actual     IO",
        ]
    assert targets == ["stub", "other"]


_EVIL = """
from pathlib import Path

Path("was-run").touch()

def make():
    from fscontract.contract.targets import resolve_target

    return resolve_target("memory", {})
"""


@pytest.mark.parametrize("target", ["./evil.py:make", "evil.py:make", "evil:make", "os.path:join"])
def test_code_that_a_replay_file_names_is_not_run(target: str, stub_target: str) -> None:
    """The message has both ways to run it."""
    Path("evil.py").write_text(_EVIL)
    Path("r.json").write_text(replay_file(target=target))
    said = error("replay", "r.json")
    assert f"as in 'fscontract replay r.json {target}', or give --trust" in said
    assert not Path("was-run").exists()


@pytest.mark.parametrize("more", ["--trust", "./evil.py:make"])
def test_code_that_the_user_names_or_trusts_is_run(more: str, stub_target: str) -> None:
    Path("evil.py").write_text(_EVIL)
    Path("r.json").write_text(replay_file(target="./evil.py:make"))
    result = run("replay", "r.json", more)
    assert result.exit_code == 0, result.output
    assert Path("was-run").exists()


@pytest.mark.parametrize("target", ["memory", "memory://x"])
def test_a_target_that_is_not_code_needs_no_trust(target: str, stub_target: str) -> None:
    Path("r.json").write_text(replay_file(target=target))
    assert run("replay", "r.json").exit_code == 0


def test_options_are_asked_for_if_the_target_is_named_again(stub_target: str) -> None:
    """It is the same target, which needs the same options."""
    Path("r.json").write_text(replay_file(target="./evil.py:make", options=["key"]))
    assert "specify -o key=..." in error("replay", "r.json", "./evil.py:make")


def test_a_replay_that_passes_shows_no_expectation(stub_target: str) -> None:
    """Nothing was expected that did not happen."""
    steps = {"length": 5, "steps": [["seek", 2]]}
    Path("r.json").write_text(replay_file(target="memory", program=steps))
    assert run("replay", "r.json").stdout.splitlines() == snapshot(
        [
            "seek.zero: passes now",
            "  program    f = open(5 bytes); f.seek(2)",
            "  1          seek(2) -> returned",
            "  actual     returned",
        ]
    )


def test_a_replay_shows_no_secret(stub_target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the target says."""
    shown = ReplayResult("seek.zero", "still fails", "IO (hush-hush)", (), ("seek: hush-hush",))
    monkeypatch.setattr(replay, "replay", lambda *arguments: shown)
    Path("r.json").write_text(replay_file(options=["key"]))
    Path("made.py").write_text(_EVIL.replace("make()", "make(key)"))
    result = run("replay", "r.json", "made.py:make", "-o", "key=hush-hush")
    assert result.exit_code == 1, result.output
    assert "actual     IO (***)" in result.stdout
    assert "hush" not in result.output


def test_several_files_are_replayed_under_their_names(stub_target: str) -> None:
    """On the target of each, or on the one that is given; the exit code is the worst."""
    Path("a.json").write_text(replay_file(target="memory"))
    Path("b.json").write_text(replay_file(target="memory://x", clause="python.writable.false"))
    result = run("replay", "a.json", "b.json")
    heads = [line for line in result.stdout.splitlines() if not line.startswith("  ")]
    assert heads == [
        "a.json",
        "seek.zero: passes now",
        "",
        "b.json",
        "python.writable.false: passes now",
    ]
    assert run("replay", "a.json", "b.json", "memory").exit_code == 0
    Path("b.json").write_text(replay_file(target="file:///no/such/place"))
    result = run("replay", "b.json", "a.json")
    assert result.exit_code == 3
    assert "seek.zero: passes now" in result.stdout
    assert "directory not found" in result.stderr


def test_a_callable_that_opens_a_path_is_checked_with_encode(stub_target: str) -> None:
    """Replay files name the function, which is code: it is run only if it is named."""
    encode = ("--encode", "gzip:compress")
    assert run("check", "gzip:open", *encode, "--clauses", "open.state,seek.pos").exit_code == 0
    result = run("check", "gzip:open", *encode, "--clauses", "seek.negative")
    assert result.exit_code == 1
    assert "seek.negative-91cbcd329b94.json gzip:open --encode gzip:compress\n" in result.stdout
    assert "as in '--encode gzip:compress', or give --trust" in error(
        "replay", ".fscontract", "gzip:open"
    )
    assert run("replay", ".fscontract", "gzip:open", *encode).exit_code == 1
    assert run("replay", "--trust").exit_code == 1


@pytest.mark.parametrize(
    ("target", "encode", "message"),
    [
        ("gzip:open", "gzip", "--encode must be package.module:callable or file.py:callable"),
        ("gzip:open", "gzip:compres", "gzip:compres: 'compres' not found in gzip; did you mean"),
        ("gzip:open", "os:sep", "os:sep: not callable: str"),
        ("memory", "gzip:compress", "a target with --encode must be package.module:callable"),
        ("stubs.py:fails", "gzip:compress", "stubs.py:fails: can't call fails: too many"),
    ],
)
def test_a_mistake_in_encode_is_one_line(
    target: str, encode: str, message: str, stub_target: str
) -> None:
    assert error("check", target, "--encode", encode).startswith(message)


def test_a_callable_that_needs_a_path_names_encode(stub_target: str) -> None:
    assert error("check", "gzip:open").endswith(
        "missing a required argument: 'filename'; to check a callable that opens a path, "
        "add --encode FUNCTION, such as builtins:bytes for files that are stored unchanged"
    )


def _archive(*sizes: int) -> str:
    """Return the URL of a zip file with a member of each size, which `copies` has, too."""
    Path("copies").mkdir()
    with zipfile.ZipFile("a.zip", "w") as archive:
        for size in sizes:
            path = Path("copies", f"of-{size}")
            path.write_bytes(content(size))
            archive.write(path, path.name)
    return f"zip://::file://{Path('a.zip').resolve()}"


def test_a_read_only_target_is_checked_with_several_files(stub_target: str) -> None:
    """The suite runs once for each file; the report has their sizes."""
    url = _archive(9_000, 100)
    clauses = ("--clauses", "seek.pos,seek.negative", "--json", "r.json")
    short = ("--file", "of-100", "--content", "copies/of-100")
    result = run("check", url, *short, *clauses)
    assert "file of 100 bytes; 9,000 or more show more bugs" in result.stdout
    both = (*short, "--file", "of-9000", "--content", "copies/of-9000")
    for files in (both, ("--content", "copies")):
        result = run("check", url, *files, *clauses)
        assert result.exit_code == 1, result.output
        assert result.stdout.count("FAIL  seek.negative") == 1
        data = json.loads(Path("r.json").read_text())
        assert sorted(data["sizes"]) == [100, 9_000]
    assert run("replay").exit_code == 1
    result = run("check", url, "--content", "copies", *clauses, "--last-failed")
    assert "does not conform: 1 of 1 verified clause fails" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--file", "a"), "got 1 --file and 0 --content"),
        (("--file", "a", "--file", "b", "--content", "c"), "got 2 --file and 1 --content"),
        (("--content", "empty"), "--content: no files in directory: empty"),
        (("--content", "many"), "--content: 21 files; at most 20 are checked"),
    ],
)
def test_a_mistake_in_files_is_one_line(
    arguments: tuple[str, ...], message: str, stub_target: str
) -> None:
    Path("empty").mkdir()
    Path("many").mkdir()
    for number in range(21):
        Path("many", str(number)).touch()
    assert message in error("check", "zip://::file:///a.zip", *arguments)


def test_directories_and_the_last_run_are_replayed(stub_target: str) -> None:
    """The exit code is the worst: a failure before a target that can't be used."""
    assert error("replay").startswith("no replay files of a last run in .fscontract; pass a FILE")
    result = run("check", "memory://", "--clauses", "python.writable.false,seek.pos")
    assert result.exit_code == 1
    result = run("replay")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (
        1,
        "python.writable.false: still fails",
    )
    assert run("replay", ".fscontract").stdout == result.stdout
    assert run("replay", ".fscontract", "memory").exit_code == 0
    Path("memory").mkdir()
    assert run("replay", ".fscontract", "memory").exit_code == 0
    assert error("replay", "memory") == "memory: no replay files in this directory"
    run("check", "memory://", "--clauses", "seek.pos")
    assert error("replay").startswith("no replay files of a last run")


def test_nothing_is_replayed_if_one_of_the_files_is_wrong(stub_target: str) -> None:
    Path("a.json").write_text(replay_file(target="memory"))
    Path("b.json").write_text("{")
    assert error("replay", "a.json", "b.json").startswith("b.json: ")
    assert error("replay", "a.json", "none.json") == snapshot(
        "none.json: No such file or directory"
    )
    assert "unknown target 'nosuch'" in error("replay", "a.json", "nosuch")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "r.json: No such file"),
        ("{", "r.json: line 1, column 2: not JSON"),
        ("[" * 100_000, "r.json: line 1, column 65: nested more than 64 levels deep"),
        ('{"buffer": NaN}', "r.json: line 1, column 12: not JSON: NaN is not a number"),
        ("9" * 5_000, "r.json: line 1, column 1: a number of more than 100 digits"),
        ("[]", "r.json: not a replay file"),
        ("{}", "r.json: missing target"),
        ('{"target": "memory"}', "r.json: not a replay file"),
        (replay_file(target="memory", clause="seek.zer"), "r.json: unknown clause 'seek.zer'"),
        (replay_file(target="memory", program=5), "r.json: expected an object with length"),
        (replay_file(target="memory", profile=5), "profile must be a name, got 5"),
        (replay_file(target="memory", content=5), "content must be a string, got 5"),
        (replay_file(target="memory", options=5), "options must be a list of names, got 5"),
        (replay_file(target="memory", options=["key"]), "specify -o key=..."),
        (replay_file(target="memory", profile="hadop"), "did you mean hadoop"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_bad_replay_file_is_one_line(text: str | None, said: str, stub_target: str) -> None:
    """Whatever is wrong with it."""
    if text is not None:
        Path("r.json").write_text(text)
    assert said in error("replay", "r.json")
