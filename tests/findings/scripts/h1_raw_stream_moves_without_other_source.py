"""H1: seekToNewSource moves a stream of RawLocalFileSystem."""

from hadoop import outcome, path, raw

f = raw.open(path)
f.read()
outcome(lambda: f.seekToNewSource(0))
position = f.getPos()
assert position == 1, position
