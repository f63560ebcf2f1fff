"""Tests that `fscontract metadata create` infers what other readers, such as hudi-rs, need."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime, time, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from fscontract.contract.cli.main import main
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi import layout
from fscontract.pipeline.hudi.io import MetadataWarning
from fscontract.pipeline.hudi.layout import DeclaredProperties, infer_properties
from fscontract.pipeline.hudi.listing import listing
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.table_location import read_properties
from fscontract.pipeline.hudi.timeline import load_timeline
from fscontract.pipeline.hudi.writer import Change, MetadataWriter
from tests.pipeline.hudi.support import name, names, seen_by_hudi

FIELDS = "hoodie.table.partition.fields"
KEY = "hoodie.table.recordkey.fields"
SCHEMA = "hoodie.table.create.schema"
GENERATOR = "hoodie.table.keygenerator.type"
HIVE = "hoodie.datasource.write.hive_style_partitioning"
#: Partitions of each layout, a later one, and the fields that name them.
LAYOUTS = {
    "flat": ((), "", ""),
    "hive-style": (("city=a", "city=b"), "city=c", "city"),
    "hive-style of two levels": (("y=2024/m=01", "y=2024/m=02"), "y=2025/m=01", "y,m"),
    "plain": (("a", "b"), "c", "p"),
    "plain of two levels": (("2024/01", "2024/02"), "2025/01", "p,q"),
}


def put_rows(
    path: Path,
    columns: Mapping[str, Any] | None = None,
    notes: Mapping[str, str] | None = None,
) -> None:
    """Write a Parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.table({"id": ["k1", "k2"], "n": [1, 2], **(columns or {})})
    pq.write_table(table.replace_schema_metadata(notes), path)


def create(path: Path, *options: str, code: int = 0) -> str:
    """Return the output of `create`."""
    done = CliRunner().invoke(main, ["metadata", "create", str(path), *options])
    assert done.exit_code == code, done.output
    return done.output


def properties(path: Path) -> dict[str, str]:
    """Return the properties of a dataset."""
    return read_properties(LocalFileSystem(), f"{path}/.hoodie/hoodie.properties")


def ours(path: Path) -> dict[str, set[str]]:
    """Return the table's listing."""
    with MetadataTable(LocalFileSystem(), str(path)) as table:
        found = dict(table.list_all())
    return {part: {each.path.rpartition("/")[2] for each in found[part]} for part in found}


@pytest.mark.parametrize("columns", ["in the files", "not in the files"])
@pytest.mark.parametrize("kind", LAYOUTS)
def test_hudi_rs_sees_the_listed_files(tmp_path: Path, kind: str, columns: str) -> None:
    """Before and after commits, in old and new partitions."""
    partitions, later, fields = LAYOUTS[kind]
    path = tmp_path / "t"
    for number, partition in enumerate(partitions or ("", "")):
        values = [part.rpartition("=")[2] for part in partition.split("/")]
        found = dict(zip(fields.split(","), ([v, v] for v in values), strict=True))
        put_rows(
            path / partition / name(number), found if columns == "in the files" and fields else {}
        )
    inferred = columns == "in the files" or not kind.startswith("plain")
    said = create(path, *(() if inferred else ("--partition-fields", fields)))
    assert "partition fields" not in said
    assert properties(path).get(FIELDS, "") == fields
    listed = names(listing(LocalFileSystem(), str(path)))
    assert len(listed) == max(1, len(partitions))
    assert ours(path) == seen_by_hudi("", str(path)) == listed
    writer = MetadataWriter(LocalFileSystem(), str(path))
    for number, partition in enumerate((partitions[0] if partitions else "", later)):
        instant = writer.begin()
        new = path / partition / name(10 + number, instant.time)
        put_rows(new)
        writer.finish(instant, Change({partition: {new.name: new.stat().st_size}}))
        assert ours(path) == seen_by_hudi("", str(path))
        assert new.name in ours(path)[partition]
    writer.clean({later: [new.name]})
    writer.compact()
    assert ours(path) == seen_by_hudi("", str(path))


@pytest.mark.parametrize(
    ("partitions", "fields", "style", "generator"),
    [
        ([""], None, "false", "NON_PARTITION"),
        (["a=1", "a=2"], "a", "true", "SIMPLE"),
        (["a=1/b=2", "a=2/b=2"], "a,b", "true", "COMPLEX"),
        (["a=x=y", "a=__HIVE_DEFAULT_PARTITION__"], "a", "true", "SIMPLE"),
    ],
)
def test_directories_name_the_fields(
    tmp_path: Path, partitions: list[str], fields: str | None, style: str, generator: str
) -> None:
    for partition in partitions:
        put_rows(tmp_path / partition / name(1))
    create(tmp_path)
    found = properties(tmp_path)
    assert (found.get(FIELDS), found[HIVE], found[GENERATOR]) == (fields, style, generator)
    schema = [each["name"] for each in json.loads(found[SCHEMA])["fields"]]
    assert schema == ["id", "n", *(fields or "").split(",")][: len(schema)]
    assert len(schema) == 2 + len((fields or "").split(",") if fields else [])


@pytest.mark.parametrize(
    "partitions",
    [
        ["", "a=1"],
        ["a=1", "b=1"],
        ["a=1", "a=1/b=2"],
        ["a=1/a=2"],
        ["=1"],
        ["a=1", "x"],
        ["x", "y/z"],
        [],
    ],
    ids=str,
)
def test_missing_partition_fields_are_reported(tmp_path: Path, partitions: list[str]) -> None:
    """On one line; the schema is not mentioned, because no reader could partition the rows."""
    for partition in partitions:
        put_rows(tmp_path / partition / name(1))
    said = create(tmp_path)
    assert said.count("\n") == 2
    assert "partition fields (--partition-fields NAMES)" in said
    assert not {FIELDS, HIVE, GENERATOR, SCHEMA} & properties(tmp_path).keys()
    assert not load_timeline(LocalFileSystem(), str(tmp_path)).instants


def test_reported_properties_can_be_set_later(tmp_path: Path) -> None:
    for partition in ("a", "b"):
        put_rows(tmp_path / partition / name(1))
    assert "partition fields" in create(tmp_path)
    assert seen_by_hudi("", str(tmp_path)) == {}
    CliRunner().invoke(main, ["metadata", "delete", str(tmp_path)], catch_exceptions=False)
    said = create(tmp_path, "--partition-fields", "p", "--record-key", "id")
    assert said.count("\n") == 1
    found = properties(tmp_path)
    assert (found[FIELDS], found[KEY], found[HIVE]) == ("p", "id", "false")
    assert seen_by_hudi("", str(tmp_path)).keys() == {"a", "b"}


def test_plain_directories_are_named_by_the_column_that_has_their_names(tmp_path: Path) -> None:
    """A text, a number or a date; another column may not match all of them."""
    for number, day in enumerate((date(2024, 1, 1), date(2024, 1, 2))):
        columns = {"day": [day, day], "year": [2024, 2024], "other": [2024 + number] * 2}
        put_rows(tmp_path / f"2024/{day}" / name(number), columns)
    said = create(tmp_path)
    assert "partition fields" not in said
    assert properties(tmp_path)[FIELDS] == "year,day"
    assert seen_by_hudi("", str(tmp_path)).keys() == {"2024/2024-01-01", "2024/2024-01-02"}


def test_ambiguous_partition_columns_are_not_guessed(tmp_path: Path) -> None:
    put_rows(tmp_path / "a" / name(1), {"one": ["a", "a"], "two": ["a", "a"]})
    assert "partition fields (--partition-fields NAMES)" in create(tmp_path)


def test_a_column_with_nulls_names_no_directory(tmp_path: Path) -> None:
    put_rows(tmp_path / "a" / name(1), {"one": ["a", None]})
    assert "partition fields (--partition-fields NAMES)" in create(tmp_path)


def test_the_record_key_is_the_column_whose_range_hudi_notes(tmp_path: Path) -> None:
    notes = {"hoodie_min_record_key": "k1", "hoodie_max_record_key": "k2"}
    put_rows(tmp_path / name(1), None, notes)
    assert create(tmp_path).count("\n") == 1
    assert properties(tmp_path)[KEY] == "id"


def test_ambiguous_record_key_is_reported(tmp_path: Path) -> None:
    notes = {"hoodie_min_record_key": "k1", "hoodie_max_record_key": "k2"}
    put_rows(tmp_path / name(1), {"more": ["k1", "k2"]}, notes)
    assert "record key (--record-key NAMES)" in create(tmp_path)
    assert KEY not in properties(tmp_path)


def test_a_schema_has_all_columns_of_all_files_but_hudis_own(tmp_path: Path) -> None:
    put_rows(tmp_path / name(1), {"_hoodie_commit_time": ["1", "1"], "one": [1, 2]})
    put_rows(tmp_path / name(2), {"two": [1.5, 2.5]})
    create(tmp_path)
    schema = json.loads(properties(tmp_path)[SCHEMA])
    assert {each["name"]: each["type"][1] for each in schema["fields"]} == {
        "id": "string",
        "n": "long",
        "one": "long",
        "two": "double",
    }


COLUMNS = {
    "boolean": pa.array([True, None]),
    "small": pa.array([1, 2], pa.int8()),
    "unsigned": pa.array([1, 2], pa.uint32()),
    "float": pa.array([1.5, 2.5], pa.float32()),
    "binary": pa.array([b"a", b"b"]),
    "large": pa.array(["a", "b"], pa.large_string()),
    "coded": pa.array(["a", "b"]).dictionary_encode(),
    "decimal": pa.array([Decimal("1.50"), Decimal("2.50")], pa.decimal128(10, 2)),
    "day": pa.array([date(2024, 1, 1)] * 2),
    "time": pa.array([time(1, 2, 3)] * 2),
    "zoned": pa.array([datetime(2024, 1, 1, tzinfo=timezone.utc)] * 2),
    "local": pa.array([datetime(2024, 1, 1)] * 2),
    "items": pa.array([[1], [2, 3]]),
    "place": pa.array([{"city": "a", "at": {"x": 1.0}}] * 2),
    "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
}


def test_a_schema_of_all_types_is_one_that_avro_and_hudi_rs_read(tmp_path: Path) -> None:
    import fastavro
    import hudi

    put_rows(tmp_path / name(1), COLUMNS)
    create(tmp_path)
    schema = json.loads(properties(tmp_path)[SCHEMA])
    fastavro.parse_schema(schema)
    assert [each["name"] for each in schema["fields"]] == ["id", "n", *COLUMNS]
    table = hudi.HudiTableBuilder.from_base_uri(str(tmp_path)).build()
    assert {*COLUMNS} < {*pa.schema(table.get_schema()).names}


@pytest.mark.parametrize(
    "columns",
    [{"a b": [1, 2]}, {"d": pa.array([1, 2], pa.duration("s"))}, {"s": [{"a-b": 1}] * 2}],
    ids=["a name with a blank", "a duration", "a field with a hyphen"],
)
def test_columns_without_avro_name_or_type_are_reported(
    tmp_path: Path, columns: Mapping[str, Any]
) -> None:
    put_rows(tmp_path / name(1), columns)
    assert "schema (--schema FILE)" in create(tmp_path)
    assert SCHEMA not in properties(tmp_path)


def test_files_with_conflicting_columns_are_reported(tmp_path: Path) -> None:
    put_rows(tmp_path / name(1), {"a": [1, 2]})
    put_rows(tmp_path / name(2), {"a": ["1", "2"]})
    assert "schema (--schema FILE)" in create(tmp_path)


def test_a_schema_can_be_given(tmp_path: Path) -> None:
    """For files in another format."""
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / name(1)).write_bytes(b"not Parquet")
    text = {"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}]}
    (tmp_path / "rows.avsc").write_text(json.dumps(text, indent=2), encoding="utf-8")
    create(tmp_path / "t", "--schema", str(tmp_path / "rows.avsc"))
    assert json.loads(properties(tmp_path / "t")[SCHEMA]) == text
    assert seen_by_hudi("", str(tmp_path / "t")) == {"": {name(1)}}


@pytest.mark.parametrize("text", ["{", "1", "[" * 100_000], ids=["cut off", "1", "deep"])
def test_invalid_schema_error_is_one_line(tmp_path: Path, text: str) -> None:
    put_rows(tmp_path / "t" / name(1))
    (tmp_path / "rows.avsc").write_text(text, encoding="utf-8")
    said = create(tmp_path / "t", "--schema", str(tmp_path / "rows.avsc"), code=2)
    assert said.count("\n") == 1
    assert "rows.avsc is not a valid Avro schema" in said
    assert not (tmp_path / "t" / ".hoodie").exists()


def test_names_that_hudi_rs_rejects_are_reported(tmp_path: Path) -> None:
    put_rows(tmp_path / "city=a" / "part-0.parquet")
    said = create(tmp_path)
    assert "1 files, such as 'city=a/part-0.parquet', do not follow Hudi's naming" in said
    assert ours(tmp_path) == {"city=a": {"part-0.parquet"}}
    with pytest.raises(Exception, match="base file name"):
        seen_by_hudi("", str(tmp_path))


def test_a_table_of_hudis_keeps_its_properties(tmp_path: Path) -> None:
    """Nothing is inferred or reported."""
    put_rows(tmp_path / "city=a" / "f.parquet")
    text = f"{GENERATOR}=CUSTOM\n{FIELDS}=town\n"
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / ".hoodie" / "hoodie.properties").write_text(text, encoding="utf-8")
    assert create(tmp_path).count("\n") == 1
    found = properties(tmp_path)
    assert (found[GENERATOR], found[FIELDS], found.get(HIVE)) == ("CUSTOM", "town", None)
    assert not load_timeline(LocalFileSystem(), str(tmp_path)).instants


def test_nothing_is_written_into_a_dataset_whose_table_is_elsewhere(tmp_path: Path) -> None:
    put_rows(tmp_path / "t" / "city=a" / name(1))
    said = create(tmp_path / "t", "--metadata-dir", str(tmp_path / "other"))
    assert said.count("\n") == 1
    assert [each.name for each in (tmp_path / "t").iterdir()] == ["city=a"]


def test_a_sample_has_files_of_many_partitions(tmp_path: Path) -> None:
    """It limits the number of footers read."""
    for number in range(40):
        put_rows(tmp_path / f"a={number:02}" / name(number))
    fs = LocalFileSystem()
    sizes = listing(fs, str(tmp_path))
    before = fs.io_statistics().get("op_open", 0)
    with pytest.warns(MetadataWarning, match="record key"):
        infer_properties(fs, str(tmp_path), sizes)
    opened = fs.io_statistics().get("op_open", 0) - before
    assert opened <= layout._SAMPLES
    assert (
        infer_properties(fs, str(tmp_path), sizes, DeclaredProperties(["x"], ["id"]))[FIELDS] == "x"
    )
