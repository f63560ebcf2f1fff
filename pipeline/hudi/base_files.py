"""Rows of base files: Parquet, and Lance if its package is installed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Collection
from typing import IO, Any

from fscontract.contract.api.errors import PathIOException
from fscontract.contract.api.filesystem import FileStatus, FileSystem
from fscontract.pipeline.hudi.io import CorruptFileException, MetadataException, open_stream
from fscontract.pipeline.hudi.parquet_stats import SUFFIX, read_footer

LANCE = ".lance"
#: The last bytes of a Lance file; the library panics if it reads an empty one.
_MAGIC = b"LANC"


def read_base_file(fs: FileSystem, status: FileStatus, names: Collection[str]) -> Any:
    """Return the rows of a base file, with those of some columns that it has, and perhaps others.

    Raise CorruptFileException if it is damaged, and MetadataException for other formats.
    """
    if status.path.endswith(SUFFIX):
        return read_parquet(fs, status, names)
    if status.path.endswith(LANCE):
        return _read_lance(fs, status, names)
    raise MetadataException(status.path, "unsupported base file: must be Parquet or Lance")


def read_parquet(fs: FileSystem, status: FileStatus, names: Collection[str]) -> Any:
    """Return the rows of a Parquet file with those of some columns that it has.

    Raise CorruptFileException if it is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    footer = read_footer(fs, status)
    try:
        stored = footer.schema.to_arrow_schema().names
        with open_stream(fs, status) as stream, stream.as_file() as file:
            parquet = pq.ParquetFile(
                file, metadata=footer, coerce_int96_timestamp_unit="us", pre_buffer=False
            )
            columns = [name for name in stored if name in names]
            # Arrow's threads may release the file after the read, which aborts an ending process.
            rows = parquet.read(columns=columns, use_threads=False)
            rows.validate(full=True)
    except PathIOException:
        raise
    except (pa.ArrowException, OSError) as error:
        raise CorruptFileException(status.path, 0, f"can't read rows: {error}") from error
    return rows


def _read_lance(fs: FileSystem, status: FileStatus, names: Collection[str]) -> Any:
    """Return rows of a Lance file, from a temporary copy: the library opens files by path."""
    import pyarrow as pa

    try:
        from lance.file import LanceFileReader
    except ModuleNotFoundError as error:
        message = "Lance files need the module 'lance'; pip install 'fscontract[lance]'"
        raise MetadataException(status.path, message) from error
    with tempfile.NamedTemporaryFile(suffix=LANCE) as copy:
        with open_stream(fs, status, "sequential") as stream, stream.as_file() as file:
            shutil.copyfileobj(file, copy)
        copy.flush()
        _check_magic(copy, status.path)
        try:
            stored = LanceFileReader(copy.name).metadata().schema.names
            wanted = [name for name in stored if name in names]
            columns = wanted or stored[:1]  # the number of rows is needed in any case
            rows = LanceFileReader(copy.name, columns=columns).read_all().to_table()
            rows.validate(full=True)
        except (pa.ArrowException, OSError) as error:
            message = str(error).replace(copy.name, "the copy")
            raise CorruptFileException(status.path, 0, f"can't read rows: {message}") from error
    return rows


def _check_magic(copy: IO[bytes], path: str) -> None:
    length = copy.seek(0, os.SEEK_END)
    copy.seek(max(0, length - len(_MAGIC)))
    if copy.read() != _MAGIC:
        raise CorruptFileException(path, length, "can't read rows: no Lance file")
