"""The file splitter: files found, cut into blocks, and planned window by window."""

from fscontract.contract.models.splitter import BlockRecord, FileRecord
from fscontract.contract.pipeline_bindings import (
    FedSplitter,
    FindingSplitter,
    Splitter,
    SplitterBinding,
    SplitterSettings,
)
from fscontract.pipeline.blocks import BlockMetadata, FileBlockMetadata, FileInfo, FileMetadata
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from fscontract.pipeline.splitter.clock import Clock, ManualClock, SystemClock
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import (
    MissingInput,
    ReferenceTimes,
    ScannedFileInfo,
    Scanner,
    TimeBasedDirectoryScanner,
)
from fscontract.pipeline.splitter.splitter import AbstractFileSplitter, FileSplitterBase
from fscontract.pipeline.splitter.windows import FSWindowStore, NoopWindowStore, WindowStore

__all__ = [
    "AbstractFileSplitter",
    "BlockMetadata",
    "BlockRecord",
    "Clock",
    "FSWindowStore",
    "FedSplitter",
    "FileBlockMetadata",
    "FileInfo",
    "FileMetadata",
    "FileRecord",
    "FileSplitterBase",
    "FileSplitterInput",
    "FindingSplitter",
    "LocalSplitterBinding",
    "ManualClock",
    "MissingInput",
    "NoopWindowStore",
    "ReferenceTimes",
    "ScannedFileInfo",
    "Scanner",
    "Splitter",
    "SplitterBinding",
    "SplitterSettings",
    "SystemClock",
    "TimeBasedDirectoryScanner",
    "WindowStore",
]
