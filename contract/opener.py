"""The port between programs and a builder of opens: what a binding adds for `open_file`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from fscontract.contract.opening import BuilderCall
from fscontract.contract.outcome import Outcome, raised


class NoScene(Exception):
    """The target has no way to put this at a path: the program can't be run on it."""


class Opener(ABC):
    """`open_file` of one filesystem, step by step, below the prefix that its binding made.

    The methods that stand for calls of the API let its exceptions through; `outcome` says what
    they mean.
    """

    #: What it can put at a path (a subset of SCENES).
    scenes: frozenset[str]
    #: The statuses that it can give to a builder (a subset of STATUSES).
    statuses: frozenset[str] = frozenset()
    #: Whether the API has I/O statistics, so that those a target lacks are missing.
    statistics = False

    @abstractmethod
    def place(self, scene: str, content: bytes) -> str:
        """Make the scene and return its path; NoScene, TargetError. "late" is made by `appear`."""

    @abstractmethod
    def appear(self, path: str, content: bytes) -> None:
        """Make the file at a path of the scene "late", or replace the one that is there."""

    @abstractmethod
    def status(self, path: str, kind: str, length: int | None) -> Any:
        """A status of a kind for the file at `path`; `length` replaces the true one."""

    @abstractmethod
    def open_file(self, path: str) -> Any:
        """A new builder."""

    def ready(self, path: str, call: BuilderCall) -> BuilderCall:
        """A call with a status in the place of its kind; NoScene if there is none of the kind."""
        if call[0] != "with_file_status":
            return call
        method, kind, length = call
        if kind == "none":
            return method, None
        if kind not in self.statuses:
            raise NoScene(kind)
        return method, self.status(path, kind, length)

    def call(self, builder: Any, call: BuilderCall) -> Any:
        """The builder after a call that is ready."""
        method, *args = call
        return getattr(builder, method)(*args)

    def build(self, builder: Any) -> Any:
        """What `build` returns."""
        return builder.build()

    def get(self, future: Any) -> Any:
        """The stream that the future gives, as the binding has opened streams."""
        return future.result()

    def outcome(self, error: Exception) -> Outcome:
        """What an exception of a call means."""
        return raised(error)

    def counters(self, opened: Any) -> Mapping[str, int]:
        """The I/O statistics of the filesystem and, unless None, of an opened stream by Hadoop's
        names; empty if the API has none."""
        return {}
