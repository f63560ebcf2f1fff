"""Failures that a target inherits from a known base class do not fail its run."""

from __future__ import annotations

import io
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile, AbstractFileSystem

from benchmarks.bases import SERVED, makers, served, sources
from benchmarks.matrix.targets import Target
from fscontract import check
from fscontract.contract.runner.result import (
    VIOLATED,
    Counterexample,
    RunResult,
    RunVerdict,
    Verdict,
)
from fscontract.contract.runner.run_options import RunOptions, selected, settings_for
from fscontract.contract.runner.runner import check as run_clauses
from fscontract.contract.spec import inherited_failures as bases_file
from fscontract.contract.spec.clauses import clauses
from fscontract.contract.spec.inherited_failures import (
    InheritedFailure,
    inherited_failures,
    inherits,
)
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding
from tests.samples import sampled
from tests.unusual.filesystems import Async

FINDINGS = Path(__file__).resolve().parents[3] / "docs" / "findings.md"


#: The mmap cache of fsspec leaves its temporary file to the garbage collector.
MMAP_LEAVES_A_FILE = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
#: Subclasses of classes that are right, and one whose failure few programs do not find.
RIGHT = frozenset({"RawIOBase", "BufferedReader", "BytesIO"})
SELDOM_WRONG = "FileIO"


class Memory(MemoryFileSystem):  # type: ignore[misc]
    """A subclass without differences."""

    cachable = False


class BufferedFile(AbstractBufferedFile):  # type: ignore[misc]
    """A buffered file that fetches ranges of a local file."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        data: bytes = Path(self.path).read_bytes()
        return data[start:end]


class Buffered(LocalFileSystem):  # type: ignore[misc]
    """Local files that are read through fsspec's buffer."""

    cachable = False
    file = BufferedFile

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode != "rb":
            return super()._open(path, mode, **options)
        if self.isdir(path):
            raise IsADirectoryError(path)
        return self.file(self, path, mode, block_size=4096)


class Peeking(io.BufferedIOBase):
    """A file with peek() that inherits readline()."""

    def __init__(self, path: str) -> None:
        self._file = io.BufferedReader(io.FileIO(path))

    def peek(self, size: int = 0) -> bytes:
        """Return bytes of the buffer."""
        return self._file.peek(size)

    def close(self) -> None:
        """Close both files."""
        self._file.close()
        super().close()


def peeking(path: str) -> BinaryIO:
    """Open a file with peek() that inherits readline()."""
    return Peeking(path)  # type: ignore[return-value]


class Wrapper:
    """A file that passes everything on to another one."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __iter__(self) -> Any:
        return iter(self._file)

    def __next__(self) -> Any:
        return next(self._file)

    def __enter__(self) -> Any:
        return self._file.__enter__()

    def __exit__(self, *error: object) -> None:
        self._file.__exit__(*error)


class Wrapped(Buffered):
    """A filesystem that wraps its files."""

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        file = super()._open(path, mode, **options)
        return Wrapper(file) if mode == "rb" else file


class Unbuffered(io.FileIO):
    """A subclass without differences."""


def run(fs: AbstractFileSystem, directory: Path, **options: Any) -> RunResult:
    root = "/" if isinstance(fs, MemoryFileSystem) else str(directory)
    return check(FsspecBinding(fs, root, "mine"), **options)


def present(clause: str, raises: str = "") -> InheritedFailure:
    """Return a failure that the installed release has, and whose later call raises this."""
    listed = inherited_failures()[clause]
    return next(f for f in listed if f.raises == raises and not f.fixed)


def outcomes(result: RunResult, verdict: Verdict) -> set[str]:
    return {c.clause.id for c in result.clauses if c.outcome is verdict}


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    "kind",
    [Buffered, *(pytest.param(kind, marks=pytest.mark.deep) for kind in (Memory, Wrapped))],
    ids=lambda kind: kind.__name__,
)
def test_a_subclass_without_differences_conforms(kind: Any, tmp_path: Path) -> None:
    result = run(kind(), tmp_path)
    assert result.verdict is RunVerdict.CONFORMS, outcomes(result, Verdict.FAIL)
    assert outcomes(result, Verdict.INHERITED)


@MMAP_LEAVES_A_FILE
@pytest.mark.all_programs
@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("name", sampled(10, makers()))
def test_an_empty_subclass_of_a_base_or_a_thin_wrapper_of_it_conforms(
    name: str, tmp_path: Path
) -> None:
    result = check(makers()[name](str(tmp_path)))
    assert result.conforms, [
        (c.clause.id, c.outcome.value, c.reason) for c in result.clauses if c.outcome in VIOLATED
    ]
    assert name == SELDOM_WRONG or bool(outcomes(result, Verdict.INHERITED)) is (name not in RIGHT)


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    "target", [t for t in SERVED if t.label != "fsspec sftp"], ids=lambda target: target.slug
)
def test_an_empty_subclass_of_a_client_of_a_server_or_archive_conforms(target: Target) -> None:
    """Finalizers of fsspec's files raise. Over SFTP, calls of two threads spoil later ones (N7)."""
    with ExitStack() as stack:
        result = check(served(target, stack))
    violated = [(c.clause.id, c.outcome) for c in result.clauses if c.outcome in VIOLATED]
    assert result.conforms, violated
    assert outcomes(result, Verdict.INHERITED)


@MMAP_LEAVES_A_FILE
def test_each_base_is_behind_one_of_these_subclasses(tmp_path: Path) -> None:
    """Except those of Hadoop, whose subclasses are written in Java."""
    found: set[str] = set()
    with ExitStack() as stack:
        in_process = (make(str(tmp_path)) for make in makers().values())
        of_servers = (served(target, stack) for target in SERVED)
        for binding in chain(in_process, of_servers):
            binding.prepare()
            try:
                found = found.union(*sources(binding).values())
            finally:
                binding.dispose()
    listed = {f.classes for failures in inherited_failures().values() for f in failures}
    bases = {name for name in frozenset().union(*listed) if not name.startswith("org.")}
    assert bases <= found


def test_an_inherited_failure_names_its_class_and_finding(tmp_path: Path) -> None:
    result = run(Buffered(), tmp_path, clauses="python.seek.closed")
    (clause,) = result.clauses
    assert clause.reason == "inherited from fsspec.spec.AbstractBufferedFile, finding F15"
    assert clause.issue == "F15"


def test_files_of_another_library_bring_its_failures(tmp_path: Path) -> None:
    """A filesystem that opens PyArrow's files has what PyArrow's files do wrong."""
    pyarrow = pytest.importorskip("pyarrow")

    class Mine(Buffered):
        def open(self, path: str, mode: str = "rb", **options: Any) -> Any:
            return pyarrow.OSFile(path) if mode == "rb" else super().open(path, mode, **options)

    result = run(Mine(), tmp_path, clauses=("python.read.all", "python.read1", "python.iter.*"))
    assert result.conforms, outcomes(result, Verdict.FAIL)
    reasons = {c.clause.id: c.reason for c in result.clauses if c.outcome is Verdict.INHERITED}
    assert reasons["python.iter.lines"] == "inherited from pyarrow.lib.NativeFile, finding S5"
    assert reasons.keys() == {
        "python.read.all",
        "python.read1",
        "python.iter.lines",
    }


def test_a_strict_run_fails_for_what_is_inherited(tmp_path: Path) -> None:
    result = run(Buffered(), tmp_path, clauses="python.seek.closed", strict=("inherited",))
    assert outcomes(result, Verdict.FAIL) == {"python.seek.closed"}


def test_fail_fast_does_not_end_a_run_for_an_inherited_failure(tmp_path: Path) -> None:
    """The whole run is judged, and a failure of the target itself is found after it."""

    class File(BufferedFile):
        def _fetch_range(self, start: int, end: int) -> bytes:
            return bytes(super()._fetch_range(start, end))[::-1]

    class Mine(Buffered):
        file = File

    options = RunOptions(clauses=("python.seek.closed", "pread.data"), fail_fast=True)

    def run_fast(fs: Buffered) -> RunResult:
        binding = FsspecBinding(fs, str(tmp_path), "mine")
        return run_clauses(binding, settings_for(binding, options, selected(options)))

    right = run_fast(Buffered())
    assert outcomes(right, Verdict.INHERITED) == {"python.seek.closed"}
    assert outcomes(right, Verdict.PASS) == {"pread.data"}
    assert outcomes(run_fast(Mine()), Verdict.FAIL) == {"pread.data"}


class OwnSeek(BufferedFile):
    """A file that checks as little as that of fsspec, in its own method."""

    loc: int

    def seek(self, offset: int, whence: int = 0) -> int:
        self.loc = offset + (0, self.loc, self.size)[whence]
        return self.loc


class LoggedSeek(BufferedFile):
    """A file that calls the method of fsspec."""

    def seek(self, offset: int, whence: int = 0) -> int:
        return int(super().seek(offset, whence))


@pytest.mark.parametrize(
    ("file_class", "outcome"), [(OwnSeek, Verdict.FAIL), (LoggedSeek, Verdict.INHERITED)]
)
def test_a_method_inherits_only_from_a_method_that_it_calls(
    tmp_path: Path, file_class: type[BufferedFile], outcome: Verdict
) -> None:
    """Both fail in the same way as that of the base class."""

    class Mine(Buffered):
        file = file_class

    result = run(Mine(), tmp_path, clauses="python.seek.closed")
    assert outcomes(result, outcome) == {"python.seek.closed"}


def test_a_method_that_raises_not_implemented_error_inherits_nothing(tmp_path: Path) -> None:
    """Even if that of the base class fails so; a method that calls it inherits that."""
    pyarrow = pytest.importorskip("pyarrow")

    class Own(pyarrow.OSFile):  # type: ignore[misc,name-defined]
        def __next__(self) -> bytes:
            raise NotImplementedError

    class Logged(pyarrow.OSFile):  # type: ignore[misc,name-defined]
        def __next__(self) -> bytes:
            return bytes(super().__next__())

    def outcome(opener: Any) -> Verdict:
        binding = PythonFileBinding(opener, str(tmp_path), "mine")
        return check(binding, clauses="python.iter.lines").clauses[0].outcome

    assert [outcome(Own), outcome(Logged)] == [Verdict.FAIL, Verdict.INHERITED]


def test_another_failure_of_an_inherited_method_fails(tmp_path: Path) -> None:
    class File(BufferedFile):
        def _fetch_range(self, start: int, end: int) -> bytes:
            return bytes(super()._fetch_range(start, end))[::-1]

    class Mine(Buffered):
        file = File

    result = run(Mine(), tmp_path, clauses="pread.data")
    assert outcomes(result, Verdict.FAIL) == {"pread.data"}


def test_nothing_is_inherited_on_the_target_of_the_library_itself() -> None:
    chosen = ("close.state", "open.independent", "python.writable.false")
    result = check("memory://x", clauses=chosen)
    assert outcomes(result, Verdict.FAIL) == {*chosen}


@pytest.mark.all_programs
def test_a_subclass_of_a_python_file_inherits(tmp_path: Path) -> None:
    result = check(PythonFileBinding(Unbuffered, str(tmp_path), "mine"))
    assert outcomes(result, Verdict.INHERITED) == {"python.seekable.true"}
    assert result.conforms


def test_readline_of_io_inherits_that_it_exceeds_its_limit(tmp_path: Path) -> None:
    clause = clauses()["python.readline.limit"]
    path = tmp_path / "file"
    path.write_bytes(b"data")
    sources = PythonFileBinding(peeking, str(tmp_path), "mine").sources(str(path))
    failure = Counterexample(None, (), "", how="py_readline: returned")
    found = inherits(clause, failure, sources)
    assert found is not None
    assert found.finding == "C8"
    sources = {**sources, "py_readline": frozenset()}
    assert inherits(clause, failure, sources) is None


def test_every_inherited_failure_has_a_clause_and_a_finding() -> None:
    text = FINDINGS.read_text(encoding="utf-8")
    for clause, failures in inherited_failures().items():
        assert clause in clauses()
        for failure in failures:
            assert f"\n### {failure.finding} " in text, failure


def test_an_inherited_failure_may_have_more_circumstances_but_not_fewer() -> None:
    known = present("python.iter.lines")
    sources = dict.fromkeys(("py_next", "py_read"), known.classes)
    clause = clauses()["python.iter.lines"]
    more = Counterexample(None, (), "", identity=f"{known.signature}; after a failed call")
    fewer = Counterexample(None, (), "", identity=known.signature.partition("; ")[0])
    assert inherits(clause, more, sources) == known
    assert inherits(clause, fewer, sources) is None


@pytest.mark.parametrize(
    ("actual", "is_inherited"),
    [("ILLEGAL_ARGUMENT (ValueError: 4096 bytes)", True), ("IO (OSError: no network)", False)],
)
def test_an_inherited_failure_of_a_later_call_raises_the_same_exception(
    actual: str, is_inherited: bool
) -> None:
    known = present("python.seek.set", "ILLEGAL_ARGUMENT")
    sources = dict.fromkeys(("py_seek", "py_read"), known.classes)
    failure = Counterexample(None, (), actual, identity=known.signature)
    found = inherits(clauses()["python.seek.set"], failure, sources)
    assert (known.raises, found == known) == ("ILLEGAL_ARGUMENT", is_inherited)


@pytest.mark.parametrize(
    ("before", "is_inherited"), [("after py_readline", True), ("after seek", False)]
)
def test_an_inherited_failure_may_follow_another_read(before: str, is_inherited: bool) -> None:
    known = present("python.iter.lines")
    sources = dict.fromkeys(("py_next", "py_read"), known.classes)
    how = known.signature.partition("; ")[0]
    failure = Counterexample(None, (), "", identity=f"{how}; {before}")
    assert (inherits(clauses()["python.iter.lines"], failure, sources) == known) is is_inherited


@pytest.mark.parametrize(
    ("installed", "is_inherited"),
    [("2024.2.0", True), ("2024.10.0", False), ("2024.6.1", False), ("2024.6.1.post3", False)],
)
def test_a_failure_that_a_release_fixed_is_inherited_from_older_ones_alone(
    installed: str, is_inherited: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = replace(inherited_failures()["read-fully.eof"][0], fixed="fsspec 2024.6.1")
    monkeypatch.setattr(bases_file, "inherited_failures", lambda: {known.clause: (known,)})
    monkeypatch.setattr(bases_file, "version", {"fsspec": installed}.__getitem__)
    monkeypatch.setattr(bases_file, "_installed", bases_file._installed.__wrapped__)
    failure = Counterexample(None, (), "", identity=known.signature)
    sources = {"read_fully": known.classes, "read_fully_all": known.classes}
    assert (inherits(clauses()[known.clause], failure, sources) == known) is is_inherited
    assert known.reason.endswith(", fixed in fsspec 2024.6.1")


def test_a_failure_without_time_to_shrink_it_is_inherited_from_any_position() -> None:
    known = present("read-fully.eof")
    sources = {"read_fully": known.classes, "read_fully_all": known.classes}
    how = known.signature.partition("; at the end of the file")[0]
    failure = Counterexample(None, (), "", identity=f"{how}; beyond the first buffer")
    clause = clauses()["read-fully.eof"]
    assert inherits(clause, replace(failure, unshrunk=True), sources) == known
    assert inherits(clause, failure, sources) is None
    other = replace(failure, identity="read_fully: returned", unshrunk=True)
    assert inherits(clause, other, sources) is None


def test_a_filesystem_below_a_directory_inherits_as_alone(tmp_path: Path) -> None:
    class Mine(LocalFileSystem):  # type: ignore[misc]
        cachable = False

    alone, below = Mine(auto_mkdir=True), DirFileSystem(str(tmp_path), fs=Mine(auto_mkdir=True))
    (tmp_path / "file").touch()
    sources = FsspecBinding(alone, str(tmp_path), "alone").sources(str(tmp_path / "file"))
    assert "io.BufferedReader" in sources["seek"]
    assert FsspecBinding(below, "", "below").sources("file")["seek"] == sources["seek"]


class WrongRanges(Async):
    """An asynchronous filesystem whose ranges fail as those of the base class do."""

    async def _cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        data = self._bytes(path)
        return data[start : len(data) if end is not None and end < -len(data) else end]


def test_coroutine_of_an_asynchronous_filesystem_is_its_own() -> None:
    result = check(WrongRanges(), clauses=["filesystem.cat-file.negative"])
    assert [c.outcome for c in result.clauses] == [Verdict.FAIL]
