"""Tests of all contract clauses on S3 streams: in memory with various window sizes, and on moto."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fscontract.contract.binding import TargetError
from fscontract.contract.generate import sizes
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import load_profile
from fscontract.implementations.s3 import input_stream, read_ahead
from fscontract.implementations.s3.config import S3Config
from fscontract.implementations.s3.moto_target import s3
from fscontract.implementations.targets import ReferenceBinding
from tests.implementations.s3.memoryfs import MemoryS3
from tests.implementations.s3.memorysource import BUCKET

#: Excluded with tiny windows: cost clauses, whose 4 MiB streams take too long.
_COSTS = ("open.cost-*", "open.footer-*", "open.buffer-size-used")


def run(binding: Any, *patterns: str, without: tuple[str, ...] = ()) -> RunResult:
    """Run the matching clauses quickly, except `without`."""
    left_out = {clause.id for clause in select(without)} if without else set()
    chosen = (c for c in select(patterns) if c.testable and c.id not in left_out)
    return check(binding, Settings(load_profile("s3"), tuple(chosen)))


def broken(result: RunResult) -> dict[str, str]:
    """Return the violated clauses with the observed behaviour."""
    bad = (Verdict.FAIL, Verdict.HANG, Verdict.LAX, Verdict.ERROR)
    return {
        found.clause.id: str(found.counterexample)
        for found in result.clauses
        if found.outcome in bad
    }


@pytest.mark.usefixtures("programs")
def test_the_contract_holds() -> None:
    """Run all clauses with default windows."""
    assert broken(run(ReferenceBinding(MemoryS3(), "s3"))) == {}


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("piece", [7])
def test_the_contract_holds_across_window_boundaries(
    piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows of a few bytes, with even smaller response chunks, and a large file of 100 KiB."""
    monkeypatch.setattr(sizes, "LARGE", 100_003)
    for name, plan in read_ahead.PLANS.items():
        small = replace(
            plan,
            first=5 if plan.growth == 1 else 16,
            growth=min(plan.growth, 2),
            maximum=64,
            hold=8 if plan.ahead else 0,
        )
        monkeypatch.setitem(read_ahead.PLANS, name, small)
    monkeypatch.setattr(read_ahead, "_RANDOM", replace(read_ahead._RANDOM, first=5))
    monkeypatch.setattr(input_stream, "FOOTER", 32)
    config = S3Config(BUCKET, readahead=6, min_seek=4, max_read=64)
    binding = ReferenceBinding(MemoryS3(config, piece), "s3")
    patterns = (
        "seek*",
        "pread*",
        "read-fully*",
        "read-vectored*",
        "read*",
        "skip*",
        "python.read*",
        "open.split*",
    )
    assert broken(run(binding, *patterns, without=_COSTS)) == {}


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("transport", ["obstore", pytest.param("boto3", marks=pytest.mark.deep)])
def test_the_contract_holds_on_the_embedded_server(transport: str) -> None:
    """Check clauses that the network may affect: positions, EOF, costs."""
    result = run(s3({"transport": transport}), "seek.*", "read-vectored.*", "open.cost-*")
    assert broken(result) == {}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "red"}, "colour"),
        ({"endpoint": "http://127.0.0.1:1"}, "requires option 'bucket'"),
        ({"bucket": "x"}, "bucket"),
        ({"transport": "pigeon"}, "transport"),
    ],
)
def test_invalid_option_error_is_one_line(options: dict[str, str], message: str) -> None:
    with pytest.raises(TargetError, match=message) as caught:
        s3(options)
    assert "\n" not in str(caught.value)
