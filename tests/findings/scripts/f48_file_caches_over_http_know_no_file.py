"""F48: info of filecache and blockcache lists a directory. Argument: URL of a file of 9000 bytes.

The server has no page for the directory, as most servers.
"""

import sys

import fsspec

url = sys.argv[1]
assert fsspec.filesystem("http").info(url)["size"] == 9000
for cache in ("filecache", "blockcache"):
    fs, path = fsspec.url_to_fs(f"{cache}::{url}")
    with fs.open(path) as file:
        assert len(file.read()) == 9000
    assert not fs.exists(path)  # expected True
    assert not fs.isfile(path)  # expected True
    try:
        fs.info(path)  # expected the size 9000
    except FileNotFoundError:
        pass
    else:
        raise SystemExit("fixed")
