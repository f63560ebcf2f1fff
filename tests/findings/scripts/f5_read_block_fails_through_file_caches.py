"""F5: read_block fails on every file of simplecache and filecache."""

import fsspec

fs, path = fsspec.url_to_fs("simplecache::memory://it")
fsspec.filesystem("memory").pipe_file("/it", b"abcde")
try:
    fs.read_block(path, 0, 1)  # expected b"a"
except AttributeError as error:
    assert "has no attribute 'size'" in str(error)
else:
    raise SystemExit("fixed")
