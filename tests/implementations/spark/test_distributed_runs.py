"""Tests of `fscontract check --spark`: executors run programs, with the verdicts of one process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from select import select as readable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fscontract.contract.cli import command_exit
from fscontract.contract.cli.main import main
from fscontract.contract.distributed import backend
from fscontract.contract.distributed.driver import DistributedRun
from fscontract.contract.runner.events import Event, Progress, ViolationFound
from fscontract.contract.runner.result import RunResult
from fscontract.contract.runner.run_options import RunOptions
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings, with_checks
from fscontract.contract.spec.clauses import select
from fscontract.contract.targets import resolve_target
from fscontract.fakes.mutants.registry import mutant_named
from fscontract.implementations.spark.distributed_runs import SparkBackend
from tests.limits import DEADLOCK

TARGETS = Path(__file__).parent / "programs" / "targets.py"
MUTANT = "getpos.value-PositionOfBuffer"
SECRET = "hunter22"
Command = Callable[..., Result]


@pytest.fixture(scope="module")
def there(spark: Any) -> SparkBackend:
    """Tasks of the shared session."""
    return SparkBackend(spark, "local[2]")


@pytest.fixture
def fscontract(there: SparkBackend, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """The command, with the shared session instead of a new one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(there, "close", lambda: None)
    monkeypatch.setattr(backend, "load_backend", lambda kind, address: there)
    # The session's threads remain, and would make the command exit this process.
    monkeypatch.setattr(command_exit, "leave_anyway", lambda code, before: None)

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["check", *arguments, "--spark", "local[2]"])

    return run


def _run(name: str, clauses: tuple[str, ...], secret: str = "") -> tuple[str, RunOptions, Settings]:
    """Return the arguments of a mutant's run, as the command creates them."""
    options = {"name": name, **({"secret": secret} if secret else {})}
    run = RunOptions(None, (), clauses, "all", "quick", None, 0, 10.0, options, None, None)
    settings = Settings(mutant_named(name).profile(), with_checks(select(clauses)))
    return f"{TARGETS}:mutant", run, settings


def _verdicts(result: RunResult) -> dict[str, Any]:
    return {c.clause.id: (c.outcome, str(c.counterexample), c.reason) for c in result.clauses}


def test_executors_give_the_verdicts_of_one_process(there: SparkBackend) -> None:
    """They run the same programs, shrink failures, and report them."""
    text, run, settings = _run(MUTANT, ("getpos", "capabilities"))
    events: list[Event] = []
    binding = resolve_target(text, run.options)
    whole = check(resolve_target(text, run.options), settings)
    parts = DistributedRun(text, binding, run, settings, there, events.append).check()
    assert _verdicts(parts) == _verdicts(whole)
    assert parts.counts["tasks"] == 8
    assert [e.clause for e in events if isinstance(e, ViolationFound)] == ["getpos.value"]
    assert {e.running for e in events if isinstance(e, Progress)} - {0, 1, 2} == set()


def test_no_secret_is_shown_by_spark(there: SparkBackend, spark: Any) -> None:
    """Neither in the job pages nor in the stage descriptions."""
    text, run, settings = _run(MUTANT, ("capabilities",), SECRET)
    DistributedRun(text, resolve_target(text, run.options), run, settings, there, tasks=2).check()
    store = spark.sparkContext._jsc.sc().statusStore()
    jobs = [
        job for job in _java_list(store.jobsList(None)) if "part 2 of 2" in str(job.description())
    ]
    assert jobs
    shown = [str(job.description()) + str(job.name()) + str(job.jobGroup()) for job in jobs]
    assert [text for text in shown if SECRET in text] == []


def _java_list(found: Any) -> list[Any]:
    return [found.apply(index) for index in range(found.size())]


def test_files_match_those_of_the_driver(fscontract: Command, tmp_path: Path) -> None:
    """Length and content; local files have no version."""
    (tmp_path / "d").mkdir()
    done = fscontract(f"file://{tmp_path}/d", "--clauses", "executors", "--json", "x.json")
    assert done.exit_code == 0, done.output
    assert "2 clauses hold, 1 not verified" in done.output
    assert list((tmp_path / "d").iterdir()) == []


def test_violation_exits_with_1(fscontract: Command) -> None:
    """The output has the failing program and a file to replay it."""
    done = fscontract(
        f"{TARGETS}:mutant", "-o", f"name={MUTANT}", "--clauses", "getpos", "--profile", "reference"
    )
    assert done.exit_code == 1
    assert "FAIL  getpos.value" in " ".join(done.output.split("\n"))
    assert list(Path(".fscontract").glob("getpos.value-*.json"))


@pytest.mark.parametrize(
    ("how", "says"), [("raises", "OSError: only process"), ("dies", "worker exited unexpectedly")]
)
def test_target_that_fails_in_executors_exits_with_3(
    fscontract: Command, how: str, says: str
) -> None:
    """The error is one line, both if the target can't be created in the executor and if it kills
    the worker in the middle of a shard. The session does not retry tasks.
    """
    options = ("-o", f"driver={os.getpid()}", "-o", f"how={how}")
    done = fscontract(f"{TARGETS}:elsewhere", *options, "--clauses", "capabilities")
    assert done.exit_code == 3
    (line,) = (one for one in done.output.splitlines() if "error:" in one)
    assert says in line
    assert "part " in line or how == "raises"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (
            ("memory", "--spark", "nowhere"),
            2,
            "invalid value for --spark: 'nowhere'; expected local[2], ",
        ),
        (
            ("memory", "--spark", "local[2]", "--isolate"),
            2,
            "--isolate and --spark are mutually exclusive",
        ),
        (("spark", "--spark", "local[2]"), 2, "spark: the target runs tasks itself"),
        (("splitter", "--spark", "local[2]"), 2, "splitter: --spark requires a filesystem"),
        (("memroy", "--spark", "local[2]"), 2, "unknown target 'memroy'"),
        (
            ("memory", "--spark", "spark://127.0.0.1:{port}"),
            3,
            "can't connect to Spark: [Errno 111]",
        ),
        (("memory", "--spark", "sc://me:x@127.0.0.1:{port}/;token=hunter22"), 3, "sc://127.0.0.1:"),
    ],
)
def test_invalid_arguments_error_is_one_line(
    arguments: tuple[str, ...], code: int, says: str, tmp_path: Path, deaf_port: int
) -> None:
    """Nothing is started, and the message contains no secret."""
    filled = [argument.format(port=deaf_port) for argument in arguments]
    done = CliRunner().invoke(main, ["check", *filled])
    assert done.exit_code == code, done.output
    (line,) = (one for one in done.output.splitlines() if "error:" in one)
    assert says in line
    assert SECRET not in done.output


def test_missing_pyspark_error_has_an_install_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra that contains it."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda *_: None)
    done = CliRunner().invoke(main, ["check", "memory", "--spark", "local[2]"])
    assert done.exit_code == 3
    assert "Spark requires the module 'pyspark'; pip install 'fscontract[spark]'" in done.output


def _session(number: int) -> list[str]:
    """Return the commands of running processes in a session."""
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = place.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if int(rest.split()[3]) == number and rest.split()[0] != "Z":  # ended, but not reaped
            found.append(name)
    return found


@pytest.mark.deep
def test_interrupted_run_leaves_no_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tasks are cancelled while they hang; the results so far are printed, exit code 130."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    listening = os.open(gate, os.O_RDONLY | os.O_NONBLOCK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", tempfile.mkdtemp(prefix="i-", dir=tempfile.gettempdir()))
    options = ("-o", f"gate={gate}", "--timeout", "600", "--clauses", "skip", "--json", "x.json")
    start = [sys.executable, "-m", "fscontract", "check", f"{TARGETS}:Waiting", *options]
    with subprocess.Popen(
        [*start, "--spark", "local[2]"], text=True, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            assert readable([listening], [], [], DEADLOCK)[0]
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=DEADLOCK)
        finally:
            process.kill()
    os.close(listening)
    assert process.returncode == 130
    assert "the run was interrupted: 0 of 8 tasks were complete" in output
    assert json.loads(Path("x.json").read_text())["conforms"] is False
    assert _session(process.pid) == []
    os.rmdir(os.environ["TMPDIR"])
