"""F6: close fails on every local file of a block cache."""

import tempfile

import fsspec

with tempfile.NamedTemporaryFile() as made:
    made.write(b"abcde")
    made.flush()
    f = fsspec.open(f"blockcache::file://{made.name}").open()
    try:
        f.close()
    except AttributeError as error:
        assert "property 'closed'" in str(error)
    else:
        raise SystemExit("fixed")
