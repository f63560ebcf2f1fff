"""R3: a timeline with only rollbacks is read as an empty dataset."""

import glob
import os

from hudi_table import START, directory, listed, writer

writer.roll_back(writer.begin())
for instant in glob.glob(f"{directory.name}/table/.hoodie/timeline/*{START}*"):
    os.remove(instant)  # archived
files = listed()
assert files == [0, 1, 2], files
