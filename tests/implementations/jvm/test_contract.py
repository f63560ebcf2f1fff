"""Tests of all contract clauses on streams as Java objects."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import load_profile
from fscontract.contract.targets import recognise
from fscontract.implementations.jvm.bridge import java_filesystem
from fscontract.implementations.memory import MemoryFileSystem

_BAD = (Verdict.FAIL, Verdict.HANG, Verdict.LAX, Verdict.ERROR)


def _run(fs: FileSystem, profile: str, patterns: Sequence[str] = ()) -> RunResult:
    bridged = java_filesystem(fs)
    try:
        chosen = tuple(clause for clause in select(patterns) if clause.testable)
        return check(recognise(bridged, "bridged"), Settings(load_profile(profile), chosen))
    finally:
        bridged.close()


def _broken(result: RunResult) -> dict[str, str]:
    return {c.clause.id: str(c.counterexample) for c in result.clauses if c.outcome in _BAD}


@pytest.mark.deep
def test_memory_streams_satisfy_the_contract_in_java() -> None:
    """With all features that they have in Python."""
    result = _run(MemoryFileSystem(), "reference")
    assert _broken(result) == {}
    assert sum(c.outcome is Verdict.PASS for c in result.clauses) >= 190


@pytest.mark.usefixtures("programs")
def test_local_and_s3_streams_satisfy_their_clauses_in_java(fs: FileSystem) -> None:
    """Descriptors, requests, and versions."""
    profile = "s3" if "s3" in type(fs).__module__ else "reference"
    patterns = ("open.cost-*", "open.status-pinned", "seek.negative")
    assert _broken(_run(fs, profile, patterns)) == {}
