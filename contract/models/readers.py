"""Model of files that the readers of other libraries read.

A call returns True if it read everything as it was written, else a description of what differs.
"""

from __future__ import annotations

from fscontract.contract.models.filesystem_rules import Rule, Rules, RuleTable, operations


def _as_written(clause: str) -> Rules:
    return lambda _data, _seed, _rows: Rule(clause, (True,))


_CLAUSES = {
    "lib_parquet": "readers.parquet.row-groups",
    "lib_csv": "readers.csv.columns",
    "lib_zip": "readers.zip.members",
    "lib_zarr_chunks": "readers.zarr.chunks",
    "lib_zarr_shards": "readers.zarr.shards",
    "lib_zarr_missing": "readers.zarr.missing-chunks",
}
RULES: RuleTable = {op: (_as_written(clause), (clause,)) for op, clause in _CLAUSES.items()}
TABLES = operations(RULES)
