"""Mutants of what build() makes of a file that is there."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from fscontract.contract.ports import FSDataInputStream
from fscontract.fakes.mutants.openfile.filesystems import (
    OpeningBuilder,
    OpeningFileSystem,
    OptionStream,
    opening_mutant,
)
from fscontract.implementations.filesystem import not_found
from fscontract.implementations.options import OpenOptions
from fscontract.implementations.stream import ReferenceInputStream


@opening_mutant("open.deferred-state")
class LooksWhenAsked(OpeningFileSystem):
    """open_file() looks the path up, and what is not there by then is not found later."""

    def open_file(self, path: str) -> OpeningBuilder:
        builder = super().open_file(path)
        if "://" not in path and not self._exists(path):
            builder._opener = self._not_found
        return builder

    def _not_found(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        raise not_found(path)


@opening_mutant("open.build-future")
class SniffsTheFormat(OpeningFileSystem):
    """The stream stands behind the byte by which the format of the file was told."""

    def _open_by(self, path: str, options: OpenOptions) -> ReferenceInputStream:
        stream = super()._open_by(path, options)
        assert isinstance(stream, OptionStream)
        stream._pos = min(1, stream._stop)
        return stream


@opening_mutant("open.build-future")
class FutureOfNothing(OpeningBuilder):
    """The future says that the file could be opened, and does not give the stream."""

    def build(self) -> Future[FSDataInputStream]:
        future = super().build()
        if future.exception() is not None:
            return future
        nothing: Future[Any] = Future()
        nothing.set_result(None)
        return nothing


@opening_mutant("open.build-twice")
class SameFuture(OpeningBuilder):
    """A second build() gives the future of the first."""

    _built: Future[FSDataInputStream] | None = None

    def build(self) -> Future[FSDataInputStream]:
        if self._built is None:
            self._built = super().build()
        return self._built


@opening_mutant("open.build-twice")
class OnceOnly(OpeningBuilder):
    """A second build() opens nothing."""

    _built = False

    def build(self) -> Future[FSDataInputStream]:
        future = super().build()
        if not self._built:
            self._built = True
            return future
        failed: Future[FSDataInputStream] = Future()
        failed.set_exception(RuntimeError("the builder was used already"))
        return failed
