"""Mutants of the declared length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fscontract.contract.errors import PathIOException
from fscontract.contract.openfile_options import LENGTH
from fscontract.fakes.mutants.openfile.filesystems import (
    OpeningBuilder,
    OpeningFileSystem,
    OptionStream,
    opening_mutant,
)
from fscontract.implementations.options import OpenOptions


@opening_mutant("open.length-minimum")
class LastByteLost(OptionStream):
    """The last byte of a length as option is taken to lie beyond the end."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        if options.status is None and options.length and options.length <= len(data):
            data, options = data[: options.length - 1], replace(options, length=None)
        super().__init__(data, path, options)


@opening_mutant("open.length-longer-file")
class LongerIsChanged(OpeningFileSystem):
    """A file that is longer than declared counts as changed."""

    def _open(self, path: str, options: OpenOptions) -> OptionStream:
        data = self._data(path, options)
        if options.length is not None and options.length < len(data):
            raise PathIOException(path, f"{options.length} bytes expected, not {len(data)}")
        return self.stream(data, path, options)


@opening_mutant("open.length-beyond")
class ZerosBeyond(OptionStream):
    """Behind a declared length inside the file there are zeros."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        length = len(data) if options.length is None else options.length
        data = data[:length] + bytes(max(0, len(data) - length))
        super().__init__(data, path, OpenOptions())


@opening_mutant("open.length-beyond")
class NothingBeyond(OptionStream):
    """Reading beyond a declared length inside the file is an I/O error."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        super().__init__(data, path, options)
        self._is_cut = self._stop < len(data)

    def read_byte(self) -> int:
        if self._is_cut and not self._closed and self._pos >= self._stop:
            raise PathIOException(self.path, f"only {self._stop} bytes were declared")
        return super().read_byte()


@opening_mutant("open.length-overstated")
class ZerosUpToLength(OptionStream):
    """A file that is shorter than declared is filled up with zeros."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        more = min((options.length or 0) - len(data), 1 << 16)
        super().__init__(data + bytes(max(0, more)), path, options)


@opening_mutant("open.length-overstated")
class ShorterIsChanged(OptionStream):
    """At the end of a file that is shorter than declared there is an I/O error."""

    def read_byte(self) -> int:
        value = super().read_byte()
        if value < 0 and self._pos < self._size:
            raise PathIOException(self.path, f"the file ends before {self._size}")
        return value


@opening_mutant("open.length-status")
class OptionBeatsStatus(OpeningBuilder):
    """A length as option goes before that in the status."""

    def _options(self) -> OpenOptions:
        options, status = super()._options(), self._status
        self._status = None
        declared: Any = super()._options().length
        self._status = status
        if declared is None or LENGTH not in self._values:
            return options
        return replace(options, length=declared)


@opening_mutant("open.length-over-split")
class SplitBeatsLength(OptionStream):
    """Where length and split are both given, the stream ends with the split."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        end = options.split_end
        both = end is not None and options.length is not None and end < options.length
        super().__init__(data[:end] if both else data, path, options)
        if both:
            self._size = self._stop
