"""Builder-based opening of fsspec files."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from fscontract.contract.api.filesystem import FileStatus
from fscontract.contract.binding import NoScene, Opener, TargetError
from fscontract.contract.program.open_calls import STATUSES
from fscontract.contract.program.outcome import Outcome
from fscontract.implementations.bindings.common import ScratchBinding
from fscontract.implementations.bindings.open_file import FOREIGN, KINDS, known_status

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
