"""H7: a refused buffer size leaks the file."""

import os

from hadoop import outcome, path, raw

outcome(lambda: raw.open(path, 0).close())
links = [f"/proc/self/fd/{each}" for each in os.listdir("/proc/self/fd")]
targets = [os.readlink(link) for link in links if os.path.lexists(link)]
opened = targets.count(str(path.toUri().getPath()))
assert opened == 0, opened
