"""What every test has: pytest's own test kit, and generated data that is the same in CI."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("here", deadline=None)
_PROFILE = "ci" if os.environ.get("CI") else "here"
settings.load_profile(_PROFILE)


def pytest_report_header(config: pytest.Config) -> str:
    """Say where generated data comes from."""
    seed = config.getoption("hypothesis_seed", default=None)
    chosen = "derandomised" if _PROFILE == "ci" else f"seed {'random' if seed is None else seed}"
    return f"hypothesis profile: {_PROFILE}, {chosen}"
