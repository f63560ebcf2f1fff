"""S2: files of PyArrow and readers of obstore follow a replaced object. Argument: server URL."""

import obstore
from s3 import obstore_store, put, pyarrow_filesystem

for opened in (
    lambda: pyarrow_filesystem().open_input_file("bucket/k"),
    lambda: obstore.open_reader(obstore_store(), "k", buffer_size=1000),
):
    put("k", b"A" * 20_000)
    f = opened()
    assert bytes(f.read(1000)) == b"A" * 1000
    put("k", b"B" * 20_000)
    f.seek(19_000)
    assert bytes(f.read(1000)) == b"B" * 1000  # S3A raises here
