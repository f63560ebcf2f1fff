"""The pytest plug-in beside pytest-asyncio and schemathesis, which `tox -e neighbours` installs.

The tests of the plug-in run there as well, with all of them loaded. This file is not collected by
default, because the other plug-ins may be missing.
"""

from __future__ import annotations

from importlib.metadata import version

import pytest

from tests.contract.test_pytest_plugin_manners import FILESYSTEMS

TEST = """
import asyncio
import pytest
from hypothesis import given, settings, strategies as st
from fscontract.contract.pytest_plugin import conformance
from filesystems import wrong

test_contract = conformance(wrong, clauses=["seek.zero", "seek.negative"])

{mark}
async def test_loops():
    await asyncio.sleep(0)
    assert asyncio.get_running_loop().is_running()

@given(st.integers(min_value=3))
@settings(database=None)
def test_numbers(number):
    assert number < 3
"""


@pytest.mark.parametrize("mode", ["strict", "auto"])
def test_loops_numbers_and_clauses_are_tests_of_one_file(
    mode: str, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each plug-in takes its own, and a clause's failing program is shown in full, whatever
    becomes of the arguments that Hypothesis prints."""
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    mark = "@pytest.mark.asyncio" if mode == "strict" else ""
    pytester.makepyfile(filesystems=FILESYSTEMS, test_it=TEST.format(mark=mark))
    result = pytester.runpytest_subprocess(f"--asyncio-mode={mode}")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [f"plugins: *asyncio-{version('pytest-asyncio')}*", "*FAIL  seek.negative  MUST*"]
    )
    result.stdout.fnmatch_lines(
        ["*program    f = open(0 bytes); f.seek(-1)", "*actual     returned"]
    )
    assert f"schemathesis-{version('schemathesis')}" in result.stdout.str()
