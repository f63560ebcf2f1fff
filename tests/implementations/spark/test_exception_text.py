"""Tests of Spark exceptions that are read after their JVM has ended."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from fscontract.implementations.spark.exception_text import keep_messages

#: Methods called on an exception after the JVM has ended.
ASKED = ("getCondition", "getSqlState", "getMessageParameters", "getMessage", "getErrorClass")


def _without_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the JVM from PySpark, as after the end of a session."""
    from pyspark import SparkContext

    monkeypatch.setattr(SparkContext, "_jvm", None)
    monkeypatch.setattr(SparkContext, "_gateway", None)


def _analysis_error(spark: Any) -> Any:
    from pyspark.errors import AnalysisException

    with pytest.raises(AnalysisException) as caught:
        spark.sql("select nothing from range(3)")
    return caught.value


def test_an_exception_without_its_machine_cannot_be_printed(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PySpark's current behaviour; when this test fails, `keep_messages` is obsolete."""
    error = _analysis_error(spark)
    _without_machine(monkeypatch)
    with pytest.raises(AssertionError):
        str(error)


@pytest.mark.filterwarnings("ignore:Deprecated:FutureWarning")
def test_kept_exception_has_the_same_message(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.errors import AnalysisException

    error = _analysis_error(spark)
    cls, before = type(error), str(error)
    asked = [getattr(error, name)() for name in ASKED]
    fragment = error.getQueryContext()[0].fragment()
    keep_messages(error)
    _without_machine(monkeypatch)
    assert "`nothing`" in before
    assert str(error) == before
    assert [getattr(error, name)() for name in ASKED] == asked
    assert error.getQueryContext()[0].fragment() == fragment == "nothing"
    assert isinstance(error, AnalysisException)
    assert (type(error).__name__, type(error).__module__) == (cls.__name__, cls.__module__)
    assert traceback.format_exception_only(error)[0].startswith(f"{cls.__module__}.Analysis")


def test_causes_contexts_and_py4j_errors_are_kept(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from py4j.protocol import Py4JJavaError

    with pytest.raises(Py4JJavaError) as caught:
        spark.sparkContext._jvm.java.lang.Class.forName("nothing")
    outer = ValueError("outer")
    outer.__cause__, outer.__context__ = caught.value, _analysis_error(spark)
    caught.value.__context__ = outer  # a circle
    keep_messages(outer)
    _without_machine(monkeypatch)
    monkeypatch.setattr(caught.value.java_exception, "_gateway_client", None)
    assert "ClassNotFoundException" in str(caught.value)
    assert "`nothing`" in str(outer.__context__)


def test_exception_of_a_dead_jvm_keeps_its_description(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = _analysis_error(spark)
    _without_machine(monkeypatch)
    keep_messages(error)
    assert "`nothing`" in str(error)
