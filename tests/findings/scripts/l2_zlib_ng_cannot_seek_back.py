"""L2: a file of gzip_ng can't seek back to a position after the start."""

import gzip
import os
import tempfile

from zlib_ng import gzip_ng

data = os.urandom(5000)
with tempfile.NamedTemporaryFile(suffix=".gz") as made:
    made.write(gzip.compress(data))
    made.flush()
    seen = {}
    for module in (gzip, gzip_ng):
        file = module.open(made.name, "rb")
        file.seek(2000)
        try:
            file.seek(1)
            seen[module.__name__] = file.read(4) == data[1:5]
        except OSError as error:
            seen[module.__name__] = repr(error)

print(seen)
assert seen["gzip"] is True
assert "BadGzipFile" in str(seen["zlib_ng.gzip_ng"])  # expected True
