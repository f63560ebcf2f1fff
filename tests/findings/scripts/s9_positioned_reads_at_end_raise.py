"""S9: positioned reads of obstore and OpenDAL raise at the end. Argument: server URL."""

import obstore
from s3 import obstore_store, opendal_operator, put

put("k", b"abcde")
for read in (
    lambda: obstore.get_range(obstore_store(), "k", start=5, end=6),  # expected b""
    lambda: obstore.get_range(obstore_store(), "k", start=4, end=4),  # expected b""
    lambda: opendal_operator().read("k", offset=5, size=1),  # expected b""
    lambda: opendal_operator().read("k", offset=3, size=4),  # expected b"de"
):
    try:
        read()
    except Exception as error:
        assert not isinstance(error, (OSError, EOFError))
        print(type(error).__name__)
    else:
        raise SystemExit("fixed")
