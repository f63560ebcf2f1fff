"""Binding to Python's binary files that a callable opens in a local directory."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, ClassVar

from fscontract.contract.binding import Action
from fscontract.contract.program.program import CHANGES, Step
from fscontract.implementations.bindings.common import (
    ScratchBinding,
    failure,
    new_prefix,
    prefixes_among,
)
from fscontract.implementations.bindings.file_operations import (
    FILE_OPERATIONS,
    PYTHON_OPERATIONS,
    bind_file,
    bind_python,
    inexpressible,
)
from fscontract.implementations.bindings.method_sources import FILE_METHODS, sources_of


def _itself(opened: Any) -> Any:
    return opened


class PythonFileBinding(ScratchBinding):
    """Runs programs on binary files that `opener` opens from paths below `directory`."""

    api: ClassVar[str] = "python-file"
    default_profile: ClassVar[str] = "python-file"

    def __init__(self, opener: Callable[[str], BinaryIO], directory: str, name: str) -> None:
        self.name = name
        self.operations = FILE_OPERATIONS | PYTHON_OPERATIONS
        self.changes = frozenset(CHANGES)
        #: Libraries and their versions, for reports.
        self.versions = {"python": platform.python_version()}
        self._opener = opener
        self._directory = directory

    def prepare(self) -> None:
        """Create a random directory; raise TargetError on failure."""
        prefix = new_prefix(self._directory)
        try:
            os.mkdir(prefix)
        except OSError as error:
            raise failure(self.name, "can't create a directory", error) from error
        self._prefix = prefix

    def change(self, path: str, content: bytes | None) -> None:
        """Rewrite a file in place, or delete it; raise TargetError on failure."""
        try:
            if content is None:
                os.remove(path)
                return
            with open(path, "wb") as file:
                file.write(content)
        except OSError as error:
            raise failure(self.name, f"can't change {path}", error) from error

    def open(self, path: str) -> BinaryIO:
        """Open the file with the opener."""
        return self._opener(path)

    def sources(self, path: str) -> Mapping[str, frozenset[str]]:
        """Return the classes that define the methods of the file."""
        with self._opener(path) as file:
            return sources_of(file, FILE_METHODS, file)

    def bind(self, step: Step) -> Action:
        """Return a step without anchors as a function of a binary file."""
        if step.op in PYTHON_OPERATIONS:
            return bind_python(step, _itself)
        return bind_file(step, _itself) if step.op in FILE_OPERATIONS else inexpressible

    def leftovers(self) -> list[str]:
        """Return the directories next to the prefix named like prefixes; raise TargetError."""
        try:
            with os.scandir(self._directory) as entries:
                paths = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError as error:
            raise failure(self.name, f"can't list {self._directory}", error) from error
        return prefixes_among(paths)

    def discard(self, prefix: str) -> None:
        """Delete a prefix; raise TargetError on failure."""
        try:
            shutil.rmtree(prefix)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise failure(self.name, f"can't remove {prefix}", error) from error

    def status_length(self, path: str) -> int | None:
        """Return the length that the operating system reports."""
        return os.stat(path).st_size
