"""F33: cat of a pattern that matches one file returns bytes, with simplecache."""

import fsspec

memory = fsspec.filesystem("memory")
memory.pipe_file("/d/it", b"abc")
assert memory.cat("/d/i*") == {"/d/it": b"abc"}
fs, path = fsspec.url_to_fs("simplecache::memory://d/it")
assert fs.cat("/d/i*") == b"abc"  # expected {"/d/it": b"abc"}
