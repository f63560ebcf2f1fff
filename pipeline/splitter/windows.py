"""Store what a splitter emitted in each window, before the next window begins.

A window is one file of lines with checksums: a head, a line for each file that was taken, and an
end. A file appears when it is complete; a torn tail is ignored. Files are never appended to, so
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

#: The version of the lines that are written here; others are refused.
VERSION = 1
_SUFFIX = ".jsonl"


@dataclass(frozen=True, slots=True)
class TakenFile:
    """A file that a window took: its metadata, and under what it is known to the scanner."""

    file: FileMetadata
    input: str
    listed: str
    reference: Reference


@dataclass(frozen=True, slots=True)
class WindowData:
    """The output of a window: `blocks` blocks from `first_block` on, and these files.

    The blocks are those of the file that was pending, then those of the files; all follow from
    the metadata, so neither the files themselves nor the settings are asked again.
    """

    window_id: int
    first_block: int = NO_BLOCK
    blocks: int = 0
    files: tuple[TakenFile, ...] = ()


class TornRecord(ValueError):
    """A line of a window's file that is not whole, or a file without its end."""


class WindowStore(ABC):
    """A store of windows; `save` returns when a window would survive a failure."""

    @property
    @abstractmethod
    def largest_completed_window(self) -> int | None:
        """Return the number of the last window that was saved whole, None if there is none."""

    @abstractmethod
    def save(self, data: WindowData) -> None:
        """Keep a window, once; PathIOException if it is there already."""

    @abstractmethod
    def retrieve(self, window_id: int) -> WindowData | None:
        """Return what was saved of a window, None if nothing was."""

    @abstractmethod
    def committed(self, window_id: int, removed: Collection[int] = ()) -> None:
        """Forget this window and those before it, which no failure leads back to.

        `removed` are operators that are no more: what they left goes when all of it is as old.
        """


class NoopWindowStore(WindowStore):
    """Keeps nothing: after a failure windows come out otherwise than before."""

    @property
    def largest_completed_window(self) -> int | None:
        """Return None: there is never a window to repeat."""
        return None

    def save(self, data: WindowData) -> None:
        """Do nothing."""

    def retrieve(self, window_id: int) -> WindowData | None:
        """Return None, for any window."""
        return None

    def committed(self, window_id: int, removed: Collection[int] = ()) -> None:
        """Do nothing."""


def read_file(fs: FileSystem, path: str) -> bytes:
    """Return the bytes of a small file; FileNotFoundException."""
    with fs.open(path) as stream, stream.as_file() as file:
        return file.read() or b""


class FSWindowStore(WindowStore):
    """Windows of one operator in a directory of a filesystem, which several operators share.

    A window is saved with create-if-absent, so of two processes that take themselves for the same
    operator the second one fails, on a filesystem whose create without overwriting is atomic.
    """

    def __init__(self, filesystem: FileSystem, directory: str, operator_id: int = 0) -> None:
        if not 0 <= operator_id <= MAX_OPERATOR_ID:
            raise IllegalArgumentException(
                f"operator_id is 0 to {MAX_OPERATOR_ID}, not {operator_id}"
            )
        self.filesystem = filesystem
        self.directory = directory.rstrip("/") or "/"
        self.operator_id = operator_id
        self._largest = self._last_whole()

    @property
    def largest_completed_window(self) -> int | None:
        """Return the number of the last window that was saved whole, None if there is none."""
        return self._largest

    def save(self, data: WindowData) -> None:
        """Keep a window, once; PathIOException if it is there already."""
        if self._largest is not None and data.window_id <= self._largest:
            raise PathIOException(self._path(data.window_id), "the window was saved before")
        text = "".join(f"{line}\n" for line in _lines(data, self.operator_id))
        with self.filesystem.create(self._path(data.window_id), overwrite=False) as file:
            file.write(text.encode("ascii"))
        self._largest = data.window_id

    def retrieve(self, window_id: int) -> WindowData | None:
        """Return the saved window, None if there is none; PathIOException if it is damaged."""
        return self._retrieve(self.operator_id, window_id)

    def retrieve_all(self, window_id: int) -> Mapping[int, WindowData]:
        """Return the saved windows by operator, without operators that saved none."""
        windows = {operator: self._retrieve(operator, window_id) for operator in self.operators()}
        return {operator: data for operator, data in windows.items() if data is not None}

    def operators(self) -> tuple[int, ...]:
        """Return the operators that have windows here, in order."""
        return tuple(sorted(number for number, _ in self._numbered(self.directory, "")))

    def completed_by_all(self) -> int | None:
        """Return the last window that every operator here has saved; None if one has saved none."""
        stores = [type(self)(self.filesystem, self.directory, who) for who in self.operators()]
        last = [store.largest_completed_window for store in stores]
        complete = [window for window in last if window is not None]
        return min(complete) if complete and len(complete) == len(last) else None

    def committed(self, window_id: int, removed: Collection[int] = ()) -> None:
        """Forget this window and those before it, but for the last one that was saved.

        What killed processes have left of files that they were writing is removed, too.
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
        """Yield the numbers that names in a directory stand for; other names are none of ours."""
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
        """Return the last window that is whole; a torn one behind it never was, and goes."""
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
            raise PathIOException(path, f"a damaged window ({error})") from None


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
    """Return the window in a file; TornRecord if not all of it is there, or it is another's."""
    lines = content.split(b"\n")
    if len(lines) < 3 or lines.pop() != b"":
        raise TornRecord("it has no end")
    head, *files, end = [_unchecked(line, number) for number, line in enumerate(lines, 1)]
    try:
        if (head["window"], head["version"], head["operator"]) != (window_id, VERSION, operator_id):
            raise TornRecord(f"it is not window {window_id} of operator {operator_id}")
        if end["end"] != len(files):
            raise TornRecord(f"{end['end']} files were taken, and {len(files)} are there")
        taken = tuple(_taken(data) for data in files)
        return WindowData(window_id, head["first_block"], head["blocks"], taken)
    except TornRecord:
        raise
    except (KeyError, TypeError, ValueError) as error:
        raise TornRecord(f"it has an unknown form: {error}") from None


def _taken(data: Any) -> TakenFile:
    file = FileMetadata.from_data(data["file"])
    return TakenFile(file, data["input"], data["listed"], reference_of(data["reference"]))


def _unchecked(line: bytes, number: int) -> Any:
    check, _, text = line.partition(b" ")
    if check != b"%08x" % crc32(text):
        raise TornRecord(f"line {number} is not what was written")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TornRecord(f"line {number} is not JSON: {error}") from None
