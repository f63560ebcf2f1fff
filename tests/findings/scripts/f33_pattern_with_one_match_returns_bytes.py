"""F33: cat of a pattern that matches one file returns bytes, with simplecache."""

import fsspec

fsspec.filesystem("memory").pipe_file("/d/it", b"abc")
fs, _ = fsspec.url_to_fs("simplecache::memory://d/it")
seen = fs.cat("/d/i*")

assert seen == {"/d/it": b"abc"}, seen
