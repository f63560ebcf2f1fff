"""Fixtures: the data source in the session that all tests share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fscontract.pipeline import register
from fscontract.pipeline.spark_source.source import Registration

#: The beginning of the paths of these tests.
_INSIDE = f"{Path(__file__).parent}{os.sep}"


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups later
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run these tests in one xdist worker, so that they share one JVM."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            if str(item.path).startswith(_INSIDE) and "spark" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def source(spark: Any) -> Registration:
    """The registered source, with pushed filters."""
    return register(spark, pushdown=True)


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reset the variable that errors set, because this process does not end."""
    monkeypatch.setenv("SPARK_HIDE_TRACEBACK", "")
