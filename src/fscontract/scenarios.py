"""Scenarios of parts of pipelines: the harnesses that drive a part, as in scripts of failures.

A harness makes files, calls the part through its binding, and compares results with the contract.
"""

from fscontract.contract.models.blockreader import Block, Delivered, Layout, split_blocks
from fscontract.contract.pipeline_bindings import Statistics, TableChange
from fscontract.contract.scenarios.blockreader.harness import (
    ManualClock,
    ReaderHarness,
    SparseBytes,
)
from fscontract.contract.scenarios.instrumented_filesystem import Killed
from fscontract.contract.scenarios.metadata_table.harness import TableHarness
from fscontract.contract.scenarios.splitter.harness import SplitterHarness
from fscontract.contract.scenarios.trace import play

__all__ = [
    "Block",
    "Delivered",
    "Killed",
    "Layout",
    "ManualClock",
    "ReaderHarness",
    "SparseBytes",
    "SplitterHarness",
    "Statistics",
    "TableChange",
    "TableHarness",
    "play",
    "split_blocks",
]
