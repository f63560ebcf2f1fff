"""Run the suite on empty subclasses of widely used base classes, and add to `specs/bases.yaml`.

    python -m benchmarks.bases [--check] [--seed N] [--only GLOB] [--of-fsspec] [--write FILE]
    python -m benchmarks.bases --releases A,B [--keep DIR]

Each failure is bound to the class that defines the methods at fault, and to a finding: that of the
matrix for the same clause. Entries of other runs stay. With `--check` nothing is written; the
failures that are not inherited according to the file are printed, and the exit code is 1 if there
are any. With `--only` the other subclasses are not run: no failure is bound to a class of theirs.

With `--releases`, the subclasses of fsspec's classes are run with these older releases of fsspec,
the oldest first, which are installed into DIR. A failure that only they have is added with the
first of the releases that lacks it, the installed one included. What DIR has is used again.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import lzma
import math
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from importlib.metadata import version
from itertools import chain, combinations, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import opendal
import pyarrow
import yaml
from fsspec import AbstractFileSystem
from fsspec.caching import caches
from fsspec.implementations.cached import SimpleCacheFileSystem, WholeFileCacheFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractBufferedFile
from obstore import store as obstores
from pyarrow.fs import FSSpecHandler, PyFileSystem
from pyarrow.fs import LocalFileSystem as ArrowLocal

from benchmarks.matrix.places import PLACES
from benchmarks.matrix.targets import TARGETS, Target
from benchmarks.releases import installed_release
from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.runner.events import PhaseStarted
from fscontract.contract.runner.result import Counterexample, RunResult, Verdict
from fscontract.contract.runner.run_options import RunOptions, selected, settings_for
from fscontract.contract.runner.runner import check
from fscontract.contract.spec.clauses import Clause
from fscontract.contract.spec.inherited_failures import (
    InheritedFailure,
    class_name,
    inherited_failures,
    operations_of,
    read_bases,
)
from fscontract.contract.targets import resolve_target
from fscontract.fakes.mutants.correct_arrow import KeptOutput
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.obstore import ObstoreBinding
from fscontract.implementations.bindings.pyarrow import PyArrowBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding

_ROOT = Path(__file__).resolve().parents[1]
_FILE = _ROOT / "specs" / "bases.yaml"
_KNOWN = Path(__file__).resolve().parent / "matrix" / "known"
#: The known failures of the matrix in which a finding is looked up, the likeliest first.
_TARGETS = {
    "fsspec": ("fsspec-local", "fsspec-memory", "fsspec-http", "fsspec-blockcache", "s3fs*"),
    "io": ("bytesio", "open-raw"),
    "pyarrow": ("pyarrow-local", "pyarrow-s3"),
    "opendal": ("opendal-local", "opendal-memory"),
    "obstore": ("obstore-memory", "obstore-local"),
    "builtins": ("obstore-memory", "obstore-local"),
}
#: Those of a module, which come first.
_OF_MODULES = {
    "fsspec.implementations.tar": "fsspec-tar",
    "fsspec.implementations.http": "fsspec-http",
    "fsspec.implementations.ftp": "fsspec-ftp",
    "fsspec.implementations.sftp": "fsspec-sftp",
    "fsspec.implementations.cached": "fsspec-blockcache",
    "paramiko": "fsspec-sftp",
    "s3fs": "s3fs",
    "tarfile": "fsspec-tar",
}
#: The packages above whose findings have no entry in _OTHERS. The readers of obstore, which is
#: written in Rust, are of no module.
_OF_RUST = frozenset({"obstore", "builtins"})
#: Caches of fsspec that read in blocks on their own account, or are not for one file.
_CACHES = ("none", "readahead", "bytes", "all", "first", "mmap", "blockcache", "background")
#: The findings on reads through fsspec's mmap cache, on reads of -1 bytes with PyArrow, and those
#: of clauses that the matrix lacks.
_OF_MMAP = "S15"
_OF_ARROW_READ = "S4"
#: The findings on fsspec's wrappers.
_ARROW, _OF_ARROW_WRAPPER = "fsspec.implementations.arrow", "F27"
_ASYNC_WRAPPER, _OF_ASYNC_WRAPPER = "fsspec.implementations.asyn_wrapper", "F56"
#: The subclasses of fsspec's classes, and the finding on failures that only older releases have.
_OF_FSSPEC = (
    *("Local", "LocalOwner", "BytesOwner", "Minimal", "Memory", "Directory", "cache *"),
    *("Whole", "Simple", "Blocks", "Asynchronous", "Arrow", "fsspec [zthr]*"),
)
_OF_RELEASES = "F57"
#: The findings on files of gzip, bz2 and lzma, and on caches of whole files.
_COMPRESSED = frozenset({"gzip.GzipFile", "bz2.BZ2File", "lzma.LZMAFile"})
_OF_COMPRESSED = {"seek.negative": "C3", "pread.eof": "F9"}
_CACHED = "fsspec.implementations.cached."
_OF_CACHED = {
    "consistency.opened": "F28",
    "filesystem.cat-file.negative": "F32",
    "filesystem.cat-ranges.data": "F28",
    "filesystem.cat.glob": "F33",
    "readers.zarr.shards": "F32",
}
_OF_FILESYSTEMS = "fsspec.spec.AbstractFileSystem"
_OTHERS: dict[object, str] = {
    # Of OpenDAL: a read of -1 bytes after a seek.
    ("python.seek.set", "later call: raised"): "S8",
    ("python.seek.current", "later call: raised"): "S8",
    ("open.name", "read_byte: IO"): "S36",
    ("python.readline.eof", "py_readline: NULL"): "F14",
    ("python.readline.last", "py_readline: NULL"): "F14",
    ("python.readlines.all", "py_readlines: returned an empty line"): "F58",
    ("read-fully.eof", "read_fully: NULL"): "F5",
    ("read-fully.eof", "read_fully_all: NULL"): "F5",
    ("python.write.refused", "py_write: ILLEGAL_ARGUMENT"): "F16",
    ("read-fully.eof", "read_fully: OTHER AttributeError"): "F5",
    ("read-fully.eof", "read_fully_all: OTHER AttributeError"): "F5",
    ("filesystem.cat-file.negative", "fs_cat_file: OTHER AttributeError"): "F32",
    ("filesystem.cat-file.negative", "fs_cat_file: NULL"): "F32",
    "readers.zarr.shards": "F32",
    "filesystem.cat-file.negative": "F31",
    ("filesystem.read-block.past-end", "fs_read_block: ILLEGAL_ARGUMENT"): "F4",
    "filesystem.read-block.past-end": "F5",
    "filesystem.read-block.range": "F5",
    "filesystem.read-block.all": "F5",
    "filesystem.read-block.delimiter": "F5",
    "arrow.input-stream.buffered": "F1",
    "arrow.input-stream.data": "F1",
    "model.pread-thread-safe": "F1",
    "open.independent": "F1",
    "pread.isolation": "F1",
    "pread.serializable": "F1",
    "python.with.closes": "F2",
    "python.writable.false": "F3",
    ("python.write.refused", "py_write: returned"): "F3",
    "read-fully.data": "F5",
    "read-fully.whole": "F5",
}
_HEAD = """\
# Known failures of widely used base classes, by class. A failure of a target whose methods come
# from such a class has the outcome `inherited`. Made by `python -m benchmarks.bases`; the findings
# are those of docs/findings.md. Those of Hadoop's classes are the known failures of the matrix.
# `fixed` is the first release measured without the failure.
"""


class Local(LocalFileSystem):  # type: ignore[misc]
    """A subclass without differences."""

    cachable = False


class Memory(MemoryFileSystem):  # type: ignore[misc]
    """A subclass without differences."""

    cachable = False


class Directory(DirFileSystem):  # type: ignore[misc]
    """A subclass without differences."""

    cachable = False


class BufferedFile(AbstractBufferedFile):  # type: ignore[misc]
    """A buffered file that fetches ranges of a local file."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(start)
            return file.read(end - start)


class Buffered(LocalFileSystem):  # type: ignore[misc]
    """Local files that are read through a cache of fsspec."""

    cachable = False
    cache: str = "readahead"

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        if mode != "rb":
            return super()._open(path, mode, **options)
        if self.isdir(path):
            raise IsADirectoryError(path)
        return BufferedFile(self, path, mode, block_size=4096, cache_type=self.cache)


class Raw(io.RawIOBase):
    """A raw file with the methods that its base class asks for."""

    def __init__(self, path: str) -> None:
        self._data = Path(path).read_bytes()
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read up to the size of the buffer, and return the number of bytes."""
        self._require_open()
        view = memoryview(buffer).cast("B")
        data = self._data[self._position : self._position + len(view)]
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Set the position, and return it."""
        self._require_open()
        if whence not in (0, 1, 2):
            raise ValueError(f"invalid whence: {whence}")
        position = (0, self._position, len(self._data))[whence] + offset
        if not 0 <= position <= sys.maxsize:
            raise ValueError(f"invalid position: {position}")
        self._position = position
        return position

    def _require_open(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")


class Whole(WholeFileCacheFileSystem):  # type: ignore[misc]
    """A subclass without differences."""

    protocol = "whole"


class Simple(SimpleCacheFileSystem):  # type: ignore[misc]
    """A subclass without differences."""

    protocol = "simple"


class Bz2(bz2.BZ2File):
    """A subclass without differences."""


class Xz(lzma.LZMAFile):
    """A subclass without differences."""


#: The classes of which this module has an empty subclass, such as EmptyTarFileSystem.
_EMPTY = {
    "ArrowFSWrapper": "fsspec.implementations.arrow",
    "AsyncFileSystemWrapper": "fsspec.implementations.asyn_wrapper",
    "CachingFileSystem": "fsspec.implementations.cached",
    "FTPFileSystem": "fsspec.implementations.ftp",
    "HTTPFileSystem": "fsspec.implementations.http",
    "ReferenceFileSystem": "fsspec.implementations.reference",
    "S3FileSystem": "s3fs",
    "SFTPFileSystem": "fsspec.implementations.sftp",
    "TarFileSystem": "fsspec.implementations.tar",
    "ZipFileSystem": "fsspec.implementations.zip",
}
#: The targets of the matrix whose filesystem becomes one of an empty subclass.
SERVED = tuple(
    target
    for target in TARGETS
    if target.label
    in {
        *("fsspec zip deflated", "fsspec tar", "fsspec http", "fsspec reference of http"),
        *("fsspec ftp", "fsspec sftp", "s3fs"),
    }
)


def __getattr__(name: str) -> Any:
    """Return an empty subclass, so that pickle finds it in another process, too."""
    base = name.removeprefix("Empty")
    if base == name or base not in _EMPTY:
        raise AttributeError(name)
    cls = getattr(import_module(_EMPTY[base]), base)
    globals()[name] = type(name, (cls,), {"__module__": __name__, "cachable": False})
    return globals()[name]


class Store(obstores.MemoryStore):
    """A subclass without differences."""


class LocalStore(obstores.LocalStore):
    """A subclass without differences."""


class Unbuffered(io.FileIO):
    """A subclass without differences."""


class Reader(io.BufferedReader):
    """A subclass without differences."""


class Bytes(io.BytesIO):
    """A subclass without differences."""


class LocalOwner(Local):
    """A filesystem whose files are fsspec's own."""

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        return super()._open(path, mode, **options)


class Minimal(AbstractFileSystem):  # type: ignore[misc]
    """A filesystem with as few methods as its base class allows, whose files are Python's own."""

    protocol = "minimal"
    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self._files: dict[str, bytes] = {}

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        path = self._strip_protocol(path)
        if mode != "rb":
            return KeptOutput(self._files, path)
        if path not in self._files:
            raise FileNotFoundError(path)
        return io.BytesIO(self._files[path])

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        """List the files at or below a path."""
        path = self._strip_protocol(path).rstrip("/")
        found = [p for p in self._files if p == path or p.startswith(f"{path}/")]
        entries = [{"name": p, "size": len(self._files[p]), "type": "file"} for p in found]
        return entries if detail else found

    def rm_file(self, path: str) -> None:
        """Remove a file; a directory has no entry."""
        self._files.pop(self._strip_protocol(path), None)

    def mkdir(self, path: str, create_parents: bool = True, **options: Any) -> None:
        """Do nothing: there are no directories."""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Do nothing."""


class ForeignOwner(Local):
    """A filesystem whose files are those of another library."""

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        return self.open_foreign(path) if mode == "rb" else super()._open(path, mode, **options)

    def open_foreign(self, path: str) -> Any:
        """Open a file of the other library."""
        raise NotImplementedError


class BytesOwner(ForeignOwner):
    """A filesystem whose files are Python's own."""

    def open_foreign(self, path: str) -> Any:
        """Open a file in memory."""
        return io.BytesIO(Path(path).read_bytes())


class ArrowOwner(ForeignOwner):
    """A filesystem whose files are PyArrow's."""

    def open_foreign(self, path: str) -> Any:
        """Open a file of PyArrow."""
        return pyarrow.OSFile(path)


class OpendalFile:
    """A file of opendal, with the methods for lines that it lacks."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        line = self.readline()
        if not line:
            raise StopIteration
        return bytes(line)

    def readlines(self, hint: int | None = -1) -> list[bytes]:
        """Return the lines up to the end, or as many as have `hint` bytes or more."""
        lines: list[bytes] = []
        for line in self:
            lines.append(line)
            if hint and 0 < hint <= sum(map(len, lines)):
                break
        return lines

    def __enter__(self) -> Any:
        return self._file.__enter__()

    def __exit__(self, *error: object) -> None:
        self._file.__exit__(*error)


class OpendalOwner(ForeignOwner):
    """A filesystem whose files are opendal's."""

    def open_foreign(self, path: str) -> Any:
        """Open a file of opendal."""
        return OpendalFile(opendal.Operator("fs", root="/").open(path, "rb"))


class GzipOwner(ForeignOwner):
    """A filesystem whose files are Python's readers of gzip files."""

    def open_foreign(self, path: str) -> Any:
        """Open a compressed copy of a file."""
        return gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(Path(path).read_bytes())))


class ZipOwner(ForeignOwner):
    """A filesystem whose files are Python's readers of members of zip files."""

    def open_foreign(self, path: str) -> Any:
        """Open a file in an archive of it."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("member", Path(path).read_bytes())
        return zipfile.ZipFile(packed).open("member")


class Buffers(FSSpecHandler):  # type: ignore[misc]
    """A handler whose files are buffers of PyArrow."""

    def open_input_file(self, path: str) -> Any:
        """Open a buffer with the bytes of a file."""
        return pyarrow.BufferReader(self.fs.cat_file(path))


class SystemFiles(FSSpecHandler):  # type: ignore[misc]
    """A handler whose files are those of PyArrow on a local disk."""

    def open_input_file(self, path: str) -> Any:
        """Open a file of the operating system."""
        return pyarrow.OSFile(path)


def _of_cache(cache: str, directory: str) -> Binding:
    buffered = type("Cached", (Buffered,), {"cache": cache, "__module__": __name__})
    return FsspecBinding(buffered(), directory, f"AbstractBufferedFile, cache {cache}")


def _of_copies(kind: Any, directory: str) -> Binding:
    storage = tempfile.mkdtemp(dir=directory)
    return FsspecBinding(kind(fs=Local(), cache_storage=storage), directory, kind.__name__)


def makers() -> dict[str, Callable[[str], Binding]]:
    """Return the targets by name, as functions of a directory: for each base class one or more."""
    owners = (LocalOwner, BytesOwner, ArrowOwner, OpendalOwner, GzipOwner, ZipOwner)
    files: dict[str, Any] = {
        "RawIOBase": Raw,
        "FileIO": Unbuffered,
        "BufferedReader": lambda path: Reader(io.FileIO(path)),
        "BytesIO": lambda path: Bytes(Path(path).read_bytes()),
    }
    compressed: dict[str, tuple[Any, Any]] = {
        "BZ2File": (Bz2, bz2.compress),
        "LZMAFile": (Xz, lzma.compress),
    }
    return {
        "Local": lambda d: FsspecBinding(Local(), d, "Local"),
        **{o.__name__: partial(_of_owner, o) for o in owners},
        "Minimal": lambda d: FsspecBinding(Minimal(), "", "Minimal"),
        "Memory": lambda d: FsspecBinding(Memory(), "/", "Memory"),
        "Directory": lambda d: FsspecBinding(Directory(d, Local()), "/", "Directory"),
        **{f"cache {cache}": partial(_of_cache, cache) for cache in _CACHES if cache in caches},
        **{kind.__name__: partial(_of_copies, kind) for kind in (Whole, Simple)},
        "Blocks": partial(_of_copies, __getattr__("EmptyCachingFileSystem")),
        "Asynchronous": lambda d: FsspecBinding(
            __getattr__("EmptyAsyncFileSystemWrapper")(Local()), d, "Asynchronous"
        ),
        "Arrow": lambda d: FsspecBinding(
            __getattr__("EmptyArrowFSWrapper")(ArrowLocal()), d, "Arrow"
        ),
        **{k.__name__: partial(_of_handler, k) for k in (FSSpecHandler, Buffers, SystemFiles)},
        "MemoryHandler": lambda d: PyArrowBinding(
            PyFileSystem(FSSpecHandler(Memory())), "", "MemoryHandler"
        ),
        "Store": lambda d: ObstoreBinding(Store(), "Store"),
        "LocalStore": lambda d: ObstoreBinding(LocalStore(d), "LocalStore"),
        **{name: partial(_of_files, name, opener, None) for name, opener in files.items()},
        **{name: partial(_of_files, name, *how) for name, how in compressed.items()},
    }


def served(target: Target, stack: ExitStack) -> FsspecBinding:
    """Return a target of the matrix with an empty subclass; its place is there until the end."""
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    provided = stack.enter_context(PLACES[target.place](scratch))
    options = {key: value.format(**provided) for key, value in target.options.items()}
    content = Path(provided["copy"]) if target.file else None
    text = target.target.format(**provided)
    binding = resolve_target(text, options, target.file or None, content)
    assert isinstance(binding, FsspecBinding)
    binding.fs.__class__ = __getattr__(f"Empty{type(binding.fs).__name__}")
    binding.name = target.label
    return binding


def _of_owner(owner: type[Local], directory: str) -> Binding:
    return FsspecBinding(owner(), directory, owner.__name__)


def _of_handler(kind: Any, directory: str) -> Binding:
    return PyArrowBinding(PyFileSystem(kind(Local(auto_mkdir=True))), directory, kind.__name__)


def _of_files(name: str, opener: Any, encode: Any, directory: str) -> Binding:
    return PythonFileBinding(opener, directory, name, encode=encode)


class Probe(NamedTuple):
    """The failures of a target, by clause and signature, and the classes behind its calls.

    `own` are those that the file does not list.
    """

    failures: dict[tuple[str, str], Clause]
    own: frozenset[tuple[str, str]]
    sources: dict[str, frozenset[str]]
    #: The filesystem's class that has an empty subclass here, "" if there is none.
    base: str = ""

    def at_fault(self, clause: Clause) -> frozenset[str]:
        """Return the classes that define what the operations of a clause call."""
        operations = operations_of(clause, self.sources)
        return frozenset().union(*(self.sources.get(op, ()) for op in operations))

    @property
    def every(self) -> frozenset[str]:
        """All classes behind the calls of the target, but for that of all objects."""
        return frozenset().union(*self.sources.values()) - {"builtins.object"}


def main() -> int:
    """Add to the file, or check the targets by it."""
    asked = _arguments()
    if asked.releases:
        return _of_releases(asked.releases.split(","), asked.keep)
    run = RunOptions(budget=math.inf, seed=asked.seed)
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        targets: dict[str, Callable[[], Binding]] = {
            name: partial(make, directory) for name, make in makers().items()
        }
        targets |= {target.label: partial(served, target, stack) for target in SERVED}
        if asked.of_fsspec:
            targets = {name: make for name, make in targets.items() if _is_of_fsspec(name)}
        chosen = [name for name in targets if fnmatchcase(name, asked.only)]
        if asked.check:
            return max((_own_failures(targets[name](), run) for name in chosen), default=0)
        probes = [
            probe
            for name, make in targets.items()
            if (probe := _probe_of(make, run if name in chosen else None, asked.of_fsspec))
        ]
    found = {_order(f): f for probe in probes for f in _bound(probe, probes)}
    failures = _with(found)
    for failure in failures:
        if not failure.finding and not asked.of_fsspec:
            print("no finding:", failure.clause, failure.signature, *failure.classes, sep="\t")
    _write(failures, asked.write)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bases")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="*", metavar="GLOB")
    parser.add_argument("--of-fsspec", action="store_true", help="only classes of fsspec")
    parser.add_argument("--write", type=Path, default=_FILE, metavar="FILE")
    parser.add_argument("--releases", metavar="A,B", help="of fsspec, the oldest first")
    parser.add_argument("--keep", type=Path, default=Path("releases"), metavar="DIR")
    return parser.parse_args()


def _is_of_fsspec(name: str) -> bool:
    return any(fnmatchcase(name, glob) for glob in _OF_FSSPEC)


def _of_releases(releases: Sequence[str], keep: Path) -> int:
    """Add the failures that only older releases of fsspec have; return 1 if a run fails."""
    current = frozenset(_order(f) for f in _listed() if not f.fixed)
    older: dict[object, InheritedFailure] = {}
    for release, following in pairwise([*releases, version("fsspec")]):
        path = installed_release("fsspec", release, keep.resolve())
        if path is None:
            print(f"fsspec {release} can't be installed")
            return 1
        file = path / "bases.yaml"
        command = [sys.executable, "-m", "benchmarks.bases", "--of-fsspec", "--write", str(file)]
        paths = os.pathsep.join(map(str, (path, _ROOT, _ROOT / "src")))
        environment = {**os.environ, "PYTHONPATH": paths}
        if not file.exists() and subprocess.run(command, env=environment, check=False).returncode:
            return 1
        for failure in read_bases(file.read_text(encoding="utf-8")):
            of_fsspec = any(name.startswith("fsspec.") for name in failure.classes)
            if of_fsspec and _order(failure) not in current and not failure.fixed:
                fixed = f"fsspec {following}"
                older[_order(failure)] = replace(failure, finding=_OF_RELEASES, fixed=fixed)
    _write(_with(older), _FILE)
    return 0


def _listed() -> Iterator[InheritedFailure]:
    return chain.from_iterable(inherited_failures().values())


def _with(found: Mapping[Any, InheritedFailure]) -> list[InheritedFailure]:
    """Return these failures and the listed ones, sorted; of one in both, the listed one.

    It is the found one if the installed release has a failure that is listed as fixed.
    """
    listed = {_order(f): f for f in _listed() if f.is_present or _order(f) not in found}
    return [failure for _, failure in sorted({**found, **listed}.items())]


def _probe_of(make: Callable[[], Binding], run: RunOptions | None, may_lack: bool) -> Probe | None:
    """Return what a target shows; None if it can't be made, as an older release `may_lack` it."""
    try:
        target = make()
        return _unjudged(target) if run is None else _probe(target, run)
    except (ImportError, AttributeError, TargetError) as error:
        if not may_lack:
            raise
        print(f"left out: {error}")
        return None


def _own_failures(target: Binding, run: RunOptions) -> int:
    """Print the failures of a target that are not inherited; return 1 if there are any."""
    own = _own(check(target, settings_for(target, run, selected(run))))
    print(f"{target.name}: {len(own)} failures that are not inherited", flush=True)
    for clause, signature in sorted(own):
        print(f"  {clause}: {signature}")
    return int(bool(own))


def _failures(result: RunResult) -> Iterator[tuple[Clause, Counterexample]]:
    for c in result.clauses:
        if c.outcome in (Verdict.FAIL, Verdict.INHERITED):
            yield from ((c.clause, failure) for failure in c.counterexamples)


def _own(result: RunResult) -> frozenset[tuple[str, str]]:
    return frozenset((c.id, f.signature) for c, f in _failures(result) if not f.inherited)


def _bound(probe: Probe, probes: Sequence[Probe]) -> Iterator[InheritedFailure]:
    """Yield each failure with the fewest classes that show it: behind whichever target they are.

    Calls of fsspec's base class that need no stream fail in several ways, by the files they open,
    or by the filesystem.
    """
    for (name, signature), clause in probe.failures.items():
        if (name, signature) not in probe.own:
            continue
        at_fault, every = probe.at_fault(clause), sorted(probe.every)
        of_files = clause.document == "fsspec-filesystem" and _OF_FILESYSTEMS in at_fault
        if probe.base in at_fault or of_files or at_fault == {_OF_FILESYSTEMS}:
            general = frozenset({_OF_FILESYSTEMS}) & at_fault
            classes = frozenset({probe.base or _OF_FILESYSTEMS}) | general
            yield InheritedFailure(classes, name, signature, _finding(name, signature, classes))
            continue
        sets = chain(combinations(every, 1), combinations(every, 2), [probe.every])
        for classes in map(frozenset, sets):
            if at_fault.isdisjoint(classes):
                continue
            alike = [p for p in probes if classes <= p.every and classes & p.at_fault(clause)]
            if all((name, signature) in other.failures for other in alike):
                yield InheritedFailure(classes, name, signature, _finding(name, signature, classes))
                break


def _order(failure: InheritedFailure) -> tuple[tuple[str, ...], str, str]:
    return tuple(sorted(failure.classes)), failure.clause, failure.signature


def _probe(target: Binding, run: RunOptions) -> Probe:
    found: dict[str, frozenset[str]] = {}

    def look(event: object) -> None:
        if isinstance(event, PhaseStarted) and not found:
            found.update(sources(target))

    result = check(target, settings_for(target, run, selected(run)), look)
    failures = {(c.id, f.signature): c for c, f in _failures(result)}
    probe = Probe(failures, _own(result), found, _base_of(target))
    print(f"{target.name}: {len(failures)} failures, {len(probe.own)} of them new", flush=True)
    return probe


def _base_of(target: Binding) -> str:
    filesystem = getattr(target, "fs", None)
    cls = type(filesystem)
    is_empty = cls.__name__.removeprefix("Empty") in _EMPTY
    return class_name(cls.__mro__[1]) if is_empty else ""


def _unjudged(target: Binding) -> Probe:
    """Return the classes behind a target that is not run."""
    target.prepare()
    try:
        return Probe({}, frozenset(), sources(target))
    finally:
        target.dispose()


def sources(target: Binding) -> dict[str, frozenset[str]]:
    """Return the classes behind each operation of a prepared target."""
    fixed = target.fixed_content
    return dict(target.sources(target.create(b"bytes" if fixed is None else fixed)))


def _finding(clause: str, signature: str, classes: frozenset[str]) -> str:
    if any(name.startswith(_ARROW) for name in classes):
        return _OF_ARROW_READ if "SystemError" in signature else _OF_ARROW_WRAPPER
    if any(name.startswith(_ASYNC_WRAPPER) for name in classes) and clause.startswith("open."):
        return _OF_ASYNC_WRAPPER
    if "fsspec.caching.MMapCache" in classes:
        return _OF_MMAP
    if not _COMPRESSED.isdisjoint(classes) and clause in _OF_COMPRESSED:
        return _OF_COMPRESSED[clause]
    if any(name.startswith(_CACHED) for name in classes) and clause in _OF_CACHED:
        return _OF_CACHED[clause]
    patterns = [_OF_MODULES[m] for m in _OF_MODULES if any(c.startswith(m) for c in classes)]
    for entry in _entries(*patterns):
        if (entry["clause"], entry["signature"]) == (clause, signature):
            return str(entry["issue"]).split()[0]
    packages = [p for p in _TARGETS if any(c.startswith(f"{p}.") for c in classes)]
    package = next(iter(packages), "io")
    how = signature.partition(";")[0]
    if package == "pyarrow" and how == "later call: raised" and clause != "pread.pos-unchanged":
        return _OF_ARROW_READ
    if package not in _OF_RUST and (clause in _OTHERS or (clause, how) in _OTHERS):
        return _OTHERS.get((clause, how)) or _OTHERS[clause]
    for entry in _entries(*patterns, *_TARGETS[package]):
        if entry["clause"] == clause:
            return str(entry["issue"]).split()[0]
    return ""


def _entries(*patterns: str) -> Iterator[dict[str, Any]]:
    """Yield the known failures of targets of the matrix."""
    for pattern in patterns:
        for path in sorted(_KNOWN.glob(f"{pattern}.yaml")):
            yield from yaml.safe_load(path.read_text(encoding="utf-8"))["known"]


def _write(failures: list[InheritedFailure], file: Path) -> None:
    bases: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for failure in failures:
        entry = {"clause": failure.clause, "signature": failure.signature}
        entry |= {"raises": failure.raises} if failure.raises else {}
        entry |= {"fixed": failure.fixed} if failure.fixed else {}
        key = tuple(sorted(failure.classes))
        bases.setdefault(key, []).append({**entry, "finding": failure.finding})
    data = {"bases": [{"classes": [*key], "failures": entries} for key, entries in bases.items()]}
    text = yaml.safe_dump(data, sort_keys=False, width=100)
    file.write_text(_HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
