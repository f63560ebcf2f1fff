"""The files below the inputs, split as the options have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fscontract.contract.ports import FileStatus, FileSystem
from fscontract.pipeline.blockreader.compressed import codec_of
from fscontract.pipeline.blocks import FileInfo, FileMetadata
from fscontract.pipeline.datasource.errors import SourceException
from fscontract.pipeline.datasource.request import Request
from fscontract.pipeline.splitter.references import ScannedFileInfo
from fscontract.pipeline.splitter.scanner import TimeBasedDirectoryScanner
from fscontract.pipeline.splitter.splitter import AbstractFileSplitter


def find_files(fs: FileSystem, request: Request) -> list[ScannedFileInfo]:
    """The files below the inputs, each once, in the order of the listings; SourceException."""
    scanner = TimeBasedDirectoryScanner(fs, request.paths, **scanner_options(request.values))
    found: dict[str, ScannedFileInfo] = {}
    scanner.start()
    try:
        while True:
            scanner.settle()
            ended = bool(scanner.scans)
            while (info := scanner.take()) is not None:
                if not info.status.is_directory:
                    found.setdefault(info.status.path, info)
            if ended:
                break
    finally:
        scanner.stop()
    if (notice := scanner.notice()) is not None:
        raise SourceException(str(notice))
    return list(found.values())


def scanner_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a scanner."""
    return {
        "recursive": values["recursive"],
        "file_pattern": values["filePattern"],
        "ignore_pattern": values["ignorePattern"],
    }


def accepts(fs: FileSystem, request: Request) -> Callable[[FileStatus], bool]:
    """Which files the options ask for, by their names."""
    return TimeBasedDirectoryScanner(fs, request.paths, **scanner_options(request.values)).accepts


class AsConfigured:
    """The part of a splitter that goes by the options: headers, and files that are compressed."""

    request: Request

    def get_data_offset(self, info: FileInfo, status: FileStatus) -> int:
        """Where the data of the file starts; SourceException for a compressed one with a header."""
        offset: int = self.request.values["dataOffset"]
        if offset and codec_of(info.path, self.request.compression) is not None:
            raise SourceException(f"option 'dataOffset' is not for compressed files: {info.path!r}")
        return offset

    def get_block_size(self, info: FileInfo, status: FileStatus) -> int:
        """The whole length of a compressed file, which can't be split."""
        if codec_of(info.path, self.request.compression) is not None:
            return max(1, status.length)
        size: int = super().get_block_size(info, status)  # type: ignore[misc]
        return size


class PlanningSplitter(AsConfigured, AbstractFileSplitter):
    """Makes the metadata of files that were found, with the ids of their blocks."""

    def __init__(self, request: Request, block_size: int) -> None:
        super().__init__(block_size=block_size)
        self.request = request

    def split(self, infos: Iterable[ScannedFileInfo]) -> list[FileMetadata]:
        """The metadata of the files, in their order."""
        return [self.build_file_metadata(info) for info in infos]

    def get_file_info(self) -> FileInfo | None:
        """None: it is told which files there are."""
        return None

    def get_default_block_size(self) -> int:
        """The size it was made with."""
        assert self.block_size is not None
        return self.block_size

    def get_file_status(self, info: FileInfo) -> FileStatus:
        """The status that the listing gave."""
        assert isinstance(info, ScannedFileInfo)
        return info.status
