"""Random programs of writes, and the outcome of each call on a filesystem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any
from zlib import crc32

from fscontract.contract.api.filesystem import FileSystem
from tests.fakes.random_pairs import Call

#: Paths of files and directories; /d and /d/e are both.
PATHS = ("/a", "/d/b", "/d/e/c", "/d")
#: Paths that need no directory.
FLAT = ("/a", "/b", "/c")
#: The minimum part of a multipart upload in bytes, and a file of two parts.
PART = 5 << 20
LARGE = PART + 1
_SIZES = (0, 1, 30)
_NAMES = (
    *("write", "write", "create", "create", "abort", "race", "late"),
    *("read", "read", "list", "list", "status", "delete", "delete", "rename", "mkdirs"),
)
_WRITES = frozenset({"write", "create", "abort", "race", "late"})


class _Aborted(Exception):
    """Ends a write before its file is closed."""


def programs(
    seed: int, count: int, paths: Sequence[str] = PATHS, large: float = 0.0
) -> Iterator[list[Call]]:
    """Yield random programs; a share `large` of their files is above the size of a part."""
    for number in range(count):
        rng = Random(f"{seed}:writes:{number}")
        yield [_call(rng, paths, large) for _ in range(rng.randint(5, 12))]


def _call(rng: Random, paths: Sequence[str], large: float) -> Call:
    name, path = rng.choice(_NAMES), rng.choice(paths)
    if name == "mkdirs" and paths is FLAT:
        name = "list"
    if name in _WRITES:
        size = LARGE if rng.random() < large else rng.choice(_SIZES)
        return Call(name, path, rng.randbytes(min(size, 64)).ljust(size, b"."))
    if name == "delete":
        return Call(name, path, rng.random() < 0.5)
    return Call(name, path, rng.choice(paths) if name == "rename" else None)


def _put(fs: FileSystem, path: str, data: bytes, overwrite: bool) -> None:
    with fs.create(path, overwrite) as file:
        file.write(data)


def _abort(fs: FileSystem, path: str, data: bytes) -> str:
    """Leave a write by an exception."""
    try:
        with fs.create(path) as file:
            file.write(data)
            raise _Aborted
    except _Aborted:
        return "aborted"


def _race(fs: FileSystem, path: str, data: bytes) -> list[str]:
    """Create a file twice at the same time; the store must refuse one."""
    results = []
    for file in [fs.create(path, overwrite=False) for _ in range(2)]:
        file.write(data)
        try:
            file.close()
            results.append("closed")
        except OSError as error:
            results.append(type(error).__name__)
    return results


def _late(fs: FileSystem, path: str, data: bytes) -> bool:
    """Delete a file while another one is written to its path."""
    with fs.create(path) as file:
        file.write(data)
        return fs.delete(path)


def _read(fs: FileSystem, path: str, _: None) -> tuple[int, int]:
    """Return length and checksum, which a failure can show."""
    with fs.open(path) as stream:
        data = stream.as_file().readall() or b""
    return len(data), crc32(data)


def _list(fs: FileSystem, path: str, _: None) -> list[tuple[str, int, bool]]:
    return [(s.path, s.length, s.is_directory) for s in fs.list_status(path)]


def _status(fs: FileSystem, path: str, _: None) -> tuple[int, bool]:
    status = fs.get_file_status(path)
    return status.length, status.is_directory


_RUN: dict[str, Callable[[FileSystem, str, Any], Any]] = {
    "write": lambda fs, path, data: _put(fs, path, data, True),
    "create": lambda fs, path, data: _put(fs, path, data, False),
    "abort": _abort,
    "race": _race,
    "late": _late,
    "read": _read,
    "list": _list,
    "status": _status,
    "delete": lambda fs, path, recursive: fs.delete(path, recursive),
    "rename": lambda fs, path, target: fs.rename(path, target),
    "mkdirs": lambda fs, path, _: fs.mkdirs(path),
}


def outcomes(fs: FileSystem, program: list[Call]) -> list[tuple[str, Any]]:
    """Return the result of each call, or the class of its error, and at the end all files."""
    calls = [*program, *(Call("read", path) for path in PATHS), Call("list", "/")]
    return [(repr(call), _outcome(fs, call)) for call in calls]


def _outcome(fs: FileSystem, call: Call) -> Any:
    try:
        return _RUN[call.name](fs, call.path, call.argument)
    except OSError as error:
        return type(error)
