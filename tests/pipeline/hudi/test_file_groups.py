"""Tests of the file groups of a partition, and of the group of a key."""

from __future__ import annotations

import pytest

from fscontract.contract.api.filesystem import FileStatus
from fscontract.pipeline.hudi.file_groups import group_names, group_number, group_of
from fscontract.pipeline.hudi.timeline import COMPLETED, Instant, Timeline

GROUPS = [f"col-stats-000{number}-0" for number in range(3)]


@pytest.mark.parametrize(
    ("key", "number"),
    [
        ("", 0),
        ("a", 97 % 3),
        ("Aa", 2112 % 3),
        ("polygenelubricants", (1 << 31) % 3),  # Java's smallest integer
        ("\U0001f600", 1772899 % 3),  # two characters of Java
    ],
)
def test_group_of_a_key_is_javas_hash_modulo_the_groups(key: str, number: int) -> None:
    assert group_of(key, GROUPS) == GROUPS[number]


def test_every_key_belongs_to_the_only_group() -> None:
    assert group_of("any", GROUPS[:1]) == GROUPS[0]


def test_groups_are_in_order_and_without_failed_instants() -> None:
    timeline = Timeline([Instant("2" * 17, "deltacommit", COMPLETED, "3" * 17)])
    names = [
        f"col-stats-0010-0_0-0-0_{'2' * 17}.hfile",
        f".col-stats-0009-0_{'2' * 17}.log.1_0-0-0",
        f"col-stats-0011-0_0-0-0_{'4' * 17}.hfile",
        ".hoodie_partition_metadata",
    ]
    statuses = [FileStatus(f"/t/{name}", 1) for name in names]
    assert group_names(statuses, timeline) == ["col-stats-0009-0", "col-stats-0010-0"]


def test_group_without_a_number_is_recognised() -> None:
    assert group_number("group") == -1
