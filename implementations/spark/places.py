"""Where the files are that executors read, as small values that are sent to them.

A value tells how to make the filesystem. It holds no key and no open connection: the keys of S3
are looked for where the filesystem is made, in the environment, the files of AWS or a role.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote, urlsplit

from fscontract.contract.errors import IllegalArgumentException, UnsupportedOperationException
from fscontract.implementations.filesystem import ReferenceFileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.implementations.spark.shipped import Image, ShippedFileSystem, image_of

if TYPE_CHECKING:
    from fscontract.implementations.s3.config import S3Config


class Place(ABC):
    """How to make a filesystem, in this process or another one; equal ones make equal ones."""

    #: Whether a worker keeps the filesystem for tasks to come.
    kept: ClassVar[bool] = True

    @abstractmethod
    def make(self) -> ReferenceFileSystem:
        """A new filesystem."""

    def for_path(self, path: str) -> Place:
        """What has to be sent to read one path."""
        return self

    @property
    def pins(self) -> bool:
        """Whether a stream stays with the version that it began to read."""
        return True


@dataclass(frozen=True)
class LocalPlace(Place):
    """The files below `root`, which every executor sees at the same path."""

    root: str = "/"
    strategy: str | None = None

    def make(self) -> LocalFileSystem:
        """A new filesystem."""
        return LocalFileSystem(self.root, self.strategy)


@dataclass(frozen=True)
class S3Place(Place):
    """A bucket. A pickle has no keys: see S3Config."""

    config: S3Config

    def make(self) -> ReferenceFileSystem:
        """A new filesystem."""
        from fscontract.implementations.s3.filesystem import S3FileSystem

        return S3FileSystem.of(self.config)

    @property
    def pins(self) -> bool:
        """Not if streams are to follow a new version."""
        return self.config.on_change != "follow"


@dataclass(frozen=True)
class ShippedPlace(Place):
    """One file that is sent along."""

    kept: ClassVar[bool] = False
    image: Image

    def make(self) -> ShippedFileSystem:
        """A new filesystem."""
        return ShippedFileSystem(self.image)


class MemoryPlace(Place):
    """Files in the memory of this process, each of which is sent with the tasks that read it."""

    def __init__(self, filesystem: MemoryFileSystem | None = None) -> None:
        self._filesystem = filesystem or MemoryFileSystem()

    def make(self) -> MemoryFileSystem:
        """The filesystem, always the same one."""
        return self._filesystem

    def for_path(self, path: str) -> ShippedPlace:
        """The file as it is now."""
        return ShippedPlace(image_of(self._filesystem, path))

    def __reduce__(self) -> Any:
        raise UnsupportedOperationException(
            "files in memory are not sent all together: pickle a stream, or a builder"
        )


def place_of(inner: Any, options: Mapping[str, Any] | None = None) -> Place:
    """The place that a URL, one of our filesystems, or an S3Config stands for.

    URLs are `memory:`, `file:///directory` and `s3://bucket`, whose `options` are those of S3.
    IllegalArgumentException for anything else.
    """
    if options and not str(inner).startswith("s3://"):
        raise IllegalArgumentException("options are for the URL of a bucket")
    if isinstance(inner, Place):
        return inner
    if isinstance(inner, str):
        return _of_url(inner, options or {})
    if isinstance(inner, MemoryFileSystem):
        return MemoryPlace(inner)
    if isinstance(inner, LocalFileSystem):
        return LocalPlace(inner.root, inner.strategy)
    config = getattr(inner, "config", inner)  # of an S3FileSystem, whose module may not be loaded
    if type(config).__name__ == "S3Config":
        return S3Place(config)
    raise IllegalArgumentException(f"no place that executors can read: {type(inner).__name__}")


def _of_url(url: str, options: Mapping[str, Any]) -> Place:
    parts = urlsplit(url)
    if parts.scheme == "memory" and not parts.netloc and parts.path in ("", "/"):
        return MemoryPlace()
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        return LocalPlace(unquote(parts.path))
    bare = not (parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme == "s3" and parts.netloc and bare and parts.path in ("", "/"):
        from fscontract.implementations.s3.config import S3Config

        return S3Place(S3Config.of(parts.netloc, options))
    raise IllegalArgumentException(
        f"{parts.scheme or 'no scheme'}: executors read memory:, file:///directory and s3://bucket"
    )
