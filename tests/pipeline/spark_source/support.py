"""Random files, and their expected records."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.blockreader.readers import records_of

#: Parts of random files: line ends, text between them, and a BOM.
PIECES = (b"\n", b"\r", b"\r\n", b"a", b"bc", b"\xff", b"0123456789" * 3, b"\xef\xbb\xbf", b"")
#: Parts of text that Spark's own reader splits at line feeds, as the source does.
TEXT = (b"\n", b"\n", b"\r\n", "äö".encode(), b"bc", b"0123456789" * 3)


def random_files(
    folder: Path, count: int, pieces: Sequence[bytes] = PIECES, seed: int = 7
) -> dict[str, bytes]:
    """Write random files; return contents by path."""
    chosen = random.Random(seed)
    folder.mkdir(exist_ok=True)
    files = {}
    for number in range(count):
        path = folder / f"file-{number:04}"
        content = b"".join(chosen.choices(pieces, k=chosen.randrange(20)))
        path.write_bytes(content)
        files[str(path)] = content
    return files


def unsplit(path: str, **options: Any) -> list[tuple[bytes, int]]:
    """Return the records of a file that is one block, with their offsets."""
    fs = LocalFileSystem("/")
    return [(r.record, r.offset) for r in records_of(fs, path, 1 << 40, **options)]


def write(folder: Path, name: str, content: bytes) -> str:
    """Write a file; return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return str(path)


def read(spark: Any, paths: Any, **options: Any) -> Any:
    """Return a frame of the source."""
    reader = spark.read.format("fscontract")
    for name, value in options.items():
        reader = reader.option(name, value)
    return reader.load(paths)
