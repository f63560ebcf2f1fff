"""N8: a deleted file over FTP raises an error that is not an OSError. Argument: server URL."""

import sys

import fsspec

fs, _ = fsspec.url_to_fs(sys.argv[1])
fs.pipe_file("/it", b"0123456789")
file = fs.open("/it")
fs.rm("/it")
try:
    seen = file.read(1)
except Exception as error:
    seen = error

assert seen == b"0" or isinstance(seen, OSError), repr(seen)
