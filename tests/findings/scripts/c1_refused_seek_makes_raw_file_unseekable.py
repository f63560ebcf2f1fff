"""C1: a refused seek makes a raw file unseekable."""

import tempfile

with tempfile.NamedTemporaryFile() as made, open(made.name, "rb", buffering=0) as file:
    try:
        file.seek(-1)
    except OSError:
        pass
    seekable = file.seekable()

assert seekable is True, seekable
