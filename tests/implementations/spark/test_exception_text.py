"""Exceptions of Spark, read after their Java machine has ended."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from fscontract.implementations.spark.exception_text import keep_messages

#: What an exception is asked after the machine has ended.
ASKED = ("getCondition", "getSqlState", "getMessageParameters", "getMessage", "getErrorClass")


def _without_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let PySpark find no machine, as after the end of a session."""
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
    """What PySpark does today; once this fails, `keep_messages` is not needed."""
    error = _analysis_error(spark)
    _without_machine(monkeypatch)
    with pytest.raises(AssertionError):
        str(error)


@pytest.mark.filterwarnings("ignore:Deprecated:FutureWarning")
def test_a_kept_exception_says_what_it_said_before(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_causes_contexts_and_errors_of_py4j_are_kept(
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


def test_an_exception_of_a_machine_that_died_keeps_its_description(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = _analysis_error(spark)
    _without_machine(monkeypatch)
    keep_messages(error)
    assert "`nothing`" in str(error)
