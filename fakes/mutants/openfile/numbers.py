"""Mutants of how values of the options with numbers are read."""

from __future__ import annotations

from concurrent.futures import Future

from fscontract.contract.errors import IllegalArgumentException, UnsupportedOperationException
from fscontract.contract.openfile_options import (
    BUFFER_SIZE,
    FOOTER_CACHE,
    LENGTH,
    SPLIT_END,
    SPLIT_START,
)
from fscontract.contract.ports import Buffer, FSDataInputStream
from fscontract.fakes.mutants.openfile.filesystems import (
    OpeningBuilder,
    OptionStream,
    opening_mutant,
)
from fscontract.implementations.options import OpenOptions

_NUMBERS = (BUFFER_SIZE, LENGTH, SPLIT_START, SPLIT_END)


def _parsed(text: str) -> int | None:
    """The number that Java's parsing of 64 bits gives, None for NumberFormatException."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdecimal() and len(digits.lstrip("0")) <= 19):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


@opening_mutant("open.number-default")
class NumberFormat(OpeningBuilder):
    """A buffer size that is no number raises NumberFormatException out of build(), as in Hadoop
    3.5.0."""

    def build(self) -> Future[FSDataInputStream]:
        self._check_keys()
        text = self._values.get(BUFFER_SIZE)
        if text is not None and _parsed(text.strip()) is None:
            raise IllegalArgumentException(f"For input string: {text!r:.80}")
        return super().build()


@opening_mutant("open.number-default")
class NoNumberIsZero(OpeningBuilder):
    """A length that is no number counts as 0."""

    def _options(self) -> OpenOptions:
        if LENGTH in self._values and _parsed(self.text(LENGTH).strip()) is None:
            self._values[LENGTH] = "0"
        return super()._options()


@opening_mutant("open.number-trim")
class NoTrimming(OpeningBuilder):
    """A number with white space around it fails in the future."""

    def _options(self) -> OpenOptions:
        for text in (self.text(key) for key in _NUMBERS):
            if text.strip() != text and _parsed(text.strip()) is not None:
                raise IllegalArgumentException(f"For input string: {text!r}")
        return super()._options()


@opening_mutant("open.length-negative")
class NegativeLengthFails(OpeningBuilder):
    """A negative length raises IllegalArgumentException."""

    def _options(self) -> OpenOptions:
        if (_parsed(self.text(LENGTH).strip()) or 0) < 0:
            raise IllegalArgumentException(f"negative length {self.text(LENGTH)}")
        return super()._options()


@opening_mutant("open.length-negative")
class LengthFromEnd(OpeningBuilder):
    """A length of -1 leaves the last byte out, since a slice is taken with it."""

    def _options(self) -> OpenOptions:
        length = _parsed(self.text(LENGTH).strip()) or 0
        if length < 0 and self.filesystem._exists(self._path):
            size = self.filesystem.get_file_status(self._path).length
            self._values[LENGTH] = str(max(0, size + length))
        return super()._options()


@opening_mutant("open.split-negative")
class NegativeSplitFails(OpeningBuilder):
    """A negative start or end of a split raises IllegalArgumentException."""

    def _options(self) -> OpenOptions:
        for key in (SPLIT_START, SPLIT_END):
            if (_parsed(self.text(key).strip()) or 0) < 0:
                raise IllegalArgumentException(f"{key} is negative: {self.text(key)}")
        return super()._options()


@opening_mutant("open.buffer-size-method")
class NoBufferSize(OpeningBuilder):
    """buffer_size() is not there, since the interface does not have it."""

    def buffer_size(self, size: int) -> OpeningBuilder:
        raise UnsupportedOperationException("buffer_size")


@opening_mutant("open.buffer-size-method")
class BufferMustBePositive(OpeningBuilder):
    """buffer_size() with 0 or less makes the open fail."""

    size = 1

    def buffer_size(self, size: int) -> OpeningBuilder:
        super().buffer_size(size)
        self.size = size
        return self

    def _options(self) -> OpenOptions:
        if self.size <= 0:
            raise IllegalArgumentException("a buffer has a positive size")
        return super()._options()


@opening_mutant("open.footer-hint")
class FooterIsBoolean(OpeningBuilder):
    """Whether to keep footers must be said by true or false."""

    def _options(self) -> OpenOptions:
        if self.text(FOOTER_CACHE).strip().lower() not in ("", "true", "false"):
            raise IllegalArgumentException(f"{FOOTER_CACHE}: true or false is wanted")
        return super()._options()


@opening_mutant("open.footer-hint")
class FooterIsOld(OptionStream):
    """Where footers are kept, a positioned read at the end gives zeros."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        kept = self.options.footer_cache and self.options.read_policy is None
        if kept and count > 0 and position + count == self._size:
            memoryview(buffer)[offset : offset + count] = bytes(count)
        return count
