"""Tests of snapshot queries on tables written here, also against a model and hudi-rs."""

from __future__ import annotations

import io
import itertools
import json
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import fastavro
import hudi
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fscontract.contract.api.errors import FileNotFoundException
from fscontract.contract.api.filesystem import FileSystem
from fscontract.implementations.local import LocalFileSystem
from fscontract.implementations.memory import MemoryFileSystem
from fscontract.pipeline.hudi.commit_metadata import encode_clean, encode_commit
from fscontract.pipeline.hudi.io import (
    CorruptFileException,
    MetadataException,
    read_file,
    write_file,
)
from fscontract.pipeline.hudi.log import HFILE, INSTANT, LogBlock, encode_log, rollback_block
from fscontract.pipeline.hudi.schema import CLEAN
from fscontract.pipeline.hudi.snapshot import META_FIELDS, base_files, read
from fscontract.pipeline.hudi.timeline import COMPLETED, Instant
from tests.pipeline.hudi.row_tables import (
    FIELDS,
    GROUP,
    PATH,
    ROW,
    Row,
    RowTable,
    archive,
    avro_block,
    delete_block,
    parquet,
    parquet_block,
    time,
)

BASE: list[Row] = [("a", 1, "a1"), ("b", 1, "b1"), ("c", 5, "c5")]
OTHER = GROUP.replace("0", "1", 1)


def with_base(version: int = 9, properties: dict[str, str] | None = None) -> RowTable:
    """Return a table whose first commit wrote a base file."""
    table = RowTable(version, properties=properties)
    table.base(table.complete(1), BASE)
    return table


def clean_content(retained: str) -> bytes:
    """Return a clean that deleted a file, and kept files of instants since `retained`."""
    content = io.BytesIO(encode_clean(time(2), {"": ["old.parquet"]}, {}))
    (clean,) = fastavro.reader(content)
    assert isinstance(clean, dict)
    out = io.BytesIO()
    fastavro.writer(out, CLEAN, [clean | {"earliestCommitToRetain": retained}])
    return out.getvalue()


def replace_commit(*groups: str) -> bytes:
    """Return the content of a replacecommit in JSON."""
    return json.dumps({"partitionToReplaceFileIds": {"": list(groups)}}).encode()


def test_read_merges_inserts_updates_and_deletes_of_logs() -> None:
    table = with_base()
    second, third = table.complete(2), table.complete(3)
    table.log(second, avro_block(second, [("a", 2, "a2"), ("d", 1, "d1")]))
    table.log(third, parquet_block(third, [("e", 1, "e1")]), delete_block(third, {"b": None}))
    assert table.rows() == [("a", 2, "a2"), ("c", 5, "c5"), ("d", 1, "d1"), ("e", 1, "e1")]


def test_read_yields_a_table_for_each_file_slice_with_the_schema_of_the_table() -> None:
    table = with_base()
    table.base(table.complete(2), [("z", 1, "z1")], OTHER)
    first, second = read(table.fs, PATH)
    assert first.schema == second.schema
    assert first.schema.names == [*META_FIELDS, "id", "ts", "value", "_hoodie_is_deleted"]
    assert (first.num_rows, second.num_rows) == (3, 1)
    assert second["_hoodie_commit_time"].to_pylist() == [time(2)]


def test_read_of_a_table_without_rows_yields_an_empty_table() -> None:
    (rows,) = read(RowTable().fs, PATH, columns=["ts"])
    assert rows.schema == pa.schema([("ts", pa.int64())])
    assert rows.num_rows == 0


def test_read_optimised_ignores_logs_and_file_slices_without_base_file() -> None:
    table = with_base()
    second = table.complete(2)
    table.log(second, avro_block(second, [("a", 2, "a2")]))
    table.log(second, avro_block(second, [("z", 1, "z1")]), group=OTHER)
    assert table.rows(mode="read-optimised") == BASE
    assert table.state() == {"a": "a2", "b": "b1", "c": "c5", "z": "z1"}


def test_columns_that_only_the_merge_needs_are_not_returned() -> None:
    table = with_base()
    second = table.complete(2)
    table.log(second, avro_block(second, [("c", 4, "late"), ("a", 2, "a2")]))
    assert table.rows(columns=["value"]) == [("a2",), ("b1",), ("c5",)]


def test_files_of_pending_instants_are_ignored() -> None:
    table = with_base()
    pending = table.pending(2)
    table.log(pending, avro_block(pending, [("a", 9, "never")]))
    table.base(pending, [("z", 1, "never")])
    assert table.rows() == BASE


@pytest.mark.parametrize("is_complete", [False, True])
def test_logs_count_since_the_last_completed_compaction(is_complete: bool) -> None:
    table = with_base()
    second = table.complete(2)
    table.log(second, avro_block(second, [("a", 2, "in the base file, too")]))
    third = table.complete(3, "commit") if is_complete else table.pending(3, "compaction")
    table.base(third, [("a", 2, "compacted")])
    fourth = table.complete(4)
    table.log(fourth, avro_block(fourth, [("b", 2, "b2")]))
    compacted = {"a": "compacted", "b": "b2"}
    merged = {"a": "in the base file, too", "b": "b2", "c": "c5"}
    assert table.state() == (compacted if is_complete else merged)


def test_as_of_ignores_later_instants_and_their_base_files() -> None:
    table = with_base()
    second = table.complete(2)
    table.log(second, avro_block(second, [("a", 2, "a2")]))
    table.base(table.complete(3, "commit"), [("a", 2, "compacted")])
    assert table.rows(as_of=time(1)) == BASE
    assert table.state(as_of=time(2)) == {"a": "a2", "b": "b1", "c": "c5"}
    assert table.state(as_of=time(3)) == {"a": "compacted"}


def test_replaced_file_groups_are_left_out_from_the_replacement_on() -> None:
    table = with_base()
    table.base(table.complete(2, "replacecommit", replace_commit(GROUP)), [("z", 1, "z1")], OTHER)
    assert table.state() == {"z": "z1"}
    assert table.rows(as_of=time(1)) == BASE


def test_base_files_are_those_of_the_latest_file_slices() -> None:
    table = with_base()
    other, pending = table.base(time(1), [("z", 1, "z1")], OTHER), table.pending(3)
    table.base(pending, [("z", 9, "never")], OTHER)
    second = table.complete(2)
    latest = table.base(second, BASE)
    table.log(second, avro_block(second, [("y", 1, "y1")]), group=GROUP.replace("0", "2", 1))
    files = base_files(table.fs, PATH)
    assert [status.path for status in files] == [latest, other]
    assert [status.length for status in files] == [
        len(read_file(table.fs, path)) for path in (latest, other)
    ]
    first = f"{PATH}/{GROUP}_0-1-0_{time(1)}.parquet"
    assert [each.path for each in base_files(table.fs, PATH, as_of=time(1))] == [first, other]
    table.complete(4, "replacecommit", replace_commit(GROUP))
    assert [each.path for each in base_files(table.fs, f"{PATH}/")] == [other]
    with pytest.raises(FileNotFoundException, match="partition not found: 'day=1'"):
        base_files(table.fs, PATH, partitions=["day=1"])


def test_a_pending_replacement_replaces_nothing() -> None:
    table = with_base()
    table.base(table.pending(2, "clustering"), [("z", 1, "z1")], OTHER)
    assert table.rows() == BASE


@pytest.mark.parametrize(
    ("retained", "is_refused"), [(time(1), False), ("", True), (time(3), True)]
)
def test_as_of_before_a_clean_is_refused_if_files_were_deleted(
    retained: str, is_refused: bool
) -> None:
    table = with_base()
    table.complete(2, "clean", clean_content(retained))
    if is_refused:
        with pytest.raises(MetadataException, match=f"instant {time(1)} was cleaned"):
            table.rows(as_of=time(1))
    assert table.rows(as_of=time(3)) == BASE
    assert is_refused or table.rows(as_of=time(1)) == BASE


def test_a_savepoint_does_not_hide_the_action_of_its_time() -> None:
    table = with_base()
    replaced = table.complete(2, "replacecommit", replace_commit(GROUP))
    table.base(replaced, [("z", 1, "z1")], OTHER)
    for number, end in ((1, 8), (2, 9)):
        savepoint = Instant(time(number), "savepoint", COMPLETED, time(end))
        write_file(table.fs, f"{PATH}/{savepoint.path}", b"")
    assert table.state() == {"z": "z1"}


def test_commits_archived_after_a_clean_that_was_not_are_visible() -> None:
    table = RowTable()
    table.complete(1, "clean", clean_content(time(1)))
    table.base(time(2), BASE)
    table.base(table.complete(3), [("z", 1, "z1")], OTHER)
    assert set(table.state()) == {"a", "b", "c", "z"}


def test_as_of_before_the_timeline_is_refused() -> None:
    with pytest.raises(MetadataException, match="older than the timeline"):
        with_base().rows(as_of=time(0))


def test_logs_of_version_6_are_named_after_their_base_file_and_hold_several_instants() -> None:
    table = with_base(6)
    second, failed, fourth = table.complete(2), time(3), table.complete(4)
    table.log(
        time(1),
        avro_block(second, [("a", 2, "a2")]),
        avro_block(failed, [("b", 9, "never")]),
        rollback_block(fourth, failed),
        avro_block(fourth, [("b", 2, "b2")]),
    )
    table.log(time(1), delete_block(fourth, {"c": 5}), version=2)
    assert table.state() == {"a": "a2", "b": "b2"}
    assert table.state(as_of=second) == {"a": "a2", "b": "b1", "c": "c5"}


def test_a_rollback_block_removes_earlier_blocks_of_its_target_only() -> None:
    table = with_base(6)
    second, third = table.complete(2), table.complete(3)
    table.log(
        time(1),
        avro_block(second, [("a", 7, "rolled back")]),
        rollback_block(third, second),
        avro_block(second, [("a", 2, "again")]),
    )
    assert table.state()["a"] == "again"


def test_logs_of_version_6_after_a_pending_compaction_are_merged() -> None:
    table = with_base(6)
    second = table.complete(2)
    table.log(time(1), avro_block(second, [("a", 2, "a2")]))
    compaction, fourth = table.pending(3, "compaction"), table.complete(4)
    table.log(compaction, avro_block(fourth, [("b", 2, "b2")]))
    assert table.state() == {"a": "a2", "b": "b2", "c": "c5"}


def test_columns_that_a_commit_added_are_null_in_older_files() -> None:
    table = RowTable()
    table.base(table.complete(1, content=CONTENT), BASE)
    further = [*FIELDS, {"name": "later", "type": ["null", "int"], "default": None}]
    schema = json.dumps({**ROW, "fields": further})
    table.base(
        table.complete(2, content=encode_commit([], "UPSERT", {"schema": schema})), BASE, OTHER
    )
    assert table.rows(columns=["id", "later"])[0] == ("a", None)
    with pytest.raises(ValueError, match="unknown column 'later'"):
        table.rows(columns=["later"], as_of=time(1))


def test_partitions_are_directories_below_the_table() -> None:
    table = with_base()
    second = table.complete(2)
    for day in ("day=1", "day=2"):
        content = encode_log([avro_block(second, [(day, 1, day)])])
        write_file(table.fs, f"{PATH}/{day}/.{OTHER}_{second}.log.1_0-1-0", content)
    assert table.state(partitions=["day=2/"]) == {"day=2": "day=2"}
    assert set(table.state()) == {"a", "b", "c", "day=1", "day=2"}
    with pytest.raises(FileNotFoundException, match="partition not found: 'day=3'"):
        table.rows(partitions=["day=3"])


def test_keys_are_those_of_the_only_key_field_without_meta_fields() -> None:
    table = with_base(properties={"hoodie.populate.meta.fields": "false"})
    second = table.complete(2)
    table.log(second, avro_block(second, [("a", 2, "a2")]), delete_block(second, {"b": None}))
    assert table.state() == {"a": "a2", "c": "c5"}
    assert next(read(table.fs, PATH)).schema.names == ["id", "ts", "value", "_hoodie_is_deleted"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "newest"}, "unknown mode 'newest'; must be one of snapshot, read-optimised"),
        ({"as_of": "2026-01-01"}, "invalid instant '2026-01-01'; must be 17 digits"),
        ({"partitions": ["../other"]}, "invalid partition '../other'; must be a path below"),
        ({"partitions": [".hoodie/metadata"]}, "invalid partition"),
        ({"columns": []}, "columns must have at least one name"),
        ({"columns": ["rider"]}, "unknown column 'rider'; must be one of _hoodie_commit_time, "),
    ],
)
def test_invalid_options_raise_at_the_call(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(with_base().fs, PATH, **options)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"hoodie.table.version": "7"}, "unsupported table version 7: must be 6, 8 or 9"),
        ({"hoodie.datasource.write.drop.partition.columns": "true"}, "drop.partition.columns=true"),
        ({"hoodie.bootstrap.base.path": "/old"}, "hoodie.bootstrap.base.path=/old"),
        ({"hoodie.timeline.path": "elsewhere"}, "hoodie.timeline.path=elsewhere"),
        ({"hoodie.table.create.schema": ""}, "no commit has a schema"),
        ({"hoodie.table.create.schema": '{"type": "int"}'}, "can't read the table's schema"),
    ],
)
def test_tables_that_need_more_than_their_files_are_refused(
    properties: dict[str, str], message: str
) -> None:
    with pytest.raises(MetadataException, match=message):
        read(RowTable(properties=properties).fs, PATH)


def test_a_missing_table_raises_file_not_found_error() -> None:
    with pytest.raises(FileNotFoundError, match=r"hoodie\.properties"):
        read(MemoryFileSystem(), PATH)


def test_evolution_of_the_schema_on_read_is_refused() -> None:
    table = with_base()
    commit = encode_commit([], "ALTER_SCHEMA", {"schema": json.dumps(ROW), "latest_schema": "{}"})
    table.complete(2, "commit", commit)
    with pytest.raises(MetadataException, match="evolution of its schema on read"):
        table.rows()


def test_a_replacement_without_replaced_file_groups_is_refused() -> None:
    table = with_base()
    table.complete(2, "replacecommit", b"{}")
    with pytest.raises(MetadataException, match="invalid replaced file groups"):
        table.rows()


def test_a_custom_payload_is_refused_only_where_records_are_merged() -> None:
    table = with_base(properties={"hoodie.compaction.payload.class": "com.example.Sum"})
    assert table.rows() == BASE
    second = table.complete(2)
    path = table.log(second, avro_block(second, [("a", 2, "a2")]))
    with pytest.raises(MetadataException, match=r"payload\.class=com\.example\.Sum") as raised:
        table.rows()
    assert path in str(raised.value)
    assert table.rows(mode="read-optimised") == BASE


def test_an_unsupported_block_is_refused_only_if_its_instant_is_visible() -> None:
    table = with_base()
    second = table.complete(2)
    path = table.log(second, LogBlock(HFILE, {INSTANT: second}, b""))
    assert table.rows(as_of=time(1)) == BASE
    with pytest.raises(MetadataException, match="unsupported HFile data block") as raised:
        table.rows()
    assert path in str(raised.value)


def test_a_torn_log_of_a_completed_instant_is_damage() -> None:
    table = with_base()
    second = table.complete(2)
    path = table.log(second, avro_block(second, [("a", 2, "a2")]))
    content = encode_log([avro_block(second, [("a", 2, "a2")])])[:-1]
    write_file(table.fs, path, content, replace=True)
    with pytest.raises(CorruptFileException, match="incomplete log block"):
        table.rows()


def test_base_files_of_other_formats_are_refused() -> None:
    table = with_base()
    write_file(table.fs, f"{PATH}/{OTHER}_0-1-0_{table.complete(2)}.orc", b"")
    with pytest.raises(MetadataException, match=r"must be Parquet or Lance: '/rows/1.*\.orc'"):
        table.rows()


def test_a_damaged_base_file_is_named() -> None:
    table = with_base()
    path = table.base(table.complete(2), BASE, OTHER)
    write_file(table.fs, path, b"PAR1" * 10, replace=True)
    with pytest.raises(CorruptFileException, match=OTHER):
        table.rows()


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.sampled_from([0, 1, 2]), st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_in_a_block_raises_no_other_exception(
    kind: int, position: int, change: int
) -> None:
    table = with_base()
    second = table.complete(2)
    blocks = [
        avro_block(second, [("a", 2, "a2"), ("d", 1, None)]),
        parquet_block(second, [("a", 2, "a2"), ("d", 1, None)]),
        delete_block(second, {"a": 7, "b": None}),
    ]
    content = bytearray(blocks[kind].content)
    content[position % len(content)] ^= change
    table.log(second, replace(blocks[kind], content=bytes(content)))
    with suppress(MetadataException):
        table.rows()


@pytest.mark.parametrize("is_log", [False, True])
def test_text_that_is_not_utf8_is_damage(is_log: bool) -> None:
    table = with_base()
    second, text = table.complete(2), "long enough to be found"
    rows: list[Row] = [("z", 1, text)]
    if is_log:
        block = parquet_block(second, rows)
        damaged = block.content.replace(text.encode(), b"\xff" + text[1:].encode())
        path = table.log(second, replace(block, content=damaged))
    else:
        path = table.base(second, rows, OTHER)
        damaged = read_file(table.fs, path).replace(text.encode(), b"\xff" + text[1:].encode())
        write_file(table.fs, path, damaged, replace=True)
    with pytest.raises(MetadataException, match=path):
        table.rows()


@dataclass
class Model:
    """A dictionary of versions of the base file and of the logs since, and the versions before.

    The last version of the logs is compared with the base file, as Hudi does it.
    """

    base: dict[str, tuple[int, str]] = field(default_factory=dict)
    logs: dict[str, tuple[int | None, str | None]] = field(default_factory=dict)

    def put(self, key: str, ts: int | None, value: str | None) -> None:
        """Apply a change of a log."""
        known = self.logs.get(key)
        if known is None or ts is None or known[0] is None or ts >= known[0]:
            self.logs[key] = (ts, value)

    def state(self) -> dict[str, tuple[int, str]]:
        """Return ordering value and value of each row."""
        merged = dict(self.base)
        for key, (ts, value) in self.logs.items():
            if ts is None or key not in merged or ts >= merged[key][0]:
                merged.pop(key, None)
                if value is not None and ts is not None:
                    merged[key] = (ts, value)
        return merged


KEYS = st.sampled_from("abcd")
ORDERINGS = st.integers(1, 4)
CHANGES = st.dictionaries(KEYS, ORDERINGS, min_size=1, max_size=3)
WRITES = ["avro", "parquet", "flag", "delete", "natural", "pending", "compact"]
STEPS = st.tuples(st.sampled_from(WRITES), CHANGES)


def play(table: RowTable, steps: list[tuple[str, dict[str, int]]]) -> dict[str, tuple[int, str]]:
    """Write a history, and return the rows that the model expects."""
    model = Model()
    for number, (step, changes) in enumerate(steps, 1):
        if step == "compact":
            model = Model(model.state())
            rows = [(key, ts, value) for key, (ts, value) in model.base.items()]
            table.base(table.complete(number, "commit", CONTENT), rows)
            continue
        is_pending = step == "pending"
        instant = table.pending(number) if is_pending else table.complete(number, content=CONTENT)
        if step in ("delete", "natural"):
            deleted = {key: ts if step == "delete" else None for key, ts in changes.items()}
            table.log(instant, delete_block(instant, deleted))
            for key, ordering in deleted.items():
                model.put(key, ordering, None)
            continue
        value = None if step == "flag" else f"v{number}"
        write = parquet_block if step == "parquet" else avro_block
        table.log(instant, write(instant, [(key, ts, value) for key, ts in changes.items()]))
        for key, ts in changes.items():
            if not is_pending:
                model.put(key, ts, value)
    return model.state()


CONTENT = encode_commit([], "UPSERT", {"schema": json.dumps(ROW)})


def states(table: RowTable) -> dict[str, tuple[int, str]]:
    """Return ordering value and value of each row that a snapshot has."""
    return {key: (ts, value) for key, ts, value in table.rows()}


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.lists(STEPS, max_size=8))
def test_snapshot_of_any_history_equals_a_model(steps: list[tuple[str, dict[str, int]]]) -> None:
    table = RowTable()
    assert play(table, steps) == states(table)


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(st.lists(STEPS, min_size=1, max_size=6))
def test_snapshot_of_any_history_equals_that_of_hudi_rs(
    steps: list[tuple[str, dict[str, int]]],
) -> None:
    with tempfile.TemporaryDirectory() as root:
        fs: FileSystem = LocalFileSystem(root, durable=False)
        table = RowTable(fs=fs)
        play(table, steps)
        batches = hudi.HudiTableBuilder.from_base_uri(root + PATH).build().read()
        rows = [row for batch in batches for row in batch.to_pylist()]
        assert {row["id"]: (row["ts"], row["value"]) for row in rows} == states(table)


FIRST = "0" * 17


def completed(number: int) -> str:
    """Return the completion time of an instant of a RowTable."""
    return time(number)[:-3] + "500"


def updated(version: int = 9) -> RowTable:
    """Return a table with a base file, and a log that updates one row, deletes one and adds one."""
    table = with_base(version)
    second = table.complete(2)
    blocks = avro_block(second, [("a", 2, "a2"), ("d", 1, "d1")]), delete_block(second, {"b": None})
    table.log(second if version >= 8 else time(1), *blocks)
    return table


@pytest.mark.parametrize("version", [6, 9])
def test_rows_are_those_that_commits_after_begin_wrote(version: int) -> None:
    table = updated(version)
    begin = time(1) if version < 8 else completed(1)
    assert table.rows(begin=begin) == [("a", 2, "a2"), ("d", 1, "d1")]
    assert table.rows(begin=FIRST) == [("a", 2, "a2"), ("c", 5, "c5"), ("d", 1, "d1")]
    assert table.rows(begin=completed(2)) == []


def test_rows_are_those_of_the_state_at_the_end() -> None:
    table = updated()
    assert table.rows(begin=FIRST, end=completed(1)) == BASE
    assert table.rows(begin=completed(1), end=completed(1)) == []


def test_completion_times_decide_and_begin_is_excluded() -> None:
    table = updated()
    assert table.rows(begin=time(2), end=completed(2)) == [("a", 2, "a2"), ("d", 1, "d1")]
    assert table.rows(begin=completed(1), end=time(2)) == []


def test_a_commit_that_began_earlier_and_completed_later_is_in_the_interval() -> None:
    table = RowTable()
    slow = Instant(time(1), "deltacommit", COMPLETED, completed(3))
    write_file(table.fs, f"{PATH}/{slow.path}", b"{}")
    table.base(time(1), [("slow", 1, "s")])
    table.base(table.complete(2), [("fast", 1, "f")], OTHER)
    assert table.rows(begin=completed(2)) == [("slow", 1, "s")]
    assert table.rows(begin=FIRST, end=completed(2)) == [("fast", 1, "f")]


def test_rows_of_a_compaction_keep_the_commit_that_wrote_them() -> None:
    table = updated()
    third = table.complete(3, "commit")
    path = f"{PATH}/{GROUP}_0-1-0_{third}.parquet"
    write_file(table.fs, path, parquet([("a", 2, "a2")], time(2)))
    assert table.rows(begin=completed(1)) == [("a", 2, "a2")]
    assert table.rows(begin=completed(2)) == []


def test_file_slices_without_later_files_are_not_read() -> None:
    table = with_base()
    table.base(table.complete(2), [("z", 1, "z1")], OTHER)
    write_file(table.fs, f"{PATH}/{GROUP}_0-1-0_{time(1)}.parquet", b"damaged", replace=True)
    assert table.rows(begin=completed(1)) == [("z", 1, "z1")]
    with pytest.raises(MetadataException, match=GROUP):
        table.rows(begin=FIRST)


def test_read_optimised_queries_ignore_logs() -> None:
    table = updated()
    assert table.rows(begin=FIRST, mode="read-optimised") == BASE
    assert table.rows(begin=completed(1), mode="read-optimised") == []


def test_rows_of_a_replaced_file_group_count_until_its_replacement() -> None:
    table = with_base()
    table.base(table.complete(2, "replacecommit", replace_commit(GROUP)), [("z", 1, "z1")], OTHER)
    assert table.rows(begin=FIRST) == [("z", 1, "z1")]
    assert table.rows(begin=FIRST, end=completed(1)) == BASE


def test_an_end_before_a_clean_is_refused_if_files_were_deleted() -> None:
    table = updated()
    table.complete(3, "clean", clean_content(time(3)))
    with pytest.raises(MetadataException, match=f"instant {completed(1)} was cleaned"):
        table.rows(begin=FIRST, end=completed(1))
    assert table.rows(begin=FIRST, end=completed(2)) == table.rows(begin=FIRST)


def test_a_clean_that_kept_the_state_at_the_end_is_accepted() -> None:
    table = updated()
    table.complete(3, "clean", clean_content(time(2)))
    assert table.rows(begin=FIRST, end=completed(1)) == BASE


def test_rows_of_archived_commits_are_refused_unless_begin_is_later() -> None:
    table = RowTable()
    table.base(time(1), BASE)
    table.complete(2)
    table.base(table.complete(3), [("z", 1, "z1")], OTHER)
    with pytest.raises(MetadataException, match=f"completion time of {time(1)} was archived") as e:
        table.rows(begin=FIRST)
    assert f"begin must be {time(2)} or later" in str(e.value)
    assert table.rows(begin=time(2)) == [("z", 1, "z1")]


def test_the_history_has_the_completion_times_of_archived_commits() -> None:
    table = RowTable()
    table.base(time(1), BASE)
    table.base(table.complete(2), [("z", 1, "z1")], OTHER)
    archive(table, {time(1): completed(1)})
    assert table.rows(begin=FIRST) == [*BASE, ("z", 1, "z1")]
    assert table.rows(begin=completed(1)) == [("z", 1, "z1")]
    assert table.rows(begin=time(1), end=time(2)) == BASE


def test_archived_commits_before_version_8_need_no_history() -> None:
    table = RowTable(6)
    table.base(time(1), BASE)
    table.base(table.complete(2), [("z", 1, "z1")], OTHER)
    assert table.rows(begin=FIRST) == [*BASE, ("z", 1, "z1")]
    assert table.rows(begin=time(1)) == [("z", 1, "z1")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"begin": "yesterday"}, "invalid instant 'yesterday'; must be 17 digits"),
        ({"end": time(1)}, "missing begin"),
        ({"begin": time(2), "end": time(1)}, f"end {time(1)} must not be before begin {time(2)}"),
        ({"begin": time(1), "as_of": time(1)}, "as_of is for snapshots"),
    ],
    ids=["instant", "end alone", "order", "as_of"],
)
def test_invalid_intervals_raise_value_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_base().rows(**options)


def test_tables_without_commit_times_are_refused() -> None:
    table = with_base(properties={"hoodie.populate.meta.fields": "false"})
    with pytest.raises(MetadataException, match="rows have no _hoodie_commit_time"):
        table.rows(begin=FIRST)


def test_an_end_before_the_timeline_is_refused() -> None:
    with pytest.raises(MetadataException, match="older than the timeline"):
        with_base().rows(begin=FIRST, end=time(0))


def written_in(steps: list[tuple[str, dict[str, int]]], begin: int) -> set[tuple[str, int, str]]:
    """Return the rows after some steps whose commit is one of the steps after `begin`.

    A value names the step that wrote it; a compaction of these tables writes all rows anew.
    """
    compactions = [number for number, (step, _) in enumerate(steps, 1) if step == "compact"]
    last = max(compactions, default=0)
    state = play(RowTable(), steps)
    return {(k, ts, v) for k, (ts, v) in state.items() if max(last, int(v[1:])) > begin}


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(st.lists(STEPS, min_size=2, max_size=6))
def test_incremental_queries_of_any_history_equal_a_model(
    steps: list[tuple[str, dict[str, int]]],
) -> None:
    table = RowTable()
    play(table, steps)
    for begin, end in itertools.combinations(range(1, len(steps) + 1), 2):
        rows = set(table.rows(begin=completed(begin), end=completed(end)))
        assert rows == written_in(steps[:end], begin)
