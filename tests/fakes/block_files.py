"""fsspec's memory, with files that read blocks through a cache."""

from __future__ import annotations

from typing import Any

from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile


class Blocks(MemoryFileSystem):  # type: ignore[misc]
    """Files in memory that read blocks through a cache, as those of most stores do."""

    cachable = False
    protocol = "blocks"

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode != "rb":
            return super()._open(path, mode, **options)
        return BlockFile(self, path, block_size=4096)


class BlockFile(AbstractBufferedFile):  # type: ignore[misc]
    def _fetch_range(self, start: int, end: int) -> bytes:
        data: bytes = self.fs.cat_file(self.path, start, end)
        return data
