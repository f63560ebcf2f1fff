"""Mutants of read policies."""

from __future__ import annotations

from concurrent.futures import Future

from fscontract.contract.errors import (
    IllegalArgumentException,
    PathIOException,
    UnsupportedOperationException,
)
from fscontract.contract.openfile_options import READ_POLICY, option_table
from fscontract.contract.ports import Buffer, FSDataInputStream
from fscontract.fakes.mutants.openfile.filesystems import (
    OpeningBuilder,
    OptionStream,
    opening_mutant,
)
from fscontract.implementations.options import OpenOptions


class _Listing(OpeningBuilder):
    """A builder that reads the list of policies for itself."""

    @property
    def names(self) -> list[str]:
        """What is listed, known or not."""
        text = self._values.get(READ_POLICY)
        return [] if text is None else [name.strip().lower() for name in text.split(",")]

    @property
    def known(self) -> list[str]:
        """Those of the names that are policies."""
        return [name for name in self.names if name in option_table().policies]


@opening_mutant("open.policy-unknown")
class PolicyMustBeKnown(_Listing):
    """build() raises an error if none of the policies is known."""

    def build(self) -> Future[FSDataInputStream]:
        self._check_keys()
        if self.names and not self.known:
            raise IllegalArgumentException(f"no read policy {self.text(READ_POLICY)!r:.80}")
        return super().build()


@opening_mutant("open.policy-list")
class AllMustBeKnown(_Listing):
    """Of a list of policies all must be known."""

    def _options(self) -> OpenOptions:
        if self.known and len(self.known) < len(self.names):
            raise IllegalArgumentException(f"no read policy {self.text(READ_POLICY)!r:.80}")
        return super()._options()


@opening_mutant("open.policy-list")
class OneName(_Listing):
    """A list is taken for the name of one policy, which is looked up by that name."""

    def _options(self) -> OpenOptions:
        if len(self.names) > 1 and self.known:
            raise KeyError(self.text(READ_POLICY))
        return super()._options()


@opening_mutant("open.policy-names")
class NoHbase(_Listing):
    """The policy hbase fails, since it stands in the document only and not in the code."""

    def _options(self) -> OpenOptions:
        if self.names == ["hbase"]:
            raise IllegalArgumentException("no read policy 'hbase'")
        return super()._options()


@opening_mutant("open.policy-data")
class ForwardOnly(OptionStream):
    """Under the policy sequential a seek backwards fails."""

    def seek(self, position: int) -> None:
        backwards = 0 <= position < self._pos and not self._closed
        if backwards and self.options.read_policy == "sequential":
            raise PathIOException(self.path, "no way back in a sequential read")
        super().seek(position)


@opening_mutant("open.policy-data")
class SameBlockAgain(OptionStream):
    """Under the policy random a positioned read of few bytes gives those at the start."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        count = super().pread(position, buffer, offset, length)
        if count > 0 and self.options.read_policy == "random":
            memoryview(buffer)[offset : offset + count] = self._data[:count]
        return count


@opening_mutant("open.policy-vector")
class VectoredOnly(OptionStream):
    """Under the policy vector a positioned read is not supported."""

    def pread(
        self, position: int, buffer: Buffer, offset: int = 0, length: int | None = None
    ) -> int:
        if self.options.read_policy == "vector" and not self._closed:
            raise UnsupportedOperationException("only vectored reads under this policy")
        return super().pread(position, buffer, offset, length)
