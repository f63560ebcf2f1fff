"""N20: ls without details over FTP leaves the directory out. Argument: server URL."""

import sys

import fsspec

fs, _ = fsspec.url_to_fs(sys.argv[1])
fs.makedirs("/in", exist_ok=True)
fs.pipe_file("/in/it", b"data")
names = fs.ls("/in", detail=False)

assert names == ["/in/it"], names
