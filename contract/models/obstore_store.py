"""Model of what the stores of obstore return; coroutines have the same rules as their twins."""

from __future__ import annotations

from functools import partial

from fscontract.contract.models.filesystem_rules import (
    ANY_ERROR,
    MISSING,
    Rule,
    RuleTable,
    named,
    operations,
    prefixes,
    sliced,
)


def _range(group: str, data: bytes, begin: int, end: int) -> Rule:
    """Return the rule of a range with two limits."""
    size = len(data)
    if begin == end or begin > size:
        return Rule(f"store.{group}.empty", (), ANY_ERROR)
    if begin > end or begin == size:  # not documented
        return Rule(f"store.{group}.empty", (b"",), ANY_ERROR)
    name = "past-end" if end > size else "range"
    return Rule(f"store.{group}.{name}", (sliced(data, begin, end),))


def _get(data: bytes, begin: int | None, end: int | None, waits: str) -> Rule:
    if begin is None or end is None:
        name = "whole" if begin is None else "offset"
        kinds = ANY_ERROR if (begin or 0) >= len(data) > 0 else frozenset()
        return Rule(f"store.get.{name}", (sliced(data, begin, None),), kinds)
    return _range("get", data, begin, end)


def _get_suffix(data: bytes, count: int, waits: str) -> Rule:
    kinds = frozenset() if data and count > 0 else ANY_ERROR
    return Rule("store.get.suffix", (data[max(len(data) - count, 0) :],), kinds)


def _get_result(data: bytes, begin: int | None, end: int | None, part: str, waits: str) -> Rule:
    low, high = begin or 0, min(len(data) if end is None else end, len(data))
    kinds = frozenset() if low < high or (begin, end) == (None, None) else ANY_ERROR
    right = len(data) if part == "size" else (low, high)
    return Rule(f"store.result.{part}", (right,), kinds)


def _stream(data: bytes, count: int, waits: str) -> Rule:
    return Rule("store.stream", (sliced(data, None, None),))


def _get_range(data: bytes, begin: int, end: int, given: str, waits: str) -> Rule:
    return _range("get-range", data, begin, end)


def _get_ranges(
    data: bytes, begins: tuple[int, ...], ends: tuple[int, ...], given: str, waits: str
) -> Rule:
    pairs = [*zip(begins, ends, strict=False)]
    inside = all(0 <= low < high <= len(data) for low, high in pairs)
    name = "data" if inside else "past-end"
    parts = tuple(sliced(data, low, high) for low, high in pairs)
    clause, of_data = f"store.get-ranges.{name}", "store.get-ranges.data"
    return Rule(clause, (parts,), should=not inside, of_data=of_data)


def _head(data: bytes, waits: str) -> Rule:
    return Rule("store.head.size", (len(data),))


def _missing(data: bytes, method: str, waits: str) -> Rule:
    return Rule("store.missing", (), MISSING)


def _reader(data: bytes, at: int, count: int | None, waits: str) -> Rule:
    if count is None:
        return Rule("store.reader.rest", (sliced(data, at, None),))
    return Rule("store.reader.data", prefixes(sliced(data, at, at + count)))


def _reader_size(data: bytes, waits: str) -> Rule:
    return Rule("store.reader.size", (len(data),))


_named = partial(named, "store")
RULES: RuleTable = {
    "ob_get": (_get, _named("get", "whole", "offset", "range", "empty", "past-end")),
    "ob_get_suffix": (_get_suffix, _named("get", "suffix")),
    "ob_get_result": (_get_result, _named("result", "range", "size")),
    "ob_stream": (_stream, ("store.stream",)),
    "ob_get_range": (_get_range, _named("get-range", "range", "empty", "past-end")),
    "ob_get_ranges": (_get_ranges, _named("get-ranges", "data", "past-end")),
    "ob_head": (_head, _named("head", "size")),
    "ob_missing": (_missing, ("store.missing",)),
    "ob_reader": (_reader, _named("reader", "data", "rest")),
    "ob_reader_size": (_reader_size, _named("reader", "size")),
}
TABLES = operations(RULES)
