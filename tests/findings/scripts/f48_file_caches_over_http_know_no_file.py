"""F48: info of filecache and blockcache lists a directory. Argument: URL of a file of 9000 bytes.

The server has no page for the directory, as most servers.
"""

import sys

import fsspec

seen = []
for cache in ("filecache", "blockcache"):
    fs, path = fsspec.url_to_fs(f"{cache}::{sys.argv[1]}")
    seen += [fs.exists(path), fs.isfile(path)]
    try:
        seen += [fs.info(path)["size"]]
    except Exception as error:
        seen += [error]

assert seen == [True, True, 9000] * 2, seen
