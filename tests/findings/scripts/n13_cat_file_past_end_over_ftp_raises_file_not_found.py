"""N13: cat_file past the end over FTP raises FileNotFoundError. Argument: server URL."""

import sys

import fsspec

fs, _ = fsspec.url_to_fs(sys.argv[1])
fs.pipe_file("/it", b"0123456789")
try:
    seen = fs.cat_file("/it", 11)
except Exception as error:
    seen = error

assert seen == b"", repr(seen)
