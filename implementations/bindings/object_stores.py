"""Parts that bindings to object stores share, and files that a callable opens in one."""

from __future__ import annotations

import platform
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

from fscontract.contract.binding import Action, Opened, TargetError
from fscontract.contract.program.outcome import Kind, Outcome, classify, text_of
from fscontract.contract.program.program import CHANGES, Step
from fscontract.contract.targets import UsageError
from fscontract.contract.untrusted import typed_value
from fscontract.implementations.bindings.common import (
    ScratchBinding,
    failure,
    new_prefix,
    prefixes_among,
    secrets_in,
    shown,
    told,
)
from fscontract.implementations.bindings.file_operations import (
    FILE_OPERATIONS,
    PYTHON_OPERATIONS,
    bind_file,
    bind_python,
    inexpressible,
)
from fscontract.implementations.bindings.fsspec_quirks import is_unreachable

#: How clients whose exceptions have no class for it say that the server can't be reached.
_UNREACHABLE = re.compile("NETWORK_CONNECTION|error sending request|send http request")


class Store(ABC):
    """Where the files of a run are put. Paths begin with `root`, which has no slash at its end."""

    root: str = ""

    @abstractmethod
    def write(self, path: str, content: bytes) -> None:
        """Write a file, or another in its place."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Delete a file."""

    @abstractmethod
    def length(self, path: str) -> int:
        """The length of a file that the store reports, in bytes."""

    @abstractmethod
    def directories(self) -> Iterable[str]:
        """The paths of all directories right below the root."""

    @abstractmethod
    def delete_all(self, directory: str) -> None:
        """Delete a directory and all that is below it; nothing if there is none."""

    def make(self, directory: str) -> None:
        """Make a directory below the root, where one is not made by what is written into it."""
        return


class StoreBinding(ScratchBinding, ABC):
    """Programs as calls of the files that an API opens in a store."""

    #: Packages whose versions a report should show.
    packages: ClassVar[tuple[str, ...]] = ()

    def __init__(self, store: Store, name: str, secrets: tuple[str, ...] = ()) -> None:
        self.name = name
        self.operations = FILE_OPERATIONS | PYTHON_OPERATIONS
        self.changes = frozenset(CHANGES)
        #: Libraries whose version a report should show, with the version.
        self.versions = versions(*self.packages)
        self._store = store
        self._secrets = secrets

    @abstractmethod
    def open_file(self, path: str) -> Opened:
        """Open the file at `path` in the way of the API."""

    @abstractmethod
    def file(self, opened: Opened) -> Any:
        """The Python file, or what is like one, of what `open` returned."""

    def open(self, path: str) -> Opened:
        """Open the file for reading; ConnectionError if the server can't be reached."""
        try:
            return self.open_file(path)
        except Exception as error:
            if _cant_be_reached(error):
                raise ConnectionError(told(error, self._secrets, 200)) from error
            raise

    def bind(self, step: Step) -> Action:
        """A step without anchors as a function of what `open` returned."""
        if step.op not in self.operations:
            return inexpressible
        if step.op in FILE_OPERATIONS:
            return bind_file(step, self.file, self._fail)
        if step.op in PYTHON_OPERATIONS:
            return bind_python(step, self.file, self._fail)
        return self.bind_positioned(step)

    def bind_positioned(self, step: Step) -> Action:
        """A step of another kind; the API has none unless it overrides this."""
        return inexpressible

    def failed(self, error: Exception, _opened: Opened) -> Outcome:
        """The outcome of an exception of a call that is not one of the file."""
        return self._fail(error)

    def prepare(self) -> None:
        """Make a random directory below the root, and write into it; TargetError."""
        prefix = new_prefix(self._store.root) if self._store.root else new_prefix("")[1:]
        try:
            self._store.make(prefix)
            self._prefix = prefix
            self._store.write(f"{prefix}/probe", b"x")
        except Exception as error:
            with suppress(TargetError):
                self.dispose()
            raise self._failure("can't be written", error) from error

    def change(self, path: str, content: bytes | None) -> None:
        """Write another file in the place of one, or delete it; TargetError if that fails."""
        try:
            if content is None:
                self._store.delete(path)
            else:
                self._store.write(path, content)
        except Exception as error:
            raise self._failure(f"can't change {path}", error) from error

    def leftovers(self) -> list[str]:
        """The directories below the root that are named like prefixes; TargetError."""
        try:
            return prefixes_among(self._store.directories())
        except Exception as error:
            raise self._failure("can't be listed", error) from error

    def discard(self, prefix: str) -> None:
        """Delete a prefix; TargetError if it stays."""
        try:
            self._store.delete_all(prefix)
        except Exception as error:
            raise self._failure(f"can't remove {prefix}", error) from error

    def status_length(self, path: str) -> int | None:
        """The length that the store reports."""
        return self._store.length(path)

    def _failure(self, what: str, error: BaseException) -> TargetError:
        return failure(self.name, what, error, self._secrets)

    def _fail(self, error: Exception, kind: Kind | None = None) -> Outcome:
        if _cant_be_reached(error):
            kind = Kind.ENVIRONMENT
        return Outcome(kind or classify(error), detail=told(error, self._secrets))


def _cant_be_reached(error: BaseException) -> bool:
    return is_unreachable(error) or _UNREACHABLE.search(text_of(error)) is not None


def from_options(
    url: str, options: Mapping[str, Any], read_only: object, make: Callable[[dict[str, Any]], Any]
) -> tuple[Any, str, tuple[str, ...]]:
    """What `make` makes of the options of a command line, the URL as it may be shown, and what may
    not be shown; UsageError, TargetError. Text that is valid JSON stands for its value."""
    typed = {key: typed_value(value) for key, value in options.items()}
    name, secrets = shown(url), secrets_in(url, typed)
    if read_only is not None:
        raise UsageError(f"{name}: --file and --content are for URLs that fsspec opens")
    try:
        return make(typed), name, secrets
    except TargetError:
        raise
    except Exception as error:
        raise failure(name, "can't be opened", error, secrets) from error


def versions(*packages: str) -> dict[str, str]:
    """The versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version()}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


class OpenedFileBinding(StoreBinding):
    """Programs as calls of what `opener` makes of the path of a file in `store`.

    `packages` are those whose versions a report should show, and `words` the operations that the
    files have methods for; None if they have all.
    """

    api: ClassVar[str] = "python-file"
    default_profile: ClassVar[str] = "python-file"

    def __init__(
        self,
        opener: Callable[[str], Any],
        store: Store,
        name: str,
        packages: tuple[str, ...] = (),
        words: frozenset[str] | None = None,
    ) -> None:
        super().__init__(store, name)
        self.versions = versions(*packages)
        self.remote = True
        if words is not None:
            self.operations &= words
        self._opener = opener

    def open_file(self, path: str) -> Opened:
        """Open the file with the opener."""
        return self._opener(path)

    def file(self, opened: Opened) -> Any:
        """The file itself."""
        return opened
