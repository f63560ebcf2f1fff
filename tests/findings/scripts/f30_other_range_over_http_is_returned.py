"""F30: fsspec returns the bytes of another range than the requested one, over HTTP."""

import tempfile
from pathlib import Path

import fsspec

from fscontract.fakes import HttpServer


def cat(server):
    try:
        return fs.cat_file(f"{server.url}/k", 3, 6)
    except Exception as error:
        return error


def read(server):
    try:
        with fs.open(f"{server.url}/k", block_size=4) as file:
            file.seek(3)
            return file.read(3)
    except Exception as error:
        return error


fs = fsspec.filesystem("http")
with tempfile.TemporaryDirectory() as directory:
    Path(directory, "k").write_bytes(b"0123456789")
    with HttpServer(directory, shift_ranges=True) as server:
        seen = [cat(server), read(server)]
    with HttpServer(directory, omit_content_range=True) as server:
        seen += [cat(server)]

assert all(each == b"345" or isinstance(each, Exception) for each in seen), seen
