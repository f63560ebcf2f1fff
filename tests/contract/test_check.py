"""Tests of contract/check.py: `fscontract.check`."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from fscontract import LocalFileSystem, RunVerdict, UsageError, check
from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.generate import fault_programs
from fscontract.contract.runner import runner
from fscontract.contract.runner.events import Event, RunFinished
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.settings import Settings
from fscontract.fakes import FakeFileSystem
from tests.fakes.block_files import BlockFile, Blocks, Swallowing
from tests.few_programs import run_few

#: A filesystem whose streams put an option into their messages.
LEAKY = """
    from fscontract import MemoryFileSystem, MemoryInputStream

    def make(token):
        class Stream(MemoryInputStream):
            def seek(self, position):
                raise RuntimeError(f"refused with {token}")
        return MemoryFileSystem(stream_class=Stream)
"""


def test_a_conforming_target_has_the_verdict_conforms() -> None:
    result = check("memory", clauses="seek.zero")
    assert (result.verdict, result.exit_code) == (RunVerdict.CONFORMS, 0)


def test_a_filesystem_is_checked_as_it_is(tmp_path: Path) -> None:
    assert check(LocalFileSystem(str(tmp_path)), clauses="seek.zero").conforms


def test_the_result_holds_no_secret_that_the_target_repeats(tmp_path: Path) -> None:
    path = tmp_path / "leaky.py"
    path.write_text(dedent(LEAKY))
    result = check(f"{path}:make", options={"token": "hunter2-hunter2"}, clauses="seek.pos")
    assert result.verdict is RunVerdict.DOES_NOT_CONFORM
    assert "refused with" in result.to_json()
    assert "hunter2" not in result.to_json() + result._repr_html_() + repr(result)


def test_excluded_clauses_are_not_checked() -> None:
    result = check("memory", clauses="seek.*", exclude=["seek.zero", "seek.p*"])
    ids = {c.clause.id for c in result.clauses}
    assert ids
    assert not ids & {"seek.zero", "seek.pos", "seek.past-eof"}


def test_a_listener_gets_the_events_of_the_run() -> None:
    events: list[Event] = []
    check("memory", clauses="seek.zero", listener=events.append)
    assert isinstance(events[-1], RunFinished)


@pytest.fixture
def few_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs at quick have fewer programs with faults."""
    run_few(monkeypatch)
    monkeypatch.setattr(fault_programs, "systematic", lambda *_: iter(()))
    monkeypatch.setitem(fault_programs.PROGRAMS, "quick", 100)
    monkeypatch.setitem(fault_programs.SERVER_PROGRAMS, "quick", 2)


@pytest.mark.usefixtures("few_faults")
def test_faults_strike_the_requests_of_a_filesystem_and_of_a_callable() -> None:
    for target in (Swallowing(), Swallowing):
        result = check(target, faults="quick", clauses="fault.end")
        assert [c.outcome for c in result.clauses] == [Verdict.FAIL]
    assert check(Blocks(), faults="quick", clauses="fault.end").conforms


@pytest.mark.usefixtures("few_faults")
def test_faults_strike_the_requests_of_a_fake_filesystem() -> None:
    result = check(FakeFileSystem(block_size=4096), faults="quick", clauses="fault.data")
    assert [c.outcome for c in result.clauses] == [Verdict.PASS]


@pytest.mark.usefixtures("few_faults")
def test_close_that_always_raises_is_shown_after_a_fault() -> None:
    class File(BlockFile):
        def close(self) -> None:
            super().close()
            raise OSError("unflushed")

        def __del__(self) -> None:
            """Do nothing; that of fsspec closes the file."""

    class Files(Blocks):
        def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
            return File(self, path) if mode == "rb" else super()._open(path, mode, **options)

    failure = check(Files(), faults="quick", clauses="fault.close").counterexamples["fault.close"]
    assert failure.program is not None
    assert failure.program.faults is not None
    assert failure.program.faults.faults


def test_faults_of_a_filesystem_without_an_injector_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^LocalFileSystem: faults are not supported; supported"):
        check(LocalFileSystem(str(tmp_path)), faults="quick")


def test_server_faults_run_the_target_as_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []

    def run(binding: Binding, settings: Settings, listener: object) -> RunResult:
        runs.append((binding.name, settings.server_faults, [c.id for c in settings.clauses]))
        binding.dispose()
        raise TargetError("seen")

    monkeypatch.setattr(runner, "check", run)
    with pytest.raises(TargetError, match="seen"):
        check("http://{host}/", server_faults=True, clauses="server.drip-bodies")
    assert runs == [("http://{host}/ as a client", True, ["server.drip-bodies"])]


@pytest.mark.deep
@pytest.mark.usefixtures("few_faults")
def test_server_faults_find_a_client_that_takes_any_bytes_for_a_range() -> None:
    clauses = ("server.omit-content-range", "server.drip-bodies")
    result = check("http://{host}/", server_faults=True, clauses=clauses)
    outcomes = {c.clause.id: c.outcome for c in result.clauses}
    assert outcomes == dict(zip(clauses, (Verdict.FAIL, Verdict.PASS), strict=True))


@pytest.mark.parametrize(
    ("target", "arguments", "message"),
    [
        ("http://example.org/", {}, r"must name the server by \{url\} or \{host\}"),
        ("http://{host}/", {"faults": "quick"}, "can't be combined with --faults"),
        (Blocks, {}, "server_faults require a name or a URL as target"),
    ],
)
def test_server_faults_that_can_not_be_used_are_a_usage_error(
    target: object, arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        check(target, server_faults=True, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"effort": "hard"}, "unknown effort 'hard'; known: quick, normal, deep"),
        ({"clauses": "executors"}, "no testable clause is selected; see 'fscontract list'"),
    ],
)
def test_an_argument_that_can_not_be_used_is_a_usage_error(
    arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        check("memory", **arguments)  # type: ignore[arg-type]
    assert str(caught.value) == message
