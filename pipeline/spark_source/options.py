"""Options of the data source: one table, which the code and the documentation use."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fscontract.contract.spec.clauses import near_misses
from fscontract.pipeline.spark_source.errors import SourceException

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_SIZE = re.compile(r"(\d{1,15})\s*([kmg]?)(?:i?b)?", re.ASCII | re.IGNORECASE)
_TRUTHS = {"true": True, "false": False}


def read_value(option: Option, text: str) -> Any:
    """The value of an option; SourceException."""
    try:
        return _KINDS[option.kind](option, text)
    except ValueError as error:
        raise SourceException(f"option {option.name!r} can't be {text!r:.80}: {error}") from None


def _size(option: Option, text: str) -> int:
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError("a number of bytes, such as 1048576 or 64m")
    return _bounded(option, int(found[1]) * _UNITS[found[2].lower()])


def _count(option: Option, text: str) -> int:
    if not re.fullmatch(r"\d{1,15}", text.strip(), re.ASCII):
        raise ValueError("a whole number")
    return _bounded(option, int(text))


def _bounded(option: Option, number: int) -> int:
    if not option.least <= number <= option.most:
        raise ValueError(f"from {option.least} to {option.most}")
    return number


def _seconds(option: Option, text: str) -> float:
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text.strip(), re.ASCII) or not float(text):
        raise ValueError("a number of seconds, more than 0")
    return float(text)


def _boolean(option: Option, text: str) -> bool:
    found = _TRUTHS.get(text.strip().lower())
    if found is None:
        raise ValueError("true or false")
    return found


def _choice(option: Option, text: str) -> str:
    if text.strip().lower() not in option.choices:
        raise ValueError(f"one of {', '.join(option.choices)}")
    return text.strip().lower()


def _parse_columns(option: Option, text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _text(option: Option, text: str) -> str:
    if not text:
        raise ValueError("it is empty")
    return text


def _hex(option: Option, text: str) -> bytes:
    found = bytes.fromhex(text)
    if not found:
        raise ValueError("it is empty")
    return found


def _pattern(option: Option, text: str) -> str | None:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from None
    return text or None


_KINDS: dict[str, Callable[[Option, str], Any]] = {
    "boolean": _boolean,
    "choice": _choice,
    "columns": _parse_columns,
    "count": _count,
    "hex": _hex,
    "location": _text,
    "pattern": _pattern,
    "seconds": _seconds,
    "size": _size,
    "text": _text,
}


KIB = 1 << 10
MIB = 1 << 20
#: How long a value of Arrow can be.
_MOST = (1 << 31) - 1

PARQUET = "parquet"
READERS = ("lines", "slices", "records", PARQUET)
COLUMNS = ("value", "path", "block_id", "offset")


@dataclass(frozen=True)
class Option:
    """One option. `kind` is how its value is read; `where` says if it is for one mode alone."""

    name: str
    kind: str
    meaning: str
    default: Any = None
    least: int = 0
    most: int = 1 << 53
    choices: tuple[str, ...] = ()
    where: str = ""
    #: What the table shows where the default is no plain value.
    shown: str = ""

    @property
    def default_text(self) -> str:
        """The default as the documentation has it."""
        if self.shown or self.default is None:
            return self.shown
        if isinstance(self.default, tuple):
            return f"`{','.join(self.default)}`"
        return f"`{str(self.default).lower() if self.kind == 'boolean' else self.default}`"


OPTIONS = (
    Option(
        "reader",
        "choice",
        "Which records a file has: lines, slices of `sliceSize` bytes, records, which a "
        "`delimiter` ends or which have `recordLength` bytes, or the rows of Parquet.",
        "lines",
        choices=READERS,
    ),
    Option(
        "columns",
        "columns",
        "The columns, in this order; none if it is empty, for a `count()` that ships nothing. "
        "`.schema(...)` does the same.",
        shown=f"`{','.join(COLUMNS)}`; of Parquet, all",
    ),
    Option(
        "where",
        "text",
        "Conditions on columns, with `and` between them: `=`, `!=`, `<`, `<=`, `>`, `>=`, `in`, "
        "`between`, `like 'a%'`, `is null`, and `not`. Other rows are not there, and what can't "
        "have any is not read.",
        where="batch",
    ),
    Option(
        "metadata",
        "boolean",
        "Whether the inputs are datasets whose metadata tables know the files. One without a table "
        "is listed, with a warning.",
        False,
        where="batch",
    ),
    Option(
        "metadataDir",
        "location",
        "Where the metadata table is, if not in the dataset.",
        where="batch",
    ),
    Option(
        "valueType",
        "choice",
        "Type of the column `value`. Bytes that are no UTF-8 are kept in either.",
        choices=("string", "binary"),
        shown="`string` for lines, else `binary`",
    ),
    Option(
        "blockSize",
        "size",
        "Size of the blocks that files are split into.",
        least=1,
        shown="as Spark would split; of a stream, what the filesystem says",
    ),
    Option(
        "delimiter",
        "text",
        "What ends a line or record.",
        shown=r"`\n`, `\r` or `\r\n`",
    ),
    Option("delimiterHex", "hex", "The same as hexadecimal digits, for any bytes."),
    Option("recordLength", "size", "Length of records of fixed width.", least=1, most=_MOST),
    Option(
        "sliceSize",
        "size",
        "Length of slices; none goes beyond its block.",
        32 * MIB,
        least=1,
        most=_MOST,
        shown="`32m`",
    ),
    Option("maxRecordLength", "size", "How many bytes a line or record may have."),
    Option(
        "onTooLong",
        "choice",
        "What becomes of a longer one.",
        "error",
        choices=("error", "truncate", "skip"),
    ),
    Option("dropBlank", "boolean", "Whether blank lines are left out.", False),
    Option("stripBom", "boolean", "Whether a byte order mark at the start is left out.", True),
    Option(
        "dataOffset", "size", "Where the data of each file starts, behind a header.", 0, shown="`0`"
    ),
    Option(
        "compression",
        "choice",
        "How files are compressed, each of which is one block then; by its suffix if not said.",
        "infer",
        choices=("infer", "none", "gzip", "bzip2", "xz", "zstd"),
    ),
    Option(
        "bufferSize",
        "size",
        "How many bytes are read at once.",
        512 * KIB,
        least=1,
        most=512 * MIB,
        shown="`512k`",
    ),
    Option("recursive", "boolean", "Whether directories below the inputs are looked into.", True),
    Option("filePattern", "pattern", "Regular expression that the whole name of a file matches."),
    Option(
        "ignorePattern",
        "pattern",
        "Regular expression for names of files that are left out; empty for none.",
        "[._].*",
    ),
    Option(
        "ignoreMissingFiles",
        "boolean",
        "Whether files are skipped that were there when they were planned, and are no more.",
        False,
    ),
    Option(
        "changedFiles",
        "choice",
        "What becomes of a file that was changed since: it fails, or is read as far as it was "
        "planned.",
        "error",
        choices=("error", "read"),
    ),
    Option(
        "maxPartitionBytes",
        "size",
        "How many bytes a partition has at most, unless one block is larger.",
        least=1,
        where="batch",
        shown="`spark.sql.files.maxPartitionBytes`",
    ),
    Option(
        "openCostInBytes",
        "size",
        "What opening a file costs, in bytes that could be read meanwhile.",
        where="batch",
        shown="`spark.sql.files.openCostInBytes`",
    ),
    Option(
        "minPartitionNum",
        "count",
        "How many partitions there should be at least.",
        least=1,
        where="batch",
        shown="`spark.sql.files.minPartitionNum`, else the parallelism",
    ),
    Option(
        "windowLocation",
        "location",
        "Directory in which the stream keeps what its windows took; one for each stream.",
        where="stream",
        shown="none: a stream needs it",
    ),
    Option(
        "scanInterval",
        "seconds",
        "Seconds from the end of one scan of the inputs to the next.",
        5.0,
        where="stream",
        shown="`5`",
    ),
    Option(
        "maxFilesPerTrigger",
        "count",
        "How many files a micro-batch begins at most.",
        least=1,
        where="stream",
    ),
    Option(
        "maxBytesPerTrigger",
        "size",
        "How many bytes a micro-batch has at most, unless one block is larger.",
        least=1,
        where="stream",
    ),
    Option(
        "blocksThreshold",
        "count",
        "How many blocks a micro-batch has at most.",
        least=1,
        where="stream",
    ),
    Option(
        "minPartitions",
        "count",
        "The fewest partitions of a micro-batch that has as many blocks.",
        1,
        least=1,
        where="stream",
    ),
    Option(
        "maxPartitions",
        "count",
        "The most partitions of a micro-batch.",
        16,
        least=1,
        where="stream",
    ),
    Option(
        "scalingInterval",
        "seconds",
        "Seconds until the number of partitions is decided on again.",
        120.0,
        where="stream",
        shown="`120`",
    ),
)
BY_NAME = {option.name.lower(): option for option in OPTIONS}
#: What Spark makes of the arguments of `load`.
PATHS = ("path", "paths")
#: The options that are a path or a URI, in lower case; a relative path is made absolute.
LOCATIONS = ("path", *(option.name.lower() for option in OPTIONS if option.kind == "location"))
#: What options of a bucket start with: `s3.endpoint`, and Hadoop's own keys.
S3_PREFIXES = ("s3.", "fs.s3a.")


def read_options(given: Mapping[str, str], options: Sequence[Option] = OPTIONS) -> dict[str, Any]:
    """The values of all options of a table by name; SourceException. Case does not matter."""
    values = {option.name: option.default for option in options}
    by_name = {option.name.lower(): option for option in options}
    for key, text in given.items():
        name = key.lower()
        if name in PATHS or name.startswith(S3_PREFIXES):
            continue
        option = by_name.get(name)
        if option is None:
            known = [each.name for each in options]
            hint = near_misses(key, known) or f"; known: {', '.join(known)}"
            raise SourceException(f"no option {key!r:.80}{hint}")
        values[option.name] = read_value(option, text)
    if "columns" in values:
        values["columns"] = _columns(values["columns"], values["reader"])
    return values


def _columns(given: tuple[str, ...] | None, reader: str) -> tuple[str, ...] | None:
    """The columns that are asked for; None for all of a Parquet file. SourceException."""
    parquet = reader == PARQUET
    if given is None:
        return None if parquet else COLUMNS
    found = given if parquet else tuple(name.lower() for name in given)
    if len(set(found)) != len(found) or not (parquet or set(found) <= set(COLUMNS)):
        wanted = "names" if parquet else f"some of {', '.join(COLUMNS)}"
        shown = ",".join(given)
        raise SourceException(f"option 'columns' can't be {shown!r:.80}: {wanted}, each once")
    return found


def options_of_s3(given: Mapping[str, str]) -> dict[str, str]:
    """The options that are those of a bucket."""
    own = {key.lower(): text for key, text in given.items()}
    prefix, hadoop = S3_PREFIXES
    found = {key.removeprefix(prefix): text for key, text in own.items() if key.startswith(prefix)}
    return {**{k: v for k, v in own.items() if k.startswith(hadoop)}, **found}


def table(options: Sequence[Option] = OPTIONS) -> str:
    """The options as a table of Markdown."""
    rows = ["| option | for | meaning | default |", "|---|---|---|---|"]
    for option in options:
        choices = f" ({', '.join(f'`{c}`' for c in option.choices)})" if option.choices else ""
        where = option.where or "both"
        rows.append(
            f"| `{option.name}` | {where} | {option.meaning}{choices} | {option.default_text} |"
        )
    return "\n".join(rows)
