"""Compatibility of the pytest plug-in: beside other plug-ins, and where it is not used.

Each run is a separate process with pytest-xdist and the plug-in of Hypothesis.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from textwrap import dedent
from typing import Any

import pytest

from tests.pytest_options import WITHOUT_OTHERS

#: A real filesystem, and one whose streams clamp what is out of range; each notes who asked.
FILESYSTEMS = """
import os
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream

class Clamping(MemoryInputStream):
    def seek(self, position):
        super().seek(max(0, position))

def noted(kind):
    with open("asked.txt", "a") as file:
        file.write(f"{os.getpid()}\\n")
    return kind()

def right(): return noted(MemoryFileSystem)
def wrong(): return noted(lambda: MemoryFileSystem(stream_class=Clamping))
"""
SUITE = """
from fscontract.contract.pytest_plugin import conformance
from filesystems import right, wrong
test_right = conformance(right, clauses=["seek.zero", "seek.negative"])
test_wrong = conformance(wrong, clauses=["seek.zero", "seek.negative"])
"""
PLUGINS = ("fscontract", "fscontract-fakes", "fscontract-servers")
OFF = tuple(word for name in PLUGINS for word in ("-p", f"no:{name}"))
#: What a project that uses none of it should not have to wait for.
HEAVY = ("hypothesis", "yaml", "fsspec", "rich", "jinja2", "jsonschema", "click")


@pytest.fixture(autouse=True)
def _project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project with two connectors."""
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    monkeypatch.setenv("PYTEST_ADDOPTS", WITHOUT_OTHERS)
    pytester.makepyfile(filesystems=FILESYSTEMS)


def run(pytester: pytest.Pytester, *args: str, **files: str) -> pytest.RunResult:
    """The outcome of pytest on these files."""
    if files:
        pytester.makepyfile(**{name: dedent(text) for name, text in files.items()})
    return pytester.runpytest_subprocess(*args)


def asked(pytester: pytest.Pytester) -> list[str]:
    """The processes that have made a filesystem, in order."""
    return (pytester.path / "asked.txt").read_text().split()


# Where nobody uses it ---------------------------------------------------------------------------


def test_nothing_is_loaded_where_it_is_not_used(pytester: pytest.Pytester) -> None:
    """But the modules of the plug-ins, and the packages that they are in."""
    conftest = """
        import sys

        def pytest_sessionfinish():
            print("\\nloaded:", *sorted(sys.modules))
    """
    result = run(pytester, "-s", test_it="def test_one(): pass", conftest=conftest)
    (line,) = (x for x in result.outlines if x.startswith("loaded:"))
    loaded = line.split()
    assert [m for m in loaded if m.split(".")[0] == "fscontract"] == [
        "fscontract",
        "fscontract.contract",
        "fscontract.contract.pytest_plugin",
        "fscontract.fakes",
        "fscontract.fakes.filesystem",
        "fscontract.fakes.filesystem.fixtures",
        "fscontract.fakes.servers",
        "fscontract.fakes.servers.fixtures",
    ]
    with_others = run(pytester, "-s", *OFF).outlines
    (line,) = (x for x in with_others if x.startswith("loaded:"))
    assert {m for m in HEAVY if m in loaded} == {m for m in HEAVY if m in line.split()}


def test_every_option_and_setting_has_its_prefix(pytester: pytest.Pytester) -> None:
    """So that none is another plug-in's."""
    added = _words(pytester, "--help") - _words(pytester, "--help", *OFF)
    options = {word.partition("=")[0] for word in added if word.startswith("-")}
    assert options == {"--contract-effort", "--contract-replays", "--contract-seed"}
    settings = {word for word in added if re.fullmatch(r"[a-z]+_[a-z_]+", word)}
    checks = {"contract_leaked_handles", "contract_unstruck_faults"}
    assert settings == {"contract_effort", "contract_replays", "contract_seed", *checks}


def test_fixtures_have_names_of_their_own(pytester: pytest.Pytester) -> None:
    """There are five, and none is called fs."""
    added = _fixtures(pytester) - _fixtures(pytester, *OFF)
    fakes = {"fake_filesystem", "fake_filesystem_factory", "fault_proxy"}
    assert added == {*fakes, "http_server", "s3_server"}


def test_no_fixture_comes_unasked(pytester: pytest.Pytester) -> None:
    """Not even one that does nothing."""
    test = "def test_one(request): print('fixtures:', *sorted(request.fixturenames))"
    shown = [run(pytester, "-s", *args, test_it=test).outlines for args in ((), OFF)]
    with_, without = ([x for x in lines if "fixtures:" in x] for lines in shown)
    assert with_
    assert with_ == without


def test_options_of_others_do_not_clash(pytester: pytest.Pytester) -> None:
    """Whatever plain names they take."""
    conftest = """
        def pytest_addoption(parser):
            for name in ("effort", "seed", "known", "profile", "features", "clauses"):
                parser.addoption(f"--{name}")
                parser.addini(name, "ours")
    """
    result = run(pytester, "--seed", "x", test_it="def test_one(): pass", conftest=conftest)
    result.assert_outcomes(passed=1)


def _words(pytester: pytest.Pytester, *args: str) -> set[str]:
    return {word.strip("(),:=[]{}") for x in run(pytester, *args).outlines for word in x.split()}


def _fixtures(pytester: pytest.Pytester, *args: str) -> set[str]:
    lines = run(pytester, "--fixtures", *args).outlines
    return {x.split()[0] for x in lines if re.match(r"\w+(?: \[\w+ scope\])? -- ", x)}


# Beside others ----------------------------------------------------------------------------------


def test_nothing_of_hypothesis_is_changed(pytester: pytest.Pytester) -> None:
    """Tests of one's own have the settings, and the printers, that they had."""
    ours = """
        import hypothesis, hypothesis.core
        from fscontract.contract.pytest_plugin import conformance
        from filesystems import wrong

        def state():
            core = {k: id(v) for k, v in vars(hypothesis.core).items() if callable(v)}
            return hypothesis.settings.default, core

        BEFORE = state()
        test_contract = conformance(wrong, clauses=["seek.negative"])

        def test_nothing_has_changed():
            after = state()
            assert after[0] == BEFORE[0]
            assert {k for k in BEFORE[1] if after[1].get(k) != BEFORE[1][k]} == set()
    """
    run(pytester, test_it=ours).assert_outcomes(passed=1, failed=1)


def test_workers_share_the_runs_of_a_suite(pytester: pytest.Pytester) -> None:
    """Each part of a suite runs once, in the worker that needs it first."""
    result = run(pytester, "-n", "2", test_it=SUITE)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*program    f = open(0 bytes); f.seek(-1)"])
    assert len(asked(pytester)) == 2


def test_strict_runs_find_nothing_and_the_last_failure_can_be_run_alone(
    pytester: pytest.Pytester,
) -> None:
    """No warning, no file but the cache; and the program is shown by our own words, whatever others
    make of Hypothesis's printing."""
    strict = ["-W", "error", "--strict-markers", "--strict-config"]
    if find_spec("pytest_asyncio"):  # which warns while nobody says this
        strict += ["-o", "asyncio_default_fixture_loop_scope=function"]
    result = run(pytester, *strict, test_it=SUITE)
    result.assert_outcomes(passed=3, failed=1)
    shown = ["*program    f = open(0 bytes); f.seek(-1)", "*expected   raises EOF or IO"]
    result.stdout.fnmatch_lines([*shown, "*actual     returned"])
    assert not (pytester.path / ".fscontract").exists()
    result = run(pytester, "--lf")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["FAILED test_it.py::test_wrong[[]seek.negative[]]*"])


# What the header says ---------------------------------------------------------------------------


def test_the_header_names_connector_features_and_variables(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of variables without their values: one that is misspelt shows."""
    monkeypatch.setenv("FSCONTRACT_S3_SECRETT_KEY", "hush")
    test = """
        from fscontract.contract.pytest_plugin import conformance
        from filesystems import right
        test_one = conformance(right, clauses="getpos", features=["supports-unbuffer"])
        test_two = conformance("s3://key:hush@bucket", clauses="getpos")
    """
    result = run(pytester, "--collect-only", test_it=test)
    result.stdout.fnmatch_lines_random(
        [
            "fscontract *: test_it.test_one, 2 clauses, connector filesystems.right, *, "
            "features supports-unbuffer, effort quick, seed 0",
            "  set in the environment: FSCONTRACT_S3_SECRETT_KEY",
            "fscontract *: test_it.test_two, 2 clauses, connector s3://***@bucket, *",
        ]
    )
    assert "hush" not in result.stdout.str()


def test_settings_count_where_nothing_else_says_it(pytester: pytest.Pytester) -> None:
    """The command line comes first, then conformance()."""
    pytester.makeini("[pytest]\ncontract_effort = normal\ncontract_seed = 7\n")
    test = """
        from fscontract.contract.pytest_plugin import conformance
        from filesystems import right
        test_one = conformance(right, clauses="getpos")
        test_two = conformance(right, clauses="getpos", effort="quick", seed=0)
    """
    result = run(pytester, "--collect-only", test_it=test)
    result.stdout.fnmatch_lines_random(
        ["*test_one*effort normal, seed 7", "*test_two*effort quick, seed 0"]
    )
    result = run(pytester, "--collect-only", "--contract-seed", "9", "--contract-effort", "deep")
    result.stdout.fnmatch_lines_random(
        ["*test_one*effort deep, seed 9", "*test_two*effort deep, seed 9"]
    )


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (
            "contract_effort = huge",
            "contract_effort must be one of quick, normal, deep, got 'huge'",
        ),
        ("contract_seed = -1", "contract_seed must be a whole number from 0, got '-1'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(
    setting: str, said: str, pytester: pytest.Pytester
) -> None:
    """In one line, before anything is collected."""
    pytester.makeini(f"[pytest]\n{setting}\n")
    result = run(pytester, test_it="def test_one(): pass")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {said}"])
    assert "Traceback" not in result.stderr.str()


def test_ids_of_old_are_told(pytester: pytest.Pytester) -> None:
    """With what they are taken for."""
    conftest: Any = """
        from fscontract.contract.spec import clauses
        old = clauses.Retired("seek.begin", "0.2.0", "a plainer name", ("seek.zero",))
        clauses.retired = lambda: {old.id: old}
    """
    test = """
        from fscontract.contract.pytest_plugin import conformance
        from filesystems import right
        test_one = conformance(right, clauses="seek.begin")
    """
    result = run(pytester, "-v", conftest=conftest, test_it=test)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*test_one[[]seek.zero[]] PASSED*",
            "*RenamedWarning: seek.begin is seek.zero since 0.2.0: a plainer name",
        ]
    )
    result = run(pytester, "-W", "error", conftest=conftest, test_it=test)
    result.stdout.fnmatch_lines(
        ["test_one: seek.begin is seek.zero since 0.2.0: a plainer name"],
    )
