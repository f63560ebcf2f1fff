"""The filesystems that a worker keeps; no Spark is needed to see it."""

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
    """A filesystem that knows whether it was closed."""

    closed = False

    def close(self) -> None:
        self.closed = True


@dataclass(frozen=True)
class Numbered(FileLocation):
    """A place for each number."""

    number: int
    made: list[Closing] = field(default_factory=list, compare=False)

    def make(self) -> Closing:
        self.made.append(Closing("/"))
        return self.made[-1]


class Broken(FileLocation):
    """A place that can't be made."""

    def make(self) -> LocalFileSystem:
        raise OSError("no way")


def test_a_place_has_one_filesystem() -> None:
    kept = FileSystems()
    with kept.lease(LocalLocation("/")) as first, kept.lease(LocalLocation("/")) as second:
        assert first is second


def test_those_used_longest_ago_are_closed_when_there_are_too_many() -> None:
    kept, places = FileSystems(maximum=2), [Numbered(n) for n in range(3)]
    for place in (places[0], places[1], places[0], places[2]):
        with kept.lease(place):
            pass
    assert [p.made[0].closed for p in places] == [False, True, False]
    assert len(kept) == 2


def test_one_in_use_is_not_closed() -> None:
    """However many others come and go meanwhile."""
    kept, used = FileSystems(maximum=1), Numbered(0)
    with kept.lease(used) as filesystem:
        for number in range(1, 4):
            with kept.lease(Numbered(number)):
                pass
        assert kept.take(used) is filesystem
        assert not used.made[0].closed


def test_a_file_that_is_sent_along_is_not_kept() -> None:
    kept = FileSystems()
    with kept.lease(InlineLocation(InlineFile("/a"))):
        assert len(kept) == 0


def test_a_filesystem_that_can_not_be_made_is_tried_again() -> None:
    kept, place = FileSystems(), Broken()
    for _ in range(2):
        with pytest.raises(OSError, match="no way"):
            kept.take(place)
    assert len(kept) == 0


def test_each_item_of_a_slice_succeeds_or_fails_for_itself(tmp_path: Path) -> None:
    """An exception is data, so that the others' results come home."""
    (tmp_path / "1").touch()
    data = pickle.dumps((Path.exists, [tmp_path / "1", 5, tmp_path / "2"]))
    first, second, third = pickle.loads(run(data))
    assert (first, third) == ((True, True), (True, False))
    assert second[0] is False
    assert isinstance(second[1], Failure)
