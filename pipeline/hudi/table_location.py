"""Location of a dataset's metadata table, and its properties in Java's format."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fscontract.contract.api.filesystem import FileSystem
from fscontract.pipeline.hudi.io import MetadataException, read_file, write_file
from fscontract.pipeline.hudi.timeline import FILES, METADATA, PROPERTIES

CHECKSUM = "hoodie.table.checksum"
NAME = "hoodie.table.name"
DATABASE = "hoodie.database.name"
VERSION = "hoodie.table.version"
#: Versions of datasets that can be written, and of those whose metadata table can be. Earlier
#: ones have another timeline.
WRITABLE, KEPT = (6, 8, 9), (8, 9)
#: Usable partitions of the metadata table, those being built, and columns with statistics.
PARTITIONS = "hoodie.table.metadata.partitions"
INFLIGHT = "hoodie.table.metadata.partitions.inflight"
COLUMNS = "hoodie.metadata.index.column.stats.column.list"
#: Partitioning of a dataset's rows, part of all Hudi tables.
KEY_GENERATOR = "hoodie.table.keygenerator.type"
#: Avro schema of a dataset's rows, repeated in each commit.
SCHEMA = "hoodie.table.create.schema"
_PAIR = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
#: A line that ends with an unescaped backslash continues on the next line.
_CONTINUED = re.compile(r"((?:^|[^\\])(?:\\\\)*)\\\r?\n[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SPECIAL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(text: str) -> dict[str, str]:
    """Parse a properties file; return its keys and values."""
    properties = {}
    for line in re.split(r"[\r\n]+", _CONTINUED.sub(r"\1", text)):
        stripped = line.lstrip(" \t\f")
        pair = _PAIR.fullmatch(stripped)
        if stripped and stripped[0] not in "#!" and pair:
            properties[_unescaped(pair[1])] = _unescaped(pair[2])
    return properties


def format_properties(properties: Mapping[str, str], comment: str) -> str:
    """Return a text of properties in ASCII, sorted by key."""
    lines = [f"#{comment}"]
    for key in sorted(properties):
        lines.append(f"{_escaped(key, '=: ')}={_escaped(properties[key], '')}")
    return "\n".join(lines) + "\n"


def table_checksum(properties: Mapping[str, str]) -> str:
    """Return Hudi's checksum of a table's properties, computed from database and table name."""
    name = f"{properties.get(DATABASE, '')}.{properties.get(NAME, '')}"
    return str(zlib.crc32(name.encode()))


def read_properties(fs: FileSystem, path: str) -> dict[str, str]:
    """Return the properties of a table; raise MetadataException if their checksum is wrong."""
    properties = parse_properties(read_file(fs, path).decode("latin-1"))
    if properties.get(CHECKSUM, table_checksum(properties)) != table_checksum(properties):
        raise MetadataException(path, "checksum mismatch in the properties")
    return properties


def version_of(path: str, properties: Mapping[str, str]) -> int:
    """Return the version of a table, 8 by default; raise MetadataException if it is invalid."""
    version = properties.get(VERSION, "8")
    if not (version.isascii() and version.isdecimal() and len(version) < 10):
        raise MetadataException(path, f"invalid table version {version!r}: must be a number")
    return int(version)


def check_version(path: str, properties: Mapping[str, str], allowed: Sequence[int]) -> None:
    """Raise MetadataException if the version of a table is not one of these."""
    version = version_of(path, properties)
    if version not in allowed:
        names = [str(number) for number in allowed]
        expected = f"{', '.join(names[:-1])} or {names[-1]}"
        raise MetadataException(path, f"unsupported table version {version}: must be {expected}")


def is_typed(properties: Mapping[str, str]) -> bool:
    """Return True if records of the table may have a type: from version 9."""
    return version_of(PROPERTIES, properties) >= 9


def write_properties(
    fs: FileSystem, path: str, properties: Mapping[str, str], replace: bool = False
) -> None:
    """Write a table's properties with their checksum; raise FileAlreadyExistsException."""
    checked = {**properties, CHECKSUM: table_checksum(properties)}
    text = format_properties(checked, "Properties of a table")
    write_file(fs, path, text.encode("ascii"), replace)


def _unescaped(text: str) -> str:
    def plain(match: re.Match[str]) -> str:
        escape = match[1]
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        return _SPECIAL.get(escape, escape)

    # Java's characters have 16 bits: surrogate pairs represent larger ones.
    units = _ESCAPE.sub(plain, text).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace")


def _escaped(text: str, also: str) -> str:
    names = {value: f"\\{key}" for key, value in _SPECIAL.items()}
    out = []
    for position, char in enumerate(text):
        if char in names:
            out.append(names[char])
        elif char in "\\" + also or (position == 0 and char in " #!"):
            out.append(f"\\{char}")
        elif " " <= char <= "~":
            out.append(char)
        else:
            units = char.encode("utf-16-be").hex()
            out += [f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4)]
    return "".join(out)


@dataclass(frozen=True)
class TableLocation:
    """A dataset at `path` whose metadata table is in the directory `metadata`.

    The properties at `marker` list the usable partitions of the table.
    """

    path: str
    metadata: str
    marker: str

    def properties(self, fs: FileSystem) -> dict[str, str]:
        """Return the marker's properties, or none; raise MetadataException if damaged."""
        try:
            return read_properties(fs, self.marker)
        except FileNotFoundError:
            return {}

    def exists(self, fs: FileSystem) -> bool:
        """Return True if a usable table exists."""
        return FILES in usable_partitions(self.properties(fs))


def usable_partitions(properties: Mapping[str, str]) -> list[str]:
    """Return the partitions of the table that its marker's properties list."""
    return properties.get(PARTITIONS, "").split(",")


def location_of(path: str, directory: str | None = None) -> TableLocation:
    """Return the location of a dataset's table: Hudi's default, or another directory.

    For a table outside the dataset, its own properties mark it as usable, so that nothing is
    written to the dataset.
    """
    path = path.rstrip("/")
    if directory is None:
        return TableLocation(path, f"{path}/{METADATA}", f"{path}/{PROPERTIES}")
    directory = directory.rstrip("/")
    return TableLocation(path, directory, f"{directory}/{PROPERTIES}")
