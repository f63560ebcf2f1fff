"""H1: seekToNewSource moves a stream of RawLocalFileSystem."""

from hadoop import path, raw

with raw.open(path) as f:
    f.read()
    assert not f.seekToNewSource(0)
    assert f.getPos() == 4096  # expected 1
