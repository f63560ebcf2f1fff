"""Metadata tables that are right: their results have other types and orders than the kit's own."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.pipeline_bindings import CheckedTableReader, CheckedWriter, TableSettings
from fscontract.pipeline.hudi.binding import TableBinding
from fscontract.pipeline.hudi.io import MetadataException


class _Number(int):
    """An integer of another class, such as that of an array library."""

    def __repr__(self) -> str:
        return f"number({int(self)})"


class _Text(str):
    """A text of another class."""

    __slots__ = ()


class _Lazy(Mapping[str, Mapping[str, int]]):
    """Looks partitions up when they are asked for."""

    def __init__(self, names: Iterable[str], look_up: Callable[[str], Mapping[str, int]]) -> None:
        self._names = list(names)
        self._look_up = look_up

    def __getitem__(self, name: str) -> Mapping[str, int]:
        if name not in self._names:
            raise KeyError(name)
        return self._look_up(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Wrapped(CheckedTableReader):
    """The kit's reader; subclasses change its results."""

    def __init__(self, inner: CheckedTableReader) -> None:
        self.inner = inner

    def partitions(self) -> Any:
        return self.inner.partitions()

    def files(self, partitions: Iterable[str]) -> Any:
        return self.inner.files(partitions)

    def prune(self, column: str, operator: str, value: Any) -> Any:
        return self.inner.prune(column, operator, value)

    def locate(self, keys: Iterable[str]) -> Any:
        return self.inner.locate(keys)

    def close(self) -> None:
        self.inner.close()


class ReadOnlyResults(Wrapped):
    """Returns views and frozen sets."""

    def files(self, partitions: Iterable[str]) -> Any:
        found = self.inner.files(partitions)
        return MappingProxyType({name: MappingProxyType(files) for name, files in found.items()})

    def prune(self, column: str, operator: str, value: Any) -> Any:
        return frozenset(self.inner.prune(column, operator, value))

    def locate(self, keys: Iterable[str]) -> Any:
        return MappingProxyType(self.inner.locate(keys))


class OtherClasses(Wrapped):
    """Returns numbers, texts and mappings of classes of its library."""

    def partitions(self) -> Any:
        return [_Text(name) for name in self.inner.partitions()]

    def files(self, partitions: Iterable[str]) -> Any:
        return UserDict(
            {
                _Text(name): UserDict({_Text(file): _Number(size) for file, size in sizes.items()})
                for name, sizes in self.inner.files(partitions).items()
            }
        )

    def prune(self, column: str, operator: str, value: Any) -> Any:
        return {_Text(name) for name in self.inner.prune(column, operator, value)}


class OtherOrder(Wrapped):
    """Returns partitions and files from the last to the first."""

    def files(self, partitions: Iterable[str]) -> Any:
        found = self.inner.files(partitions)
        return {
            name: dict(sorted(files.items(), reverse=True))
            for name, files in sorted(found.items(), reverse=True)
        }


class Tuples(Wrapped):
    """Returns partitions as a tuple."""

    def partitions(self) -> Any:
        return tuple(self.inner.partitions())


class Lazily(Wrapped):
    """Looks up all partitions by one request, and shows each when it is asked for."""

    def files(self, partitions: Iterable[str]) -> Any:
        found = self.inner.files(partitions)
        return _Lazy(found, found.__getitem__)


class _Binding(TableBinding):
    """Wraps the kit's readers in one class."""

    def __init__(self, kind: type[Wrapped]) -> None:
        super().__init__(kind.__name__)
        self.kind = kind

    def reader(
        self, filesystem: FileSystem, as_of: str | None = None, read_only: bool = False
    ) -> CheckedTableReader:
        return self.kind(super().reader(filesystem, as_of, read_only))


class _OwnErrors:
    """A writer that raises a ValueError if it refuses a call."""

    def __init__(self, writer: CheckedWriter) -> None:
        self._writer = writer

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._writer, name)

        def call(*arguments: Any) -> Any:
            try:
                return method(*arguments)
            except MetadataException as error:
                raise ValueError(str(error)) from error

        return call


class OwnErrors(TableBinding):
    """Makes writers with errors of another class."""

    def writer(self, filesystem: FileSystem, settings: TableSettings) -> Any:
        return _OwnErrors(super().writer(filesystem, settings))


ALL: Collection[TableBinding] = (
    *map(_Binding, (ReadOnlyResults, OtherClasses, OtherOrder, Tuples, Lazily)),
    OwnErrors("OwnErrors"),
)
