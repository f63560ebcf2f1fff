"""S1: a retry of OpenDAL or smart_open joins two versions of an object.

Argument: URL of a server that cuts its first answer after 10000 bytes, and then replaces the
20000 bytes `A` of the object `k` by as many `B`. The second argument is `opendal` or `smart_open`.
"""

import sys

import opendal
import s3
import smart_open

if sys.argv[2] == "opendal":
    retried = s3.opendal_operator().layer(opendal.layers.RetryLayer())
    data = bytes(retried.open("k", "rb").read())
else:
    f = smart_open.open("s3://bucket/k", "rb", transport_params={"client": s3.client})
    data = f.read(1000) + f.read()
print(data.count(b"A"), "A,", data.count(b"B"), "B")  # expected only A, only B, or an OSError
assert {*data} == {*b"AB"}
