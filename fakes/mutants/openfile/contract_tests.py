"""Mutants of builders and statistics that methods of Hadoop's own contract tests reject."""

from __future__ import annotations

from concurrent.futures import Future

from fscontract.contract.api.errors import IllegalArgumentException, PathIOException
from fscontract.contract.api.filesystem import Buffer, FileStatus, FSDataInputStream
from fscontract.contract.api.openfile_options import BUFFER_SIZE, LENGTH, READ_POLICY
from fscontract.fakes.mutants.correct_parts import OpeningBuilder, OptionStream
from fscontract.fakes.mutants.registry import mutant, right


@mutant("open.statistics", OptionStream.read_byte)
def single_bytes_are_free(self: OptionStream) -> int:
    """read() of a single byte is not counted."""
    value = right(self).read_byte()
    if value >= 0:
        self._single_reads -= 1
    return value


@mutant("open.statistics", OptionStream.read_fully)
def whole_ranges_are_free(
    self: OptionStream, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
) -> None:
    """Bytes of read_fully() are not counted."""
    before = self._bytes
    right(self).read_fully(position, buffer, offset, length)
    self._bytes = before


@mutant("open.statistics-seek", OptionStream.seek)
def skipped_bytes_count(self: OptionStream, position: int) -> None:
    """A forward seek counts the skipped bytes, which it reads and drops."""
    before = self._pos
    right(self).seek(position)
    self._bytes += max(0, position - before)


@mutant("open.must-unknown", OpeningBuilder.build)
def missing_beats_mandatory(self: OpeningBuilder) -> Future[FSDataInputStream]:
    """build() checks mandatory keys of existing files only; else the future fails."""
    if "://" in self._path or self.filesystem._exists(self._path):
        return right(self).build()
    self._mandatory.clear()
    return right(self).build()


@mutant("open.must-unknown", OpeningBuilder.build)
def numbers_are_hints(self: OpeningBuilder) -> Future[FSDataInputStream]:
    """A mandatory key that is unknown is ignored if its value is a number."""
    numeric = {key for key, value in self._values.items() if value.lstrip("-").isdigit()}
    self._mandatory -= {key for key in numeric if not key.startswith("fs.")}
    return right(self).build()


@mutant("open.number-default", OpeningBuilder.build)
def large_double_overflows(self: OpeningBuilder) -> Future[FSDataInputStream]:
    """A length beyond 64 bits fails, such as one that mustDouble() has set."""
    text = self.text(LENGTH)
    try:
        too_large = abs(float(text)) > 1 << 63
    except ValueError:
        too_large = False
    if too_large:
        raise IllegalArgumentException(f"{LENGTH}: {text}")
    return right(self).build()


@mutant("open.status-null")
class NullStatusNeedsNoLength(OpeningBuilder):
    """With a null status, a policy, a length and a buffer size, build() looks at the status."""

    _null = False

    def with_file_status(self, status: FileStatus | None) -> OpeningBuilder:
        self._null = status is None
        super().with_file_status(status)
        return self

    def build(self) -> Future[FSDataInputStream]:
        if self._null and all(map(self.text, (BUFFER_SIZE, LENGTH, READ_POLICY))):
            raise PathIOException(self._path, "no status")
        return super().build()
