from __future__ import annotations

from pathlib import Path

import pytest

from fscontract.contract.api.filesystem import FileSystem
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem

#: Tests of behaviour that the fake changes on purpose; its own tests are in tests/fakes/filesystem.
NOT_OF_THE_FAKE = {
    "test_an_open_stream_keeps_the_version_it_opened": "a store of versions says that it is gone",
    "test_an_open_stream_outlives_its_file": "a store of versions says that it is gone",
    "test_a_new_one_has_read_nothing": "it has made a connection, as streams of local files have",
    "test_there_is_no_other_source": "there are replicas",
    "test_times_are_in_utc": "its clock does not know what time it is",
}


@pytest.fixture(params=["memory", "fake", "positioned", "portable"])
def fs(request: pytest.FixtureRequest, tmp_path: Path) -> FileSystem:
    """Each filesystem of this package, empty."""
    if request.param == "memory":
        return MemoryFileSystem()
    if request.param == "fake":
        if request.function.__name__ in NOT_OF_THE_FAKE:
            pytest.skip(NOT_OF_THE_FAKE[request.function.__name__])
        return FakeFileSystem(block_size=4096)
    return LocalFileSystem(str(tmp_path / "root"), strategy=request.param)


@pytest.fixture(params=["positioned", "portable"])
def local(request: pytest.FixtureRequest, tmp_path: Path) -> LocalFileSystem:
    """The local filesystem with each strategy, below `tmp_path / "root"`."""
    return LocalFileSystem(str(tmp_path / "root"), strategy=request.param)
