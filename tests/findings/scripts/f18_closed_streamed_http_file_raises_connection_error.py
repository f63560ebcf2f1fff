"""F18: a closed streamed HTTP file raises aiohttp's error. Argument: URL of the file."""

import sys

import fsspec

file = fsspec.filesystem("http").open(sys.argv[1], block_size=0)
file.close()
try:
    seen = file.read(1)
except Exception as error:
    seen = error

assert isinstance(seen, ValueError), repr(seen)
