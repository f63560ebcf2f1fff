"""The data source in the session that all tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fscontract.pipeline import register
from fscontract.pipeline.spark_source.source import Registration

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)  # xdist looks at the groups then
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With xdist one process runs what needs the session: there is one machine of Java."""
    if config.pluginmanager.hasplugin("xdist"):
        for item in items:
            if HERE in item.path.parents and "spark" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.xdist_group("datasource"))


@pytest.fixture(scope="session")
def source(spark: Any) -> Registration:
    """The source, registered; filters are pushed."""
    return register(spark, pushdown=True)


@pytest.fixture(autouse=True)
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take back what errors set in a process that does not end with them."""
    monkeypatch.setenv("SPARK_HIDE_TRACEBACK", "")
