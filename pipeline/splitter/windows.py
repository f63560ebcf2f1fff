"""Window stores: save the output of each window before the next one begins.

A window is one file of lines with checksums: a header, a line for each taken file, and an end line.
A file becomes visible when it is complete; a torn tail is ignored. Files are never appended to, so
object stores work.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from fscontract.contract.api.errors import (
    FileNotFoundException,
    IllegalArgumentException,
    PathIOException,
)
from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.blocks import MAX_OPERATOR_ID, NO_BLOCK, FileMetadata, join_path
from fscontract.pipeline.splitter.scanner import Reference, reference_of

#: Version of the lines written here; other versions are rejected.
VERSION = 1
_SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class TakenFile:
    """A file taken in a window: its metadata, and its reference in the scanner."""

    file: FileMetadata
    input: str
    listed: str
    reference: Reference


@dataclass(frozen=True, slots=True)
class WindowData:
    """Output of a window: `blocks` blocks starting with `first_block`, and these files.

    The blocks are those of the pending file, then those of the files. They are computed from the
    metadata, without reading the files or the settings again.
    """

    window_id: int
    first_block: int = NO_BLOCK
    blocks: int = 0
    files: tuple[TakenFile, ...] = ()


class TornRecord(ValueError):
    """A damaged line of a window's file, or a file without its end."""


class WindowStore(ABC):
    """A store of windows; `save` returns once the window is safe from failures."""

    @property
    @abstractmethod
    def largest_completed_window(self) -> int | None:
        """Number of the last window that was saved completely, or None."""

    @abstractmethod
    def save(self, data: WindowData) -> None:
        """Save a window once; raise PathIOException if it exists."""

    @abstractmethod
    def retrieve(self, window_id: int) -> WindowData | None:
        """Return a saved window, or None."""

    @abstractmethod
    def committed(self, window_id: int, removed: Collection[int] = ()) -> None:
        """Delete this window and earlier ones, which no failure will repeat.

        `removed` are operators that no longer exist: their windows are deleted once all are as old.
        """


class NoopWindowStore(WindowStore):
    """Stores nothing: after a failure, windows may have different output."""

    @property
    def largest_completed_window(self) -> int | None:
        """None: no window is ever repeated."""
        return None

    def save(self, data: WindowData) -> None:
        """Do nothing."""

    def retrieve(self, window_id: int) -> WindowData | None:
        """Return None."""
        return None

    def committed(self, window_id: int, removed: Collection[int] = ()) -> None:
        """Do nothing."""


def read_file(fs: FileSystem, path: str) -> bytes:
    """Return the bytes of a small file; raise FileNotFoundException."""
    with fs.open(path) as stream, stream.as_file() as file:
        return file.read() or b""


class FSWindowStore(WindowStore):
    """Windows of one operator in a directory of a filesystem, which operators can share.

    A window is saved with create-if-absent. If two processes act as the same operator, the second
    one fails, provided that creating a file without overwriting is atomic.
    """

    def __init__(self, filesystem: FileSystem, directory: str, operator_id: int = 0) -> None:
        if not 0 <= operator_id <= MAX_OPERATOR_ID:
            raise IllegalArgumentException(
                f"invalid operator_id: {operator_id}; must be from 0 to {MAX_OPERATOR_ID}"
            )
        self.filesystem = filesystem
        self.directory = directory.rstrip("/") or "/"
        self.operator_id = operator_id
        self._largest = self._last_whole()

    @property
    def largest_completed_window(self) -> int | None:
        """Number of the last window that was saved completely, or None."""
        return self._largest

    def save(self, data: WindowData) -> None:
        """Save a window once; raise PathIOException if it exists."""
        if self._largest is not None and data.window_id <= self._largest:
            raise PathIOException(self._path(data.window_id), "the window was saved already")
        text = "".join(f"{line}\n" for line in _lines(data, self.operator_id))
        with self.filesystem.create(self._path(data.window_id), overwrite=False) as file:
            file.write(text.encode("ascii"))
        self._largest = data.window_id

    def retrieve(self, window_id: int) -> WindowData | None:
        """Return the saved window, or None; raise PathIOException if it is damaged."""
        return self._retrieve(self.operator_id, window_id)

    def retrieve_all(self, window_id: int) -> Mapping[int, WindowData]:
        """Return the saved windows by operator, without operators that saved none."""
        windows = {operator: self._retrieve(operator, window_id) for operator in self.operators()}
        return {operator: data for operator, data in windows.items() if data is not None}

    def operators(self) -> tuple[int, ...]:
        """Return the operators with windows in this directory, sorted."""
        return tuple(sorted(number for number, _ in self._numbered(self.directory, "")))

    def completed_by_all(self) -> int | None:
        """Return the last window that every operator has saved; None if one has saved none."""
        stores = [type(self)(self.filesystem, self.directory, who) for who in self.operators()]
        last = [store.largest_completed_window for store in stores]
        complete = [window for window in last if window is not None]
        return min(complete) if complete and len(complete) == len(last) else None

    def committed(self, window_id: int, removed: Collection[int] = ()) -> None:
        """Delete this window and earlier ones, except the last saved one.

        Also delete temporary files of killed processes.
        """
        if hasattr(self.filesystem, "remove_abandoned"):
            self.filesystem.remove_abandoned(self.directory)
        for who in {self.operator_id, *removed}:
            windows = sorted(self._numbered(self._operator_directory(who), _SUFFIX))
            if who != self.operator_id and all(number <= window_id for number, _ in windows):
                self.filesystem.delete(self._operator_directory(who), recursive=True)
                continue
            for number, path in windows:
                if number <= window_id and number != self._largest:
                    self.filesystem.delete(path)

    # files --------------------------------------------------------------------------------

    def _operator_directory(self, operator_id: int) -> str:
        return join_path(self.directory, f"{operator_id:08x}")

    def _path(self, window_id: int, operator_id: int | None = None) -> str:
        directory = self._operator_directory(
            self.operator_id if operator_id is None else operator_id
        )
        return join_path(directory, f"{window_id:016x}{_SUFFIX}")

    def _numbered(self, directory: str, suffix: str) -> Iterator[tuple[int, str]]:
        """Yield the numbers in file names of a directory; other names are ignored."""
        try:
            for status in self.filesystem.list_status(directory):
                name = status.path.rpartition("/")[2]
                stem = name.removesuffix(suffix)
                if name == stem + suffix and len(stem) == (16 if suffix else 8):
                    try:
                        yield int(stem, 16), status.path
                    except ValueError:
                        continue
        except FileNotFoundException:
            return

    def _last_whole(self) -> int | None:
        """Return the last complete window; delete a torn one after it."""
        for number, path in sorted(
            self._numbered(self._operator_directory(self.operator_id), _SUFFIX)
        )[::-1]:
            try:
                _parse(read_file(self.filesystem, path), number, self.operator_id)
            except TornRecord:
                self.filesystem.delete(path)
                continue
            return number
        return None

    def _retrieve(self, operator_id: int, window_id: int) -> WindowData | None:
        path = self._path(window_id, operator_id)
        try:
            return _parse(read_file(self.filesystem, path), window_id, operator_id)
        except FileNotFoundException:
            return None
        except TornRecord as error:
            raise PathIOException(path, f"damaged window: {error}") from None


# lines ------------------------------------------------------------------------------------


def _lines(data: WindowData, operator_id: int) -> Iterator[str]:
    yield _checked(
        {
            "window": data.window_id,
            "version": VERSION,
            "operator": operator_id,
            "first_block": data.first_block,
            "blocks": data.blocks,
        }
    )
    for taken in data.files:
        yield _checked(
            {
                "file": json.loads(taken.file.to_json()),
                "input": taken.input,
                "listed": taken.listed,
                "reference": list(taken.reference),
            }
        )
    yield _checked({"end": len(data.files)})


def _checked(value: Any) -> str:
    text = json.dumps(value)
    return f"{crc32(text.encode('ascii')):08x} {text}"


def _parse(content: bytes, window_id: int, operator_id: int) -> WindowData:
    """Return the window in a file; raise TornRecord if it is incomplete or another window."""
    lines = content.split(b"\n")
    if len(lines) < 3 or lines.pop() != b"":
        raise TornRecord("missing end line")
    head, *files, end = [_unchecked(line, number) for number, line in enumerate(lines, 1)]
    try:
        if (head["window"], head["version"], head["operator"]) != (window_id, VERSION, operator_id):
            raise TornRecord(
                f"wrong window or operator; expected window {window_id} of operator {operator_id}"
            )
        if end["end"] != len(files):
            raise TornRecord(f"expected {end['end']} files, got {len(files)}")
        taken = tuple(_taken(data) for data in files)
        return WindowData(window_id, head["first_block"], head["blocks"], taken)
    except TornRecord:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise TornRecord(f"invalid format: {error}") from None


def _taken(data: Any) -> TakenFile:
    file = FileMetadata.from_data(data["file"])
    return TakenFile(file, data["input"], data["listed"], reference_of(data["reference"]))


def _unchecked(line: bytes, number: int) -> Any:
    check, _, text = line.partition(b" ")
    if check != b"%08x" % crc32(text):
        raise TornRecord(f"line {number}: checksum mismatch")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TornRecord(f"line {number} is not valid JSON: {error}") from None
