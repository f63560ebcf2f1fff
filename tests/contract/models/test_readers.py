"""Rules of files that the readers of other libraries read."""

from __future__ import annotations

import pytest

from fscontract.contract.program.outcome import Kind
from tests.contract.models.without_stream_calls import judged


@pytest.mark.parametrize(
    ("op", "clause"),
    [
        ("lib_parquet", "readers.parquet.row-groups"),
        ("lib_csv", "readers.csv.columns"),
        ("lib_zip", "readers.zip.members"),
        ("lib_zarr_chunks", "readers.zarr.chunks"),
        ("lib_zarr_shards", "readers.zarr.shards"),
        ("lib_zarr_missing", "readers.zarr.missing-chunks"),
    ],
)
def test_values_other_than_the_written_ones_and_exceptions_are_failures(
    op: str, clause: str
) -> None:
    right = judged(op, 1, 5, gives=True)
    assert (right.exercised, right.failure) == ((clause,), None)
    differs = judged(op, 1, 5, gives="column text: other values").failure
    raises = judged(op, 1, 5, raises=Kind.OTHER).failure
    assert differs is not None
    assert raises is not None
    assert (differs.clause, raises.clause, raises.aspect) == (clause, clause, "raised")
