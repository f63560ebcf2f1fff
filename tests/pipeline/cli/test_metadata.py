"""Tests of `fscontract metadata`: create, show, update, check and delete a table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from inline_snapshot import snapshot

from fscontract.contract.cli.main import main
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.pruning import Filter
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.timeline import Instant
from fscontract.pipeline.hudi.writer import Change, MetadataWriter
from tests.limits import DEADLOCK
from tests.pipeline.hudi.test_record_index import indexed
from tests.pipeline.hudi.test_record_keys import group, table_of


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with three files, `trips` below the working directory."""
    for name in ("day=1/a", "day=1/b", "day=2/c"):
        path = tmp_path / "trips" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "trips"


def run(*arguments: str, code: int = 0) -> str:
    """Return the output of a command."""
    done = CliRunner().invoke(main, ["metadata", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def test_without_the_extra_nothing_is_written(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastavro", None)
    said = run("create", "trips", code=3).splitlines()[-1]
    assert said.endswith("needs the module 'fastavro'; pip install 'fscontract[metadata]'")
    assert not (dataset / ".hoodie").exists()


def test_a_table_is_made_shown_and_deleted(dataset: Path) -> None:
    missing, made = run("create", "trips").splitlines()
    assert "not found in the files: record key (--record-key NAMES), schema" in missing
    assert made.startswith("Created Metadata Table in trips/.hoodie/metadata (duration=")
    shown = run("stats", "trips").splitlines()
    assert shown[:5] == [
        "Base path: trips",
        "partitionCount: 2",
        "lastCompactionTimestamp: none",
        "isInSync: true",
        "logFileCount: 0",
    ]
    assert shown[7] == "baseFileCount: 1"
    assert "already has a metadata table" in run("create", "trips", code=3)
    assert run("delete", "trips") == snapshot("Deleted Metadata Table in trips/.hoodie/metadata\n")
    assert not (dataset / ".hoodie" / "metadata").exists()
    for command in ("delete", "stats", "init", "compact", "validate"):
        assert "no metadata table" in run(command, "trips", code=3)


def test_files_are_listed_with_a_table_and_without(dataset: Path) -> None:
    """The output differs only in the source."""
    before = run("list-partitions", "trips")
    assert "day=1\nday=2\n" in before
    assert "no metadata table; files are listed instead" in before
    assert "2 partitions from listing (duration=" in before
    run("create", "trips")
    after = run("list-partitions", "trips")
    assert "day=1\nday=2\n" in after
    assert "2 partitions from the metadata table (duration=" in after
    listed = run("list-files", "trips", "--partition", "day=1")
    assert "           5 a\n           5 b\n" in listed
    shown = run("list-files", "trips", "--partition", "day=2", "--json")
    assert '[{"name": "c", "size": 5}]\n' in shown
    assert "0 files from the metadata table" in run("list-files", "trips", "--partition", "day=9")


def test_commands_print_all_metrics_of_hudi(dataset: Path) -> None:
    """As the last line on stderr, also if the command fails."""
    lines = [
        CliRunner().invoke(main, ["metadata", *command, "trips", "--metrics"]).stderr
        for command in (
            ["create"],
            ["init"],
            ["list-partitions", "--validate"],
            ["list-files", "--validate", "--partition", "day=1"],
        )
    ]
    (dataset / "day=1" / "a").unlink()
    failed = CliRunner().invoke(main, ["metadata", "validate", "trips", "--metrics"])
    assert failed.exit_code == 1
    names = set().union(*(json.loads(text.splitlines()[-1]) for text in [*lines, failed.stderr]))
    in_rfc = {
        *("initialize.duration", "initialize.count", "sync.duration", "sync.count"),
        *("validate_errors.count", "validate_partitions.duration", "lookup_partitions.count"),
        *("validate_files.duration", "lookup_files.count", "scan.duration", "scan.count"),
    }
    assert {f"HoodieMetadata.{name}" for name in in_rfc} <= names


def test_validated_list_is_that_of_the_directories(dataset: Path) -> None:
    run("create", "trips")
    (dataset / "day=1" / "a").unlink()
    done = CliRunner().invoke(
        main, ["metadata", "list-files", "trips", "--partition", "day=1", "--validate"]
    )
    assert done.stdout.split() == ["5", "b"]
    assert "the metadata table differs from the files in 'day=1'" in done.stderr
    assert "1 files from listing" in done.stderr


def test_a_table_is_brought_up_to_date_and_compacted(dataset: Path) -> None:
    """With actions completed by a writer without a table."""
    run("create", "trips")
    properties = dataset / ".hoodie" / "hoodie.properties"
    properties.rename(dataset / "aside")
    writer = MetadataWriter(LocalFileSystem(str(dataset.parent)), "/trips")
    writer.commit(Change({"day=3": {"d": 5}}))
    (dataset / "aside").rename(properties)
    assert "isInSync: false" in run("stats", "trips")
    assert "day=3" in run("list-partitions", "trips"), "readers merge it"
    assert ": 1 instants (" in run("init", "trips")
    shown = json.loads(run("stats", "trips", "--json"))
    assert (shown["isInSync"], shown["logFileCount"]) == (True, 1)
    assert "Compacted Metadata Table" in run("compact", "trips")
    shown = json.loads(run("stats", "trips", "--json"))
    assert (shown["lastCompactionTimestamp"] > "2", shown["logFileCount"]) == (True, 0)


@pytest.mark.parametrize("columns", ["all", "id,other"])
def test_a_table_has_ranges_of_columns(dataset: Path, columns: str) -> None:
    """A file that is not a Parquet file is reported."""
    pq.write_table(pa.table({"id": [1, 5]}), dataset / "day=1" / "f.parquet")
    (dataset / "day=2" / "bad.parquet").write_bytes(b"12345")
    shown = run("create", "trips", "--columns", columns)
    assert "fscontract: warning: can't read statistics of 1 files" in shown
    assert "not found in the files: record key (--record-key NAMES); to set" in shown
    assert shown.count("\n") == 3
    with MetadataTable(LocalFileSystem(str(dataset.parent)), "/trips") as table:
        kept = [each.path for each in table.prune([Filter("id", ">", 5)])]
    assert "/trips/day=1/f.parquet" not in kept
    assert "/trips/day=2/bad.parquet" in kept
    assert "totalBaseFileSizeInBytes" in run("stats", "trips")


def test_compaction_waits_for_incomplete_actions(dataset: Path) -> None:
    run("create", "trips")
    writer = MetadataWriter(LocalFileSystem(str(dataset.parent)), "/trips")
    instant: Instant = writer.begin()
    writer.apply(instant, Change({"day=1": {"new": 1}}))
    assert "not completed" in run("compact", "trips", code=3)
    writer.roll_back(instant)
    run("compact", "trips")


def test_wrong_table_is_reported(dataset: Path) -> None:
    run("create", "trips")
    assert run("validate", "trips") == snapshot("the table is correct: 2 partitions, 3 files\n")
    (dataset / "day=1" / "a").unlink()
    wrong = run("validate", "trips", code=1)
    assert wrong == (
        snapshot(
            "the table differs from the files: day=1/a must not be listed; "
            "fscontract metadata rebuild trips rebuilds it\n"
        )
    )


def test_rebuild_includes_files_changed_without_an_action(dataset: Path) -> None:
    """No instant contains these changes: neither `init` nor `compact` repairs them."""
    run("create", "trips", "--columns", "id")
    (dataset / "day=1" / "a").unlink()
    (dataset / "day=1" / "b").write_bytes(b"1")
    (dataset / "day=3").mkdir()
    pq.write_table(pa.table({"id": [1, 5]}), dataset / "day=3" / "f.parquet")
    run("init", "trips")
    run("compact", "trips")
    run("validate", "trips", code=1)
    rebuilt = run("rebuild", "trips")
    assert "Rebuilt Metadata Table in trips/.hoodie/metadata: 3 partitions, 3 files (" in rebuilt
    assert run("validate", "trips") == snapshot("the table is correct: 3 partitions, 3 files\n")
    with MetadataTable(LocalFileSystem(str(dataset.parent)), "/trips") as table:
        kept = [each.path for each in table.prune([Filter("id", ">", 5)])]
    assert kept == ["/trips/day=1/b", "/trips/day=2/c"]


def test_a_table_elsewhere_is_rebuilt_there(dataset: Path) -> None:
    """Nothing is written to the dataset; the suggested command contains the directory."""
    run("create", "trips", "--metadata-dir", "other")
    (dataset / "day=1" / "a").unlink()
    wrong = run("validate", "trips", "--metadata-dir", "other", code=1)
    said = f"fscontract metadata rebuild trips --metadata-dir {dataset.parent / 'other'} rebuilds"
    assert said in wrong
    run("rebuild", "trips", "--metadata-dir", "other")
    run("validate", "trips", "--metadata-dir", "other")
    assert sorted(path.name for path in dataset.iterdir()) == ["day=1", "day=2"]


def test_a_damaged_table_is_rebuilt(dataset: Path) -> None:
    run("create", "trips")
    (base,) = (dataset / ".hoodie" / "metadata" / "files").glob("*.hfile")
    for damage in (base.read_bytes()[:-7], None):
        if damage is None:
            base.unlink()
        else:
            base.write_bytes(damage)
        wrong = run("validate", "trips", code=3)
        assert "fscontract metadata rebuild trips rebuilds it" in wrong
        assert wrong.count("\n") == 1
        run("rebuild", "trips")
        assert "the table is correct" in run("validate", "trips")


def test_rebuild_fails_without_a_table_or_with_a_pending_action(
    dataset: Path,
) -> None:
    assert "no metadata table" in run("rebuild", "trips", code=3)
    run("create", "trips")
    writer = MetadataWriter(LocalFileSystem(str(dataset.parent)), "/trips")
    instant = writer.begin()
    assert f"{instant.time} is not completed" in run("rebuild", "trips", code=3)
    assert "the table is correct" in run("validate", "trips")


def test_rebuild_removes_partitions_that_are_not_written(dataset: Path) -> None:
    run("create", "trips")
    properties = dataset / ".hoodie" / "hoodie.properties"
    text = properties.read_text(encoding="utf-8")
    others = text.replace("partitions=files", "partitions=files,bloom_filters")
    properties.write_text(others, encoding="utf-8")
    assert "removed partition bloom_filters: can't be kept" in run("rebuild", "trips")
    assert "bloom_filters" not in properties.read_text(encoding="utf-8")


def test_rebuilt_table_accepts_commits(dataset: Path) -> None:
    """The properties and the timeline of the dataset are kept."""
    run("create", "trips", "--name", "mine")
    writer = MetadataWriter(LocalFileSystem(str(dataset.parent)), "/trips")
    (dataset / "day=1" / "new").write_bytes(b"1")
    writer.commit(Change({"day=1": {"new": 1}}))
    (dataset / "day=1" / "new").unlink()
    run("rebuild", "trips")
    properties = (dataset / ".hoodie" / "hoodie.properties").read_text(encoding="utf-8")
    assert "hoodie.table.name=mine\n" in properties
    writer.commit(Change({"day=2": {"d": 1}}, {"day=1": ["b"]}))
    writer.compact()
    assert run("list-files", "trips").splitlines()[1:] == [
        "           5 day=1/a",
        "           5 day=2/c",
        "           1 day=2/d",
    ]


def test_all_files_are_listed_without_a_partition(dataset: Path) -> None:
    """With and without a table; including the partition without a name."""
    (dataset / "top").write_bytes(b"1")
    for _ in range(2):
        shown = run("list-files", "trips")
        assert "           1 top\n           5 day=1/a\n           5 day=1/b\n" in shown
        assert "4 files from" in shown
        assert '{"name": "day=2/c", "size": 5}' in run("list-files", "trips", "--json")
        assert "1 files from" in run("list-files", "trips", "--partition", ".")
        assert "           5 c\n" in run("list-files", "trips", "--partition", "day=2")
        if not (dataset / ".hoodie").exists():
            run("create", "trips")


def test_a_damaged_table_is_one_line_or_a_warning(dataset: Path) -> None:
    run("create", "trips")
    (base,) = (dataset / ".hoodie" / "metadata" / "files").glob("*.hfile")
    base.write_bytes(base.read_bytes()[:-7])
    assert run("stats", "trips", code=3).count("\n") == 1
    shown = run("list-partitions", "trips")
    assert "fscontract: warning: " in shown
    assert "day=1\nday=2\n" in shown


def test_a_table_may_be_elsewhere(dataset: Path) -> None:
    """Nothing is written to the dataset; the directory can be saved, and removed."""
    run("create", "trips", "--metadata-dir", "other")
    assert sorted(path.name for path in dataset.iterdir()) == ["day=1", "day=2"]
    assert "partitionCount: 2" in run("stats", "trips", "--metadata-dir", "other")
    run("stats", "trips", code=3)
    assert "is in other" in run("set", "trips", "--metadata-dir", "other")
    assert "partitionCount: 2" in run("stats", "trips")
    run("init", "trips")
    assert "is in the dataset" in run("set", "trips")
    run("stats", "trips", code=3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("stats", "nowhere"), "nowhere"),
        (("stats", "trips/day=1/a"), "not a directory"),
        (("create", "nope://host/x"), "unknown protocol 'nope'"),
        (("create", "trips", "--metadata-dir", "s3://bucket/x"), "must be in the same storage"),
        (("create", "trips", "-o", "secret=hidden"), "-o requires the URL of a store"),
    ],
)
def test_usage_error_is_one_line(dataset: Path, arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(main, ["metadata", *arguments])
    assert done.exit_code in (2, 3)
    assert said in done.output
    assert done.output.count("\n") == 1
    assert "hidden" not in done.output


def test_invalid_settings_file_is_rejected(dataset: Path) -> None:
    Path(".fscontract").mkdir()
    Path(".fscontract/metadata.json").write_text("[1]", encoding="utf-8")
    assert "invalid .fscontract/metadata.json" in run("stats", "trips", code=2)
    Path(".fscontract/metadata.json").write_text("{", encoding="utf-8")
    assert "not JSON" in run("stats", "trips", code=2)


def test_help_loads_no_table_dependencies() -> None:
    """It is quick."""
    code = (
        "import sys; from click.testing import CliRunner;"
        "from fscontract.contract.cli.main import main;"
        "done = CliRunner().invoke(main, ['metadata', '--help']); assert not done.exit_code;"
        "print(sorted({'fastavro', 'obstore', 'boto3', 'pyarrow', 'pyspark'} & {*sys.modules}),"
        " 'list-partitions' in done.output)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLOCK, check=True
    )
    assert done.stdout == "[] True\n"


def test_the_bytes_of_a_block_are_an_option(dataset: Path) -> None:
    run("create", "trips")
    assert "no such option" not in run("stats", "trips", "--max-block-bytes", "100000")
    small = run("stats", "trips", "--max-block-bytes", "100", code=3)
    assert "max_block_bytes is 100" in small
    assert small.count("\n") == 1
    listed = run("list-partitions", "trips", "--max-block-bytes", "100")
    assert "files are listed instead" in listed
    run("stats", "trips", "--max-block-bytes", "0", code=2)


# Partitions of the table ----------------------------------------------------------------------


def test_statistics_are_added_rebuilt_and_deleted_in_an_existing_table(dataset: Path) -> None:
    for file in dataset.rglob("*"):
        if file.is_file():
            file.unlink()
    for day in (1, 2):
        numbers = pa.table({"id": range(10 * day, 10 * day + 10)})
        pq.write_table(numbers, dataset / f"day={day}" / "f.parquet")
    run("create", "trips")
    lines = run("create", "trips", "--columns", "id", "--partition-stats").splitlines()
    assert [line.partition(" (")[0] for line in lines] == [
        "Built column_stats of Metadata Table in trips/.hoodie/metadata",
        "Built partition_stats of Metadata Table in trips/.hoodie/metadata",
    ]
    fs = LocalFileSystem(str(dataset.parent))
    with MetadataTable(fs, "/trips") as table:
        assert table.partitions == {"files", "column_stats", "partition_stats"}
        assert [s.path for s in table.prune([Filter("id", "=", 25)])] == ["/trips/day=2/f.parquet"]
    assert "Built column_stats" in run("rebuild", "trips", "--partition", "column_stats")
    assert run("delete", "trips", "--partition", "column_stats").startswith("Deleted column_stats")
    with MetadataTable(fs, "/trips") as table:
        assert table.partitions == {"files"}
    for command in ("delete", "rebuild"):
        assert "the table has no partition partition_stats" in run(
            command, "trips", "--partition", "partition_stats", code=3
        )


def test_statistics_of_partitions_require_columns(dataset: Path) -> None:
    assert "requires column" in run("create", "trips", "--partition-stats", code=2)
    run("create", "trips")
    assert "requires column" in run("create", "trips", "--partition-stats", code=2)


def test_records_are_found_by_their_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fs = LocalFileSystem(str(tmp_path), durable=False)
    indexed("ab", fs)
    assert run("lookup", "table", "a") == "a: city=a g-0 20260101000000000\n"
    assert json.loads(run("lookup", "table", "a", "--json")) == {
        "a": {"partition": "city=a", "file_group": "g-0", "instant": "20260101000000000"}
    }
    found = "b: city=a g-0 20260101000000000\nnot found: c, d\n"
    assert run("lookup", "table", "b", "c", "d", code=1) == found
    assert "Missing argument 'KEY...'" in run("lookup", "table", code=2)


def test_an_index_of_records_is_created_rebuilt_and_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table_of(LocalFileSystem(str(tmp_path), durable=False), {group(1): "abc"}, None)
    assert "the metadata table has no record_index" in run("lookup", "table", "a", code=3)
    run("delete", "table")
    assert "Built record_index" in run("create", "table", "--record-index")
    assert len(list((tmp_path / "table/.hoodie/metadata/record_index").glob("*.hfile"))) == 10
    found = f"a: city=a {group(1)[1]} 20260101000000000\n"
    assert run("lookup", "table", "a") == found
    assert "Built record_index" in run("rebuild", "table", "--partition", "record_index")
    assert "10 file groups, not 3" in run(
        "create", "table", "--record-index", "--record-index-groups", "3", code=2
    )
    assert "Deleted record_index" in run("delete", "table", "--partition", "record_index")
    assert "Built record_index" in run(
        "create", "table", "--record-index", "--record-index-groups", "3"
    )
    assert run("lookup", "table", "a") == found
