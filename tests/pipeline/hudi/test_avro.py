"""Tests that the package's record decoder equals fastavro's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.pipeline.hudi import record_codec
from fscontract.pipeline.hudi.record_codec import decode_own, decoder, encode_record
from fscontract.pipeline.hudi.records import (
    ALL_PARTITIONS,
    GONE,
    ColumnStatistics,
    FileEntry,
    FilesRecord,
    Record,
)
from fscontract.pipeline.hudi.schema import TYPED_JSON, UNTYPED_JSON

LONGS = st.integers(-(2**63), 2**63 - 1)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "BooleanWrapper": st.booleans(),
    "IntWrapper": st.integers(-(2**31), 2**31 - 1),
    "LongWrapper": LONGS,
    "FloatWrapper": st.floats(width=32),
    "DoubleWrapper": st.floats(),
    "BytesWrapper": st.binary(),
    "StringWrapper": st.text(),
    "DateWrapper": st.integers(-(2**31), 2**31 - 1),
    "DecimalWrapper": st.decimals(-(10**14), 10**14, places=15),
    "TimeMicrosWrapper": st.times(),
    "TimestampMicrosWrapper": LONGS,
    "LocalDateWrapper": st.integers(-(2**31), 2**31 - 1),
}
_COUNTS = st.none() | st.integers(0, 2**63 - 1)


@st.composite
def statistics(draw: st.DrawFn) -> ColumnStatistics:
    """Draw statistics of any kind."""
    wrapper = draw(st.sampled_from([None, *_VALUES]))
    bounds = (None, None)
    if wrapper is not None:
        bounds = (draw(st.none() | _VALUES[wrapper]), draw(st.none() | _VALUES[wrapper]))
    counts = draw(st.tuples(_COUNTS, _COUNTS, _COUNTS, _COUNTS))
    flags = draw(st.tuples(st.booleans(), st.booleans()))
    names = draw(st.tuples(st.text(max_size=200), st.text(max_size=3)))
    return ColumnStatistics("k", *names, wrapper, *bounds, *counts, *flags)


FILES = st.dictionaries(
    st.text(max_size=100), st.builds(FileEntry, LONGS) | st.just(GONE), max_size=130
)
RECORDS: st.SearchStrategy[Record] = statistics() | st.builds(
    FilesRecord, st.sampled_from(["k", ALL_PARTITIONS]), FILES
)


def slowly(record: Record) -> Record | None:
    """Decode with fastavro: an extra blank hides that the schema is the package's own."""
    return decoder((UNTYPED_JSON + " ").encode())(record.key.encode(), encode_record(record))


@given(RECORDS)
def test_record_equals_that_of_fastavro(record: Record) -> None:
    assert decoder(None)(record.key.encode(), encode_record(record)) == slowly(record)


@pytest.mark.parametrize(
    "record",
    [
        FilesRecord("k", {"f": FileEntry(1), "g": GONE}),
        ColumnStatistics("k", "f", "c", "LongWrapper", 1, 2, 3, 0),
        ColumnStatistics("k", "f", "c"),
    ],
    ids=["files", "bounds", "nothing"],
)
def test_fastavro_is_not_used(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """For nearly all records."""
    encoded = encode_record(record)
    wanted = slowly(record)

    def asked(*args: Any) -> Any:
        raise AssertionError("fastavro was asked")

    monkeypatch.setattr(record_codec, "_decoded", asked)
    assert decoder(None)(b"k", encoded) == wanted


@given(RECORDS, st.data())
def test_damage_is_an_error_or_another_record(record: Record, data: st.DataObject) -> None:
    """No other exception, and no huge allocation."""
    encoded = bytearray(encode_record(record))
    change: Callable[[], None] = data.draw(
        st.sampled_from(
            [
                lambda: encoded.append(0),
                lambda: encoded.__delitem__(slice(data.draw(st.integers(0, len(encoded))), None)),
                lambda: encoded.__setitem__(
                    data.draw(st.integers(0, len(encoded) - 1)), data.draw(st.integers(0, 255))
                ),
            ]
        )
    )
    change()
    try:
        decode_own("k", bytes(encoded))
    except ValueError as error:
        assert "'k'" in str(error)  # noqa: PT017


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("length", range(4))
def test_truncated_record_is_rejected(length: int, typed: bool) -> None:
    encoded = encode_record(FilesRecord("k", {"file": FileEntry(300)}), typed)
    decode = decoder((TYPED_JSON if typed else UNTYPED_JSON).encode())
    for end in (length + 1, len(encoded) - 1 - length):
        with pytest.raises(ValueError, match="'k'"):
            decode(b"k", encoded[:end])
