"""Mutants of fsspec filesystems whose files are opened with options, or by URL."""

from __future__ import annotations

import gzip
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import fsspec

from fscontract.fakes.mutants.correct_filesystem import RightFile, RightFilesystem
from fscontract.fakes.mutants.registry import Operation, mutant, right

_OPEN: Operation[Callable[..., Any]] = Operation(RightFilesystem, "open", lambda function: function)


@mutant("filesystem.open.cache-type", _OPEN)
def read_ahead_ends_at_block(
    self: RightFilesystem, path: str, mode: str = "rb", **options: Any
) -> Any:
    """With the cache "readahead", a file ends at the end of the last whole block."""
    if options.get("cache_type") == "readahead" and options["block_size"] < 100:
        data = self.content(path)
        return RightFile(data[: len(data) // options["block_size"] * options["block_size"]])
    return right(self).open(path, mode, **options)


@mutant("filesystem.open.cache-type", _OPEN)
def first_block_is_all(self: RightFilesystem, path: str, mode: str = "rb", **options: Any) -> Any:
    """With the cache "first", a file has no bytes after the first 256."""
    file = right(self).open(path, mode, **options)
    return RightFile(file.read(256)) if options.get("cache_type") == "first" else file


@mutant("filesystem.decompress.open.named", _OPEN)
def codec_is_ignored(self: RightFilesystem, path: str, mode: str = "rb", **options: Any) -> Any:
    """A codec that is named is ignored for binary files."""
    named = options.get("compression") not in (None, "infer") and "b" in mode
    return right(self).open(path, mode, **{**options, **({"compression": None} if named else {})})


@mutant("filesystem.decompress.open.infer", _OPEN)
def xz_is_unknown(self: RightFilesystem, path: str, mode: str = "rb", **options: Any) -> Any:
    """No codec is inferred from .xz."""
    inferred = options.get("compression") == "infer" and path.endswith(".xz")
    given = {**options, **({"compression": None} if inferred else {})}
    return right(self).open(path, mode, **given)


@mutant("filesystem.decompress.open.text", _OPEN)
def text_is_compressed(self: RightFilesystem, path: str, mode: str = "rb", **options: Any) -> Any:
    """The codec of a file in text mode is ignored."""
    text = {} if "b" in mode else {"compression": None, "errors": "replace"}
    return right(self).open(path, mode, **{**options, **text})


def _decompressed(fs: RightFilesystem, path: str, mode: str, options: dict[str, Any]) -> Any:
    """Open a file; a gzip file that is opened without a codec is decompressed."""
    data = fs.content(path)
    if "compression" in options or not data.startswith(b"\x1f\x8b"):
        return right(fs).open(path, mode, **options)
    return RightFile(gzip.decompress(data))


@mutant("filesystem.decompress.open-file.named", _OPEN)
def decompresses_packed(self: RightFilesystem, path: str, mode: str = "rb", **options: Any) -> Any:
    """A gzip file is decompressed without being asked, unless its name ends with .gz."""
    if path.endswith(".gz"):
        return right(self).open(path, mode, **options)
    return _decompressed(self, path, mode, options)


class _ReadsOnce(RightFile):
    """A file that has no bytes after its first read."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.is_read = False

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes, at most 32 at the first read."""
        self.is_read, again = True, self.is_read
        return b"" if again else super().read(32)


@mutant("filesystem.decompress.open-file.infer", _OPEN)
def compressed_end_early(self: RightFilesystem, path: str, mode: str = "rb", **options: Any) -> Any:
    """A file whose name ends with .bz2 ends after the first read, unless a codec is given."""
    if path.endswith(".bz2") and "compression" not in options:
        return _ReadsOnce(self.content(path))
    return right(self).open(path, mode, **options)


@mutant("filesystem.decompress.open-file.text", _OPEN)
def decompresses_gz(self: RightFilesystem, path: str, mode: str = "rb", **options: Any) -> Any:
    """A file whose name ends with .gz is decompressed without being asked."""
    if not path.endswith(".gz"):
        return right(self).open(path, mode, **options)
    return _decompressed(self, path, mode, options)


class _Found(RightFilesystem):
    """A filesystem whose instances have the same files, so that it can be found by its URL."""

    shared: ClassVar[dict[str, bytes]] = {}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.files = self.shared
        fsspec.register_implementation(self.protocol, type(self), clobber=True)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        stripped = super()._strip_protocol(path)
        is_url = isinstance(path, str) and path.startswith(f"{cls.protocol}:")
        return cls.path_of_url(stripped) if is_url else stripped

    @classmethod
    @abstractmethod
    def path_of_url(cls, path: str) -> str:
        """Return the path that is read instead of that of a URL."""


@mutant("filesystem.open-files.one")
class CutsUrls(_Found):
    """The path of a URL lacks its last character."""

    protocol = "right-cut"

    @classmethod
    def path_of_url(cls, path: str) -> str:
        """Return the path that is read instead of that of a URL."""
        return path[:-1]


@mutant("filesystem.open-files.list")
class CutsSuffixes(_Found):
    """The path of a URL lacks the suffix .other."""

    protocol = "right-suffix"

    @classmethod
    def path_of_url(cls, path: str) -> str:
        """Return the path that is read instead of that of a URL."""
        return path.removesuffix(".other")


@mutant("filesystem.open-files.glob")
class QuotesPatterns(_Found):
    """A pattern in a URL is a name."""

    protocol = "right-quoted"

    @classmethod
    def path_of_url(cls, path: str) -> str:
        """Return the path that is read instead of that of a URL."""
        return path.replace("*", "%2A")
