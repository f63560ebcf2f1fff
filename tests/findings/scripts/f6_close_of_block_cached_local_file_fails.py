"""F6: close fails on every local file of a block cache."""

import tempfile

import fsspec

with tempfile.NamedTemporaryFile() as made:
    made.write(b"abcde")
    made.flush()
    file = fsspec.open(f"blockcache::file://{made.name}").open()
    try:
        seen = file.close()
    except Exception as error:
        seen = error

assert seen is None, repr(seen)
