"""R2: a torn log of a completed commit is ignored."""

import glob
import os

from hudi_table import Change, directory, listed, name, writer

instant = writer.begin()
writer.finish(instant, Change({"city=a": {name(3, instant.time): 5}}))
(log,) = glob.glob(f"{directory.name}/table/.hoodie/metadata/files/.*.log.*[0-9]")
os.truncate(log, os.path.getsize(log) - 100)
try:
    seen = listed()
except Exception as error:
    seen = error
assert isinstance(seen, Exception) or seen == [0, 1, 2, 3], seen
