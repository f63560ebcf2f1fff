"""Model of `get` of an fsspec filesystem, which copies files to local paths.

The result of a copy is a tuple of pairs of a local path and its bytes, in order.
"""

from __future__ import annotations

from functools import partial

from fscontract.contract.models.filesystem_rules import (
    MISSING,
    Rule,
    RuleTable,
    named,
    operations,
)
from fscontract.contract.program.filesystem_calls import COPIES, TREE_FILES
from fscontract.contract.program.outcome import IO_KINDS

_CLAUSES = {
    "file": "file",
    "file into directory": "file-into-directory",
    "file into new directory": "file-into-directory",
    "lists": "lists",
    "list into directory": "list-into-directory",
    "directory": "directory",
    "directory into directory": "directory",
    "content of directory": "directory",
    "pattern": "glob",
}


def _get(data: bytes, copied: str) -> Rule:
    files = {**TREE_FILES, "file": bytes(data)}
    pairs = tuple((local, files[source]) for local, source in COPIES[copied].items())
    # a target may be unable to create a directory
    kinds = IO_KINDS if copied == "file into new directory" else frozenset()
    return Rule(f"filesystem.get.{_CLAUSES[copied]}", (pairs,), kinds)


def _missing(data: bytes) -> Rule:
    return Rule("filesystem.get.missing", (), MISSING, True)


def _leaves(data: bytes) -> Rule:
    return Rule("filesystem.get.leaves-nothing", (False,), should=True)


_named = partial(named, "filesystem", "get")
RULES: RuleTable = {
    "fs_get": (_get, _named(*dict.fromkeys(_CLAUSES.values()))),
    "fs_get_missing": (_missing, _named("missing")),
    "fs_get_missing_leaves": (_leaves, _named("leaves-nothing")),
}
TABLES = operations(RULES)
