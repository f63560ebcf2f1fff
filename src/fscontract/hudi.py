"""Hudi tables: snapshots of rows; and files and column statistics without directory listings.

Needs the extra `metadata` (`pip install 'fscontract[metadata]'`).
"""

from fscontract.contract.pipeline_bindings import (
    DATASET,
    CheckedListing,
    CheckedTableReader,
    CheckedWriter,
    MetadataTableBinding,
    Statistics,
    TableChange,
    TableSettings,
)
from fscontract.pipeline.hudi.changes import Change
from fscontract.pipeline.hudi.io import (
    CorruptFileException,
    LockedException,
    MetadataException,
    MetadataWarning,
    RolledBackException,
)
from fscontract.pipeline.hudi.listing import FileListing, spark_files, spark_lister
from fscontract.pipeline.hudi.locks import LOCKS, FileLock, LockProvider
from fscontract.pipeline.hudi.metrics import Metrics
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.record_index import RecordLocation
from fscontract.pipeline.hudi.snapshot import base_files, read
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter

__all__ = [
    "DATASET",
    "LOCKS",
    "Change",
    "CheckedListing",
    "CheckedTableReader",
    "CheckedWriter",
    "CorruptFileException",
    "FileListing",
    "FileLock",
    "Filter",
    "LockProvider",
    "LockedException",
    "MetadataException",
    "MetadataTable",
    "MetadataTableBinding",
    "MetadataWarning",
    "MetadataWriter",
    "Metrics",
    "RecordLocation",
    "RolledBackException",
    "Statistics",
    "TableChange",
    "TableSettings",
    "base_files",
    "read",
    "spark_files",
    "spark_lister",
]
