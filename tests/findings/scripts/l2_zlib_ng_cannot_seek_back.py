"""L2: a file of gzip_ng can't seek back to a position after the start."""

import gzip
import os
import tempfile

from zlib_ng import gzip_ng

data = os.urandom(5000)
with tempfile.NamedTemporaryFile(suffix=".gz") as made:
    made.write(gzip.compress(data))
    made.flush()
    file = gzip_ng.open(made.name, "rb")
    file.seek(2000)
    try:
        file.seek(1)
        seen = file.read(4)
    except Exception as error:
        seen = error
assert seen == data[1:5], repr(seen)
