"""Tests of the contract clauses that tasks affect, on streams that read through tasks.

`fscontract check spark` checks all clauses, which takes minutes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.runner.result import Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.filesystem_base import ReferenceFileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.implementations.s3.filesystem import S3FileSystem
from fscontract.implementations.s3.moto_target import EmbeddedServer, embedded_config, make_bucket
from fscontract.implementations.spark.filesystem import SparkFileSystem
from fscontract.implementations.spark.targets import SparkBinding, spark
from fscontract.implementations.spark.tasks import Tasks


@pytest.fixture(params=["local", "memory", "s3"])
def inner(request: pytest.FixtureRequest) -> Iterator[ReferenceFileSystem]:
    """An inner filesystem; executors have the keys of the server in their environment."""
    if request.param == "local":
        yield LocalFileSystem(tempfile.gettempdir())
    elif request.param == "memory":
        yield MemoryFileSystem()
    else:
        with EmbeddedServer() as server:
            make_bucket(server.url)
            yield S3FileSystem.of(embedded_config(server.url, {}))


@pytest.mark.usefixtures("programs")
def test_reads_and_costs_satisfy_the_contract(inner: ReferenceFileSystem, tasks: Tasks) -> None:
    """Requests of executors are counted in the driver, and are within the budgets."""
    patterns = (
        ("open.cost-*", "read-vectored.*")
        if isinstance(inner, MemoryFileSystem)
        else ("open.cost-*",)
    )
    chosen = tuple(c for c in select(patterns) if c.testable)
    binding = SparkBinding(SparkFileSystem(tasks, inner))
    result = check(binding, Settings(load_profile("spark"), chosen))
    bad = (Verdict.FAIL, Verdict.HANG, Verdict.LAX, Verdict.ERROR)
    assert {c.clause.id: str(c.counterexample) for c in result.clauses if c.outcome in bad} == {}
    assert sum(c.outcome is Verdict.PASS for c in result.clauses) >= 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "red"}, "colour"),
        ({"inner": "ftp://host"}, "memory, local, s3 or a URL"),
        ({"inner": "s3://x"}, "invalid bucket name"),
    ],
)
def test_invalid_option_error_is_one_line(options: dict[str, str], message: str) -> None:
    """Before anything is started."""
    with pytest.raises(TargetError, match=message) as caught:
        spark(options)
    assert "\n" not in str(caught.value)
