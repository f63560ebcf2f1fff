"""Correct filesystems, builders and streams that mutants of `open_file` derive from."""

from __future__ import annotations

from typing import Any, ClassVar

from fscontract.contract.api.errors import NullPointerException
from fscontract.contract.api.filesystem import FSDataInputStream
from fscontract.contract.api.iostatistics import OP_OPENFILE
from fscontract.contract.api.openfile_options import option_table
from fscontract.implementations.input_stream import ReferenceInputStream
from fscontract.implementations.local_stream import (
    DEFAULT_BUFFER,
    FOOTER,
    Identity,
    LocalInputStream,
)
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.implementations.openfile_builder import Builder, OpenOptions

#: A key that these filesystems have beside the standard ones, and one that they can't support.
OWN_KEY = "fs.mutant.key"
UNSUPPORTED_KEY = "fs.mutant.select"


class OptionStream(MemoryInputStream):
    """A stream that knows the options with which it was opened."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        super().__init__(data, path, options.length)
        self.options = options


class OpeningBuilder(Builder[FSDataInputStream]):
    """A builder that knows its filesystem."""

    filesystem: OpeningFileSystem

    @property
    def optional(self) -> set[str]:
        """The keys that are set and not mandatory."""
        return self._values.keys() - self._mandatory

    def text(self, key: str) -> str:
        """What a key is set to, "" if it is not."""
        return self._values.get(key, "")


class OpeningFileSystem(MemoryFileSystem):
    """Files in memory, opened by builders of the class `builder` as streams of the class `stream`.

    One thing that it does wrong in a subclass, the rest does not see.
    """

    #: What it differs in from the profile "reference", with "!" before what it lacks.
    features: ClassVar[tuple[str, ...]] = ()
    own_keys: ClassVar[frozenset[str]] = frozenset({OWN_KEY})
    unsupported_keys: ClassVar[frozenset[str]] = frozenset({UNSUPPORTED_KEY})
    builder: ClassVar[type[OpeningBuilder]] = OpeningBuilder
    stream: ClassVar[type[OptionStream]] = OptionStream

    def open_file(self, path: str) -> OpeningBuilder:
        """Start building an open with options; NullPointerException if there is no path."""
        if path is None:
            raise NullPointerException("no path")
        builder = self.builder(path, self._open_by, self.own_keys, self.unsupported_keys)
        builder.filesystem = self
        return builder

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        """Open what `build` was asked for."""
        return self._opened(OP_OPENFILE, path, options)

    def _open(self, path: str, options: OpenOptions) -> Any:  # some stream, of whatever class
        return self.stream(self._data(path, options), path, options)

    def _data(self, path: str, options: OpenOptions) -> bytes:
        """The file's bytes; every error that opening it may have."""
        return super()._open(path, options).data


class _Blob:
    """A version of a file, as something opened that can be read from."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def identity(self) -> Identity:
        return 0, id(self._data), len(self._data), 0

    def read(self, position: int, view: memoryview) -> int:
        chunk = self._data[position : position + len(view)]
        view[: len(chunk)] = chunk
        return len(chunk)


class StoredStream(LocalInputStream):
    """A stream that reads ahead and keeps footers, and counts what it asks its store for."""


class StoredFiles(OpeningFileSystem):
    """Files in a store, where each open and each request counts; its streams are `stored`."""

    stored: ClassVar[type[StoredStream]] = StoredStream

    def _open(self, path: str, options: OpenOptions) -> Any:
        data = self._data(path, options)
        size, footer = self._buffer_size(options), self._footer(options)
        return self.stored(path, lambda look: _Blob(data), size, options.length, None, footer)

    def _buffer_size(self, options: OpenOptions) -> int:
        """How many bytes a stream reads ahead."""
        if options.buffer_size is not None:
            return options.buffer_size
        return self._size_for(options.read_policy)

    def _size_for(self, policy: str | None) -> int:
        """The same, where only the policy says it."""
        size = None if policy is None else option_table().policies[policy].buffer
        return size or DEFAULT_BUFFER

    def _footer(self, options: OpenOptions) -> int:
        """How many bytes at the end a stream keeps."""
        return FOOTER if options.footer_cache else 0


def filesystem_of(broken: type) -> type[OpeningFileSystem]:
    """Return a class of filesystems that has the part, which may be that class."""
    if issubclass(broken, OpeningFileSystem):
        return broken
    base, seam = OpeningFileSystem, "stream"
    if issubclass(broken, OpeningBuilder):
        seam = "builder"
    elif issubclass(broken, StoredStream):
        base, seam = StoredFiles, "stored"
    return type(broken.__name__, (base,), {seam: broken})
