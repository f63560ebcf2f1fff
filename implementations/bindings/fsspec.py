"""Binding to fsspec filesystems (2023.1 and later): files opened directly, or by a builder."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn
from urllib.parse import urljoin

from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.binding import (
    Action,
    Binding,
    MethodCall,
    NoScene,
    Opener,
    TargetError,
)
from fscontract.contract.program.content import SparseContent
from fscontract.contract.program.filesystem_calls import (
    ASYNC_OPERATIONS,
    CHAIN_OPERATIONS,
    FILESYSTEM_OPERATIONS,
    GET_OPERATIONS,
    LISTING_OPERATIONS,
    OPEN_OPERATIONS,
    PROCESS_OPERATIONS,
    READER_OPERATIONS,
    ZARR_OPERATIONS,
)
from fscontract.contract.program.open_calls import STATUSES, Opening
from fscontract.contract.program.outcome import Kind, Outcome
from fscontract.contract.program.program import CHANGES, Program, Step
from fscontract.contract.runner.timeouts import Next, supervise
from fscontract.contract.script.callables import is_callable
from fscontract.contract.script.calls import Call, NoScript, ScriptApi, Source
from fscontract.contract.spec.inherited_failures import BASES
from fscontract.contract.untrusted import typed_value
from fscontract.implementations.bindings.common import (
    OpenedFile,
    ScratchBinding,
    failure,
    new_prefix,
    outcome_of,
    prefixes_among,
    secrets_in,
    shown,
)
from fscontract.implementations.bindings.file_operations import (
    FILE_OPERATIONS,
    PYTHON_OPERATIONS,
    bind_file,
    bind_python,
    failed_step,
    inexpressible,
    is_closed,
)
from fscontract.implementations.bindings.filesystem_calls import (
    Target,
    bind_filesystem,
    bind_get,
    spell_filesystem,
)
from fscontract.implementations.bindings.fsspec_async import AsyncTwin, bind_async, spell_async
from fscontract.implementations.bindings.fsspec_chain import (
    bind_chain,
    chain_operations,
    spell_chain,
)
from fscontract.implementations.bindings.fsspec_listings import bind_listing, spell_listing
from fscontract.implementations.bindings.fsspec_opened import bind_opened, spell_opened
from fscontract.implementations.bindings.fsspec_quirks import (
    READ_ONLY,
    below_directories,
    close_sessions,
    is_flat,
    is_local,
    is_remote,
    is_unreachable,
    versions_of,
)
from fscontract.implementations.bindings.library_readers import (
    Wording,
    bind_reader,
    missing_readers,
    reader_operations,
    spell_reader,
)
from fscontract.implementations.bindings.method_calls import observed_methods
from fscontract.implementations.bindings.method_sources import (
    FILE_METHODS,
    FILESYSTEM_METHODS,
    OBSERVED_METHODS,
    inspected,
    sources_of,
)
from fscontract.implementations.bindings.open_file import FOREIGN, KINDS, known_status
from fscontract.implementations.bindings.other_process import (
    bind_process,
    missing_processes,
    process_operations,
    spell_process,
)
from fscontract.implementations.bindings.positioned_reads import (
    RANGE_OPERATIONS,
    bind_ranges,
    recording_close,
    while_open,
)
from fscontract.implementations.bindings.script_setup import fsspec_setup
from fscontract.implementations.bindings.spelling import (
    spell_builder,
    spell_file,
    spell_program,
    spell_range,
)
from fscontract.implementations.bindings.zarr_reader import (
    bind_zarr,
    missing_zarr,
    spell_zarr,
    zarr_operations,
)

_WRITTEN = frozenset({"file", "late", "missing", "directory", "unreadable", "foreign"})
_READ_ONLY = frozenset({"file", "missing"})


class Pending(NamedTuple):
    """Result of `build`, and the path that is being opened."""

    future: Future[Any]
    path: str


class FsspecOpener(Opener):
    """`open_file` of implementations/fsspec_open_file.py, for files of `binding` in `fs`.

    `opened` converts a file and its path to the binding's opened file, `failed` an exception to an
    outcome; `cant` returns a TargetError for a failed action.
    """

    def __init__(
        self,
        binding: ScratchBinding,
        fs: Any,
        opened: Callable[[Any, str], Any],
        failed: Callable[[Exception], Outcome],
        cant: Callable[[str, BaseException], TargetError],
    ) -> None:
        written = binding.fixed_content is None
        self.scenes = _WRITTEN if written else _READ_ONLY
        self.statuses = frozenset(STATUSES) - (set() if written else {"stale"})
        self._binding = binding
        self._fs = fs
        self._opened = opened
        self._failed = failed
        self._cant = cant

    def place(self, scene: str, content: bytes) -> str:
        """Create the scene and return its path; raise NoScene if fsspec or the store can't."""
        if scene == "file":
            return self._binding.create(content)
        if scene not in self.scenes:
            raise NoScene(scene)
        path = self._new_path(content)
        if scene == "directory":
            self._make_directory(path)
        elif scene == "unreadable":
            self._forbid(path, content)
        elif scene == "foreign":
            return self._foreign(path)
        return path

    def appear(self, path: str, content: bytes) -> None:
        """Write the file at `path`; raise TargetError."""
        self._binding.change(path, content)

    def status(self, path: str, kind: str, length: int | None) -> FileStatus | None:
        """Return a status of a kind from `info`; its length is unknown without a file."""
        from fscontract.implementations.fsspec_open_file import status_of

        if kind == "none":
            return None
        own = known_status(lambda: status_of(self._fs.info(path)), path)
        if kind not in ("own", "stale") and "/" not in own.path:
            own = replace(own, path=f"/{own.path}")
        return KINDS[kind](own if length is None else replace(own, length=length))

    def open_file(self, path: str) -> Any:
        """Return a new builder for a file of the filesystem."""
        from fscontract.implementations.fsspec_open_file import open_file

        return open_file(self._fs, path)

    def build(self, builder: Any) -> Pending:
        """Return the result of `build`, with the path."""
        return Pending(builder.build(), builder.path)

    def get(self, future: Any) -> Any:
        """Return the file of the future."""
        return self._opened(super().get(future.future), future.path)

    def outcome(self, error: Exception) -> Outcome:
        """Return the outcome of a call that raised; an unreachable server gives no verdict."""
        return self._failed(error)

    def _new_path(self, content: bytes) -> str:
        if self._binding.fixed_content is None:
            return self._binding.new_path()
        return f"{self._binding.create(content)}-missing"

    def _make_directory(self, path: str) -> None:
        try:
            self._fs.makedirs(path)
            is_directory = self._fs.isdir(path)
        except NotImplementedError:
            is_directory = False
        except Exception as error:
            raise self._cant("can't create a directory", error) from error
        if not is_directory:
            self._give_up("directory", "the store has no empty directories")

    def _forbid(self, path: str, content: bytes) -> None:
        from fsspec.implementations.local import LocalFileSystem

        if not isinstance(self._fs, LocalFileSystem):
            self._give_up("unreadable", "fsspec has no permissions")
        self._binding.change(path, content)
        try:
            os.chmod(path, 0)
        except OSError as error:
            raise self._cant(f"can't remove the read permission of {path}", error) from error
        if os.access(path, os.R_OK):
            self._give_up("unreadable", "this process can read files without permission")

    def _foreign(self, path: str) -> str:
        if "://" not in path:
            self._give_up(
                "foreign", "the filesystem accepts a path with another scheme as a file name"
            )
        return f"{FOREIGN}/{path.rpartition('/')[2]}"

    def _give_up(self, scene: str, why: str) -> NoReturn:
        self.scenes -= {scene}
        raise NoScene(why)


_file_of = attrgetter("file")
_WORDING = Wording("fs.open(name)", "fs.pipe_file(name, {data})", raw=True)
_HOW_TO_READ = (
    "specify --file, the path of an existing file, and --content, a local copy of that file"
)
#: A callable returns the root; that of an object store holds buckets, not files.
_UNWRITABLE_ROOT = (
    "the root can't be written; to check an existing directory or bucket, return"
    " DirFileSystem(path, fs)"
)


#: Seconds for a look at an open file, which tells the block size.
_LOOKING = 2.0


class FsspecBinding(ScratchBinding):
    """Runs programs on files that an fsspec filesystem opens.

    Files lie below `root`, a path of `fs`; or `file` is the path of the only file, and `content`
    its content. Files are opened with only a path, as users do: some filesystems reject or
    mishandle other block sizes.
    """

    api: ClassVar[str] = "fsspec"
    default_profile: ClassVar[str] = "fsspec"
    pread_on_stream = False
    #: Object that `recognise` accepts, for messages.
    accepts: ClassVar[str] = "an fsspec.AbstractFileSystem"

    def __init__(
        self,
        fs: Any,
        root: str,
        name: str,
        content: bytes | None = None,
        file: str | None = None,
    ) -> None:
        self.fs = fs
        self.name = name
        self.operations = FILE_OPERATIONS | RANGE_OPERATIONS | PYTHON_OPERATIONS
        self.operations |= FILESYSTEM_OPERATIONS.keys() | process_operations(fs)
        self.operations |= GET_OPERATIONS.keys() | OPEN_OPERATIONS.keys()
        self.operations |= LISTING_OPERATIONS.keys()
        if getattr(fs, "async_impl", False):
            self.operations |= ASYNC_OPERATIONS.keys()
        if content is None:
            self.operations |= chain_operations(fs)
            self.operations |= reader_operations() | zarr_operations()
        only_file = content is not None
        self.lacks = {**missing_readers(only_file), **missing_zarr(only_file)}
        self.lacks |= missing_processes()
        self._twin = AsyncTwin(fs)
        #: The last directory that was made for a file.
        self._made = ""
        self.fixed_content = content
        self.changes = frozenset(CHANGES) if content is None else frozenset()
        self.remote = is_remote(fs)
        self.holds_sparse = is_local(fs) and content is None
        #: Libraries and their versions, for reports.
        self.versions = versions_of(fs)
        self._root = root
        self._file = file
        self._owned = False
        self.opener: FsspecOpener = FsspecOpener(self, fs, OpenedFile, self._fail, self.failure)

    @classmethod
    def from_url(
        cls,
        url: str,
        options: Mapping[str, Any],
        *,
        file: str | None = None,
        content: Path | None = None,
    ) -> FsspecBinding:
        """Return the binding to the filesystem at `url`; raise TargetError on failure.

        `options` are fsspec's storage options; values that are valid JSON are parsed. `file` is a
        URL, or relative to `url`, and `content` a local file with the same bytes.
        """
        from fsspec.core import url_to_fs

        typed = {key: typed_value(value) for key, value in options.items()}
        name, secrets = shown(url), secrets_in(url, typed)
        if (file is None) != (content is None):
            raise TargetError(f"{name}: --file and --content must be used together")
        if file is None and url.partition("://")[0] in READ_ONLY:
            raise TargetError(f"{name}: the filesystem is read-only; {_HOW_TO_READ}")
        try:
            fs, root = url_to_fs(url, **typed, skip_instance_cache=True)
            path = None if file is None else _inside(fs, root, file)
            data = None if content is None else content.read_bytes()
        except Exception as error:
            raise failure(name, "can't be opened through fsspec", error, secrets) from error
        if hasattr(fs, "dircache"):
            fs.dircache.use_listings_cache = False  # as an option, this breaks sftp
        binding = cls(fs, root, name, data, path)
        binding.remote = is_remote(fs, url)
        binding._secrets, binding._owned = secrets, True
        return binding

    @classmethod
    def recognise(cls, obj: object, name: str) -> Binding | None:
        """Return a binding if `obj` is an fsspec filesystem, else None."""
        module = sys.modules.get("fsspec")
        if module is None or not isinstance(obj, module.AbstractFileSystem):
            return None
        return cls(obj, tempfile.gettempdir() if is_local(obj) else obj.root_marker, name)

    def with_only_file(self, file: str, content: bytes) -> FsspecBinding:
        """Return a binding of the same filesystem to an existing file with this content."""
        path = self.fs._strip_protocol(file)
        return FsspecBinding(self.fs, self._root, self.name, content, path)

    def prepare(self) -> None:
        """Create a random directory below the root, or find the only file; raise TargetError."""
        if getattr(self.fs, "asynchronous", False):
            raise TargetError(
                f"{self.name}: asynchronous filesystems are not supported; pass asynchronous=False"
            )
        try:
            if self.fixed_content is None:
                self._make_prefix()
            else:
                self._find_file(len(self.fixed_content))
        except TargetError:
            with suppress(TargetError):
                self.dispose()
            raise
        path = f"{self._prefix}/probe" if self._file is None else self._file
        # programs report files that can't be opened, or that hang
        supervise(iter([path]), self._look_at_block, _LOOKING, lambda path, times: Next.END)

    def _look_at_block(self, path: str) -> None:
        with suppress(Exception), self.fs.open(path, "rb") as file:
            self.block = _block_of(file)

    def _make_prefix(self) -> None:
        flat = is_flat(self.fs)
        try:
            missing = not flat and self._root.strip("/") and not self.fs.isdir(self._root)
        except Exception as error:
            raise self.failure("can't be reached", error) from error
        if missing:
            raise TargetError(f"{self.name}: directory not found")
        prefix = new_prefix(self._root)
        try:
            if not flat:
                self.fs.makedirs(prefix, exist_ok=True)
            self._prefix = prefix
            self._write(f"{prefix}/probe", b"x")
        except NotImplementedError as error:
            raise TargetError(
                f"{self.name}: the filesystem is read-only; {_HOW_TO_READ}"
            ) from error
        except Exception as error:
            what = "can't be written" if self._root.strip("/") else _UNWRITABLE_ROOT
            raise self.failure(what, error) from error

    def _find_file(self, length: int) -> None:
        try:
            size = self._size_of_file()
        except Exception as error:
            cause = _cause(error)
            what = "can't be reached" if is_unreachable(cause) else "can't find the file to read"
            raise self.failure(what, cause) from error
        if size is not None and size != length:
            raise TargetError(f"{self.name}: the file has {size} bytes, but --content has {length}")

    def _size_of_file(self) -> Any:
        """Return the size of the only file; None if only reading it works."""
        try:
            return self.fs.info(self._file).get("size")
        except FileNotFoundError:
            with self.fs.open(self._file, "rb") as file:
                file.read(1)
            return None

    def change(self, path: str, content: bytes | None) -> None:
        """Rewrite a file in place, or delete it; raise TargetError on failure."""
        try:
            if content is None:
                self.fs.rm(path)
            else:
                self._write(path, content)
        except Exception as error:
            raise self.failure(f"can't change {path}", error) from error

    def create_sparse(self, content: SparseContent) -> str:
        """Write a sparse file of a local filesystem; raise TargetError on failure."""
        path = self.new_path()
        self.write_sparse(str(self.fs._strip_protocol(path)), content)
        return path

    def _write(self, path: str, content: bytes) -> None:
        try:
            self.fs.pipe_file(path, content)
        except NotImplementedError:  # raised by DirFileSystem of 2023.1
            with self.fs.open(path, "wb") as file:
                file.write(content)

    def _write_below(self, path: str, content: bytes) -> None:
        """Write a file in a directory that may be missing."""
        parent = self.fs._parent(path)
        if parent == self._made:
            with suppress(FileNotFoundError):  # the directory was removed since
                self._write(path, content)
                return
        if not is_flat(self.fs):
            self.fs.makedirs(parent, exist_ok=True)
            self._made = parent
        self._write(path, content)

    def open(self, path: str) -> OpenedFile:
        """Open the file for reading."""
        return OpenedFile(self.fs.open(path, "rb"), path)

    def method_calls(self, observe: Callable[[MethodCall], None]) -> AbstractContextManager[None]:
        """Observe the calls of the filesystem's methods."""
        return observed_methods(self.fs, OBSERVED_METHODS, observe)

    def sources(self, path: str) -> Mapping[str, frozenset[str]]:
        """Return the classes that define the methods of the file and of the filesystem."""
        own = below_directories(self.fs)
        with inspected(self.fs.open(path, "rb")) as file:
            of_file = sources_of(file, FILE_METHODS, own)
        of_filesystem = sources_of(self.fs, FILESYSTEM_METHODS, own)
        bases = frozenset().union(*(of.get(BASES, ()) for of in (of_filesystem, of_file)))
        return {**of_filesystem, **of_file, BASES: bases}

    def bind(self, step: Step) -> Action:
        """Return a step without anchors as a function of an OpenedFile."""
        action = recording_close(step, self._bind(step))
        return _blaming_the_closed(action) if self.remote else action

    def _bind(self, step: Step) -> Action:
        if step.op in FILE_OPERATIONS:
            return bind_file(step, _file_of, self._fail)
        if step.op in RANGE_OPERATIONS:
            return while_open(bind_ranges(step, self.fs, self._fail))
        if step.op in PYTHON_OPERATIONS:
            return bind_python(step, _file_of, self._fail)
        target = Target(self.fs, None if self.fixed_content is not None else self._write)
        if step.op in READER_OPERATIONS:
            return bind_reader(step, target, lambda fs, path: fs.open(path), self._fail)
        below = target._replace(write=target.write and self._write_below)
        if step.op in GET_OPERATIONS:
            return bind_get(step, below, self._fail)
        if step.op in LISTING_OPERATIONS:
            return bind_listing(step, below, self._fail)
        if step.op in OPEN_OPERATIONS:
            return bind_opened(step, target, self._fail)
        if step.op in ZARR_OPERATIONS:
            return bind_zarr(step, below, self._twin, self._fail)
        if step.op in PROCESS_OPERATIONS:
            return bind_process(step, target, self._fail)
        if step.op in FILESYSTEM_OPERATIONS:
            return bind_filesystem(step, target, self._fail)
        if step.op in self.operations & CHAIN_OPERATIONS.keys():
            return bind_chain(step, target, self._fail)
        if step.op in self.operations & ASYNC_OPERATIONS.keys():
            return bind_async(step, target, self._twin, self._fail)
        return inexpressible

    def spell(self, program: Program) -> str:
        """Return a program as calls of the filesystem and of the files that it opens."""
        opening = "fs.open(path)"
        if program.opening is not None:
            opening = spell_builder(program, "open_file(fs, path)")
            with suppress(NoScript):
                opening = self._spell_open(program.opening) if program.steps else opening
        return spell_program(program, opening, _spell_step)

    def _spell_open(self, opening: Opening) -> str:
        """Return the open with the arguments that `open_file` passes on; raise NoScript."""
        from fscontract.implementations.fsspec_open_file import open_file

        if opening.scene != "file" or any(name == "with_file_status" for name, *_ in opening.calls):
            raise NoScript("the file is opened with a status, or is none")
        builder = open_file(self.fs, "file")
        try:
            for name, *arguments in opening.calls:
                getattr(builder, name)(*arguments)
            given = builder.arguments()
        except Exception as error:
            raise NoScript("the builder refuses an option") from error
        if "size" in given:
            raise NoScript("the file is opened with another length")
        named = [f"{name}={json.dumps(value)}" for name, value in given.items()]
        return f"fs.open({', '.join(['path', *named])})"

    def script_api(self, source: Source) -> ScriptApi:
        """Return the filesystem and its files as scripts use them; raise NoScript."""
        fixed = self.fixed_content is not None
        local = is_local(self.fs) and not self._owned
        setup = fsspec_setup(source, None if not fixed else self._file, local)
        is_temporary = any(line.startswith("directory = ") for line in setup)
        return ScriptApi(
            setup=setup,
            write="" if fixed else "fs.pipe_file(path, {})",
            delete="fs.rm(path)",
            spell=_spell_step,
            opening=lambda program, name: (f"{name} = fs.open(path)",),
            open_with=self._spell_open,
            failed=lambda step, error, closed: failed_step(step, error, closed, self._fail),
            status='fs.info(path)["size"]',
            makes_directory="fs.makedirs(path, exist_ok=True)",
            fetcher="f.cache.fetcher",
            cleanup=() if fixed or is_temporary or not self.remote else ("fs.rm(path)",),
            remote=self.remote,
            closes=is_callable(source) and bool(getattr(self.fs, "async_impl", False)),
        )

    def dispose(self) -> None:
        """Delete the directory that `prepare` created, and close connections; raise TargetError."""
        try:
            super().dispose()
        finally:
            self._twin.close()
            self._close()

    def leftovers(self) -> list[str]:
        """Return the directories below the root named like prefixes; raise TargetError."""
        try:
            paths = [
                str(entry["name"])
                for entry in self.fs.ls(self._root, detail=True)
                if entry.get("type") == "directory" and not entry.get("islink")
            ]
        except Exception as error:
            if isinstance(error, FileNotFoundError) and is_flat(self.fs):
                return []
            raise self.failure("can't be listed", error) from error
        return prefixes_among(paths)

    def discard(self, prefix: str) -> None:
        """Delete a prefix; raise TargetError on failure."""
        try:
            self.fs.rm(prefix, recursive=True)
        except FileNotFoundError:
            pass  # a flat filesystem after all files were deleted
        except Exception as error:
            if not self._removes_each(prefix):
                raise self.failure(f"can't remove {prefix}", error) from error

    def _removes_each(self, prefix: str) -> bool:
        """Delete the files below a prefix one by one, and return whether none is left.

        `rm` of a flat filesystem may fail on a directory, which is not there.
        """
        with suppress(Exception):
            for path in self.fs.find(prefix):
                self.fs.rm_file(path)
            return not self.fs.find(prefix)
        return False

    def status_length(self, path: str) -> int | None:
        """Return the size in bytes that `info` reports."""
        size = self.fs.info(path).get("size")
        return size if isinstance(size, int) else None

    def status_etag(self, path: str) -> str | None:
        """Return the ETag that `info` reports, under a key in any case."""
        info = {key.lower(): value for key, value in self.fs.info(path).items()}
        etag = info.get("etag")
        return etag if isinstance(etag, str) else None

    def _close(self) -> None:
        if self._owned:
            close_sessions(self.fs)

    def _fail(self, error: Exception, kind: Kind | None = None) -> Outcome:
        if is_unreachable(error):
            kind = Kind.ENVIRONMENT
        return outcome_of(error, self._secrets, kind)


def _spell_step(step: Step, name: str) -> Call | None:
    spelled = spell_range(step) or spell_file(step, name) or spell_filesystem(step)
    spelled = spelled or spell_process(step) or spell_opened(step) or spell_listing(step)
    spelled = spelled or spell_async(step) or spell_chain(step) or spell_zarr(step)
    return spelled or spell_reader(step, _WORDING)


def _blaming_the_closed(action: Action) -> Action:
    """Attribute a connection error of a closed file to the file, not to the network."""

    def run(opened: OpenedFile) -> Outcome:
        outcome = action(opened)
        if outcome.kind is Kind.ENVIRONMENT and is_closed(opened.file):
            return outcome._replace(kind=Kind.OTHER)
        return outcome

    return run


def _cause(error: BaseException) -> BaseException:
    """Return the cause of the FileNotFoundError that fsspec raises for any error."""
    while not is_unreachable(error) and error.__cause__ is not None:
        error = error.__cause__
    return error


def _block_of(file: Any) -> int | None:
    """Return the block size of an open file; None if it does not report one."""
    cache = getattr(file, "cache", None)
    if getattr(cache, "name", None) == "none":  # reads exactly the requested bytes
        return None
    for owner in (file, cache):
        for name in ("blocksize", "block_size"):
            size = getattr(owner, name, None)
            if type(size) is int and size > 0:
                return size
    return None


def _inside(fs: Any, root: str, file: str) -> str:
    if "://" in file:
        return str(fs._strip_protocol(file))
    if "://" in root:
        return urljoin(root, file)
    return f"{root.rstrip('/')}/{file.lstrip('/')}" if root.strip("/") else file
