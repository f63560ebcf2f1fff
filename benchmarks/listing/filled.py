"""An S3 server with the files of a dataset in it: rclone, which serves a directory.

moto looks through all keys for each LIST, so that one takes longer the more files there are.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.listing.dataset import TABLE, Shape
from tests.s3.process import Process
from tests.s3.servers import program
from tests.s3.signed import Server

BUCKET = "listing"
#: How large each file is: nobody reads them.
SIZE = 100
_KEYS = ("fscontract", "fscontract-secret")


@contextmanager
def filled(shape: Shape) -> Iterator[Server]:
    """A server with the bucket, which runs meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        for day, name, _ in shape.each():
            path = Path(folder, BUCKET, TABLE[1:], day, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"." * SIZE)
        command = [program("rclone"), "serve", "s3", folder, "--addr", "127.0.0.1:0"]
        command += ["--auth-key", ",".join(_KEYS), "--config", os.devnull, "--cache-dir", "cache"]
        with Process(command) as process:
            url = process.logged(r"Starting s3 server on \[(http://[\d.:]+)/\]")
            yield process.ready(Server("rclone", url, *_KEYS))
