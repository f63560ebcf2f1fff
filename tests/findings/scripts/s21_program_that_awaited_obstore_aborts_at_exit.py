"""S21: a program that awaited obstore sometimes aborts at exit (SIGABRT).

Slow calls make it certain: the loop wakes up, and the program ends, before obstore's call of
call_soon_threadsafe returns. The interpreter then still finalizes.
"""

import subprocess
import sys

PROGRAM = """
import asyncio, sys, time
import obstore
from obstore.store import MemoryStore

class Loop(asyncio.SelectorEventLoop):
    def call_soon_threadsafe(self, *args, **options):
        super().call_soon_threadsafe(*args, **options)
        time.sleep(0.2)

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(1)

async def get():
    await obstore.get_async(store, "a")

store = MemoryStore()
store.put("a", b"abc")
sys.slow = Slow()
Loop().run_until_complete(get())
"""
code = subprocess.run([sys.executable, "-c", PROGRAM], stderr=subprocess.PIPE).returncode
assert code == 0, code
