"""Fixtures of all tests, pytest's own test kit, and reproducible generated data in CI."""

from __future__ import annotations

import gc
import itertools
import os
import random
import signal
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from tests.few_programs import run_few
from tests.script_runner import ScriptRunner, running
from tests.warm import OF_COMMANDS, OF_PROGRAMS, WarmPython, warm_python

pytest_plugins = ["pytester"]

os.environ.pop("GITHUB_ACTIONS", None)  # output there has lines for GitHub

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("here", deadline=None)
_PROFILE = "ci" if os.environ.get("CI") else "here"
settings.load_profile(_PROFILE)

#: A collection of all garbage passes over the objects of thousands of collected tests, which takes
#: a third of a second. Young garbage is collected as often as by default.
gc.set_threshold(*gc.get_threshold()[:2], 1000)
_NUMBERS = itertools.count()

# A shell ignores SIGINT in what it starts in the background, nohup SIGHUP. Commands that tests end
# by these signals would inherit that and never end; a handler is not inherited.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_report_header(config: pytest.Config) -> str:
    """Return the origin of generated data."""
    seed = config.getoption("hypothesis_seed", default=None)
    chosen = "derandomised" if _PROFILE == "ci" else f"seed {'random' if seed is None else seed}"
    return f"hypothesis profile: {_PROFILE}, {chosen}"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute the tests in blocks instead of one by one."""
    if config.getoption("dist") != "loadgroup":
        return None
    from tests.worker_blocks import WorkerBlocks

    return WorkerBlocks(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Leave the objects of thousands of collected tests out of collections of garbage.

    A check of leaks ends that when it has collected garbage itself, so it is done again and again;
    to ask whether anything is frozen passes over all that is.
    """
    if next(_NUMBERS) % 100 == 0:
        gc.freeze()


@pytest.fixture
def seed(pytestconfig: pytest.Config) -> int:
    """Return the seed of a test's random choices: that of `--hypothesis-seed`, or a new one.

    It is printed with a failure.
    """
    given = pytestconfig.getoption("hypothesis_seed", default=None)
    if given in (None, "random"):
        given = 0 if _PROFILE == "ci" else random.SystemRandom().randrange(1 << 32)
    print(f"seed: --hypothesis-seed={given}")
    return int(given)


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return pytest's test kit, whose runs in this process leave signal handlers unchanged.

    The end of such a run would take SIGSEGV away from a JVM, which needs it.
    """
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:faulthandler")
    return pytester


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """Return a port that refuses connections; it stays reserved for the test."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])


@pytest.fixture(params=["few", pytest.param("all", marks=pytest.mark.deep)])
def programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs have few programs; all of quick in `tox -e deep`."""
    if request.param == "few":
        run_few(monkeypatch)


@pytest.fixture(scope="session")
def bare_scripts() -> Iterator[ScriptRunner]:
    """Return a process in which scripts run without fscontract."""
    with running("fscontract") as runner:
        yield runner


@pytest.fixture(scope="session")
def own_scripts() -> Iterator[ScriptRunner]:
    """Return a process in which scripts run on fscontract's own streams."""
    with running() as runner:
        yield runner


@pytest.fixture(scope="session")
def warm_commands() -> Iterator[WarmPython]:
    """Return a process whose forks run the command."""
    with warm_python(*OF_COMMANDS) as runner:
        yield runner


@pytest.fixture(scope="session")
def warm_programs() -> Iterator[WarmPython]:
    """Return a process whose forks run programs that use other libraries."""
    with warm_python(*OF_PROGRAMS) as runner:
        yield runner


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Return a Spark session with two workers, which have the keys of the embedded S3 server.

    A process has one session, so all tests share it. With xdist they are in the group "spark".
    """
    from fscontract.implementations.s3.moto_target import ACCESS_KEY, SECRET_KEY
    from fscontract.implementations.spark.session import local_session

    keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    with local_session("local[2]", environment=keys) as session:
        yield session
