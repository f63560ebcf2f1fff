"""fsspec's own test suites for filesystems, run on the fsspec views."""

# mypy: disable-error-code="misc"
# fsspec has no types, so each class here has a base that mypy knows nothing of.

from __future__ import annotations

from pathlib import Path

import pytest
from fsspec.tests import abstract

from fscontract.implementations.fsspec_adapter import LocalFsspec, MemoryFsspec
from fscontract.implementations.memory import MemoryFileSystem


class MemoryFixtures(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self) -> MemoryFsspec:
        return MemoryFsspec(fs=MemoryFileSystem())

    @pytest.fixture
    def fs_path(self) -> str:
        return "/tests"


class LocalFixtures(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self, tmp_path: Path) -> LocalFsspec:
        return LocalFsspec(root=str(tmp_path / "root"))

    @pytest.fixture
    def fs_path(self) -> str:
        return "/tests"


class TestMemoryCopy(abstract.AbstractCopyTests, MemoryFixtures): ...


class TestMemoryGet(abstract.AbstractGetTests, MemoryFixtures): ...


class TestMemoryPut(abstract.AbstractPutTests, MemoryFixtures): ...


class TestMemoryOpen(abstract.AbstractOpenTests, MemoryFixtures): ...


class TestMemoryPipe(abstract.AbstractPipeTests, MemoryFixtures): ...


class TestLocalCopy(abstract.AbstractCopyTests, LocalFixtures): ...


class TestLocalGet(abstract.AbstractGetTests, LocalFixtures): ...


class TestLocalPut(abstract.AbstractPutTests, LocalFixtures): ...


class TestLocalOpen(abstract.AbstractOpenTests, LocalFixtures): ...


class TestLocalPipe(abstract.AbstractPipeTests, LocalFixtures): ...
