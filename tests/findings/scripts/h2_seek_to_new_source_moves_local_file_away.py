"""H2: seekToNewSource moves a file of LocalFileSystem to /bad_files.

The script removes the file there. `/` is the root of the device.
"""

import glob
import os

from hadoop import IOException, JClass, directory, local, outcome, path

root = os.path.realpath(directory.name)
device = os.stat(root).st_dev
while root != "/" and os.stat(os.path.dirname(root)).st_dev == device:
    root = os.path.dirname(root)
bad = os.path.join(root, "bad_files")
before = set(glob.glob(f"{bad}/*") + glob.glob(f"{bad}/.*"))

f = local.open(path)
seen = outcome(lambda: f.seekToNewSource(0))
file_is_left = os.path.exists(f"{directory.name}/file")
for moved in set(glob.glob(f"{bad}/*") + glob.glob(f"{bad}/.*")) - before:
    os.remove(moved)
if os.path.exists(bad) and not os.listdir(bad):
    os.rmdir(bad)
right = IOException, JClass("java.lang.UnsupportedOperationException")
assert (seen is False or isinstance(seen, right)) and file_is_left, (seen, file_is_left)
