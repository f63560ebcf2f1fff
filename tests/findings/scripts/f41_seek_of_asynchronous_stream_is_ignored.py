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
    try:
        stream.seek(2)
        return await stream.read()
    except Exception as error:
        return error
    finally:
        await stream.close()
        await session.close()


with tempfile.TemporaryDirectory() as directory:
    Path(directory, "k").write_bytes(b"abcde")
    with HttpServer(directory) as server:
        seen = asyncio.run(read(f"{server.url}/k"))

assert seen == b"cde" or isinstance(seen, Exception), seen
