"""Tests of the filesystem cache of a worker; they need no Spark."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.spark.executor_reads import FileSystems, run
from fscontract.implementations.spark.failures import Failure
from fscontract.implementations.spark.locations import (
    FileLocation,
    InlineFile,
    InlineLocation,
    LocalLocation,
)


class Closing(LocalFileSystem):
    """A filesystem that records `close`."""

    closed = False

    def close(self) -> None:
        self.closed = True


@dataclass(frozen=True)
class Numbered(FileLocation):
    """A location identified by a number."""

    number: int
    made: list[Closing] = field(default_factory=list, compare=False)

    def make(self) -> Closing:
        self.made.append(Closing("/"))
        return self.made[-1]


class Broken(FileLocation):
    """A location whose filesystem can't be created."""

    def make(self) -> LocalFileSystem:
        raise OSError("can't create")


def test_location_has_one_filesystem() -> None:
    kept = FileSystems()
    with kept.lease(LocalLocation("/")) as first, kept.lease(LocalLocation("/")) as second:
        assert first is second


def test_least_recently_used_filesystems_are_closed() -> None:
    kept, places = FileSystems(maximum=2), [Numbered(n) for n in range(3)]
    for place in (places[0], places[1], places[0], places[2]):
        with kept.lease(place):
            pass
    assert [p.made[0].closed for p in places] == [False, True, False]
    assert len(kept) == 2


def test_filesystem_in_use_is_not_closed() -> None:
    """Even if many other filesystems are opened meanwhile."""
    kept, used = FileSystems(maximum=1), Numbered(0)
    with kept.lease(used) as filesystem:
        for number in range(1, 4):
            with kept.lease(Numbered(number)):
                pass
        assert kept.take(used) is filesystem
        assert not used.made[0].closed


def test_inline_file_is_not_cached() -> None:
    kept = FileSystems()
    with kept.lease(InlineLocation(InlineFile("/a"))):
        assert len(kept) == 0


def test_failed_creation_of_a_filesystem_is_retried() -> None:
    kept, place = FileSystems(), Broken()
    for _ in range(2):
        with pytest.raises(OSError, match="can't create"):
            kept.take(place)
    assert len(kept) == 0


def test_items_of_a_slice_fail_individually(tmp_path: Path) -> None:
    """Exceptions are returned as data, together with the other results."""
    (tmp_path / "1").touch()
    data = pickle.dumps((Path.exists, [tmp_path / "1", 5, tmp_path / "2"]))
    first, second, third = pickle.loads(run(data))
    assert (first, third) == ((True, True), (True, False))
    assert second[0] is False
    assert isinstance(second[1], Failure)
