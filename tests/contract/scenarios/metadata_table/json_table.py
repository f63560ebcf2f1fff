"""A right metadata table in another layout than Hudi's: numbered versions of one JSON document.

Its writers need no lock: the one that creates the next version wins, and the other tries again.
"""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NoReturn, TypeVar

from fscontract.contract.api.errors import UnsupportedOperationException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.pipeline_bindings import (
    DATASET,
    CheckedListing,
    CheckedTableReader,
    CheckedWriter,
    MetadataTableBinding,
    Statistics,
    TableChange,
    TableSettings,
)
from fscontract.implementations.memory import MemoryFileSystem

_DIRECTORY = f"{DATASET}/.hoodie/versions"
_END = b"\nend"
_ATTEMPTS = 5
_Files = dict[str, dict[str, int]]
_T = TypeVar("_T")


def _unsupported() -> NoReturn:
    raise UnsupportedOperationException("the table lists files only")


class _Versions:
    """The versions of the document of a table: its files, its pending actions and its owner."""

    def __init__(self, fs: FileSystem) -> None:
        self._fs = fs

    def _paths(self) -> list[str]:
        try:
            return sorted(status.path for status in self._fs.list_status(_DIRECTORY))
        except FileNotFoundError:
            return []

    def latest(self) -> tuple[int, dict[str, Any]]:
        """Return the last complete version; one that is cut belongs to a crashed writer."""
        paths = self._paths()
        for path in reversed(paths):
            with self._fs.open(path) as stream, stream.as_file() as file:
                content = file.read()
            if content.endswith(_END):
                return len(paths), json.loads(content[: -len(_END)])
        return len(paths), {"files": None, "pending": {}, "owner": None}

    def update(self, change: Callable[[dict[str, Any]], _T]) -> _T:
        """Change the document; try again if another writer was faster."""
        for _ in range(_ATTEMPTS):
            number, document = self.latest()
            result = change(document)
            content = json.dumps(document).encode() + _END
            try:
                with self._fs.create(f"{_DIRECTORY}/{number + 1:06}", overwrite=False) as file:
                    file.write(content)
            except FileExistsError:
                continue
            return result
        raise BlockingIOError("other writers are faster")


class _Writer(CheckedWriter):
    def __init__(self, fs: FileSystem, settings: TableSettings, clock: Iterator[int]) -> None:
        self._fs = fs
        self._settings = settings
        self._clock = clock
        self._name = secrets.token_hex(8)
        self._versions = _Versions(fs)

    def _update(self, change: Callable[[dict[str, Any]], _T]) -> _T:
        def owned(document: dict[str, Any]) -> _T:
            if self._settings.lock == "session":
                if document["owner"] not in (None, self._name):
                    raise BlockingIOError("another writer has the table")
                document["owner"] = self._name
            return change(document)

        return self._versions.update(owned)

    def initialize(self) -> None:
        def change(document: dict[str, Any]) -> None:
            if document["files"] is not None or document["pending"]:
                raise ValueError("there is a table, or a pending action")
            document["files"] = _walk(self._fs)

        self._update(change)

    def bootstrap(self, content: TableChange) -> None:
        _unsupported()

    def _request(self, **plan: Any) -> str:
        def change(document: dict[str, Any]) -> str:
            now = next(self._clock)
            time = f"{now:017}"
            document["pending"][time] = {"by": self._name, "at": now, **plan}
            return time

        return self._update(change)

    def begin(self, action: str) -> str:
        self.recover()
        return self._request()

    def apply(self, instant: str, change: TableChange) -> None:
        _pending(self._versions.latest()[1], instant)

    def finish(self, instant: str, change: TableChange) -> None:
        def done(document: dict[str, Any]) -> None:
            _pending(document, instant)
            del document["pending"][instant]
            if document["files"] is None:
                return
            _remove(document["files"], change.deleted)
            for partition, sizes in change.added.items():
                files = document["files"].setdefault(partition, {})
                files |= {name: max(size, files.get(name, 0)) for name, size in sizes.items()}

        self._update(done)

    def clean(self, deleted: Mapping[str, Collection[str]]) -> str:
        self.recover()
        time = self._request(deleted={p: list(names) for p, names in deleted.items()})
        self._carry_out(time)
        return time

    def roll_back(self, instant: str, deleted: Mapping[str, Collection[str]]) -> str:
        _pending(self._versions.latest()[1], instant)
        files = {p: list(names) for p, names in deleted.items()}
        time = self._request(deleted=files, failed=instant)
        self._carry_out(time)
        return time

    def _carry_out(self, time: str) -> None:
        """Delete the files of a plan, and then remove those that are gone from the table."""
        plan = _pending(self._versions.latest()[1], time)
        gone = {
            partition: [name for name in names if _delete(self._fs, partition, name)]
            for partition, names in plan["deleted"].items()
        }

        def change(document: dict[str, Any]) -> None:
            document["pending"].pop(time, None)
            document["pending"].pop(plan.get("failed"), None)
            if document["files"] is not None:
                _remove(document["files"], {} if "failed" in plan else gone)

        self._update(change)

    def restore(self, instant: str) -> str:
        _unsupported()

    def recover(self) -> None:
        for time, action in self._versions.latest()[1]["pending"].items():
            age = next(self._clock) - action["at"]
            if action["by"] == self._name or age < self._settings.patience:
                continue
            if "deleted" in action:
                self._carry_out(time)
            else:
                found = _walk(self._fs).items()
                self.roll_back(time, {p: [n for n in names if time in n] for p, names in found})

    def sync(self) -> None:
        _unsupported()

    def compact(self) -> bool:
        return False

    def clean_table(self) -> None:
        pass

    def create_statistics(
        self, statistics: Mapping[tuple[str, str], Collection[Statistics]]
    ) -> None:
        _unsupported()

    def drop_statistics(self) -> None:
        _unsupported()

    def archive(self) -> None:
        pass

    def close(self) -> None:
        if self._settings.lock == "session":
            self._update(lambda document: document.update(owner=None))


def _pending(document: dict[str, Any], time: str) -> dict[str, Any]:
    if time not in document["pending"]:
        raise ValueError(f"no action {time} is pending")
    action: dict[str, Any] = document["pending"][time]
    return action


def _remove(files: _Files, deleted: Mapping[str, Collection[str]]) -> None:
    for partition, names in deleted.items():
        for name in names:
            files.get(partition, {}).pop(name, None)


def _delete(fs: FileSystem, partition: str, name: str) -> bool:
    """Delete a data file; return whether it is gone."""
    try:
        fs.delete(f"{DATASET}/{partition}/{name}".replace("//", "/"))
    except FileNotFoundError:
        return True
    except PermissionError:
        return False
    return True


def _walk(fs: FileSystem, directory: str = "", hidden: Collection[str] = ()) -> _Files:
    """Return the sizes of the files below a directory, without those of hidden actions."""
    files: _Files = {}
    for status in fs.list_status(f"{DATASET}/{directory}".rstrip("/")):
        name = status.path.rpartition("/")[2]
        if name.startswith(".hoodie") or any(time in name for time in hidden):
            continue
        if status.is_directory:
            files |= _walk(fs, f"{directory}/{name}".lstrip("/"), hidden)
        else:
            files.setdefault(directory, {})[name] = status.length
    return files


class _Reader(CheckedTableReader):
    def __init__(self, fs: FileSystem) -> None:
        files = _Versions(fs).latest()[1]["files"]
        if files is None:
            raise FileNotFoundError("no table")
        self._files: _Files = {partition: names for partition, names in files.items() if names}

    def partitions(self) -> list[str]:
        return sorted(self._files)

    def files(self, partitions: Iterable[str]) -> dict[str, dict[str, int]]:
        return {partition: self._files.get(partition, {}) for partition in partitions}

    def prune(self, column: str, operator: str, value: Any) -> set[str]:
        _unsupported()

    def close(self) -> None:
        pass


class _Listing(CheckedListing):
    """Warns once about a missing table, and once for each lookup that differs."""

    def __init__(self, fs: FileSystem, enabled: bool, validate: bool) -> None:
        self._warnings = self._errors = 0
        hidden = [t for t, a in _Versions(fs).latest()[1]["pending"].items() if "deleted" not in a]
        self._listed = _walk(fs, hidden=hidden)
        self._table: _Reader | None = None
        self._validates = validate
        if enabled:
            try:
                self._table = _Reader(fs)
            except FileNotFoundError:
                self._warnings += 1

    def _chosen(self, known: Callable[[_Reader], _T], listed: _T, count: Callable[[_T], int]) -> _T:
        if self._table is None:
            return listed
        result = known(self._table)
        if self._validates:
            errors = count(result)
            self._errors += errors
            self._warnings += bool(errors)
            return listed
        return result

    def partitions(self) -> list[str]:
        listed = sorted(self._listed)
        return self._chosen(_Reader.partitions, listed, lambda found: len({*found} ^ {*listed}))

    def files(self, partition: str) -> dict[str, int]:
        listed = self._listed.get(partition, {})

        def errors(found: dict[str, int]) -> int:
            return len({name for name, _ in found.items() ^ listed.items()})

        return self._chosen(lambda table: table.files([partition])[partition], listed, errors)

    def warnings(self) -> int:
        return self._warnings

    def metrics(self) -> dict[str, float]:
        return {"HoodieMetadata.validate_errors.count": self._errors}


class JsonTable(MetadataTableBinding):
    """Tables that list files; no column ranges, earlier states or restores."""

    name = "json-table"

    def __init__(self) -> None:
        self._clock = itertools.count(1)

    def filesystem(self) -> FileSystem:
        return MemoryFileSystem()

    def writer(self, filesystem: FileSystem, settings: TableSettings) -> CheckedWriter:
        if settings.design == 1:
            _unsupported()
        return _Writer(filesystem, settings, self._clock)

    def reader(
        self, filesystem: FileSystem, as_of: str | None = None, read_only: bool = False
    ) -> CheckedTableReader:
        if as_of:
            _unsupported()
        return _Reader(filesystem)

    def listing(
        self, filesystem: FileSystem, enabled: bool = True, validate: bool = False
    ) -> CheckedListing:
        return _Listing(filesystem, enabled, validate)
