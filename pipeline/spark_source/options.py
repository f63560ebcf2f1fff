"""Options of the data source: one table, for code and documentation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fscontract.contract.api.errors import IllegalArgumentException
from fscontract.implementations import options
from fscontract.implementations.options import (
    KIB,
    MIB,
    Option,
    boolean,
    choice,
    count,
    duration,
    size,
    text,
)
from fscontract.pipeline.locations import STORAGE
from fscontract.pipeline.spark_source.errors import SourceException

#: Maximum length of an Arrow value.
_MAX_VALUE = (1 << 31) - 1

PARQUET = "parquet"
READERS = ("lines", "slices", "records", PARQUET)
COLUMNS = ("value", "path", "block_id", "offset")


def _columns(option: Option, text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def location(option: Option, text: str) -> str:
    """Parse a path or a URI."""
    return options.text(option, text)


def _hex(option: Option, text: str) -> bytes:
    return bytes.fromhex(options.text(option, text))


def _pattern(option: Option, text: str) -> str | None:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"not a valid regular expression: {error}") from None
    return text or None


@dataclass(frozen=True)
class SourceOption(Option):
    """An option of the source, or of its tables."""

    #: Mode that supports it: "batch", "stream", or "" for both.
    mode: str = ""
    #: Default in the documentation, if it is not a plain value.
    default_note: str = ""

    @property
    def default_text(self) -> str:
        """Default in the documentation."""
        if self.default_note or self.default is None:
            return self.default_note
        if isinstance(self.default, tuple):
            return f"`{','.join(self.default)}`"
        return f"`{str(self.default).lower() if self.kind is boolean else self.default}`"


OPTIONS = (
    SourceOption(
        "reader",
        choice,
        "Kind of records: lines, slices of `sliceSize` bytes, records with a `delimiter` or of "
        "`recordLength` bytes, or Parquet rows.",
        "lines",
        choices=READERS,
    ),
    SourceOption(
        "columns",
        _columns,
        "Columns, in this order; empty for none, such as for a `count()` without data transfer. "
        "`.schema(...)` has the same effect.",
        default_note=f"`{','.join(COLUMNS)}`; of Parquet, all",
    ),
    SourceOption(
        "where",
        text,
        "Conditions on columns, joined by `and`: `=`, `!=`, `<`, `<=`, `>`, `>=`, `in`, "
        "`between`, `like 'a%'`, `is null`, and `not`. Other rows are dropped, and files or "
        "blocks without matching rows are not read.",
        mode="batch",
    ),
    SourceOption(
        "metadata",
        boolean,
        "Inputs are datasets; read their files from the metadata tables. A dataset without a "
        "table is listed, with a warning.",
        False,
        mode="batch",
    ),
    SourceOption(
        "listing",
        location,
        "File with the files of the inputs, which `register(spark).load(path)` writes.",
        mode="batch",
    ),
    SourceOption(
        "metadataDir",
        location,
        "Directory of the metadata table, if not in the dataset.",
        mode="batch",
    ),
    SourceOption(
        "valueType",
        choice,
        "Type of the column `value`. Both keep bytes that are not UTF-8.",
        choices=("string", "binary"),
        default_note="`string` for lines, else `binary`",
    ),
    SourceOption(
        "blockSize",
        size,
        "Size of the blocks that files are split into.",
        minimum=1,
        default_note="as Spark would split; for a stream, the filesystem's block size",
    ),
    SourceOption(
        "delimiter",
        text,
        "Terminator of a line or record.",
        default_note=r"`\n`, `\r` or `\r\n`",
    ),
    SourceOption("delimiterHex", _hex, "Delimiter as hexadecimal digits, for any bytes."),
    SourceOption(
        "recordLength", size, "Length of fixed-width records.", minimum=1, maximum=_MAX_VALUE
    ),
    SourceOption(
        "sliceSize",
        size,
        "Length of slices; a slice does not cross its block's end.",
        32 * MIB,
        minimum=1,
        maximum=_MAX_VALUE,
        default_note="`32m`",
    ),
    SourceOption("maxRecordLength", size, "Maximum bytes of a line or record."),
    SourceOption(
        "onTooLong",
        choice,
        "Handling of longer lines or records.",
        "error",
        choices=("error", "truncate", "skip"),
    ),
    SourceOption("dropBlank", boolean, "Drop blank lines.", False),
    SourceOption("stripBom", boolean, "Drop a byte order mark at the start.", True),
    SourceOption(
        "dataOffset",
        size,
        "Start of the data in each file, behind a header.",
        0,
        default_note="`0`",
    ),
    SourceOption(
        "compression",
        choice,
        "Compression of the files; a compressed file is one block. Default: by suffix.",
        "infer",
        choices=("infer", "none", "gzip", "bzip2", "xz", "zstd"),
    ),
    SourceOption(
        "bufferSize",
        size,
        "Number of bytes read at once.",
        512 * KIB,
        minimum=1,
        maximum=512 * MIB,
        default_note="`512k`",
    ),
    SourceOption("recursive", boolean, "Search directories recursively.", True),
    SourceOption("filePattern", _pattern, "Regular expression that full file names must match."),
    SourceOption(
        "ignorePattern",
        _pattern,
        "Regular expression for file names to exclude; empty for none.",
        "[._].*",
    ),
    SourceOption(
        "ignoreMissingFiles",
        boolean,
        "Skip files that were deleted after planning.",
        False,
    ),
    SourceOption(
        "changedFiles",
        choice,
        "Handling of a file that was changed after planning: fail, or read up to its planned "
        "length.",
        "error",
        choices=("error", "read"),
    ),
    SourceOption(
        "maxPartitionBytes",
        size,
        "Maximum bytes of a partition, unless one block is larger.",
        minimum=1,
        mode="batch",
        default_note="`spark.sql.files.maxPartitionBytes`",
    ),
    SourceOption(
        "openCostInBytes",
        size,
        "Cost of opening a file, as the number of bytes that could be read meanwhile.",
        mode="batch",
        default_note="`spark.sql.files.openCostInBytes`",
    ),
    SourceOption(
        "minPartitionNum",
        count,
        "Minimum number of partitions.",
        minimum=1,
        mode="batch",
        default_note="`spark.sql.files.minPartitionNum`, else the parallelism",
    ),
    SourceOption(
        "windowLocation",
        location,
        "Directory in which the stream stores its windows; one per stream.",
        mode="stream",
        default_note="none: required for a stream",
    ),
    SourceOption(
        "scanInterval",
        duration,
        "Seconds from the end of one scan of the inputs to the next.",
        5.0,
        minimum=0.001,
        mode="stream",
        default_note="`5`",
    ),
    SourceOption(
        "scanOnTrigger",
        boolean,
        "Also scan the inputs whenever Spark plans a micro-batch; for "
        "`trigger(processingTime=...)`.",
        False,
        mode="stream",
    ),
    SourceOption(
        "maxFilesPerTrigger",
        count,
        "Maximum number of files that a micro-batch starts.",
        minimum=1,
        mode="stream",
    ),
    SourceOption(
        "maxBytesPerTrigger",
        size,
        "Maximum bytes of a micro-batch, unless one block is larger.",
        minimum=1,
        mode="stream",
    ),
    SourceOption(
        "blocksThreshold",
        count,
        "Maximum number of blocks of a micro-batch.",
        minimum=1,
        mode="stream",
    ),
    SourceOption(
        "collectStats",
        boolean,
        "Adjust the number of partitions to the waiting blocks; otherwise it is `minPartitions`.",
        True,
        mode="stream",
    ),
    SourceOption(
        "minPartitions",
        count,
        "Minimum partitions of a micro-batch with as many blocks.",
        1,
        minimum=1,
        mode="stream",
    ),
    SourceOption(
        "maxPartitions",
        count,
        "Maximum partitions of a micro-batch.",
        16,
        minimum=1,
        mode="stream",
    ),
    SourceOption(
        "scalingInterval",
        duration,
        "Seconds between decisions on the number of partitions.",
        120.0,
        minimum=0.001,
        mode="stream",
        default_note="`120`",
    ),
)
BY_NAME = {option.name.lower(): option for option in OPTIONS}
#: Options into which Spark converts the arguments of `load`.
PATHS = ("path", "paths")
#: Options with a path or a URI, in lower case; relative paths are made absolute.
LOCATIONS = ("path", *(option.name.lower() for option in OPTIONS if option.kind is location))
#: Prefixes of bucket options: `s3.endpoint`, and Hadoop's own keys.
S3_PREFIXES = ("s3.", "fs.s3a.")
#: Prefixes of options for filesystems: of buckets, and of those that fsspec opens.
_OF_FILESYSTEMS = (*S3_PREFIXES, STORAGE)


def parse_options(given: Mapping[str, str], table: Sequence[Option] = OPTIONS) -> dict[str, Any]:
    """Return the values of all options of a table by name; raise SourceException.

    Names are case-insensitive. The arguments of `load`, as Spark passes them, and options of
    filesystems are skipped.
    """
    own = {
        name: text
        for name, text in given.items()
        if name.lower() not in PATHS and not name.lower().startswith(_OF_FILESYSTEMS)
    }
    try:
        values = options.parse_options(own, table)
    except IllegalArgumentException as error:
        raise SourceException(str(error)) from None
    if "columns" in values:
        values["columns"] = _selected_columns(values["columns"], values.get("reader", PARQUET))
    return values


def _selected_columns(names: tuple[str, ...] | None, reader: str) -> tuple[str, ...] | None:
    """Return the requested columns, None for all of a Parquet file; raise SourceException."""
    parquet = reader == PARQUET
    if names is None:
        return None if parquet else COLUMNS
    columns = names if parquet else tuple(name.lower() for name in names)
    if len(set(columns)) != len(columns) or not (parquet or set(columns) <= set(COLUMNS)):
        allowed = "expected names" if parquet else f"expected some of {', '.join(COLUMNS)}"
        raise SourceException(
            f"option 'columns' can't be {','.join(names)!r:.80}: {allowed}, each once"
        )
    return columns


def options_of_s3(given: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a bucket."""
    own = {key.lower(): text for key, text in given.items()}
    prefix, hadoop = S3_PREFIXES
    ours = {key.removeprefix(prefix): text for key, text in own.items() if key.startswith(prefix)}
    return {**{k: v for k, v in own.items() if k.startswith(hadoop)}, **ours}


def options_of_storage(given: Mapping[str, str]) -> dict[str, str]:
    """Return the options that are passed to fsspec, without their prefix."""
    return {
        name[len(STORAGE) :]: text
        for name, text in given.items()
        if name.lower().startswith(STORAGE)
    }


def table(options: Sequence[SourceOption] = OPTIONS) -> str:
    """Return the options as a Markdown table."""
    rows = ["| option | for | meaning | default |", "|---|---|---|---|"]
    for option in options:
        choices = f" ({', '.join(f'`{c}`' for c in option.choices)})" if option.choices else ""
        mode = option.mode or "both"
        rows.append(
            f"| `{option.name}` | {mode} | {option.meaning}{choices} | {option.default_text} |"
        )
    return "\n".join(rows)
