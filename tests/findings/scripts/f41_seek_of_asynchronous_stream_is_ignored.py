"""F41: a seek of an asynchronous stream over HTTP succeeds, and the next read ignores it."""

import asyncio
import tempfile
from pathlib import Path

import fsspec

from fscontract.fakes import HttpServer


async def read(url):
    fs = fsspec.filesystem("http", asynchronous=True)
    session = await fs.set_session()
    stream = await fs.open_async(url)
    assert stream.seekable()
    assert stream.seek(2) == 2
    data = await stream.read()
    await stream.close()
    await session.close()
    return data


with tempfile.TemporaryDirectory() as directory:
    Path(directory, "k").write_bytes(b"abcde")
    with HttpServer(directory) as server:
        assert asyncio.run(read(f"{server.url}/k")) == b"abcde"  # expected b"cde"
