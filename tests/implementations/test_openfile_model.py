"""Tests that the builder behaves as its model, for random calls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus, FileSystem, FSDataInputStream
from fscontract.contract.api.openfile_options import (
    FOOTER_CACHE,
    JOB_MANDATORY,
    JOB_OPTIONAL,
    LENGTH,
    READ_POLICY,
    SPLIT_END,
    SPLIT_START,
    option_table,
)
from fscontract.contract.models.openfile_resolution import Call, Resolution, resolve
from fscontract.contract.program.outcome import Kind, classify
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.openfile_builder import Builder, OpenOptions, propagate_options

from .support import rest_of, write

TABLE = option_table()
#: Keys specific to the filesystem, and those that it does not support.
KNOWN = ("fs.s3a.readahead.range", "fs.azure.buffered.pread.disable", "fs.s3a.select.sql", "fs.own")
UNSUPPORTED = ("fs.sql", LENGTH)

HOSTILE = [
    *("", " ", "\0", "a\0b", "7\0", "1e3", "0x10", "0b1", "\uff17", "\u0663", "\u00b2", "+", "+-1"),
    *(
        "\u00a07\u2003",
        "\x1c7",
        "1_000",
        "1" * 5000,
        "0" * 5000 + "7",
        "-" + "0" * 30,
        "1.0",
        "nan",
        "inf",
    ),
    *(
        "\t7\n",
        "7 7",
        "\u200b7",
        "\ufeff7",
        "7\u0000\u0000",
        "\u2212" + "7",
        "\U0001d7d5",
        "e\u0301",
    ),
    *("true\0", "TRUE ", "\uff54rue", "\u017fequential", "\ud800", "None", "9223372036854775808"),
    *("-9223372036854775809", "2147483648", "parquet, random", ",,orc", "a;b", " Whole-File "),
]
TEXTS = st.one_of(
    st.sampled_from(HOSTILE),
    st.sampled_from([*TABLE.policies, "true", "false", "17"]),
    st.lists(st.sampled_from([*TABLE.policies, "x", "", " RANDOM "])).map(",".join),
    st.integers().map(str),
    st.text(st.characters(), max_size=8),
)
EDGES = [0, 1, -1, 2**31, 2**31 - 1, 2**63, 2**63 - 1, -(2**63), -(2**63) - 1, 2**64, 10**400]
NUMBERS = st.one_of(st.integers(-2, 9), st.integers(), st.sampled_from(EDGES))
ODD_DOUBLES = [9.3e18, 9.2e18, -9.2e18, -9.3e18, 1e300, 0.9, -0.9, math.inf, -math.inf, math.nan]
DOUBLES = st.one_of(st.floats(), NUMBERS, st.sampled_from(ODD_DOUBLES))
#: Few keys, so that one is often set twice.
KEYS = st.one_of(
    st.sampled_from([*sorted(TABLE.standard_keys), *KNOWN]),
    st.sampled_from([*TABLE.options, *UNSUPPORTED, f" {LENGTH}", LENGTH.upper(), "", "\0"]),
    st.text(max_size=3),
)
STATUSES = st.builds(
    FileStatus, st.sampled_from(["/name", "s3://b/c/name"]), st.integers(-1, 9), st.booleans()
)


def calls_of(keys: st.SearchStrategy[Any], none: st.SearchStrategy[Any]) -> st.SearchStrategy[Call]:
    """Return a strategy of setter calls on a builder."""
    plain = st.sampled_from(["opt", "must"])
    whole = st.sampled_from(["opt_long", "must_long"])
    double = st.sampled_from(["opt_double", "must_double"])
    return st.one_of(
        st.tuples(plain, st.sampled_from([SPLIT_START, SPLIT_END]), st.integers(-1, 3)),
        st.tuples(plain, st.just(READ_POLICY), st.sampled_from([*TABLE.policies])),
        st.tuples(plain, st.just(FOOTER_CACHE), st.booleans()),
        st.tuples(plain, keys, TEXTS | NUMBERS | st.booleans() | none),
        st.tuples(whole, keys, NUMBERS | TEXTS | none),
        st.tuples(double, keys, DOUBLES | none),
        st.tuples(st.just("buffer_size"), NUMBERS | none),
        st.tuples(st.just("with_file_status"), STATUSES | st.none()),
    )


CALLS = st.lists(calls_of(KEYS | st.none(), st.none()), max_size=8)
#: Without invalid mandatory keys, so that the open succeeds.
ALLOWED = [*sorted(TABLE.standard_keys), *KNOWN]
PERMITTED = st.lists(calls_of(st.sampled_from(ALLOWED), st.nothing()), max_size=8)


def built(calls: Sequence[Call]) -> tuple[tuple[int, ...], Kind | None, OpenOptions | None]:
    """Return the rejected calls, the failure of `build`, and the options passed to the opener."""
    seen: list[OpenOptions] = []

    def opener(path: str, options: OpenOptions) -> FSDataInputStream:
        seen.append(options)
        return MemoryInputStream(b"")

    builder = Builder("/name", opener, KNOWN, UNSUPPORTED)
    rejected = []
    for index, (method, *arguments) in enumerate(calls):
        try:
            assert getattr(builder, method)(*arguments) is builder
        except IllegalArgumentException:
            rejected.append(index)
    try:
        builder.build().result().close()
    except (ValueError, NotImplementedError) as error:
        return tuple(rejected), classify(error), None
    return tuple(rejected), None, seen[0]


def asked(found: Resolution) -> OpenOptions:
    """Convert the resolution to the options of an opener."""
    names = OpenOptions.__dataclass_fields__
    return OpenOptions(**{name: getattr(found, name) for name in names})


ODD = [
    *(("must", value) for value in [*HOSTILE, *map(str, EDGES), *EDGES]),
    *(("must_double", value) for value in [*HOSTILE, *EDGES, *ODD_DOUBLES]),
]


@pytest.mark.parametrize(("method", "value"), ODD, ids=lambda value: ascii(value)[:20])
def test_every_option_takes_odd_values_as_the_model_does(method: str, value: Any) -> None:
    """Individually, so that no error hides another."""
    for key in ALLOWED:
        calls = [(method, key, value)]
        assert built(calls) == ((), None, asked(resolve(calls, TABLE, KNOWN)))


@settings(max_examples=300)
@given(CALLS)
@example([("opt", "fs.own", 2**63), ("opt_double", "fs.own", math.nan)])
@example([("must", "fs.sql", 1)])
@example([("must", "fs.sql", 1), ("must", "fs.x", 1)])
def test_the_builder_agrees_with_the_model(calls: list[Call]) -> None:
    """On rejected calls, on exceptions of `build`, and on every value."""
    wanted = resolve(calls, TABLE, KNOWN, UNSUPPORTED)
    rejected, kind, options = built(calls)
    assert rejected == wanted.rejected_calls
    if wanted.refusals:
        assert kind in {refusal.kind for refusal in wanted.refusals}
    else:
        assert (kind, options) == (None, asked(wanted))


@settings(max_examples=300)
@given(PERMITTED)
def test_values_of_known_keys_never_fail_an_open(calls: list[Call]) -> None:
    """For any value, optional or mandatory."""
    optional = [(c[0].replace("must", "opt"), *c[1:]) for c in calls]
    assert built(calls) == built(optional) == ((), None, asked(resolve(calls, TABLE, KNOWN)))


#: Statuses of `/dir/name`, some of them for other files.
PATHS = [
    *("/name", "s3://b/c/name", "name", "/dir/name/", "/dir/./name", "gopher://localhost/dir/name"),
    *(
        "/dir/name2",
        "/dir",
        "/",
        "",
        "\0",
        "/dir/name\0",
        "/dir/n\u00e4me",
        "\ud800",
        " name",
        None,
    ),
]
REAL_STATUSES: st.SearchStrategy[Any] = st.builds(
    FileStatus, st.sampled_from(PATHS), st.integers(-2, 60) | st.sampled_from(EDGES), st.booleans()
)
REAL_CALLS = st.lists(
    calls_of(st.sampled_from([*sorted(TABLE.standard_keys), "fs.x"]), st.nothing())
    | st.tuples(st.just("with_file_status"), REAL_STATUSES | st.none())
    | st.tuples(st.sampled_from(["opt_long", "opt"]), st.just(LENGTH), st.integers(-1, 60)),
    max_size=8,
)
DATA = bytes(range(40))


def filesystems(directory: str) -> list[FileSystem]:
    """Return each filesystem, with the same file in it."""
    made: list[FileSystem] = [
        MemoryFileSystem(),
        LocalFileSystem(directory, "positioned"),
        LocalFileSystem(directory, "portable"),
    ]
    for fs in made:
        write(fs, "/dir/name", DATA)
    return made


@settings(max_examples=200)
@given(REAL_CALLS, st.sampled_from(["/dir/name", "//dir/name/", "/dir/name/."]))
def test_open_agrees_with_the_model(calls: list[Call], path: str) -> None:
    """Every kind of option and status, in any order, on each filesystem; twice the same.

    A status with another name fails in the future. Otherwise the file is read up to the model's
    length, or to its own.
    """
    wanted = resolve(calls, TABLE)
    length = len(DATA) if wanted.length is None else wanted.length
    assert isinstance(length, int)
    status = wanted.status
    named = status is None or (bool(status.path) and PurePosixPath(status.path).name == "name")
    with TemporaryDirectory() as directory:
        for fs in filesystems(directory):
            builder: Any = fs.open_file(path)
            for method, *arguments in calls:
                builder = getattr(builder, method)(*arguments)
            if wanted.refusals:
                with pytest.raises(IllegalArgumentException):
                    builder.build()
                continue
            for future in (builder.build(), builder.build()):
                if not named:
                    assert isinstance(future.exception(), IllegalArgumentException)
                    continue
                with future.result() as stream:
                    assert rest_of(stream) == DATA[:length]
                    buffer = bytearray(10)
                    count = max(0, stream.pread(35, buffer))
                    assert buffer[:count] == DATA[35:length][:10]


@given(st.dictionaries(KEYS.map(JOB_OPTIONAL.__add__) | KEYS.map(JOB_MANDATORY.__add__), TEXTS))
def test_a_job_sets_optional_keys_and_then_mandatory_ones(configuration: dict[str, str]) -> None:
    builders = [Builder("/name", lambda path, options: MemoryInputStream(b"")) for _ in range(2)]
    propagate_options(builders[0], configuration)
    for prefix, method in ((JOB_OPTIONAL, "opt"), (JOB_MANDATORY, "must")):
        for key in filter(lambda key: key.startswith(prefix), configuration):
            getattr(builders[1], method)(key.removeprefix(prefix), configuration[key])
    first, second = (vars(builder) for builder in builders)
    assert {**first, "_opener": None} == {**second, "_opener": None}


@pytest.mark.parametrize("key", ["fs.\0", "\ud800", "fs.\nx", "k" * 10**6])
def test_a_refusal_is_one_short_printable_line(key: str) -> None:
    """For any key."""
    builder = Builder("/name", lambda path, options: MemoryInputStream(b"")).must(key, "x")
    with pytest.raises(IllegalArgumentException) as caught:
        builder.build()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500
