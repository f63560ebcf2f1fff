"""S26: OpenDAL opens missing paths, and its errors of paths are not OSErrors."""

import opendal

operator = opendal.Operator("memory")
seen = []
for path in ("missing", ""):
    try:
        seen.append(operator.open(path, "rb"))
    except Exception as error:
        seen.append(error)
missing, empty = seen
assert isinstance(missing, OSError) and isinstance(empty, (OSError, ValueError)), seen
