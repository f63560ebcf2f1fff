"""Correct implementations of the APIs of the matrix, as targets of scripts.

Scripts of PyArrow and obstore import from those libraries: `Correct.changed` replaces the imports.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fscontract.contract.binding import Binding
from fscontract.contract.script.calls import Source
from fscontract.contract.targets import resolve_target
from fscontract.fakes.mutants.correct_arrow import RightArrow
from fscontract.fakes.mutants.correct_filesystem import RightAsyncFilesystem, RightFile
from fscontract.fakes.mutants.correct_stores import RightOperator, RightStore, RightStoreBinding
from fscontract.implementations.bindings.opendal import OpendalBinding
from fscontract.implementations.bindings.pyarrow import PyArrowBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding

_FAKES = "fscontract.fakes.mutants."
_FILES: dict[str, bytes] = {}


def asynchronous(**options: Any) -> RightAsyncFilesystem:
    """Return an asynchronous filesystem, which shares its files with all others."""
    return RightAsyncFilesystem(_FILES, **options)


def opened(path: str) -> RightFile:
    """Return a file in memory with the content of the one at a path."""
    return RightFile(Path(path).read_bytes())


def files(folder: str) -> Binding:
    """Return a binding to such files in a folder."""
    return PythonFileBinding(opened, folder, "correct")


class _Obstore:
    """The functions of obstore, which call the methods of a store of that name."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(store: RightStore, *args: Any, **named: Any) -> Any:
            named.pop("buffer_size", None)
            return getattr(store, name)(*args, **named)

        return call


obstore = _Obstore()


class Correct(NamedTuple):
    """A correct target: its binding, its source, and the imports that its scripts replace."""

    binding: Binding
    source: Source
    replaced: tuple[tuple[str, str], ...] = ()

    def changed(self, script: str) -> str:
        """Return a script that imports the correct implementation."""
        for old, new in self.replaced:
            script = script.replace(old, new)
        return script


@cache
def correct(api: str, folder: str) -> Correct:
    """Return the correct target of an API: fsspec, async, pyarrow, obstore, opendal or python-file.

    `folder` is where Python files are.
    """
    if api == "pyarrow":
        own = f"from {_FAKES}correct_arrow import RightArrow as LocalFileSystem"
        imports = (("from pyarrow.fs import LocalFileSystem", own),)
        binding = PyArrowBinding(RightArrow(), "correct", "correct")
        return Correct(binding, Source("file:///tmp"), imports)
    if api == "obstore":
        imports = (("import obstore\n", "from tests.findings.correct_targets import obstore\n"),)
        source = Source(f"{_FAKES}correct_stores:RightStore")
        return Correct(RightStoreBinding(RightStore(), "correct"), source, imports)
    if api == "python-file":
        return Correct(files(folder), Source(f"{__name__}:files", {"folder": folder}))
    if api == "opendal":
        source = Source(f"{_FAKES}correct_stores:RightOperator")
        return Correct(OpendalBinding(RightOperator(), "correct"), source)
    target = f"{_FAKES}correct_filesystem:RightFilesystem"
    if api == "async":
        target = "tests.findings.correct_targets:asynchronous"
    return Correct(resolve_target(target, {}), Source(target))
