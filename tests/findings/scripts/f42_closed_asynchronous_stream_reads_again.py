"""F42: a closed asynchronous stream over HTTP sends another request and reads from the start."""

import asyncio
import tempfile
from pathlib import Path

import fsspec

from fscontract.fakes import HttpServer


async def read_closed(url):
    fs = fsspec.filesystem("http", asynchronous=True)
    session = await fs.set_session()
    stream = await fs.open_async(url)
    await stream.read(2)
    await stream.close()
    try:
        return await stream.read(2)
    except Exception as error:
        return error
    finally:
        await session.close()


with tempfile.TemporaryDirectory() as directory:
    Path(directory, "k").write_bytes(b"abcde")
    with HttpServer(directory) as server:
        seen = asyncio.run(read_closed(f"{server.url}/k"))

assert isinstance(seen, ValueError), repr(seen)
