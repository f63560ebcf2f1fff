"""Tests of outcomes, and of the observer of the exceptions that become outcomes."""

from __future__ import annotations

import io
import threading

import pytest

from fscontract.contract.api import errors
from fscontract.contract.program.outcome import (
    Kind,
    Outcome,
    classify,
    clip,
    notice,
    observed_by,
    raised,
    returned,
    show_bytes,
    text_of,
)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (EOFError(), Kind.EOF),
        (errors.EOFException(), Kind.EOF),
        (OSError(), Kind.IO),
        (FileNotFoundError(), Kind.NOT_FOUND),
        (ValueError(), Kind.ILLEGAL_ARGUMENT),
        (OverflowError(), Kind.ILLEGAL_ARGUMENT),
        (IndexError(), Kind.INDEX),
        (TypeError(), Kind.NULL),
        (NotImplementedError(), Kind.UNSUPPORTED),
        (io.UnsupportedOperation(), Kind.UNSUPPORTED),
        (ConnectionResetError(), Kind.ENVIRONMENT),
        (TimeoutError(), Kind.ENVIRONMENT),
        (KeyError(), Kind.OTHER),
    ],
    ids=lambda value: value if isinstance(value, Kind) else type(value).__name__,
)
def test_python_exception_has_a_kind(error: BaseException, kind: Kind) -> None:
    assert classify(error) is kind


def test_given_kind_overrides_that_of_the_exception() -> None:
    assert raised(OSError("x"), Kind.INDEX).kind is Kind.INDEX


def test_detail_is_one_line_with_the_class_of_the_exception() -> None:
    assert raised(OSError("no\n\tway")).detail == "OSError: no way"
    assert raised(OSError()).detail == "OSError"


def test_exception_whose_str_raises_has_no_text() -> None:
    class NastyError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert text_of(NastyError()) == ""
    assert raised(NastyError()).detail == "NastyError"


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (returned(), "returned"),
        (returned(3, b"abc"), "returned 3, buffer 61 62 63"),
        (returned(b"a"), "returned 61"),
        (returned((returned(1), Outcome(Kind.EOF))), "returned [returned 1, EOF]"),
        (Outcome(Kind.IO, detail="OSError: x"), "IO (OSError: x)"),
        (returned(1 << 1000), "returned a number of 1001 bits"),
    ],
    ids=["none", "count", "bytes", "ranges", "raised", "huge"],
)
def test_text_of_an_outcome(outcome: Outcome, text: str) -> None:
    assert str(outcome) == text


def test_returned_outcome_did_not_raise() -> None:
    assert not returned().raised
    assert Outcome(Kind.INEXPRESSIBLE).raised


def test_long_bytes_and_texts_are_cut_with_their_size() -> None:
    assert show_bytes(bytes(20)) == "00 " * 15 + "00 ... (20 bytes)"
    assert show_bytes(b"") == "(empty)"
    assert clip("x" * 200, 3) == "xxx... (200 characters)"


def test_long_bytes_in_a_list_are_cut_with_their_size() -> None:
    assert str(returned((b"ab", bytes(999)))) == f"returned [61 62, {show_bytes(bytes(999))}]"
    inner = Outcome(Kind.IO, detail="x" * 999)
    assert "x" * 999 in str(returned((inner,)))


def test_a_long_list_is_cut_with_the_number_of_its_items() -> None:
    long = "x" * 150
    assert str(returned((long,) * 4)) == f"returned ['{long}', '{long}', ... (4 items)]"


def test_control_characters_of_texts_in_a_list_are_escaped() -> None:
    assert str(returned(("a\n\x1b[31m",))) == r"returned ['a\n\x1b[31m']"


def test_observer_gets_the_exception_of_an_outcome_and_what_to_hide() -> None:
    """The exception itself, which an outcome does not keep."""
    seen: list[tuple[BaseException, tuple[str, ...]]] = []
    error, other = KeyError("a"), ValueError("b")
    with observed_by(lambda error, secrets: seen.append((error, secrets))):
        assert raised(error).kind is Kind.OTHER
        notice(other, ["hide"])
    raised(KeyError("later"))
    assert seen == [(error, ()), (other, ("hide",))]


def test_observer_does_not_see_other_threads() -> None:
    """A thread of an abandoned program may still raise."""
    seen: list[BaseException] = []
    with observed_by(lambda error, _: seen.append(error)):
        thread = threading.Thread(target=notice, args=(KeyError("a"),))
        thread.start()
        thread.join()
    assert seen == []
