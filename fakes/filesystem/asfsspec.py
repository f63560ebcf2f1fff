"""The fake filesystem as the fsspec filesystem `fake://`."""

from __future__ import annotations

from typing import Any

from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.implementations.asfsspec import _View


class FakeFsspec(_View):
    """A FakeFileSystem: `fs`, or the one that the process shares, which a test may replace."""

    protocol = "fake"
    shared = FakeFileSystem()

    def __init__(self, fs: FakeFileSystem | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.fs = self.shared if fs is None else fs
