"""Mutants of option values: lengths, numbers, policies and splits."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace

from fscontract.contract.api.errors import (
    IllegalArgumentException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.api.filesystem import (
    Allocate,
    Buffer,
    FileRange,
    FSDataInputStream,
    Release,
    no_release,
)
from fscontract.contract.api.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    LENGTH,
    READ_POLICY,
    SPLIT_END,
    SPLIT_START,
    option_table,
)
from fscontract.fakes.mutants.correct_parts import (
    OpeningBuilder,
    OpeningFileSystem,
    OptionStream,
)
from fscontract.fakes.mutants.registry import mutant, right
from fscontract.implementations.openfile_builder import OpenOptions


@mutant("open.length-minimum")
class LastByteLost(OptionStream):
    """The last byte of a declared length counts as beyond the end."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        if options.status is None and options.length and options.length <= len(data):
            data, options = data[: options.length - 1], replace(options, length=None)
        super().__init__(data, path, options)


@mutant("open.length-longer-file", OpeningFileSystem._open)
def longer_is_changed(self: OpeningFileSystem, path: str, options: OpenOptions) -> OptionStream:
    """A file that is longer than declared counts as changed."""
    data = self._data(path, options)
    if options.length is not None and options.length < len(data):
        raise PathIOException(path, f"{options.length} bytes expected, not {len(data)}")
    return self.stream(data, path, options)


@mutant("open.length-beyond")
class ZerosBeyond(OptionStream):
    """After a declared length inside the file there are zeros."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        length = len(data) if options.length is None else options.length
        data = data[:length] + bytes(max(0, len(data) - length))
        super().__init__(data, path, OpenOptions())


@mutant("open.length-beyond")
class NothingBeyond(OptionStream):
    """Reading beyond a declared length inside the file is an I/O error."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        super().__init__(data, path, options)
        self._is_cut = self._stop < len(data)

    def read_byte(self) -> int:
        if self._is_cut and not self._closed and self._pos >= self._stop:
            raise PathIOException(self.path, f"only {self._stop} bytes were declared")
        return super().read_byte()


@mutant("open.length-overstated")
class ZerosUpToLength(OptionStream):
    """A file that is shorter than declared is padded with zeros."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        more = min((options.length or 0) - len(data), 1 << 16)
        super().__init__(data + bytes(max(0, more)), path, options)


@mutant("open.length-overstated", OptionStream.read_into)
def nothing_up_to_declared_end(
    self: OptionStream, buffer: Buffer, offset: int = 0, length: int | None = None
) -> int:
    """read(buffer) returns 0 between the real end and the declared one."""
    count = right(self).read_into(buffer, offset, length)
    return 0 if count < 0 and self._pos < self._size else count


@mutant("open.length-overstated", OptionStream.pread)
def pread_nothing_up_to_declared_end(
    self: OptionStream, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
) -> int:
    """pread() returns 0 between the real end and the declared one."""
    count = right(self).pread(position, buffer, offset, length)
    return 0 if count < 0 and position < self._size else count


@mutant("open.length-overstated", OptionStream.read_fully)
def fully_up_to_real_end(
    self: OptionStream, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
) -> None:
    """readFully() up to the declared end returns, and leaves the rest of the buffer alone."""
    count = len(buffer) - offset if length is None else length
    if self._stop < position + count <= self._size and position >= 0 and not self._closed:
        count = max(self._stop - position, 0)
    right(self).read_fully(position, buffer, offset, count)


@mutant("open.length-overstated")
class RangesWithZeros(OptionStream):
    """Ranges up to the declared end have zeros behind the real one."""

    def read_vectored(
        self,
        ranges: Sequence[FileRange],
        allocate: Allocate = bytearray,
        release: Release = no_release,
    ) -> None:
        data, view, stop = self.data, self._view, self._stop
        missing = max(min(self._size, 1 << 16) - stop, 0)
        try:
            self.data = data + bytes(missing)
            self._view, self._stop = memoryview(self.data), stop + missing
            super().read_vectored(ranges, allocate, release)
        finally:
            self.data, self._view, self._stop = data, view, stop


@mutant("open.length-overstated", OptionStream.read_byte)
def shorter_is_changed(self: OptionStream) -> int:
    """A file that is shorter than declared raises an I/O error at its end."""
    value = right(self).read_byte()
    if value < 0 and self._pos < self._size:
        raise PathIOException(self.path, f"the file ends before {self._size}")
    return value


@mutant("open.length-over-split")
class SplitBeatsLength(OptionStream):
    """If both length and split are set, the stream ends with the split."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        end = options.split_end
        both = end is not None and options.length is not None and end < options.length
        super().__init__(data[:end] if both else data, path, options)
        if both:
            self._size = self._stop


_NUMBERS = (BUFFER_SIZE, LENGTH, SPLIT_START, SPLIT_END)


def _parsed(text: str) -> int | None:
    """Return the result of Java's parsing of 64 bits, None for NumberFormatException."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdecimal() and len(digits.lstrip("0")) <= 19):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


@mutant("open.number-default", OpeningBuilder.build)
def number_format(self: OpeningBuilder) -> Future[FSDataInputStream]:
    """A buffer size that is not a number raises NumberFormatException in build(), as in Hadoop
    3.5.0."""
    self._check_keys()
    text = self._values.get(BUFFER_SIZE)
    if text is not None and _parsed(text.strip()) is None:
        raise IllegalArgumentException(f"For input string: {text!r:.80}")
    return right(self).build()


@mutant("open.number-default", OpeningBuilder._options)
def no_number_is_zero(self: OpeningBuilder) -> OpenOptions:
    """A length that is not a number counts as 0."""
    if LENGTH in self._values and _parsed(self.text(LENGTH).strip()) is None:
        self._values[LENGTH] = "0"
    return right(self)._options()


@mutant("open.number-default", OpeningBuilder._options)
def no_trimming(self: OpeningBuilder) -> OpenOptions:
    """A number with surrounding white space fails in the future."""
    for text in (self.text(key) for key in _NUMBERS):
        if text.strip() != text and _parsed(text.strip()) is not None:
            raise IllegalArgumentException(f"For input string: {text!r}")
    return right(self)._options()


@mutant("open.length-negative", OpeningBuilder._options)
def negative_length_fails(self: OpeningBuilder) -> OpenOptions:
    """A negative length raises IllegalArgumentException."""
    if (_parsed(self.text(LENGTH).strip()) or 0) < 0:
        raise IllegalArgumentException(f"negative length {self.text(LENGTH)}")
    return right(self)._options()


@mutant("open.length-negative", OpeningBuilder._options)
def length_from_end(self: OpeningBuilder) -> OpenOptions:
    """A length of -1 drops the last byte, because it is used in a slice."""
    length = _parsed(self.text(LENGTH).strip()) or 0
    if length < 0 and self.filesystem._exists(self._path):
        size = self.filesystem.get_file_status(self._path).length
        self._values[LENGTH] = str(max(0, size + length))
    return right(self)._options()


@mutant("open.split-negative", OpeningBuilder._options)
def negative_split_fails(self: OpeningBuilder) -> OpenOptions:
    """A negative start or end of a split raises IllegalArgumentException."""
    for key in (SPLIT_START, SPLIT_END):
        if (_parsed(self.text(key).strip()) or 0) < 0:
            raise IllegalArgumentException(f"{key} is negative: {self.text(key)}")
    return right(self)._options()


@mutant("open.buffer-size-method", OpeningBuilder.buffer_size)
def no_buffer_size(self: OpeningBuilder, size: int) -> OpeningBuilder:
    """buffer_size() is missing, as in the interface."""
    raise UnsupportedOperationException("buffer_size")


@mutant("open.buffer-size-method")
class BufferMustBeWhole(OpeningBuilder):
    """buffer_size() with a value other than a multiple of 4096 makes the open fail."""

    size = 4096

    def buffer_size(self, size: int) -> OpeningBuilder:
        super().buffer_size(size)
        self.size = size
        return self

    def _options(self) -> OpenOptions:
        if self.size > 0 and self.size % 4096:
            raise PathIOException(self._path, f"{self.size} is not a multiple of 4096")
        return super()._options()


@mutant("open.footer-hint", OpeningBuilder._options)
def footer_is_boolean(self: OpeningBuilder) -> OpenOptions:
    """The option of footers accepts true and false only."""
    if self.text(FOOTER_CACHE).strip().lower() not in ("", "true", "false"):
        raise IllegalArgumentException(f"{FOOTER_CACHE}: true or false is wanted")
    return right(self)._options()


@mutant("open.footer-hint")
class FooterIsOld(OptionStream):
    """A positioned read at the end returns zeros if footers are kept."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        is_footer = self.options.footer_cache and self.options.read_policy is None
        if is_footer and count > 0 and position + count == self._size:
            memoryview(buffer)[offset : offset + count] = bytes(count)
        return count


class _Listing(OpeningBuilder):
    """A builder with its own parser for the list of policies."""

    @property
    def names(self) -> list[str]:
        """The listed names, known or not."""
        text = self._values.get(READ_POLICY)
        return [] if text is None else [name.strip().lower() for name in text.split(",")]

    @property
    def known(self) -> list[str]:
        """The names of known policies."""
        return [name for name in self.names if name in option_table().policies]


@mutant("open.policy-unknown", _Listing.build)
def policy_must_be_known(self: _Listing) -> Future[FSDataInputStream]:
    """build() raises an error if none of the policies is known."""
    self._check_keys()
    if self.names and not self.known:
        raise IllegalArgumentException(f"no read policy {self.text(READ_POLICY)!r:.80}")
    return right(self).build()


@mutant("open.policy-list", _Listing._options)
def all_must_be_known(self: _Listing) -> OpenOptions:
    """All policies of a list must be known."""
    if self.known and len(self.known) < len(self.names):
        raise IllegalArgumentException(f"no read policy {self.text(READ_POLICY)!r:.80}")
    return right(self)._options()


@mutant("open.policy-list", _Listing._options)
def one_name(self: _Listing) -> OpenOptions:
    """A list is looked up as the name of one policy."""
    if len(self.names) > 1 and self.known:
        raise KeyError(self.text(READ_POLICY))
    return right(self)._options()


@mutant("open.policy-names", _Listing._options)
def no_hbase(self: _Listing) -> OpenOptions:
    """The policy hbase fails, because it is in the document and not in the code."""
    if self.names == ["hbase"]:
        raise IllegalArgumentException("no read policy 'hbase'")
    return right(self)._options()


@mutant("open.policy-data", OptionStream.seek)
def forward_only(self: OptionStream, position: int) -> None:
    """Under the policy sequential a backward seek fails."""
    backwards = 0 <= position < self._pos and not self._closed
    if backwards and self.options.read_policy == "sequential":
        raise PathIOException(self.path, "no way back in a sequential read")
    right(self).seek(position)


@mutant("open.policy-data")
class SameBlockAgain(OptionStream):
    """Under the policy random a short positioned read returns the bytes at the start."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        if count > 0 and self.options.read_policy == "random":
            memoryview(buffer)[offset : offset + count] = self.data[:count]
        return count


@mutant("open.policy-vector")
class VectoredOnly(OptionStream):
    """Under the policy vector a positioned read is not supported."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        if self.options.read_policy == "vector" and not self._closed:
            raise UnsupportedOperationException("only vectored reads under this policy")
        return super().pread(position, buffer, offset, length)


@mutant("open.split-reversed", OpeningBuilder._options)
def split_must_have_length(self: OpeningBuilder) -> OpenOptions:
    """A split that starts after its end raises IllegalArgumentException."""
    options = right(self)._options()
    end = self._values.pop(SPLIT_END, None)
    start = right(self)._options().split_start
    if end is not None:
        self._values[SPLIT_END] = end
    if start is not None and options.split_end is not None and start > options.split_end:
        raise IllegalArgumentException(f"{SPLIT_START} {start} is behind {SPLIT_END} {end}")
    return options


@mutant("open.split-hint")
class SplitIsFile(OptionStream):
    """The end of a split is treated as the end of the file."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        if options.length is None and options.split_end is not None:
            options = replace(options, length=min(len(data), options.split_end))
        super().__init__(data, path, options)


@mutant("open.split-hint")
class ReversedSplitIsEmpty(OptionStream):
    """A file has no bytes if its split starts after its end."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        start, end = options.split_start, options.split_end
        if start == 0 and end is not None and end < len(data):  # the builder has reset the start
            options = replace(options, length=0)
        super().__init__(data, path, options)


@mutant("open.split-hint")
class StartsWithSplit(OptionStream):
    """A new stream is at the start of the split."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        super().__init__(data, path, options)
        self._pos = min(options.split_start or 0, self._stop)


@mutant("open.split-hint")
class ZerosUpToSplit(OptionStream):
    """A file that ends before the split is padded with zeros."""

    def __init__(self, data: bytes, path: str, options: OpenOptions) -> None:
        more = min((options.split_end or 0) - len(data), 1 << 16)
        super().__init__(data + bytes(max(0, more)), path, options)


@mutant("open.split-past-end")
class SplitIsLimit(OptionStream):
    """A stream read beyond the end of the split is an I/O error."""

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


@mutant("open.split-past-end", OptionStream.seek)
def seeks_in_split_only(self: OptionStream, position: int) -> None:
    """A seek beyond the end of the split is an I/O error."""
    limit = self.options.split_end
    if limit is not None and limit < position <= self._size and not self._closed:
        raise PathIOException(self.path, f"the split ends at {limit}")
    right(self).seek(position)
