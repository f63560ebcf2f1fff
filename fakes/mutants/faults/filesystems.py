"""Correct filesystems whose requests fail by a plan, which mutants of faults derive from."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from fscontract.contract.binding import Binding
from fscontract.fakes.faulty_local import FaultyLocalFileSystem
from fscontract.fakes.filesystem.client import Client, FakeInputStream
from fscontract.fakes.filesystem.filesystem import FakeBinding, FakeFileSystem
from fscontract.implementations.local_stream import DEFAULT_BUFFER, LocalInputStream
from fscontract.implementations.openfile_builder import OpenOptions
from fscontract.implementations.targets import LocalBinding

#: How often the fake's client tries again.
RETRIES = 3


class StoredFiles(FakeFileSystem):
    """Files in a fake store, opened as streams of the class `stream` through a `client`."""

    def __init__(
        self,
        stream: type[FakeInputStream] = FakeInputStream,
        client: type[Client] = Client,
        retries: int = RETRIES,
    ) -> None:
        super().__init__()
        self._stream = stream
        self._client = client(self.store, retries)

    def _open(self, path: str, options: OpenOptions) -> FakeInputStream:
        return self._stream(path, self._client)


class DiskFiles(FaultyLocalFileSystem):
    """Files on this machine whose requests fail by a plan, opened as streams of `stream`."""

    stream: ClassVar[type[LocalInputStream]] = LocalInputStream

    def __init__(self) -> None:
        super().__init__(tempfile.gettempdir())

    def _open(self, path: str, options: OpenOptions) -> LocalInputStream:
        opener = partial(self._open_descriptor, path, self._follow(path), "normal")
        return self.stream(path, opener, DEFAULT_BUFFER)


def fault_binding(
    filesystem: StoredFiles | DiskFiles, kinds: Iterable[str] | None = None
) -> Binding:
    """Return a binding to the filesystem, to which faults of these kinds happen, or of any."""
    binding: Binding
    if isinstance(filesystem, StoredFiles):
        binding = FakeBinding(filesystem)
    else:
        binding = LocalBinding(filesystem)
        binding.injector = filesystem.injector
    if kinds is not None and binding.injector is not None:
        binding.injector.kinds = binding.injector.kinds & set(kinds)
    return binding
