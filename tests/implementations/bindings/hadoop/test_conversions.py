"""Java's exceptions are told by their class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.implementations.bindings.hadoop.conversions import outcome_of

Java: TypeAlias = Callable[[str], Any]


def _made(java: Java, name: str) -> Any:
    """An exception with a message; JPype makes no IndexOutOfBoundsException of an argument."""
    string = java("java.lang.String")
    return java(name).class_.getConstructor(string.class_).newInstance(string("so it is"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("java.io.EOFException", Kind.EOF),
        ("java.io.IOException", Kind.IO),
        ("java.io.FileNotFoundException", Kind.IO),
        ("org.apache.hadoop.fs.ParentNotDirectoryException", Kind.IO),
        ("java.lang.IllegalArgumentException", Kind.ILLEGAL_ARGUMENT),
        ("java.lang.NumberFormatException", Kind.ILLEGAL_ARGUMENT),
        ("java.lang.IndexOutOfBoundsException", Kind.INDEX),
        ("java.lang.ArrayIndexOutOfBoundsException", Kind.INDEX),
        ("java.lang.NullPointerException", Kind.NULL),
        ("java.lang.UnsupportedOperationException", Kind.UNSUPPORTED),
        ("java.lang.IllegalStateException", Kind.OTHER),
        ("java.lang.OutOfMemoryError", Kind.OTHER),
        ("java.net.ConnectException", Kind.ENVIRONMENT),
        ("java.net.UnknownHostException", Kind.ENVIRONMENT),
    ],
)
def test_a_class_or_what_it_extends_says_what_is_meant(name: str, kind: Kind, java: Java) -> None:
    """The nearest that is known counts."""
    outcome = outcome_of(_made(java, name))
    assert outcome.kind is kind
    shown = name if kind is Kind.OTHER else name.rpartition(".")[2]
    assert outcome.detail == f"{shown}: so it is"


@pytest.mark.parametrize(
    "wrapper",
    ["java.util.concurrent.ExecutionException", "java.util.concurrent.CompletionException"],
)
def test_what_a_future_wraps_counts(wrapper: str, java: Java) -> None:
    """However deep."""
    inner = java("java.io.UncheckedIOException")(java("java.io.EOFException")("the end"))
    assert outcome_of(java(wrapper)("wrapped", inner)) == Outcome(
        Kind.EOF, detail="EOFException: the end"
    )


def test_an_io_exception_because_nobody_answers_is_no_verdict(java: Java) -> None:
    """A client wraps what its connection said."""
    cause = java("java.net.ConnectException")("refused")
    assert outcome_of(java("java.io.IOException")("can't", cause)).kind is Kind.ENVIRONMENT


def test_other_runtime_exceptions_are_not_excused_by_their_cause(java: Java) -> None:
    """Only an IOException may say that the way to the store failed."""
    cause = java("java.net.ConnectException")("refused")
    assert outcome_of(java("java.lang.IllegalStateException")("x", cause)).kind is Kind.OTHER


def test_a_mistake_of_ours_is_no_exception_of_the_stream(java: Java) -> None:
    """What Python raises has no meaning in Java."""
    assert outcome_of(TypeError("no such overload")).kind is Kind.OTHER


def test_a_message_is_one_line_without_secrets(java: Java) -> None:
    """Nor is what stands before an @ in a URL shown."""
    error = java("java.io.IOException")("ftp://me:pass word@host/x said\n  pass word")
    outcome = outcome_of(error, ("pass word",))
    assert outcome.detail == "IOException: ftp://***@host/x said ***"


def test_an_exception_without_a_message_is_told_by_its_class(java: Java) -> None:
    """There is no colon with nothing behind it."""
    assert outcome_of(java("java.io.IOException")()).detail == "IOException"
