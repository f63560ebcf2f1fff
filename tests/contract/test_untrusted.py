"""Text, YAML and JSON from outside are read within bounds, or refused in one line."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fscontract.contract import untrusted
from fscontract.contract.untrusted import (
    MOST_BYTES,
    MOST_DIGITS,
    MOST_LEVELS,
    UntrustedError,
    listed,
    load_json,
    load_text,
    load_yaml,
    parse_json,
    parse_yaml,
    short,
)

FASTEST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PARSERS = [FASTEST, yaml.SafeLoader]


@pytest.fixture(params=PARSERS, ids=["C", "Python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the parsers of PyYAML."""
    monkeypatch.setattr(untrusted, "_PARSER", request.param)


def refused(parse: Any, text: str) -> str:
    """Return what is wrong with the text, without its name."""
    with pytest.raises(UntrustedError) as caught:
        parse(text, "x.file")
    said = str(caught.value)
    assert said.startswith("x.file: ")
    assert len(said.splitlines()) == 1
    assert len(said) < 200
    return said.removeprefix("x.file: ")


# files --------------------------------------------------------------------------------------


def test_a_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\xef\xbb\xbfa: 1")
    assert load_text(path) == "a: 1"
    assert load_yaml(path) == {"a": 1}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: 1\nb: \xff", "line 2, byte 4: not UTF-8 text"),
        ("a: 1".encode("utf-16"), "line 1, byte 1: not UTF-8 text"),
        (b" " * (MOST_BYTES + 1), "larger than 16 MiB"),
    ],
    ids=["bytes", "utf-16", "large"],
)
def test_a_file_that_is_not_a_text_of_bounded_size_is_refused(
    content: bytes, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "f"
    path.write_bytes(content)
    for load in (load_text, load_yaml, load_json):
        with pytest.raises(UntrustedError) as caught:
            load(path)
        assert str(caught.value) == f"{path}: {said}"


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"1" + b" " * (MOST_BYTES - 1))
    assert load_json(path) == 1


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UntrustedError, match=rf"^{re.escape(str(tmp_path))}: Is a directory$"):
        load_text(tmp_path)


def test_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UntrustedError, match=r"pipe: not a regular file$"):
        load_text(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["none", "no\0thing", "x" * 300])
def test_a_name_without_a_file_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UntrustedError):
        load_text(tmp_path / name)


# YAML ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: " + "[" * 50_000, "line 1, column 67: nested more than 64 levels deep"),
        ("a: " + "{b: " * 50_000, "nested more than 64 levels deep"),
        ("- " * 50_000, "line 1, column 129: nested more than 64 levels deep"),
        ("a: " + "9" * 5_000, "line 1, column 4: a number of more than 100 digits"),
        ("a: 1." + "9" * 5_000, "line 1, column 4: a number of more than 100 digits"),
        ("a: !!bool zz", "line 1, column 4: expected true or false, got 'zz'"),
        ("a: !!int abc", "line 1, column 4: expected a whole number, got 'abc'"),
        ("a: !!int ''", "expected a whole number, got ''"),
        ("a: !!float x", "expected a number, got 'x'"),
        ("a: !!timestamp 2001-99-99", "the tag '!!timestamp' is not allowed"),
        ("a: !!binary 'a'", "the tag '!!binary' is not allowed"),
        ("a: !!set {b}", "the tag '!!set' is not allowed"),
        ("a: !!map []", "the tag '!!map' is not allowed"),
        ("!!python/object/apply:os.getcwd []", "the tag '!!python/object/apply:os.getcwd'"),
        ("a: 1\nb: 2\na: 3", "line 3, column 1: duplicate key 'a'"),
        ("a: {b: 1, b: 2}", "line 1, column 11: duplicate key 'b'"),
        ("? [a]\n: b", "line 1, column 3: a list or mapping can't be a key"),
        ("&k [a]: 1", "a list or mapping can't be a key"),
        ("a: 1\n---\nb: 2", "line 2, column 1: a second document, expected one"),
        ("a: [", "not YAML: "),
        ("a:\n\t- b", "line 2, column 1: not YAML: "),
        ('a: "\\ud800"', "line 1, column "),
        ("a: \x07", "line 1, column 4: not YAML: the character U+0007 is not allowed"),
        ("a: *b", "line 1, column 4: no complete value has the anchor 'b'"),
        ("a: &a [*a]", "line 1, column 8: no complete value has the anchor 'a'"),
        ("a: {<<: 3}", "'<<' must be a mapping, or a list of mappings"),
        ("a: {<<: [3]}", "'<<' must be a mapping, or a list of mappings"),
    ],
    ids=lambda text: text[:20],
)
def test_yaml_that_cant_be_used_is_refused_with_its_place(text: str, said: str) -> None:
    assert said in refused(parse_yaml, text)


@pytest.mark.usefixtures("parser")
def test_aliases_add_no_more_than_a_bounded_size() -> None:
    """Ten names with ten references each stand for 10^9 values."""
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for old, new in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]")
    assert "aliases make the file larger by more than 1 MiB" in refused(
        parse_yaml, "\n".join(lines)
    )


@pytest.mark.usefixtures("parser")
def test_a_long_text_counts_with_its_length_in_each_alias() -> None:
    text = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 11)}]"
    assert "aliases make the file larger" in refused(parse_yaml, text)


@pytest.mark.usefixtures("parser")
def test_aliases_nest_no_deeper_than_lists_do() -> None:
    """Each is within the bound where it is written."""
    deep = "[" * (MOST_LEVELS // 2) + "]" * (MOST_LEVELS // 2)
    within = deep.replace("[]", "[*a]")
    assert parse_yaml(f"- &a {deep[1:-1]}\n- {within[1:-1]}")
    assert "nested more than" in refused(parse_yaml, f"- &a {deep}\n- &b {within}\n- [[*b]]")


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing", None),
        ("{until: 2027-06-01, on: true}", {"until": "2027-06-01", True: True}),
        ("[0x1F, 0o7, 1_000, -3, +4, 1e3, 1.5, .5]", [31, "0o7", 1000, -3, 4, "1e3", 1.5, 0.5]),
        ("['1', \"2\", !!str 3, !!int '4', ! 5]", ["1", "2", "3", 4, 5]),
        ("[~, null, yes, 'yes']", [None, None, True, "yes"]),
        ("a: !!seq [!!map {b: c}]", {"a": [{"b": "c"}]}),
        ("a: &x kept\nb: *x", {"a": "kept", "b": "kept"}),
        ("a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}", {"a": {"p": 1, "q": 2}, "b": {"p": 1, "q": 3}}),
        ("{<<: [{p: 1}, {p: 2, q: 2}]}", {"p": 1, "q": 2}),
        ("{'<<': 1}", {"<<": 1}),
        ("- \U0001f600\n- ü", ["\U0001f600", "ü"]),
        ("9" * MOST_DIGITS, int("9" * MOST_DIGITS)),
        ("[" * MOST_LEVELS + "]" * MOST_LEVELS, json.loads("[" * MOST_LEVELS + "]" * MOST_LEVELS)),
    ],
)
def test_yaml_within_the_bounds_is_read(text: str, value: object) -> None:
    """As PyYAML reads it, but for dates."""
    assert parse_yaml(text) == value


MARKS = [*"[]{}:,-?&*|>'#%@`<~\\a1", "!!", "&a ", "*a ", "<<: ", "!!int ", "!!str ", "!!x ", '"']
SCALARS = ["0x", "1:30", "1e9", "1.5", ".inf", "yes", "null", "2001-99-99", "---\n", "..."]
BLANKS = [" ", "\n", "\n  ", "\t", ": ", ", ", *map(chr, [0, 0x85, 0x2028, 0xD800, 0xFEFF])]
TEXTS = st.lists(st.sampled_from([*MARKS, *SCALARS, *BLANKS])).map("".join)


@given(TEXTS)
def test_any_text_is_yaml_or_refused_in_one_line(text: str) -> None:
    """Nothing else is raised; where PyYAML takes the text, too, the values are the same."""
    try:
        value = parse_yaml(text)
    except UntrustedError:
        refused(parse_yaml, text)
        return
    with suppress(yaml.YAMLError):
        assert repr(value) == repr(yaml.load(text, Loader=_WithoutDates))


class _WithoutDates(FASTEST):  # type: ignore[misc]
    """PyYAML's own, in which dates stay text."""


_WithoutDates.yaml_implicit_resolvers = {
    first: [(tag, expression) for tag, expression in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


# JSON ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty, expected JSON"),
        (" \n", "empty, expected JSON"),
        ("{", "line 1, column 2: not JSON: "),
        ('{\n"a": 1,}', "line 2, column "),
        ("[" * 100_000, "line 1, column 65: nested more than 64 levels deep"),
        ('{"a":\n' + '{"a":' * 100_000, "line 2, column 316: nested more than 64 levels deep"),
        ('["\\"", ' + "[" * 100, "nested more than 64 levels deep"),
        ("9" * 5_000, "line 1, column 1: a number of more than 100 digits"),
        ("[1, -Infinity]", "line 1, column 5: not JSON: -Infinity is not a number"),
        ('{"a": NaN}', "line 1, column 7: not JSON: NaN is not a number"),
        ("1e999", "not a finite number: '1e999'"),
        ('{"a": 1, "b": {"a": 2, "a": 3}}', "duplicate key 'a'"),
        ("\ufeff{}", "not JSON"),
    ],
    ids=lambda text: text[:20],
)
def test_json_that_cant_be_used_is_refused_with_its_place(text: str, said: str) -> None:
    assert said in refused(parse_json, text)


def test_bytes_that_are_not_utf_8_are_refused() -> None:
    with pytest.raises(UntrustedError, match=r"^x: not UTF-8 text \(byte 1\)$"):
        parse_json(b'"\xff"', "x")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "[[[[{{{{ NaN Infinity \\" \\\\"}',
        '"' + "[" * 1_000 + '"',
        '["' + "9" * 1_000 + '"]',
        "[" * MOST_LEVELS + "]" * MOST_LEVELS,
        "[" + ", ".join(["[]"] * 1_000) + "]",
        "9" * MOST_DIGITS,
        '"\\ud800"',
    ],
)
def test_json_within_the_bounds_is_read(text: str) -> None:
    """Strings are not inspected; reports may name files that are not text."""
    assert parse_json(text) == json.loads(text)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=20,
)


@given(VALUES)
def test_what_json_writes_is_read_back(value: object) -> None:
    text = json.dumps(value, allow_nan=True)
    if re.search(r"Infinity", json.dumps(_without_strings(value))):
        refused(parse_json, text)
    else:
        assert parse_json(text) == value


def _without_strings(value: object) -> object:
    if isinstance(value, dict):
        return [_without_strings(inner) for inner in value.values()]
    if isinstance(value, list):
        return [_without_strings(inner) for inner in value]
    return "" if isinstance(value, str) else value


@given(st.lists(st.sampled_from([*'[]{}",:\\ \n', "NaN", "1e400", "-", "0", "\\u", "é"])))
def test_any_text_is_json_or_refused_in_one_line(parts: list[str]) -> None:
    text = "".join(parts)
    try:
        value = parse_json(text)
    except UntrustedError:
        refused(parse_json, text)
    else:
        assert value == json.loads(text)


# options of the command line ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5), ("true", True), ("null", None), ('"5"', "5"), ('{"a": [1.5]}', {"a": [1.5]})],
)
def test_an_option_that_is_json_is_its_value(text: str, value: object) -> None:
    assert untrusted.typed_value(text) == value


@pytest.mark.parametrize(
    "text",
    ["mmap", "NaN", "Infinity", "1e999", "012", "{", '"', "", " ", "9" * 5_000, "[" * 5_000],
    ids=lambda text: text[:10],
)
def test_an_option_that_is_not_json_within_the_bounds_stays_text(text: str) -> None:
    assert untrusted.typed_value(text) == text


# messages -----------------------------------------------------------------------------------


def test_the_first_mistakes_are_listed() -> None:
    assert listed([]) == ""
    assert listed(str(i) for i in range(20)).splitlines() == [str(i) for i in range(20)]
    assert listed(str(i) for i in range(21)).splitlines()[19:] == ["19", "... and more errors"]


def test_a_long_value_is_shortened() -> None:
    assert short("x" * 1_000_000) == "'" + "x" * 36 + "..."
    assert short([1]) == "[1]"
