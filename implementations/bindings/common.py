"""Shared parts of bindings: scratch directories, and masking of URLs and errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from fscontract.contract.binding import Binding, NoScene, TargetError
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.content import SparseContent, replacement
from fscontract.contract.program.opened_path import OpenedPath
from fscontract.contract.program.outcome import FILL, Kind, Outcome, notice, raised_as, text_of
from fscontract.contract.targets import is_ours, new_name
from fscontract.contract.text import mask, mask_url, passwords_in, secrets_of

_MASK = "***"


def shown(url: str) -> str:
    """Return the URL, or chain of URLs, without user, password and query."""
    parts = (mask_url(part) for part in url.split("::"))
    return "::".join(part.replace(f"{_MASK}@", "").replace(f"?{_MASK}", "") for part in parts)


def secrets_in(url: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts to hide: passwords in `url`, and secret options."""
    secrets_found = passwords_in(url) | secrets_of(options)
    return tuple(sorted(secrets_found, key=len, reverse=True))


def hide(text: str, secrets: Iterable[str]) -> str:
    """Return `text` on one line, without secrets, and without user and query of URLs in it."""
    return " ".join(mask(text, secrets).split())


def told(error: BaseException, secrets: Iterable[str] = (), limit: int = 160) -> str:
    """Return class and message of an exception, on one line without secrets.

    The message is truncated after `limit` characters.
    """
    text = hide(text_of(error), secrets)[:limit]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def outcome_of(
    error: BaseException, secrets: Iterable[str] = (), kind: Kind | None = None
) -> Outcome:
    """Return the outcome of a call that raised; `kind` overrides the classification."""
    notice(error, secrets)
    return raised_as(error, lambda one: told(one, secrets), kind)


#: Maximum size in bytes of a buffer, and of a file that a run writes.
LARGEST = 1 << 26


@lru_cache(maxsize=256)
def blank(size: int) -> bytes:
    """Return `size` bytes of FILL to copy buffers from; raise ProgramError beyond 64 MiB."""
    if size > LARGEST:
        raise ProgramError(f"invalid buffer size: {size}; expected at most {LARGEST} bytes")
    return bytes([FILL]) * size


def filled(size: int) -> bytearray:
    """Return a new buffer of `size` bytes of FILL."""
    return bytearray(bytes([FILL])) * size


def fits(size: int | None, offset: int, length: int) -> bool:
    """Return True if `length` bytes from `offset` fit in a buffer of `size` bytes (None: null)."""
    return size is not None and offset >= 0 and length >= 0 and offset + length <= size


class OpenedFile:
    """An opened file and its path, for reads through the filesystem.

    It records `close`, because some files do not report it, or not while another thread reads.
    """

    __slots__ = ("closed", "file", "path")

    def __init__(self, file: Any, path: str) -> None:
        self.file = file
        self.path = path
        self.closed = False


class WrongType(Exception):
    """A call returned a value of a type that its API does not allow."""


def plain_bytes(data: object) -> bytes:
    """Return a copy of a bytes-like object; raise WrongType for others, such as str or int."""
    try:
        view = memoryview(data)  # type: ignore[arg-type] # raises for other types
    except TypeError:
        raise WrongType(f"expected bytes, got {type(data).__name__}") from None
    return bytes(view)


def several(parts: object) -> list[Any]:
    """Return the elements of a list-like object; raise WrongType for others."""
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise WrongType(f"expected a list, got {type(parts).__name__}")
    return list(parts)


def new_prefix(root: str) -> str:
    """Return the path of a new, unique directory below `root`."""
    return f"{root.rstrip('/')}/{new_name()}"


def prefixes_among(paths: Iterable[str]) -> list[str]:
    """Return the paths whose last element looks like a prefix, sorted."""
    stripped = (path.rstrip("/") for path in paths)
    return sorted(path for path in stripped if is_ours(path.rpartition("/")[2]))


#: The scenes of an opener that make unusual paths.
_SCENES = {"empty-directory": "directory", "unreadable": "unreadable"}


class ScratchBinding(Binding):
    """A binding with numbered files below one directory, the prefix that `prepare` creates.

    With `fixed_content` there is one file instead, at `_file`.
    """

    _prefix: str | None = None
    _files = 0
    _file: str | None = None
    #: Texts to hide in messages.
    _secrets: tuple[str, ...] = ()

    @property
    def prefix(self) -> str | None:
        """Path of the prefix while it exists, else None."""
        return self._prefix

    def dispose(self) -> None:
        """Delete the directory that `prepare` created; raise TargetError if that fails."""
        prefix, self._prefix = self._prefix, None
        if prefix is not None:
            self.discard(prefix)

    def create(self, content: bytes) -> str:
        """Write a new file, or return the path of the only one; raise TargetError on failure."""
        if self.fixed_content is not None:
            if content != self.fixed_content or self._file is None:
                raise TargetError(
                    f"{self.name}: no file with this content; the target has one fixed file"
                )
            return self._file
        path = self.new_path()
        self.change(path, content)
        return path

    def place(self, at: OpenedPath, content: bytes) -> str:
        """Make what is at an unusual path, and return the path; raise NoScene if it can't be."""
        if at.kind == "empty-path":
            return ""
        if at.kind == "missing":
            return self.missing_path()
        if self.fixed_content is not None:
            raise NoScene(at.kind)
        if at.kind == "below-file":
            return f"{self.create(content)}/below"
        if at.kind == "directory":
            self.create(content)
            return f"{self._prefix}"
        if at.kind == "named":
            return self._named(at, content)
        scene = _SCENES[at.kind]
        if self.opener is None or scene not in self.opener.scenes:
            raise NoScene(at.kind)
        return self.opener.place(scene, content)

    def missing_path(self) -> str:
        """Return a path at which there is nothing."""
        if self.fixed_content is None:
            return self.new_path()
        return f"{self.create(self.fixed_content)}-missing"

    def _named(self, at: OpenedPath, content: bytes) -> str:
        path = f"{self._prefix}/{at.name}"
        try:
            self.change(path, content)
        except TargetError as error:  # stores may refuse names
            raise NoScene(str(error)) from error
        if at.neighbour:
            with suppress(TargetError):
                self.change(f"{self._prefix}/{at.neighbour}", replacement(content))
        return path

    def write_sparse(self, path_on_disk: str, content: SparseContent) -> None:
        """Write a sparse file on a local disk; raise TargetError on failure."""
        try:
            with open(path_on_disk, "wb") as file:
                content.write_to(file)
        except OSError as error:
            raise self.failure("can't write a sparse file", error) from error

    def new_path(self) -> str:
        """Return an unused path below the prefix."""
        path = f"{self._prefix}/{self._files:06d}"
        self._files += 1
        return path

    def failure(self, what: str, error: BaseException) -> TargetError:
        """Return a TargetError with one line: the failed action and the reason."""
        return failure(self.name, what, error, self._secrets)


def failure(name: str, what: str, error: BaseException, secrets: Iterable[str] = ()) -> TargetError:
    """Return a TargetError with one line: the target, the failed action, and the reason."""
    return TargetError(f"{name}: {what}: {told(error, secrets, 200)}")
