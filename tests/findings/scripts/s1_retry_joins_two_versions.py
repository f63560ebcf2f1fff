"""S1: a retry of OpenDAL or smart_open joins two versions of an object.

Argument: URL of a server that cuts its first answer after 10000 bytes, and then replaces the
20000 bytes `A` of the object `k` by as many `B`. The second argument is `opendal` or `smart_open`.
"""

import sys
from collections import Counter

import opendal
import s3
import smart_open

if sys.argv[2] == "opendal":
    f = s3.opendal_operator().layer(opendal.layers.RetryLayer()).open("k", "rb")
else:
    f = smart_open.open("s3://bucket/k", "rb", transport_params={"client": s3.client})
try:
    seen = Counter((f.read(1000) + f.read()).decode())
except Exception as error:
    seen = error
assert isinstance(seen, Exception) or seen in ({"A": 20_000}, {"B": 20_000}), seen
