"""Local filesystem below a root directory."""

from __future__ import annotations

import io
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from fscontract.contract.api.errors import (
    FileAlreadyExistsException,
    FileNotFoundException,
    PathIOException,
)
from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.api.iostatistics import OP_GET_FILE_STATUS
from fscontract.contract.api.openfile_options import option_table
from fscontract.implementations.atomic_write import (
    PENDING,
    make_directories,
    remove_abandoned,
    sync_directory,
    sync_files,
    write_pending,
)
from fscontract.implementations.filesystem_base import (
    ReferenceFileSystem,
    access_bits,
    denied,
    normalize,
    not_a_file,
    not_found,
    path_elements,
    permission_bits,
)
from fscontract.implementations.local_stream import (
    DEFAULT_BUFFER,
    FOOTER,
    Descriptor,
    LocalInputStream,
    choose,
    identity_of,
    version,
)
from fscontract.implementations.openfile_builder import OpenOptions

if TYPE_CHECKING:
    from fscontract.implementations.fsspec_adapter import LocalFsspec

#: Characters that separate path elements on Windows.
_SEPARATORS = "\\:" if os.name == "nt" else ""


class LocalFileSystem(ReferenceFileSystem):
    """The tree below `root`, whose paths are absolute POSIX paths inside it.

    Neither `..` nor a symbolic link leads out of `root`, unless a process replaces a directory by a
    link at the right moment. `strategy` selects the read calls: "positioned", "portable", or None
    for the platform's best (see `local_stream.choose`). Files open as streams of `stream_class`, a
    subclass of LocalInputStream with the same arguments.

    Opening a file does not check the path or its length first. Unless the length is declared, it
    reads the status of the opened file; a status with an etag is compared with it, too. Below a
    `root` other than "/", every open checks for symbolic links on the path, whatever the cost,
    because they must not lead out.

    A created file is on disk before it becomes visible, and its name when `close` returns; the same
    holds for directories, renamed paths and deletions. Without `durable`, a crash of the machine
    may lose them, or leave a file empty.
    """

    def __init__(
        self,
        root: str = "/",
        strategy: str | None = None,
        durable: bool = True,
        stream_class: type[LocalInputStream] = LocalInputStream,
    ) -> None:
        super().__init__()
        self.stream_class = stream_class
        self.root = os.path.realpath(root)
        self.durable = durable
        self.strategy = strategy
        self._descriptor = choose(strategy)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.root!r}, strategy={self.strategy!r})"

    def _open(self, path: str, options: OpenOptions) -> LocalInputStream:
        advice, size = "normal", DEFAULT_BUFFER
        if options.read_policy is not None:
            policy = option_table().policies[options.read_policy]
            advice, size = policy.advice, policy.buffer or DEFAULT_BUFFER
        if options.buffer_size is not None:
            size = options.buffer_size
        opener = partial(self._open_descriptor, path, self._follow(path), advice)
        footer = FOOTER if options.footer_cache else 0
        return self.stream_class(path, opener, size, options.length, options.etag, footer)

    def create(self, path: str, overwrite: bool = True) -> io.BufferedIOBase:
        """Return a binary file for writing; raise PathIOException if the path can't be replaced."""
        path = normalize(path)
        target = self._locate(path)
        if os.path.isdir(target):
            raise PathIOException(path, "path is a directory, expected a file")
        if not overwrite and os.path.lexists(target):
            raise FileAlreadyExistsException(path, "the file already exists")
        with _errors(path):
            self.mkdirs(os.path.dirname(path))
            return write_pending(target, overwrite, self.durable, partial(_errors, path))

    def sync(self, paths: Iterable[str], below: str) -> None:
        """Sync files below a directory, written by other processes, and their names to disk.

        Missing files are skipped. Do nothing without `durable`.
        """
        if self.durable:
            with _errors(below):
                sync_files(map(self._follow, paths), self._follow(below))

    def remove_abandoned(self, path: str, recursive: bool = True) -> list[str]:
        """Delete temporary files of processes that died while writing; return their paths.

        A file whose writer is alive is locked, and remains.
        """
        host = self._follow(path)
        removed = remove_abandoned(host, recursive)  # empty if the directory does not exist
        return [f"{normalize(path).rstrip('/')}/{os.path.relpath(e, host)}" for e in removed]

    def get_file_status(self, path: str) -> FileStatus:
        """Return the status of a file or directory; raise FileNotFoundException."""
        path = normalize(path)
        self._statistics.count(OP_GET_FILE_STATUS)
        with _errors(path):
            return _status(path, os.stat(self._follow(path)))

    def list_status(self, path: str) -> Iterator[FileStatus]:
        """Yield the children of a directory, sorted by path, or the file itself.

        Dangling links, and links out of the root, are omitted.
        """
        status = self.get_file_status(path)
        if not status.is_directory:
            return iter([status])
        with _errors(path):
            names = sorted(os.listdir(self._follow(path)))
        prefix = status.path.rstrip("/")
        return self._statuses([f"{prefix}/{n}" for n in names if not n.startswith(PENDING)])

    def mkdirs(self, path: str) -> None:
        """Create a directory and its parents; raise PathIOException if a file is in the way."""
        try:
            make_directories(self._follow(path), self.durable)
        except (FileExistsError, NotADirectoryError) as error:
            raise PathIOException(
                path, "can't create the directory: a file exists at this path"
            ) from error

    def delete(self, path: str, recursive: bool = False) -> bool:
        """Delete a path; return False if it does not exist.

        Raise PathIOException for the root, and for a non-empty directory unless `recursive`.
        """
        target = self._locate(path)
        try:
            with _errors(path):
                if not stat.S_ISDIR(os.lstat(target).st_mode):
                    os.unlink(target)
                elif recursive:
                    shutil.rmtree(target)
                else:
                    os.rmdir(target)
                if self.durable:
                    sync_directory(os.path.dirname(target))
        except FileNotFoundException:
            return False
        return True

    def rename(self, source: str, target: str) -> None:
        """Move a file or directory; create the target's parents.

        Raise FileNotFoundException, or PathIOException if the target exists or lies in the source.
        """
        old, new = self._locate(source), self._locate(target)
        if not os.path.lexists(old):
            raise not_found(source)
        if os.path.lexists(new):
            raise PathIOException(target, "the target already exists")
        if new.startswith(old + os.sep):
            raise PathIOException(target, f"can't move {source!r} into itself")
        self.mkdirs(os.path.dirname(normalize(target)))
        with _errors(source):
            os.rename(old, new)
            if self.durable:
                sync_directory(os.path.dirname(new))
                sync_directory(os.path.dirname(old))

    def set_permission(self, path: str, mode: int) -> None:
        """Set the permission bits of a path. (FileSystem.setPermission)"""
        mode = permission_bits(mode)
        with _errors(path):
            os.chmod(self._follow(path), mode)

    def access(self, path: str, mode: str) -> None:
        """Check this process's permissions; raise AccessControlException. (FileSystem.access)"""
        host, bits = self._follow(path), access_bits(mode)  # the values of os.R_OK and others
        if not os.access(host, os.F_OK):
            raise not_found(path)
        if not os.access(host, bits):
            raise denied(path)

    def as_fsspec(self) -> LocalFsspec:
        """Return this filesystem as an `fsspec.AbstractFileSystem`."""
        from fscontract.implementations.fsspec_adapter import LocalFsspec

        return LocalFsspec(fs=self)

    def _open_descriptor(self, path: str, host: str, advice: str, look: bool) -> Descriptor:
        with _errors(path):
            return self._descriptor(host, advice, look)

    def _statuses(self, paths: list[str]) -> Iterator[FileStatus]:
        for path in paths:
            try:
                yield self.get_file_status(path)
            except OSError:
                continue

    def _follow(self, path: str) -> str:
        """Return the host's path of the target of `path`."""
        return self._inside(path, self._join(path_elements(path)))

    def _locate(self, path: str) -> str:
        """Return the host's path of the entry at `path`, even if it is a link."""
        elements = path_elements(path)
        if not elements:
            raise PathIOException(path, "operation not supported on the root directory")
        return os.path.join(self._inside(path, self._join(elements[:-1])), elements[-1])

    def _join(self, elements: list[str]) -> str:
        if any(mark in element for mark in _SEPARATORS for element in elements):
            raise PathIOException("/".join(elements), "path is not portable")
        return os.path.join(self.root, *elements)

    def _inside(self, path: str, host: str) -> str:
        if os.path.dirname(self.root) == self.root:
            return host
        real = os.path.realpath(host)
        if real != self.root and not real.startswith(self.root + os.sep):
            raise PathIOException(path, "a symbolic link leads out of the filesystem's root")
        return real


@contextmanager
def _errors(path: str) -> Iterator[None]:
    """Convert the operating system's errors."""
    try:
        yield
    except PathIOException:
        raise
    except FileExistsError as error:
        raise FileAlreadyExistsException(path, "the file already exists") from error
    except PermissionError as error:
        raise denied(path) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise not_found(path) from error
    except IsADirectoryError as error:
        raise not_a_file(path) from error
    except OSError as error:
        raise PathIOException(path, error.strerror or str(error)) from error


def _status(path: str, stat_result: os.stat_result) -> FileStatus:
    if stat.S_ISDIR(stat_result.st_mode):
        return FileStatus(path, 0, is_directory=True, modification_time=stat_result.st_mtime)
    etag = version(identity_of(stat_result))
    return FileStatus(path, stat_result.st_size, modification_time=stat_result.st_mtime, etag=etag)
