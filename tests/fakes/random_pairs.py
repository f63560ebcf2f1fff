"""Random pairs of a program of filesystem calls and a plan of faults, and what may come of them.

A program writes, reads, lists, deletes and renames a few files. The model keeps, for each path, the
contents that it may have; a failed write leaves the old or the new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple, TypeAlias

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.binding import PlanInjector
from fscontract.contract.program.content import content, replacement
from fscontract.contract.program.faults import FaultPlan, random_plan

PATHS = ("/a", "/b", "/d/c")
#: The lengths of files in bytes.
LENGTHS = (0, 1, 30, 300)
#: Kinds that change or damage a file, so that it may fail, vanish, or have another content.
_SPOILING = frozenset({"change", "cut", "delete", "revoke", "corrupt", "partial-write"})
#: The most requests of one call: each byte in a request, each of them tried again.
_MOST_REQUESTS = 4 * (max(LENGTHS) + 20)
Content: TypeAlias = bytes | None


class Call(NamedTuple):
    """A call of a filesystem: its name, a path, and a content, a range or another path."""

    name: str
    path: str
    argument: Any = None

    def __repr__(self) -> str:
        argument = self.argument
        if isinstance(argument, bytes):
            argument = f"{len(argument)} bytes"
        return f"{self.name}({self.path}, {argument})"


def random_program(rng: Random) -> list[Call]:
    """Return calls that begin with a write of each file."""
    calls = [_write(rng, path) for path in PATHS[:2]]
    calls += [_random_call(rng) for _ in range(rng.randint(4, 10))]
    return calls


def _write(rng: Random, path: str) -> Call:
    name = rng.choice(("write", "write", "create"))
    # bytes that are at the same place in no other file
    start = rng.randrange(10_000)
    return Call(name, path, content(start + rng.choice(LENGTHS))[start:])


def _random_call(rng: Random) -> Call:
    path = rng.choice(PATHS)
    name = rng.choice(("write", "read", "read", "range", "range", "status", "list", *_CHANGES))
    if name == "write":
        return _write(rng, path)
    if name == "range":
        return Call(name, path, (rng.randrange(0, 310), rng.randint(1, 100)))
    if name == "rename":
        return Call(name, path, rng.choice(PATHS))
    return Call(name, path)


_CHANGES = ("delete", "rename")


def run(fs: FileSystem, call: Call) -> Any:
    """Make a call, and return its result."""
    return _RUN[call.name](fs, call.path, call.argument)


def _put(fs: FileSystem, path: str, data: bytes, overwrite: bool) -> None:
    with fs.create(path, overwrite) as file:
        file.write(data)


def _read(fs: FileSystem, path: str, _: None) -> bytes:
    with fs.open(path) as stream:
        return stream.as_file().readall() or b""


def _range(fs: FileSystem, path: str, extent: tuple[int, int]) -> bytes:
    with fs.open(path, buffer_size=16) as stream:
        buffer = bytearray(extent[1])
        return bytes(buffer[: max(0, stream.pread(extent[0], buffer))])


def _listing(fs: FileSystem, path: str, _: None) -> list[str]:
    top = fs.list_status("/")
    return sorted(child.path for child in top if not child.is_directory)


_RUN: dict[str, Callable[[FileSystem, str, Any], Any]] = {
    "write": lambda fs, path, data: _put(fs, path, data, True),
    "create": lambda fs, path, data: _put(fs, path, data, False),
    "read": _read,
    "range": _range,
    "status": lambda fs, path, _: fs.get_file_status(path).length,
    "list": _listing,
    "delete": lambda fs, path, _: fs.delete(path),
    "rename": lambda fs, path, target: fs.rename(path, target),
}


@dataclass
class Model:
    """The contents that each path may have, and the paths whose files may fail to be read.

    With `mixed`, a reader of a changed file may get bytes of several versions.
    """

    mixed: bool = False
    possible: dict[str, set[Content]] = field(
        default_factory=lambda: {path: {None} for path in PATHS}
    )
    spoilt: set[str] = field(default_factory=set)

    def strike(self, call: Call, kinds: frozenset[str]) -> None:
        """Note that faults, which may be of these kinds, struck during a call."""
        if not kinds & _SPOILING:
            return
        paths = {call.path, call.argument} if call.name == "rename" else {call.path}
        for path in paths & set(PATHS):
            self.spoilt.add(path)
            contents: set[Content] = self.possible[path]
            if call.name in ("write", "create"):
                contents = contents | {call.argument}
            if "partial-write" in kinds and call.name in ("write", "create"):
                contents = contents.union(call.argument[:n] for n in range(len(call.argument)))
            for change in (*(_changes[kind] for kind in ("change", "cut") if kind in kinds),) * 2:
                contents = contents.union(change(data) for data in contents if data is not None)
            if "delete" in kinds:
                contents = contents | {None}
            self.possible[path] = set(contents)

    def fail(self, call: Call, error: OSError, struck: bool) -> str:
        """Return why a failed call is wrong; "" if it is not."""
        expected = struck or call.path in self.spoilt or self._fails(call)
        changes = call.name in ("write", "create", "delete", "rename")
        if changes and struck:
            self._apply(call, certain=False)
        return "" if expected else f"failed without a fault: {type(error).__name__}: {error}"

    def succeed(self, call: Call, value: Any, struck: bool) -> str:
        """Return why the result of a call is wrong; "" if it is not."""
        contents = self.possible[call.path]
        if call.name in ("read", "range", "status"):
            versions = [data for data in contents if data is not None]
            fitting: set[Content] = {data for data in versions if _fits(call, data, value)}
            mixed = self.mixed and call.path in self.spoilt and _is_mixed(call, versions, value)
            if not fitting and not mixed:
                return f"wrong result: {value!r:.200}"
            if fitting and call.name == "read" and call.path not in self.spoilt:
                self.possible[call.path] = fitting
        elif call.name == "list":
            return self._wrong_listing(value)
        elif call.name == "delete":
            if not struck and value not in {data is not None for data in contents}:
                return f"delete returned {value}"
            self._apply(call, certain=True)
        else:
            if call.name == "create" and None not in contents and not struck:
                return "create replaced a file"
            self._apply(call, certain=True)
        return ""

    def _fails(self, call: Call) -> bool:
        """Return whether a call fails without a fault in one of the possible states."""
        contents = self.possible[call.path]
        present, absent = contents != {None}, None in contents
        if call.name == "create":
            return present
        if call.name == "rename":
            return absent or self.possible[call.argument] != {None}
        return call.name in ("read", "range", "status") and absent

    def _apply(self, call: Call, certain: bool) -> None:
        """Apply a change; if it is not certain, each path may also be unchanged."""
        after: dict[str, set[Content]] = {call.path: {None}}
        if call.name in ("write", "create"):
            after[call.path] = {call.argument}
        elif call.name == "rename":
            after[call.argument] = self.possible[call.path] - {None}
            if call.path in self.spoilt:
                self.spoilt.add(call.argument)
        for path, contents in after.items():
            if certain and path not in self.spoilt:
                self.possible[path] = set(contents)
            else:
                self.possible[path] = self.possible[path] | contents

    def _wrong_listing(self, listed: list[str]) -> str:
        top = [path for path in PATHS if path.count("/") == 1]
        certain = {path for path in top if None not in self.possible[path]}
        maybe = {path for path in top if self.possible[path] != {None}}
        return "" if certain <= set(listed) <= maybe else f"wrong listing: {listed}"


_changes: dict[str, Callable[[bytes], bytes]] = {
    "change": replacement,
    "cut": lambda data: data[: len(data) // 2],
}


def _fits(call: Call, data: bytes, value: Any) -> bool:
    if call.name == "status":
        return bool(value == len(data))
    if call.name == "read":
        return bool(value == data)
    offset, length = call.argument
    wanted = data[offset : offset + length]
    # a read may be short, but is empty at the end alone
    return wanted.startswith(value) and (value != b"" or wanted == b"")


def _is_mixed(call: Call, versions: list[bytes], value: Any) -> bool:
    """Return whether each byte that was read is that of one of the versions, at its place."""
    if call.name == "status":
        return False
    start = 0 if call.name == "read" else call.argument[0]
    return all(
        byte in {v[at] for v in versions if at < len(v)} for at, byte in enumerate(value, start)
    )


class Pair(NamedTuple):
    """A program and a plan; both depend on the seed and the number."""

    seed: int
    number: int
    program: list[Call]
    plan: FaultPlan


def pairs(seed: int, count: int, kinds: Iterable[str]) -> Iterable[Pair]:
    """Yield random pairs with faults of these kinds."""
    kinds = tuple(kinds)
    for number in range(count):
        rng = Random(f"{seed}:{number}")
        yield Pair(seed, number, random_program(rng), random_plan(rng, kinds, requests=20))


def violation(
    fs: FileSystem,
    injector: PlanInjector | None,
    pair: Pair,
    mixed: bool = False,
    requests: Callable[[], int] = lambda: 0,
) -> str:
    """Return what is wrong with a filesystem, which has no files yet; "" if nothing is."""
    model = Model(mixed)
    if injector is not None:
        injector.attach(pair.plan)
    for index, call in enumerate(pair.program):
        before, asked = _fired(injector), requests()
        problem = error = None
        value: Any = None
        try:
            value = run(fs, call)
        except OSError as caught:
            error = caught
        struck = _fired(injector) > before
        if struck:
            model.strike(call, pair.plan.kinds)
        if error is not None:
            problem = model.fail(call, error, struck)
        else:
            problem = model.succeed(call, value, struck)
        if not problem and requests() - asked > _MOST_REQUESTS:
            problem = f"{requests() - asked} requests"
        if problem:
            return (
                f"seed {pair.seed}, pair {pair.number}, call {index}: {call}: {problem}; "
                f"plan: {pair.plan}; program: {pair.program}"
            )
    if injector is not None:
        injector.detach()
    return ""


def _fired(injector: PlanInjector | None) -> int:
    return 0 if injector is None else injector.fired


def outcomes(fs: FileSystem, program: list[Call]) -> list[tuple[str, Any]]:
    """Return what each call of a program does: its result, or the built-in class of its error."""
    found: list[tuple[str, Any]] = []
    for call in program:
        try:
            found.append((repr(call), run(fs, call)))
        except OSError as error:
            names = (FileNotFoundError, FileExistsError, PermissionError, OSError)
            found.append((repr(call), next(n.__name__ for n in names if isinstance(error, n))))
    return found
