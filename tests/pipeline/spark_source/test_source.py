"""Tests of `spark.read.format("fscontract")`, in the shared session."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from fscontract.pipeline import register
from fscontract.pipeline.spark_source.source import Registration
from tests.pipeline.spark_source.support import TEXT, random_files, read, unsplit, write

pytestmark = pytest.mark.usefixtures("source")


def test_two_hundred_files_give_the_records_of_the_unsplit_scan(spark: Any, tmp_path: Path) -> None:
    """Each once, with its path and offset, although blocks cut lines and delimiters."""
    files = random_files(tmp_path / "in", 200)
    frame = read(spark, str(tmp_path / "in"), blockSize=7, valueType="binary", bufferSize=16)
    found: dict[str, list[tuple[bytes, int]]] = {}
    for row in frame.collect():
        found.setdefault(row.path, []).append((bytes(row.value), row.offset))
    wanted = {path: records for path in files if (records := unsplit(path))}
    assert {path: sorted(r, key=lambda pair: pair[1]) for path, r in found.items()} == wanted


def test_text_is_that_of_sparks_own_reader(spark: Any, tmp_path: Path) -> None:
    """For 200 files with line feeds, some after carriage returns."""
    random_files(tmp_path / "in", 200, TEXT)
    place = str(tmp_path / "in")
    ours = read(spark, place, columns="value", blockSize=9)
    theirs = spark.read.text(place)
    assert ours.schema.simpleString() == theirs.schema.simpleString()
    assert sorted(ours.collect()) == sorted(theirs.collect())
    assert ours.count() == theirs.count() > 1000


def test_requested_columns_are_returned(spark: Any, tmp_path: Path) -> None:
    """By option or by schema; none is enough to count."""
    path = write(tmp_path, "f", b"a\nbc\n\n")
    assert read(spark, path).columns == ["value", "path", "block_id", "offset"]
    rows = read(spark, path, columns="offset,value").collect()
    assert [tuple(row) for row in rows] == [(0, "a"), (2, "bc"), (5, "")]
    assert read(spark, path, columns="").count() == 3
    chosen = spark.read.format("fscontract").schema("value binary, block_id long").load(path)
    assert [tuple(row) for row in chosen.collect()] == [(b"a", 0), (b"bc", 0), (b"", 0)]


def test_readers_of_slices_and_records(spark: Any, tmp_path: Path) -> None:
    """Values are bytes then."""
    path = write(tmp_path, "f", b"ab;cd;ef")
    cases: list[tuple[dict[str, Any], list[bytes]]] = [
        ({"reader": "slices", "sliceSize": 5}, [b"ab;cd", b";ef"]),
        ({"reader": "records", "delimiter": ";"}, [b"ab", b"cd", b"ef"]),
        ({"reader": "records", "recordLength": 3}, [b"ab;", b"cd;", b"ef"]),
    ]
    for options, values in cases:
        rows = read(spark, path, columns="value", **options).collect()
        assert [bytes(row.value) for row in rows] == values


def test_paths_patterns_and_lists(spark: Any, tmp_path: Path) -> None:
    """Files whose names begin with a dot or an underscore are skipped."""
    a, b = write(tmp_path, "in/a.txt", b"a\n"), write(tmp_path, "in/b.txt", b"b\n")
    write(tmp_path, "in/_SUCCESS", b"no\n")
    write(tmp_path, "in/sub/c.log", b"c\n")

    def values(paths: Any, **options: Any) -> list[str]:
        return sorted(row.value for row in read(spark, paths, **options).collect())

    assert values(str(tmp_path / "in")) == ["a", "b", "c"]
    assert values(f"file://{tmp_path}/in/*.txt") == ["a", "b"]
    assert values([b, a, b]) == ["a", "b"]
    assert values(str(tmp_path / "in"), filePattern=r".*\.log") == ["c"]
    assert values(str(tmp_path / "in"), recursive="false", ignorePattern="") == ["a", "b", "no"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"blocksze": 1}, "unknown option 'blocksze'; did you mean blockSize or"),
        (
            {"reader": "csv"},
            "option 'reader' can't be 'csv': expected one of lines, slices, records",
        ),
        ({"paths": "none"}, "input not found: '{folder}/none'"),
        ({"paths": "*.csv"}, "no file or directory matches '{folder}/*.csv'"),
    ],
    ids=str,
)
def test_error_on_load_is_one_line(
    spark: Any, tmp_path: Path, given: dict[str, Any], said: str
) -> None:
    """An AnalysisException without a Python traceback."""
    from pyspark.errors import AnalysisException

    place = str(tmp_path / given.pop("paths", ""))
    with pytest.raises(AnalysisException) as error:
        read(spark, place, **given)
    assert said.format(folder=tmp_path) in str(error.value)
    assert "Traceback" not in str(error.value)


def test_a_schema_of_other_columns_is_rejected(spark: Any, tmp_path: Path) -> None:
    """The error occurs when the read is planned."""
    from pyspark.errors import AnalysisException

    path = write(tmp_path, "f", b"a\n")
    frame = spark.read.format("fscontract").schema("value string, size long").load(path)
    with pytest.raises(AnalysisException, match="expected some of value, path, block_id, offset"):
        frame.collect()


def test_a_damaged_file_is_one_line_with_block_and_offset(spark: Any, tmp_path: Path) -> None:
    """In the failed task."""
    from pyspark.errors import PySparkException

    path = write(tmp_path, "f.gz", gzip.compress(b"line\n" * 1000)[:-20])
    with pytest.raises(PySparkException) as error:
        read(spark, path).collect()
    assert "block 0 at offset 0: can't decompress" in str(error.value)
    assert path in str(error.value)
    assert "Traceback" not in str(error.value)


def test_empty_inputs_give_no_rows(spark: Any, tmp_path: Path) -> None:
    """Of an empty directory, or an empty file."""
    assert read(spark, str(tmp_path)).collect() == []
    write(tmp_path, "empty", b"")
    assert read(spark, str(tmp_path), columns="").count() == 0


def test_path_filters_open_only_matching_files(
    spark: Any, tmp_path: Path, source: Registration
) -> None:
    """A damaged file next to it does no harm, and the blocks read are counted."""
    good = write(tmp_path, "good.gz", gzip.compress(b"a\nb\n"))
    write(tmp_path, "bad.gz", b"no gzip")
    frame = read(spark, str(tmp_path))
    for condition in (
        f"path = '{good}'",
        "path like '%/good%'",
        f"path in ('{good}', 'x')",
        "not path like '%bad.gz'",
    ):
        before = _blocks(source)
        assert sorted(row.value for row in frame.where(condition).collect()) == ["a", "b"]
        assert _blocks(source) == before + 1


def test_filters_of_blocks_read_only_those(
    spark: Any, tmp_path: Path, source: Registration
) -> None:
    """By id, or by their offsets."""
    path = write(tmp_path, "f", b"".join(b"%03d\n" % i for i in range(1000)))
    frame = read(spark, path, blockSize=40, columns="value,block_id,offset")
    for condition, values, blocks in (
        ("offset between 400 and 411", ["100", "101", "102"], 2),
        ("block_id in (3, 5) and value like '%5'", ["035", "055"], 2),
        ("block_id = 7 and offset = 288", ["072"], 1),
        ("value is null", [], 0),
        ("value > '9985'", ["999"], 100),
    ):
        before = _blocks(source)
        assert [row.value for row in frame.where(condition).collect()] == values, condition
        assert _blocks(source) - before == blocks, condition


def test_spark_does_not_filter_rows_again(spark: Any, tmp_path: Path) -> None:
    """The plan has no filters except those that the source does not accept."""
    frame = read(spark, write(tmp_path, "f", b"a\nb\n"))
    taken = frame.where("value like 'a%' and offset < 5 and path != 'x'")
    left = frame.where("length(value) = 1")
    assert "Filter (" not in _plan(taken)
    assert "Filter (" in _plan(left)
    assert taken.count() == 1


def _few_and_many(spark: Any, path: str) -> list[tuple[str, ...]]:
    """Return the results of frames used with several filters, and with none."""
    frame = read(spark, path, columns="value")
    few, other = frame.where("value = 'a'"), frame.where("value = 'b'")
    frames = (few.union(other), frame.union(few), few, frame)
    return [tuple(sorted(row.value for row in each.collect())) for each in frames]


def test_a_frame_may_be_used_with_several_filters(spark: Any, tmp_path: Path) -> None:
    """As long as Spark keeps them, which it does unless `pushdown` is set."""
    path = write(tmp_path, "f", b"a\nb\nc\n")
    register(spark)
    try:
        found = _few_and_many(spark, path)
    finally:
        register(spark, pushdown=True)
    assert found == [("a", "b"), ("a", "a", "b", "c"), ("a",), ("a", "b", "c")]


@pytest.mark.xfail(reason="Spark 4.3 has one plan of a Python source for all scans of a frame")
def test_a_frame_may_be_used_with_several_filters_that_are_pushed(
    spark: Any, tmp_path: Path
) -> None:
    """Once this passes, `register` can push them by default."""
    path = write(tmp_path, "f", b"a\nb\nc\n")
    found = _few_and_many(spark, path)
    assert found == [("a", "b"), ("a", "a", "b", "c"), ("a",), ("a", "b", "c")]


def test_without_pushdown_spark_filters(spark: Any, tmp_path: Path, source: Registration) -> None:
    """It is an option of the registration; the last one applies."""
    register(spark, pushdown=False)
    try:
        frame = read(spark, write(tmp_path, "f", b"a\nb\n")).where("value = 'b'")
        assert "Filter (" in _plan(frame)
        assert [row.offset for row in frame.collect()] == [2]
    finally:
        again = register(spark, pushdown=True)
    assert again.counters == source.counters


def test_partitions_are_packed_as_spark_packs(spark: Any, tmp_path: Path) -> None:
    """By the bytes of files and the cost of opening them."""
    for number in range(10):
        write(tmp_path, f"{number}", b"line\n" * 200)

    def partitions(**options: Any) -> int:
        found: int = read(spark, str(tmp_path), **options).rdd.getNumPartitions()
        return found

    assert partitions(openCostInBytes=0, maxPartitionBytes=1000) == 10
    assert partitions(openCostInBytes=0, maxPartitionBytes=2000) == 5
    assert partitions(openCostInBytes=1000, maxPartitionBytes=4000) == 5
    assert partitions(openCostInBytes=0, minPartitionNum=20) == 20


def test_partitions_go_by_the_settings_of_the_session(spark: Any, tmp_path: Path) -> None:
    """As of the registration of the source."""
    names = ("spark.sql.files.maxPartitionBytes", "spark.sql.files.openCostInBytes")
    for number in range(6):
        write(tmp_path, f"{number}", b"line\n" * 200)
    try:
        for name, value in zip(names, ("2k", "0"), strict=True):
            spark.conf.set(name, value)
        register(spark, pushdown=True)
    finally:
        for name in names:
            spark.conf.unset(name)
    try:
        assert read(spark, str(tmp_path)).rdd.getNumPartitions() == 3
    finally:
        register(spark, pushdown=True)
    assert read(spark, str(tmp_path)).rdd.getNumPartitions() == 2


def test_tasks_report_their_counters(spark: Any, tmp_path: Path, source: Registration) -> None:
    """Blocks, records and bytes, as the block reader counts them."""
    path = write(tmp_path, "f", b"line\n" * 1000)
    before = source.counters
    assert read(spark, path, blockSize=100, columns="").count() == 1000
    after = source.counters
    assert before is not None
    assert after is not None
    assert after.records - before.records == 1000
    assert after.bytes - before.bytes == 5000
    assert after.blocks - before.blocks == 50
    assert after.time > before.time


def test_a_limit_ends_the_reading(spark: Any, tmp_path: Path) -> None:
    """The rest is not read."""
    path = write(tmp_path, "f", b"line\n" * 100_000)
    assert len(read(spark, path, columns="value").limit(3).collect()) == 3


def test_missing_and_changed_files(spark: Any, tmp_path: Path) -> None:
    """Between planning and reading: an error, or as the options say."""
    from pyspark.errors import PySparkException

    path = write(tmp_path, "f", b"a\n")
    other = write(tmp_path, "g", b"b\n")
    strict = read(spark, str(tmp_path), columns="value")
    lenient = read(
        spark, str(tmp_path), columns="value", ignoreMissingFiles="true", changedFiles="read"
    )
    assert (strict.count(), lenient.count()) == (2, 2)
    Path(other).unlink()
    Path(path).write_bytes(b"a\nb\n")
    with pytest.raises(PySparkException, match=r"block \d at offset 0"):
        strict.collect()
    assert [row.value for row in lenient.collect()] == ["a"]


def _blocks(source: Registration) -> int:
    counters = source.counters
    assert counters is not None
    return counters.blocks


def _plan(frame: Any) -> str:
    text: str = frame._jdf.queryExecution().executedPlan().toString()
    return text
