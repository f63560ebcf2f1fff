"""Column statistics from Parquet footers."""

from __future__ import annotations

import json
import math
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import time
from decimal import Decimal
from typing import Any

from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.pipeline.hudi.changes import Sizes, below
from fscontract.pipeline.hudi.io import (
    CorruptFileException,
    FileRegion,
    MetadataWarning,
    in_threads,
    open_stream,
)
from fscontract.pipeline.hudi.records import DECIMAL, ColumnStatistics, ValueType

#: Maximum length of a stored text or binary value; longer ones are truncated.
LONGEST = 256
_MAX = {"IntWrapper": 1 << 31, "LongWrapper": 1 << 63}
#: Bounds of a decimal with 30 digits, 15 of them fractional.
_DECIMALS = Decimal(10) ** 15
_PLACES = -15
_SURROGATES = range(0xD800, 0xE000)
#: Microseconds per unit, or units per microsecond.
_UNITS = {"milliseconds": (1000, 1), "microseconds": (1, 1), "nanoseconds": (1, 1000)}
_DAY = 86_400_000_000

#: Converts the smallest and largest value of a file; None if they can't be stored.
_Bounds = Callable[[Any, Any], tuple[Any, Any] | None]


def column_range(file: str, leaf: Any, chunks: Sequence[Any]) -> ColumnStatistics:
    """Return the statistics of a column that is not a list, over all row groups.

    `leaf` is the column's schema and `chunks` its metadata in each row group, as PyArrow objects.
    There are bounds if each row group has some, or only nulls, and if all implementations agree on
    the order of the type.
    """
    wrapper, bounds = _kept_as(leaf)
    bounds_of_all = _bounds(wrapper, bounds, chunks) if wrapper is not None else None
    nulls = [_nulls(chunk) for chunk in chunks]
    low, high = bounds_of_all or (None, None)
    return ColumnStatistics(
        "",
        file,
        leaf.path,
        None if bounds_of_all is None else wrapper,
        low,
        high,
        sum(chunk.num_values for chunk in chunks),
        None if None in nulls else sum(count for count in nulls if count is not None),
        sum(chunk.total_compressed_size for chunk in chunks),
        sum(chunk.total_uncompressed_size for chunk in chunks),
        value_type=_decimal_type(leaf) if wrapper == "DecimalWrapper" else None,
    )


def _decimal_type(leaf: Any) -> ValueType:
    return ValueType(DECIMAL, f"{leaf.precision},{leaf.scale}")


def _nulls(chunk: Any) -> int | None:
    known = chunk.statistics
    return known.null_count if known is not None and known.has_null_count else None


def _bounds(wrapper: str, bounds: _Bounds, chunks: Sequence[Any]) -> tuple[Any, Any] | None:
    lows, highs = [], []
    for chunk in chunks:
        if _nulls(chunk) == chunk.num_values:
            continue
        known = chunk.statistics
        if known is None or not known.has_min_max:
            return None
        if wrapper in _AS_THEY_ARE:
            chunk_bounds = bounds(known.min_raw, known.max_raw)
        else:
            try:
                chunk_bounds = bounds(known.min, known.max)
            except ValueError:  # such as bytes that are not valid text
                return None
        if chunk_bounds is None:
            return None
        lows.append(chunk_bounds[0])
        highs.append(chunk_bounds[1])
    return (min(lows), max(highs)) if lows else None


def _kept_as(leaf: Any) -> tuple[str | None, _Bounds]:
    """Return a column's wrapper, None if its values have no order, and its bounds function."""
    physical, logical = leaf.physical_type, leaf.logical_type
    if logical.type in ("TIMESTAMP", "TIME", "INT"):
        return _by_logical_type(json.loads(logical.to_json()))
    kind = _KINDS.get((physical, logical.type))
    if kind is None and logical.type == "DECIMAL":
        return "DecimalWrapper", _decimals
    return kind or (None, _plain)


def _by_logical_type(logical: dict[str, Any]) -> tuple[str | None, _Bounds]:
    if logical["Type"] == "Int":
        small = logical["bitWidth"] < 32 or (logical["bitWidth"] == 32 and logical["isSigned"])
        wrapper = "IntWrapper" if small else "LongWrapper"
        return wrapper, _within(_MAX[wrapper])
    unit = _UNITS.get(logical["timeUnit"])
    if unit is None:
        return None, _plain
    if logical["Type"] == "Time":
        return "TimeMicrosWrapper", _times(*unit)
    if logical["isAdjustedToUTC"]:
        return "TimestampMicrosWrapper", _microseconds(*unit)
    return None, _plain  # the meaning of a time without a zone depends on the reader


def _plain(low: Any, high: Any) -> tuple[Any, Any]:
    return low, high


def _within(limit: int) -> _Bounds:
    return lambda low, high: (low, high) if -limit <= low and high < limit else None


def _floats(low: float, high: float) -> tuple[float, float] | None:
    return None if math.isnan(low) or math.isnan(high) else (low, high)


def _microseconds(times: int, divisor: int) -> _Bounds:
    """Return bounds in microseconds, rounded outwards."""

    def bounds(low: int, high: int) -> tuple[int, int] | None:
        rounded = low * times // divisor, -(-high * times // divisor)
        return _within(_MAX["LongWrapper"])(*rounded)

    return bounds


def _times(times: int, divisor: int) -> _Bounds:
    def bounds(low: int, high: int) -> tuple[time, time] | None:
        microseconds = _microseconds(times, divisor)(low, high)
        if microseconds is None or not 0 <= microseconds[0] <= microseconds[1] < _DAY:
            return None
        return _time(microseconds[0]), _time(microseconds[1])

    return bounds


def _time(microseconds: int) -> time:
    seconds, rest = divmod(microseconds, 1_000_000)
    return time(seconds // 3600, seconds // 60 % 60, seconds % 60, rest)


def _decimals(low: Decimal, high: Decimal) -> tuple[Decimal, Decimal] | None:
    """Return decimal bounds if they fit the format's decimal type."""
    for value in (low, high):
        exponent = value.as_tuple().exponent
        if not isinstance(exponent, int) or exponent < _PLACES or abs(value) >= _DECIMALS:
            return None
    return low, high


def _texts(low: str, high: str) -> tuple[str, str] | None:
    """Truncate both bounds; round the upper one up, so that it remains an upper bound."""
    if len(high) <= LONGEST:
        return low[:LONGEST], high
    for end in range(LONGEST, 0, -1):
        code = ord(high[end - 1]) + 1
        if code <= 0xFFFF:  # above this, Java's order differs from the byte order
            code = _SURROGATES.stop if code in _SURROGATES else code
            return low[:LONGEST], high[: end - 1] + chr(code)
    return None


def _bytes(low: bytes, high: bytes) -> tuple[bytes, bytes] | None:
    if len(high) <= LONGEST:
        return low[:LONGEST], high
    stem = high[:LONGEST].rstrip(b"\xff")
    return (low[:LONGEST], stem[:-1] + bytes([stem[-1] + 1])) if stem else None


#: Wrappers of values that are stored as plain numbers.
_AS_THEY_ARE = {"DateWrapper", "TimestampMicrosWrapper", "TimeMicrosWrapper"}
#: By physical and logical type; other types have no known order, or not that of their bytes.
_KINDS: dict[tuple[str, str], tuple[str, _Bounds]] = {
    ("BOOLEAN", "NONE"): ("BooleanWrapper", _plain),
    ("INT32", "NONE"): ("IntWrapper", _plain),
    ("INT64", "NONE"): ("LongWrapper", _plain),
    ("INT32", "DATE"): ("DateWrapper", _plain),
    ("FLOAT", "NONE"): ("FloatWrapper", _floats),
    ("DOUBLE", "NONE"): ("DoubleWrapper", _floats),
    ("BYTE_ARRAY", "NONE"): ("BytesWrapper", _bytes),
    ("BYTE_ARRAY", "STRING"): ("StringWrapper", _texts),
    ("BYTE_ARRAY", "ENUM"): ("StringWrapper", _texts),
    ("FIXED_LEN_BYTE_ARRAY", "NONE"): ("BytesWrapper", _bytes),
}


SUFFIX = ".parquet"
#: Default number of columns per file with statistics, the same as Hudi's.
MAX_COLUMNS = 32
#: Bytes at a file's end that are read first; a larger footer takes a second read.
TAIL = 64 * 1024
#: Maximum size of a footer; in memory it may take 200 times as much.
MAX_FOOTER = 16 * 1024 * 1024
#: Minimum bytes of an element of a list in a footer, except in short lists.
_ELEMENT, _SHORT = 8, 1000
_MAGIC = b"PAR1"
_END = 8
#: Number of files between progress reports.
_BATCH = 1000

#: Statistics of files, by partition and name.
Statistics = dict[tuple[str, str], list[ColumnStatistics]]
#: Reads the statistics of a dataset's files, as `read_statistics` does.
StatisticsReader = Callable[[FileSystem, str, Sizes, Collection[str] | None], Statistics]


def read_statistics(
    fs: FileSystem,
    path: str,
    sizes: Sizes,
    columns: Collection[str] | None,
    progress: Callable[[int, int], None] | None = None,
) -> Statistics:
    """Return the column statistics of the Parquet files among some files of a dataset.

    A column in a struct has a dotted name; lists and maps have no statistics. Without `columns`,
    the first 32 of each file are read. A missing or unreadable file has an empty list, and a
    MetadataWarning reports it. Other read errors are raised.

    `progress` is called with the number of footers read, and the total.
    """
    files = [
        (partition, name, FileStatus(f"{path}/{below(partition, name)}", size))
        for partition, result in sizes.items()
        for name, size in result.items()
        if name.endswith(SUFFIX)
    ]
    read: list[list[ColumnStatistics] | Exception] = []
    while len(read) < len(files):
        some = files[len(read) : len(read) + _BATCH]
        read += in_threads(lambda file: _read(fs, file[2], columns), some)
        if progress is not None:
            progress(len(read), len(files))
    failed = [failure for failure in read if isinstance(failure, Exception)]
    if failed:
        message = f"can't read statistics of {len(failed)} files: {failed[0]}"
        warnings.warn(message, MetadataWarning, stacklevel=2)
    return {
        (partition, name): [] if isinstance(result, Exception) else result
        for (partition, name, _), result in zip(files, read, strict=True)
    }


def file_statistics(
    fs: FileSystem, status: FileStatus, columns: Collection[str] | None = None
) -> list[ColumnStatistics]:
    """Return the column statistics in the footer of a Parquet file, read by `read_footer`."""
    return statistics_of(status.path.rpartition("/")[2], read_footer(fs, status), columns)


def read_footer(fs: FileSystem, status: FileStatus) -> Any:
    """Return the footer of a Parquet file as PyArrow metadata, with one or two reads.

    Raise CorruptFileException if it is not a Parquet file of the length in the status.
    """
    with open_stream(fs, status) as stream:
        return _footer(FileRegion(stream, status.path, status.length))


def statistics_of(
    name: str, footer: Any, columns: Collection[str] | None
) -> list[ColumnStatistics]:
    """Return the statistics in a footer for some columns, or for the first 32."""
    leaves = [footer.schema.column(index) for index in range(footer.num_columns)]
    paths = Counter(leaf.path for leaf in leaves)
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    statistics = []
    for index, leaf in enumerate(leaves):
        if leaf.max_repetition_level or paths[leaf.path] > 1 or not indexable(leaf.path):
            continue
        if columns is None or leaf.path in columns:
            chunks = [group.column(index) for group in groups]
            statistics.append(column_range(name, leaf, chunks))
        if columns is None and len(statistics) == MAX_COLUMNS:
            break
    return statistics


def indexable(column: str) -> bool:
    """Return True if a name can be part of a comma-separated list of columns."""
    return column.strip() == column != "" and "," not in column


def _read(
    fs: FileSystem, status: FileStatus, columns: Collection[str] | None
) -> list[ColumnStatistics] | Exception:
    try:
        return file_statistics(fs, status, columns)
    except (FileNotFoundError, CorruptFileException) as error:
        return error


def _footer(source: FileRegion) -> Any:
    """Return the metadata at the end of a file as a PyArrow object."""
    if source.length < _END + len(_MAGIC):
        raise source.corrupt(0, f"not a Parquet file: only {source.length} bytes")
    start = max(0, source.length - TAIL)
    tail = source.read(start, source.length - start)
    size = int.from_bytes(tail[-_END:-4], "little")
    if tail[-4:] != _MAGIC or size > source.length - _END - len(_MAGIC):
        raise source.corrupt(
            max(0, source.length - _END), "not a Parquet file: wrong magic bytes at the end"
        )
    if size > MAX_FOOTER:
        message = f"footer too large: {size} bytes; must be at most {MAX_FOOTER}"
        raise source.corrupt(source.length - _END - size, message)
    if size + _END > len(tail):
        missing = source.length - size - _END
        tail = source.read(missing, start - missing) + tail
    return _decoded(source, tail[-size - _END :])


def _decoded(source: FileRegion, tail: bytes) -> Any:
    import pyarrow
    import pyarrow.parquet

    try:
        # PyArrow reads only the beginning of the rest of the file.
        reader = pyarrow.BufferReader(_MAGIC + tail)
        return pyarrow.parquet.ParquetFile(
            reader,
            thrift_string_size_limit=len(tail),
            thrift_container_size_limit=len(tail) // _ELEMENT + _SHORT,
        ).metadata
    except Exception as error:  # any kind, because the bytes may be arbitrary
        message = f"can't read the footer: {error}"
        raise source.corrupt(source.length - len(tail), message) from error


def without(sizes: Sizes, known: Mapping[tuple[str, str], object]) -> Sizes:
    """Return the possible Parquet files without known statistics."""
    return {
        partition: {
            name: size
            for name, size in files.items()
            if name.endswith(SUFFIX) and (partition, name) not in known
        }
        for partition, files in sizes.items()
    }
