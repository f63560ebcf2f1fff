"""Tests of splitting and reading files in a bucket: correct records, with few requests."""

from __future__ import annotations

import gzip
import json
import random

import pytest

from fscontract.implementations.spark.locations import S3Location
from fscontract.pipeline.blockreader.contexts import FixedBytesReaderContext
from fscontract.pipeline.blockreader.readers import (
    FSBlockReader,
    FSReadAheadLineReader,
    as_bytes,
    blocks_of,
)
from fscontract.pipeline.blocks import FileBlockMetadata
from fscontract.pipeline.cli.options import Input
from fscontract.pipeline.cli.plan import BlockPlan, SplitSettings
from tests.pipeline.cli.support import error, output
from tests.pipeline.s3.conftest import Bucket

_CHANCE = random.Random(8)
_PRINTABLE = bytes(33 + byte % 94 for byte in range(256))
#: 40,000 lines of up to 149 random characters; `translate` makes all bytes printable.
LINES = b"".join(_CHANCE.randbytes(n % 150).translate(_PRINTABLE) + b"\n" for n in range(40_000))
BLOCK = 64 << 10


def planned(bucket: Bucket, path: str) -> list[FileBlockMetadata]:
    """Return the blocks of a splitter."""
    place = S3Location(bucket.fs.config)
    plan = BlockPlan([Input(path, place, path)], SplitSettings(block_size=BLOCK))
    return [i for part in plan.parts() for i in part.items if isinstance(i, FileBlockMetadata)]


def lines(bucket: Bucket, blocks: list[FileBlockMetadata]) -> list[bytes]:
    """Return the lines that one reader finds in them, in this order."""
    with FSReadAheadLineReader(bucket.fs, as_bytes) as reader:
        return [r.record for block in blocks for r in reader.process_block(block)]


def test_splitting_lists_files_without_requesting_them(bucket: Bucket) -> None:
    """One listing per directory; one status request for the input, which may be a file."""
    for name in ("a", "b", "c", "sub/d"):
        bucket.put(f"/in/{name}", LINES[: 3 * BLOCK])
    bucket.forget()
    assert len(planned(bucket, "/in")) == 12
    assert bucket.counts == {"HEAD": 1, "LIST": 3}


def test_blocks_in_a_row_are_a_few_requests(bucket: Bucket) -> None:
    """One for the first block, then increasingly large ones; no HEAD."""
    bucket.put("/in/f", LINES)
    blocks = planned(bucket, "/in")
    bucket.forget()
    assert lines(bucket, blocks) == LINES.splitlines()
    assert len(blocks) > 40
    assert bucket.counts == {"GET": 3}
    assert bucket.asked == len(LINES)


def test_separate_blocks_are_one_request_each(bucket: Bucket) -> None:
    """It includes 64 KiB after the block, and the byte before it."""
    bucket.put("/in/f", LINES)
    blocks = planned(bucket, "/in")
    bucket.forget()
    assert sorted(lines(bucket, blocks[::-1])) == sorted(LINES.splitlines())
    assert bucket.counts == {"GET": len(blocks)}
    assert bucket.asked <= len(LINES) + len(blocks) * ((64 << 10) + 1)


def test_slices_and_compressed_files_take_no_more(bucket: Bucket) -> None:
    """A compressed file is one block, and one request."""
    path = bucket.put("/in/f", LINES)
    blocks = list(blocks_of(bucket.fs.get_file_status(path), BLOCK))
    bucket.forget()
    with FSBlockReader(bucket.fs, FixedBytesReaderContext(1000), as_bytes) as reader:
        found = b"".join(r.record for block in blocks for r in reader.process_block(block))
    assert (found, bucket.counts) == (LINES, {"GET": 3})
    status = bucket.fs.get_file_status(bucket.put("/in/f.gz", gzip.compress(LINES)))
    bucket.forget()
    assert lines(bucket, list(blocks_of(status, 1 << 30))) == LINES.splitlines()
    assert bucket.counts == {"GET": 1}


def test_the_commands_read_a_bucket(bucket: Bucket) -> None:
    """With its URL and options."""
    bucket.put("/in/a", LINES[:100_000])
    bucket.put("/in/b", b"last\n")
    bucket.forget()
    url = f"{bucket.url}/in"
    found = output("read", url, *bucket.options, "--block-size", "10000", "--quiet")
    assert found == b"\n".join([*LINES[:100_000].splitlines(), b"last", b""])
    assert bucket.counts == {"HEAD": 1, "LIST": 2, "GET": 3}
    (first, *_) = output("split", url, *bucket.options, "--json").splitlines()
    assert json.loads(first)["file_path"] == f"{url}/a"


@pytest.mark.parametrize("command", [["split"], ["read", "--quiet"]])
def test_missing_bucket_error_is_one_line(bucket: Bucket, command: list[str]) -> None:
    """Without the keys."""
    line = error(3, *command, "s3://no-such-bucket/in", *bucket.options)
    assert "no-such-bucket" in line
    assert "fscontract/" not in line
