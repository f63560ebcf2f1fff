"""Mutants of the start and the end of a split."""

from __future__ import annotations

from dataclasses import replace

from fscontract.contract.errors import IllegalArgumentException, PathIOException
from fscontract.contract.openfile_options import SPLIT_END, SPLIT_START
from fscontract.contract.ports import Buffer
from fscontract.fakes.mutants.openfile.filesystems import (
    OpeningBuilder,
    OptionStream,
    opening_mutant,
)
from fscontract.implementations.options import OpenOptions


@opening_mutant("open.split-reversed")
class SplitMustHaveLength(OpeningBuilder):
    """A split that starts after its end raises IllegalArgumentException."""

    def _options(self) -> OpenOptions:
        options = super()._options()
        end = self._values.pop(SPLIT_END, None)
        start = super()._options().split_start
        if end is not None:
            self._values[SPLIT_END] = end
        if start is not None and options.split_end is not None and start > options.split_end:
            raise IllegalArgumentException(f"{SPLIT_START} {start} is behind {SPLIT_END} {end}")
        return options


@opening_mutant("open.split-hint")
class SplitIsFile(OptionStream):
    """The end of a split is taken for the end of the file."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        if options.length is None and options.split_end is not None:
            options = replace(options, length=min(len(data), options.split_end))
        super().__init__(data, path, options)


@opening_mutant("open.split-hint")
class StartsWithSplit(OptionStream):
    """The stream stands at the start of the split."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        super().__init__(data, path, options)
        self._pos = min(options.split_start or 0, self._stop)


@opening_mutant("open.split-hint")
class ZerosUpToSplit(OptionStream):
    """A file that ends before the split does is filled up with zeros."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        more = min((options.split_end or 0) - len(data), 1 << 16)
        super().__init__(data + bytes(max(0, more)), path, options)


@opening_mutant("open.split-past-end")
class SplitIsLimit(OptionStream):
    """A stream read past the end of the split is an I/O error."""

    def read_byte(self) -> int:
        self._check(self._pos + 1)
        return super().read_byte()

    def read_into(self, buffer: Buffer, offset: int = 0, length: int | None = None) -> int:
        if buffer is not None and length is not None:
            self._check(min(self._pos + length, self._stop))
        return super().read_into(buffer, offset, length)

    def _check(self, end: int) -> None:
        limit = self.options.split_end
        if limit is not None and limit < end <= self._stop and not self._closed:
            raise PathIOException(self.path, f"the split ends at {limit}")


@opening_mutant("open.split-past-end")
class SeeksInSplitOnly(OptionStream):
    """A seek past the end of the split is an I/O error."""

    def seek(self, position: int) -> None:
        limit = self.options.split_end
        if limit is not None and limit < position <= self._size and not self._closed:
            raise PathIOException(self.path, f"the split ends at {limit}")
        super().seek(position)
