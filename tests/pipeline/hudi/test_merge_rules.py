"""Tests of merge rules: which version of a record counts, in which tables."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.merge_rules import MergeRules, Version, merge_rules

MODE, PAYLOAD = "hoodie.record.merge.mode", "hoodie.compaction.payload.class"
PRECOMBINE, VERSION = "hoodie.table.precombine.field", "hoodie.table.version"
MODEL = "org.apache.hudi.common.model."
NAN = float("nan")


def version(*ordering: Any) -> Version:
    return Version(ordering, 0)


@pytest.mark.parametrize(
    ("later", "earlier", "expected"),
    [
        ((2,), (1,), True),
        ((1,), (1,), True),
        ((1,), (2,), False),
        ((0,), (None,), True),
        (("b",), ("a",), True),
        ((Decimal("1.5"),), (Decimal("1.25"),), True),
        ((1, 2), (1, 3), False),
        ((2, 0), (1, 3), True),
    ],
)
def test_the_larger_ordering_value_counts_and_the_later_one_of_equals(
    later: tuple[Any, ...], earlier: tuple[Any, ...], expected: bool
) -> None:
    rules = MergeRules(tuple("ab"[: len(later)]))
    assert rules.replaces(version(*later), version(*earlier)) is expected


@pytest.mark.parametrize(
    ("later", "earlier"), [(None, 1), ("a", 1), (NAN, 1.0), (1.0, NAN), (b"a", "a")]
)
def test_values_that_have_no_order_are_refused(later: Any, earlier: Any) -> None:
    with pytest.raises(ValueError, match="can't compare ordering values"):
        MergeRules(("a",)).replaces(version(later), version(earlier))


def test_deletions_without_ordering_value_count_and_are_replaced_by_any_later_version() -> None:
    rules, deletion = MergeRules(("a",)), Version(None, None)
    assert rules.replaces(deletion, version(9))
    assert rules.replaces(version(-1), deletion)


def test_without_ordering_fields_the_later_commit_counts() -> None:
    assert MergeRules().replaces(version(), version())


@pytest.mark.parametrize(
    ("properties", "fields"),
    [
        ({MODE: "EVENT_TIME_ORDERING"}, ("ts",)),
        ({MODE: "COMMIT_TIME_ORDERING"}, ()),
        ({}, ("ts",)),
        ({PAYLOAD: MODEL + "DefaultHoodieRecordPayload"}, ("ts",)),
        ({PAYLOAD: MODEL + "OverwriteWithLatestAvroPayload"}, ()),
        ({VERSION: "6", PAYLOAD: MODEL + "OverwriteWithLatestAvroPayload"}, ()),
        ({VERSION: "6", PAYLOAD: MODEL + "DefaultHoodieRecordPayload"}, ("ts",)),
        ({"hoodie.table.ordering.fields": "a, b"}, ("a", "b")),
        ({MODE: "EVENT_TIME_ORDERING", PRECOMBINE: ""}, ()),
        ({"hoodie.table.partial.update.mode": "NONE"}, ("ts",)),
    ],
)
def test_ordering_fields_follow_from_mode_and_payload_class(
    properties: dict[str, str], fields: tuple[str, ...]
) -> None:
    assert merge_rules("/t", {PRECOMBINE: "ts", **properties}).fields == fields


@pytest.mark.parametrize(
    "properties",
    [
        {MODE: "CUSTOM"},
        {PAYLOAD: "com.example.Sum"},
        {PAYLOAD: MODEL + "PartialUpdateAvroPayload", MODE: "EVENT_TIME_ORDERING"},
        {"hoodie.record.merge.strategy.id": "11111111-1111-1111-1111-111111111111"},
        {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"},
    ],
)
def test_other_rules_are_refused_by_name(properties: dict[str, str]) -> None:
    (name, value) = next(iter(properties.items()))
    with pytest.raises(MetadataException, match=f"unsupported {name}={value}"):
        merge_rules("/t", properties)


@pytest.mark.parametrize("prefix", ["", "hoodie.record.merge.property."])
def test_delete_markers_are_read_from_the_properties(prefix: str) -> None:
    field, marker = "hoodie.payload.delete.field", "hoodie.payload.delete.marker"
    rules = merge_rules("/t", {prefix + field: "Op", prefix + marker: "D"})
    assert (rules.delete_field, rules.delete_marker) == ("Op", "D")
