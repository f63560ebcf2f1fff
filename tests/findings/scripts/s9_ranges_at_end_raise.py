"""S9: reads of ranges at the end raise in obstore and OpenDAL. Argument: server URL."""

import obstore
from s3 import obstore_store, opendal_operator, put

put("k", b"abcde")
for read in (
    lambda: obstore.get_ranges(obstore_store(), "k", starts=[5], ends=[6]),  # expected b""
    lambda: obstore.get_ranges(obstore_store(), "k", starts=[4], ends=[4]),  # expected b""
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
