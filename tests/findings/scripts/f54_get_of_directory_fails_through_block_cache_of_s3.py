"""F54: get of a directory fails through a block cache of S3. Argument: URL of an S3 server."""

import sys
import tempfile
from pathlib import Path

import fsspec

options = {"key": "fscontract", "secret": "fscontract", "endpoint_url": sys.argv[1]}
s3 = fsspec.filesystem("s3", **options)
s3.pipe_file("bucket/tree/sub/one", b"1")
fs = fsspec.filesystem("blockcache", fs=s3)
with tempfile.TemporaryDirectory() as local:
    try:
        fs.get("bucket/tree", f"{local}/new", recursive=True)
        seen = Path(local, "new/sub/one").read_bytes()
    except Exception as error:
        seen = error

assert seen == b"1", repr(seen)
