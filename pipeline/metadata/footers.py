"""Statistics of the columns of data files, read from the footers of those that are Parquet."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any

from fscontract.contract.ports import FileStatus, FileSystem
from fscontract.pipeline.metadata.changes import Sizes, below
from fscontract.pipeline.metadata.errors import CorruptFileException, MetadataWarning
from fscontract.pipeline.metadata.files import in_threads
from fscontract.pipeline.metadata.payload import ColumnStatistics
from fscontract.pipeline.metadata.ranges import column_range
from fscontract.pipeline.metadata.source import Source, open_stream

SUFFIX = ".parquet"
#: How many columns of a file have statistics, unless it is said which: as many as with Hudi.
MOST_COLUMNS = 32
#: How much of a file's end is read at first; a larger footer takes a second read.
TAIL = 64 * 1024
#: A larger footer is not read; in memory it may take 200 times as much.
MAX_FOOTER = 16 * 1024 * 1024
#: No element of a list in a footer takes fewer bytes, but for those of short lists.
_ELEMENT, _SHORT = 8, 1000
_MAGIC = b"PAR1"
_END = 8
#: After how many files it is said how far it has come.
_BATCH = 1000

#: What is known of files, by partition and name.
Statistics = dict[tuple[str, str], list[ColumnStatistics]]
#: What reads them of the files of a dataset, as `read_statistics` does.
StatisticsReader = Callable[[FileSystem, str, Sizes, Collection[str] | None], Statistics]


def read_statistics(
    fs: FileSystem,
    path: str,
    sizes: Sizes,
    columns: Collection[str] | None,
    progress: Callable[[int, int], None] | None = None,
) -> Statistics:
    """What the Parquet files among some files of the dataset at `path` say of their columns.

    A column in a struct is named with dots; lists and maps have none. Without `columns` it is the
    first 32 of each file. A file that is not there, or can't be read, has no statistics: an
    empty list, and a MetadataWarning tells of it. Other errors of reading are raised.

    `progress` is told how many footers have been read, and of how many.
    """
    files = [
        (partition, name, FileStatus(f"{path}/{below(partition, name)}", size))
        for partition, found in sizes.items()
        for name, size in found.items()
        if name.endswith(SUFFIX)
    ]
    read: list[list[ColumnStatistics] | Exception] = []
    while len(read) < len(files):
        some = files[len(read) : len(read) + _BATCH]
        read += in_threads(lambda file: _read(fs, file[2], columns), some)
        if progress is not None:
            progress(len(read), len(files))
    failed = [each for each in read if isinstance(each, Exception)]
    if failed:
        message = f"{len(failed)} files have no statistics that can be read: {failed[0]}"
        warnings.warn(message, MetadataWarning, stacklevel=2)
    return {
        (partition, name): [] if isinstance(found, Exception) else found
        for (partition, name, _), found in zip(files, read, strict=True)
    }


def file_statistics(
    fs: FileSystem, status: FileStatus, columns: Collection[str] | None = None
) -> list[ColumnStatistics]:
    """What the footer of a Parquet file says of its columns, as `read_footer` reads it."""
    return statistics_of(status.path.rpartition("/")[2], read_footer(fs, status), columns)


def read_footer(fs: FileSystem, status: FileStatus) -> Any:
    """Return the footer of a Parquet file as PyArrow's metadata, by one read, or by two.

    CorruptFileException if it is no Parquet file of the length that the status says.
    """
    with open_stream(fs, status) as stream:
        return _footer(Source(stream, status.path, status.length))


def statistics_of(
    name: str, footer: Any, columns: Collection[str] | None
) -> list[ColumnStatistics]:
    """Return what the footer of a file says of some columns, or of the first 32."""
    leaves = [footer.schema.column(place) for place in range(footer.num_columns)]
    paths = Counter(leaf.path for leaf in leaves)
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    found = []
    for place, leaf in enumerate(leaves):
        if leaf.max_repetition_level or paths[leaf.path] > 1 or not indexable(leaf.path):
            continue
        if columns is None or leaf.path in columns:
            chunks = [group.column(place) for group in groups]
            found.append(column_range(name, leaf, chunks))
        if columns is None and len(found) == MOST_COLUMNS:
            break
    return found


def indexable(column: str) -> bool:
    """Whether a name can stand in the list of columns of the properties, which has commas."""
    return column.strip() == column != "" and "," not in column


def _read(
    fs: FileSystem, status: FileStatus, columns: Collection[str] | None
) -> list[ColumnStatistics] | Exception:
    try:
        return file_statistics(fs, status, columns)
    except (FileNotFoundError, CorruptFileException) as error:
        return error


def _footer(source: Source) -> Any:
    """The metadata at the end of a file, as PyArrow has it."""
    if source.length < _END + len(_MAGIC):
        raise source.corrupt(0, f"no Parquet file has {source.length} bytes")
    start = max(0, source.length - TAIL)
    tail = source.read(start, source.length - start)
    size = int.from_bytes(tail[-_END:-4], "little")
    if tail[-4:] != _MAGIC or size > source.length - _END - len(_MAGIC):
        raise source.corrupt(max(0, source.length - _END), "no Parquet file ends here")
    if size > MAX_FOOTER:
        message = f"a footer of {size} bytes, {MAX_FOOTER} at most"
        raise source.corrupt(source.length - _END - size, message)
    if size + _END > len(tail):
        missing = source.length - size - _END
        tail = source.read(missing, start - missing) + tail
    return _decoded(source, tail[-size - _END :])


def _decoded(source: Source, tail: bytes) -> Any:
    import pyarrow
    import pyarrow.parquet

    try:
        # Of the rest of the file PyArrow looks at nothing but how it begins.
        reader = pyarrow.BufferReader(_MAGIC + tail)
        return pyarrow.parquet.ParquetFile(
            reader,
            thrift_string_size_limit=len(tail),
            thrift_container_size_limit=len(tail) // _ELEMENT + _SHORT,
        ).metadata
    except Exception as error:  # of any kind, for bytes of any kind
        message = f"the footer can't be read ({error})"
        raise source.corrupt(source.length - len(tail), message) from error


def without(sizes: Sizes, known: Mapping[tuple[str, str], object]) -> Sizes:
    """The files that could be Parquet, and of which nothing is known."""
    return {
        partition: {
            name: size
            for name, size in files.items()
            if name.endswith(SUFFIX) and (partition, name) not in known
        }
        for partition, files in sizes.items()
    }
