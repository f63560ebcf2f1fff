"""The kinds of mutants: the part that each one replaces, and how it is checked."""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

from fsspec.implementations.dirfs import DirFileSystem

from fscontract.contract.binding import Binding
from fscontract.contract.distributed.file_visibility import compare, write
from fscontract.contract.runner.result import FAILING, RunResult, Verdict
from fscontract.contract.runner.runner import check
from fscontract.contract.runner.settings import Settings
from fscontract.contract.scenarios.check import TIMEOUT, find_violations
from fscontract.contract.spec.clauses import Clause
from fscontract.contract.spec.profiles import Profile, load_profile
from fscontract.fakes.filesystem.client import Client, Connection, FakeInputStream
from fscontract.fakes.mutants.correct_arrow import RightArrow, RightArrowFile
from fscontract.fakes.mutants.correct_filesystem import (
    RightAsyncFilesystem,
    RightDisk,
    RightFile,
    RightFilesystem,
)
from fscontract.fakes.mutants.correct_parts import (
    FaultyDisk,
    FaultyStore,
    MutantFileSystem,
    OpeningBuilder,
    OpeningFileSystem,
    OptionStream,
    PlainFile,
    Scaler,
    StoredStream,
    View,
    fault_binding,
    filesystem_of,
    stream_of,
)
from fscontract.fakes.mutants.correct_stores import (
    RightOperator,
    RightOperatorFile,
    RightReader,
    RightResult,
    RightStore,
    RightStoreBinding,
)
from fscontract.fakes.mutants.stream.variants import Variant
from fscontract.fakes.servers.http_client import HttpFile, opened
from fscontract.fakes.servers.served_binding import served
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.bindings.open_file import StreamOpener
from fscontract.implementations.bindings.opendal import OpendalBinding
from fscontract.implementations.bindings.pyarrow import PyArrowBinding
from fscontract.implementations.memory import MemoryFileSystem, MemoryInputStream
from fscontract.pipeline.blockreader.binding import ReaderBinding
from fscontract.pipeline.blockreader.contexts import FixedBytesReaderContext
from fscontract.pipeline.blockreader.lines import LineReaderContext, ReadAheadLineReaderContext
from fscontract.pipeline.blockreader.readers import FSBlockReader, FSRecordReader, FSSliceReader
from fscontract.pipeline.hudi.binding import TableBinding
from fscontract.pipeline.hudi.file_group import FileGroupReader
from fscontract.pipeline.hudi.listing import FileListing
from fscontract.pipeline.hudi.locks import FileLock
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter
from fscontract.pipeline.splitter.binding import LocalSplitterBinding
from fscontract.pipeline.splitter.input import FileSplitterInput
from fscontract.pipeline.splitter.scanner import TimeBasedDirectoryScanner
from fscontract.pipeline.splitter.splitter import BlockMetadataIterator, FileSplitterBase
from fscontract.pipeline.splitter.windows import FSWindowStore

#: Verdicts of a violated clause.
BROKEN = FAILING | {Verdict.LAX}
#: Time limit for reading a file, in seconds.
_LOOK_TIMEOUT = 10.0
#: Time limit of a program in seconds; shorter for mutants that hang.
_TIMEOUT, _SHORT_TIMEOUT = 10.0, 0.5


def reference_with(*features: str) -> Profile:
    """Return the profile "reference" with features added or, after "!", removed."""
    return replace(load_profile("reference"), name="mutant").with_features(features)


class Subject(NamedTuple):
    """A part to check, with its name, the `judged` clauses, and the kinds of faults."""

    part: type[Any]
    name: str
    judged: tuple[Clause, ...]
    effort: str
    faults: frozenset[str]
    #: Whether the target has I/O statistics, if its kind does.
    statistics: bool = True

    @property
    def is_single(self) -> bool:
        """True if a single clause is judged, so that the first violation is enough."""
        return len(self.judged) == 1


class Kind(ABC):
    """One kind of mutants: how a target with such a part is made, and how it is checked."""

    #: The base classes of parts of this kind.
    parts: ClassVar[tuple[type[Any], ...]]
    #: The efforts to try, in order.
    efforts: ClassVar[tuple[str, ...]] = ("quick",)

    @abstractmethod
    def binding(self, part: type[Any], name: str) -> Any:
        """Return a binding to a new target that has the part."""

    @abstractmethod
    def broken(self, subject: Subject) -> dict[str, str]:
        """Return the violated clauses among those that are judged, with their failures."""

    def features(self, part: type[Any]) -> tuple[str, ...]:
        """Return the differences from the profile "reference", with "!" before missing features."""
        return ()

    def profile(self, part: type[Any]) -> Profile:
        """Return the profile that a target with a correct part satisfies."""
        return reference_with(*self.features(part))


class _Uncounted(StreamOpener):
    """An opener whose filesystem has no I/O statistics."""

    statistics = False

    def counters(self, opened: Any) -> dict[str, int]:
        """Return nothing."""
        return {}


class StreamKind(Kind):
    """Streams, and filesystems that open them, in memory."""

    parts: ClassVar[tuple[type[Any], ...]] = (MemoryInputStream, MutantFileSystem)
    efforts = ("quick", "normal")

    def filesystem(self, part: type[Any]) -> MemoryFileSystem:
        """Return a new filesystem that has the part."""
        if issubclass(part, MutantFileSystem):
            return part()
        return MutantFileSystem(part)

    def binding(self, part: type[Any], name: str) -> StreamBinding:
        return StreamBinding(self.filesystem(part), name=name)

    def features(self, part: type[Any]) -> tuple[str, ...]:
        return part.features if issubclass(part, Variant | MutantFileSystem) else ()

    def profile(self, part: type[Any]) -> Profile:
        # The Python file over a stream inherits the stream's bugs.
        return reference_with(*self.features(part), "!python-file")

    def broken(self, subject: Subject) -> dict[str, str]:
        binding, profile = self.binding(subject.part, subject.name), self.profile(subject.part)
        if not subject.statistics:
            binding.opener = _Uncounted(binding, binding.filesystem)
            profile = profile.with_features(["!supports-io-statistics"])
        settings = Settings(
            profile, subject.judged, effort=subject.effort, stop_at_first=subject.is_single
        )
        return _broken(check(binding, settings))


class PythonFileKind(StreamKind):
    """Python files over streams in memory."""

    parts = (PlainFile,)

    def filesystem(self, part: type[Any]) -> MemoryFileSystem:
        return MutantFileSystem(stream_of(part))

    def features(self, part: type[Any]) -> tuple[str, ...]:
        return super().features(part.stream_class)

    def profile(self, part: type[Any]) -> Profile:
        return reference_with(*self.features(part))


class FilesystemKind(Kind):
    """fsspec filesystems that read without a stream."""

    parts: ClassVar[tuple[type[Any], ...]] = (
        RightFilesystem,
        RightAsyncFilesystem,
        DirFileSystem,
        RightFile,
        RightDisk,
    )

    def binding(self, part: type[Any], name: str) -> Binding:
        if issubclass(part, RightFile):
            return FsspecBinding(RightFilesystem(part), "", name)
        if issubclass(part, RightDisk):
            return FsspecBinding(part(), tempfile.gettempdir(), name)
        shared: dict[str, Any] = {"files": {}} if issubclass(part, RightAsyncFilesystem) else {}
        return FsspecBinding(part(**shared), "", name)

    def profile(self, part: type[Any]) -> Profile:
        return load_profile("fsspec")

    def broken(self, subject: Subject) -> dict[str, str]:
        settings = Settings(
            self.profile(subject.part), subject.judged, stop_at_first=subject.is_single
        )
        return _broken(check(self.binding(subject.part, subject.name), settings))


class ArrowKind(FilesystemKind):
    """Filesystems of PyArrow, and the files that they open."""

    parts = (RightArrow, RightArrowFile)

    def binding(self, part: type[Any], name: str) -> Binding:
        fs = RightArrow(part) if issubclass(part, RightArrowFile) else part()
        return PyArrowBinding(fs, "mutant", name)

    def profile(self, part: type[Any]) -> Profile:
        return load_profile("pyarrow")


class StoreKind(FilesystemKind):
    """Stores of obstore, their results and readers."""

    parts = (RightStore, RightResult, RightReader)

    def binding(self, part: type[Any], name: str) -> Binding:
        if issubclass(part, RightResult):
            return RightStoreBinding(RightStore(result_class=part), name)
        store = RightStore(reader_class=part) if issubclass(part, RightReader) else part()
        return RightStoreBinding(store, name)

    def profile(self, part: type[Any]) -> Profile:
        return load_profile("obstore")


class OperatorKind(FilesystemKind):
    """Operators of OpenDAL, and the files that they open."""

    parts = (RightOperator, RightOperatorFile)

    def binding(self, part: type[Any], name: str) -> Binding:
        operator = RightOperator(part) if issubclass(part, RightOperatorFile) else part()
        return OpendalBinding(operator, name)

    def profile(self, part: type[Any]) -> Profile:
        return load_profile("opendal")


class OpenFileKind(StreamKind):
    """Filesystems with a wrong open_file(), and their builders and streams."""

    parts = (OpeningFileSystem, OpeningBuilder, OptionStream, StoredStream)

    def filesystem(self, part: type[Any]) -> MemoryFileSystem:
        return filesystem_of(part)()

    def features(self, part: type[Any]) -> tuple[str, ...]:
        filesystem = filesystem_of(part)
        keys = ("openfile-unsupported-keys",) if filesystem.unsupported_keys else ()
        return filesystem.features + keys

    def profile(self, part: type[Any]) -> Profile:
        keys = filesystem_of(part)
        return replace(
            super().profile(part),
            own_keys=keys.own_keys,
            unsupported_keys=keys.unsupported_keys,
        )


class FaultKind(Kind):
    """Filesystems that mishandle faults; of the fake one also streams, connections and clients."""

    parts = (FaultyStore, FaultyDisk, FakeInputStream, Connection, Client)

    def filesystem(self, part: type[Any]) -> FaultyStore | FaultyDisk:
        """Return a new filesystem that has the part."""
        if issubclass(part, Connection):
            return FaultyStore(type("Stream", (FakeInputStream,), {"connection": part}))
        if issubclass(part, FakeInputStream):
            return FaultyStore(part)
        if issubclass(part, Client):
            return FaultyStore(client=part)
        filesystem: FaultyStore | FaultyDisk = part()
        return filesystem

    def binding(self, part: type[Any], name: str) -> Any:
        return fault_binding(self.filesystem(part))

    def features(self, part: type[Any]) -> tuple[str, ...]:
        return ("supports-deadlines",)

    def broken(self, subject: Subject) -> dict[str, str]:
        filesystem = self.filesystem(subject.part)
        settings = Settings(
            self.profile(subject.part),
            subject.judged,
            faults="quick",
            timeout=_SHORT_TIMEOUT if "hang" in subject.faults else _TIMEOUT,
            stop_at_first=subject.is_single,
        )
        try:
            return _broken(check(fault_binding(filesystem, subject.faults), settings))
        finally:
            filesystem.injector.detach()  # programs may still wait for an answer


class ServerKind(Kind):
    """Clients of a misbehaving server."""

    parts = (HttpFile,)

    def binding(self, part: type[Any], name: str) -> Binding:
        return served(partial(opened, part), name, "wrong-etags" in name)

    def profile(self, part: type[Any]) -> Profile:
        return load_profile("python-file")

    def broken(self, subject: Subject) -> dict[str, str]:
        binding = self.binding(subject.part, subject.name)
        assert binding.injector is not None
        binding.injector.kinds = binding.injector.kinds & subject.faults
        settings = Settings(
            self.profile(subject.part),
            subject.judged,
            server_faults=True,
            stop_at_first=subject.is_single,
        )
        return _broken(check(binding, settings))


class ExecutorKind(Kind):
    """Views of executors on a driver's files."""

    parts = (View,)

    def binding(self, part: type[Any], name: str) -> StreamBinding:
        return StreamBinding(part(MemoryFileSystem()), name)

    def broken(self, subject: Subject) -> dict[str, str]:
        files = MemoryFileSystem()
        driver = StreamBinding(files, "driver")
        driver.prepare()
        look = compare(
            StreamBinding(subject.part(files), subject.name), write(driver), _LOOK_TIMEOUT
        )
        return {clause: finding.actual for clause, finding in look.counterexamples.items()}


class PipelineKind(Kind):
    """Parts of a pipeline; scenarios of the judged clauses may violate others, too."""

    #: Time limit of a step of a scenario, in seconds.
    timeout: ClassVar[float] = TIMEOUT

    def broken(self, subject: Subject) -> dict[str, str]:
        binding = self.binding(subject.part, subject.name)
        selected = {clause.id for clause in subject.judged}
        violations = find_violations(binding, selected, self.timeout).violations
        return {clause: violation.actual for clause, violation in violations.items()}


class SplitterKind(PipelineKind):
    """Parts of a file splitter."""

    timeout = 3.0
    parts = (
        FileSplitterInput,
        FileSplitterBase,
        FSWindowStore,
        TimeBasedDirectoryScanner,
        BlockMetadataIterator,
    )

    def binding(self, part: type[Any], name: str) -> LocalSplitterBinding:
        changed: dict[str, Any]
        if issubclass(part, FileSplitterInput):
            changed = {"input_class": part}
        elif issubclass(part, FileSplitterBase):
            changed = {"base_class": part}
        elif issubclass(part, FSWindowStore):
            changed = {"store_class": part}
        else:
            scans = issubclass(part, TimeBasedDirectoryScanner)
            members = {"scanner_class" if scans else "iterator": part}
            changed = {"input_class": type("Input", (FileSplitterInput,), members)}
        kind: type[LocalSplitterBinding] = type("Binding", (LocalSplitterBinding,), changed)
        return kind(part.__name__)


class BlockReaderKind(PipelineKind):
    """Parts of a block reader, and its functions of scaling."""

    #: The attribute of a binding for each class; the first match is used.
    _attributes: ClassVar[dict[type[Any], str]] = {
        ReadAheadLineReaderContext: "read_ahead",
        LineReaderContext: "line",
        FixedBytesReaderContext: "fixed",
        FSSliceReader: "slice_reader",
        FSRecordReader: "record_reader",
        FSBlockReader: "block_reader",
        Scaler: "scaler",
    }
    parts = tuple(_attributes)

    def binding(self, part: type[Any], name: str) -> ReaderBinding:
        binding = ReaderBinding()
        attribute = next(a for base, a in self._attributes.items() if issubclass(part, base))
        setattr(binding, attribute, part() if attribute == "scaler" else part)
        binding.name = name
        return binding


class MetadataTableKind(PipelineKind):
    """Parts of a metadata table."""

    parts = (MetadataWriter, MetadataTable, FileListing, FileLock, FileGroupReader)

    def binding(self, part: type[Any], name: str) -> TableBinding:
        changed: dict[str, Any] = {}
        table = part if issubclass(part, MetadataTable) else None
        if issubclass(part, MetadataWriter):
            changed["writer_class"] = part
        elif issubclass(part, FileListing):
            changed["listing_class"] = part
        elif issubclass(part, FileLock):
            changed["lock_class"] = part
        elif issubclass(part, FileGroupReader):
            changed["writer_class"] = type("Writer", (MetadataWriter,), {"group_class": part})
            table = type("Table", (MetadataTable,), {"group_class": part})
        if table is not None:
            changed["table_class"] = table
            changed["listing_class"] = type("Listing", (FileListing,), {"table_class": table})
        kind: type[TableBinding] = type("Binding", (TableBinding,), changed)
        return kind(part.__name__)


def _broken(result: RunResult) -> dict[str, str]:
    """Return the violated clauses of a run, with their failures."""
    return {c.clause.id: str(c.counterexample) for c in result.clauses if c.outcome in BROKEN}


#: OptionStream derives from MemoryInputStream, so openFile() goes before streams.
KINDS: tuple[Kind, ...] = (
    OpenFileKind(),
    StreamKind(),
    PythonFileKind(),
    FilesystemKind(),
    ArrowKind(),
    StoreKind(),
    OperatorKind(),
    FaultKind(),
    ServerKind(),
    ExecutorKind(),
    SplitterKind(),
    BlockReaderKind(),
    MetadataTableKind(),
)


def kind_of(part: type[Any]) -> Kind:
    """Return the kind of a part; TypeError if it has none.

    It looks for real base classes, as `issubclass` of an abstract one asks all its subclasses.
    """
    for kind in KINDS:
        if not set(kind.parts).isdisjoint(part.__mro__):
            return kind
    raise TypeError(f"{part.__name__} is not a part of anything that has mutants")
