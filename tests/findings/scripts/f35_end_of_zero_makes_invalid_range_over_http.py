"""F35: cat_file with an end of 0 and no start requests an invalid range over HTTP."""

import tempfile
from pathlib import Path

import fsspec

from fscontract.fakes import HttpServer


def cat(start, end):
    try:
        return fs.cat_file(f"{server.url}/k", start, end)
    except Exception as error:
        return error


fs = fsspec.filesystem("http")
with tempfile.TemporaryDirectory() as directory:
    Path(directory, "k").write_bytes(b"abc")
    with HttpServer(directory) as server:
        seen = [cat(0, 0), cat(None, 0), cat(0, -10)]

assert seen == [b"", b"", b""], seen
