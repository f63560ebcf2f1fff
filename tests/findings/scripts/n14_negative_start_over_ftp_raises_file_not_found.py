"""N14: cat_file with a negative start over FTP raises FileNotFoundError. Argument: server URL."""

import sys

import fsspec

fs, _ = fsspec.url_to_fs(sys.argv[1])
fs.pipe_file("/it", b"0123456789")
try:
    print(fs.cat_file("/it", -2))  # expected b"89"
except FileNotFoundError:
    pass
else:
    raise SystemExit("fixed")
