"""F1: streams of one file in memory share one position."""

import fsspec

fs = fsspec.filesystem("memory")
fs.pipe_file("/it", b"abcde")
first, second = fs.open("/it"), fs.open("/it")
second.seek(3)
assert first.tell() == 3  # expected 0
fs.read_block("/it", 0, 1)
assert first.tell() == 1
