"""C1: a refused seek makes a raw file unseekable."""

import tempfile

with tempfile.NamedTemporaryFile() as made, open(made.name, "rb", buffering=0) as f:
    try:
        f.seek(-1)
    except OSError:
        pass
    assert f.seekable() is False  # expected True
