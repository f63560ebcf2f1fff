"""L9: a file of pgzip that was read to its end and is rewound is empty."""

import gzip
import tempfile

import pgzip

with tempfile.NamedTemporaryFile(suffix=".gz") as made:
    made.write(gzip.compress(b"abc"))
    made.flush()
    with pgzip.open(made.name) as f:
        f.read(3)
        f.read()
        f.seek(0)
        again = f.read()
assert again == b"abc", again
