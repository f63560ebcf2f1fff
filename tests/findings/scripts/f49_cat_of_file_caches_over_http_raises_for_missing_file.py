"""F49: cat of simplecache and filecache ignores on_error. Argument: URL of a file of 9000 bytes."""

import sys

import fsspec

url = sys.argv[1]
paths = [url, f"{url}-missing"]
assert fsspec.filesystem("http").cat(paths, on_error="omit").keys() == {url}
for cache in ("simplecache", "filecache"):
    fs, _ = fsspec.url_to_fs(f"{cache}::{url}")
    try:
        fs.cat(paths, on_error="omit")  # expected the bytes of the first file alone
    except FileNotFoundError:
        pass
    else:
        raise SystemExit("fixed")
