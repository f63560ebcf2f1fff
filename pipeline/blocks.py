"""Records for files and their blocks, exchanged by the parts of the pipeline.

A path is a full URI (`s3a://bucket/a/b`) or a bare absolute path (`/a/b`), stored unchanged; the
property `path` is the bare path, for a `FileSystem`. Offsets and lengths are in bytes, times in
milliseconds since 1970.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, ClassVar, TypeVar, get_args, get_type_hints, overload

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.contract.api.filesystem import FileStatus

#: Version of the JSON written here; other versions are rejected.
VERSION = 1
#: The operator's number is the upper part of a signed 64-bit id, above a 32-bit sequence.
MAX_OPERATOR_ID = (1 << 31) - 1
#: Number of ids that an operator can assign.
MAX_SEQUENCE = 1 << 32
#: Id of the previous block for the first block of a file.
NO_BLOCK = -1

#: Scheme and authority, behind the caches of a chain of fsspec's, such as `simplecache::`.
_URI = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*::)*[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?(?=/|$)")
_Record = TypeVar("_Record", bound="_JsonRecord")


def bare_path(uri: str) -> str:
    """Return the path of a URI without scheme and authority; a bare path is unchanged."""
    authority = None if uri.startswith("/") else _URI.match(uri)
    return uri if authority is None else uri[authority.end() :] or "/"


def join_path(directory: str, name: str) -> str:
    """Return the path of `name` below `directory`, which may be a URI."""
    return f"{directory}{name}" if directory.endswith("/") else f"{directory}/{name}"


def last_element(path: str) -> str:
    """Return the last element of a path or URI; empty for a root."""
    return bare_path(path).rstrip("/").rpartition("/")[2]


def milliseconds(seconds: float) -> int | None:
    """Return a status's modification time in milliseconds; None if it has none."""
    return int(seconds * 1000) if seconds else None


def block_id(operator_id: int, sequence: int) -> int:
    """Return the id of the block with this sequence number of an operator."""
    return operator_id << 32 | sequence


def _fields(record: type) -> Mapping[str, tuple[type, ...]]:
    """Return the fields of a record in JSON, with their allowed types."""
    return _fields_of(record.__mro__)


@cache
def _fields_of(bases: tuple[Any, ...]) -> Mapping[str, tuple[type, ...]]:
    owner: Any = next(base for base in bases if "TYPE" in vars(base))
    hints = get_type_hints(owner)
    return {f.name: get_args(hints[f.name]) or (hints[f.name],) for f in fields(owner)}


class _JsonRecord:
    """A frozen dataclass that is also one line of JSON: `{"type", "version", field: value}`."""

    __slots__ = ()
    #: Value of `type` in JSON.
    TYPE: ClassVar[str]

    def to_json(self) -> str:
        """Return the record as one line of ASCII JSON."""
        values = {name: getattr(self, name) for name in _fields(self.__class__)}
        return json.dumps({"type": self.TYPE, "version": VERSION, **values})

    @classmethod
    def from_json(cls: type[_Record], text: str) -> _Record:
        """Parse the JSON of `to_json`; raise IllegalArgumentException if it is invalid."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise IllegalArgumentException(
                f"a {cls.TYPE} record is not valid JSON: {error}"
            ) from None
        return cls.from_data(data)

    @classmethod
    def from_data(cls: type[_Record], data: Any) -> _Record:
        """Return the record for parsed JSON; raise IllegalArgumentException if it is invalid."""
        head = (data.get("type"), data.get("version")) if isinstance(data, dict) else None
        if head != (cls.TYPE, VERSION):
            raise IllegalArgumentException(
                f"invalid record: expected a {cls.TYPE} record of version {VERSION}"
            )
        values = {key: value for key, value in data.items() if key not in ("type", "version")}
        known = _fields(cls)
        if values.keys() != known.keys():
            odd = ", ".join(sorted(values.keys() ^ known.keys(), key=str))
            raise IllegalArgumentException(
                f"missing or unexpected fields in a {cls.TYPE} record: {odd}"
            )
        for name, types in known.items():
            if type(values[name]) not in types:
                raise IllegalArgumentException(
                    f"invalid type of field {name!r} in a {cls.TYPE} record"
                )
        return cls(**values)


@dataclass(frozen=True, slots=True)
class FileInfo(_JsonRecord):
    """A file found in a scanned directory, or given directly (`directory` is None)."""

    TYPE = "file-info"

    directory: str | None
    #: Path below `directory`; the full path or URI without a directory.
    relative_path: str

    @property
    def file_path(self) -> str:
        """Path or URI of the file, with the scheme and authority of the directory."""
        if self.directory is None:
            return self.relative_path
        return join_path(self.directory, self.relative_path)

    @property
    def path(self) -> str:
        """Path without scheme and authority."""
        return bare_path(self.file_path)


class BlockIds(Sequence[int]):
    """The ids of `count` consecutive blocks, generated on demand."""

    __slots__ = ("_ids",)

    def __init__(self, first: int, count: int) -> None:
        self._ids = range(first, first + count)

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        return self._ids[index]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BlockIds):
            return NotImplemented
        return self._ids == other._ids

    def __hash__(self) -> int:
        return hash(self._ids)

    def __repr__(self) -> str:
        return f"BlockIds({self._ids.start}, {len(self)})"


@dataclass(frozen=True, slots=True)
class FileMetadata(_JsonRecord):
    """A file or directory, and its split into blocks.

    Two records are equal if all fields except the discover time are equal, because a replay can't
    repeat that time.
    """

    TYPE = "file"

    file_path: str
    file_name: str
    file_length: int
    is_directory: bool
    #: Number of blocks: 0 for a directory, and if nothing remains to be read.
    number_of_blocks: int
    block_size: int
    #: Start of the first block, behind a header that is not read.
    data_offset: int
    discover_time: int = field(compare=False)
    #: Path in a copy of the input, beginning with the scanned directory's name.
    relative_path: str
    #: Id of the first block, NO_BLOCK if there is none.
    first_block_id: int = NO_BLOCK
    etag: str | None = None
    modification_time: int | None = None

    def __post_init__(self) -> None:
        if self.block_size < 1:
            raise IllegalArgumentException(
                f"invalid block size: {self.block_size}; must be at least 1 byte"
            )
        if min(self.file_length, self.data_offset, self.number_of_blocks) < 0:
            raise IllegalArgumentException(
                f"length, offset and count must not be negative: {self!r}"
            )

    @property
    def block_ids(self) -> Sequence[int]:
        """Ids of the file's blocks in order, generated on demand."""
        return BlockIds(self.first_block_id, self.number_of_blocks)

    @property
    def path(self) -> str:
        """Path without scheme and authority."""
        return bare_path(self.file_path)


@dataclass(frozen=True, slots=True)
class BlockMetadata:
    """A unit of work for a reader: a part of a data source from `offset` to `length`.

    `length` is an end offset, as in Java; use `end` and `size` to avoid confusion. Offsets of a
    file are in bytes, those of another source in its units, such as messages. A subclass adds what
    identifies the source. Two blocks are equal if all fields are equal (in Java: if the ids are),
    so that a replay with other blocks under the same ids is detected. Raise
    IllegalArgumentException if the offsets are negative or in the wrong order.
    """

    block_id: int
    offset: int
    #: END offset of the block in its source, exclusive. The number of units is `size`.
    length: int
    is_last_block: bool
    #: Id of the preceding block in the source, NO_BLOCK for the first one.
    previous_block_id: int

    def __post_init__(self) -> None:
        if not 0 <= self.offset <= self.length:
            raise IllegalArgumentException(
                f"invalid block [{self.offset}, {self.length}): must not end before it starts, or "
                "start before 0"
            )

    def __hash__(self) -> int:
        """Return the low 32 bits of the id, so consecutive blocks go to different partitions."""
        return self.block_id & 0xFFFFFFFF

    @property
    def source(self) -> str:
        """Name of the data source in errors; by default that of the class."""
        return type(self).__name__

    @property
    def end(self) -> int:
        """Offset of the first unit after the block."""
        return self.length

    @property
    def size(self) -> int:
        """Number of units in the block."""
        return self.length - self.offset


@dataclass(frozen=True, slots=True)
class FileBlockMetadata(BlockMetadata, _JsonRecord):
    """The bytes of a file from `offset` to `length`, which is an end offset, as in Java.

    Raise IllegalArgumentException if the block is not within the file.
    """

    TYPE = "block"

    file_path: str
    file_length: int
    etag: str | None = None
    modification_time: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.offset <= self.length <= self.file_length:
            raise IllegalArgumentException(
                f"invalid block [{self.offset}, {self.length}): must lie within the file of "
                f"{self.file_length} bytes"
            )

    __hash__ = BlockMetadata.__hash__

    @property
    def source(self) -> str:
        """Path or URI of the file."""
        return self.file_path

    @property
    def path(self) -> str:
        """Path without scheme and authority, for a FileSystem."""
        return bare_path(self.file_path)

    def status(self) -> FileStatus:
        """Return the file's status at the time of the split, for `with_file_status`."""
        seconds = 0.0 if self.modification_time is None else self.modification_time / 1000
        return FileStatus(self.path, self.file_length, modification_time=seconds, etag=self.etag)
