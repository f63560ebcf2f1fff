"""F34: cat_ranges of simplecache raises for a missing file, although it should return that."""

import fsspec

memory = fsspec.filesystem("memory")
memory.pipe_file("/it", b"abc")
paths = ["/it", "/missing"]
assert memory.cat_ranges(paths, 0, 2)[0] == b"ab"
fs, _ = fsspec.url_to_fs("simplecache::memory://it")
try:
    fs.cat_ranges(paths, 0, 2, on_error="return")  # expected [b"ab", an exception]
except FileNotFoundError:
    pass
else:
    raise SystemExit("fixed")
