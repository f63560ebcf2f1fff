"""Model of what the operators of OpenDAL return, and the files that they open.

Operators and asynchronous operators have the same rules.
"""

from __future__ import annotations

from functools import partial

from fscontract.contract.models.filesystem_rules import (
    ANY_ERROR,
    Rule,
    RuleTable,
    content_of,
    named,
    operations,
    prefixes,
    sliced,
)


def _read(data: bytes, at: int | None, count: int | None, waits: str) -> Rule:
    if at is None and count is None:
        return Rule("operator.read.whole", (sliced(data, None, None),))
    low = at or 0
    past = low + (1 if count is None else count) > len(data)
    end = None if count is None else low + count
    name = "past-end" if past else "range"
    return Rule(f"operator.read.{name}", (sliced(data, low, end),), should=True)


def _missing(data: bytes, waits: str) -> Rule:
    return Rule("operator.read.missing", (), ANY_ERROR, should=True)


def _file(data: bytes, at: int, count: int | None, waits: str) -> Rule:
    if at > len(data):
        return Rule("operator.file.past-end", (b"",), ANY_ERROR)
    if count is None:
        return Rule("operator.file.rest", (sliced(data, at, None),))
    return Rule("operator.file.data", prefixes(sliced(data, at, at + count)))


def _seek(data: bytes, at: int, waits: str) -> Rule:
    return Rule("operator.file.position", (at,))


def _stat(data: bytes, waits: str) -> Rule:
    return Rule("operator.stat.length", (len(data),))


def _exists(data: bytes, path: str, waits: str) -> Rule:
    there = content_of(data, path) is not None
    return Rule(f"operator.exists.{'file' if there else 'missing'}", (there,))


_named = partial(named, "operator")
RULES: RuleTable = {
    "od_read": (_read, _named("read", "whole", "range", "past-end")),
    "od_missing": (_missing, _named("read", "missing")),
    "od_file": (_file, _named("file", "data", "rest", "past-end")),
    "od_seek": (_seek, _named("file", "position")),
    "od_stat": (_stat, _named("stat", "length")),
    "od_exists": (_exists, _named("exists", "file", "missing")),
}
TABLES = operations(RULES)
