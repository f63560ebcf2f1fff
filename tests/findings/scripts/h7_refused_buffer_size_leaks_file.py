"""H7: a refused buffer size leaks the file."""

import os

from hadoop import path, raises, raw

assert raises("java.lang.IllegalArgumentException", lambda: raw.open(path, 0))
links = [f"/proc/self/fd/{each}" for each in os.listdir("/proc/self/fd")]
targets = [os.readlink(link) for link in links if os.path.lexists(link)]
assert str(path.toUri().getPath()) in targets
