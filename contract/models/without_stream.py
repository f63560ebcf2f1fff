"""The rules and tables of all calls that read without an opened stream."""

from __future__ import annotations

from typing import Any

from fscontract.contract.models import (
    filesystem_rules,
    fsspec_async,
    fsspec_chain,
    fsspec_filesystem,
    fsspec_listings,
    fsspec_opened,
    obstore_store,
    opendal_operator,
    pyarrow_filesystem,
    readers,
)
from fscontract.contract.models.stream_state import State
from fscontract.contract.program.program import Step

RULES: filesystem_rules.RuleTable = {
    **fsspec_filesystem.RULES,
    **fsspec_listings.RULES,
    **fsspec_opened.RULES,
    **fsspec_async.RULES,
    **fsspec_chain.RULES,
    **pyarrow_filesystem.RULES,
    **obstore_store.RULES,
    **opendal_operator.RULES,
    **readers.RULES,
}
TABLES = {
    **fsspec_filesystem.TABLES,
    **fsspec_listings.TABLES,
    **fsspec_opened.TABLES,
    **fsspec_async.TABLES,
    **fsspec_chain.TABLES,
    **pyarrow_filesystem.TABLES,
    **obstore_store.TABLES,
    **opendal_operator.TABLES,
    **readers.TABLES,
}


def right_values(step: Step, state: State) -> tuple[Any, ...]:
    """Return the values that a call without anchors may return; none of other operations."""
    return filesystem_rules.right_values(RULES, step, state)
