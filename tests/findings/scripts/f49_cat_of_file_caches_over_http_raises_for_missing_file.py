"""F49: cat of simplecache and filecache ignores on_error. Argument: URL of a file of 9000 bytes."""

import sys

import fsspec

url = sys.argv[1]
seen = {}
for cache in ("simplecache", "filecache"):
    fs, _ = fsspec.url_to_fs(f"{cache}::{url}")
    try:
        seen[cache] = [*fs.cat([url, f"{url}-missing"], on_error="omit")]
    except Exception as error:
        seen[cache] = error

assert seen == {"simplecache": [url], "filecache": [url]}, seen
