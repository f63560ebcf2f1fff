"""Where a run's files are, as Hadoop sees them and as they are put there."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fscontract.implementations.bindings.stores import Store

#: The beginning of paths that no filesystem serves.
FOREIGN = "gopher://localhost"


class Place:
    """A Java FileSystem or FileContext, and the store that puts files where it sees them.

    Without a store nothing is written below `root`. `closes` are the FileSystems to close at the
    end.
    """

    profile = "hadoop"
    #: Whether an operation costs a round trip.
    remote = True
    #: Whether a file can be changed once it is there.
    changes = True

    def __init__(
        self, filesystem: Any, store: Store | None, closes: tuple[Any, ...] = (), root: str = ""
    ) -> None:
        self.store = store
        self.root = root if store is None else store.root
        self._filesystem = filesystem
        self._closes = closes

    def at(self, path: str) -> Any:
        """The FileSystem or FileContext that has the path."""
        return self._filesystem

    def file(self, prefix: str, number: int) -> str:
        """The path of a new file."""
        return f"{prefix}/{number:06d}"

    def absent(self, prefix: str, number: int) -> str:
        """A path where nothing is."""
        return self.file(prefix, number)

    def directory(self, prefix: str, number: int) -> str:
        """Make a directory and return its path."""
        path = self.file(prefix, number)
        assert self.store is not None
        self.store.make(path)
        return path

    def put_beside(self, path: str, content: bytes) -> None:
        """See to it that there is a file with these bytes at the path beside another."""
        assert self.store is not None
        self.store.write(path, content)

    @property
    def statistics_of(self) -> Any:
        """What may count the I/O of all streams."""
        return self._filesystem

    def close(self) -> None:
        """Close the FileSystems that are nobody else's."""
        for filesystem in self._closes:
            with suppress(Exception):
                filesystem.close()


class LocalPlace(Place):
    """A local directory."""

    remote = False

    def __init__(
        self, filesystem: Any, store: Store, profile: str, closes: tuple[Any, ...] = ()
    ) -> None:
        super().__init__(filesystem, store, closes)
        self.profile = profile

    def file(self, prefix: str, number: int) -> str:
        """The path of a new file, whose name nobody else has wherever it is moved."""
        return f"{prefix}/{prefix.rpartition('/')[2]}-{number:06d}"
