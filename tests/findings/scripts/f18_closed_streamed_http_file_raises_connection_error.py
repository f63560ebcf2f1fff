"""F18: a closed streamed HTTP file raises aiohttp's error. Argument: URL of the file."""

import sys

import fsspec

f = fsspec.filesystem("http").open(sys.argv[1], block_size=0)
f.close()
try:
    f.read(1)
except Exception as error:
    assert type(error).__name__ == "ClientConnectionError"
    assert not isinstance(error, (ValueError, OSError))  # expected ValueError
else:
    raise SystemExit("fixed")
