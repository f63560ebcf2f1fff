"""The model of a splitter accepts a right plan, and names the clause that a wrong one violates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.contract.models.splitter import Acceptor, Plan, Version, blocks_of


@dataclass(frozen=True)
class File:
    """The metadata of the file /d/f of 5 bytes in blocks of 2, of operator 3."""

    file_path: str = "/d/f"
    file_name: str = "f"
    relative_path: str = "d/f"
    file_length: int = 5
    is_directory: bool = False
    number_of_blocks: int = 3
    block_size: int = 2
    data_offset: int = 0
    block_ids: Sequence[int] = tuple(3 << 32 | n for n in range(3))
    etag: str | None = "one"
    modification_time: int | None = 7


@dataclass(frozen=True)
class Block:
    """The metadata of its first block."""

    block_id: int = 3 << 32
    offset: int = 0
    length: int = 2
    is_last_block: bool = False
    previous_block_id: int = -1
    file_path: str = "/d/f"
    file_length: int = 5
    etag: str | None = "one"
    modification_time: int | None = 7


FILE = File()
ONE = Block()
TWO = Block(3 << 32 | 1, 2, 4, False, 3 << 32)
THREE = Block(3 << 32 | 2, 4, 5, True, 3 << 32 | 1)
RIGHT = (FILE, ONE, TWO, THREE)
VERSIONS = {"/d/f": [Version(5, etag="one", modification_time=7)]}
PLAN = Plan(2, 100, 3, 0, VERSIONS)


def _broken(records: Sequence[Any], plan: Plan = PLAN, finish: bool = True) -> set[str]:
    acceptor = Acceptor(plan)
    acceptor.begin()
    for record in records:
        acceptor.see(record)
    if finish:
        acceptor.finish()
    return {one.clause for one in acceptor.violations}


def test_right_plan_is_accepted_and_exercises_its_clauses() -> None:
    acceptor = Acceptor(PLAN)
    acceptor.begin()
    for record in RIGHT:
        acceptor.see(record)
    acceptor.finish()
    assert acceptor.violations == []
    assert acceptor.exercised["split.cover"] > 3
    assert not acceptor.pending


def test_plan_may_continue_in_another_window() -> None:
    acceptor = Acceptor(replace(PLAN, threshold=1))
    for records in (RIGHT[:2], RIGHT[2:3], RIGHT[3:]):
        acceptor.begin()
        for record in records:
            acceptor.see(record)
    assert acceptor.violations == []


WRONG = [
    ("split.metadata-first", (ONE, FILE)),
    ("split.file-metadata", (replace(FILE, file_name="g"), *RIGHT[1:])),
    ("split.file-metadata", (replace(FILE, file_length=6), *RIGHT[1:])),
    ("split.uri", (replace(FILE, file_path="s3a://b/d/f"),)),
    ("split.version-kept", (replace(FILE, etag="two"),)),
    ("split.version-kept", (FILE, replace(ONE, modification_time=None))),
    ("split.block-size", (replace(FILE, block_size=3),)),
    ("split.block-size", (FILE, replace(ONE, length=1))),
    ("split.block-count", (replace(FILE, number_of_blocks=2),)),
    ("split.ids-listed", (replace(FILE, block_ids=(1, 2)),)),
    ("split.ids-listed", (FILE, replace(ONE, block_id=3 << 32 | 7))),
    ("split.ids-form", (FILE, replace(ONE, block_id=7))),
    ("split.ids-unique", (FILE, ONE, replace(TWO, block_id=ONE.block_id))),
    ("split.cover", (FILE, ONE, THREE)),
    ("split.cover", (FILE, ONE, TWO, replace(THREE, length=4))),
    ("split.cover", RIGHT[:3]),
    ("split.cover", (*RIGHT, THREE)),
    ("split.order", (FILE, TWO, ONE)),
    ("split.end-offset", (FILE, ONE, TWO, replace(THREE, length=1))),
    ("split.last-flag", (FILE, ONE, TWO, replace(THREE, is_last_block=False))),
    ("split.last-flag", (FILE, replace(ONE, is_last_block=True))),
    ("split.linked", (FILE, ONE, replace(TWO, previous_block_id=-1))),
    ("split.first-unlinked", (FILE, replace(ONE, previous_block_id=5))),
    ("split.block-file", (FILE, replace(ONE, file_path="/d/g"))),
    ("split.block-file-length", (FILE, replace(ONE, file_length=4))),
    ("split.data-offset", (replace(FILE, data_offset=1),)),
    ("split.pending-first", (FILE, ONE, FILE)),
]


@pytest.mark.parametrize(("clause", "records"), WRONG)
def test_wrong_record_violates_its_clause(clause: str, records: Sequence[Any]) -> None:
    """It may violate others: a wrong end of a block is a wrong start of the next."""
    assert clause in _broken(records)


def test_more_blocks_than_the_threshold_violate_threshold() -> None:
    assert _broken(RIGHT, replace(PLAN, threshold=2)) == {"split.threshold"}
    assert _broken(RIGHT, replace(PLAN, threshold=3)) == set()


def test_file_begun_in_a_full_window_violates_file_start() -> None:
    empty = replace(FILE, file_length=0, number_of_blocks=0, block_ids=())
    plan = replace(PLAN, threshold=3, versions={"/d/f": [*VERSIONS["/d/f"], Version(0)]})
    late = replace(empty, etag=None, modification_time=None)
    assert _broken((*RIGHT, late), plan) == {"split.file-start"}


@pytest.mark.parametrize("directory", [False, True])
def test_empty_file_and_directory_have_no_blocks(directory: bool) -> None:
    clause = "split.directory" if directory else "split.empty-file"
    plan = replace(PLAN, versions={"/d/f": [Version(0, directory, "one", 7)]})
    file = replace(FILE, file_length=0, is_directory=directory, number_of_blocks=0, block_ids=())
    assert _broken((file,), plan) == set()
    assert clause in _broken((replace(file, number_of_blocks=1),), plan)
    assert clause in _broken((file, replace(ONE, length=0, file_length=0)), plan)


@dataclass
class _Chain:
    """Two lives of one operator, the second of which begins in the middle of a file."""

    first: Acceptor = field(default_factory=lambda: Acceptor(PLAN))
    second: Acceptor = field(default_factory=lambda: Acceptor(PLAN))

    def see(self, *records: Any) -> set[str]:
        """Return the clauses that the second life violates."""
        for record in RIGHT[:2]:
            self.first.see(record)
        self.second.follow(self.first)
        for record in records:
            self.second.see(record)
        return {one.clause for one in self.second.violations}


def test_next_life_continues_with_the_next_block_or_repeats_one() -> None:
    assert _Chain().see(TWO, THREE) == set()
    assert _Chain().see(ONE, TWO) == set()


def test_id_used_for_another_block_in_the_next_life_violates_ids_unique() -> None:
    other = replace(FILE, file_path="/d/g", file_name="g", block_ids=FILE.block_ids)
    versions = {**VERSIONS, "/d/g": VERSIONS["/d/f"]}
    chain = _Chain(second=Acceptor(replace(PLAN, versions=versions)))
    assert chain.see(other, replace(ONE, file_path="/d/g")) == {"split.ids-unique"}


def test_block_of_an_unknown_file_violates_metadata_first() -> None:
    assert _Chain().see(replace(TWO, file_path="/d/g")) == {"split.metadata-first"}


@given(st.integers(0, 200), st.integers(1, 40), st.integers(0, 220))
def test_blocks_cover_the_file_behind_the_data_offset_once(
    length: int, size: int, offset: int
) -> None:
    found = list(blocks_of(length, size, offset))
    covered = [byte for start, end in found for byte in range(start, end)]
    assert covered == list(range(offset, length))
    assert all(start // size == (end - 1) // size for start, end in found)
