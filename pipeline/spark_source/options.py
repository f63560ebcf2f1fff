"""Options of the data source: one table, which the code and the documentation use."""

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
from fscontract.pipeline.spark_source.errors import SourceException

#: The length that a value of Arrow can have at most.
_MAX_VALUE = (1 << 31) - 1

PARQUET = "parquet"
READERS = ("lines", "slices", "records", PARQUET)
COLUMNS = ("value", "path", "block_id", "offset")


def _columns(option: Option, text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def location(option: Option, text: str) -> str:
    """Read a path or a URI."""
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

    #: The only mode that has it: "batch" or "stream", or "" for both.
    mode: str = ""
    #: The default as the documentation has it, where it is not a plain value.
    default_note: str = ""

    @property
    def default_text(self) -> str:
        """The default as the documentation has it."""
        if self.default_note or self.default is None:
            return self.default_note
        if isinstance(self.default, tuple):
            return f"`{','.join(self.default)}`"
        return f"`{str(self.default).lower() if self.kind is boolean else self.default}`"


OPTIONS = (
    SourceOption(
        "reader",
        choice,
        "Which records a file has: lines, slices of `sliceSize` bytes, records, which a "
        "`delimiter` ends or which have `recordLength` bytes, or the rows of Parquet.",
        "lines",
        choices=READERS,
    ),
    SourceOption(
        "columns",
        _columns,
        "The columns, in this order; none if it is empty, for a `count()` that ships nothing. "
        "`.schema(...)` does the same.",
        default_note=f"`{','.join(COLUMNS)}`; of Parquet, all",
    ),
    SourceOption(
        "where",
        text,
        "Conditions on columns, with `and` between them: `=`, `!=`, `<`, `<=`, `>`, `>=`, `in`, "
        "`between`, `like 'a%'`, `is null`, and `not`. Other rows are not there, and what can't "
        "have any is not read.",
        mode="batch",
    ),
    SourceOption(
        "metadata",
        boolean,
        "Whether the inputs are datasets whose metadata tables know the files. One without a table "
        "is listed, with a warning.",
        False,
        mode="batch",
    ),
    SourceOption(
        "metadataDir",
        location,
        "Where the metadata table is, if not in the dataset.",
        mode="batch",
    ),
    SourceOption(
        "valueType",
        choice,
        "Type of the column `value`. Bytes that are no UTF-8 are kept in either.",
        choices=("string", "binary"),
        default_note="`string` for lines, else `binary`",
    ),
    SourceOption(
        "blockSize",
        size,
        "Size of the blocks that files are split into.",
        minimum=1,
        default_note="as Spark would split; of a stream, what the filesystem says",
    ),
    SourceOption(
        "delimiter",
        text,
        "What ends a line or record.",
        default_note=r"`\n`, `\r` or `\r\n`",
    ),
    SourceOption("delimiterHex", _hex, "The same as hexadecimal digits, for any bytes."),
    SourceOption(
        "recordLength", size, "Length of records of fixed width.", minimum=1, maximum=_MAX_VALUE
    ),
    SourceOption(
        "sliceSize",
        size,
        "Length of slices; none goes beyond its block.",
        32 * MIB,
        minimum=1,
        maximum=_MAX_VALUE,
        default_note="`32m`",
    ),
    SourceOption("maxRecordLength", size, "How many bytes a line or record may have."),
    SourceOption(
        "onTooLong",
        choice,
        "What becomes of a longer one.",
        "error",
        choices=("error", "truncate", "skip"),
    ),
    SourceOption("dropBlank", boolean, "Whether blank lines are left out.", False),
    SourceOption("stripBom", boolean, "Whether a byte order mark at the start is left out.", True),
    SourceOption(
        "dataOffset",
        size,
        "Where the data of each file starts, behind a header.",
        0,
        default_note="`0`",
    ),
    SourceOption(
        "compression",
        choice,
        "How files are compressed, each of which is one block then; by its suffix if not said.",
        "infer",
        choices=("infer", "none", "gzip", "bzip2", "xz", "zstd"),
    ),
    SourceOption(
        "bufferSize",
        size,
        "How many bytes are read at once.",
        512 * KIB,
        minimum=1,
        maximum=512 * MIB,
        default_note="`512k`",
    ),
    SourceOption(
        "recursive", boolean, "Whether directories below the inputs are looked into.", True
    ),
    SourceOption(
        "filePattern", _pattern, "Regular expression that the whole name of a file matches."
    ),
    SourceOption(
        "ignorePattern",
        _pattern,
        "Regular expression for names of files that are left out; empty for none.",
        "[._].*",
    ),
    SourceOption(
        "ignoreMissingFiles",
        boolean,
        "Whether files are skipped that were there when they were planned, and are no more.",
        False,
    ),
    SourceOption(
        "changedFiles",
        choice,
        "What becomes of a file that was changed since: it fails, or is read as far as it was "
        "planned.",
        "error",
        choices=("error", "read"),
    ),
    SourceOption(
        "maxPartitionBytes",
        size,
        "How many bytes a partition has at most, unless one block is larger.",
        minimum=1,
        mode="batch",
        default_note="`spark.sql.files.maxPartitionBytes`",
    ),
    SourceOption(
        "openCostInBytes",
        size,
        "What opening a file costs, in bytes that could be read meanwhile.",
        mode="batch",
        default_note="`spark.sql.files.openCostInBytes`",
    ),
    SourceOption(
        "minPartitionNum",
        count,
        "How many partitions there should be at least.",
        minimum=1,
        mode="batch",
        default_note="`spark.sql.files.minPartitionNum`, else the parallelism",
    ),
    SourceOption(
        "windowLocation",
        location,
        "Directory in which the stream keeps what its windows took; one for each stream.",
        mode="stream",
        default_note="none: a stream needs it",
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
        "maxFilesPerTrigger",
        count,
        "How many files a micro-batch begins at most.",
        minimum=1,
        mode="stream",
    ),
    SourceOption(
        "maxBytesPerTrigger",
        size,
        "How many bytes a micro-batch has at most, unless one block is larger.",
        minimum=1,
        mode="stream",
    ),
    SourceOption(
        "blocksThreshold",
        count,
        "How many blocks a micro-batch has at most.",
        minimum=1,
        mode="stream",
    ),
    SourceOption(
        "minPartitions",
        count,
        "The fewest partitions of a micro-batch that has as many blocks.",
        1,
        minimum=1,
        mode="stream",
    ),
    SourceOption(
        "maxPartitions",
        count,
        "The most partitions of a micro-batch.",
        16,
        minimum=1,
        mode="stream",
    ),
    SourceOption(
        "scalingInterval",
        duration,
        "Seconds until the number of partitions is decided on again.",
        120.0,
        minimum=0.001,
        mode="stream",
        default_note="`120`",
    ),
)
BY_NAME = {option.name.lower(): option for option in OPTIONS}
#: What Spark makes of the arguments of `load`.
PATHS = ("path", "paths")
#: The options that are a path or a URI, in lower case; a relative path is made absolute.
LOCATIONS = ("path", *(option.name.lower() for option in OPTIONS if option.kind is location))
#: What options of a bucket start with: `s3.endpoint`, and Hadoop's own keys.
S3_PREFIXES = ("s3.", "fs.s3a.")


def parse_options(given: Mapping[str, str], table: Sequence[Option] = OPTIONS) -> dict[str, Any]:
    """Return the values of all options of a table by name; SourceException. Case does not matter.

    What Spark makes of the arguments of `load`, and options of a bucket, are left out.
    """
    own = {
        name: text
        for name, text in given.items()
        if name.lower() not in PATHS and not name.lower().startswith(S3_PREFIXES)
    }
    try:
        values = options.parse_options(own, table)
    except IllegalArgumentException as error:
        raise SourceException(str(error)) from None
    if "columns" in values:
        values["columns"] = _selected_columns(values["columns"], values["reader"])
    return values


def _selected_columns(names: tuple[str, ...] | None, reader: str) -> tuple[str, ...] | None:
    """Return the columns that are asked for, None for all of a Parquet file; SourceException."""
    parquet = reader == PARQUET
    if names is None:
        return None if parquet else COLUMNS
    columns = names if parquet else tuple(name.lower() for name in names)
    if len(set(columns)) != len(columns) or not (parquet or set(columns) <= set(COLUMNS)):
        allowed = "names" if parquet else f"some of {', '.join(COLUMNS)}"
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


def table(options: Sequence[SourceOption] = OPTIONS) -> str:
    """Return the options as a table of Markdown."""
    rows = ["| option | for | meaning | default |", "|---|---|---|---|"]
    for option in options:
        choices = f" ({', '.join(f'`{c}`' for c in option.choices)})" if option.choices else ""
        mode = option.mode or "both"
        rows.append(
            f"| `{option.name}` | {mode} | {option.meaning}{choices} | {option.default_text} |"
        )
    return "\n".join(rows)
