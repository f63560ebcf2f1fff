"""Shared parts of object store bindings, and a binding to files opened by a callable."""

from __future__ import annotations

import platform
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, TypeVar

from fscontract.contract.binding import Action, Opened, TargetError
from fscontract.contract.program.filesystem_calls import WITHOUT_STREAM
from fscontract.contract.program.outcome import Kind, Outcome, text_of
from fscontract.contract.program.program import CHANGES, Program, Step
from fscontract.contract.script.calls import Call, NoScript, ScriptApi, Source
from fscontract.contract.targets import UsageError
from fscontract.contract.untrusted import typed_value
from fscontract.implementations.bindings.common import (
    ScratchBinding,
    failure,
    new_prefix,
    outcome_of,
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
    failed_step,
    inexpressible,
)
from fscontract.implementations.bindings.fsspec_quirks import is_unreachable
from fscontract.implementations.bindings.spelling import spell_file, spell_program

#: Messages for unreachable servers in clients that have no exception class for it.
_UNREACHABLE = re.compile("NETWORK_CONNECTION|error sending request|send http request")

_Binding = TypeVar("_Binding", bound="StoreBinding")


class Store(ABC):
    """Storage for the files of a run. Paths begin with `root`, which has no trailing slash."""

    root: str = ""

    @abstractmethod
    def write(self, path: str, content: bytes) -> None:
        """Write a file; replace an existing one."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Delete a file."""

    @abstractmethod
    def length(self, path: str) -> int | None:
        """Return the length in bytes that the store reports."""

    @abstractmethod
    def directories(self) -> Iterable[str]:
        """Return the paths of all directories directly below the root."""

    @abstractmethod
    def delete_all(self, directory: str) -> None:
        """Delete a directory with its content. Do nothing if it does not exist."""

    def make(self, directory: str) -> None:
        """Create a directory below the root, if writes do not create it."""
        return


class StoreFiles(ScratchBinding):
    """A binding whose files are written to a Store."""

    @property
    @abstractmethod
    def files(self) -> Store:
        """Store for the files; raise TargetError if the binding is read-only."""

    def change(self, path: str, content: bytes | None) -> None:
        """Replace or delete a file; raise TargetError on failure."""
        store = self.files
        try:
            if content is None:
                store.delete(path)
            else:
                store.write(path, content)
        except Exception as error:
            raise self.failure(f"can't change {path}", error) from error

    def leftovers(self) -> list[str]:
        """Return the directories below the root named like prefixes; raise TargetError."""
        store = self.files
        try:
            return prefixes_among(store.directories())
        except Exception as error:
            raise self.failure("can't be listed", error) from error

    def discard(self, prefix: str) -> None:
        """Delete a prefix; raise TargetError on failure."""
        store = self.files
        try:
            store.delete_all(prefix)
        except Exception as error:
            raise self.failure(f"can't remove {prefix}", error) from error


class StoreBinding(StoreFiles, ABC):
    """Runs programs on files that an API opens in a store."""

    #: Packages whose versions are reported.
    packages: ClassVar[tuple[str, ...]] = ()
    #: The expression that opens a file, for reports.
    opening: ClassVar[str]
    #: Whether calls may raise what is no Exception, as panics of Rust.
    panics: ClassVar[bool] = False
    #: The statements that write the bytes `{}` to a file, and that delete it, for scripts.
    writing: ClassVar[str] = ""
    deleting: ClassVar[str] = ""

    def __init__(self, store: Store, name: str, secrets: tuple[str, ...] = ()) -> None:
        self.name = name
        self.operations = FILE_OPERATIONS | PYTHON_OPERATIONS
        self.changes = frozenset(CHANGES)
        #: Libraries and their versions, for reports.
        self.versions = versions(*self.packages)
        self._store = store
        self._secrets = secrets

    @classmethod
    def from_url(
        cls: type[_Binding],
        url: str,
        options: Mapping[str, Any],
        *,
        file: str | None = None,
        content: Path | None = None,
    ) -> _Binding:
        """Return the binding to the store at `url`; raise UsageError or TargetError.

        `options` are the arguments of `connect`; values that are valid JSON are parsed.
        """
        arguments = {key: typed_value(value) for key, value in options.items()}
        name, secrets = shown(url), secrets_in(url, arguments)
        if file is not None or content is not None:
            raise UsageError(f"{name}: --file and --content require a URL that fsspec opens")
        try:
            source = cls.connect(url, arguments)
        except TargetError:
            raise
        except Exception as error:
            raise failure(name, "can't be opened", error, secrets) from error
        return cls(**source, name=name, secrets=secrets)

    @classmethod
    def connect(cls, url: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of the class except `name` and `secrets` for the store at `url`."""
        raise NotImplementedError

    @property
    def files(self) -> Store:
        """Store of the binding."""
        return self._store

    @abstractmethod
    def open_file(self, path: str) -> Opened:
        """Open the file at `path` through the API."""

    @abstractmethod
    def file(self, opened: Opened) -> Any:
        """Return the Python file, or file-like object, of an opened file."""

    def open(self, path: str) -> Opened:
        """Open the file for reading; raise ConnectionError if the server can't be reached."""
        try:
            return self.open_file(path)
        except Exception as error:
            if _cant_be_reached(error):
                raise ConnectionError(told(error, self._secrets, 200)) from error
            raise

    def bind(self, step: Step) -> Action:
        """Return a step without anchors as a function of an opened file."""
        if step.op not in self.operations:
            return inexpressible
        if step.op in FILE_OPERATIONS:
            return bind_file(step, self.file, self._fail)
        if step.op in PYTHON_OPERATIONS:
            return bind_python(step, self.file, self._fail)
        return self.bind_positioned(step)

    def bind_positioned(self, step: Step) -> Action:
        """Return a step of another kind; inexpressible unless overridden."""
        return inexpressible

    def spell(self, program: Program) -> str:
        """Return a program as calls of the store and of the files that it opens."""
        return spell_program(program, self.opening, self.spell_step)

    def spell_step(self, step: Step, name: str) -> Call | None:
        """Return a step as a call of the file or of the store; None if the API has none."""
        return spell_file(step, name) or self.spell_positioned(step, name)

    def spell_positioned(self, step: Step, name: str) -> Call | None:
        """Return a step of another kind as a call; None unless overridden."""
        return None

    def script_api(self, source: Source) -> ScriptApi:
        """Return the store and its files as scripts use them; raise NoScript."""
        return ScriptApi(
            setup=self.script_setup(source),
            write=self.writing,
            delete=self.deleting,
            spell=self.spell_in_script,
            opening=lambda program, name: (f"{name} = {self.opening_in_script}",),
            failed=self._failed_in_script,
            status=self.status_in_script,
            makes_directory=self.making_directory,
            cleanup=(self.deleting,) if self.remote else (),
            remote=self.remote,
            panics=self.panics,
        )

    def script_setup(self, source: Source) -> tuple[str, ...]:
        """Return the statements that make the store and `path`; raise NoScript."""
        raise NoScript(f"the {self.api} API has no scripts")

    def spell_in_script(self, step: Step, name: str) -> Call | None:
        """Return a step as a call that returns what the binding judges."""
        return self.spell_step(step, name)

    #: The expression of the length in the status of `path`, and the statement that makes a
    #: directory there.
    status_in_script: ClassVar[str] = ""
    making_directory: ClassVar[str] = ""

    @property
    def opening_in_script(self) -> str:
        """The expression that opens a file as the binding does."""
        return self.opening

    def _failed_in_script(self, step: Step, error: Exception, closed: bool) -> Outcome:
        if step.op in FILE_OPERATIONS | PYTHON_OPERATIONS:
            return failed_step(step, error, closed, self._fail)
        if step.op in WITHOUT_STREAM:
            return self._fail(error)
        return self.failed(error, SimpleNamespace(closed=closed))

    def failed(self, error: Exception, _opened: Opened) -> Outcome:
        """Return the outcome of a call on the store, not the file, that raised."""
        return self._fail(error)

    def prepare(self) -> None:
        """Create a random directory below the root, and write into it; raise TargetError."""
        prefix = new_prefix(self._store.root) if self._store.root else new_prefix("")[1:]
        try:
            self._store.make(prefix)
            self._prefix = prefix
            self._store.write(f"{prefix}/probe", b"x")
        except Exception as error:
            with suppress(TargetError):
                self.dispose()
            raise self.failure("can't be written", error) from error

    def status_length(self, path: str) -> int | None:
        """Return the length that the store reports."""
        return self._store.length(path)

    def _fail(self, error: Exception, kind: Kind | None = None) -> Outcome:
        if _cant_be_reached(error):
            kind = Kind.ENVIRONMENT
        return outcome_of(error, self._secrets, kind)


def _cant_be_reached(error: BaseException) -> bool:
    return is_unreachable(error) or _UNREACHABLE.search(text_of(error)) is not None


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python and of the installed packages."""
    packages_found = {"python": platform.python_version()}
    for package in packages:
        with suppress(PackageNotFoundError):
            packages_found[package] = version(package)
    return packages_found


class OpenedFileBinding(StoreBinding):
    """Runs programs on the file-like objects that `opener` returns for paths in `store`.

    `packages` are those whose versions are reported; `words` are the operations that the files
    implement, or None for all.
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
        """Return the file itself."""
        return opened
