"""Tests that lines and their offsets equal those of Hadoop's TextInputFormat."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.spark_source.support import read

#: Parts of files besides their numbers: line ends, text, and a BOM.
_PIECES = ("\n", "\r", "\r\n", "a", "bc", "ä", "0123456789" * 3, "\ufeff", "")
_FORMAT = "org.apache.hadoop.mapreduce.lib.input.TextInputFormat"
_SPLIT = "mapreduce.input.fileinputformat.split.maxsize"


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("files", [50, pytest.param(1000, marks=pytest.mark.deep)])
def test_random_files_give_the_lines_that_hadoop_reads(
    spark: Any, tmp_path: Path, files: int
) -> None:
    """Although they split files at different places."""
    chosen = random.Random(5)
    for number in range(files):
        pieces = [*_PIECES, f"<{number}>", f"<{number}>\n"]
        text = "".join(chosen.choices(pieces, k=chosen.randrange(25)))
        (tmp_path / f"{number:04}").write_bytes(text.encode())
    theirs = spark.sparkContext.newAPIHadoopFile(
        str(tmp_path),
        _FORMAT,
        "org.apache.hadoop.io.LongWritable",
        "org.apache.hadoop.io.Text",
        conf={_SPLIT: "40"},
    ).collect()
    frame = read(spark, str(tmp_path), columns="offset,value", blockSize=23)
    ours = [tuple(row) for row in frame.collect()]
    assert len(theirs) > 3 * files
    assert sorted(ours) == sorted(theirs)
