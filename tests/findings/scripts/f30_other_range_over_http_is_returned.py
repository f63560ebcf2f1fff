"""F30: fsspec returns the bytes of another range than the requested one, over HTTP."""

import tempfile
from pathlib import Path

import fsspec

from fscontract.fakes import HttpServer

fs = fsspec.filesystem("http")
with tempfile.TemporaryDirectory() as directory:
    Path(directory, "k").write_bytes(b"0123456789")
    with HttpServer(directory, shift_ranges=True) as server:
        assert fs.cat_file(f"{server.url}/k", 3, 6) == b"234"  # expected b"345" or an error
        with fs.open(f"{server.url}/k", block_size=4) as file:
            file.seek(4)
            assert file.read(2) == b"34"  # expected b"45" or an error
    with HttpServer(directory, omit_content_range=True) as server:
        assert fs.cat_file(f"{server.url}/k", 3, 6) == b"0123456789"
