"""The named target of the fake filesystem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fscontract.contract.binding import Binding, TargetError
from fscontract.fakes.filesystem.filesystem import FakeFileSystem
from fscontract.implementations.targets import ReferenceBinding, check_options

#: Small, so that files of the suite have several blocks.
BLOCK_SIZE = 4096


class FakeBinding(ReferenceBinding):
    """The binding to a fake filesystem; changes files behind its back, and so without requests."""

    default_profile: ClassVar[str] = "fake"

    def __init__(self, filesystem: FakeFileSystem) -> None:
        super().__init__(filesystem, "fake")
        self.injector = filesystem.injector
        self._fake = filesystem

    def change(self, path: str, content: bytes | None) -> None:
        """Replace the file under the streams that have it open, or delete it."""
        if content is None:
            self._fake.remove(path)
        else:
            self._fake.write(path, content)


def fake(options: Mapping[str, str]) -> Binding:
    """The fake filesystem, with blocks of 4096 bytes.

    Option `replicas` is how many copies of each block there are, 3 by default. TargetError for
    other options and values.
    """
    check_options("fake", options, ("replicas",))
    text = options.get("replicas", "3")
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= 100):
        raise TargetError(f"fake: replicas is a number from 1 to 100, not {text!r:.40}")
    return FakeBinding(FakeFileSystem(block_size=BLOCK_SIZE, replicas=int(text)))
