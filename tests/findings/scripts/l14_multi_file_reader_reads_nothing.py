"""L14: read(-1) of a MultiFileReader of boltons returns nothing."""

import io

from boltons.ioutils import MultiFileReader

nothing = MultiFileReader(io.BytesIO(b"ab"), io.BytesIO(b"cd")).read(0)
rest = MultiFileReader(io.BytesIO(b"ab"), io.BytesIO(b"cd")).read(-1)
assert (nothing, rest) == (b"", b"abcd"), (nothing, rest)
