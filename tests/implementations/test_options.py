"""Tests of the option type, and of the parsers of sizes, times and other kinds."""

from __future__ import annotations

from typing import Any

import pytest

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.implementations.options import (
    MIB,
    Option,
    boolean,
    choice,
    count,
    duration,
    parse_duration,
    parse_options,
    parse_size,
    size,
    switch,
    text,
)

TABLE = (
    Option("blockSize", size, "Size of blocks.", 64, minimum=1, maximum=MIB),
    Option("mode", choice, "How to read.", "fast", choices=("fast", "safe")),
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("4096b", 4096),
        (" 64K ", 65536),
        ("1 MiB", MIB),
        ("2gb", 2 << 30),
        ("1t", 1 << 40),
    ],
)
def test_parse_size_takes_units_in_any_case(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1.5M", "1P", "1 M B", "9" * 400, "٤"])
def test_parse_size_refuses_other_texts(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected a size such as 64K, from 0 to 8192T"):
        parse_size(text)


@pytest.mark.parametrize("text", ["1023", "1M"])
def test_parse_size_names_the_bounds(text: str) -> None:
    with pytest.raises(ValueError, match=r"from 1K to 100K$"):
        parse_size(text, 1024, 102400)


@pytest.mark.parametrize(
    ("text", "seconds"), [("2", 2.0), ("0.5s", 0.5), ("500 MS", 0.5), ("2m", 120.0), ("1h", 3600.0)]
)
def test_parse_duration_takes_units_in_any_case(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


def test_parse_duration_takes_the_unit_of_a_number_alone() -> None:
    assert parse_duration("200", unit="ms") == pytest.approx(0.2)


@pytest.mark.parametrize("text", ["", "s", "-1s", "nan", "5 parsecs", "1e3", "11s"])
def test_parse_duration_refuses_other_texts(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected a time such as .* from 0 to 10 seconds"):
        parse_duration(text, 0, 10)


@pytest.mark.parametrize(
    ("kind", "value", "parsed"),
    [
        (boolean, "TRUE", True),
        (boolean, False, False),
        (switch, "on", True),
        (switch, 0, False),
        (count, " 7 ", 7),
        (duration, "1s", 1.0),
        (text, " as is ", " as is "),
    ],
)
def test_kind_parses_text_and_printable_values(kind: Any, value: Any, parsed: Any) -> None:
    assert Option("x", kind, "").parse(value) == parsed


@pytest.mark.parametrize(
    ("kind", "value"),
    [(boolean, "on"), (switch, "maybe"), (count, True), (count, "1.5"), (count, -1), (text, "")],
)
def test_a_kind_refuses_other_values(kind: Any, value: Any) -> None:
    with pytest.raises(IllegalArgumentException, match=f"option 'x' can't be {value!r}: "):
        Option("x", kind, "").parse(value)


def test_an_error_names_the_origin_and_similar_choices() -> None:
    with pytest.raises(IllegalArgumentException) as caught:
        TABLE[1].parse("saef", "a file")
    expected = "expected one of fast, safe; did you mean safe?"
    assert str(caught.value) == f"option 'mode', from a file, can't be 'saef': {expected}"


def test_a_hidden_kind_keeps_the_value_out_of_the_error() -> None:
    class Secret(Option):
        hidden = (count,)

    with pytest.raises(
        IllegalArgumentException, match="can't be the given value: expected a whole number"
    ):
        Secret("key", count, "").parse("sesame")


def test_options_not_given_have_their_default() -> None:
    assert parse_options({"BLOCKSIZE": "1K"}, TABLE) == {"blockSize": 1024, "mode": "fast"}


@pytest.mark.parametrize(
    ("name", "hint"),
    [("blockSze", "; did you mean blockSize?"), ("x", "; known: blockSize, mode")],
)
def test_an_unknown_option_is_an_error_with_a_hint(name: str, hint: str) -> None:
    with pytest.raises(IllegalArgumentException) as caught:
        parse_options({name: "1"}, TABLE)
    assert str(caught.value) == f"unknown option {name!r}{hint}"
