"""Parts that bindings share: scratch directories, and what may be shown of URLs and errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from fscontract.contract.binding import Binding, TargetError
from fscontract.contract.program.arguments import ProgramError
from fscontract.contract.program.outcome import FILL, text_of
from fscontract.contract.targets import is_ours, new_name
from fscontract.contract.text import mask, mask_url, passwords_in, secrets_of

_MASK = "***"


def shown(url: str) -> str:
    """The URL, or chain of URLs, without user, password and query."""
    parts = (mask_url(part) for part in url.split("::"))
    return "::".join(part.replace(f"{_MASK}@", "").replace(f"?{_MASK}", "") for part in parts)


def secrets_in(url: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Texts that must not be shown: passwords in `url`, and the secrets among options."""
    secrets_found = passwords_in(url) | secrets_of(options)
    return tuple(sorted(secrets_found, key=len, reverse=True))


def hide(text: str, secrets: Iterable[str]) -> str:
    """`text` on one line without secrets, and without user and query of any URL in it."""
    return " ".join(mask(text, secrets).split())


def told(error: BaseException, secrets: Iterable[str] = (), limit: int = 160) -> str:
    """Return class and message of an exception, on one line without secrets.

    The message is cut after `limit` characters.
    """
    text = hide(text_of(error), secrets)[:limit]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


#: The most bytes of a buffer, and of a file that a run writes.
LARGEST = 1 << 26


@lru_cache(maxsize=256)
def blank(size: int) -> bytes:
    """`size` bytes of FILL to copy buffers from; ProgramError beyond 64 MiB."""
    if size > LARGEST:
        raise ProgramError(f"a buffer of at most {LARGEST} bytes, not {size}")
    return bytes([FILL]) * size


def filled(size: int) -> bytearray:
    """A new buffer of `size` bytes of FILL."""
    return bytearray(bytes([FILL])) * size


def fits(size: int | None, offset: int, length: int) -> bool:
    """Whether `length` bytes from `offset` lie within a buffer of `size` bytes (None: null)."""
    return size is not None and offset >= 0 and length >= 0 and offset + length <= size


class WrongType(Exception):
    """A call returned something else than its API says."""


def plain_bytes(data: object) -> bytes:
    """Return a copy of what is like bytes; WrongType for all else, such as text or a number."""
    try:
        view = memoryview(data)  # type: ignore[arg-type] # what is none is refused
    except TypeError:
        raise WrongType(f"expected bytes, got {type(data).__name__}") from None
    return bytes(view)


def several(parts: object) -> list[Any]:
    """Return the parts of a list or of what is like one; WrongType for all else."""
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise WrongType(f"expected a list, got {type(parts).__name__}")
    return list(parts)


def new_prefix(root: str) -> str:
    """The path of a directory below `root` that nobody else has."""
    return f"{root.rstrip('/')}/{new_name()}"


def prefixes_among(paths: Iterable[str]) -> list[str]:
    """The paths whose last element is like the name of a prefix, sorted."""
    stripped = (path.rstrip("/") for path in paths)
    return sorted(path for path in stripped if is_ours(path.rpartition("/")[2]))


class ScratchBinding(Binding):
    """A binding whose files lie numbered below one directory, the prefix that `prepare` makes.

    With `fixed_content` there is one file instead, at `_file`.
    """

    _prefix: str | None = None
    _files = 0
    _file: str | None = None
    #: Texts that no message shows.
    _secrets: tuple[str, ...] = ()

    @property
    def prefix(self) -> str | None:
        """The path of the prefix while there is one."""
        return self._prefix

    def dispose(self) -> None:
        """Delete the directory that `prepare` made; TargetError if it stays."""
        prefix, self._prefix = self._prefix, None
        if prefix is not None:
            self.discard(prefix)

    def create(self, content: bytes) -> str:
        """Write a new file, or return the path of the only one; TargetError if that fails."""
        if self.fixed_content is not None:
            if content != self.fixed_content or self._file is None:
                raise TargetError(f"{self.name}: holds no file with other content")
            return self._file
        path = self.new_path()
        self.change(path, content)
        return path

    def new_path(self) -> str:
        """A path below the prefix where nothing is yet."""
        path = f"{self._prefix}/{self._files:06d}"
        self._files += 1
        return path

    def failure(self, what: str, error: BaseException) -> TargetError:
        """A TargetError of one line: what could not be done, and why."""
        return failure(self.name, what, error, self._secrets)


def failure(name: str, what: str, error: BaseException, secrets: Iterable[str] = ()) -> TargetError:
    """A TargetError of one line: the target, what could not be done, and why."""
    return TargetError(f"{name}: {what}: {told(error, secrets, 200)}")
