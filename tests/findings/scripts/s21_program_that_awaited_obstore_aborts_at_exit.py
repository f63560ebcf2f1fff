"""S21: a program that awaited obstore sometimes aborts at exit (SIGABRT)."""

import asyncio

import obstore
from obstore.store import MemoryStore

store = MemoryStore()
store.put("a", b"abc")


async def main():
    await asyncio.gather(*(obstore.get_async(store, "a") for _ in range(100)))


asyncio.run(main())
