"""The pytest fixture of the fake filesystem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fscontract.fakes.filesystem.filesystem import FakeFileSystem


@pytest.fixture
def fake_filesystem(monkeypatch: pytest.MonkeyPatch) -> FakeFileSystem:
    """A new, empty FakeFileSystem; URLs that start with `fake://` lead to it during the test."""
    # pytest loads this module at start-up, for tests that have nothing to do with it, too.
    from fscontract.fakes.filesystem.asfsspec import FakeFsspec
    from fscontract.fakes.filesystem.filesystem import FakeFileSystem

    filesystem = FakeFileSystem()
    monkeypatch.setattr(FakeFsspec, "shared", filesystem)
    return filesystem
