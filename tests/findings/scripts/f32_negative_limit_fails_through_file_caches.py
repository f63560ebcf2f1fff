"""F32: cat_file with a negative limit fails on every file of simplecache and filecache."""

import fsspec

fs, path = fsspec.url_to_fs("simplecache::memory://it")
fsspec.filesystem("memory").pipe_file("/it", b"abcde")
try:
    seen = fs.cat_file(path, -2)
except Exception as error:
    seen = error

assert seen == b"de", repr(seen)
