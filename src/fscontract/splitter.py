"""The file splitter: files found, cut into blocks, and planned window by window."""

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
    "Clock",
    "FSWindowStore",
    "FileBlockMetadata",
    "FileInfo",
    "FileMetadata",
    "FileSplitterBase",
    "FileSplitterInput",
    "LocalSplitterBinding",
    "ManualClock",
    "MissingInput",
    "NoopWindowStore",
    "ReferenceTimes",
    "ScannedFileInfo",
    "Scanner",
    "SystemClock",
    "TimeBasedDirectoryScanner",
    "WindowStore",
]
