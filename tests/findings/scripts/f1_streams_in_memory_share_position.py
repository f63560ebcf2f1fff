"""F1: streams of one file in memory share one position."""

import fsspec

fs = fsspec.filesystem("memory")
fs.pipe_file("/it", b"abcde")
first, second = fs.open("/it"), fs.open("/it")
second.seek(3)
after_seek = first.tell()
fs.read_block("/it", 0, 1)
after_read_block = first.tell()

assert [after_seek, after_read_block] == [0, 0], [after_seek, after_read_block]
