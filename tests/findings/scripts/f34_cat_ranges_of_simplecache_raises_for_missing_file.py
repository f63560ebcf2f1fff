"""F34: cat_ranges of simplecache raises for a missing file, although it should return that."""

import fsspec

fs, _ = fsspec.url_to_fs("simplecache::memory://it")
fsspec.filesystem("memory").pipe_file("/it", b"abc")
try:
    data, missing = fs.cat_ranges(["/it", "/missing"], 0, 2, on_error="return")
except Exception as error:
    data, missing = error, None

right = data == b"ab" and isinstance(missing, Exception)
assert right, [data, missing]
