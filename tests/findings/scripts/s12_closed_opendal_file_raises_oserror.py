"""S12: a closed file of OpenDAL raises OSError, and readinto takes bytes only."""

import array

import opendal

operator = opendal.Operator("memory")
operator.write("k", b"abcd")
f = operator.open("k", "rb")
try:
    count = f.readinto(array.array("I", [0]))
except Exception as error:
    count = error
f.close()
try:
    read = f.read()
except Exception as error:
    read = error
assert count == 4 and isinstance(read, ValueError), (count, read)
