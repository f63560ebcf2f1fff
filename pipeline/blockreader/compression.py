"""Decompression of gzip, bzip2, xz and zstd files. A compressed file is one block."""

from __future__ import annotations

import bz2
import io
import lzma
import zlib
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

from fscontract.contract.api.errors import IllegalArgumentException, PathIOException
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.pipeline.blockreader.source import ByteSource, FileSource

#: Selects the codec by the suffix of the path.
INFER = "infer"
SUFFIXES = {
    ".gz": "gzip",
    ".bz2": "bzip2",
    ".xz": "xz",
    ".zst": "zstd",
}
#: Suffixes of unsupported compressed files, whose bytes are not records.
UNREADABLE = (".lz4", ".snappy", ".deflate", ".lzo", ".br", ".zip", ".7z")
_CHUNK = 1 << 18


class _Decoder(Protocol):
    """A decompressor of one member of a file."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


class _Gzip:
    """zlib's decompressor with the interface of the others."""

    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(31)

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
        return self._decoder.decompress(self._decoder.unconsumed_tail + data, max(max_length, 0))


_DECODERS: dict[str, Callable[[], _Decoder]] = {
    "gzip": _Gzip,
    "bzip2": bz2.BZ2Decompressor,
    "xz": lzma.LZMADecompressor,
}
CODECS = (*_DECODERS, "zstd")


def codec_of(path: str, compression: str | None) -> str | None:
    """Return the codec of a file: `compression`, or by the suffix if that is INFER.

    Raise IllegalArgumentException for an unknown codec, or an unsupported suffix.
    """
    if compression is None or compression in CODECS:
        return compression
    if compression != INFER:
        known = ", ".join((INFER, *CODECS))
        raise IllegalArgumentException(
            f"unknown compression {compression!r:.40}; must be one of {known}, None"
        )
    name = path.lower()
    if name.endswith(UNREADABLE):
        raise IllegalArgumentException(
            f"unsupported compression of {path!r}, by its suffix; compression=None reads the "
            "compressed bytes"
        )
    return next((codec for suffix, codec in SUFFIXES.items() if name.endswith(suffix)), None)


def decompressed(stream: FSDataInputStream, path: str, length: int, codec: str) -> ByteSource:
    """Return the content of a compressed file of `length` bytes."""
    raw = FileSource(stream, path, length)
    if codec == "zstd":
        return _ZstdSource(raw, path)
    return _MemberSource(raw, path, _DECODERS[codec])


class _DecodedSource(ByteSource):
    """Decompressed bytes, sequentially. Seeking back is not possible."""

    def __init__(self, raw: FileSource, path: str) -> None:
        self.length = None
        self._raw = raw
        self._path = path
        self._position = 0

    def read(self, position: int, count: int) -> bytes:
        """Return the next bytes; raise PathIOException for any other position, or damaged data."""
        if position != self._position:
            raise PathIOException(self._path, f"can't seek to {position} in a compressed file")
        parts: list[bytes] = []
        while count > 0:
            try:
                part = self._decode(count)
            except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
                raise PathIOException(self._path, f"can't decompress: {error}") from error
            if not part:
                break
            parts.append(part)
            count -= len(part)
            self._position += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    @abstractmethod
    def _decode(self, count: int) -> bytes:
        """Return 1 to `count` bytes, none at EOF."""


class _MemberSource(_DecodedSource):
    """A file of one or more separately compressed members.

    Zeros after a member are padding. Any other trailing data is an error, and so is a truncated
    member.
    """

    def __init__(self, raw: FileSource, path: str, decoder: Callable[[], _Decoder]) -> None:
        super().__init__(raw, path)
        self._make = decoder
        self._decoder: _Decoder | None = None
        self._fetched = 0
        self._input = b""

    def _decode(self, count: int) -> bytes:
        while True:
            if self._decoder is None and not self._begin():
                return b""
            decoder = self._decoder
            assert decoder is not None
            data, self._input = self._input, b""
            part = decoder.decompress(data, count)
            if decoder.eof:
                self._input, self._decoder = decoder.unused_data.lstrip(b"\0"), None
            if part:
                return part
            if not decoder.eof and not self._fetch():
                raise EOFError("the file ends in the middle of a member")

    def _begin(self) -> bool:
        """Start the next member; return False if there is none."""
        first = self._fetched == 0
        while not self._input and self._fetch():
            if not first:
                self._input = self._input.lstrip(b"\0")
        self._decoder = self._make() if self._input else None
        return self._decoder is not None

    def _fetch(self) -> bool:
        chunk = self._raw.read(self._fetched, _CHUNK)
        self._fetched += len(chunk)
        self._input += chunk
        return bool(chunk)


class _RawFile(io.RawIOBase):
    """A source as a Python file, from its start on."""

    def __init__(self, raw: FileSource) -> None:
        self._raw = raw
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._raw.read(self._position, len(buffer))
        buffer[: len(chunk)] = chunk
        self._position += len(chunk)
        return len(chunk)


class _ZstdSource(_DecodedSource):
    """Zstandard through PyArrow, from the extra `pyarrow`."""

    def __init__(self, raw: FileSource, path: str) -> None:
        super().__init__(raw, path)
        try:
            import pyarrow
        except ImportError:
            raise PathIOException(
                path, "zstd requires pyarrow: pip install 'fscontract[pyarrow]'"
            ) from None
        file = pyarrow.PythonFile(_RawFile(raw), mode="r")
        self._stream = pyarrow.CompressedInputStream(file, "zstd")

    def _decode(self, count: int) -> bytes:
        return bytes(self._stream.read(count))
