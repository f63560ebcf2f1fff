"""Tests of changes written to instants and read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.changes import (
    CLEAN,
    RESTORE,
    ROLLBACK,
    WRITES,
    Change,
    below,
    decode_change,
    digest_of,
    encode_change,
)
from fscontract.pipeline.hudi.commit_metadata import encode_clean_plan
from fscontract.pipeline.hudi.io import MetadataException
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import Instant, TimelineWriter
from fscontract.pipeline.hudi.writer import MetadataWriter
from tests.pipeline.hudi.support import PATH, dataset, put, seen

TIME, OTHER = "20260601000000000", "20260501000000000"
NAMES = st.text("ab.-_% =é\U0001f600", min_size=1).filter(lambda name: name not in (".", ".."))
PARTITIONS = st.sampled_from(["", "day=1", "a/b=2"])
ADDED = st.dictionaries(PARTITIONS, st.dictionaries(NAMES, st.integers(0, 1 << 40), min_size=1))
DELETED = st.dictionaries(PARTITIONS, st.sets(NAMES, min_size=1))


@given(st.sampled_from(sorted(WRITES)), ADDED, DELETED)
def test_write_instant_has_added_and_deleted_files(
    action: str, added: dict[str, dict[str, int]], deleted: dict[str, set[str]]
) -> None:
    content = encode_change(action, TIME, Change(added, deleted), {"schema": "{}"})
    found = decode_change(action, content, "/instant")
    assert found.added == added
    assert {p: set(names) for p, names in found.deleted.items()} == deleted


@given(ADDED, DELETED)
def test_replacecommit_has_replaced_file_groups(
    added: dict[str, dict[str, int]], groups: dict[str, set[str]]
) -> None:
    """Also in the JSON of the first layout."""
    for layout in (1, 2):
        change = Change(added, replaced=groups)
        content = encode_change("replacecommit", TIME, change, {}, layout=layout)
        found = decode_change("replacecommit", content, "/instant")
        assert {p: set(names) for p, names in found.replaced.items()} == groups


def test_replaced_file_groups_of_another_type_are_damage() -> None:
    content = b'{"partitionToReplaceFileIds": {"p": "group"}}'
    with pytest.raises(MetadataException, match="invalid replaced file groups"):
        decode_change("replacecommit", content, "/instant")


def test_digest_differs_by_the_replaced_file_groups() -> None:
    assert digest_of(Change(replaced={"p": ["g"]})) != digest_of(Change())
    assert digest_of(Change(replaced={"p": []})) == digest_of(Change())


@given(DELETED)
def test_clean_rollback_and_restore_instants_have_deleted_files(
    deleted: dict[str, set[str]],
) -> None:
    for action, target in ((CLEAN, []), (ROLLBACK, [f"{OTHER}.commit"])):
        content = encode_change(action, TIME, Change(deleted=deleted), {}, target)
        assert decode_change(action, content, "/instant") == Change(deleted=deleted)
    targets = [f"{OTHER}.commit", f"{TIME}.deltacommit"]
    content = encode_change(RESTORE, TIME, Change(deleted=deleted), {}, targets)
    assert decode_change(RESTORE, content, "/instant") == Change(deleted=deleted)


def test_files_that_could_not_be_deleted_are_kept() -> None:
    change = Change(deleted={"a": {"gone"}})
    content = encode_change(CLEAN, TIME, change, {}, failed={"a": {"here"}, "b": {"too"}})
    found = decode_change(CLEAN, content, "/instant")
    assert {p: names for p, names in found.deleted.items() if names} == {"a": {"gone"}}


def test_unknown_action_changes_nothing() -> None:
    assert decode_change("savepoint", b"whatever", "/instant") == Change()


@pytest.mark.parametrize("action", ["commit", CLEAN, ROLLBACK, RESTORE])
def test_an_instant_that_is_damaged_is_named(action: str) -> None:
    with pytest.raises(MetadataException, match="can't read the instant") as caught:
        decode_change(action, b"no Avro", "/instant")
    assert caught.value.path == "/instant"


def test_reader_that_needs_a_damaged_instant_raises() -> None:
    """One that was completed without the table."""
    fs = MemoryFileSystem()
    dataset(fs)
    name = "20990101000000000_20990101000001000.commit"
    put(fs, f"{PATH}/.hoodie/timeline/{name}", b"no Avro")
    with pytest.raises(MetadataException) as caught:
        MetadataTable(fs, PATH)
    assert caught.value.path.endswith(name)


@pytest.mark.parametrize(
    ("partition", "name"), [("day=1", "../../x"), ("..", "x"), ("/etc", "x"), ("a", ""), ("a", ".")]
)
def test_a_name_that_leads_out_of_the_dataset_is_rejected(partition: str, name: str) -> None:
    with pytest.raises(MetadataException, match="must be below the dataset"):
        below(partition, name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change({"__all_partitions__": {"f": 1}}), "__all_partitions__/f"),
        (Change({".hoodie": {"f": 1}}), ".hoodie/f"),
        (Change({"a": {".hoodie_partition_metadata": 1}}), ".hoodie_partition_metadata"),
        (Change({"a": {"b/f": 1}}), "a/b/f"),
        (Change({"a": {"f": -1}}), "-1 bytes"),
        (Change({"a": {"\udcff": 1}}), "not valid text"),
        (Change({"..": {"f": 1}}), "must be below the dataset"),
        (Change(deleted={"a": {"b/f"}}), "a/b/f"),
    ],
)
def test_a_change_that_no_listing_would_show_is_rejected(change: Change, said: str) -> None:
    """Before anything is written; the action can be completed with another change."""
    fs = MemoryFileSystem()
    writer = dataset(fs)
    instant = writer.begin()
    with pytest.raises(MetadataException, match=said.replace("\\", ".")):
        writer.finish(instant, change)
    with pytest.raises(MetadataException, match=said.replace("\\", ".")):
        MetadataWriter(fs, "/other").bootstrap(change, "other")
    writer.finish(instant, Change({"a": {"f": 1}}))
    assert seen(fs)["a"] == {"f": 1}


def test_cleaning_outside_the_dataset_is_rejected() -> None:
    fs = MemoryFileSystem()
    with pytest.raises(MetadataException, match="must be below the dataset"):
        dataset(fs).clean({"..": {"elsewhere"}})


def test_foreign_plan_deletes_nothing_outside_the_dataset() -> None:
    """It is continued, as after a death, without the file."""
    fs = MemoryFileSystem()
    writer = dataset(fs)
    put(fs, "/elsewhere", b"abc")
    plan = encode_clean_plan({"..": {"elsewhere"}})
    TimelineWriter(fs, PATH).put(Instant("20260701000000000", "clean", "requested"), plan)
    assert [each.action for each in writer.recover()] == ["clean"]
    assert fs.get_file_status("/elsewhere").length == 3
