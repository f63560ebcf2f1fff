"""Model of what an asynchronous filesystem of fsspec reads.

A coroutine has the results of the call without the underscore, under separate clauses.
"""

from __future__ import annotations

from typing import Any

from fscontract.contract.models import fsspec_filesystem
from fscontract.contract.models.filesystem_rules import (
    ANY_ERROR,
    Rule,
    Rules,
    RuleTable,
    named,
    operations,
    sliced,
)
from fscontract.contract.program.outcome import Kind

#: Clauses of the calls about missing files.
_ERRORS = frozenset({"missing", "return", "raise", "omit"})


def _awaited(op: str, method: str) -> Rules:
    """Return the rules of an operation for its coroutine."""
    rules = fsspec_filesystem.RULES[op][0]

    def run(data: bytes, *args: Any) -> Rule:
        rule = rules(data, *args)
        errors = rule.clause.rpartition(".")[2] in _ERRORS
        name = "errors" if errors else "limits" if rule.should else "data"
        of_data = f"async.{method}.data" if rule.of_data else ""
        return rule._replace(clause=f"async.{method}.{name}", of_data=of_data)

    return run


def _info(data: bytes, key: str) -> Rule:
    return fsspec_filesystem.RULES["fs_info"][0](data, key)._replace(clause="async.info")


def _read(data: bytes, count: int | None) -> Rule:
    return Rule("async.open.data", (sliced(data, None, None),))


def _seek(data: bytes, at: int) -> Rule:
    return Rule("async.open.seek", (sliced(data, at, None),), ANY_ERROR)


def _closed(data: bytes) -> Rule:
    return Rule("async.open.closed", (), frozenset({Kind.ILLEGAL_ARGUMENT}), True)


RULES: RuleTable = {
    "fs_async_cat_file": (
        _awaited("fs_cat_file", "cat-file"),
        named("async", "cat-file", "data", "limits"),
    ),
    "fs_async_cat_missing": (
        _awaited("fs_cat_missing", "cat-file"),
        named("async", "cat-file", "errors"),
    ),
    "fs_async_cat_ranges": (
        _awaited("fs_cat_ranges", "cat-ranges"),
        named("async", "cat-ranges", "data", "limits", "errors"),
    ),
    "fs_async_cat": (_awaited("fs_cat", "cat"), named("async", "cat", "data", "errors")),
    "fs_async_info": (_info, ("async.info",)),
    "fs_async_read": (_read, named("async", "open", "data")),
    "fs_async_seek": (_seek, named("async", "open", "seek")),
    "fs_async_closed": (_closed, named("async", "open", "closed")),
}
TABLES = operations(RULES)
