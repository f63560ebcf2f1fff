"""The options of `open_file()`, their keys, and options of a job's configuration."""

from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    JOB_MANDATORY,
    JOB_OPTIONAL,
    LENGTH,
    READ_POLICY,
    SPLIT_END,
    SPLIT_START,
)
from fscontract.implementations.openfile_builder import await_future, propagate_options

__all__ = [
    "BUFFER_SIZE",
    "FOOTER_CACHE",
    "JOB_MANDATORY",
    "JOB_OPTIONAL",
    "LENGTH",
    "READ_POLICY",
    "SPLIT_END",
    "SPLIT_START",
    "await_future",
    "propagate_options",
]
