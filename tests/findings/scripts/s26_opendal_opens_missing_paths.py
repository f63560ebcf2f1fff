"""S26: OpenDAL opens missing paths, and its errors of paths are not OSErrors."""

import opendal

operator = opendal.Operator("memory")
f = operator.open("missing", "rb")  # expected FileNotFoundError
try:
    f.read(1)
except OSError as error:
    assert not isinstance(error, FileNotFoundError)
else:
    raise SystemExit("fixed")
try:
    operator.open("", "rb")
except opendal.exceptions.IsADirectory as error:  # expected an OSError or ValueError
    assert not isinstance(error, (OSError, ValueError))
else:
    raise SystemExit("fixed")
