"""A server for the clients of S3, in a separate process, with a new bucket for each test."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from fscontract.contract.binding import Binding
from fscontract.contract.generate import call_sequences
from fscontract.contract.runner import counterexamples, resource_checks, shrink
from fscontract.contract.runner.result import RunResult
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import STREAM, select
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.s3.moto_target import EmbeddedServer
from servers.s3.client_targets import Place
from tests.findings.conftest import MEASURED

MEASURED.update(
    {
        "pyarrow": "26.0.1",
        "obstore": "0.12.1",
        "opendal": "0.47.12",
        "s3fs": "2026.9.0",
        "smart_open": "9.0.2",
        "boto3": "1.43.117",
        "botocore": "1.43.117",
    }
)
#: How many of the short programs are run, each of which costs a few round trips.
PROGRAMS = 250
FEWER = 40
#: A cache of the kind mmap leaves the closing of its file to the garbage collector.
unclosed = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
#: Kinds of checks that take thousands of requests.
_DEAR = frozenset({"concurrency", "consistency", "openfile", "resources"})


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Return the URL of the embedded server."""
    with EmbeddedServer() as running:
        yield running.url


@pytest.fixture
def place(server: str) -> Place:
    """Return a new bucket."""
    made = Place(server, f"test-{uuid4().hex}")
    client = made.boto3
    client.create_bucket(Bucket=made.bucket)
    client.close()
    return made


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs have few of the short programs.

    Programs of one call, of a closed stream and at the end come first.
    """
    monkeypatch.setitem(call_sequences.REMOTE_PROGRAMS, "quick", PROGRAMS)
    monkeypatch.setattr(shrink, "ATTEMPTS", 8)  # which clauses they are is all that is asked
    monkeypatch.setattr(counterexamples, "_ALIKE", 1)
    monkeypatch.setattr(
        resource_checks, "_MOST_REMOTE_SUSPICIONS", 2
    )  # pools of connections raise many


@pytest.fixture
def fewer(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let runs have still fewer of the short programs, for clients with few operations."""
    monkeypatch.setitem(call_sequences.REMOTE_PROGRAMS, "quick", FEWER)


def run(binding: Binding, without: frozenset[str] = frozenset()) -> RunResult:
    """Return a quick run without threads, changes, builders and leaks, under the binding's own
    profile."""
    chosen = tuple(
        clause
        for clause in select(())
        if clause.testable and clause.api == STREAM
        if not {check.partition(".")[0] for check in clause.checks} & _DEAR
    )
    profile = load_profile(binding.default_profile)
    profile = profile.with_features(f"!{name}" for name in without)
    return check(binding, Settings(profile, chosen))
