"""Tests of the required version of Spark."""

from __future__ import annotations

from types import SimpleNamespace

import pyspark
import pytest

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.pipeline import register


@pytest.mark.parametrize(("here", "there"), [("4.1.4", "4.2.0"), ("4.2.0", "4.0.0")])
def test_an_older_spark_is_rejected_in_one_line(
    here: str, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the client, or of a Spark Connect server."""
    monkeypatch.setattr(pyspark, "__version__", here)
    with pytest.raises(UnsupportedOperationException) as caught:
        register(SimpleNamespace(version=there))
    old = min(here, there)
    assert str(caught.value) == (
        f"the data source requires Spark 4.2 or newer, got {old}: pip install 'pyspark>=4.2'"
    )
