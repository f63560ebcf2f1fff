"""F7: a block cache fails on a file that grew."""

import tempfile

import fsspec

with tempfile.NamedTemporaryFile() as made, tempfile.TemporaryDirectory() as cache:
    made.write(b"a")
    made.flush()
    fs = fsspec.filesystem("blockcache", target_protocol="file", cache_storage=cache)
    assert fs.cat_file(made.name, 0, 1) == b"a"
    made.write(b"bcde")
    made.flush()
    try:
        fs.cat_file(made.name, 0, 1)  # expected b"a" or an OSError
    except ValueError as error:
        assert "mmap length is greater than file size" in str(error)
    else:
        raise SystemExit("fixed")
