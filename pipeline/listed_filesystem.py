"""A filesystem whose directories were listed before, for example on executors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from fscontract.contract.api.errors import FileNotFoundException, IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.implementations.filesystem_base import normalize
from fscontract.implementations.spark.tasks import Tasks
from fscontract.pipeline.blocks import bare_path
from fscontract.pipeline.hudi.listing import files_by


class ListedFileSystem:
    """Answers listings and statuses from `files`, and everything else from `filesystem`.

    `files` has the files of each directory below `root`, by relative name. Directories without
    files are missing.
    """

    def __init__(
        self, filesystem: FileSystem, root: str, files: Mapping[str, Sequence[FileStatus]]
    ) -> None:
        self._filesystem = filesystem
        self._root = root
        self._children: dict[str, dict[str, FileStatus]] = {root: {}}
        for name, statuses in files.items():
            directory = self._add_directory(name)
            self._children[directory].update((status.path, status) for status in statuses)

    def _add_directory(self, name: str) -> str:
        """Add a directory and its parents; return its path."""
        path = self._root
        for element in filter(None, name.split("/")):
            parent, path = path, f"{path.rstrip('/')}/{element}"
            self._children.setdefault(path, {})
            self._children[parent][path] = FileStatus(path, 0, is_directory=True)
        return path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._filesystem, name)

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """Yield the children of a directory, sorted by path."""
        children = self._children.get(path)
        if children is None:
            return self._filesystem.list_status(path)
        return iter([children[name] for name in sorted(children)])

    def get_file_status(self, path: str) -> FileStatus:
        """Return a listed status, or that of the filesystem."""
        known = self._children.get(path.rpartition("/")[0] or "/", {}).get(path)
        return self._filesystem.get_file_status(path) if known is None else known


#: Files by the directory that was listed, and by relative directory.
Listing: TypeAlias = dict[str, dict[str, list[FileStatus]]]


def list_on_executors(tasks: Tasks, filesystem: FileSystem, paths: Sequence[str]) -> Any:
    """Return the filesystem with the listings of these directories, made by tasks."""
    return with_listing(filesystem, listing_of(tasks, filesystem, paths))


def with_listing(filesystem: FileSystem, listing: Listing) -> Any:
    """Return the filesystem with the listings of some directories."""
    listed: Any = filesystem
    for root, files in listing.items():
        listed = ListedFileSystem(listed, root, files)
    return listed


def listing_of(tasks: Tasks, filesystem: FileSystem, paths: Sequence[str]) -> Listing:
    """Return the files below these directories, listed by tasks; skip files and missing paths."""
    listing = {}
    for path in paths:
        root = normalize(bare_path(path))
        try:
            is_directory = filesystem.get_file_status(root).is_directory
        except FileNotFoundException:
            continue
        if is_directory:
            listing[root] = files_by(tasks, filesystem, root, skip=None)
    return listing


def dump_listing(listing: Listing, file: Path) -> None:
    """Write a listing as JSON."""
    data = {
        root: {
            directory: [
                [s.path, s.length, s.modification_time, s.etag, s.block_size] for s in found
            ]
            for directory, found in files.items()
        }
        for root, files in listing.items()
    }
    file.write_text(json.dumps(data), encoding="ascii")


def load_listing(file: Path) -> Listing:
    """Return a listing that `dump_listing` wrote; raise IllegalArgumentException."""
    try:
        data = json.loads(file.read_bytes())
        return {
            root: {
                directory: [
                    FileStatus(path, length, modification_time=time, etag=etag, block_size=size)
                    for path, length, time, etag, size in found
                ]
                for directory, found in files.items()
            }
            for root, files in data.items()
        }
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise IllegalArgumentException(f"invalid listing {str(file)!r}: {error}") from None
