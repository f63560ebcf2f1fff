"""H2: seekToNewSource moves a file of LocalFileSystem to /bad_files.

The script removes the file there. `/` is the root of the device.
"""

import glob
import os

from hadoop import directory, local, path, raises

root = os.path.realpath(directory.name)
device = os.stat(root).st_dev
while root != "/" and os.stat(os.path.dirname(root)).st_dev == device:
    root = os.path.dirname(root)
bad = os.path.join(root, "bad_files")
before = set(glob.glob(f"{bad}/*") + glob.glob(f"{bad}/.*"))

f = local.open(path)
assert raises("java.lang.NullPointerException", lambda: f.seekToNewSource(0))
assert not os.path.exists(f"{directory.name}/file")  # expected the file
moved = set(glob.glob(f"{bad}/*") + glob.glob(f"{bad}/.*")) - before
assert len(moved) >= 2  # the file, and its checksums
for each in moved:
    os.remove(each)
if not os.listdir(bad):
    os.rmdir(bad)
