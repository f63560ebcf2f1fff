from __future__ import annotations

from pathlib import Path

import pytest

from fscontract.contract.ports import FileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem


@pytest.fixture(params=["memory", "positioned", "portable"])
def fs(request: pytest.FixtureRequest, tmp_path: Path) -> FileSystem:
    """Each of our filesystems, empty."""
    if request.param == "memory":
        return MemoryFileSystem()
    return LocalFileSystem(str(tmp_path / "root"), strategy=request.param)


@pytest.fixture(params=["positioned", "portable"])
def local(request: pytest.FixtureRequest, tmp_path: Path) -> LocalFileSystem:
    """The local filesystem with each of its strategies, below `tmp_path / "root"`."""
    return LocalFileSystem(str(tmp_path / "root"), strategy=request.param)
