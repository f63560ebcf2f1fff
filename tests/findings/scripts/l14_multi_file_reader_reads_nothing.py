"""L14: read(-1) of a MultiFileReader of boltons returns nothing."""

import io

from boltons.ioutils import MultiFileReader

f = MultiFileReader(io.BytesIO(b"ab"), io.BytesIO(b"cd"))
rest = f.read(-1)  # expected b"abcd", as f.read() returns
everything = f.read(0)  # expected b""

print(rest, everything)
assert rest == b""
assert everything == b"abcd"
