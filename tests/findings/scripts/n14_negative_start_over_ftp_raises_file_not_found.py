"""N14: cat_file with a negative start over FTP raises FileNotFoundError. Argument: server URL."""

import sys

import fsspec

fs, _ = fsspec.url_to_fs(sys.argv[1])
fs.pipe_file("/it", b"0123456789")
try:
    seen = fs.cat_file("/it", -2)
except Exception as error:
    seen = error

assert seen == b"89", repr(seen)
