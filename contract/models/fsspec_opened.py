"""Model of what an fsspec filesystem reads from files that are opened with options, or by URL."""

from __future__ import annotations

from functools import partial

from fscontract.contract.models.filesystem_rules import (
    Rule,
    RuleTable,
    content_of,
    named,
    operations,
    sliced,
)
from fscontract.contract.program.filesystem_calls import GLOB, OTHER, reads_of


def cached_reads(data: bytes) -> tuple[bytes, ...]:
    """Return the bytes that `fs_open_cached` reads: the first one, and those of its ranges."""
    reads = ((0, 1), *reads_of(len(data)))
    return tuple(sliced(data, at, None if count is None else at + count) for at, count in reads)


def _cached(data: bytes, cache: str, block: str) -> Rule:
    return Rule("filesystem.open.cache-type", (cached_reads(data),))


def _decompress(data: bytes, codec: str, chosen: str, opener: str, reading: str) -> Rule:
    if opener == "OpenFile":
        clause = "open-file.text" if reading == "text" else f"open-file.{chosen}"
    else:
        clause = "open.text" if reading == "text" else f"open.{chosen}"
    value = OTHER.decode() if reading == "text" else OTHER
    return Rule(f"filesystem.decompress.{clause}", (value,))


def _urls(data: bytes, paths: str | tuple[str, ...]) -> Rule:
    if isinstance(paths, tuple):
        contents = tuple(content_of(data, path) for path in paths)
        return Rule("filesystem.open-files.list", (contents,))
    if paths == GLOB:
        return Rule("filesystem.open-files.glob", ((OTHER,),))
    return Rule("filesystem.open-files.one", ((content_of(data, paths),),))


_named = partial(named, "filesystem")
_DECOMPRESS = tuple(
    f"{opener}.{kind}" for opener in ("open", "open-file") for kind in ("named", "infer", "text")
)
RULES: RuleTable = {
    "fs_open_cached": (_cached, _named("open", "cache-type")),
    "fs_decompress": (_decompress, _named("decompress", *_DECOMPRESS)),
    "fs_open_urls": (_urls, _named("open-files", "one", "list", "glob")),
}
TABLES = operations(RULES)
