"""Findings in released libraries, as `docs/findings.md` lists them.

Each test runs the program of a finding on the installed library. It asserts that the kit charges
the clause that the finding names, for the reason that it names. If another version than the
measured one fixed the bug, the test is an expected failure that says so.
"""

from __future__ import annotations

import os
import platform
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import pytest

from fscontract.contract.binding import Binding
from fscontract.contract.runner.replay import failure_in, replay
from fscontract.contract.runner.result import RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.script.calls import NoScript, Source
from fscontract.contract.script.languages import python_script
from fscontract.contract.spec.clauses import select
from fscontract.contract.spec.profiles import Profile, load_profile
from servers.http_files import DATA, WithoutRanges, WithRanges, serving
from servers.s3.client_targets import SOURCES
from tests.script_runner import ScriptRunner

Finds: TypeAlias = Callable[..., None]
#: What the findings were measured on. Other versions may have mended them.
MEASURED = {"fsspec": "2026.9.0", "python": "3.11.7"}


def run(
    binding: Binding,
    *patterns: str,
    features: frozenset[str] = frozenset(),
    without: str = "",
    stop_at_first: bool = False,
) -> RunResult:
    """Return a quick run of the matching clauses (default: all) under the binding's own profile.

    `features` are added to the profile, and the feature `without` is removed. With `stop_at_first`
    the run ends at the first failure.
    """
    chosen = tuple(c for c in select(patterns) if c.testable)
    profile = load_profile(binding.default_profile)
    profile = profile.with_features([*features, *([f"!{without}"] if without else [])])
    return check(binding, Settings(profile, chosen, stop_at_first=stop_at_first))


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


def holds(
    result: RunResult, fails: set[str], lax: set[str], sampled: frozenset[str] = frozenset()
) -> None:
    """Assert that exactly these clauses fail and exactly these SHOULDs are missed.

    Those that are `sampled` fail by programs of which a run has only some.
    """
    found = {
        verdict: {c.clause.id for c in result.clauses if c.outcome is verdict} - sampled
        for verdict in (Verdict.FAIL, Verdict.HANG, Verdict.LAX)
    }
    expected = {Verdict.FAIL: fails, Verdict.HANG: set(), Verdict.LAX: lax}
    if found != expected and not measured(dict(result.versions)):
        pytest.xfail(f"other findings in {result.versions}: note that in docs/findings.md")
    assert {
        v: (found[v] - ids, ids - found[v]) for v, ids in expected.items() if found[v] != ids
    } == {}


#: Why a target has no script: a test made it, with no name that a script could use.
_UNNAMED = (
    "can't be made in a script",
    "has no name that can be imported",
    "has no scripts",
)


def _shows(
    bare: ScriptRunner, own: ScriptRunner, binding: Binding, data: dict[str, Any], profile: Profile
) -> None:
    """Assert that the script of a failure fails, without fscontract if it is not under test."""
    content, file = binding.fixed_content, None
    with tempfile.NamedTemporaryFile() as copy:
        if content is not None:
            file = getattr(binding, "_file", None)
            Path(copy.name).write_bytes(content)
        given = getattr(getattr(binding, "fs", None), "storage_options", {})
        options = {name: given[name] for name in ("block_size",) if name in given}
        made = Source(binding.name, options, file, Path(copy.name) if file else None)
        source = SOURCES.get(binding, made)
        try:
            script = python_script(binding, source, failure_in(binding, data, profile))
        except NoScript as reason:
            if str(reason).endswith(_UNNAMED):
                return
            raise
        is_ours = re.search(r"(from|import) (fscontract|tests|servers)\b", script)
        given = {name.upper(): str(value) for name, value in source.options.items()}
        ran = (own if is_ours else bare).run(f"import os\nos.environ.update({given})\n{script}")
    assert ran.code == 1, f"{ran.output}\n{script}"


@pytest.fixture
def finds(bare_scripts: ScriptRunner, own_scripts: ScriptRunner) -> Finds:
    """Return a function that asserts that calls on a new stream violate a clause, and how.

    The file has `length` bytes; the feature `without` is not declared. The script of the failure
    has to fail, too.
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
        _shows(bare_scripts, own_scripts, binding, data, profile)

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
