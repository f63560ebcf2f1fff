"""Binding to Python's binary files that a callable opens in a local directory."""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from fscontract.contract.binding import Action, NoScene, TargetError
from fscontract.contract.program.content import SparseContent
from fscontract.contract.program.opened_path import OpenedPath
from fscontract.contract.program.program import CHANGES, Program, Step
from fscontract.contract.script.callables import arguments, function_lines
from fscontract.contract.script.calls import Call, ScriptApi, Source
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
    failed_step,
    inexpressible,
)
from fscontract.implementations.bindings.method_sources import (
    FILE_METHODS,
    inspected,
    sources_of,
)
from fscontract.implementations.bindings.script_setup import temporary_path
from fscontract.implementations.bindings.spelling import spell_file, spell_program


def _name_of(opener: Any) -> str:
    """Return the module and the name of a callable, as in gzip.open."""
    kind = opener if hasattr(opener, "__qualname__") else type(opener)
    return f"{kind.__module__}.{kind.__qualname__}"


def _named(opener: Any) -> tuple[tuple[str, ...], str]:
    """Return the lines that import an opener, and the opener, or its call with options."""
    if isinstance(opener, partial):
        lines, name = function_lines(opener.func)
        return lines, f"{name}({', '.join(['path', *arguments(opener.keywords, typed=False)])})"
    if opener is open:
        return (), 'open(path, "rb")'
    return function_lines(opener)


def _itself(opened: Any) -> Any:
    return opened


class PythonFileBinding(ScratchBinding):
    """Runs programs on binary files that `opener` opens from paths below `directory`.

    The directory is that of temporary files if it is None. If files are stored in another form, as
    by gzip, `encode` returns the stored form of their bytes.
    """

    api: ClassVar[str] = "python-file"
    default_profile: ClassVar[str] = "python-file"

    def __init__(
        self,
        opener: Callable[[str], BinaryIO],
        directory: str | os.PathLike[str] | None = None,
        name: str | None = None,
        encode: Callable[[bytes], bytes] | None = None,
    ) -> None:
        self.name = _name_of(opener) if name is None else name
        self.operations = FILE_OPERATIONS | PYTHON_OPERATIONS
        self.changes = frozenset(CHANGES)
        #: Libraries and their versions, for reports.
        self.versions = {"python": platform.python_version()}
        self._opener = opener
        self._directory = tempfile.gettempdir() if directory is None else os.fspath(directory)
        self._encode = encode
        self._has_readinto = True
        self._has_tried = False
        self.holds_sparse = encode is None

    def prepare(self) -> None:
        """Create a random directory; raise TargetError on failure."""
        prefix = new_prefix(self._directory)
        try:
            os.mkdir(prefix)
        except OSError as error:
            raise failure(self.name, "can't create a directory", error) from error
        self._prefix = prefix

    def change(self, path: str, content: bytes | None) -> None:
        """Rewrite or delete a file; raise TargetError on failure.

        A stream may read it at any time, so it never has fewer bytes than before or after. A file
        that gets shorter is replaced, because a process that has mapped it into memory ends if it
        is truncated. So is one in another stored form, of which half would be no such form.
        """
        try:
            if content is None:
                os.remove(path)
                return
            stored = content if self._encode is None else self._encoded(content)
            old = os.path.getsize(path) if os.path.exists(path) else 0
            if self._encode is not None or len(stored) < old:
                self._replace(path, stored)
                return
            with open(path, "r+b" if os.path.exists(path) else "wb") as file:
                file.write(stored)
        except OSError as error:
            raise failure(self.name, f"can't change {path}", error) from error

    @staticmethod
    def _replace(path: str, stored: bytes) -> None:
        with open(f"{path}.new", "wb") as file:
            file.write(stored)
        os.replace(file.name, path)

    def create_sparse(self, content: SparseContent) -> str:
        """Write a sparse file; raise TargetError on failure."""
        path = self.new_path()
        self.write_sparse(path, content)
        return path

    def _encoded(self, content: bytes) -> bytes:
        assert self._encode is not None
        try:
            stored = self._encode(content)
        except Exception as error:
            raise failure(self.name, "can't encode a file", error) from error
        if not isinstance(stored, bytes | bytearray):
            kind = type(stored).__name__
            raise TargetError(f"{self.name}: encode must return bytes, got {kind}")
        return bytes(stored)

    def place(self, at: OpenedPath, content: bytes) -> str:
        """Make what is at an unusual path; raise NoScene if permissions have no effect."""
        path = self.new_path()
        if at.kind == "empty-directory":
            os.mkdir(path)
            return path
        if at.kind != "unreadable":
            return super().place(at, content)
        self.change(path, content)
        os.chmod(path, 0)
        if os.access(path, os.R_OK):
            raise NoScene("this process can read files without permission")
        return path

    def open(self, path: str) -> BinaryIO:
        """Open the file with the opener; raise TargetError if it returns no file, or can't run."""
        self._has_tried = True
        try:
            opened = self._opener(path)
        except ImportError as error:
            raise failure(self.name, "can't open a file", error) from error
        if not hasattr(opened, "read"):
            kind = type(opened).__name__
            hint = "; return what its with block gets" if hasattr(opened, "__enter__") else ""
            raise TargetError(
                f"{self.name}: expected an open file, got {kind}, which has no read(){hint}"
            )
        self._has_readinto = hasattr(opened, "readinto")
        return opened

    def sources(self, path: str) -> Mapping[str, frozenset[str]]:
        """Return the classes that define the methods of the file."""
        with inspected(self._opener(path)) as file:
            return sources_of(file, FILE_METHODS, file)

    def bind(self, step: Step) -> Action:
        """Return a step without anchors as a function of a binary file."""
        if step.op in PYTHON_OPERATIONS:
            return bind_python(step, _itself)
        return bind_file(step, _itself) if step.op in FILE_OPERATIONS else inexpressible

    def spell(self, program: Program) -> str:
        """Return a program as calls of the files that the opener returns."""
        name = getattr(self._opener, "__name__", "")
        opener = name if name.isidentifier() else "open_file"
        return spell_program(program, f"{opener}(path)", self._spell_step)

    def _spell_step(self, step: Step, name: str) -> Call | None:
        return spell_file(step, name, self._has_readinto)

    def script_api(self, source: Source) -> ScriptApi:
        """Return the files that the opener returns as scripts use them; raise NoScript."""
        lines, opener, data = *_named(self._opener), "{}"
        if self._encode is not None:
            more, encode = function_lines(self._encode)
            lines, data = tuple(dict.fromkeys((*lines, *more))), f"{encode}({{}})"
        call = opener if opener.endswith(")") else f"{opener}(path)"
        if not self._has_tried:  # otherwise its methods are known, or it may hang as before
            self._open_once()
        return ScriptApi(
            setup=("import pathlib", *lines, *temporary_path()),
            write=f"pathlib.Path(path).write_bytes({data})",
            delete="pathlib.Path(path).unlink()",
            spell=self._spell_step,
            opening=lambda program, name: (f"{name} = {call}",),
            failed=failed_step,
            status="" if self._encode else "os.stat(path).st_size",
            makes_directory="os.makedirs(path)",
        )

    def _open_once(self) -> None:
        """Open a file for its methods, if the opener opens one here."""
        with suppress(Exception), tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "file"
            path.write_bytes(b"x" if self._encode is None else self._encoded(b"x"))
            self.open(str(path)).close()

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
        """Return the length that the operating system reports, None for files in another form."""
        return None if self._encode is not None else os.stat(path).st_size
