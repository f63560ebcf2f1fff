"""Model of what a filesystem of fsspec in front of another one reads."""

from __future__ import annotations

from fscontract.contract.models.filesystem_rules import (
    MISSING,
    Rule,
    RuleTable,
    named,
    operations,
)
from fscontract.contract.program.filesystem_calls import CHAIN_CONTENT, FIRST_READS


def _checked(data: bytes, change: str) -> Rule:
    return Rule("chain.checked.changed", ("new",))


def _deleted(data: bytes) -> Rule:
    return Rule("chain.checked.deleted", (), MISSING, should=True)


def _unchecked(data: bytes, change: str) -> Rule:
    return Rule("chain.unchecked.one-version", ("old", "new"), should=True)


def _expired(data: bytes, change: str) -> Rule:
    return Rule("chain.expired.changed", ("new",))


def _first(data: bytes) -> Rule:
    return Rule("chain.first-read", (CHAIN_CONTENT,))


def _threads(data: bytes) -> Rule:
    return Rule("chain.simplecache.threads", (CHAIN_CONTENT,))


def _cache_threads(data: bytes) -> Rule:
    return Rule("chain.threads", (CHAIN_CONTENT,), should=True)


def _directory(data: bytes) -> Rule:
    return Rule("chain.directory", (CHAIN_CONTENT,))


RULES: RuleTable = {
    **{f"fs_chain_first_{method}": (_first, ("chain.first-read",)) for method in FIRST_READS},
    "fs_chain_checked": (_checked, named("chain", "checked", "changed")),
    "fs_chain_deleted": (_deleted, named("chain", "checked", "deleted")),
    "fs_chain_unchecked": (_unchecked, named("chain", "unchecked", "one-version")),
    "fs_chain_expired": (_expired, named("chain", "expired", "changed")),
    "fs_chain_threads": (_threads, ("chain.simplecache.threads",)),
    "fs_chain_cache_threads": (_cache_threads, ("chain.threads",)),
    "fs_chain_directory": (_directory, ("chain.directory",)),
}
TABLES = operations(RULES)
