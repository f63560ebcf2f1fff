"""F32: cat_file with a negative limit fails on every file of simplecache and filecache."""

import fsspec

fs, path = fsspec.url_to_fs("simplecache::memory://it")
fsspec.filesystem("memory").pipe_file("/it", b"abcde")
try:
    fs.cat_file(path, -2)  # expected b"de"
except AttributeError as error:
    assert "has no attribute 'size'" in str(error)
else:
    raise SystemExit("fixed")
