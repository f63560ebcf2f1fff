"""F42: a closed asynchronous stream over HTTP sends another request and reads from the start."""

import asyncio
import tempfile
from pathlib import Path

import fsspec

from fscontract.fakes import HttpServer


async def read(url):
    fs = fsspec.filesystem("http", asynchronous=True)
    session = await fs.set_session()
    stream = await fs.open_async(url)
    assert await stream.read(2) == b"ab"
    await stream.close()
    data = await stream.read(2)  # expected ValueError
    await session.close()
    return data


with tempfile.TemporaryDirectory() as directory:
    Path(directory, "k").write_bytes(b"abcde")
    with HttpServer(directory) as server:
        assert asyncio.run(read(f"{server.url}/k")) == b"ab"
