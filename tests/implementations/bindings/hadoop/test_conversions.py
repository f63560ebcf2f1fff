"""Tests of the classification of Java exceptions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.implementations.bindings.hadoop.conversions import outcome_of

Java: TypeAlias = Callable[[str], Any]


def _made(java: Java, name: str) -> Any:
    """Return an exception with a message; JPype can't pass one to IndexOutOfBoundsException."""
    string = java("java.lang.String")
    return java(name).class_.getConstructor(string.class_).newInstance(string("so it is"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("java.io.EOFException", Kind.EOF),
        ("java.io.IOException", Kind.IO),
        ("java.io.FileNotFoundException", Kind.NOT_FOUND),
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
def test_class_or_superclass_determines_the_kind(name: str, kind: Kind, java: Java) -> None:
    """The closest known superclass counts."""
    outcome = outcome_of(_made(java, name))
    assert outcome.kind is kind
    shown = name if kind is Kind.OTHER else name.rpartition(".")[2]
    assert outcome.detail == f"{shown}: so it is"


@pytest.mark.parametrize(
    "wrapper",
    ["java.util.concurrent.ExecutionException", "java.util.concurrent.CompletionException"],
)
def test_exceptions_wrapped_by_futures_are_unwrapped(wrapper: str, java: Java) -> None:
    """At any depth."""
    inner = java("java.io.UncheckedIOException")(java("java.io.EOFException")("the end"))
    assert outcome_of(java(wrapper)("wrapped", inner)) == Outcome(
        Kind.EOF, detail="EOFException: the end"
    )


def test_unreachable_server_gives_no_verdict(java: Java) -> None:
    """Clients wrap the exception of their connection."""
    cause = java("java.net.ConnectException")("refused")
    assert outcome_of(java("java.io.IOException")("can't", cause)).kind is Kind.ENVIRONMENT


def test_other_runtime_exceptions_are_not_excused_by_their_cause(java: Java) -> None:
    """Only an IOException can mean that the connection failed."""
    cause = java("java.net.ConnectException")("refused")
    assert outcome_of(java("java.lang.IllegalStateException")("x", cause)).kind is Kind.OTHER


def test_python_bug_is_not_a_stream_exception(java: Java) -> None:
    """Python exceptions have no Java meaning."""
    assert outcome_of(TypeError("no such overload")).kind is Kind.OTHER


def test_message_is_one_line_without_secrets(java: Java) -> None:
    """The part before an @ in a URL is hidden, too."""
    error = java("java.io.IOException")("ftp://me:pass word@host/x said\n  pass word")
    outcome = outcome_of(error, ("pass word",))
    assert outcome.detail == "IOException: ftp://***@host/x said ***"


def test_exception_without_a_message_shows_its_class(java: Java) -> None:
    """Without a trailing colon."""
    assert outcome_of(java("java.io.IOException")()).detail == "IOException"
