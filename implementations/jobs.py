"""Opening a job's input: its configuration as options, and waiting for the stream (FutureIO)."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from fscontract.contract.openfile_options import JOB_MANDATORY, JOB_OPTIONAL
from fscontract.contract.ports import FutureDataInputStreamBuilder

T = TypeVar("T")


def propagate_options(
    builder: FutureDataInputStreamBuilder[Any],
    configuration: Mapping[str, str],
    optional_prefix: str = JOB_OPTIONAL,
    mandatory_prefix: str = JOB_MANDATORY,
) -> None:
    """Set what stands below the prefixes: `opt` for the one, then `must` for the other.

    So a key that is below both is mandatory. A prefix may lack its final dot. (Passing options in
    to MapReduce)
    """
    for prefix, setter in ((optional_prefix, builder.opt), (mandatory_prefix, builder.must)):
        start = f"{prefix.rstrip('.')}."
        for key, value in configuration.items():
            if key.startswith(start):
                setter(key.removeprefix(start), value)


def await_future(future: Future[T], timeout: float | None = None) -> T:
    """The future's result, or its exception itself; TimeoutError after `timeout` seconds.

    None waits for ever. The open goes on after a TimeoutError, so the future can be waited for
    again.
    """
    if not wait([future], timeout).done:
        raise TimeoutError(f"no result within {timeout} seconds")
    return future.result()
