"""Tests that any exception or value of a target becomes an outcome or a TargetError."""

from __future__ import annotations

import gc
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import obstore
import obstore.store
import opendal
import pytest
from fsspec.implementations.local import LocalFileSystem as FsspecLocal
from pyarrow import fs as arrow

from fscontract.contract.api.filesystem import FileSystem
from fscontract.contract.binding import Binding
from fscontract.implementations.bindings.fsspec import FsspecBinding
from fscontract.implementations.bindings.native import StreamBinding
from fscontract.implementations.bindings.obstore import ObstoreBinding
from fscontract.implementations.bindings.opendal import OpendalBinding
from fscontract.implementations.bindings.pyarrow import PyArrowBinding
from fscontract.implementations.bindings.python_file import PythonFileBinding
from fscontract.implementations.memory import MemoryFileSystem

from .injection import WRONGS, Sabotaged, Saboteur, each_call, sabotaged_class

#: Minimum number of calls that a binding makes on its target.
_FEWEST = 20


def _fsspec(folder: Path, saboteur: Saboteur) -> Binding:
    cls = sabotaged_class(FsspecLocal)
    made = FsspecBinding(cls(skip_instance_cache=True), str(folder), "sabotaged")
    cls.saboteur = saboteur
    return made


def _stream(_: Path, saboteur: Saboteur) -> Binding:
    cls = sabotaged_class(MemoryFileSystem)
    fs = cls()
    assert isinstance(fs, FileSystem)
    made = StreamBinding(fs, "sabotaged")
    cls.saboteur = saboteur
    return made


def _pyfile(folder: Path, saboteur: Saboteur) -> Binding:
    def opener(path: str) -> Any:
        return saboteur.call(open, path, "r+b", buffering=0)

    return PythonFileBinding(opener, str(folder), "sabotaged")


def _pyarrow(folder: Path, saboteur: Saboteur) -> Binding:
    made = PyArrowBinding(arrow.LocalFileSystem(), str(folder), "sabotaged")
    made.fs = made._store.fs = Sabotaged(made.fs, saboteur)  # type: ignore[attr-defined]
    return made


def _obstore(_: Path, saboteur: Saboteur) -> Binding:
    made = ObstoreBinding(obstore.store.MemoryStore(), "sabotaged")
    own = made.store

    def open_file(path: str) -> Any:
        from fscontract.implementations.bindings.obstore import Reader

        return Reader(saboteur.call(obstore.open_reader, own, path, buffer_size=16), path)

    made.open_file = open_file  # type: ignore[method-assign]
    made.store = made._store.store = Sabotaged(own, saboteur)  # type: ignore[attr-defined]
    return made


def _opendal(_: Path, saboteur: Saboteur) -> Binding:
    made = OpendalBinding(opendal.Operator("memory"), "sabotaged")
    made.operator = made._store.operator = Sabotaged(made.operator, saboteur)  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize("wrong", WRONGS)
@pytest.mark.parametrize("make", [_fsspec, _stream, _pyfile, _pyarrow, _obstore, _opendal])
def test_failing_call_gives_an_outcome_or_target_error(
    make: Callable[[Path, Saboteur], Binding], wrong: str, tmp_path: Path
) -> None:
    """Each call of a binding fails in turn.

    Tracebacks keep objects of OpenDAL that must be dropped on the thread that made them.
    """

    def one(saboteur: Saboteur) -> Binding:
        folder = tmp_path / uuid.uuid4().hex
        folder.mkdir()
        return make(folder, saboteur)

    assert sum(1 for _ in each_call(one, WRONGS[wrong])) >= _FEWEST
    if make is _opendal:
        gc.collect()
