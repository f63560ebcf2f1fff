"""The function of every task. It is sent as code, not by its name, so that it can say what is wrong
with an executor that has no fscontract, or another one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def run_slice(
    version: str, slices: list[bytes], index: int, _rows: Iterable[object]
) -> Iterator[tuple[str, str, str | bytes]]:
    """Run the slice of one task: ("done", where, what came of it), or ("unfit", where, why)."""
    import socket
    import sys
    from importlib import import_module

    where = f"{sys.executable} on {socket.gethostname()}"
    try:
        fscontract = import_module("fscontract")
        found = getattr(fscontract, "__version__", "of no version")
        if found != version:
            yield "unfit", where, f"fscontract {found} ({fscontract.__file__})"
            return
        from fscontract.implementations.spark.executor_reads import run
    except ImportError as error:
        yield "unfit", where, f"{type(error).__name__}: {error}"
        return
    yield "done", where, run(slices[index])


def run_batches(version: str, slices: list[bytes], batches: Iterable[Any]) -> Iterator[Any]:
    """`run_slice` for rows that are the numbers of slices, as Arrow has them."""
    import pyarrow as pa

    for batch in batches:
        for index in batch.column(0).to_pylist():
            for state, where, what in run_slice(version, slices, index, ()):
                data = what if isinstance(what, bytes) else what.encode()
                columns = [[index], [state], [where], [data]]
                types = [pa.int64(), pa.string(), pa.string(), pa.binary()]
                arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, ["index", "state", "place", "data"])
