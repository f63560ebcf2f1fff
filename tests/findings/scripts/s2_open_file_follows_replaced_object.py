"""S2: files of PyArrow and readers of obstore follow a replaced object. Argument: server URL."""

import obstore
from s3 import obstore_store, put, pyarrow_filesystem

seen = []
for opened in (
    lambda: pyarrow_filesystem().open_input_file("bucket/k"),
    lambda: obstore.open_reader(obstore_store(), "k", buffer_size=1000),
):
    put("k", b"A" * 20_000)
    f = opened()
    f.read(1000)
    put("k", b"B" * 20_000)
    f.seek(19_990)
    try:
        seen.append(bytes(f.read(10)))
    except Exception as error:  # as S3A raises
        seen.append(error)
assert all(isinstance(each, Exception) or each == b"A" * 10 for each in seen), seen
