"""N8: a deleted file over FTP raises an error that is not an OSError. Argument: server URL."""

import ftplib
import sys

import fsspec

fs, _ = fsspec.url_to_fs(sys.argv[1])
fs.pipe_file("/it", b"0123456789")
f = fs.open("/it")
fs.rm("/it")
try:
    f.read(1)
except ftplib.error_perm as error:
    assert not isinstance(error, OSError)  # expected OSError
else:
    raise SystemExit("fixed")
