"""Records that the parts of the pipeline exchange: files, and the blocks they are split into.

A path is a full URI (`s3a://bucket/a/b`) or a bare absolute path (`/a/b`), kept as given; `path`
is the bare one, which a `FileSystem` takes. Offsets and lengths are in bytes, times in milliseconds
since 1970.
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

#: The version of the JSON that is written here; others are refused.
VERSION = 1
#: An operator's number has to leave 32 bits of a signed 64-bit id to its sequence.
MAX_OPERATOR_ID = (1 << 31) - 1
#: How many ids an operator can give away.
MAX_SEQUENCE = 1 << 32
#: The previous block of the first block of a file.
NO_BLOCK = -1

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?(?=/|$)")
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
    """Return the modification time of a status as a record has it; None if the status has none."""
    return int(seconds * 1000) if seconds else None


def block_id(operator_id: int, sequence: int) -> int:
    """Return the id of an operator's block of this sequence number."""
    return operator_id << 32 | sequence


def _fields(record: type) -> Mapping[str, tuple[type, ...]]:
    """Return the fields of a record in JSON, with the types that their values may have."""
    return _fields_of(record.__mro__)


@cache
def _fields_of(bases: tuple[Any, ...]) -> Mapping[str, tuple[type, ...]]:
    owner: Any = next(base for base in bases if "TYPE" in vars(base))
    hints = get_type_hints(owner)
    return {f.name: get_args(hints[f.name]) or (hints[f.name],) for f in fields(owner)}


class _JsonRecord:
    """A frozen dataclass that is also one line of JSON: `{"type", "version", field: value}`."""

    __slots__ = ()
    #: The value of `type` in JSON.
    TYPE: ClassVar[str]

    def to_json(self) -> str:
        """Return the record as one line of ASCII JSON."""
        values = {name: getattr(self, name) for name in _fields(self.__class__)}
        return json.dumps({"type": self.TYPE, "version": VERSION, **values})

    @classmethod
    def from_json(cls: type[_Record], text: str) -> _Record:
        """Return the record that `to_json` wrote; IllegalArgumentException for anything else."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise IllegalArgumentException(f"a {cls.TYPE} record is no JSON: {error}") from None
        return cls.from_data(data)

    @classmethod
    def from_data(cls: type[_Record], data: Any) -> _Record:
        """Return the record of what was parsed from JSON; IllegalArgumentException."""
        head = (data.get("type"), data.get("version")) if isinstance(data, dict) else None
        if head != (cls.TYPE, VERSION):
            raise IllegalArgumentException(f"not a {cls.TYPE} record of version {VERSION}")
        values = {key: value for key, value in data.items() if key not in ("type", "version")}
        known = _fields(cls)
        if values.keys() != known.keys():
            odd = ", ".join(sorted(values.keys() ^ known.keys(), key=str))
            raise IllegalArgumentException(f"a {cls.TYPE} record lacks or has too many: {odd}")
        for name, types in known.items():
            if type(values[name]) not in types:
                raise IllegalArgumentException(f"{name} of a {cls.TYPE} record is of a wrong type")
        return cls(**values)


@dataclass(frozen=True, slots=True)
class FileInfo(_JsonRecord):
    """A file that was found: in a directory that is scanned, or by itself (`directory` None)."""

    TYPE = "file-info"

    directory: str | None
    #: The path below `directory`; the whole path or URI if there is none.
    relative_path: str

    @property
    def file_path(self) -> str:
        """Return the path or URI of the file, with the scheme and authority of the directory."""
        if self.directory is None:
            return self.relative_path
        return join_path(self.directory, self.relative_path)

    @property
    def path(self) -> str:
        """Return the path without scheme and authority."""
        return bare_path(self.file_path)


class BlockIds(Sequence[int]):
    """The ids of `count` blocks in a row, made when they are asked for."""

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
    """A file or directory, and how it is split.

    Equal if all but the discover time is equal, which no replay can repeat.
    """

    TYPE = "file"

    file_path: str
    file_name: str
    file_length: int
    is_directory: bool
    #: How many blocks are emitted for it: 0 for a directory, and where nothing is left to read.
    number_of_blocks: int
    block_size: int
    #: Where the first block starts, behind a header that is not to be read.
    data_offset: int
    discover_time: int = field(compare=False)
    #: The path as a copy of the input would have it: from the scanned directory's name on.
    relative_path: str
    #: The id of the first block, NO_BLOCK if there is none.
    first_block_id: int = NO_BLOCK
    etag: str | None = None
    modification_time: int | None = None

    def __post_init__(self) -> None:
        if self.block_size < 1:
            raise IllegalArgumentException(f"a block has at least 1 byte, not {self.block_size}")
        if min(self.file_length, self.data_offset, self.number_of_blocks) < 0:
            raise IllegalArgumentException(f"negative length, offset or count: {self!r}")

    @property
    def block_ids(self) -> Sequence[int]:
        """Return the ids of its blocks in order, made when they are asked for."""
        return BlockIds(self.first_block_id, self.number_of_blocks)

    @property
    def path(self) -> str:
        """Return the path without scheme and authority."""
        return bare_path(self.file_path)


@dataclass(frozen=True, slots=True)
class BlockMetadata:
    """A piece of work for a reader."""

    block_id: int


@dataclass(frozen=True, slots=True)
class FileBlockMetadata(BlockMetadata, _JsonRecord):
    """The bytes of a file from `offset` up to `length`, which is an offset too, as in Java.

    `end` and `size` say what they are. Equal if all fields are equal (in Java: if the ids are),
    so a replay that gives other blocks under the same ids shows. The hash is by the id alone: its
    low 32 bits, as in Java, so blocks in a row go to different partitions.
    """

    TYPE = "block"

    offset: int
    #: The END of the block in the file, exclusive; not how many bytes it has: that is `size`.
    length: int
    is_last_block: bool
    #: The id of the block before it in the file, NO_BLOCK for the first that is emitted.
    previous_block_id: int
    file_path: str
    file_length: int
    etag: str | None = None
    modification_time: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.offset <= self.length <= self.file_length:
            raise IllegalArgumentException(
                f"a block [{self.offset}, {self.length}) does not lie in"
                f" a file of {self.file_length} bytes"
            )

    def __hash__(self) -> int:
        return self.block_id & 0xFFFFFFFF

    @property
    def end(self) -> int:
        """Return the offset of the first byte behind the block."""
        return self.length

    @property
    def size(self) -> int:
        """Return how many bytes the block has."""
        return self.length - self.offset

    @property
    def path(self) -> str:
        """Return the path without scheme and authority, which a FileSystem opens."""
        return bare_path(self.file_path)

    def status(self) -> FileStatus:
        """Return the file as it was when it was split, for `open_file(path).with_file_status()`."""
        seconds = 0.0 if self.modification_time is None else self.modification_time / 1000
        return FileStatus(self.path, self.file_length, modification_time=seconds, etag=self.etag)
