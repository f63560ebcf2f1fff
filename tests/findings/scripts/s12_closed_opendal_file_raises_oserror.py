"""S12: a closed file of OpenDAL raises OSError, and readinto takes bytes only."""

import array

import opendal

operator = opendal.Operator("memory")
operator.write("k", b"abcd")
f = operator.open("k", "rb")
try:
    f.readinto(array.array("I", [0]))  # expected 4
except BufferError as error:
    assert "not compatible with u8" in str(error)
else:
    raise SystemExit("fixed")
f.close()
try:
    f.read()
except OSError as error:
    assert not isinstance(error, ValueError)  # expected ValueError
else:
    raise SystemExit("fixed")
