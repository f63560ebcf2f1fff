"""S9: reads of ranges at the end raise in obstore and OpenDAL. Argument: server URL."""

import obstore
from s3 import obstore_store, opendal_operator, put

put("k", b"abcde")
seen = []
for read in (
    lambda: obstore.get_ranges(obstore_store(), "k", starts=[5], ends=[6]),
    lambda: obstore.get_ranges(obstore_store(), "k", starts=[4], ends=[4]),
    lambda: opendal_operator().read("k", offset=5, size=1),
    lambda: opendal_operator().read("k", offset=3, size=4),
):
    try:
        seen.append(read())
    except Exception as error:
        seen.append(error)
past_end, *others = seen
assert isinstance(past_end, (EOFError, OSError)) and others == [[b""], b"", b"de"], seen
