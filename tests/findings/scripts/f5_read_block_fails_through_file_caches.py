"""F5: read_block fails on every file of simplecache and filecache."""

import fsspec

fs, path = fsspec.url_to_fs("simplecache::memory://it")
fsspec.filesystem("memory").pipe_file("/it", b"abcde")
try:
    seen = fs.read_block(path, 0, 1)
except Exception as error:
    seen = error

assert seen == b"a", repr(seen)
