"""Entry function of every Spark task.

It is sent as code, not by name, so that it can report executors where fscontract is missing or has
another version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def run_slice(
    version: str, slices: list[bytes], index: int, _rows: Iterable[object]
) -> Iterator[tuple[str, str, str | bytes]]:
    """Run the slice of one task.

    Yield ("done", place, result), or ("unfit", place, reason) if fscontract does not match.
    """
    import importlib
    import socket
    import sys

    where = f"{sys.executable} on {socket.gethostname()}"
    try:
        package = importlib.import_module("fscontract")  # may be another version
        present = getattr(package, "__version__", "of unknown version")
        if present != version:
            yield "unfit", where, f"fscontract {present} ({package.__file__})"
            return
        from fscontract.implementations.spark.executor_reads import run
    except ImportError as error:
        yield "unfit", where, f"{type(error).__name__}: {error}"
        return
    yield "done", where, run(slices[index])


def run_batches(version: str, slices: list[bytes], batches: Iterable[Any]) -> Iterator[Any]:
    """Run `run_slice` for Arrow batches whose rows are slice numbers."""
    import pyarrow as pa

    for batch in batches:
        for index in batch.column(0).to_pylist():
            for state, where, what in run_slice(version, slices, index, ()):
                data = what if isinstance(what, bytes) else what.encode()
                columns = [[index], [state], [where], [data]]
                types = [pa.int64(), pa.string(), pa.string(), pa.binary()]
                arrays = [pa.array(c, t) for c, t in zip(columns, types, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, ["index", "state", "place", "data"])
