"""F35: cat_file with an end of 0 and no start requests an invalid range over HTTP."""

import tempfile
from pathlib import Path

import fsspec

from fscontract.fakes import HttpServer

fs = fsspec.filesystem("http")
with tempfile.TemporaryDirectory() as directory:
    Path(directory, "k").write_bytes(b"abc")
    with HttpServer(directory) as server:
        assert fs.cat_file(f"{server.url}/k", 0, 0) == b""
        for start, end in ((None, 0), (0, -10)):
            try:
                fs.cat_file(f"{server.url}/k", start, end)  # expected b""
            except Exception as error:
                assert getattr(error, "status", None) == 416
            else:
                raise SystemExit("fixed")
