"""The subjects of `benchmarks.growth`: what is timed at increasing sizes, beside a peer."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from benchmarks.listing.dataset import TABLE, Shape, begin, change_of
from fscontract.contract.api.filesystem import FileRange
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter

#: Returns how much it read or found.
Run: TypeAlias = Callable[[], int]
#: Returns our run and the peer's at a size.
Make: TypeAlias = Callable[[int, ExitStack], tuple[Run, Run]]

MIB = 1 << 20
_CHUNK = 64 << 10
#: Length and distance of ranges and of positioned reads, in bytes.
_PIECE, _STEP = 1024, 8192


class Subject(NamedTuple):
    """A benchmark: its sizes, and the maximum of its exponent."""

    name: str
    title: str
    #: What a size counts.
    unit: str
    peer: str
    sizes: tuple[int, ...]
    limit: float
    #: Starts what all sizes share, given the largest one; the stack ends it.
    start: Callable[[ExitStack, int], Make]


def _data(stack: ExitStack, length: int) -> Path:
    """Return a file of this length."""
    path = Path(stack.enter_context(tempfile.TemporaryDirectory()), "data")
    block = random.Random(1).randbytes(MIB)
    with path.open("wb") as file:
        for _ in range(length // MIB):
            file.write(block)
        file.write(block[: length % MIB])
    return path


def _file_size(_: ExitStack, __: int) -> Make:
    buffer = bytearray(_CHUNK)

    def make(size: int, stack: ExitStack) -> tuple[Run, Run]:
        path = _data(stack, size * MIB)
        stream = stack.enter_context(LocalFileSystem().open(str(path)))
        peer = stack.enter_context(path.open("rb", 0))

        def ours() -> int:
            stream.seek(0)
            total = 0
            while (count := stream.read_into(buffer)) > 0:
                total += count
            return total

        def theirs() -> int:
            peer.seek(0)
            total = 0
            while count := peer.readinto(buffer):
                total += count
            return total

        return ours, theirs

    return make


def _ranges(stack: ExitStack, most: int) -> Make:
    path = str(_data(stack, most * _STEP))
    stream = stack.enter_context(LocalFileSystem().open(path))
    descriptor = os.open(path, os.O_RDONLY)
    stack.callback(os.close, descriptor)

    def make(size: int, _: ExitStack) -> tuple[Run, Run]:
        def ours() -> int:
            ranges = [FileRange(number * _STEP, _PIECE) for number in range(size)]
            stream.read_vectored(ranges)
            return sum(len(one.data.result()) for one in ranges if one.data is not None)

        def theirs() -> int:
            return sum(len(os.pread(descriptor, _PIECE, n * _STEP)) for n in range(size))

        return ours, theirs

    return make


def _requests(stack: ExitStack, most: int) -> Make:
    import obstore
    from obstore.store import S3Store

    from fscontract.implementations.s3.filesystem import S3FileSystem
    from servers.s3.clients import boto3_client, new_bucket
    from servers.s3.servers import serving

    server = stack.enter_context(serving("seaweedfs"))
    client = stack.enter_context(boto3_client(server))
    bucket = new_bucket(client)
    client.put_object(Bucket=bucket, Key="data", Body=_data(stack, most * _STEP).read_bytes())
    fs = stack.enter_context(
        S3FileSystem(
            bucket,
            endpoint=server.url,
            access_key=server.access_key,
            secret_key=server.secret_key,
            region=server.region,
            transport="obstore",
        )
    )
    store = S3Store(
        bucket,
        endpoint=server.url,
        access_key_id=server.access_key,
        secret_access_key=server.secret_key,
        region=server.region,
        client_options={"allow_http": True},
    )
    builder = fs.open_file("/data").opt("fs.option.openfile.read.policy", "random")
    stream = stack.enter_context(builder.build().result())
    buffer = bytearray(_PIECE)

    def make(size: int, _: ExitStack) -> tuple[Run, Run]:
        starts = [number * _STEP for number in range(size)]

        def theirs() -> int:
            return sum(
                len(obstore.get_range(store, "data", start=start, length=_PIECE))
                for start in starts
            )

        return lambda: sum(stream.pread(start, buffer) for start in starts), theirs

    return make


def _table(files: int) -> Callable[[ExitStack, int], Make]:
    """Return a subject of tables with this number of files for each partition."""

    def make(size: int, stack: ExitStack) -> tuple[Run, Run]:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        shape = Shape(size // files, files)
        for day, name, _ in shape.files_of_days():
            path = root / "plain" / day / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        fs = LocalFileSystem(str(root), durable=False)
        begin(fs, TABLE)
        MetadataWriter(fs, TABLE).bootstrap(change_of(shape, 100, ranges=False), "trips")

        def ours() -> int:
            with MetadataTable(fs, TABLE) as opened:
                return sum(len(found) for _, found in opened.list_all())

        def theirs() -> int:
            count = 0
            with os.scandir(root / "plain") as days:
                for day in days:
                    with os.scandir(day.path) as entries:
                        count += sum(1 for entry in entries if entry.stat().st_size == 0)
            return count

        return ours, theirs

    return lambda _, __: make


def _tasks(stack: ExitStack, _: int) -> Make:
    from fscontract.implementations.spark.session import local_session
    from fscontract.pipeline.spark_source.source import register

    split = MIB // 2
    spark = stack.enter_context(local_session("local[2]"))
    register(spark)
    line = b"x" * 99 + b"\n"

    def make(size: int, inner: ExitStack) -> tuple[Run, Run]:
        path = Path(inner.enter_context(tempfile.TemporaryDirectory()), "data")
        path.write_bytes(line * (size * split // len(line)))
        reader = spark.read.format("fscontract").options(blockSize=str(split), columns="value")

        def length(frame: Any) -> int:
            (row,) = frame.selectExpr("sum(length(value))").collect()
            return int(row[0])

        def theirs() -> int:
            spark.conf.set("spark.sql.files.maxPartitionBytes", str(split))
            spark.conf.set("spark.sql.files.openCostInBytes", "0")
            spark.conf.set("spark.sql.files.minPartitionNum", str(size))
            return length(spark.read.text(str(path)))

        return lambda: length(reader.load(str(path))), theirs

    return make


SUBJECTS = (
    Subject(
        "file-size",
        "A local file read sequentially, 64 KiB at a time",
        "MiB",
        "FileIO.readinto",
        (1, 4, 16, 64, 256),
        1.15,
        _file_size,
    ),
    Subject(
        "ranges",
        "A vectored read of ranges of 1 KiB, one every 8 KiB, in a local file",
        "ranges",
        "os.pread",
        (10, 100, 1_000, 10_000, 50_000),
        1.15,
        _ranges,
    ),
    Subject(
        "requests",
        "Positioned reads of 1 KiB from an object, one after the other",
        "requests",
        "obstore",
        (10, 40, 160, 640, 2_560),
        1.15,
        _requests,
    ),
    Subject(
        "files",
        "All files of a table with 100 files for each partition",
        "files",
        "os.scandir with sizes",
        (100, 1_000, 10_000, 100_000),
        1.15,
        _table(100),
    ),
    Subject(
        "partitions",
        "All files of a table with one file for each partition",
        "partitions",
        "os.scandir with sizes",
        (100, 1_000, 10_000, 50_000),
        1.15,
        _table(1),
    ),
    Subject(
        "tasks",
        "Lines of a file read by Spark, local[2], 512 KiB for each task",
        "tasks",
        "spark.read.text",
        (2, 8, 32, 128),
        1.15,
        _tasks,
    ),
)
