"""Findings in released libraries, as `docs/findings.md` lists them.

Each test runs the program of a finding on the installed library. It asserts that the kit charges
the clause that the finding names, for the reason that it names. If another version than the
measured one fixed the bug, the test is an expected failure that says so.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import pytest

from fscontract.contract.binding import Binding
from fscontract.contract.runner.replay import replay
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import load_profile
from servers.http_files import DATA, WithoutRanges, WithRanges, serving

Finds: TypeAlias = Callable[..., None]
#: What the findings were measured on. Other versions may have mended them.
MEASURED = {"fsspec": "2026.9.0", "python": "3.11.7"}


def run(
    binding: Binding,
    *patterns: str,
    features: frozenset[str] = frozenset(),
    without: str = "",
) -> RunResult:
    """Return a quick run of the matching clauses (default: all) under the binding's own profile.

    `features` are added to the profile, and the feature `without` is removed.
    """
    chosen = tuple(c for c in select(patterns) if c.testable)
    profile = load_profile(binding.default_profile)
    profile = profile.with_features([*features, *([f"!{without}"] if without else [])])
    return check(binding, Settings(profile, chosen))


def mended(versions: dict[str, str]) -> NoReturn:
    """End a test whose finding is fixed: a failure on the measured versions, else an expected
    one."""
    message = f"mended in {versions}: note that in docs/findings.md"
    if measured(versions):
        pytest.fail(message)
    pytest.xfail(message)


def measured(versions: dict[str, str]) -> bool:
    """Return whether the findings were measured on these libraries and this Python."""
    present = {"python": platform.python_version(), **versions}
    return all(present.get(name, version) == version for name, version in MEASURED.items())


def holds(result: RunResult, fails: set[str], lax: set[str]) -> None:
    """Assert that exactly these clauses fail and exactly these SHOULDs are missed."""
    found = {
        verdict: {c.clause.id for c in result.clauses if c.outcome is verdict}
        for verdict in (Verdict.FAIL, Verdict.HANG, Verdict.LAX)
    }
    expected = {Verdict.FAIL: fails, Verdict.HANG: set(), Verdict.LAX: lax}
    if found != expected and not measured(dict(result.versions)):
        pytest.xfail(f"other findings in {result.versions}: note that in docs/findings.md")
    assert found == expected


@pytest.fixture
def finds() -> Finds:
    """Return a function that asserts that calls on a new stream violate a clause, and how.

    The file has `length` bytes; the feature `without` is not declared.
    """

    def assert_found(
        binding: Binding,
        clause: str,
        actual: str,
        length: int,
        *steps: Any,
        streams: int = 1,
        without: str = "",
    ) -> None:
        program = {"length": length, "steps": list(steps), "streams": streams}
        data = {"fscontract-replay": 1, "clause": clause, "program": program}
        profile = load_profile(binding.default_profile)
        profile = profile.with_features([f"!{without}"] if without else ())
        result = replay(binding, data, profile)
        versions = getattr(binding, "versions", {})
        if result.outcome == "passes now":
            mended(versions)
        assert result.outcome == "still fails", (result, versions)
        assert result.actual.startswith(actual), versions

    return assert_found


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a local copy of the file of read-only targets."""
    path = tmp_path / "copy"
    path.write_bytes(DATA)
    return path


@pytest.fixture
def ranges() -> Iterator[str]:
    """Return the URL of a web server with range requests."""
    with serving(WithRanges) as url:
        yield url


@pytest.fixture
def no_ranges() -> Iterator[str]:
    """Return the URL of a web server without range requests."""
    with serving(WithoutRanges) as url:
        yield url


@pytest.fixture
def below(tmp_path: Path) -> str:
    """Return the URL of an empty directory."""
    made = tmp_path / "target"
    os.mkdir(made)
    return f"file://{made}"
