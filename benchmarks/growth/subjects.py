"""The subjects of `benchmarks.growth`: what is timed at increasing sizes, beside a peer."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, TypeAlias

from benchmarks.listing.dataset import TABLE, Shape, begin, change_of
from fscontract.contract.api.filesystem import FileRange
from fscontract.implementations.local import LocalFileSystem
from fscontract.pipeline.hudi.table import MetadataTable
from fscontract.pipeline.hudi.writer import MetadataWriter

Run: TypeAlias = Callable[[], object]
#: Returns our run and the peer's at a size.
Make: TypeAlias = Callable[[int, ExitStack], tuple[Run, Run]]

MIB = 1 << 20
_CHUNK = 64 << 10
#: Length and distance of ranges and of positioned reads, in bytes.
_PIECE, _STEP = 1024, 8192


class Subject(NamedTuple):
    """What is timed, at which sizes, and the greatest exponent that it may have."""

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

        def ours() -> None:
            stream.seek(0)
            while stream.read_into(buffer) > 0:
                pass

        def theirs() -> None:
            peer.seek(0)
            while peer.readinto(buffer):
                pass

        return ours, theirs

    return make


def _ranges(stack: ExitStack, most: int) -> Make:
    path = str(_data(stack, most * _STEP))
    stream = stack.enter_context(LocalFileSystem().open(path))
    descriptor = os.open(path, os.O_RDONLY)
    stack.callback(os.close, descriptor)

    def make(size: int, _: ExitStack) -> tuple[Run, Run]:
        def ours() -> None:
            ranges = [FileRange(number * _STEP, _PIECE) for number in range(size)]
            stream.read_vectored(ranges)
            assert all(one.data is not None and one.data.result() for one in ranges)

        return ours, lambda: [os.pread(descriptor, _PIECE, n * _STEP) for n in range(size)]

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

        def theirs() -> None:
            for start in starts:
                obstore.get_range(store, "data", start=start, length=_PIECE)

        return lambda: [stream.pread(start, buffer) for start in starts], theirs

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

        def ours() -> None:
            with MetadataTable(fs, TABLE) as opened:
                assert sum(len(found) for _, found in opened.list_all()) == size

        def theirs() -> None:
            count = 0
            with os.scandir(root / "plain") as days:
                for day in days:
                    with os.scandir(day.path) as entries:
                        count += sum(1 for entry in entries if entry.stat().st_size == 0)
            assert count == size

        return ours, theirs

    return lambda _, __: make


def _tasks(stack: ExitStack, most: int) -> Make:
    from fscontract.implementations.spark.session import local_session
    from fscontract.pipeline.spark_source.source import register

    split = MIB // 2
    spark = stack.enter_context(local_session("local[2]"))
    register(spark)
    line = b"x" * 99 + b"\n"

    def make(size: int, inner: ExitStack) -> tuple[Run, Run]:
        path = Path(inner.enter_context(tempfile.TemporaryDirectory()), "data")
        path.write_bytes(line * (size * split // len(line)))
        ours = spark.read.format("fscontract").options(blockSize=str(split), columns="value")

        def theirs() -> None:
            spark.conf.set("spark.sql.files.maxPartitionBytes", str(split))
            spark.conf.set("spark.sql.files.openCostInBytes", "0")
            spark.conf.set("spark.sql.files.minPartitionNum", str(size))
            spark.read.text(str(path)).selectExpr("sum(length(value))").collect()

        return lambda: ours.load(str(path)).selectExpr("sum(length(value))").collect(), theirs

    assert most > 0
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
