"""F7: a block cache fails on a file that grew."""

import tempfile

import fsspec

with tempfile.NamedTemporaryFile() as made, tempfile.TemporaryDirectory() as cache:
    made.write(b"a")
    made.flush()
    fs = fsspec.filesystem("blockcache", target_protocol="file", cache_storage=cache)
    fs.cat_file(made.name, 0, 1)
    made.write(b"bcde")
    made.flush()
    try:
        seen = fs.cat_file(made.name, 0, 1)
    except Exception as error:
        seen = error

assert seen == b"a" or isinstance(seen, OSError), repr(seen)
