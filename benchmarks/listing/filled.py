"""An S3 server with the files of a dataset.

rclone serves a directory. moto stores all objects in memory, and scans all keys for each LIST, so
its time grows with the number of files.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from benchmarks.listing.dataset import TABLE, Shape
from fscontract.pipeline.hudi.io import in_threads
from servers.s3.clients import boto3_client
from servers.s3.process import Process
from servers.s3.servers import program, serving
from servers.s3.signed import Server

BUCKET = "listing"
#: Size of each file; the content is not read.
SIZE = 100
_KEYS = ("fscontract", "fscontract-secret")


def filled(shape: Shape, kind: str) -> AbstractContextManager[Server]:
    """Return a context with a running server of a kind of KINDS, and its bucket."""
    return KINDS[kind](shape)


@contextmanager
def _moto(shape: Shape) -> Iterator[Server]:
    with serving("moto") as server, boto3_client(server) as client:
        client.create_bucket(Bucket=BUCKET)

        def put(file: tuple[str, str, int]) -> None:
            day, name, _ = file
            client.put_object(Bucket=BUCKET, Key=f"{TABLE[1:]}/{day}/{name}", Body=b"." * SIZE)

        in_threads(put, list(shape.files_of_days()))
        yield server


@contextmanager
def _rclone(shape: Shape) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        for day, name, _ in shape.files_of_days():
            path = Path(folder, BUCKET, TABLE[1:], day, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"." * SIZE)
        command = [program("rclone"), "serve", "s3", folder, "--addr", "127.0.0.1:0"]
        command += ["--auth-key", ",".join(_KEYS), "--config", os.devnull, "--cache-dir", "cache"]
        with Process(command) as process:
            url = process.logged(r"Starting s3 server on \[(http://[\d.:]+)/\]")
            yield process.ready(Server("rclone", url, *_KEYS))


KINDS: dict[str, Callable[[Shape], AbstractContextManager[Server]]] = {
    "rclone": _rclone,
    "moto": _moto,
}
